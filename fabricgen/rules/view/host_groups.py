"""Groups of hosts: their files, and the switch ports that their NICs are cabled to."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabricgen.bundle.hosts import ObservedHosts
from fabricgen.bundle.nic_kinds import adapters_of
from fabricgen.bundle.wiring import WiredAdapter, WiredHost, WiredModel, WiredPlane
from fabricgen.engine.derived import derived
from fabricgen.platforms.catalog import nic_model
from fabricgen.rules.defects import Defect, LinePlace, Place
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import Switch
from fabricgen.vocabulary import NicSettings, Purpose

MORE_THAN_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class NicPorts:
    """The switch ports of NICs with equal QoS settings."""

    qos: PortClass
    members: tuple[tuple[Switch, End], ...]

    def place(self, table: str, field: str = "") -> Place:
        """The first port's row of a table that is keyed by port."""
        return self.members[0][1].place(table, field)

    def map_place(self, field: str, table: str, key: int) -> Place:
        """The entry of a map that the ports name."""
        return self.members[0][0].place(table, self.qos.text(field), str(key))


@dataclass(eq=False)
class HostFiles:
    """One group with its files. `ends` maps (host, NIC) to the switch port that the NIC is cabled to."""

    files: ObservedHosts
    hosts: tuple[WiredHost, ...]
    model: WiredModel | None
    planes: Mapping[str, WiredPlane]
    ends: Mapping[tuple[str, str], End]
    ports: Mapping[str, tuple[NicPorts, ...]]  # plane -> the ports of its NICs
    announced: Mapping[str, tuple[str, ...]]  # plane -> the prefixes that hosts announce there by BGP

    def place(self, file: str, *path: str) -> Place:
        """A place in one of the files."""
        return Place(self.files, file, *path)

    def line(self, file: str, line: int, key: str) -> LinePlace:
        """A line of one of the files."""
        return LinePlace(self.files, file, key, line=line)

    @derived
    def adapters(self) -> Mapping[str, WiredAdapter]:
        """The NICs of the model by name, with the RDMA devices of the group."""
        return adapters_of(self.model, self.hosts[0].rdma_names)

    def nics(self, planes: Callable[[WiredPlane], bool]) -> list[str]:
        """The NICs of the hosts on the given planes, in the order of the model."""
        found = {nic.name for host in self.hosts for nic in host.nics if planes(self.planes[nic.plane])}
        return [name for name in self.adapters if name in found] or sorted(found)

    @derived
    def bond_of(self) -> Mapping[str, str]:
        """NIC -> the bond that it belongs to, on any of the hosts."""
        return {nic: bond.name for host in self.hosts for bond in host.bonds for nic in bond.nics}

    @derived
    def bonds_on(self) -> Mapping[str, frozenset[str]]:
        """Host -> the names of its planned bonds, where it has any."""
        return {host.name: frozenset(bond.name for bond in host.bonds) for host in self.hosts if host.bonds}

    def with_addresses(self, nics: Iterable[str]) -> list[str]:
        """The interfaces that have the addresses of NICs: themselves, or their bonds."""
        return list(dict.fromkeys(self.bond_of.get(nic, nic) for nic in nics))

    @derived
    def tagged_vlans(self) -> tuple[str, ...]:
        """The interfaces of tagged VLANs, on any of the hosts."""
        return tuple(dict.fromkeys(vlan.name for host in self.hosts for vlan in host.vlans))

    def is_set_up(self, nic: str) -> bool:
        """Whether the bundle configures the interface of a NIC."""
        known = self.adapters.get(nic)
        model = nic_model(known.model) if known else None
        return bool(model and model.driver) and nic not in self.of_spectrum_x

    @property
    def nic_settings(self) -> NicSettings:
        """What writes the settings of the NICs."""
        return self.hosts[0].nic_settings

    @derived
    def of_spectrum_x(self) -> frozenset[str]:
        """The NICs that NVIDIA's operator for Spectrum-X owns: those of rails on compute planes."""
        if self.nic_settings != NicSettings.SPECTRUM_X:
            return frozenset()
        nics = (nic for host in self.hosts for nic in host.nics if nic.rail is not None)
        return frozenset(nic.name for nic in nics if self.planes[nic.plane].purpose == Purpose.COMPUTE)

    @derived
    def lossless_planes(self) -> list[WiredPlane]:
        """The planes with PFC whose NICs the bundle configures."""
        return [
            plane
            for plane in self.planes.values()
            if plane.lossless and any(map(self.is_set_up, self.nics(lambda one, plane=plane: one is plane)))  # type: ignore[misc]
        ]

    def disagreements(
        self,
        plane: WiredPlane,
        mine: Place,
        wrong: Callable[[NicPorts], tuple[str, Place] | None],
        hint: str,
    ) -> Iterator[Defect]:
        """Defects where a setting disagrees with the ports of a plane: at the setting if most ports disagree, else at
        the ports.

        `wrong` returns the message and the place in the switch's file; None if they agree.
        """
        wrong_ports = [(ports, one) for ports in self.ports.get(plane.name, ()) if (one := wrong(ports))]
        total = sum(len(ports.members) for ports in self.ports.get(plane.name, ()))
        disagreeing = sum(len(ports.members) for ports, _ in wrong_ports)
        if disagreeing > MORE_THAN_HALF * total:
            _, (message, place) = max(wrong_ports, key=lambda one: len(one[0].members))
            yield Defect(mine, message, hint, ((f"the switch, {place.device.name}", place),))
            return
        for ports, (message, place) in wrong_ports:
            for switch in dict.fromkeys(switch for switch, _ in ports.members):
                there = Place(switch.device, place.table, place.key, place.field)
                yield Defect(there, message, "", ((f"the NICs of {self.files.group}", mine),))


@derived
def host_groups(fabric: Fabric) -> tuple[HostFiles, ...]:
    """The groups of hosts that have files."""
    return tuple(_groups(fabric))


def _groups(fabric: Fabric) -> Iterator[HostFiles]:
    wiring = fabric.bundle.wiring
    if wiring is None or not fabric.bundle.hosts:
        return
    models = {model.name: model for model in wiring.host_models}
    group_of = {host.name: host.group for host in wiring.hosts}
    ends: dict[str, dict[tuple[str, str], End]] = {}
    for end in fabric.ends:
        if (group := group_of.get(end.far_name)) is not None:
            ends.setdefault(group, {})[end.far_name, end.far_port] = end
    ports = _ports(fabric, group_of)
    for name, files in fabric.bundle.hosts.items():
        hosts = tuple(host for host in wiring.hosts if host.group == name)
        announced = {
            plane: tuple(dict.fromkeys(one for each in wiring.speakers if each.plane == plane for one in each.prefixes))
            for plane in {each.plane for each in wiring.speakers}
        }
        if hosts:
            model = models.get(hosts[0].model)
            yield HostFiles(files, hosts, model, fabric.planes, ends.get(name, {}), ports.get(name, {}), announced)


def _ports(fabric: Fabric, group_of: Mapping[str, str]) -> dict[str, dict[str, tuple[NicPorts, ...]]]:
    """group -> plane -> the ports of its NICs."""
    found: dict[str, dict[str, tuple[NicPorts, ...]]] = {}
    for qos in port_classes(fabric):
        members: dict[tuple[str, str], list[tuple[Switch, End]]] = {}
        for switch, _, end in qos.members:
            if end is not None and (group := group_of.get(end.far_name)) is not None:
                members.setdefault((group, end.link.plane), []).append((switch, end))
        for (group, plane), those in members.items():
            planes = found.setdefault(group, {})
            planes[plane] = (*planes.get(plane, ()), NicPorts(qos, tuple(those)))
    return found
