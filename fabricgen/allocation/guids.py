"""GUIDs of InfiniBand switches and adapters: those of the inventory, and placeholders for the others.

The lock file numbers the placeholders: one for each switch, and a run for each host with one for each NIC port of its
model. The GUIDs of the hardware replace them one by one: from `devices` and guids.csv, and from readings of the fabric.
The placeholders stay in the lock file.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fabricgen.allocation.lock import Lock
from fabricgen.allocation.pools import NumberPool
from fabricgen.allocation.readings import FoundGuids, Matching, unknown_nodes
from fabricgen.allocation.refusals import Refused
from fabricgen.design.model import Fabric, Host, PlaneDesign, Switch
from fabricgen.design.subnets import split_subnets
from fabricgen.findings import Finding, Related
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.model import AdapterNote, DeviceNote
from fabricgen.inventory.part import Part
from fabricgen.opensm.guids import (
    PLACEHOLDERS,
    NodeGuid,
    PortGuid,
    adapter_placeholder,
    is_placeholder,
    looks_swapped,
    parse_guid,
    switch_placeholder,
)
from fabricgen.vocabulary import Technology

_HOST_RUN = 64  # placeholders are given to hosts in runs of this size
SUBNETS = 0xFFFF  # of a site-local prefix


class AdapterGuids(NamedTuple):
    """The GUIDs of one NIC port, which is a channel adapter with one port for the subnet manager."""

    node: NodeGuid
    port: PortGuid


@dataclass(frozen=True)
class Guids:
    """Switches by identity; adapters by identity of the host and name of the NIC port."""

    switches: Mapping[str, NodeGuid]
    adapters: Mapping[tuple[str, str], AdapterGuids]


def give_guids(
    fabric: Fabric,
    notes: Mapping[str, DeviceNote],
    names: Mapping[str, str],
    host_names: Mapping[str, str],
    lock: Lock,
    findings: list[Finding],
    refusals: list[Refused],
) -> Guids:
    """The GUIDs of all InfiniBand planes. Adds placeholders and numbers of subnets to the lock."""
    planes = [design for design in fabric.planes if design.plane.technology == Technology.INFINIBAND]
    subnets = [subnet.key for design in planes for subnet in split_subnets(design)]
    refusals += _number(dict.fromkeys(subnets, 1), lock.subnets, 1, SUBNETS, "subnets")
    switches = [switch for design in planes for switch in design.switches]
    ends = {(link.a.key, link.a_port): link.a for design in planes for link in design.links if isinstance(link.a, Host)}
    hosts = {host.key: host for host in ends.values()}
    own = _Own(findings)
    given = own.switches(switches, notes)
    real = own.adapters(fabric.inventory.guids, hosts, host_names, ends.keys())
    for design in planes:
        matching = Matching(design, names, host_names, given)
        for reading in fabric.inventory.readings.get(design.plane.name, ()):
            found = matching.found(reading)
            findings += unknown_nodes(reading, found)
            own.read(found, names, host_names, given, real)
    kept = {key: _is_host(key) for key in lock.guids}
    of_hosts = {key: lock.guids[key] for key, is_host in kept.items() if is_host}
    of_switches = {key: lock.guids[key] for key, is_host in kept.items() if not is_host}
    refusals += _number({switch.key: 1 for switch in switches}, of_switches, 0, PLACEHOLDERS - 1, "guids")
    runs = {key: -(-len(host.model.nics) // _HOST_RUN) * _HOST_RUN for key, host in hosts.items()}
    refusals += _number(runs, of_hosts, 0, PLACEHOLDERS // 2 - 1, "guids")
    lock.guids.update(of_switches | of_hosts)
    place = {key: {nic.name: index for index, nic in enumerate(host.model.nics)} for key, host in hosts.items()}
    return Guids(
        {switch.key: given.get(switch.key) or switch_placeholder(of_switches[switch.key]) for switch in switches},
        {
            (host, nic): real.get((host, nic)) or AdapterGuids(*adapter_placeholder(of_hosts[host] + place[host][nic]))
            for host, nic in ends
        },
    )


def count_placeholders(design: PlaneDesign, guids: Guids) -> tuple[int, int]:
    """The numbers of switches and adapters of a plane with placeholder GUIDs; 0 for RoCE planes."""
    if design.plane.technology != Technology.INFINIBAND:
        return 0, 0
    ends = [(link.a.key, link.a_port) for link in design.links if isinstance(link.a, Host)]
    return (
        sum(is_placeholder(guids.switches[switch.key]) for switch in design.switches),
        sum(is_placeholder(guids.adapters[end].port) for end in ends),
    )


def _is_host(key: str) -> bool:
    """Whether a key is a host, group/number; the second part of a switch is its role."""
    return key.partition("/")[2].isdecimal()


def _number(sizes: Mapping[str, int], given: dict[str, int], low: int, high: int, section: str) -> list[Refused]:
    """Keep the number of each key, and give the first free run to keys without one. Returns what cannot be kept."""
    pool, refusals = NumberPool([(low, high)]), []
    held: dict[str, tuple[int, int]] = {}
    for key in sorted(given, key=lambda key: key not in sizes):
        first, last = given[key], given[key] + sizes.get(key, 1) - 1
        if pool.take(first, last):
            held[key] = first, last
        elif key in sizes:
            twin = next((other for other, (start, end) in held.items() if start <= last and first <= end), "")
            reason = "" if twin else f"is outside the range {low}-{high}"
            refusals.append(Refused(section, key, str(given.pop(key)), reason, twin=twin))
    for key, size in sizes.items():
        if key not in given:
            number = pool.give(size)
            assert number is not None, "a fabric cannot have more ports than there are placeholders"
            given[key] = number
    return refusals


class _Own:
    """The GUIDs of the hardware. Each GUID belongs to one node or port."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        self._owner: dict[str, tuple[str, Part, str]] = {}  # GUID -> (owner, part of the inventory, key)

    def switches(self, switches: Iterable[Switch], notes: Mapping[str, DeviceNote]) -> dict[str, NodeGuid]:
        """Identity -> GUID, for switches with a GUID in `devices`."""
        found = {}
        for switch in switches:
            note = notes.get(switch.key)
            if note and note.guid:
                found[switch.key] = NodeGuid(parse_guid(note.guid))
                self._claim(found[switch.key], f"switch {note.name}", note, "guid")
        return found

    def adapters(
        self,
        notes: Iterable[AdapterNote],
        hosts: Mapping[str, Host],
        names: Mapping[str, str],
        ends: Collection[tuple[str, str]],
    ) -> dict[tuple[str, str], AdapterGuids]:
        """(host identity, NIC port) -> its GUIDs. Rows of ports outside InfiniBand planes are reported."""
        by_name = {names[key]: key for key in hosts} | {key: key for key in hosts}
        found: dict[tuple[str, str], AdapterGuids] = {}
        for note in notes:
            key = by_name.get(note.host)
            if key is None:
                hint = suggest(note.host, sorted(by_name))
                message = f"the InfiniBand planes have no host {note.host!r}"
                self.findings.append(error("FG107", message, note, "host", hint=hint))
            elif (key, note.nic) not in ends:
                hint = suggest(note.nic, sorted(nic for host, nic in ends if host == key))
                message = f"{note.host} has no NIC port {note.nic!r} on an InfiniBand plane"
                self.findings.append(error("FG107", message, note, "nic", hint=hint))
            else:
                adapter = AdapterGuids(NodeGuid(parse_guid(note.node_guid)), PortGuid(parse_guid(note.port_guid)))
                if (key, note.nic) in found:
                    message = f"{note.host} {note.nic} is given twice"
                    self.findings.append(error("FG102", message, note, "nic", hint="remove one of the two"))
                found[key, note.nic] = adapter
                self._claim_pair(adapter, f"{note.host} {note.nic}", note)
        return found

    def read(
        self,
        found: FoundGuids,
        names: Mapping[str, str],
        host_names: Mapping[str, str],
        switches: dict[str, NodeGuid],
        adapters: dict[tuple[str, str], AdapterGuids],
    ) -> None:
        """Add the GUIDs of a reading. GUIDs that differ from the inventory or another reading are reported."""
        for key, switch in found.switches.items():
            if key not in switches:
                switches[key] = switch.guid
                self._claim(switch.guid, f"switch {names[key]}", switch, "guid")
            elif switches[key] != switch.guid:
                self._disagree(f"switch {names[key]}", switches[key], switch.guid, switch)
        for end, seen in found.adapters.items():
            assert seen.node_guid, "adapters without a node GUID are unknown nodes"
            adapter, owner = AdapterGuids(seen.node_guid, seen.port_guid), f"{host_names[end[0]]} {end[1]}"
            if end not in adapters:
                adapters[end] = adapter
                self._claim_pair(adapter, owner, seen)
            elif adapters[end] != adapter:
                before = adapters[end]
                kind = "node" if before.node != adapter.node else "port"
                self._disagree(f"the {kind} of {owner}", getattr(before, kind), getattr(adapter, kind), seen)

    def _disagree(self, what: str, before: str, now: str, part: Part) -> None:
        message = f"two GUIDs for {what}: {before}, and {now} in {part.at().file}"
        _, other, key = self._owner[before]
        related = (Related(f"{before} is given here", other.at(key)),)
        hint = "keep the GUID that `ibstat` shows: hardware was replaced, or cables or columns are exchanged"
        self.findings.append(error("FG894", message, part, hint=hint, related=related))

    def _claim_pair(self, adapter: AdapterGuids, owner: str, part: Part) -> None:
        self._claim(adapter.node, owner, part, "node_guid")
        if str(adapter.port) != str(adapter.node):  # adapters with one port often use one GUID for both
            self._claim(adapter.port, owner, part, "port_guid")
        if looks_swapped(adapter.node, adapter.port):
            message = f"{owner}: node GUID {adapter.node} and port GUID {adapter.port} seem to be exchanged"
            hint = "exchange the two: vendors number ports upwards from the GUID of the node"
            self.findings.append(error("FG891", message, part, "node_guid", hint=hint))

    def _claim(self, guid: str, owner: str, part: Part, key: str) -> None:
        if guid not in self._owner:
            self._owner[guid] = (owner, part, key)
            return
        first, other, other_key = self._owner[guid]
        cause = "a node and a port GUID are exchanged, or " if {key, other_key} == {"node_guid", "port_guid"} else ""
        hint = f"read the GUIDs again with `ibstat` or `ibnetdiscover`: {cause}a row was copied"
        related = (Related(f"{first} has it as {other_key}", other.at(other_key)),)
        self.findings.append(
            error("FG880", f"{owner} has the GUID {guid} of {first}", part, key, hint=hint, related=related)
        )
