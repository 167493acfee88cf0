"""platform.json and hwsku.json: the cages of a front panel and how they are split."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricgen.platforms.breakout import PORT_NAME, split
from fabricgen.platforms.model import Cage as PlatformCage
from fabricgen.units import whole_number


@dataclass(frozen=True)
class UnsplitCage:
    """One front-panel port of platform.json, before it is split."""

    parent: str
    lanes: tuple[int, ...]
    indexes: tuple[int, ...]  # one for all lanes, or one for each; () where the file has none
    aliases: Mapping[str, Sequence[str]]  # breakout mode -> alias of each port
    mode: str  # hwsku.json's default_brkout_mode, "" where it names none
    fec: str  # of hwsku.json

    @property
    def index(self) -> int | None:
        """The number of the cage."""
        return self.indexes[0] if self.indexes else None

    def aliases_of(self, mode: str) -> Sequence[str]:
        """The ports' aliases in a mode, which hwsku.json may write with other alternative speeds than platform.json."""
        made = split(mode, self.lanes)
        equal = (aliases for known, aliases in self.aliases.items() if split(known, self.lanes) == made)
        return self.aliases.get(mode) or next(equal, ())


def read_cages(platform: Mapping[str, Any], hwsku: Mapping[str, Any]) -> Mapping[int, UnsplitCage]:
    """lane -> cage. Omits entries without lanes; raises ValueError for lanes that are not numbers."""
    found = {}
    chosen = _interfaces(hwsku)
    for parent, entry in _interfaces(platform).items():
        if not PORT_NAME.fullmatch(parent) or not _mapping(entry).get("lanes"):
            continue
        own = _mapping(chosen.get(parent))
        indexes = [whole_number(text) for text in str(entry.get("index", "")).split(",")]
        known = tuple(index for index in indexes if index is not None)
        cage = UnsplitCage(
            parent,
            tuple(int(lane) for lane in str(entry["lanes"]).split(",")),
            known[:1] if len(set(known)) == 1 else known,
            {mode: names for mode, names in _mapping(entry.get("breakout_modes")).items() if isinstance(names, list)},
            str(own.get("default_brkout_mode") or ""),
            str(own.get("fec") or ""),
        )
        found.update(dict.fromkeys(cage.lanes, cage))
    return found


def platform_cages(cages: Mapping[int, UnsplitCage]) -> tuple[PlatformCage, ...]:
    """The cages with the breakout modes that SONiC's command can set: those that fit, with an alias for each port."""
    found = []
    for cage in {cage.parent: cage for cage in cages.values()}.values():
        modes = {
            mode: tuple("".join(str(alias).split()) for alias in aliases[: len(made)])
            for mode, aliases in cage.aliases.items()
            if (made := split(mode, cage.lanes)) and len(made) <= len(aliases) and all(map(is_plain, aliases))
        }
        if modes and len(cage.indexes) in (1, len(cage.lanes)):
            found.append(PlatformCage(cage.parent, cage.indexes, cage.lanes, modes))
    return tuple(found)


def is_plain(alias: object) -> bool:
    """Whether an entry can have an alias: it has no control characters and nothing beyond ASCII."""
    text = "".join(str(alias).split())
    return text.isascii() and text.isprintable()


def unsplit_modes(hwsku: Mapping[str, Any]) -> Mapping[str, str]:
    """port -> breakout mode of one port, for platforms whose platform.json lists no cages."""
    modes = {port: str(_mapping(entry).get("default_brkout_mode") or "") for port, entry in _interfaces(hwsku).items()}
    return {port: mode for port, mode in modes.items() if mode.startswith("1x")}


def _interfaces(content: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(content.get("interfaces"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def modes_that_fit(cage: UnsplitCage, ports: Sequence[tuple[tuple[int, ...], int]]) -> Iterator[str]:
    """The cage's modes that make just these ports, (lanes, speed_mbps) in order."""
    for mode in cage.aliases:
        if [(part.lanes, part.speed_mbps) for part in split(mode, cage.lanes) or ()] == list(ports):
            yield mode
