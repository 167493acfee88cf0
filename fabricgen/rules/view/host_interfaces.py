"""The interfaces in hosts' netplan files, each with the switch port that it is cabled to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabricgen.bundle.wiring import WiredHost, WiredPlane
from fabricgen.engine.derived import derived
from fabricgen.rules.defects import Place
from fabricgen.rules.view.addresses import HeldAddress, IpInterface, parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.sonic.tables import vlan_name


@dataclass(eq=False, slots=True)
class Interface:
    """One NIC of one host, or a bond of several: then `end` is that of its first NIC. `vlan` is the VLAN of the switch
    for the interface of a tagged VLAN, "" for others."""

    group: HostFiles
    host: str
    nic: str
    plane: WiredPlane
    end: End
    raw: Mapping[str, Any]
    section: str = "ethernets"
    vlan: str = ""

    def place(self, name: str) -> Place:
        """The place of one of its keys."""
        return self.group.place(netplan_file(self.host), f"{self.section}.{self.nic}.{name}")

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
        """The addresses of the switch for the port at the other end."""
        switch = self.end.switch
        return switch.addresses_of.get(self.vlan, ()) if self.vlan else switch.addresses_for(self.end.port)

    def switch_place(self, table: str, field: str = "") -> tuple[tuple[str, Place], ...]:
        """The row of the switch port, as a related place."""
        return ((f"the switch, {self.end.switch.name}", self.end.place(table, field)),)


def netplan_file(host: str) -> str:
    """The netplan file of a host within those of its group."""
    return f"netplan/{host}.yaml"


@derived
def interfaces(fabric: Fabric) -> tuple[Interface, ...]:
    """Every NIC that a netplan file configures and a cable connects. NICs in a bond count as the bond; tagged VLANs
    have their own."""
    return tuple(one for group in host_groups(fabric) for host in group.hosts for one in _of_host(group, host))


def _of_host(group: HostFiles, host: WiredHost) -> Iterator[Interface]:
    raw = group.files.interfaces(host.name)
    bonds = {nic: bond for bond in host.bonds for nic in bond.nics} if raw else {}
    for nic in host.nics if raw else ():
        end, bond = group.ends.get((host.name, nic.name)), bonds.get(nic.name)
        if end is None:
            continue
        if bond is None and nic.name in raw:
            yield Interface(group, host.name, nic.name, group.planes[nic.plane], end, raw[nic.name])
        elif bond and nic.name == bond.nics[0]:
            content = rows_of_bonds(group, host.name).get(bond.name)
            if isinstance(content, Mapping):
                yield Interface(group, host.name, bond.name, group.planes[nic.plane], end, content, "bonds")
        own = bond.name if bond else nic.name
        for vlan in host.vlans if bond is None or nic.name == bond.nics[0] else ():
            content = rows_of_vlans(group, host.name).get(vlan.name)
            if vlan.link == own and isinstance(content, Mapping):
                plane, name = group.planes[nic.plane], vlan_name(vlan.number)
                yield Interface(group, host.name, vlan.name, plane, end, content, "vlans", name)


def rows_of_bonds(group: HostFiles, host: str) -> Mapping[str, Any]:
    """`network.bonds` of the netplan file of a host; empty where it has none."""
    return _rows_of(group, host, "bonds")


def rows_of_vlans(group: HostFiles, host: str) -> Mapping[str, Any]:
    """`network.vlans` of the netplan file of a host; empty where it has none."""
    return _rows_of(group, host, "vlans")


def _rows_of(group: HostFiles, host: str, kind: str) -> Mapping[str, Any]:
    found = group.files.network(host).get(kind)
    return found if isinstance(found, Mapping) else {}


def _listed(found: object) -> list[Any]:
    return found if isinstance(found, list) else []
