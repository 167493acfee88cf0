"""The labels of ports in the files of their switches."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricgen.bundle.device import ObservedDevice
    from fabricgen.bundle.wiring import Endpoint

_Aliases = Mapping[str, str]


class Aliases:
    """The alias of each port. Each file is read once, and switches with equal aliases share them."""

    def __init__(self, devices: "Mapping[str, ObservedDevice]") -> None:
        self._devices = devices
        self._of: dict[str, _Aliases] = {}
        self._known: dict[tuple[tuple[str, str], ...], _Aliases] = {}

    def read(self, name: str) -> _Aliases:
        """port -> alias of a switch, for the ports with an alias; empty for another device."""
        if name not in self._of:
            device = self._devices.get(name)
            found = _aliases(device) if device else {}
            self._of[name] = self._known.setdefault(tuple(found.items()), found)
        return self._of[name]

    def label(self, end: "Endpoint") -> str:
        """The alias of a port; the name of the port if its file does not have one."""
        name, port = end
        return self.read(name).get(port) or port


def _aliases(device: "ObservedDevice") -> dict[str, str]:
    rows = device.table("PORT").items()
    return {port: alias for port, row in rows if isinstance(row, dict) and isinstance(alias := row.get("alias"), str)}
