"""The interfaces in hosts' netplan files, each with the switch port that it is cabled to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabricgen.bundle.wiring import WiredPlane
from fabricgen.engine.derived import derived
from fabricgen.rules.defects import Place
from fabricgen.rules.view.addresses import HeldAddress, IpInterface, parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups


@dataclass(eq=False, slots=True)
class Interface:
    """One NIC of one host."""

    group: HostFiles
    host: str
    nic: str
    plane: WiredPlane
    end: End
    raw: Mapping[str, Any]

    def place(self, name: str) -> Place:
        """The place of one of its keys."""
        return self.group.place(netplan_file(self.host), f"ethernets.{self.nic}.{name}")

    def rows(self, name: str) -> list[Mapping[str, Any]]:
        """The mappings in a list; other values are left out."""
        return [row for row in _listed(self.raw.get(name)) if isinstance(row, dict)]

    @property
    def texts(self) -> list[str]:
        """Its addresses as written in the file."""
        return [str(text) for text in _listed(self.raw.get("addresses"))]

    @property
    def addresses(self) -> list[IpInterface]:
        """Its valid addresses."""
        return [address for text in self.texts if (address := parse_interface(text))]

    @property
    def held(self) -> tuple[HeldAddress, ...]:
        """The addresses of the port at the other end."""
        return self.end.switch.addresses_of.get(self.end.port, ())

    def switch_place(self, table: str, field: str = "") -> tuple[tuple[str, Place], ...]:
        """The row of the switch port, as a related place."""
        return ((f"the switch, {self.end.switch.name}", self.end.place(table, field)),)


def netplan_file(host: str) -> str:
    """The netplan file of a host within those of its group."""
    return f"netplan/{host}.yaml"


@derived
def interfaces(fabric: Fabric) -> tuple[Interface, ...]:
    """Every NIC that a netplan file configures and a cable connects."""
    return tuple(
        Interface(group, host.name, nic.name, group.planes[nic.plane], end, raw[nic.name])
        for group in host_groups(fabric)
        for host in group.hosts
        if (raw := group.files.interfaces(host.name))
        for nic in host.nics
        if nic.name in raw and (end := group.ends.get((host.name, nic.name)))
    )


def _listed(found: object) -> list[Any]:
    return found if isinstance(found, list) else []
