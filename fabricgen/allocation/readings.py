"""The switch or NIC port of the design for each node of a reading.

A switch is identified by its GUID if the inventory has it, else by its name. The description of an adapter names the
host, and the NIC port by its name or as RDMA device. If it does not, the cable in the design decides.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabricgen.design.model import Host, PlaneDesign
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.readings import Reading, SeenAdapter, SeenSwitch
from fabricgen.opensm.guids import NodeGuid
from fabricgen.platforms.catalog import nic_model
from fabricgen.platforms.rdma_names import rdma_device
from fabricgen.vocabulary import RdmaNames

_MANAGED = re.compile(r"MF0;([^:]+):.*")  # the description of a managed switch: MF0;NAME:MODEL/U1
_SHOWN = 3

End = tuple[str, str]  # identity of the host, NIC port


@dataclass
class FoundGuids:
    """The nodes by identity. `unknown` are nodes that are not in the design, each with the reason."""

    switches: dict[str, SeenSwitch] = field(default_factory=dict)
    adapters: dict[End, SeenAdapter] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


class Matching:
    """The names and ports of one plane. `guids` are the GUIDs of switches in the inventory."""

    def __init__(
        self, design: PlaneDesign, names: Mapping[str, str], hosts: Mapping[str, str], guids: Mapping[str, NodeGuid]
    ) -> None:
        links = [link for link in design.links if isinstance(link.a, Host)]
        self._switch_named = {names[switch.key]: switch.key for switch in design.switches}
        self._switch_of = {guids[switch.key]: switch.key for switch in design.switches if switch.key in guids}
        self._ends: dict[str, dict[str, str]] = {}  # host -> NIC port or RDMA device -> NIC port
        self._wired: dict[tuple[str, int], End] = {}
        for link in links:
            ends = self._ends.setdefault(hosts[link.a.key], {})
            ends[link.a_port] = link.a_port
            if link.nic is not None:
                model = nic_model(link.nic.model)
                for source in RdmaNames:  # a reading can be older than the names
                    device = rdma_device(source, link.nic.name, link.nic.rdma, model.driver if model else "")
                    ends.setdefault(device or link.a_port, link.a_port)
            self._wired[link.b.key, link.b.layout.port_numbers[link.b_port]] = link.a.key, link.a_port
        self._host_named = {hosts[link.a.key]: link.a.key for link in links}

    def found(self, reading: Reading) -> FoundGuids:
        """The nodes of the plane in a reading."""
        found = FoundGuids()
        seen: dict[NodeGuid, str] = {}
        for switch in reading.switches:
            name = _MANAGED.sub(r"\1", switch.name)
            key = self._switch_of.get(switch.guid) or self._switch_named.get(name)
            if key is None:
                found.unknown.append(f"switch {switch.name!r} ({switch.guid}): no switch of the plane has this name")
            else:
                found.switches[key], seen[switch.guid] = switch, key
        for adapter in reading.adapters:
            end = self._end(adapter, seen.get(adapter.switch) if adapter.switch else None)
            if isinstance(end, str):
                found.unknown.append(f"{adapter.name!r} ({adapter.port_guid}): {end}")
            else:
                found.adapters[end] = adapter
        return found

    def _end(self, adapter: SeenAdapter, switch: str | None) -> End | str:
        """The NIC port, or the reason why it is unknown."""
        name, _, device = adapter.name.partition(" ")
        host = self._host_named.get(name)
        if host is None:
            return f"the plane has no host {name!r}"
        if adapter.node_guid is None:
            return "the reading does not contain its node GUID; ibnetdiscover does"
        nic = self._ends[name].get(device)
        if nic is not None:
            return host, nic
        if switch is None:
            return f"{name} has no NIC port {device!r}, and the switch at its far end is unknown"
        planned = self._wired.get((switch, adapter.switch_port))
        if planned is None or planned[0] != host:
            return f"the design has no cable from {name} to port {adapter.switch_port} of that switch"
        return planned


def unknown_nodes(reading: Reading, found: FoundGuids) -> Iterator[Finding]:
    """One warning for all unknown nodes of a reading."""
    if found.unknown:
        shown = "; ".join(found.unknown[:_SHOWN]) + ("; …" if len(found.unknown) > _SHOWN else "")
        message = f"{reading.file}: {len(found.unknown)} unknown nodes: {shown}"
        hint = "use names of the inventory with `ibnetdiscover --node-name-map`, or set `guid` of switches in `devices`"
        yield Finding("FG893", Severity.WARNING, message, path=reading.path, location=reading.at(), hint=hint)
