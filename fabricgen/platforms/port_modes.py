"""The ports of a switch whose cages differ from a layout: by an inventory's `ports`, or by a file's BREAKOUT_CFG.

A layout is one set of modes. A cage that keeps its mode keeps the layout's ports, as the SKU's own port table has them.
In another mode its ports are those that SONiC's breakout command makes of platform.json, else those of another layout.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from fabricgen.platforms.breakout import PORT_NAME, fec_of, split
from fabricgen.platforms.model import Cage, Layout, PlatformPort, SwitchPlatform

Ports = tuple[PlatformPort, ...]


@dataclass(frozen=True)
class Mode:
    """One way to split a cage. `text` is that of BREAKOUT_CFG; `others` are further speeds of each port (Mb/s)."""

    text: str
    ports: Ports
    others: tuple[tuple[int, ...], ...]

    @property
    def name(self) -> str:
        """2x400G: how the inventory writes it."""
        return self.text.partition("[")[0] if "+" not in self.text else self.text

    def at(self, speed_mbps: int) -> "Mode | None":
        """The mode with all ports at another speed that it permits; None if a port does not permit it."""
        if not all(speed_mbps in others for others in self.others):
            return None
        return self.at_speeds([speed_mbps] * len(self.ports))

    def at_speeds(self, speeds_mbps: Sequence[int | None]) -> "Mode":
        """The mode with each port at its speed of this list, where the mode permits it."""
        ports = zip(self.ports, self.others, speeds_mbps, strict=True)
        return replace(self, ports=tuple(_at(port, mbps) if mbps in others else port for port, others, mbps in ports))


class PortModes:
    """The modes of each cage of a platform, those of one of its layouts first."""

    def __init__(self, platform: SwitchPlatform, layout: Layout) -> None:
        self.platform, self.layout = platform, layout

    @cached_property
    def own(self) -> Mapping[str, Ports]:
        """Cage -> its ports in the layout."""
        return _by_cage(self.layout)

    @cached_property
    def cages(self) -> Mapping[str, tuple[Mode, ...]]:
        """Cage -> its modes: the layout's, those of platform.json, those of other layouts."""
        found: dict[str, dict[str, Mode]] = {}
        lanes = {cage.parent: cage.lanes for cage in self.platform.cages}
        for parent, ports in self.own.items():
            found[parent] = {ports[0].breakout_mode: _of_ports(ports, lanes.get(parent))}
        for cage in self.platform.cages:
            for text, aliases in cage.modes.items() if self._has(cage) else ():
                kind = self._kinds.get(cage.parent, "fabric")
                found.setdefault(cage.parent, {}).setdefault(text, _of_cage(cage, text, aliases, kind))
        for layout in self.platform.layouts:
            for parent, ports in _by_cage(layout).items():
                if not self._fits(parent, ports):
                    continue
                modes = found.setdefault(parent, {})
                modes.setdefault(ports[0].breakout_mode, _of_ports(ports, lanes.get(parent)))
        return {parent: tuple(modes.values()) for parent, modes in found.items()}

    @cached_property
    def cage_of_port(self) -> Mapping[str, str]:
        """Name or alias of a port in any mode -> its cage."""
        return {
            text: parent
            for parent, of_cage in self.cages.items()
            for mode in of_cage
            for port in mode.ports
            for text in (port.name, port.alias)
            if text
        }

    def _has(self, cage: Cage) -> bool:
        """Whether a cage of platform.json is one of the layout, not several."""
        return _cage_count(self.own.get(cage.parent, ())) <= len({*cage.indexes})

    def _fits(self, parent: str, ports: Ports) -> bool:
        """Whether the ports of another layout can be in a cage: not if one of the two SKUs has several cages there."""
        count, own = _cage_count(ports), _cage_count(self.own.get(parent, ports))
        cage = self._cage.get(parent)
        most = len({*cage.indexes}) if cage else own
        return count == own if own > most else count <= max(own, most)

    @cached_property
    def _cage(self) -> Mapping[str, Cage]:
        return {cage.parent: cage for cage in reversed(self.platform.cages)}  # the first one of a name

    @cached_property
    def _kinds(self) -> Mapping[str, str]:
        """Cage -> what its ports are for in the first layout that has it: so they are in all modes."""
        found: dict[str, str] = {}
        for layout in (self.layout, *self.platform.layouts):
            for port in layout.ports:
                found.setdefault(port.parent, port.kind)
        return found

    @cached_property
    def numbers(self) -> Mapping[int, tuple[str, ...]]:
        """Number of a front-panel cage -> cages (several where one has two connectors); those for service left out."""
        found: dict[int, tuple[str, ...]] = {}
        for parent, modes in self.cages.items():
            if modes[0].ports[0].kind == "fabric":
                number = modes[0].ports[0].index
                found[number] = (*found.get(number, ()), parent)
        return dict(sorted(found.items()))

    def mode(self, parent: str, wanted: str) -> Mode | None:
        """The mode of this name; else one that permits the speed: 2x200G is 2x400G[200G] with ports at 200G."""
        known = self.cages[parent]
        for mode in known:
            if wanted in (mode.text, mode.name):
                return mode
        try:
            count, speed_mbps = _count_and_speed(wanted)
        except ValueError:
            return None
        by_default = [mode for mode in known if [port.speed_mbps for port in mode.ports] == [speed_mbps] * count]
        permitted = (mode.at(speed_mbps) for mode in known if len(mode.ports) == count)
        stated = (mode for mode in (*by_default, *permitted) if mode and mode.text)  # what BREAKOUT_CFG can have
        return next(stated, None) or next(iter(by_default), None)

    def with_modes(self, modes: Mapping[str, Mode]) -> Layout:
        """The layout with these cages in these modes; the layout itself where none differs."""
        ports = {**self.own, **{parent: mode.ports for parent, mode in modes.items()}}
        if ports == self.own:
            return self.layout
        order = [*self.own, *sorted(ports.keys() - self.own.keys(), key=_number)]
        if len(order) > len(self.own):
            order.sort(key=lambda parent: (ports[parent][0].kind != "fabric", _number(parent)))
        made = tuple(port for parent in order for port in ports[parent])
        return replace(self.layout, name=_name(ports[parent] for parent in order), ports=made)

    def written(self, layout: Layout) -> dict[str, str]:
        """`ports` of an inventory that makes these ports of the layout; cages that keep their mode are left out."""
        changed = {parent: ports for parent, ports in _by_cage(layout).items() if ports != self.own.get(parent)}
        if not changed:  # the modes of all cages take long
            return {}
        shown = [
            (number, _shown(changed[parent]))
            for number, parents in self.numbers.items()
            for parent in parents
            if parent in changed
        ]
        return dict(_grouped(dict.fromkeys(shown)))


def _by_cage(layout: Layout) -> dict[str, Ports]:
    found: dict[str, Ports] = {}
    for port in layout.ports:
        found[port.parent] = (*found.get(port.parent, ()), port)
    return found


def _cage_count(ports: Ports) -> int:
    """The cages of the front panel that these ports are in."""
    return len({port.index for port in ports})


def _of_ports(ports: Ports, lanes: tuple[int, ...] | None) -> Mode:
    text = ports[0].breakout_mode
    made = split(text, lanes or tuple(lane for port in ports for lane in port.lanes)) if text else None
    fits = made is not None and len(made) == len(ports)
    others = tuple(part.other_speeds_mbps for part in made) if made and fits else ((),) * len(ports)
    return Mode(text, ports, others)


def _of_cage(cage: Cage, text: str, aliases: tuple[str, ...], kind: str) -> Mode:
    made = split(text, cage.lanes)
    first = PORT_NAME.fullmatch(cage.parent)
    assert made and first, "the reader of entries has checked the modes"
    ports = tuple(
        PlatformPort(
            name=f"Ethernet{int(first[1]) + part.offset}",
            lanes=part.lanes,
            alias=alias,
            index=cage.indexes[part.offset if len(cage.indexes) > 1 else 0],
            subport=place if len(made) > 1 else 0,
            parent=cage.parent,
            speed_mbps=part.speed_mbps,
            kind=kind,
            fec=fec_of(part.speed_mbps, len(part.lanes)),
            breakout_mode=text,
        )
        for place, (part, alias) in enumerate(zip(made, aliases, strict=True), 1)
    )
    return Mode(text, ports, tuple(part.other_speeds_mbps for part in made))


def _at(port: PlatformPort, speed_mbps: int | None) -> PlatformPort:
    assert speed_mbps is not None
    return replace(port, speed_mbps=speed_mbps, fec=fec_of(speed_mbps, len(port.lanes)))


def _count_and_speed(text: str) -> tuple[int, int]:
    """'2x200G' to (2, 200000). Raises ValueError."""
    made = split(text, tuple(range(64)))
    if not made or len({part.speed_mbps for part in made}) > 1:
        raise ValueError(text)
    return len(made), made[0].speed_mbps


def _number(parent: str) -> tuple[int, str]:
    match = PORT_NAME.fullmatch(parent)
    return (int(match[1]) if match else 0), parent


def _name(cages: Iterator[Ports]) -> str:
    """'1-32:4x200G,33-64:2x400G': the modes of the cages for the fabric."""
    shown = ((ports[0].index, _shown(ports)) for ports in cages if ports[0].kind == "fabric")
    return ",".join(f"{numbers}:{mode}" for numbers, mode in _grouped(shown))


def _grouped(shown: Iterable[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """(1, mode), (2, mode) to ('1-2', mode): neighbours with equal modes together."""
    for (_, mode), group in groupby(enumerate(shown), lambda each: (each[1][0] - each[0], each[1][1])):
        numbers = [number for _, (number, _) in group]
        yield (f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"), mode


def _shown(ports: Ports) -> str:
    """The mode of a cage with the speed that its ports run at."""
    made = split(ports[0].breakout_mode, tuple(range(64)))
    text = ports[0].breakout_mode
    name = text if "+" in text else text.partition("[")[0]
    speeds = [port.speed_mbps for port in ports]
    if "+" in name or (made and [part.speed_mbps for part in made] == speeds):
        return name
    return f"{len(ports)}x{speeds[0] // 1000}G" if speeds[0] % 1000 == 0 else f"{len(ports)}x{speeds[0]}"
