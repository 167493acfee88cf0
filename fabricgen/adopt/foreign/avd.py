"""Arista AVD: the structured configurations of switches, else the group variables of its designs.

Structured configurations have a file for each switch (eos_cli_config_gen of AVD 3 to 6: lists of mappings with `name`,
or mappings by name). Group variables (eos_designs) have the switches of each tier with their numbers, which AVD makes
from pools: see `avd_design`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fabricgen.adopt.foreign.avd_design import NODE_TYPES, read_design
from fabricgen.adopt.foreign.described import DescribedEnd, DescribedSwitch, Description
from fabricgen.adopt.foreign.eos import port_of
from fabricgen.adopt.foreign.tree import Tree, read_trees
from fabricgen.units import parse_speed_mbps
from fabricgen.vocabulary import Role

_MANAGEMENT = re.compile(r"Management\d+(/\d+)?")
_SPEED = re.compile(r"(?:forced |auto |sfp-1000baset )?(\d+)g", re.IGNORECASE)
_ROLES = {"spine": Role.SPINE, "l3spine": Role.SPINE, "super_spine": Role.CORE, "super-spine": Role.CORE,
          "leaf": Role.LEAF, "l3leaf": Role.LEAF}  # fmt: skip
_STRUCTURED = ("ethernet_interfaces", "router_bgp", "loopback_interfaces")
_READ = {
    "hostname", "router_bgp", "ethernet_interfaces", "loopback_interfaces", "management_interfaces", "metadata",
    "is_deployed", "config_end", "serial_number", "ip_routing", "service_routing_protocols_model", "vlans",
    "vlan_interfaces", "port_channel_interfaces",
}  # fmt: skip

_READ_OF_PORT = {
    "name", "peer", "peer_interface", "peer_type", "description", "shutdown", "speed", "mtu", "type", "switchport",
    "ip_address", "ipv6_address", "channel_group", "mode", "vlans", "native_vlan",
}  # fmt: skip
_PEER = ("peer", "peer_interface", "peer_type")


def read_avd(files: Sequence[Path]) -> Description:
    """What the files describe. Raises UnreadableInputError for a file that is not YAML."""
    described = Description()
    trees = {file: tree for file in files for tree in read_trees(file)}
    structured = {file: tree for file, tree in trees.items() if any(key in tree.members for key in _STRUCTURED)}
    designs = [tree for tree in trees.values() if NODE_TYPES.keys() & tree.members.keys()]
    if not structured:
        read_design(described, list(trees.values()))
        return described
    for file, tree in structured.items():
        _read_switch(described, tree.at("hostname").text or file.stem, tree)
    for tree in structured.values():
        _read_links(described, tree, structured)
    if not described.links and (routed := _first_routed(structured.values())):
        hint = "give the structured configurations of all switches, as AVD 3 to 6 writes them"
        described.wrong("ports have addresses, but no file says what they are connected to", routed.place, hint)
    for tree in designs:
        described.leave_out("group variables beside structured configurations, which have the same values", tree.place)
    return described


def _read_switch(described: Description, name: str, tree: Tree) -> None:
    switch = DescribedSwitch(name, tree.place, model=tree.at("metadata", "platform").text)
    switch.serial, switch.rack = tree.at("serial_number").text, tree.at("metadata", "rack").text
    asn = tree.at("router_bgp", "as")
    switch.asn = described.asn(asn.text, asn.place)
    for interface, value in tree.at("loopback_interfaces").named():
        if interface == "Loopback0":
            texts = [value.at("ip_address").text, value.at("ipv6_address").text]
            switch.loopbacks = described.addresses(texts, value.place)
        else:
            described.leave_out(f"{interface}: {value.at('description').text or 'a loopback'}", value.place)
    for interface, value in tree.at("management_interfaces").named():
        if _MANAGEMENT.fullmatch(interface) and not switch.management:
            switch.management = described.addresses([value.at("ip_address").text], value.place)
            switch.gateway = value.at("gateway").text
    _read_ports(described, switch, tree.at("ethernet_interfaces"))
    _read_vlans(described, switch, tree)
    for key, value in tree.members.items():
        if key not in _READ and (value.text or value.members or value.items):
            described.leave_out(key, value.place)
    described.add_switch(switch)


def _read_ports(described: Description, switch: DescribedSwitch, ports: Tree) -> None:
    for interface, value in ports.named():
        port = port_of(interface, value.place)
        if port is None:
            described.wrong(f"{interface!r} is not a port such as Ethernet1 or Ethernet1/5", value.place)
            continue
        port.speed_mbps = _speed_mbps(value.at("speed").text)
        port.mtu = value.at("mtu").text
        texts = [value.at("ip_address").text, value.at("ipv6_address").text]
        port.addresses = described.addresses(filter(_is_written, texts), value.place)
        for key in sorted(value.members.keys() - _READ_OF_PORT - {"metadata"}):
            described.leave_out(f"{key} of a port", value.at(key).place)
        for key in sorted(value.at("metadata").members.keys() - set(_PEER)):
            described.leave_out(f"metadata.{key} of a port", value.at("metadata", key).place)
        if _of_peer(value, "peer").text:
            switch.ports[interface] = port
        elif port.addresses:
            described.leave_out("a port with an address and without `peer`", value.place)


def _read_vlans(described: Description, switch: DescribedSwitch, tree: Tree) -> None:
    """The VLANs of a switch, those of ports and port channels, and its addresses in them."""
    for text, value in tree.at("vlans").named("id"):
        for number in described.vlan_numbers(text, value.place):
            switch.vlan(number, value.place)
    for interface, value in tree.at("ethernet_interfaces").named():
        group = value.at("channel_group", "id").text
        if not group and not _has_vlans(value):
            continue
        port = switch.ports.get(interface) or port_of(interface, value.place)
        if port is None:
            continue  # reported with the ports
        switch.ports[interface] = port
        if group:
            switch.channels.setdefault(f"PortChannel{group}", []).append(interface)
        else:
            _add_members(described, switch, interface, value)
    for interface, value in tree.at("port_channel_interfaces").named():
        _read_channel(described, switch, interface, value)
    for interface, value in tree.at("vlan_interfaces").named():
        numbers = described.vlan_numbers(interface.removeprefix("Vlan"), value.place)
        texts = [value.at("ip_address").text, value.at("ipv6_address").text]
        if not numbers or not any(texts):
            described.leave_out("a VLAN interface without an address of this switch", value.place)
        elif value.at("vrf").text not in ("", "default"):
            described.leave_out("the address of a VLAN in a VRF", value.place)
        else:
            switch.vlan(numbers[0], value.place).addresses += described.addresses(texts, value.place)


def _read_channel(described: Description, switch: DescribedSwitch, interface: str, value: Tree) -> None:
    """A port channel: the peer link of MLAG is left out."""
    channel = f"PortChannel{interface.removeprefix('Port-Channel')}"
    if value.at("switchport", "trunk", "groups").items or value.at("trunk_groups").items:
        described.leave_out("the port channel between two leaves (MLAG)", value.place)
        switch.channels.pop(channel, None)
    elif addresses := described.addresses([value.at("ip_address").text], value.place):
        if not switch.route(channel, addresses):
            described.leave_out("a port channel with addresses and several ports", value.place)
    elif channel in switch.channels:
        for key in ("mlag", "esi", "evpn_ethernet_segment"):
            if key in value.members:
                described.leave_out(f"{key} of a port channel", value.at(key).place)
        _add_members(described, switch, channel, value)


def _has_vlans(port: Tree) -> bool:
    return any(port.at(*path).text for path in (("switchport", "mode"), ("vlans",)))


def _add_members(described: Description, switch: DescribedSwitch, member: str, value: Tree) -> None:
    """The VLANs of a port or port channel: `switchport` since AVD 5, and `vlans`, `mode` and `native_vlan` before."""
    switchport = value.at("switchport")
    is_trunk = (switchport.at("mode").text or value.at("mode").text) == "trunk"
    if not is_trunk:
        listed = switchport.at("access_vlan").text or value.at("vlans").text
        native = ""
    else:
        listed = switchport.at("trunk", "allowed_vlan").text or value.at("vlans").text
        native = switchport.at("trunk", "native_vlan").text or value.at("native_vlan").text
    for number in described.vlan_numbers(listed, value.place):
        switch.vlan(number, value.place).members[member] = is_trunk and str(number) != native
    for number in described.vlan_numbers(native, value.place):
        switch.vlan(number, value.place).members[member] = False


def _of_peer(port: Tree, key: str) -> Tree:
    """What a port says of its far end: in `metadata` since AVD 6, in the port itself before."""
    moved = port.at("metadata", key)
    return moved if moved.text else port.at(key)


def _first_routed(trees: Iterable[Tree]) -> Tree | None:
    """The first port with an address."""
    ports = (port for tree in trees for _, port in tree.at("ethernet_interfaces").named())
    return next((port for port in ports if _is_written(port.at("ip_address").text)), None)


def _is_written(address: str) -> bool:
    """Whether an address is one, and not `dhcp`."""
    return address not in ("", "dhcp")


def _speed_mbps(text: str) -> int | None:
    match = _SPEED.match(text)
    return parse_speed_mbps(f"{match[1]}G") if match else None


def _read_links(described: Description, tree: Tree, structured: Mapping[Path, Tree]) -> None:
    """The links of a switch, and the roles of its peers by `peer_type`."""
    name = tree.at("hostname").text or next(file.stem for file, each in structured.items() if each is tree)
    for interface, value in tree.at("ethernet_interfaces").named():
        peer, port, kind = (_of_peer(value, key).text for key in _PEER)
        if not peer or interface not in described.switches[name].ports:
            continue
        if far := described.switches.get(peer):
            far.role = far.role or _ROLES.get(kind)
            if port and port not in far.ports:
                described.wrong(f"{name} {interface} has the peer {peer} {port}, which is not a port of its file",
                                _of_peer(value, "peer_interface").place)  # fmt: skip
                continue
        if not port:
            described.leave_out("a link without `peer_interface`", value.place)
            continue
        described.add_link(DescribedEnd(name, interface), DescribedEnd(peer, port), value.place,
                           is_host=kind not in _ROLES and far is None)  # fmt: skip
