"""Readings of a cabled fabric, for its GUIDs: `ibnetdiscover` output, or the ports of UFM.

The content decides which of the two a file is. UFM's file is the JSON of GET /ufmRest/resources/ports: a port of an
adapter is named by its own GUID, and the node GUID is written at the connected switch port. /ufmRest/resources/systems
lists only switches.

Source: NVIDIA UFM Enterprise REST API Guide v6.22.1, Ports REST API and Systems REST API; the names of their fields in
public clients of that API.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import DUMP_BYTES, read_text
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import Part
from fabricgen.opensm.guids import NodeGuid, PortGuid, guid_text, parse_guid
from fabricgen.opensm.netlist import SubnetNodeKind, read_netlist

_AGGREGATION = "Aggregation Node"  # inside a switch, so not an endpoint of the design
_COMPUTER_PORT, _SWITCH_PORT = "Computer IB Port", "Switch IB Port"
_SWITCH_SYSTEM = "switch"  # `type` of a system


@dataclass(frozen=True)
class SeenSwitch(Part):
    """A switch in a reading, with its description."""

    guid: NodeGuid
    name: str


@dataclass(frozen=True)
class SeenAdapter(Part):
    """A cabled port of an adapter. `switch` and `switch_port` are the far end, by node GUID and port number.

    `node_guid` and `switch` are None if the reading does not contain them.
    """

    node_guid: NodeGuid | None
    port_guid: PortGuid
    name: str  # of its node: host, then device
    switch: NodeGuid | None
    switch_port: int


@dataclass(frozen=True)
class Reading(Part):
    """The content of one file."""

    file: str
    switches: tuple[SeenSwitch, ...]
    adapters: tuple[SeenAdapter, ...]


def read_reading(root: Path, name: str, path: str, place: Node) -> Reading:
    """A file beside the inventory. Raises UnreadableInputError for other formats."""
    try:
        text = read_text(root / name, DUMP_BYTES)
    except UnreadableInputError as problem:
        raise UnreadableInputError(problem.problem, replace(problem.location, file=name)) from problem
    read = _from_ufm if text.lstrip()[:1] in ("[", "{") else _from_netlist
    switches, adapters = read(text, name, path)
    if not switches and not adapters:
        raise UnreadableInputError("neither ibnetdiscover output nor ports of UFM", Location(name))
    return Reading(node=place, path=path, file=name, switches=tuple(switches), adapters=tuple(adapters))


def _from_netlist(text: str, file: str, path: str) -> tuple[list[SeenSwitch], list[SeenAdapter]]:
    read = read_netlist(text)
    switches, adapters = [], []
    for node in read.nodes.values():
        if node.kind is SubnetNodeKind.SWITCH and node.guid:
            at = Node(None, Location(file, node.line, 1))
            switches.append(SeenSwitch(node=at, path=path, guid=NodeGuid(guid_text(node.guid)), name=node.name))
    for (key, _), port in read.ports.items():
        node, far = read.nodes[key], read.nodes.get(port.far)
        if node.kind is SubnetNodeKind.ADAPTER and node.guid and port.guid and _AGGREGATION not in node.name:
            plugged = NodeGuid(guid_text(far.guid)) if far and far.kind is SubnetNodeKind.SWITCH else None
            adapters.append(
                SeenAdapter(
                    node=Node(None, Location(file, port.line, 1)),
                    path=path,
                    node_guid=NodeGuid(guid_text(node.guid)),
                    port_guid=PortGuid(guid_text(port.guid)),
                    name=node.name,
                    switch=plugged,
                    switch_port=port.far_port,
                )
            )
    return switches, adapters


def _from_ufm(text: str, file: str, path: str) -> tuple[list[SeenSwitch], list[SeenAdapter]]:
    """Raises UnreadableInputError."""
    try:
        ports = list(_ports(json.loads(text)))
        of_switches = [port for port in ports if port.get("description") == _SWITCH_PORT]
        behind = {str(port.get("peer_guid")): port for port in of_switches if port.get("peer_guid")}
        at = Node(None, Location(file, 1, 1))
        names = {NodeGuid(parse_guid(str(port["guid"]))): str(port.get("system_name", "")) for port in of_switches}
        systems = [port for port in ports if port.get("type") == _SWITCH_SYSTEM]
        names |= {NodeGuid(parse_guid(str(one["guid"]))): str(one.get("system_name", "")) for one in systems}
        switches = [SeenSwitch(node=at, path=path, guid=guid, name=name) for guid, name in names.items()]
        adapters = []
        for port in ports:
            if port.get("description") != _COMPUTER_PORT or _AGGREGATION in str(port.get("node_description")):
                continue
            far = behind.get(str(port["guid"]), {})
            node = far.get("peer_node_guid")
            adapters.append(
                SeenAdapter(
                    node=_place(text, file, str(port.get("name") or port["guid"])),
                    path=path,
                    node_guid=NodeGuid(parse_guid(str(node))) if node else None,
                    port_guid=PortGuid(parse_guid(str(port["guid"]))),
                    name=str(port.get("node_description") or port.get("system_name", "")),
                    switch=NodeGuid(parse_guid(str(far["guid"]))) if far else None,
                    switch_port=int(far.get("number", 0)),
                )
            )
    except json.JSONDecodeError as problem:
        raise UnreadableInputError(
            f"not JSON: {problem.msg}", Location(file, problem.lineno, problem.colno)
        ) from problem
    except (KeyError, TypeError, ValueError, RecursionError) as problem:
        raise UnreadableInputError(f"not the ports of UFM: {problem}", Location(file, 1, 1)) from problem
    return switches, adapters


def _ports(read: Any) -> Iterator[dict[str, Any]]:
    """The ports: the answer is a list, or a page with the list as `data`."""
    listed = read.get("data", ()) if isinstance(read, dict) else read
    yield from (port for port in listed if isinstance(port, dict))


def _place(text: str, file: str, word: str) -> Node:
    """The line of a port, found by its quoted name."""
    found = text.find(f'"{word}"')
    return Node(None, Location(file, text.count("\n", 0, max(found, 0)) + 1, 1))
