"""The topology of a subnet as it was designed: ibsim's netlist, and the systems that ibdiagnet compares with."""

import re
from collections.abc import Iterable, Mapping

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Host, Link, Switch
from fabricgen.design.subnets import SubnetDesign
from fabricgen.render.contexts_infiniband import NetlistAdapter, NetlistPort, NetlistSwitch, TopoPort, TopoSystem

# HDR is the fastest speed of ibsim 0.10. It treats an unknown name as 10 Gb/s without a message.
_HDR_MBPS = 200_000
_SLOWER: Mapping[int, str] = {
    100_000: "2xHDR", 56_000: "4xFDR", 50_000: "1xHDR", 40_000: "4xQDR", 20_000: "4xDDR", 10_000: "4xSDR",
}  # fmt: skip
_MODEL = re.compile(r"nvidia-(q.+)")


def netlist_context(subnet: SubnetDesign, allocation: Allocation, first: Iterable[Link]) -> dict[str, object]:
    """`adapters` and `switches` of topology.ibsim, the subnet managers' first: ibsim puts its clients there."""
    ports: dict[str, list[NetlistPort]] = {switch.key: [] for switch in subnet.switches}
    switch_id = {switch.key: f"S-{allocation.guids.switches[switch.key][2:]}" for switch in subnet.switches}
    adapters = {}
    for link in subnet.links:
        speed, upper = netlist_speed(link.speed_mbps), allocation.names[link.b.key]
        number = link.b.layout.port_numbers[link.b_port]
        if isinstance(link.a, Switch):
            near, lower = link.a.layout.port_numbers[link.a_port], allocation.names[link.a.key]
            ports[link.a.key].append(NetlistPort(near, switch_id[link.b.key], number, upper, speed))
            ports[link.b.key].append(NetlistPort(number, switch_id[link.a.key], near, lower, speed))
            continue
        port = allocation.guids.adapters[link.a.key, link.a_port].port
        node = f"{int(port, 16) - 1:016x}"
        name = adapter_name(link, allocation)
        place = f"H-{node}"
        adapters[link] = NetlistAdapter(f"0x{node}", port[2:], place, name, switch_id[link.b.key], number, upper, speed)
        ports[link.b.key].append(NetlistPort(number, place, 1, name, speed))
    switches = [
        NetlistSwitch(
            allocation.guids.switches[switch.key],
            switch_id[switch.key],
            allocation.names[switch.key],
            max(switch.layout.port_numbers.values()),
            sorted(ports[switch.key]),
        )
        for switch in subnet.switches
    ]
    ordered = dict.fromkeys([*first, *adapters])
    return {"adapters": [adapters[link] for link in ordered], "switches": switches}


def netlist_speed(speed_mbps: int) -> str:
    """Width and speed of a link as ibsim 0.10 knows them."""
    return "4xHDR" if speed_mbps >= _HDR_MBPS else _SLOWER.get(speed_mbps, "4xSDR")


def adapter_name(link: Link, allocation: Allocation) -> str:
    """The name of the node that a NIC port is: the host's, and the port's."""
    return f"{allocation.host_names[link.a.key]} {link.a_port}"


def topo_context(subnet: SubnetDesign, allocation: Allocation) -> dict[str, object]:
    """`systems` of topology.topo, every link at both of its ends."""
    systems: dict[str, TopoSystem] = {}
    for switch in subnet.switches:
        systems[switch.key] = TopoSystem(_type(switch), allocation.names[switch.key], [])
    for link in subnet.links:
        if isinstance(link.a, Host) and link.a.key not in systems:
            systems[link.a.key] = TopoSystem(_type(link.a), allocation.host_names[link.a.key], [])
        ends = [(link.a, link.a_port), (link.b, link.b_port)]
        for (node, port), (peer, peer_port) in (ends, ends[::-1]):
            far = systems[peer.key]
            systems[node.key].ports.append(TopoPort(_port(node, port), far.type, far.name, _port(peer, peer_port)))
    return {"systems": list(systems.values())}


def _port(node: Switch | Host, port: str) -> str:
    return f"P{node.layout.port_numbers[port]}" if isinstance(node, Switch) else port


def _type(node: Switch | Host) -> str:
    """The name of the IBNL file that describes a system: a Quantum switch's ordering name without its options."""
    if isinstance(node, Host):
        return re.sub("[^A-Z0-9_]", "-", node.model.name.upper())
    match = _MODEL.fullmatch(node.platform.name)
    name = f"M{match[1]}" if match and match[1].startswith("qm") else match[1] if match else node.platform.name
    return re.sub("[^A-Z0-9_]", "-", name.upper())
