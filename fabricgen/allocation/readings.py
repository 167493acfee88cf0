"""Which switch and which NIC port of the design each node of a reading is.

A switch is found by its GUID, where the inventory has it, else by its name. Of an adapter the description names the
host; its NIC port is the one that the description names (by its name here, or as RDMA device), else the one that the
design plugs into that switch port.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabricgen.design.model import Host, PlaneDesign
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.readings import Reading, SeenAdapter, SeenSwitch
from fabricgen.opensm.guids import NodeGuid

_MANAGED = re.compile(r"MF0;([^:]+):.*")  # a managed switch describes itself as MF0;NAME:MODEL/U1
_SHOWN = 3

End = tuple[str, str]  # identity of the host, NIC port


@dataclass
class Found:
    """By identity; `strangers` are the nodes that are none of the design's, each with why."""

    switches: dict[str, SeenSwitch] = field(default_factory=dict)
    adapters: dict[End, SeenAdapter] = field(default_factory=dict)
    strangers: list[str] = field(default_factory=list)


class Matching:
    """The names and ports of one plane. `guids` are those of switches that the inventory has."""

    def __init__(
        self, design: PlaneDesign, names: Mapping[str, str], hosts: Mapping[str, str], guids: Mapping[str, NodeGuid]
    ) -> None:
        links = [link for link in design.links if isinstance(link.a, Host)]
        self._switch_named = {names[switch.key]: switch.key for switch in design.switches}
        self._switch_of = {guids[switch.key]: switch.key for switch in design.switches if switch.key in guids}
        self._ends: dict[str, dict[str, str]] = {}  # host -> NIC port or RDMA device -> NIC port
        self._plugged: dict[tuple[str, int], End] = {}
        for link in links:
            ends = self._ends.setdefault(hosts[link.a.key], {})
            ends[link.a_port] = link.a_port
            if link.nic is not None and link.nic.rdma:
                ends.setdefault(link.nic.rdma, link.a_port)
            self._plugged[link.b.key, link.b.layout.port_numbers[link.b_port]] = link.a.key, link.a_port
        self._host_named = {hosts[link.a.key]: link.a.key for link in links}

    def found(self, reading: Reading) -> Found:
        """What a reading tells of the plane."""
        found = Found()
        seen: dict[NodeGuid, str] = {}
        for switch in reading.switches:
            name = _MANAGED.sub(r"\1", switch.name)
            key = self._switch_of.get(switch.guid) or self._switch_named.get(name)
            if key is None:
                found.strangers.append(f"switch {switch.name!r} ({switch.guid}): no switch of the plane has that name")
            else:
                found.switches[key], seen[switch.guid] = switch, key
        for adapter in reading.adapters:
            end = self._end(adapter, seen.get(adapter.switch) if adapter.switch else None)
            if isinstance(end, str):
                found.strangers.append(f"{adapter.name!r} ({adapter.port_guid}): {end}")
            else:
                found.adapters[end] = adapter
        return found

    def _end(self, adapter: SeenAdapter, switch: str | None) -> End | str:
        """The NIC port, or why it is none."""
        name, _, device = adapter.name.partition(" ")
        host = self._host_named.get(name)
        if host is None:
            return f"no host of the plane is called {name!r}"
        if adapter.node_guid is None:
            return "its node GUID is not told: ibnetdiscover has it"
        nic = self._ends[name].get(device)
        if nic is not None:
            return host, nic
        if switch is None:
            return f"{name} has no NIC port {device!r}, and the switch that it is plugged into is unknown"
        planned = self._plugged.get((switch, adapter.switch_port))
        if planned is None or planned[0] != host:
            return f"the design has no cable from {name} to port {adapter.switch_port} of that switch"
        return planned


def strangers(reading: Reading, found: Found) -> Iterator[Finding]:
    """One warning for all nodes of a reading that are none of the design's."""
    if found.strangers:
        shown = "; ".join(found.strangers[:_SHOWN]) + ("; …" if len(found.strangers) > _SHOWN else "")
        message = f"{reading.file}: {len(found.strangers)} nodes are none of this plane: {shown}"
        hint = "names as in the inventory: `ibnetdiscover --node-name-map`; or `guid` of switches in `devices`"
        yield Finding("FG893", Severity.WARNING, message, path=reading.path, location=reading.at(), hint=hint)
