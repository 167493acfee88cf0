"""How packets of InfiniBand planes travel, for the verbs that simulate traffic."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.api.judgement import Judging
from fabricgen.errors import UsageError
from fabricgen.physics import MOST_CREDIT_BYTES

if TYPE_CHECKING:
    from fabricgen.simulate.plane.subnet_plane import Forwarding


@dataclass(frozen=True)
class SubnetOptions:
    """`lfts` is a folder with dumps of forwarding tables, which replace a run of OpenSM. `buffer_bytes` is the buffer
    of each virtual lane of a port. With `adaptive` switches choose the next hop of each message by load."""

    lfts: Path | None = None
    buffer_bytes: int = MOST_CREDIT_BYTES
    adaptive: bool = False


DEFAULT_SUBNETS = SubnetOptions()


def forwarding_of(judging: Judging, options: SubnetOptions, plane: str | None, *, to_storage: bool) -> "Forwarding":
    """The forwarding of the InfiniBand planes that carry the traffic. Tables that a proof has read are used again.

    Raises UsageError if OpenSM cannot run, and for options without such a plane; UnreadableInputError for a dump that
    cannot be read.
    """
    from fabricgen.simulate.plane.names import infiniband_planes
    from fabricgen.simulate.plane.subnet_plane import Forwarding

    planes = infiniband_planes(judging.bundle, plane, to_storage=to_storage)
    if not planes and options != DEFAULT_SUBNETS:
        raise UsageError("--lfts, --vl-buffer, --adaptive-routing: no InfiniBand plane carries this traffic")
    missing = [name for name in planes if options.lfts or name not in judging.tables]
    if missing and not options.adaptive:
        from fabricgen.simulate.opensm.plane_tables import plane_tables

        judging.tables |= plane_tables(judging.bundle, missing, options.lfts)
    return Forwarding(judging.tables, options.buffer_bytes, options.adaptive)
