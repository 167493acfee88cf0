"""Packet trimming by the files of a plane: SWITCH_TRIMMING of its switches."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fabricgen.bundle.read import Bundle
from fabricgen.sonic.image import text
from fabricgen.sonic.port_qos import PRIORITIES
from fabricgen.units import whole_number


@dataclass(frozen=True, slots=True)
class TrimmedPackets:
    """The size and the DSCP of trimmed packets."""

    bytes: int
    dscp: int

    def free_priority(self, taken: Collection[int]) -> int:
        """A separate priority: the class selector of the DSCP, or the highest one that nothing else has."""
        order = (self.dscp >> 3, *reversed(range(PRIORITIES)))
        return next(one for one in order if one not in taken)


def trimming_of(bundle: Bundle, switches: Sequence[str]) -> TrimmedPackets | None:
    """That of the first switch that trims; None if none does."""
    for name in switches:
        row = bundle.devices[name].row("SWITCH_TRIMMING", "GLOBAL") if name in bundle.devices else {}
        size, dscp = (whole_number(text(row, field)) for field in ("size", "dscp_value"))
        if size and dscp is not None:
            return TrimmedPackets(size, dscp)
    return None
