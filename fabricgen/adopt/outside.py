"""The routers outside the fabric and the static routes of the files, as `external` and `static` of the inventory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

from fabricgen.adopt.source import ImportSource, Interface, SourceSwitch
from fabricgen.bundle.wiring import Endpoint
from fabricgen.inventory.prefixes import Network, networks
from fabricgen.inventory.routing import ALL, OUTSIDE_PORT
from fabricgen.inventory.values import NAME
from fabricgen.sonic.device_types import ROLES
from fabricgen.sonic.tables import split_key
from fabricgen.units import whole_number

Entry = dict[str, Any]
Neighbor = tuple[str, str]  # name, port


@dataclass
class Outside:
    """Switch -> its entries of the inventory, and the ports that connect the fabric to the outside."""

    external: dict[str, list[Entry]] = field(default_factory=dict)
    static: dict[str, list[Entry]] = field(default_factory=dict)
    ports: set[Endpoint] = field(default_factory=set)


def find_outside(source: ImportSource, hosts: Mapping[Endpoint, str]) -> Outside:
    """What the files connect to the outside. `hosts` is port of a switch -> NIC of a host, as group/number:nic."""
    found = Outside()
    for name, switch in source.switches.items():
        free = [port for port in switch.layout.port_by_name if (name, port) not in hosts]
        neighbors = {port: neighbor for port in free if (neighbor := _neighbor(source, switch, port))}
        for port, neighbor in neighbors.items():
            if entry := _router(switch, port, neighbor):
                found.external.setdefault(name, []).append(entry)
                found.ports.add((name, port))
        for (port, hop), prefixes in _static_routes(switch).items():
            behind: Entry | None = None
            if nic := hosts.get((name, port)):
                behind = {"via": nic}
            elif port in neighbors and (name, port) not in found.ports:
                behind = _device(switch, port, neighbors[port], hop)
            if behind:
                found.static.setdefault(name, []).append({"prefix": _one_or_list(prefixes), **behind})
        found.ports |= {(name, entry["port"]) for entry in found.static.get(name, ()) if "port" in entry}
    return found


def own_prefixes(source: ImportSource) -> list[Network]:
    """The pools of a fabric that its switches name: they drop them below a default route, and refuse them from routers.

    The widest come first.
    """
    found: dict[Network, None] = {}
    for switch in source.switches.values():
        rows = switch.tables.get("STATIC_ROUTE", {}).items()
        texts = [key for key, row in rows if row.get("blackhole") == "true" and row.get("advertise") != "true"]
        found |= dict.fromkeys(networks(split_key(key)[-1] for key in texts))
        policies = dict.fromkeys(split_key(key)[0] for key in switch.tables.get("ROUTE_MAP", {}))
        found |= dict.fromkeys(networks(prefix for name in policies for prefix, _ in _ranges(switch, name, "deny")))
    return sorted((one for one in found if one.prefixlen), key=lambda prefix: (prefix.prefixlen, str(prefix)))


def _neighbor(source: ImportSource, switch: SourceSwitch, port: str) -> Neighbor | None:
    """The device at a lossy port. A switch with a file, or of a type of the fabric, is not outside."""
    name, far = (switch.text("DEVICE_NEIGHBOR", port, field) for field in ("name", "port"))
    of_fabric = name in source.switches or switch.text("DEVICE_NEIGHBOR_METADATA", name, "type") in ROLES
    if of_fabric or not (NAME.fullmatch(name) and far) or switch.text("PORT_QOS_MAP", port, "pfc_enable"):
        return None
    return name, far


def _router(switch: SourceSwitch, port: str, neighbor: Neighbor) -> Entry | None:
    """The BGP router at a port; None without a session over the addresses of the port."""
    nears = switch.addresses("INTERFACE", port)
    sessions = [(key, near) for key in switch.tables.get("BGP_NEIGHBOR", {}) if (near := _near(key, nears))]
    asns = {whole_number(switch.text("BGP_NEIGHBOR", key, "asn")) for key, _ in sessions}
    asn = asns.pop() if len(asns) == 1 else None
    if not asn:
        return None
    peers = [split_key(key)[-1] for key, near in sessions if near.network.num_addresses > 2]
    far = {"peer": _one_or_list(peers)} if peers else {}
    far |= {"peer_port": neighbor[1]} if neighbor[1] != OUTSIDE_PORT else {}
    filters = {way: _filter(switch, [key for key, _ in sessions], way) for way in ("in", "out")}
    return {"name": neighbor[0], "asn": asn, **_end(switch, port, [near for _, near in sessions]), **far, **filters}


def _device(switch: SourceSwitch, port: str, neighbor: Neighbor, hop: str) -> Entry | None:
    """A device without BGP, to which static routes lead."""
    near = _near(hop, switch.addresses("INTERFACE", port))
    if near is None or neighbor[1] != OUTSIDE_PORT:
        return None
    far = {"next_hop": hop} if near.network.num_addresses > 2 else {}
    return {"name": neighbor[0], **_end(switch, port, [near]), **far}


def _end(switch: SourceSwitch, port: str, nears: Sequence[Interface]) -> Entry:
    return {"switch": switch.name, "port": port, "address": _one_or_list(list(map(str, nears)))}


def _near(key: str, nears: Sequence[Interface]) -> Interface | None:
    """The own address in the subnet of a peer: default|192.0.2.0, or 192.0.2.0."""
    try:
        peer = ip_address(split_key(key)[-1])
    except ValueError:
        return None
    return next((near for near in nears if peer in near.network and peer != near.ip), None)


def _static_routes(switch: SourceSwitch) -> dict[tuple[str, str], list[str]]:
    """(port, next hop) -> prefixes."""
    found: dict[tuple[str, str], list[str]] = {}
    for key, row in switch.tables.get("STATIC_ROUTE", {}).items():
        prefix = split_key(key)[-1]
        ports, hops = (switch.text("STATIC_ROUTE", key, field).split(",") for field in ("ifname", "nexthop"))
        if networks([prefix]) and row.get("advertise") != "false":
            for way in zip(ports, hops, strict=False):
                found.setdefault(way, []).append(prefix)
    return found


def _filter(switch: SourceSwitch, sessions: Sequence[str], way: str) -> object:
    """The prefixes that the policies of sessions permit: `all` without a policy, and for any prefix of any length."""
    found: list[str] = []
    for key in sessions:
        rows = switch.tables.get("BGP_NEIGHBOR_AF", {}).items()
        fields = [row.get(f"route_map_{way}") for name, row in rows if name.startswith(f"{key}|")]
        names = [name for field in fields if field for name in ([field] if isinstance(field, str) else field)]
        ranges = [each for name in names for each in _ranges(switch, name, "permit")]
        if not names or any(prefix.endswith("/0") and lengths != "exact" for prefix, lengths in ranges):
            return ALL
        found += [prefix for prefix, _ in ranges]
    return list(dict.fromkeys(found))


def _ranges(switch: SourceSwitch, policy: str, operation: str) -> Iterator[tuple[str, str]]:
    """(prefix, lengths) of the sets that a route map permits or denies."""
    for key, row in switch.tables.get("ROUTE_MAP", {}).items():
        if split_key(key)[0] == policy and row.get("route_operation") == operation:
            if "match_prefix_set" not in row:
                yield "0.0.0.0/0", "any"
            for each in map(split_key, switch.tables.get("PREFIX", {})):
                if len(each) == 3 and each[0] == row.get("match_prefix_set") and networks([each[1]]):
                    yield each[1], each[2]


def _one_or_list(texts: list[str]) -> object:
    return texts[0] if len(texts) == 1 else texts
