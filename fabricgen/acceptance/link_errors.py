"""Links that damage frames: what rose during the tests at switch ports and NICs.

Tables of a switch: sonic-utilities 691b1bb, utilities_common/portstat.py, `show interfaces counters errors` and
`fec-stats`. FEC_UNCORR counts codewords that FEC cannot correct, and RX_ERR frames that arrive damaged. FEC_CORR and
FEC_SYMBOL_ERR rise on good links, too: each link with PAM4 has errors that FEC corrects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from fabricgen.acceptance.host_counters import NicRise, rise, rise_lines
from fabricgen.acceptance.measured import MeasuredTest
from fabricgen.acceptance.planned import Stage
from fabricgen.acceptance.reported import observed
from fabricgen.acceptance.traffic import Readings
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.findings import Finding, Severity
from fabricgen.vocabulary import LinkKind

# Counters of whole damaged frames: a switch that forwards before it has the whole frame sends a damaged one on, so they
# rise on later links, too.
_FRAMES = {"RX_ERR", "rx_crc_errors_phy", "rx_fcs_err_frames", "rx_crc_errors.nic", "frames_rx_bad_fcs"}
_HINT = "clean or replace the cable or the transceivers, and measure again: NICs send each damaged frame again"


@dataclass(frozen=True, slots=True)
class DamagedLink:
    """A link, and counter -> by how much it rose, of each end that received damaged frames."""

    link: WiredLink
    rises: Mapping[Endpoint, Mapping[str, int]]

    @property
    def is_origin(self) -> bool:
        """Whether the damage is made here: the code of the signal shows it, not only whole frames."""
        return any(name == "FEC_UNCORR" or "symbol" in name for name in self._counters)

    @property
    def may_pass_on(self) -> bool:
        """Whether only whole frames show it, which another link can have damaged."""
        return self._counters <= _FRAMES

    @property
    def _counters(self) -> set[str]:
        return {name for of_end in self.rises.values() for name in of_end}

    @property
    def shown(self) -> tuple[str, ...]:
        """A line for each counter."""
        return tuple(line for end, gained in self.rises.items() for line in rise_lines(end, gained))


def damaged_links(
    bundle: Bundle, found: Sequence[MeasuredTest], both: Readings,
    nics: Mapping[Endpoint, NicRise],
) -> tuple[DamagedLink, ...]:  # fmt: skip
    """The links that damage frames, in the order of the wiring. `both` are the readings of switches before and after.

    Links that can pass on what another one damaged are left out if an origin is known; so are links that a test takes
    down on purpose.
    """
    rises = {end: dict(one.errors) for end, one in nics.items() if one.errors}
    for name, (first, last) in both.items():
        for (port, counter), gained in rise(first.errors, last.errors).items():
            if (port, counter) in first.errors:
                rises.setdefault((name, port), {})[counter] = gained
    taken_down = {one.test.at for one in found if one.test.stage is Stage.FAILOVER and one.value is not None}
    links = [
        DamagedLink(link, {end: rises[end] for end in ends if end in rises})
        for link in bundle.links
        if rises.keys() & (ends := (link.a, link.b)) and taken_down.isdisjoint(ends)
    ]
    is_known = any(one.is_origin for one in links)
    return tuple(one for one in links if not (is_known and one.may_pass_on))


def lines_of(damaged: Iterable[DamagedLink], most: int) -> list[str]:
    """The first `most` lines of all counters."""
    return list(islice((line for one in damaged for line in one.shown), most))


def errors_of_links(damaged: Iterable[DamagedLink]) -> Iterator[Finding]:
    """A warning for each link."""
    for one in damaged:
        (device, port), *_ = one.rises
        is_lower = one.link.a == (device, port)
        far = one.link.b if is_lower else one.link.a
        place = port if is_lower and one.link.kind is LinkKind.HOST_LEAF else f"PORT|{port}"
        text = f"{port}: the link to {far[0]} {far[1]} has errors: {'; '.join(one.shown)}"
        yield observed("FG975", device, text, _HINT, severity=Severity.WARNING, path=place)
