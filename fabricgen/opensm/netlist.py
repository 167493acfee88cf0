"""The grammar that `ibnetdiscover` and the netlists of ibsim share: nodes, and the ports that are cabled.

switchguid=0x…(…)                       node GUID of the next node (caguid=, rtguid= likewise)
Switch 40 "S-…"  # "leaf1" … lid 7      node and its description
[1] "H-…"[1](port guid)  # "host1 mlx5_0" lid 5 4xHDR
Ca 1 "H-…"  # "host1 mlx5_0"
[1](port guid) "S-…"[1]  # lid 5 lmc 0 "leaf1" lid 7 4xHDR
"""

import re
from dataclasses import dataclass

SWITCH, ADAPTER, ROUTER = "Switch", "Ca", "Rt"

_GUID = re.compile(r"(?:switch|ca|rt)guid=0x([0-9a-fA-F]+)")
_NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s+\d+\s+"([^"]+)"(?:\s*#\s*"([^"]*)")?(?:.*\blid (\d+))?')
_PORT = re.compile(r'\[(\d+)\](?:\(([0-9a-fA-F]+)\))?\s+"([^"]+)"\[(\d+)\](?:\([0-9a-fA-F]+\))?(?:\s*#\s*lid (\d+))?')


@dataclass(frozen=True, slots=True)
class NetNode:
    """One node. `lid` is 0 where the text has none; `line` counts from 1."""

    kind: str  # Switch | Ca | Rt
    guid: int
    name: str
    lid: int
    line: int


@dataclass(frozen=True, slots=True)
class NetPort:
    """One cabled port and the far end: a node's id, and its port. `guid` and `lid` are 0 where the text has none."""

    guid: int
    lid: int
    far: str
    far_port: int
    line: int


@dataclass(frozen=True, slots=True)
class Netlist:
    """`nodes` by id, `ports` by (id of the node, number)."""

    nodes: dict[str, NetNode]
    ports: dict[tuple[str, int], NetPort]


def read_netlist(text: str) -> Netlist:
    """What the text has; lines of other kinds are passed over."""
    nodes: dict[str, NetNode] = {}
    ports: dict[tuple[str, int], NetPort] = {}
    guid, node = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if found := _GUID.match(line):
            guid = int(found[1], 16)
        elif found := _NODE.match(line):
            kind, node, name, lid = found.groups()
            nodes[node] = NetNode(ADAPTER if kind == "Hca" else kind, guid, name or node, int(lid or 0), number)
            guid = 0
        elif node and (found := _PORT.match(line)):
            port, port_guid, far, far_port, lid = found.groups()
            ports[node, int(port)] = NetPort(int(port_guid or "0", 16), int(lid or 0), far, int(far_port), number)
    return Netlist(nodes, ports)
