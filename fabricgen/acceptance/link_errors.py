"""Links that damage frames: what rose during the tests at switch ports and NICs.

Tables of a switch: sonic-utilities 691b1bb, utilities_common/portstat.py, `show interfaces counters errors` and
`fec-stats`. FEC_UNCORR counts codewords that FEC cannot correct, and RX_ERR frames that arrive damaged. FEC_CORR and
FEC_SYMBOL_ERR rise on good links, too: each link with PAM4 has errors that FEC corrects.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.acceptance.counters import Counters
from fabricgen.acceptance.host_counters import NicRise, rise
from fabricgen.acceptance.measured import MeasuredTest
from fabricgen.acceptance.planned import Stage
from fabricgen.acceptance.reported import observed
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.findings import Finding, Severity

# Counters of whole damaged frames: a switch that forwards before it has the whole frame sends a damaged one on, so they
# rise on later links, too.
_FRAMES = {"RX_ERR", "rx_crc_errors_phy", "rx_fcs_err_frames", "rx_crc_errors.nic"}
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
        return tuple(
            f"{end[0]} {end[1]}: {name} rose by {value}"
            for end, of_end in self.rises.items()
            for name, value in sorted(of_end.items())
        )


def damaged_links(
    bundle: Bundle, found: Sequence[MeasuredTest], both: Mapping[str, tuple[Counters, Counters]],
    nics: Mapping[Endpoint, NicRise],
) -> tuple[DamagedLink, ...]:  # fmt: skip
    """The links that damage frames, in the order of the wiring. `both` are the readings of switches before and after.

    Links that can pass on what another one damaged are left out if an origin is known; so are links that a test takes
    down on purpose.
    """
    rises: dict[Endpoint, Mapping[str, int]] = {end: one.errors for end, one in nics.items() if one.errors}
    for name, (first, last) in both.items():
        of_port: dict[str, dict[str, int]] = {}
        for (port, counter), gained in rise(first.errors, last.errors).items():
            if (port, counter) in first.errors:
                of_port.setdefault(port, {})[counter] = gained
        rises |= {(name, port): gained for port, gained in of_port.items()}
    taken_down = {one.test.at for one in found if one.test.stage is Stage.FAILOVER and one.value is not None}
    links = [
        DamagedLink(link, {end: rises[end] for end in ends if end in rises})
        for link in bundle.links
        if rises.keys() & (ends := (link.a, link.b)) and taken_down.isdisjoint(ends)
    ]
    is_known = any(one.is_origin for one in links)
    return tuple(one for one in links if not (is_known and one.may_pass_on))


def errors_of_links(damaged: Iterable[DamagedLink]) -> Iterator[Finding]:
    """A warning for each link."""
    for one in damaged:
        (device, port), *_ = one.rises
        far = one.link.b if one.link.a == (device, port) else one.link.a
        text = f"{port}: the link to {far[0]} {far[1]} has errors: {'; '.join(one.shown)}"
        yield observed("FG991", device, text, _HINT, severity=Severity.WARNING, path=f"PORT|{port}")
