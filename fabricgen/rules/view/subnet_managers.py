"""An InfiniBand subnet: the files that its managers read, and its wiring."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.bundle.wiring import WiredDevice, WiredHost, WiredNic, Wiring
from fabricgen.engine.derived import derived
from fabricgen.inputs import read_bytes
from fabricgen.joined import joined
from fabricgen.observed.subnet_files import SubnetFiles, subnets_of
from fabricgen.opensm.guid_lists import GuidList, read_guids
from fabricgen.opensm.located_text import LocatedWord
from fabricgen.opensm.opensm_conf import OptionFile, read_options
from fabricgen.opensm.options import NO_FALLBACK
from fabricgen.opensm.partitions_conf import PartitionEntry, PartitionFile, read_partitions
from fabricgen.rules.defects import FilePlace
from fabricgen.rules.view.fabric import Fabric

if TYPE_CHECKING:
    from fabricgen.observed.subnet import Subnet

_TIERS = ("leaf", "spine", "core")
_WITHOUT_TIERS = ("torus", "mesh", "dragonfly", "dragonfly-plus")  # with few hosts the cables alone can look like tiers
TREE, SINGLE, OTHER = "tree", "single switches", "not a tree"


@dataclass(eq=False)
class ManagerFile:
    """The opensm.conf of one manager: of the master, or standby-N/opensm.conf."""

    subnet: "ManagedSubnet"
    name: str  # of the file, below the subnet's folder
    content: OptionFile

    def place(self, option: str) -> FilePlace:
        """The line of an option; the file if the option is missing."""
        found = self.content.options.get(option)
        at = found.name if found else LocatedWord("", 1, 1)
        return FilePlace(self.subnet.files, self.name, option, line=at.line, column=at.column)

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that OpenSM tries, in this order; minhop if the file names none."""
        named = tuple(one for one in self.content.engines if one != NO_FALLBACK)
        return named or ("minhop",)


@dataclass(eq=False)
class ManagedSubnet:
    """One folder of files. A property that needs the wiring is None if the wiring is unknown."""

    files: SubnetFiles
    wiring: Wiring | None

    @property
    def name(self) -> str:
        """PLANE, or PLANE/SUBNET."""
        return self.files.name

    @property
    def folder(self) -> Path:
        """Where the master's files are."""
        return self.files.folder

    @derived
    def _texts(self) -> dict[str, str | None]:
        return {}

    def text(self, file: str) -> str | None:
        """The text of a file below the folder; None if it is missing."""
        if file not in self._texts:
            path = self.folder / file
            self._texts[file] = read_bytes(path).decode("utf-8", "replace") if path.is_file() else None
        return self._texts[file]

    def place(self, file: str, word: LocatedWord | None = None, key: str = "") -> FilePlace:
        """The place of a word in a file, or of the file."""
        at = word or LocatedWord("", 1, 1)
        return FilePlace(self.files, file, key or at.text, line=at.line, column=at.column)

    def place_of(self, file: str, text: str) -> FilePlace:
        """The first place of a text in a file."""
        found = (self.text(file) or "").find(text)
        before = (self.text(file) or "")[: max(found, 0)]
        return FilePlace(
            self.files, file, text, "", before.count("\n") + 1, found - before.rfind("\n") if found >= 0 else 1
        )

    @derived
    def managers(self) -> tuple[ManagerFile, ...]:
        """The file of the master, then those of the standbys."""
        standbys = sorted(
            path.relative_to(self.folder).as_posix() for path in self.folder.glob("standby-*/opensm.conf")
        )
        return tuple(ManagerFile(self, name, read_options(self.text(name) or "")) for name in (OPTIONS_NAME, *standbys))

    @property
    def master(self) -> ManagerFile:
        """The file of the master."""
        return self.managers[0]

    def named(self, option: str, default: str = "") -> str | None:
        """The file next to opensm.conf that the master's option names; None if there is no such option or file."""
        name = self.master.content.file_names.get(option) or default
        return name if name and self.text(name) is not None else None

    @derived
    def partition_name(self) -> str | None:
        """The partition file next to opensm.conf."""
        return self.named("partition_config_file", "partitions.conf")

    @derived
    def partition_file(self) -> PartitionFile | None:
        """The parsed partition file."""
        return read_partitions(self.text(self.partition_name) or "") if self.partition_name else None

    @derived
    def partitions(self) -> tuple[PartitionEntry, ...]:
        """The partitions; empty if OpenSM rejects the file."""
        found = self.partition_file
        return found.partitions if found and not found.faults else ()

    def guids(self, option: str) -> tuple[str, GuidList] | None:
        """(file, content) of a list of GUIDs that the master's option names."""
        name = self.named(option)
        return (name, read_guids(self.text(name) or "")) if name else None

    # the wiring

    @derived
    def topology(self) -> "Subnet | None":
        """The cables: of topology.ibsim, or of another file with a topology in the folder."""
        from fabricgen.observed.opensm_dumps import read_subnet, topology_file

        file = topology_file(self.folder)
        found = read_subnet(self.files.netlist if self.files.netlist.is_file() else file) if file else None
        return found if found and found.switches else None

    @derived
    def devices(self) -> Mapping[int, WiredDevice]:
        """Switches of the plane by node GUID, by fabric.json."""
        devices = self.wiring.devices if self.wiring else ()
        return {int(one.node_guid, 16): one for one in devices if one.plane == self.files.plane and one.node_guid}

    @derived
    def adapters(self) -> Mapping[int, tuple[WiredHost, WiredNic]]:
        """Adapter ports of the plane by port GUID, by fabric.json."""
        hosts = self.wiring.hosts if self.wiring else ()
        found = ((nic, host) for host in hosts for nic in host.nics if nic.plane == self.files.plane and nic.port_guid)
        return {int(nic.port_guid, 16): (host, nic) for nic, host in found}

    @derived
    def ports(self) -> Mapping[int, str] | None:
        """Port GUID -> name, of every adapter port of the subnet."""
        if self.topology:
            return {port.port_guid: self.adapter_name(port.port_guid, port.name) for port in self.topology.adapters}
        return {guid: self.adapter_name(guid) for guid in self.adapters} or None

    def adapter_name(self, port_guid: int, other: str = "") -> str:
        """HOST NIC; `other` for an unknown GUID."""
        if port_guid not in self.adapters:
            return other
        host, nic = self.adapters[port_guid]
        return f"{host.name} {nic.name}"

    @derived
    def switches(self) -> Mapping[int, str] | None:
        """Node GUID -> name, of every switch of the subnet."""
        if self.topology:
            named = ((one.node_guid, one.name) for one in self.topology.switches)
            return {guid: self.devices[guid].name if guid in self.devices else name for guid, name in named}
        return {guid: one.name for guid, one in self.devices.items()} or None

    @derived
    def ports_of_nodes(self) -> Mapping[int, list[int]]:
        """Node GUID of an adapter -> its port GUIDs."""
        found: dict[int, list[int]] = {}
        for port in self.topology.adapters if self.topology else ():
            found.setdefault(port.node_guid, []).append(port.port_guid)
        for guid, (_, nic) in self.adapters.items() if not self.topology else ():
            found.setdefault(int(nic.node_guid or "0", 16), []).append(guid)
        return found

    @derived
    def design(self) -> str:
        """The plane's design by fabric.json, or ""."""
        planes = self.wiring.planes if self.wiring else ()
        return next((plane.design for plane in planes if plane.name == self.files.plane), "")

    @derived
    def _tiers(self) -> Mapping[int, int] | None:
        """Node GUID -> tier from 0, by role, else by the cables; None without cables."""
        known = {guid: _TIERS.index(self.devices[guid].role) for guid in self.switches or () if guid in self.devices}
        if self.topology is None or len(known) == len(self.topology.switches):
            return known or None
        from fabricgen.observed.subnet import levels

        pairs = zip(self.topology.switches, levels(self.topology).tolist(), strict=True)
        return {switch.node_guid: level for switch, level in pairs}

    @derived
    def kind(self) -> str | None:
        """Whether the switches form tiers that are cabled to adjacent tiers only."""
        subnet, tiers = self.topology, self._tiers
        if subnet is None or tiers is None:
            return None
        source, port = (subnet.peer_switch >= 0).nonzero()
        if not len(source):
            return SINGLE
        tier = [tiers[switch.node_guid] for switch in subnet.switches]
        pairs = zip(source.tolist(), subnet.peer_switch[source, port].tolist(), strict=True)
        in_tiers = max(tier) < len(tier) and all(abs(tier[a] - tier[b]) == 1 for a, b in pairs)
        return TREE if in_tiers and self.design not in _WITHOUT_TIERS else OTHER

    @derived
    def has_rings(self) -> bool:
        """Whether the cables between switches form a ring, apart from parallel cables. Without one no shortest paths
        close a credit loop, because no path turns back."""
        subnet = self.topology
        if subnet is None:
            return True
        source, port = (subnet.peer_switch >= 0).nonzero()
        ends = zip(source.tolist(), subnet.peer_switch[source, port].tolist(), strict=True)
        pairs = {(str(min(pair)), str(max(pair))) for pair in ends}
        names = [str(number) for number in range(len(subnet.switches))]
        return len(pairs) > len(names) - len(joined(names, pairs))

    @derived
    def tier(self) -> Mapping[int, int]:
        """Node GUID -> tier of a switch, from 0; empty if the switches form no tiers."""
        return (self._tiers or {}) if self.kind != OTHER else {}

    @derived
    def top(self) -> frozenset[int]:
        """Node GUIDs of the highest tier."""
        highest = max(self.tier.values(), default=0)
        return frozenset(guid for guid, tier in self.tier.items() if tier == highest)


@derived
def managed_subnets(fabric: Fabric) -> tuple[ManagedSubnet, ...]:
    """The subnets whose files are judged."""
    bundle = fabric.bundle
    return tuple(
        ManagedSubnet(files, bundle.wiring if files.plane else None)
        for root in bundle.subnet_roots
        for files in subnets_of(root)
    )


def manager_files(fabric: Fabric) -> Iterator[ManagerFile]:
    """Every opensm.conf."""
    for subnet in managed_subnets(fabric):
        yield from subnet.managers
