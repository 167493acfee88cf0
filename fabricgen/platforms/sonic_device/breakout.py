"""platform.json and hwsku.json: the cages of a front panel and how they are split."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricgen.units import whole_number

# '2x400G[200G,100G](8)+1x100G': count, speed, other speeds, lanes. Source: sonic-config-engine/portconfig.py
PORT_NAME = re.compile(r"Ethernet(\d{1,9})")
_PART = re.compile(r"(\d{1,9})x(\d{1,9})(G?)(?:\[[\dG,]*\])?(?:\((\d{1,9})\))?")


@dataclass(frozen=True)
class Cage:
    """One front-panel port of platform.json, before it is split."""

    parent: str
    lanes: tuple[int, ...]
    index: int | None
    aliases: Mapping[str, Sequence[str]]  # breakout mode -> alias of each port
    mode: str  # hwsku.json's default_brkout_mode, "" where it names none
    fec: str  # of hwsku.json

    def aliases_of(self, mode: str) -> Sequence[str]:
        """The ports' aliases in a mode, which hwsku.json may write with other alternative speeds than platform.json."""
        made = split(mode, self.lanes)
        equal = (aliases for known, aliases in self.aliases.items() if split(known, self.lanes) == made)
        return self.aliases.get(mode) or next(equal, ())


@dataclass(frozen=True)
class Split:
    """One port that a breakout mode makes."""

    speed_mbps: int
    lanes: tuple[int, ...]
    offset: int  # first lane's place in the cage: what is added to the parent's number


def read_cages(platform: Mapping[str, Any], hwsku: Mapping[str, Any]) -> Mapping[int, Cage]:
    """lane -> cage. Omits entries without lanes; raises ValueError for lanes that are not numbers."""
    found = {}
    chosen = _interfaces(hwsku)
    for parent, entry in _interfaces(platform).items():
        if not PORT_NAME.fullmatch(parent) or not _mapping(entry).get("lanes"):
            continue
        own = _mapping(chosen.get(parent))
        index = str(entry.get("index", "")).split(",")[0]
        cage = Cage(
            parent,
            tuple(int(lane) for lane in str(entry["lanes"]).split(",")),
            whole_number(index),
            {mode: names for mode, names in _mapping(entry.get("breakout_modes")).items() if isinstance(names, list)},
            str(own.get("default_brkout_mode") or ""),
            str(own.get("fec") or ""),
        )
        found.update(dict.fromkeys(cage.lanes, cage))
    return found


def unsplit_modes(hwsku: Mapping[str, Any]) -> Mapping[str, str]:
    """port -> breakout mode of one port, for platforms whose platform.json lists no cages."""
    modes = {port: str(_mapping(entry).get("default_brkout_mode") or "") for port, entry in _interfaces(hwsku).items()}
    return {port: mode for port, mode in modes.items() if mode.startswith("1x")}


def _interfaces(content: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(content.get("interfaces"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def split(mode: str, lanes: Sequence[int]) -> list[Split] | None:
    """The ports of a breakout mode in order; None where the mode cannot be read or does not fit the lanes."""
    parts = [_PART.fullmatch(part) for part in mode.split("+")]
    if not all(parts):
        return None
    ports: list[Split] = []
    at = 0
    for match in parts:
        assert match
        count = int(match[1])
        width = int(match[4]) if match[4] else len(lanes) - at
        step = width // count if count else 0
        if not step or at + step * count > len(lanes):
            return None
        speed = int(match[2]) * (1000 if match[3] else 1)
        ports += [Split(speed, tuple(lanes[at + n * step : at + (n + 1) * step]), at + n * step) for n in range(count)]
        at += width
    return ports


def modes_that_fit(cage: Cage, ports: Sequence[tuple[tuple[int, ...], int]]) -> Iterator[str]:
    """The cage's modes that make just these ports, (lanes, speed_mbps) in order."""
    for mode in cage.aliases:
        if [(part.lanes, part.speed_mbps) for part in split(mode, cage.lanes) or ()] == list(ports):
            yield mode
