"""VRFs of CONFIG_DB: their names, and the routes that lead from one VRF to another on a switch.

Source: sonic-buildimage src/sonic-yang-models sonic-vrf.yang (names), src/sonic-bgpcfgd managers_static_rt.py and
src/sonic-frr-mgmt-framework frrcfgd.py (STATIC_ROUTE with nexthop-vrf; import_vrf of BGP_GLOBALS_AF).
"""

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import interface_addresses, rows, text
from fabricgen.sonic.tables import ConfigDb

DEFAULT = ""  # the default VRF
LONGEST_NAME = 15  # characters, as for all interfaces of Linux
_FIRST_VLAN = 3000  # a plane with tenants has no other VLANs (FG661)
_FAMILIES = {"ipv4_unicast": 4, "ipv6_unicast": 6}


def vrf_of(tenant: str) -> str:
    """The name of the VRF of a tenant."""
    return f"Vrf_{tenant}"


def vlan_of(vni: int) -> int:
    """The number of the VLAN that a leaf has for the L3 VNI of a tenant."""
    return _FIRST_VLAN + vni % 1000


class Leak(NamedTuple):
    """A route of a VRF, and the VRF of its next hop. `next_hop` and `interface` are those of a static route; None and
    "" where the route does not have them. `row` is its table and key. An imported VRF has a route to each address, and
    so has the default VRF for a VRF with `fallback`."""

    vrf: str
    prefix: Address
    target: str
    next_hop: Address | None
    interface: str
    row: tuple[str, str]

    def resolves_itself(self, connected: Set[tuple[str, Address]]) -> bool:
        """Whether FRR does not install it: the connected subnet of another VRF that has the next hop is its own prefix,
        and it is not a host route (FRRouting zebra/zebra_nhg.c, nexthop_active)."""
        is_other = self.target != self.vrf and self.next_hop is not None
        return is_other and self.prefix != self.prefix.host and (self.target, self.prefix) in connected

    def leads_to(self, vrf: str, port: str, address: Address) -> bool:
        """Whether packets to the address of a host at this port and VRF take it."""
        hop, interface = self.next_hop, self.interface
        return self.target == vrf and (hop is None or hop == address) and interface in ("", port)


class Leaks:
    """The leaks of a switch. Of its static routes to an address, those with the longest prefix decide."""

    def __init__(self, config: ConfigDb) -> None:
        self.imported = list(_imported(config))
        connected = {(one.vrf, one.network) for one in interface_addresses(config)}
        statics = [leak for leak in _static(config) if not leak.resolves_itself(connected)]
        self._by_prefix: dict[Address, list[Leak]] = {}
        if any(leak.target != leak.vrf for leak in statics):
            for leak in statics:
                self._by_prefix.setdefault(leak.prefix, []).append(leak)
        lengths = {(prefix.version, prefix.length) for prefix in self._by_prefix}
        self._lengths = sorted(lengths, reverse=True)

    def targets(self, vrf: str, target: str) -> frozenset[Address]:
        """The prefixes whose packets go from a VRF to another one, of which longer prefixes may be exceptions."""
        own = (leak for leaks in (*self._by_prefix.values(), self.imported) for leak in leaks)
        return frozenset(leak.prefix for leak in own if (leak.vrf, leak.target) == (vrf, target))

    def to(self, vrf: str, ports: Sequence[str], address: Address) -> Iterator[Leak]:
        """The leaks by which packets of other VRFs reach the address of a host in a VRF at one of these interfaces."""
        decided: dict[str, int] = {}
        for version, length in self._lengths:
            for leak in self._by_prefix.get(address.widened(length), ()) if version == address.version else ():
                is_longest = decided.setdefault(leak.vrf, length) == length
                if is_longest and leak.vrf != vrf and any(leak.leads_to(vrf, port, address) for port in ports):
                    yield leak
        for leak in self.imported:
            if (leak.target, leak.prefix.version) == (vrf, address.version) and leak.vrf != vrf:
                yield leak


def _static(config: ConfigDb) -> Iterator[Leak]:
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, _, prefix = key.rpartition("|")
        network, own = parse_address(prefix), _named(vrf)
        if network is None:
            continue
        hops, ports, targets = (_list(text(row, name)) for name in ("nexthop", "ifname", "nexthop-vrf"))
        for index in range(max(len(hops), len(ports), len(targets), 1)):
            hop, port, target = (values[index] if index < len(values) else "" for values in (hops, ports, targets))
            yield Leak(
                own, network.network, _named(target) if target else own, parse_address(hop) if hop else None, port,
                ("STATIC_ROUTE", key),
            )  # fmt: skip


def _imported(config: ConfigDb) -> Iterator[Leak]:
    for key, row in rows(config, "BGP_GLOBALS_AF").items():
        vrf, _, family = key.partition("|")
        if (version := _FAMILIES.get(family)) and (other := text(row, "import_vrf")):
            yield Leak(_named(vrf), Address(version, 0, 0), _named(other), None, "", ("BGP_GLOBALS_AF", key))
    for vrf, row in rows(config, "VRF").items():
        if text(row, "fallback") == "true":
            for version in _FAMILIES.values():
                yield Leak(vrf, Address(version, 0, 0), DEFAULT, None, "", ("VRF", vrf))


def _named(vrf: str) -> str:
    return DEFAULT if vrf == "default" else vrf


def _list(content: str) -> list[str]:
    return content.split(",") if content else []
