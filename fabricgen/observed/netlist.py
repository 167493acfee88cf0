"""`ibnetdiscover` output and netlists of ibsim to cables."""

from collections.abc import Iterator

from fabricgen.observed.subnet import ADAPTER, SWITCH, PortEnd
from fabricgen.opensm import netlist

_KINDS = {netlist.SWITCH: SWITCH, netlist.ADAPTER: ADAPTER}


def cables_of(text: str) -> Iterator[tuple[PortEnd, PortEnd]]:
    """Every cable, from both sides, as the text has it; lines of other kinds are passed over."""
    read = netlist.read_netlist(text)

    def end(name: str, number: int) -> PortEnd:
        node, port = read.nodes[name], read.ports.get((name, number))
        guid, lid = (port.guid, port.lid) if port else (0, 0)
        return PortEnd(_KINDS.get(node.kind, node.kind), node.guid, guid, node.name, node.lid or lid, number)

    for (name, number), port in read.ports.items():
        if port.far in read.nodes:
            yield end(name, number), end(port.far, port.far_port)
