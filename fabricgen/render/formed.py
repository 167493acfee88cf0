"""A switch as forms, and what fills their blanks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from fabricgen.control_plane.bgp import LinkEnd
from fabricgen.platforms.model import Layout, PlatformPort

Slots = dict[str, str]
_NOTHING: Slots = {}


@dataclass(frozen=True, slots=True)
class FormedSwitch:
    """The forms of a switch and of each port of its layout, and what their blanks are filled with.

    `fixed` are the slots of each port that are equal on all switches with this layout, `own` the others.
    """

    name: str
    layout: Layout
    forms: tuple[int, ...]
    forms_of_ports: tuple[tuple[int, ...], ...]
    slots: Slots
    fixed: Sequence[Slots]
    own: Sequence[Slots]

    @property
    def port_forms(self) -> dict[int, list[str]]:
        """Form -> the names of its ports."""
        found: dict[int, list[str]] = {}
        for port, forms in zip(self.layout.ports, self.forms_of_ports, strict=True):
            for form in forms:
                found.setdefault(form, []).append(port.name)
        return found


def fixed_slots(port: PlatformPort) -> Slots:
    """What a port has on all switches with its layout."""
    return {
        "port.name": port.name,
        "port.lanes": ",".join(map(str, port.lanes)),
        "port.alias": port.alias,
        "port.index": str(port.index),
        "port.subport": str(port.subport),
        "port.parent": port.parent,
    }


def own_slots(end: LinkEnd | None) -> Slots:
    """What a port has on one switch: its far end. Nothing of a port without a link."""
    if end is None:
        return _NOTHING
    slots = {
        "port.description": f"{end.peer}:{end.peer_port}",
        "link.peer": end.peer,
        "link.peer_port": end.peer_port,
    }
    if end.peer_switch is not None:
        slots["link.peer_hwsku"] = end.peer_switch.layout.hwsku
    for index, address in enumerate(end.addresses):
        local, peer, asn = _address_slots(index)
        slots[local], slots[peer], slots[asn] = address.local, address.peer, str(address.peer_asn)
    return slots


@cache
def _address_slots(index: int) -> tuple[str, str, str]:
    return f"link.addresses.{index}.local", f"link.addresses.{index}.peer", f"link.addresses.{index}.asn"
