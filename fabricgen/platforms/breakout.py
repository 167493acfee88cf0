"""Breakout modes: the ports that 2x400G[200G,100G] makes of a cage, as the breakout command of SONiC makes them.

Source: sonic-buildimage src/sonic-config-engine/portconfig.py, class BreakoutCfg.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

PORT_NAME = re.compile(r"Ethernet(\d{1,9})")
# '2x400G[200G,100G](8)+1x100G': count, speed, other speeds, lanes. SONiC ignores what follows.
_PART = re.compile(r"(\d{1,9})x(\d{1,9})(G?)(?:\[([\dG,]*)\])?(?:\((\d{1,9})\)(?:\[[\dG,]*\])?)?")
_PAM4_LANE_MBPS = 50_000  # from here on links work with RS-FEC only (IEEE 802.3 clause 119); portconfig.py sets it, too


@dataclass(frozen=True)
class SplitPort:
    """One port that a breakout mode makes."""

    speed_mbps: int
    lanes: tuple[int, ...]
    offset: int  # first lane's place in the cage: what is added to the parent's number
    other_speeds_mbps: tuple[int, ...] = field(default=(), compare=False)  # that the mode permits as well


@lru_cache(maxsize=1 << 13)  # of all modes of some platforms: an import asks for them once for each switch
def split(mode: str, lanes: tuple[int, ...]) -> tuple[SplitPort, ...] | None:
    """The ports of a breakout mode in order; None where the mode cannot be read or does not fit the lanes."""
    parts = [_PART.fullmatch(part) for part in mode.split("+")]
    if not all(parts):
        return None
    ports: list[SplitPort] = []
    at = 0
    for match in parts:
        assert match
        count = int(match[1])
        width = int(match[5]) if match[5] else len(lanes) - at
        step = width // count if count else 0
        if not step or at + step * count > len(lanes):
            return None
        others = tuple(_mbps(text) for text in (match[4] or "").split(",") if text.strip("G"))
        ports += [
            SplitPort(_mbps(match[2] + match[3]), lanes[at + n * step : at + (n + 1) * step], at + n * step, others)
            for n in range(count)
        ]
        at += width
    return tuple(ports)


def fec_of(speed_mbps: int, lane_count: int) -> str:
    """rs where the lanes need it, else "": the default of the switch."""
    return "rs" if speed_mbps >= _PAM4_LANE_MBPS * lane_count else ""


def _mbps(text: str) -> int:
    """'400G' or '1000', which are Mb/s."""
    return int(text.removesuffix("G")) * (1000 if text.endswith("G") else 1)
