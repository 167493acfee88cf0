"""netplan files as netplan reads them: the keys and values that it takes, and its booleans and numbers, in quotes or
without.

netplan refuses a file with any other key or value, and then configures no interface of any file.

Source: canonical/netplan@e9dd90a9 src/parse.c (ethernet_def_handlers, bond_def_handlers, bond_params_handlers,
vlan_def_handlers, routes_handlers, ip_rules_handlers, network_handlers; handle_generic_bool, handle_generic_guint,
parse_renderer, handle_link_local, handle_network_version, handle_bond_lacp_rate, handle_addresses).
"""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import chain
from typing import Any, NamedTuple

# fmt: off
_NETWORK = frozenset((
    "bonds", "bridges", "dummy-devices", "ethernets", "modems", "nm-devices", "openvswitch", "renderer", "tunnels",
    "version", "virtual-ethernets", "vlans", "vrfs", "wifis",
))
_BOOLEANS_OF_LINKS = frozenset((
    "accept-ra", "critical", "delay-virtual-functions-rebind", "dhcp4", "dhcp6", "emit-lldp", "generic-receive-offload",
    "generic-segmentation-offload", "hairpin", "ignore-carrier", "ipv6-privacy", "large-receive-offload",
    "neigh-suppress", "optional", "port-mac-learning", "receive-checksum-offload", "tcp-segmentation-offload",
    "tcp6-segmentation-offload", "transmit-checksum-offload", "wakeonlan",
))
_BOOLEANS = _BOOLEANS_OF_LINKS | {"all-members-active", "all-slaves-active", "on-link"}
_ROUTE = frozenset((
    "advertised-mss", "advertised-receive-window", "congestion-window", "from", "metric", "mtu", "on-link", "scope",
    "table", "to", "type", "via",
))
_POLICY = frozenset(("from", "mark", "priority", "table", "to", "type-of-service"))
_ETHERNET = _BOOLEANS_OF_LINKS | frozenset((
    "activation-mode", "addresses", "auth", "dhcp-identifier", "dhcp4-overrides", "dhcp6-overrides",
    "embedded-switch-mode", "gateway4", "gateway6", "infiniband-mode", "ipv6-address-generation", "ipv6-address-token",
    "ipv6-mtu", "link", "link-local", "macaddress", "match", "mtu", "nameservers", "networkmanager", "openvswitch",
    "optional-addresses", "ra-overrides", "renderer", "routes", "routing-policy", "set-name", "virtual-function-count",
    "wakeonwlan",
))
_PARAMETERS = frozenset((
    "ad-select", "all-members-active", "all-slaves-active", "arp-all-targets", "arp-interval", "arp-ip-targets",
    "arp-validate", "down-delay", "fail-over-mac-policy", "gratuitious-arp", "gratuitous-arp", "lacp-rate",
    "learn-packet-interval", "mii-monitor-interval", "min-links", "mode", "packets-per-member", "packets-per-slave",
    "primary", "primary-reselect-policy", "resend-igmp", "transmit-hash-policy", "up-delay",
))
_NUMBERS = frozenset((
    "advertised-mss", "advertised-receive-window", "congestion-window", "gratuitous-arp", "id", "ipv6-mtu", "mark",
    "metric", "min-links", "mtu", "packets-per-member", "packets-per-slave", "priority", "resend-igmp", "table",
    "virtual-function-count",
))
_SEQUENCES = frozenset((
    "addresses", "arp-ip-targets", "interfaces", "link-local", "optional-addresses", "routes", "routing-policy",
    "wakeonwlan",
))
_MAPPINGS = frozenset((
    "auth", "dhcp4-overrides", "dhcp6-overrides", "match", "nameservers", "networkmanager", "openvswitch",
    "parameters", "ra-overrides",
))
_ITEMS = {"link-local": "a list of ipv4 and ipv6"}
_CHOICES = {"renderer": ("networkd", "NetworkManager"), "lacp-rate": ("slow", "fast")}
# fmt: on
# What only a physical port has; bonds have members.
_PHYSICAL = frozenset(
    ("auth", "emit-lldp", "infiniband-mode", "link", "match", "set-name", "virtual-function-count", "wakeonlan")
)
_LINKS = {
    "ethernets": _ETHERNET,
    "bonds": (_ETHERNET - _PHYSICAL) | {"interfaces", "parameters"},
    "vlans": (_ETHERNET - _PHYSICAL) | {"id", "link"},
}
_LISTS = {"routes": _ROUTE, "routing-policy": _POLICY}
_WORDS = {
    **dict.fromkeys(("true", "on", "yes", "y"), True),
    **dict.fromkeys(("false", "off", "no", "n"), False),
}


class Refusal(NamedTuple):
    """A key or value for which netplan refuses the file, by its dotted path below `network`; of routes and rules the
    path is that of their list."""

    path: str
    message: str
    hint: str


def refusals(network: Mapping[str, Any]) -> tuple[Refusal, ...]:
    """Why netplan refuses a file. Addresses, and words of which another rule knows the right one, are not judged."""
    return tuple(_refusals(network))


def _refusals(network: Mapping[str, Any]) -> Iterator[Refusal]:
    yield from (_unknown(str(key), key, _NETWORK) for key in network if key not in _NETWORK)
    for key in ("version", "renderer"):
        if key in network and (expected := _expected(key, network[key])):
            yield _wrong(key, key, network[key], expected)
    for kind in _LINKS:
        links = network.get(kind, {})
        if not isinstance(links, Mapping):
            yield _wrong(kind, kind, links, "a mapping")
            continue
        for name, content in links.items():
            if not isinstance(content, Mapping):
                yield _wrong(f"{kind}.{name}", name, content, "a mapping")
    for kind, name, content in _links(network):
        link = f"{kind}.{name}"
        for key, found in content.items():
            yield from _of_field(f"{link}.{key}", key, found, _LINKS[kind])
            rows = found if key in _LISTS and isinstance(found, list) else ()
            for field, value in chain.from_iterable(row.items() for row in rows if isinstance(row, dict)):
                yield from _of_field(f"{link}.{key}", field, value, _LISTS[key])
        parameters = content.get("parameters") if kind == "bonds" else None
        for key, value in parameters.items() if isinstance(parameters, Mapping) else ():
            yield from _of_field(f"{link}.parameters.{key}", key, value, _PARAMETERS)


def _of_field(path: str, key: object, value: object, known: frozenset[str]) -> Iterator[Refusal]:
    if key not in known:
        yield _unknown(path, key, known)
    elif expected := _expected(str(key), value):
        yield _wrong(path, key, value, expected)


def _unknown(path: str, key: object, known: frozenset[str]) -> Refusal:
    close = get_close_matches(str(key), sorted(known), n=1)
    hint = f"write {close[0]}" if close else f"remove {key}"
    return Refusal(path, f"netplan does not know the key {key}, and refuses the file", hint)


def _wrong(path: str, key: object, value: object, expected: str) -> Refusal:
    shown = {list: "a list", dict: "a mapping", type(None): "empty"}.get(type(value), repr(value))
    message = f"{key} is {shown}, but netplan takes only {expected}, and refuses the file"
    return Refusal(path, message, f"write {expected}")


def _expected(key: str, value: object) -> str:
    """What netplan takes as the value of a key; "" if it takes this one."""
    if key in _SEQUENCES:
        return "" if isinstance(value, list) and _are_items(key, value) else _ITEMS.get(key, "a list")
    if key in _MAPPINGS:
        return "" if isinstance(value, Mapping) else "a mapping"
    if isinstance(value, (list, Mapping)):
        return "one value"
    text = "" if value is None else str(value)
    if key in _BOOLEANS:
        return "" if text.lower() in _WORDS else "true or false"
    if key in _NUMBERS:  # it reads an empty value as 0
        is_number = re.fullmatch(r"\d*", text, re.ASCII) and int(text or 0) < 1 << 32
        return "" if is_number else "a number from 0 to 4294967295"
    if key in _CHOICES:
        return "" if text in _CHOICES[key] or text == "sriov" else " or ".join(_CHOICES[key])  # sriov: of a VLAN
    if key == "version":  # it reads the digits at the begin
        return "" if re.match(r"\s*\+?0*2(?!\d)", text) else "2"
    return ""


def _are_items(key: str, values: list[Any]) -> bool:
    return key != "link-local" or all(str(one).lower() in ("ipv4", "ipv6") for one in values)


def _links(network: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for kind in _LINKS:
        found = network.get(kind)
        for name, content in found.items() if isinstance(found, Mapping) else ():
            if isinstance(content, Mapping):
                yield kind, name, content


def as_read(network: Mapping[str, Any]) -> dict[str, Any]:
    """`network` with the booleans, numbers and addresses of its interfaces as netplan reads them. What it does not read
    as its type stays as it is."""
    found = {kind: dict(network[kind]) for kind in _LINKS if isinstance(network.get(kind), Mapping)}
    for kind, name, content in _links(network):
        found[kind][name] = _typed(content)
    return {**network, **found}


def _typed(content: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: _value(key, value) for key, value in content.items()}
    for name in _LISTS:
        if isinstance(rows := found.get(name), list):
            found[name] = [*map(_row, rows)]
    if isinstance(addresses := found.get("addresses"), list):
        # An address with options is a mapping with one key.
        found["addresses"] = [next(iter(one)) if isinstance(one, dict) and len(one) == 1 else one for one in addresses]
    return found


def _row(row: Any) -> Any:
    return {key: _value(key, value) for key, value in row.items()} if isinstance(row, dict) else row


def _value(key: str, value: Any) -> Any:
    if isinstance(value, str):
        if key in _BOOLEANS:
            return _WORDS.get(value.lower(), value)
        if key in _NUMBERS and value.isascii() and value.isdecimal():
            return int(value)
    elif key in _NUMBERS and isinstance(value, (list, dict)):
        return str(value)  # netplan refuses it
    return value
