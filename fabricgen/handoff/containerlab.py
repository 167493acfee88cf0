"""A virtual lab of a slice of the fabric for containerlab: switches as sonic-vs, their hosts as Linux containers.

containerlab 39ff2b7 does not mount a startup-config into sonic-vs, and starts bgpd after it connects the links. So
config_db.json is bound to the path from which start.sh copies it, and `vtysh -f` then loads the configuration of FRR.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from io import StringIO
from ipaddress import collapse_addresses, ip_network
from typing import TYPE_CHECKING, Any

from fabricgen.bundle.names import CONFIG_NAME
from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_SWITCHES, Handoff
from fabricgen.handoff.chosen import chosen_devices, fits, refuse_strange_names
from fabricgen.handoff.lab_switch import MOST_PORTS, LabPort, lab_config
from fabricgen.handoff.templates import filled, yaml_bytes
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.dump import dump
from fabricgen.sonic.evpn import FAMILY
from fabricgen.sonic.tables import split_key
from fabricgen.visible import cell
from fabricgen.vocabulary import LinkKind

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice
    from fabricgen.bundle.wiring import Endpoint, WiredLink

SONIC_IMAGE = "${SONIC_IMAGE:=docker-sonic-vs:latest}"  # containerlab substitutes environment variables
HOST_IMAGE = "${HOST_IMAGE:=alpine:3}"
_FRR_FILE = "/etc/frr/fabricgen.conf"
_HOST_MTU = 9000


def containerlab_files(bundle: "Bundle", only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the lab: topology, a configuration for each switch, and the translation of ports.

    The hosts are those at the chosen switches; if `only` matches some of them, only these. Raises UsageError for a
    switch with more links in the lab than a virtual switch has ports.
    """
    from fabricgen.sonic.frr_lines import frr_conf

    devices = {device.name: device for device in chosen_devices(bundle, only)}
    plugged = {link.a[0] for link in bundle.host_links if link.b[0] in devices}
    hosts = {host for host in plugged if only is not None and fits(host, only)} or plugged
    inside = hosts | devices.keys()
    links = [link for link in bundle.links if link.b[0] in devices and link.a[0] in inside]
    refuse_strange_names(sorted(hosts), "host name")
    if shared := hosts & devices.keys():
        raise UsageError(f"{min(shared)} is a host and a switch: a lab needs different names")
    ends = sorted({end for link in links for end in (link.a, link.b)}, key=lambda end: tuple(map(natural_key, end)))
    ports = _numbered([end for end in ends if end[0] in devices])
    nics = _numbered([end for end in ends if end[0] in hosts])
    interfaces = {end: port.interface for end, port in (ports | nics).items()}
    links_of: dict[str, list[WiredLink]] = defaultdict(list)
    for link in links:
        for end in (link.a, link.b):
            links_of[end[0]].append(link)
    leaves = {rail: _leaves(links, rail) for rail in {link.rail for link in links}}
    nodes: dict[str, Any] = {}
    for device in devices.values():
        folder = f"configs/{device.name}"
        binds = [f"{folder}/{CONFIG_NAME}:/var/sonic/{CONFIG_NAME}:ro", f"{folder}/frr.conf:{_FRR_FILE}:ro"]
        group = {"group": device.wired.role} if device.wired else {}
        nodes[device.name] = {"kind": "sonic-vs", **group, "binds": binds, "exec": [f"vtysh -f {_FRR_FILE}"]}
    for host in sorted(hosts, key=natural_key):
        commands = [
            command
            for link in links_of[host]
            for command in _host_commands(link, interfaces[link.a], devices, leaves[link.rail])
        ]
        nodes[host] = {"kind": "linux", "group": "host", "exec": commands}
    yield "topology.clab.yml", yaml_bytes({
        "name": f"{bundle.wiring.fabric if bundle.wiring else 'fabric'}-lab",
        "topology": {
            "kinds": {"sonic-vs": {"image": SONIC_IMAGE}, "linux": {"image": HOST_IMAGE}},
            "nodes": nodes,
            "links": [{"endpoints": [f"{end[0]}:{interfaces[end]}" for end in (link.a, link.b)]} for link in links],
        },
    })  # fmt: skip
    yield "ports.csv", _port_list(ends, interfaces, ports)
    for device in devices.values():
        near = {link.b[1]: link.a[0] for link in links_of[device.name] if link.b[0] == device.name}
        near |= {link.a[1]: link.b[0] for link in links_of[device.name] if link.a[0] == device.name}
        config = lab_config(device, ports, near)
        yield f"configs/{device.name}/{CONFIG_NAME}", dump(config)
        yield f"configs/{device.name}/frr.conf", frr_conf(config).encode() if _speaks_evpn(config) else _frr(config)


def _numbered(ends: list["Endpoint"]) -> dict["Endpoint", LabPort]:
    """The ports of each device in natural order, with the ports of the virtual device."""
    found: dict[Endpoint, LabPort] = {}
    count: dict[str, int] = {}
    for end in ends:
        found[end] = LabPort(count.setdefault(end[0], 0))
        count[end[0]] += 1
    for name, number in count.items():
        if number > MOST_PORTS:
            raise UsageError(
                f"{name} has {number} links in the lab, a virtual switch {MOST_PORTS} ports: choose fewer with --only"
            )
    return found


def _leaves(links: list["WiredLink"], rail: int | None) -> list[str]:
    """The switches of the hosts of a rail, in natural order."""
    return sorted(
        {link.b[0] for link in links if link.kind == LinkKind.HOST_LEAF and link.rail == rail}, key=natural_key
    )


def _host_commands(
    link: "WiredLink", interface: str, devices: Mapping[str, "ObservedDevice"], leaves: list[str]
) -> Iterator[str]:
    """Commands for the addresses of a NIC, and for routes to the hosts at the other switches, `leaves`, of its rail."""
    yield f"ip link set {interface} mtu {_HOST_MTU} up"
    for gateway in _addresses(devices[link.b[0]], link.b[1]):
        address = Address(gateway.version, gateway.number ^ 1, gateway.length)
        if gateway.length not in (31, 127):
            continue
        yield f"ip address replace {address} dev {interface}"
        for other in leaves:
            for prefix in _host_prefixes(devices[other]):
                if prefix.version == gateway.version:
                    yield f"ip route replace {prefix} via {gateway.ip} dev {interface}"


def _addresses(device: "ObservedDevice", port: str) -> list[Address]:
    keys = (split_key(key) for key in device.table("INTERFACE"))
    found = (parse_address(parts[1]) for parts in keys if len(parts) == 2 and parts[0] == port)
    return sorted(filter(None, found))


def _host_prefixes(device: "ObservedDevice") -> list[Address]:
    """The prefixes of the hosts of a switch: those of its discard routes, and the subnets of ports in VRFs."""
    rows, interfaces = device.table("STATIC_ROUTE"), device.table("INTERFACE")
    keys = [split_key(key)[-1] for key, row in rows.items() if row.get("blackhole") == "true"]
    ports = {key for key, row in interfaces.items() if row.get("vrf_name")}
    places = [parts for key in interfaces if len(parts := split_key(key)) == 2 and parts[0] in ports]
    subnets = [ip_network(str(found.network)) for _, text in places if (found := parse_address(text))]
    for version in (4, 6):
        own = [one for one in subnets if one.version == version]
        keys += map(str, collapse_addresses(own))  # type: ignore[type-var]
    return sorted(filter(None, map(parse_address, keys)))


def _speaks_evpn(config: Mapping[str, Any]) -> bool:
    """Whether a BGP session of the switch carries EVPN routes."""
    return any(key.endswith(f"|{FAMILY}") for key in config.get("BGP_NEIGHBOR_AF", {}))


def _frr(config: Mapping[str, Any]) -> bytes:
    """The configuration of FRR from the tables: sessions, and the prefixes that the switch announces."""
    rows = config.get("BGP_NEIGHBOR", {})
    metadata = config["DEVICE_METADATA"]["localhost"]
    framework = config.get("BGP_GLOBALS", {}).get("default", {})
    loopbacks = [split_key(key)[1] for key in config.get("LOOPBACK_INTERFACE", {}) if "|" in key]
    statics = {split_key(key)[-1] for key, row in config.get("STATIC_ROUTE", {}).items() if "blackhole" in row}
    prefixes = sorted(filter(None, map(parse_address, {*loopbacks, *statics})))
    sessions = sorted(((split_key(key)[-1], row) for key, row in rows.items()), key=lambda pair: natural_key(pair[0]))
    router_id = framework.get("router_id") or next((each.ip for each in prefixes if each.version == 4), "")
    return filled(
        "containerlab",
        "frr.conf",
        hostname=metadata["hostname"],
        asn=metadata.get("bgp_asn") or framework.get("local_asn"),
        router_id=router_id,
        allow_own_asn=metadata.get("type") == "ToRRouter",
        numbered=[(name, row) for name, row in sessions if parse_address(name)],
        unnumbered=[name for name, _ in sessions if not parse_address(name)],
        statics=sorted(filter(None, map(parse_address, statics))),
        prefixes=prefixes,
    )


def _port_list(
    ends: list["Endpoint"], interfaces: Mapping["Endpoint", str], ports: Mapping["Endpoint", LabPort]
) -> bytes:
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["node", "port", "lab_interface", "lab_port"])
    table.writerows(map(cell, [*end, interfaces[end], ports[end].name if end in ports else ""]) for end in ends)
    return text.getvalue().encode()


HANDOFF = Handoff(
    "containerlab",
    "Write a virtual lab: SONiC's virtual switches with translated ports, and their hosts, for containerlab.",
    containerlab_files,
    (ONLY_SWITCHES,),
    "containerlab deploy -t {output}/topology.clab.yml",
    examples=("--only '*-r0-leaf'", "--only '*-r[01]-leaf'"),
)
