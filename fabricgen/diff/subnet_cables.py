"""The expected cables of InfiniBand planes and those in the output of ibnetdiscover."""

from collections.abc import Iterator
from pathlib import Path

from fabricgen.bundle.cables import miscablings, pair_of
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.diff.cables import CableDifference, CableSource, UnknownNode
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.joined import joined
from fabricgen.observed.wired_ports import WiredPorts
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.netlist import PortEnd, SubnetNodeKind, read_netlist
from fabricgen.sonic.canonical import natural_key


def compare_subnet_cables(bundle: Bundle, path: Path) -> CableDifference:
    """Compare the InfiniBand planes of a bundle with the output of ibnetdiscover, or a folder with one file per subnet.

    Only subnets with a switch in the output are compared. A switch of such a subnet that is not in the output is
    `silent`, and its cables are not reported one by one. Raises UnreadableInputError for a file without a cable,
    UsageError if the bundle has no InfiniBand plane or no switch of the output.
    """
    wiring = bundle.wiring
    ports = WiredPorts(wiring) if wiring else None
    if ports is None or not ports.switches:
        raise UsageError(f"{bundle.root or 'OLD'} has no InfiniBand plane to compare with ibnetdiscover")
    ends = _Ends(ports)
    seen = {pair_of(ends.named(near), ends.named(far)) for near, far in _read(path)}
    subnet = _subnets_of(ports, {name for pair in seen for name, _ in pair})
    if not subnet:
        raise UsageError(f"{path}: no switch of the output is in the bundle, by GUID or by name")
    links = [link for link in ports.links if link.b[0] in subnet]
    switches = {name for name, _ in ends.met if name in subnet}
    present = switches | {host.name for host in (wiring.hosts if wiring else ())}
    far_ends = {link.a: link.b for link in links} | {link.b: link.a for link in links}
    expected = [pair_of(link.a, link.b) for link in links if {link.a[0], link.b[0]} <= present]
    found, correct = miscablings(seen, far_ends, expected)
    silent = tuple(sorted(subnet - switches, key=natural_key))
    return CableDifference(found, correct, silent, ends.unknown(), CableSource.IBNETDISCOVER)


def _read(path: Path) -> Iterator[tuple[PortEnd, PortEnd]]:
    files = sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]
    for file in files:
        cables = [
            pair
            for pair in read_netlist(read_bytes(file).decode("utf-8", "replace")).cables()
            if {one.kind for one in pair} <= {SubnetNodeKind.SWITCH, SubnetNodeKind.ADAPTER}
        ]
        if not cables:
            raise UnreadableInputError("does not contain a cable in the format of ibnetdiscover", Location(str(file)))
        yield from cables


def _subnets_of(ports: WiredPorts, names: set[str]) -> set[str]:
    """The switches that are connected with one of these."""
    switches = [one.name for one in ports.switches.values()]
    known = set(switches)
    pairs = ((link.a[0], link.b[0]) for link in ports.links if link.a[0] in known and link.b[0] in known)
    return {name for group in joined(switches, pairs) if names & set(group) for name in group}


class _Ends:
    """Observed ends by the names of the bundle. A switch with an unknown GUID is known by its node description."""

    def __init__(self, ports: WiredPorts) -> None:
        self._ports = ports
        self._by_name = {one.name: guid for guid, one in ports.switches.items()}
        self._unknown: dict[int, UnknownNode] = {}
        self.met: set[Endpoint] = set()

    def named(self, end: PortEnd) -> Endpoint:
        """(switch, port) or (host, NIC)."""
        found = self._switch(end) if end.kind is SubnetNodeKind.SWITCH else self._adapter(end)
        self.met.add(found)
        return found

    def _switch(self, end: PortEnd) -> Endpoint:
        wired = self._ports.switches.get(end.node_guid)
        name = wired.name if wired else end.name
        if wired is None:
            guid = self._by_name.get(end.name)
            expected = guid_text(guid) if guid else ""
            self._unknown[end.node_guid] = UnknownNode(guid_text(end.node_guid), end.name, expected)
            name = end.name if guid else f"{end.name} ({guid_text(end.node_guid)})"
        return name, self._ports.port_names.get((name, end.port), str(end.port))

    def _adapter(self, end: PortEnd) -> Endpoint:
        known = self._ports.adapters.get(end.port_guid) or self._ports.nodes.get(end.node_guid)
        if known:
            return known
        guid = end.port_guid or end.node_guid
        self._unknown[guid] = UnknownNode(guid_text(guid), end.name, "")
        return f"{end.name} ({guid_text(guid)})", str(end.port)

    def unknown(self) -> tuple[UnknownNode, ...]:
        """Nodes whose GUID is not in the bundle, by name."""
        return tuple(sorted(self._unknown.values(), key=lambda one: (natural_key(one.name), one.guid)))
