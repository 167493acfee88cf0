"""The ports that a switch has by its own file. The hwsku alone does not determine them: cages can be in any mode."""

from collections.abc import Mapping

from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.platforms.port_modes import Mode, PortModes
from fabricgen.units import whole_number

Table = Mapping[str, Mapping[str, object]]


class PortsInUse:
    """The layouts of switches by their files; files with equal ports share one."""

    def __init__(self) -> None:
        self._modes: dict[tuple[object, ...], PortModes] = {}
        self._made: dict[tuple[object, ...], Layout] = {}

    def layout(self, platform: SwitchPlatform, layout: Layout, ports: Table, breakouts: Table) -> Layout:
        """The layout with each cage in the mode whose ports the file has: those of its BREAKOUT_CFG row first, then the
        layout's, then any. A cage whose ports fit no mode has the mode of its row, else that of the layout.
        """
        texts = {cage: row.get("brkout_mode") for cage, row in breakouts.items()}
        if (
            ports.keys() == layout.port_by_name.keys()
            and texts == layout.breakout_modes
            and _same_speeds(layout, ports)
        ):
            return layout
        # The layout of another release has another headroom, or buffers from another source.
        facts = (platform.name, layout.hwsku, layout.headroom, tuple(layout.sources.items()))
        key = (
            facts,
            tuple((name, row.get("lanes"), row.get("speed")) for name, row in ports.items()),
            tuple(texts.items()),
        )
        if key not in self._made:
            known = self._modes.setdefault(facts, PortModes(platform, layout))
            self._made[key] = known.with_modes(
                {
                    parent: _with_speeds(mode, ports)
                    for parent, modes in known.cages.items()
                    if (mode := _mode(modes, str(texts.get(parent) or ""), ports, parent in known.own))
                }
            )
        return self._made[key]


def _same_speeds(layout: Layout, ports: Table) -> bool:
    return all(ports[port.name].get("speed") == str(port.speed_mbps) for port in layout.ports)


def _mode(modes: tuple[Mode, ...], text: str, ports: Table, is_in_layout: bool) -> Mode | None:
    """The mode of a cage by the file; None for a cage without ports, which the layout does not have either."""
    names = {port.name for mode in modes for port in mode.ports} & ports.keys()
    stated = next((mode for mode in modes if text and mode.text == text), None)
    for mode in (*([stated] if stated else []), *(modes[:1] if is_in_layout else ())):
        if {port.name for port in mode.ports} == names:
            return mode
    for mode in modes:
        lanes = {port.name: ",".join(map(str, port.lanes)) for port in mode.ports}
        if lanes == {name: ports[name].get("lanes") for name in names}:
            return mode
    return stated or (modes[0] if is_in_layout else None)


def _with_speeds(mode: Mode, ports: Table) -> Mode:
    """The mode with each port at the speed of the file, where the mode permits it."""
    return mode.at_speeds([whole_number(ports.get(port.name, {}).get("speed")) for port in mode.ports])
