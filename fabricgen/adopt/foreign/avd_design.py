"""Group variables of AVD's designs: switches by tier, with the numbers that AVD makes from pools and their `id`.

Loopback0 is the address number id + loopback_ipv4_offset of loopback_ipv4_pool. The uplinks of a switch have subnets of
two addresses in uplink_ipv4_pool, max_uplink_switches * max_parallel_uplinks for each id; the upper switch has the even
address. Source: aristanetworks/avd, the descriptions of these keys in eos_designs, and the intended configurations of
examples/single-dc-l3ls.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, ip_interface

from fabricgen.adopt.foreign.described import DescribedEnd, DescribedSwitch, Description
from fabricgen.adopt.foreign.eos import expanded, port_of
from fabricgen.adopt.foreign.tree import Tree
from fabricgen.units import whole_number
from fabricgen.vocabulary import Role

NODE_TYPES = {"super_spine": Role.CORE, "spine": Role.SPINE, "l3spine": Role.SPINE, "l3leaf": Role.LEAF,
              "leaf": Role.LEAF}  # fmt: skip
_OTHER_TYPES = {"l2leaf", "l2spine", "overlay_controller", "wan_router", "wan_rr", "pe", "p", "rr"}
_ENDPOINTS = ("servers", "storage_arrays")
_READ = {"default_interfaces", "fabric_name", "mgmt_gateway", "mgmt_interface", *_ENDPOINTS, *NODE_TYPES, *_OTHER_TYPES}


@dataclass(frozen=True)
class _Node:
    """A switch: its type in AVD, and the mappings that it inherits from, its own first: node, group, defaults."""

    name: str
    kind: str
    inherited: tuple[Tree, ...]

    def at(self, key: str) -> Tree:
        found = [tree.members[key] for tree in self.inherited if key in tree.members]
        return found[0] if found else self.inherited[0].at(key)

    def number(self, key: str, default: int) -> int:
        number = whole_number(self.at(key).text)
        return default if number is None else number


def read_design(described: Description, trees: Sequence[Tree]) -> None:
    """Add the switches and links of the group variables to a description."""
    gateway = next((text for tree in trees if (text := tree.at("mgmt_gateway").text)), "")
    nodes = [node for tree in trees for kind in NODE_TYPES for node in _nodes(kind, tree.at(kind))]
    ports = [entry for tree in trees for entry in tree.at("default_interfaces").items]
    for node in nodes:
        _read_node(described, node, gateway)
    for node in nodes:
        _read_uplinks(described, node, ports)
    for tree in trees:
        for kind in _ENDPOINTS:
            for name, endpoint in tree.at(kind).named():
                for adapter in endpoint.at("adapters").items:
                    _read_adapter(described, name, adapter)
        for key, value in tree.members.items():
            if key not in _READ or (key in _OTHER_TYPES and list(_nodes(key, value))):
                described.leave_out(key, value.place)


def _nodes(kind: str, tree: Tree) -> Iterator[_Node]:
    defaults = tree.at("defaults")
    for name, node in tree.at("nodes").named():
        yield _Node(name, kind, (node, defaults))
    for _, group in tree.at("node_groups").named("group"):
        for name, node in group.at("nodes").named():
            yield _Node(name, kind, (node, group, defaults))


def _read_node(described: Description, node: _Node, gateway: str) -> None:
    own = node.inherited[0]
    if not node.name:
        described.wrong("a node has no name", own.place)
        return
    switch = DescribedSwitch(node.name, own.place, NODE_TYPES[node.kind], node.at("platform").text)
    switch.asn = _asn(described, node)
    switch.management = described.addresses([node.at("mgmt_ip").text], node.at("mgmt_ip").place)
    switch.gateway = gateway
    switch.serial, switch.rack = node.at("serial_number").text, node.at("rack").text
    number = whole_number(node.at("id").text)
    pool = _pool(described, node.at("loopback_ipv4_pool"))
    if pool is not None and number is not None:
        index = number + node.number("loopback_ipv4_offset", 0)
        if index < pool.num_addresses:
            switch.loopbacks = (ip_interface(f"{pool[index]}/32"),)
        else:
            described.wrong(f"{pool} has no address number {index} for {node.name}", own.place)
    elif number is None:
        described.wrong(f"{node.name} has no `id`, from which AVD makes its addresses", own.place)
    described.add_switch(switch)


def _asn(described: Description, node: _Node) -> int | None:
    """The ASN of a node. Of a range such as 65101-65132 AVD takes the one with the number `id`, from 1."""
    found = node.at("bgp_as")
    low, dash, high = found.text.partition("-")
    if not dash:
        return described.asn(found.text, found.place)
    first, last = described.asn(low.strip(), found.place), described.asn(high.strip(), found.place)
    number = whole_number(node.at("id").text)
    if first is None or last is None or number is None:
        return None
    if not 0 < number <= last - first + 1:
        described.wrong(f"the range {found.text} of bgp_as has no ASN number {number} for {node.name}", found.place)
        return None
    return first + number - 1


def _pool(described: Description, tree: Tree) -> IPv4Network | None:
    if not tree.text:
        return None
    try:
        return IPv4Network(tree.text)
    except ValueError:
        described.wrong(f"{tree.text!r} is not one IPv4 prefix", tree.place)
        return None


def _default_ports(node: _Node, entries: Sequence[Tree]) -> list[str]:
    """The uplink ports that `default_interfaces` give to the type and platform: the platform's, else those of all."""
    entries = [entry for entry in entries if node.kind in entry.texts("types")]
    platform = node.at("platform").text
    for wanted in (lambda one: one != "default" and _matches(one, platform), lambda one: one == "default"):
        for entry in entries:
            if any(map(wanted, entry.texts("platforms"))):
                return entry.texts("uplink_interfaces")
    return []


def _matches(pattern: str, platform: str) -> bool:
    """Whether a platform fits; AVD takes the names of platforms as regular expressions."""
    try:
        return re.fullmatch(pattern, platform) is not None
    except re.error:
        return pattern == platform


def _read_uplinks(described: Description, node: _Node, entries: Sequence[Tree]) -> None:
    uppers, own, far = (
        expanded(node.at(f"uplink_{key}").texts()) for key in ("switches", "interfaces", "switch_interfaces")
    )
    own = own or expanded(_default_ports(node, entries))
    if not uppers:
        return
    place = node.inherited[0].place
    if not (len(uppers) <= len(own) and len(uppers) <= len(far)):
        described.wrong(
            f"{node.name} has {len(uppers)} uplink_switches, {len(own)} uplink_interfaces and {len(far)} "
            "uplink_switch_interfaces: expected one of each for an uplink", place,
        )  # fmt: skip
        return
    pool = _pool(described, node.at("uplink_ipv4_pool"))
    parallel = node.number("max_parallel_uplinks", 1)
    first = (node.number("id", 1) - 1) * node.number("max_uplink_switches", len(uppers) // parallel or 1) * parallel
    for index, (upper, port, far_port) in enumerate(zip(uppers, own, far, strict=False)):
        subnet = 2 * (first + index)
        if upper not in described.switches:
            described.wrong(f"{node.name} has the uplink switch {upper}, which the files do not describe", place)
            continue
        if pool is not None and subnet + 1 >= pool.num_addresses:
            described.wrong(f"{pool} has no subnet for uplink {index + 1} of {node.name}", place)
            continue
        for name, text, offset in ((node.name, port, 1), (upper, far_port, 0)):
            if not _add_port(described, name, text, node.inherited[0]):
                break
            if pool is not None:
                described.switches[name].ports[text].addresses = (ip_interface(f"{pool[subnet + offset]}/31"),)
        else:
            described.add_link(DescribedEnd(node.name, port), DescribedEnd(upper, far_port), place)


def _add_port(described: Description, name: str, text: str, tree: Tree) -> bool:
    port = port_of(text, tree.place)
    if port is None:
        described.wrong(f"{text!r} is not a port such as Ethernet1 or Ethernet1/5", tree.place)
        return False
    described.switches[name].ports.setdefault(text, port)
    return True


def _read_adapter(described: Description, host: str, adapter: Tree) -> None:
    """The links of one adapter of a server: three lists of equal length."""
    switches = adapter.texts("switches")
    ports = expanded(adapter.texts("switch_ports"))
    nics = expanded(adapter.texts("endpoint_ports")) or [f"nic{index}" for index in range(len(ports))]
    if not len(switches) == len(ports) == len(nics):
        described.wrong(
            f"the adapter of {host} has {len(switches)} switches, {len(ports)} switch_ports and {len(nics)} "
            "endpoint_ports: expected the same number", adapter.place,
        )  # fmt: skip
        return
    if "ethernet_segment" in adapter.members:
        described.leave_out("ethernet_segment of a server", adapter.at("ethernet_segment").place)
    for switch, port, nic in zip(switches, ports, nics, strict=True):
        if switch not in described.switches:
            described.leave_out(f"a link of a server to {switch}, which has no routes", adapter.place)
        elif _add_port(described, switch, port, adapter):
            described.add_link(DescribedEnd(host, nic), DescribedEnd(switch, port), adapter.place, is_host=True)
    known = [pair for pair in zip(switches, ports, strict=True) if pair[1] in _ports_of(described, pair[0])]
    _read_members(described, adapter, known)


def _ports_of(described: Description, name: str) -> Collection[str]:
    return described.switches[name].ports if name in described.switches else ()


def _read_members(described: Description, adapter: Tree, ports: Sequence[tuple[str, str]]) -> None:
    """The VLANs of an adapter on its ports, or on a port channel of each switch, with the number of its first port."""
    members: dict[tuple[str, str], None] = {}
    is_bond = "port_channel" in adapter.members and adapter.at("port_channel", "mode").text != ""
    first: dict[str, str] = {}
    for switch, port in ports:
        if not is_bond:
            members[switch, port] = None
            continue
        channel = first.setdefault(switch, "PortChannel" + "".join(char for char in port if char.isdigit()))
        described.switches[switch].channels.setdefault(channel, []).append(port)
        members[switch, channel] = None
    is_trunk, native = "trunk" in adapter.at("mode").text, adapter.at("native_vlan").text
    for number in described.vlan_numbers(adapter.at("vlans").text, adapter.place):
        for switch, member in members:
            vlan = described.switches[switch].vlan(number, adapter.place)
            vlan.members[member] = is_trunk and str(number) != native
