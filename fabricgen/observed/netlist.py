"""`ibnetdiscover` output and netlists of ibsim, which share one syntax, to cables.

switchguid=0x…(…)                       node GUID of the next node (caguid=, rtguid= likewise)
Switch 40 "S-…"  # "leaf1" … lid 7      node and its description
[1] "H-…"[1](port guid)  # "host1 mlx5_0" lid 5 4xHDR
Ca 1 "H-…"  # "host1 mlx5_0"
[1](port guid) "S-…"[1]  # lid 5 lmc 0 "leaf1" lid 7 4xHDR
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabricgen.observed.subnet import ADAPTER, SWITCH, PortEnd

_GUID = re.compile(r"(?:switch|ca|rt)guid=0x([0-9a-fA-F]+)")
_NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s+\d+\s+"([^"]+)"(?:\s*#\s*"([^"]*)")?(?:.*\blid (\d+))?')
_PORT = re.compile(r'\[(\d+)\](?:\(([0-9a-fA-F]+)\))?\s+"([^"]+)"\[(\d+)\](?:\([0-9a-fA-F]+\))?(?:\s*#\s*lid (\d+))?')
_KINDS = {"Switch": SWITCH, "Ca": ADAPTER, "Hca": ADAPTER, "Rt": "Rt"}


@dataclass(frozen=True, slots=True)
class _Node:
    kind: str
    guid: int
    name: str
    lid: int


def cables_of(text: str) -> Iterator[tuple[PortEnd, PortEnd]]:
    """Every cable, from both sides, as the text has it; lines of other kinds are passed over."""
    nodes: dict[str, _Node] = {}
    ports: dict[tuple[str, int], tuple[str, int, int, int]] = {}
    guid, node = 0, ""
    for line in text.splitlines():
        if found := _GUID.match(line):
            guid = int(found[1], 16)
        elif found := _NODE.match(line):
            kind, node, name, lid = found.groups()
            nodes[node] = _Node(_KINDS[kind], guid, name or node, int(lid or 0))
            guid = 0
        elif node and (found := _PORT.match(line)):
            port, port_guid, far, far_port, lid = found.groups()
            ports[node, int(port)] = far, int(far_port), int(port_guid or "0", 16), int(lid or 0)

    def end(name: str, port: int) -> PortEnd:
        _, _, port_guid, lid = ports.get((name, port), ("", 0, 0, 0))
        node = nodes[name]
        return PortEnd(node.kind, node.guid, port_guid, node.name, node.lid or lid, port)

    for (name, port), (far, far_port, _, _) in ports.items():
        if far in nodes:
            yield end(name, port), end(far, far_port)
