"""The wiring diagram of a Hedgehog fabric (hhfab): switches, servers and connections as objects of Kubernetes.

The form is that of wiring.githedgehog.com/v1beta1 (githedgehog/fabric 006069c, api/wiring/v1beta1). A port is
`switch/E1/5`, or `switch/E1/5/2` for the second part of a split cage.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricgen.adopt.foreign.described import DescribedEnd, DescribedPort, DescribedSwitch, Description
from fabricgen.adopt.foreign.tree import Tree, read_trees
from fabricgen.units import parse_speed_mbps, whole_number
from fabricgen.vocabulary import Role

_GROUPS = ("wiring.githedgehog.com/", "vpc.githedgehog.com/")
_PORT = re.compile(r"E\d+/(\d+)(?:/(\d+))?")
_ROLES = {"spine": Role.SPINE, "server-leaf": Role.LEAF, "border-leaf": Role.LEAF, "mixed-leaf": Role.LEAF}
_SERVERS = ("unbundled", "bundled", "mclag", "eslag")
_SPEC_LEFT_OUT = {
    "vtepIP": "vtepIP: the fabric has no VXLAN",
    "redundancy": "redundancy: pairs of switches (MCLAG, ESLAG)",
    "roce": "roce: set `lossless` of the plane",
    "ecmp": "ecmp: set `ecmp` or `overrides`",
    "portAutoNegs": "portAutoNegs",
    "portFECs": "portFECs: the FEC is that of the speed",
    "portGroupSpeeds": "portGroupSpeeds",
    "linkFlapErrDisable": "linkFlapErrDisable",
}


def read_wiring(files: Sequence[Path]) -> Description:
    """What the files describe. Raises UnreadableInputError for a file that is not YAML."""
    described = Description()
    objects = [tree for file in files for tree in read_trees(file)]
    ours = [one for one in objects if one.at("apiVersion").text.startswith(_GROUPS)]
    for one in objects:
        if one not in ours:
            kind, version = one.at("kind").text, one.at("apiVersion").text
            described.leave_out(f"{kind or 'a document'} of {version or 'no apiVersion'}", one.place)
    of_kind = {kind: [one for one in ours if one.at("kind").text == kind] for kind in ("Switch", "Connection")}
    for switch in of_kind["Switch"]:
        _read_switch(described, switch)
    for connection in of_kind["Connection"]:
        _read_connection(described, connection)
    _read_vpcs(described, ours)
    for one in ours:
        if (kind := one.at("kind").text) not in ("Switch", "Connection", "Server", "VPC", "VPCAttachment"):
            described.leave_out(kind or "an object without a kind", one.place)
    return described


def _read_switch(described: Description, tree: Tree) -> None:
    name, spec = tree.at("metadata", "name").text, tree.at("spec")
    role = spec.at("role").text
    if not name:
        described.wrong("a Switch has no metadata.name", tree.place)
        return
    if role not in _ROLES:
        described.wrong(f"switch {name} has the role {role!r}, expected {', '.join(_ROLES)}", spec.at("role").place)
    switch = DescribedSwitch(name, tree.place, _ROLES.get(role), spec.at("profile").text)
    switch.asn = described.asn(spec.at("asn").text, spec.at("asn").place)
    switch.loopbacks = described.addresses([spec.at("protocolIP").text], spec.at("protocolIP").place)
    switch.management = described.addresses([spec.at("ip").text], spec.at("ip").place)
    switch.mac, switch.serial = spec.at("boot", "mac").text.lower(), spec.at("boot", "serial").text
    for key, value in spec.members.items():
        if key in _SPEC_LEFT_OUT and (value.text not in ("", "false") or value.members):
            described.leave_out(_SPEC_LEFT_OUT[key], value.place)
    described.add_switch(switch)
    for port, value in spec.at("portBreakouts").members.items():
        if found := _port(described, port, value):
            switch.modes[found.cage] = value.text
    for port, value in spec.at("portSpeeds").members.items():
        if found := _port(described, port, value):
            found.speed_mbps = _speed_mbps(described, value)
            switch.ports[port] = found


def _speed_mbps(described: Description, value: Tree) -> int | None:
    try:
        return parse_speed_mbps(value.text.removeprefix("SPEED_"))
    except ValueError:
        described.wrong(f"{value.text!r} is not a speed such as 100G", value.place)
        return None


def _port(described: Description, name: str, tree: Tree) -> DescribedPort | None:
    match = _PORT.fullmatch(name)
    if match is None:
        described.wrong(f"{name!r} is not a port such as E1/5 or E1/5/2", tree.place)
        return None
    return DescribedPort(tree.place, cage=int(match[1]), part=int(match[2] or 0))


def _read_connection(described: Description, tree: Tree) -> None:
    spec = tree.at("spec")
    for kind, body in spec.members.items():
        if kind in _SERVERS:
            for link in _links_of(body):
                _add(described, link, "server", "switch", is_host=True)
            if kind != "unbundled":
                _add_channels(described, tree.at("metadata", "name").text, body)
        elif kind == "fabric":
            for link in _links_of(body):
                _add(described, link, "leaf", "spine")
        elif kind == "mesh":
            for link in _links_of(body):
                _add(described, link, "leaf1", "leaf2")
        else:
            described.leave_out(f"a connection of the kind {kind}", body.place)


def _add_channels(described: Description, name: str, body: Tree) -> None:
    """The port channel of a connection on each of its switches, with the number of its first port there."""
    for link in _links_of(body):
        device, _, port = link.at("switch", "port").text.partition("/")
        if (switch := described.switches.get(device)) and port in switch.ports:
            channel = _channel_of(switch, name, port)
            switch.channels.setdefault(channel, []).append(port)


def _channel_of(switch: DescribedSwitch, connection: str, port: str) -> str:
    known = switch.channel_of.get(connection)
    if known is None:
        place = switch.ports[port]
        known = switch.channel_of[connection] = f"PortChannel{10 * place.cage + place.part}"
    return known


def _read_vpcs(described: Description, ours: Sequence[Tree]) -> None:
    """VLANs of subnets of VPCs on the ports of the connections that they are attached to."""
    of_kind = {kind: [one for one in ours if one.at("kind").text == kind] for kind in ("VPC", "VPCAttachment")}
    numbers: dict[str, int] = {}
    for vpc in of_kind["VPC"]:
        for subnet, body in vpc.at("spec", "subnets").members.items():
            number = whole_number(body.at("vlan").text)
            if number is not None:
                numbers[f"{vpc.at('metadata', 'name').text}/{subnet}"] = number
            described.leave_out("the gateway of a subnet of a VPC, which is in a VRF", body.place)
    connections = {one.at("metadata", "name").text: one for one in ours if one.at("kind").text == "Connection"}
    for attachment in of_kind["VPCAttachment"]:
        spec = attachment.at("spec")
        number, connection = numbers.get(spec.at("subnet").text), connections.get(spec.at("connection").text)
        if number is None or connection is None:
            described.leave_out("a VPCAttachment without its connection or subnet", attachment.place)
            continue
        is_tagged = spec.at("nativeVLAN").text != "true"
        for body in connection.at("spec").members.values():
            for link in _links_of(body):
                device, _, port = link.at("switch", "port").text.partition("/")
                if switch := described.switches.get(device):
                    member = switch.channel_of.get(spec.at("connection").text, port)
                    switch.vlan(number, attachment.place).members[member] = is_tagged


def _links_of(body: Tree) -> Iterator[Tree]:
    yield from body.at("links").items
    if body.at("link").is_mapping:
        yield body.at("link")


def _add(described: Description, link: Tree, *sides: str, is_host: bool = False) -> None:
    ends = []
    for side in sides:
        place = link.at(side, "port")
        device, slash, port = place.text.partition("/")
        switch = described.switches.get(device)
        if not slash or not port or (switch is None and side != "server"):
            problem = f"is {place.text!r}, which is not a port of a Switch of the files" if place.text else "is missing"
            described.wrong(f"{side}.port {problem}", place.place)
            return
        if switch is not None:
            found = switch.ports.get(port) or _port(described, port, place)
            if found is None:
                return
            switch.ports[port] = found
            ip = link.at(side, "ip")
            found.addresses += described.addresses([ip.text], ip.place)
        ends.append(DescribedEnd(device, port))
    described.add_link(ends[0], ends[1], link.place, is_host=is_host)
