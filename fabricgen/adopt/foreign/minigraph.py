"""minigraph.xml files of SONiC switches: their numbers, ports and links.

The form is that which sonic-config-engine reads (sonic-buildimage, src/sonic-config-engine/minigraph.py): CpgDec has
the BGP sessions, DpgDec the addresses, PngDec the links and the hardware. Each switch has a file.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fabricgen.adopt.foreign.described import DescribedEnd, DescribedPort, DescribedSwitch, Description
from fabricgen.adopt.foreign.xml import Element, read_xml
from fabricgen.sonic.device_types import ROLES
from fabricgen.units import whole_number
from fabricgen.vocabulary import Role

MOST_VLAN = 4095
_LINKS = ("PngDec", "DeviceInterfaceLinks", "DeviceLinkBase")
_DATA = ("DpgDec", "DeviceDataPlaneInfo")
_LEFT_OUT = (
    ((*_DATA, "AclInterfaces", "AclInterface"), "an ACL"),
    (("DeviceInfos", "DeviceInfo", "VirtualInterfaces"), "a virtual interface"),
)


def read_minigraphs(files: Sequence[Path]) -> Description:
    """What the files describe. Raises UnreadableInputError for a file that is not XML."""
    described = Description()
    roots = [read_xml(file) for file in files]
    for root in roots:
        _read_switch(described, root)
    for root in roots:
        _read_links(described, root)
    return described


def _read_switch(described: Description, root: Element) -> None:
    name = root.value("Hostname")
    if root.name != "DeviceMiniGraph" or not name:
        described.wrong("not a minigraph: expected DeviceMiniGraph with Hostname", root.place)
        return
    devices = {device.value("Hostname"): device for device in root.all("PngDec", "Devices", "Device")}
    about = devices.get(name)
    kind = about.attributes.get("type", "") or about.value("ElementType") if about else ""
    switch = DescribedSwitch(name, root.place, Role(ROLES[kind]) if kind in ROLES else None)
    switch.model = root.value("HwSku") or (about.value("HwSku") if about else "")
    for router in root.all("CpgDec", "Routers", "BGPRouterDeclaration"):
        if router.value("Hostname") == name:
            switch.asn = described.asn(router.value("ASN"), router.place)
    for address in root.all(*_DATA, "LoopbackIPInterfaces", "LoopbackIPInterface"):
        if address.value("AttachTo") == "Loopback0":
            switch.loopbacks += described.addresses([_prefix(address)], address.place)
        else:
            described.leave_out(f"an address of {address.value('AttachTo')}", address.place)
    _read_management(described, switch, root)
    _read_ports(described, switch, root)
    for path, what in _LEFT_OUT:
        for element in root.all(*path):
            described.leave_out(what, element.place)
    for session in root.all("CpgDec", "PeeringSessions", "BGPSession"):
        ends = (session.value("StartRouter"), session.value("EndRouter"))
        if not set(ends) <= devices.keys():
            described.leave_out(f"the BGP session with {ends[1] if ends[0] == name else ends[0]}", session.place)
    described.add_switch(switch)


def _read_management(described: Description, switch: DescribedSwitch, root: Element) -> None:
    """The addresses of eth0 of one family, with the gateway of sonic-config-engine."""
    for address in root.all(*_DATA, "ManagementIPInterfaces", "ManagementIPInterface"):
        found = described.addresses([_prefix(address)], address.place)
        if found and switch.management and found[0].version != switch.management[0].version:
            described.leave_out("an address of eth0 of the second family", address.place)
        else:
            switch.management += found
    for one in switch.management[:1]:  # as sonic-config-engine does
        switch.gateway = str(one.network.network_address + 1)


def _prefix(address: Element) -> str:
    return address.value("Prefix", "IPPrefix") or address.value("PrefixStr")


def _read_ports(described: Description, switch: DescribedSwitch, root: Element) -> None:
    """The ports that have a speed, an address or a link, by alias."""
    for port in root.all("DeviceInfos", "DeviceInfo", "EthernetInterfaces", "EthernetInterface"):
        alias, speed = port.value("InterfaceName"), port.value("Speed")
        if speed and whole_number(speed) is None:
            described.wrong(f"the speed {speed!r} of {alias} is not a number of Mb/s", port.place)
        switch.ports[alias] = DescribedPort(port.place, speed_mbps=whole_number(speed))
    for link in root.all(*_LINKS):
        for device, end in _ends(link):
            if device == switch.name and link.attributes.get("type") == "DeviceInterfaceLink":
                known = switch.ports.setdefault(end, DescribedPort(link.place))
                known.speed_mbps = known.speed_mbps or whole_number(link.value("Bandwidth"))
    vlans = _read_vlans(described, switch, root)
    for address in root.all(*_DATA, "IPInterfaces", "IPInterface"):
        name = address.value("AttachTo")
        found = described.addresses([address.value("Prefix")], address.place)
        if addressed := switch.ports.get(name):
            addressed.addresses += found
        elif number := vlans.get(name):
            switch.vlan(number, address.place).addresses += found
        elif not switch.route(name, found):
            described.leave_out("a port channel with addresses and several ports", address.place)


def _read_vlans(described: Description, switch: DescribedSwitch, root: Element) -> dict[str, int]:
    """Add the port channels and VLANs of a switch; name of a VLAN -> its number. As in sonic-config-engine, a port is
    tagged in a VLAN of Type Tagged, and in all of several VLANs of another Type."""
    for channel in root.all(*_DATA, "PortChannelInterfaces", "PortChannel"):
        switch.channels[channel.value("Name")] = [port for port in channel.value("AttachTo").split(";") if port]
    found = {}
    for element in root.all(*_DATA, "VlanInterfaces", "VlanInterface"):
        number = whole_number(element.value("VlanID"))
        if number is None or not 0 < number < MOST_VLAN:
            described.wrong(f"the VLAN {element.value('VlanID')!r} is not a number", element.place)
            continue
        vlan = switch.vlan(number, element.place)
        is_tagged = element.value("Type") == "Tagged"
        vlan.members |= {member: is_tagged for member in element.value("AttachTo").split(";") if member}
        vlan.dhcp_servers = tuple(one for one in element.value("DhcpRelays").split(";") if one)
        found[element.value("Name")] = number
    native = Counter(
        port for vlan in switch.vlans.values() for port, is_tagged in vlan.members.items() if not is_tagged
    )
    for vlan in switch.vlans.values():
        vlan.members |= {member: True for member in vlan.members if native[member] > 1}
    return found


def _read_links(described: Description, root: Element) -> None:
    kinds = {
        device.value("Hostname"): device.attributes.get("type", "")
        for device in root.all("PngDec", "Devices", "Device")
    }
    for link in root.all(*_LINKS):
        if link.attributes.get("type") != "DeviceInterfaceLink":
            described.leave_out(f"a {link.attributes.get('type') or 'link without a type'}", link.place)
            continue
        (a, port_a), (b, port_b) = _ends(link)
        far = b if a in described.switches else a
        if not all((a, port_a, b, port_b)) or not {a, b} & described.switches.keys():
            described.wrong(f"a link from {a or '?'} {port_a} to {b or '?'} {port_b} has no switch of the files",
                            link.place)  # fmt: skip
            continue
        for device, port in ((a, port_a), (b, port_b)):
            if device in described.switches:  # only one of two files may have the link
                described.switches[device].ports.setdefault(port, DescribedPort(link.place))
        is_host = kinds.get(far, "") in ("Server", "") and far not in described.switches
        described.add_link(DescribedEnd(a, port_a), DescribedEnd(b, port_b), link.place, is_host=is_host)


def _ends(link: Element) -> list[tuple[str, str]]:
    return [(link.value(f"{end}Device"), link.value(f"{end}Port")) for end in ("Start", "End")]
