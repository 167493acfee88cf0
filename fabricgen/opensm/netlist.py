"""The format that `ibnetdiscover` prints and ibsim reads: nodes, and the ports that have a cable.

switchguid=0x…(…)                       node GUID of the next node (caguid=, rtguid= likewise)
Switch 40 "S-…"  # "leaf1" … lid 7      node and its description
[1] "H-…"[1](port guid)  # "host1 mlx5_0" lid 5 4xHDR
Ca 1 "H-…"  # "host1 mlx5_0"
[1](port guid) "S-…"[1]  # lid 5 lmc 0 "leaf1" lid 7 4xHDR
"""

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

_GUID = re.compile(r"(?:switch|ca|rt)guid=0x([0-9a-fA-F]{1,16})\b")
_NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s+(\d{1,9})\s+"([^"]+)"(?:\s*#\s*"([^"]*)")?(?:.*\blid (\d{1,9})\b)?', re.ASCII)
_PORT = re.compile(
    r'\[(\d{1,9})\](?:\(([0-9a-fA-F]+)\))?\s+"([^"]+)"\[(\d{1,9})\](?:\([0-9a-fA-F]+\))?(?:\s*#\s*lid (\d{1,9})\b)?',
    re.ASCII,
)


class SubnetNodeKind(enum.StrEnum):
    """What a node of an InfiniBand subnet is."""

    SWITCH = "Switch"
    ADAPTER = "Ca"
    ROUTER = "Rt"


@dataclass(frozen=True, slots=True)
class NetNode:
    """One node with the number of its ports. `lid` is 0 if the text has none. `line` counts from 1."""

    kind: SubnetNodeKind
    guid: int
    name: str
    ports: int
    lid: int
    line: int


@dataclass(frozen=True, slots=True)
class NetPort:
    """One cabled port, and the far end: a node's id and its port. `guid` and `lid` are 0 if the text has none."""

    guid: int
    lid: int
    far: str
    far_port: int
    line: int


@dataclass(frozen=True, slots=True)
class PortEnd:
    """One end of a cable. GUIDs are numbers. `port_guid` is 0 for a switch port, `lid` is 0 if it is not known."""

    kind: SubnetNodeKind
    node_guid: int
    port_guid: int
    name: str
    lid: int
    port: int


Cable = tuple[PortEnd, PortEnd]


@dataclass(frozen=True, slots=True)
class Netlist:
    """`nodes` by id, `ports` by (id of the node, number)."""

    nodes: dict[str, NetNode]
    ports: dict[tuple[str, int], NetPort]

    def cables(self) -> Iterator[Cable]:
        """Every cable, once from each end that the text lists."""
        for (node, number), port in self.ports.items():
            if port.far in self.nodes:
                yield self._end(node, number), self._end(port.far, port.far_port)

    def _end(self, name: str, number: int) -> PortEnd:
        node, port = self.nodes[name], self.ports.get((name, number))
        guid, lid = (port.guid, port.lid) if port else (0, 0)
        return PortEnd(node.kind, node.guid, guid, node.name, node.lid or lid, number)


def read_netlist(text: str) -> Netlist:
    """The nodes and ports of the text; other lines are ignored."""
    nodes: dict[str, NetNode] = {}
    ports: dict[tuple[str, int], NetPort] = {}
    guid, node = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _GUID.match(line):
            guid = int(found[1], 16)
        elif found := _NODE.match(line):
            kind, size, node, name, lid = found.groups()
            is_adapter = kind == "Hca"  # as older versions write it
            nodes[node] = NetNode(
                SubnetNodeKind.ADAPTER if is_adapter else SubnetNodeKind(kind),
                guid,
                name or node,
                int(size),
                int(lid or 0),
                number,
            )
            guid = 0
        elif node and (found := _PORT.match(line)):
            port, port_guid, far, far_port, lid = found.groups()
            ports[node, int(port)] = NetPort(int(port_guid or "0", 16), int(lid or 0), far, int(far_port), number)
    return Netlist(nodes, ports)
