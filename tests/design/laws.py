"""What holds in every design."""

from collections import Counter

from fabricgen.design.model import Fabric, Host, Switch


def check_ports(fabric: Fabric) -> None:
    """Every port is used once at most and exists, both ends run at one speed, ids and address slots are unique."""
    ends = [
        (link, node, port) for link in fabric.links for node, port in ((link.a, link.a_port), (link.b, link.b_port))
    ]
    assert set(Counter((node.key, port) for _, node, port in ends).values()) <= {1}
    for link, node, port in ends:
        if isinstance(node, Switch):
            found = node.layout.port_by_name[port]
            assert found.kind == "fabric" and found.speed_mbps == link.speed_mbps
        else:
            assert port in {nic.name for nic in node.model.nics}
    assert len({link.key for link in fabric.links}) == len(fabric.links)
    assert len({switch.key for switch in fabric.switches}) == len(fabric.switches)
    slots = Counter((link.block.key, link.slot) for link in fabric.links)
    assert set(slots.values()) == {1} and all(0 <= link.slot < link.block.slots for link in fabric.links)


def wiring(fabric: Fabric) -> dict[str, tuple[object, ...]]:
    """Every link by what it joins and where its addresses come from."""
    return {
        link.key: (link.a.key, link.a_port, link.b.key, link.b_port, link.block, link.slot, link.kind)
        for link in fabric.links
    }


def endpoints_of(fabric: Fabric) -> Counter[str]:
    """Host links of each switch."""
    return Counter(link.b.key for link in fabric.links if isinstance(link.a, Host))
