"""netplan files as netplan reads them: the keys that it knows, and its booleans and numbers, in quotes or without.

netplan refuses a file with any other key, and then configures no interface of any file.

Source: canonical/netplan@e9dd90a9 src/parse.c (ethernet_def_handlers, vlan_def_handlers, routes_handlers,
ip_rules_handlers, network_handlers; handle_generic_bool, handle_generic_guint, handle_addresses).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

# fmt: off
_NETWORK = frozenset((
    "bonds", "bridges", "dummy-devices", "ethernets", "modems", "nm-devices", "openvswitch", "renderer", "tunnels",
    "version", "virtual-ethernets", "vlans", "vrfs", "wifis",
))
_BOOLEANS = frozenset((
    "accept-ra", "critical", "delay-virtual-functions-rebind", "dhcp4", "dhcp6", "emit-lldp", "generic-receive-offload",
    "generic-segmentation-offload", "hairpin", "ignore-carrier", "ipv6-privacy", "large-receive-offload",
    "neigh-suppress", "optional", "port-mac-learning", "receive-checksum-offload", "tcp-segmentation-offload",
    "tcp6-segmentation-offload", "transmit-checksum-offload", "wakeonlan",
))
_ROUTE = frozenset((
    "advertised-mss", "advertised-receive-window", "congestion-window", "from", "metric", "mtu", "on-link", "scope",
    "table", "to", "type", "via",
))
_POLICY = frozenset(("from", "mark", "priority", "table", "to", "type-of-service"))
_ETHERNET = _BOOLEANS | frozenset((
    "activation-mode", "addresses", "auth", "dhcp-identifier", "dhcp4-overrides", "dhcp6-overrides",
    "embedded-switch-mode", "gateway4", "gateway6", "infiniband-mode", "ipv6-address-generation", "ipv6-address-token",
    "ipv6-mtu", "link", "link-local", "macaddress", "match", "mtu", "nameservers", "networkmanager", "openvswitch",
    "optional-addresses", "ra-overrides", "renderer", "routes", "routing-policy", "set-name", "virtual-function-count",
    "wakeonwlan",
))
_NUMBERS = frozenset(("id", "ipv6-mtu", "mark", "metric", "mtu", "priority", "table", "virtual-function-count"))
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


class UnknownKey(NamedTuple):
    """A key that netplan does not know, by its dotted path below `network`."""

    path: str
    name: str
    known: frozenset[str]


def unknown_keys(network: Mapping[str, Any]) -> tuple[UnknownKey, ...]:
    """The keys for which netplan refuses the file; of routes and rules the path is that of their list."""
    return tuple(_unknown(network))


def _unknown(network: Mapping[str, Any]) -> Iterator[UnknownKey]:
    yield from (UnknownKey(str(key), str(key), _NETWORK) for key in network if key not in _NETWORK)
    for kind, name, content in _links(network):
        for key, found in content.items():
            path = f"{kind}.{name}.{key}"
            if key not in _LINKS[kind]:
                yield UnknownKey(path, str(key), _LINKS[kind])
            rows = found if key in _LISTS and isinstance(found, list) else ()
            for row in rows:
                keys = row if isinstance(row, dict) else ()
                yield from (UnknownKey(path, str(one), _LISTS[key]) for one in keys if one not in _LISTS[key])


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
        if key in _BOOLEANS or key == "on-link":
            return _WORDS.get(value.lower(), value)
        if key in _NUMBERS and value.isascii() and value.isdecimal():
            return int(value)
    elif key in _NUMBERS and isinstance(value, (list, dict)):
        return str(value)  # netplan refuses it
    return value
