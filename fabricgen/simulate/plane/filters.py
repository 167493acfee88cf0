"""What the switches of a plane do not let through: RoCE between ports of other VRFs, and what ACLs drop.

A host in a VRF reaches hosts of its VRF at its switch, those to which a route of its VRF leads, and, with an L3 VNI,
hosts at other switches whose routes the VRF imports. An ACL counts at the ports of both hosts, and at a switch whose
ports to other switches are all bound to the table: the switch of a host, or every neighbor of it. ACLs at single ports
in between are not followed.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.plane.ports import Flags, Ints
from fabricgen.sonic.acl import AclTable, Packet, acl_tables, interfaces, members
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.vrf_routes import VrfRoutes

_UDP, _ROCE_PORT = 17, 4791
_DEFAULT: tuple[str, ...] = ()  # the domain of the default VRF, which all switches share

Tables = tuple[AclTable, ...]


@dataclass(frozen=True, eq=False)
class Filters:
    """`domain` is the number of the VRF and switch of each adapter's port; the default VRF is one of all switches.
    `leaks` are the other domains with a route to it; `imports` are those whose routes it has. `sends` and `receives`
    are the ACLs at its port for packets from it and to it; `leaves` and `enters` those where packets leave and enter
    its switch towards others. `addresses` are those of the adapters, `dscp` that of RoCE if known."""

    leaf: Ints
    domain: Ints
    leaks: Sequence[Set[int]]
    imports: Sequence[Set[int]]
    sends: Sequence[Tables]
    receives: Sequence[Tables]
    leaves: Sequence[Tables]
    enters: Sequence[Tables]
    addresses: Sequence[Address | None]
    dscp: int | None

    def blocked(self, source: Ints, target: Ints) -> Flags:
        """Whether packets from each of some adapters to another are dropped."""
        apart = self.leaf[source] != self.leaf[target]
        domain = self.domain[source]
        found: Flags = domain != self.domain[target]
        for place in np.flatnonzero(found & self._has_leak[target]).tolist():
            own = self.imports[int(source[place])] | {int(domain[place])}
            found[place] = own.isdisjoint(self.leaks[int(target[place])])
        if self._has_acl.any():
            suspects = np.flatnonzero(~found & (self._has_acl[source] | self._has_acl[target]))
            known: dict[tuple[int, int], bool] = {}
            for place in suspects.tolist():
                pair = int(source[place]), int(target[place])
                if pair not in known:
                    known[pair] = self._is_dropped(*pair, apart=bool(apart[place]))
                found[place] = known[pair]
        return found

    @cached_property
    def _has_leak(self) -> Flags:
        return np.array(list(map(bool, self.leaks)), bool)

    @cached_property
    def _has_acl(self) -> Flags:
        all_tables = zip(self.sends, self.receives, self.leaves, self.enters, strict=True)
        return np.array([any(tables) for tables in all_tables], bool)

    def _is_dropped(self, source: int, target: int, *, apart: bool) -> bool:
        tables = [*self.sends[source], *self.receives[target]]
        if apart:
            tables += [*self.leaves[source], *self.enters[target]]
        own, other = self.addresses[source], self.addresses[target]
        version = (other or own).version if other or own else 4  # type: ignore[union-attr]
        packet = Packet(version, _UDP, None, _ROCE_PORT, own, other, self.dscp)
        return any(table.dropping(packet) is not None for table in tables)


def filters_of(
    bundle: Bundle, fabric: RoutedFabric, links: Sequence[WiredLink], addresses: Sequence[str], dscp: int | None
) -> Filters | None:
    """The filters for hosts on these links, with the addresses of their adapters; None if nothing is filtered."""
    names = {link.b[0] for link in links}
    acls = {name: found for name in fabric.names if (found := tuple(acl_tables(bundle.devices[name].config)))}
    if not fabric.vrfs and not acls:
        return None
    joined = {name: members(bundle.devices[name].config) for name in names | acls.keys()}
    uplinks = _to_switches(bundle) if acls else {}
    at = {name: _at_fabric_ports(uplinks.get(name, frozenset()), acls.get(name, ()), joined[name]) for name in joined}
    numbers: dict[tuple[str, ...], int] = {_DEFAULT: 0}
    routes = {name: VrfRoutes(bundle.devices[name].config) for name in names}
    leaf = {name: number for number, name in enumerate(fabric.names)}
    imports: list[Set[int]] = []
    domains, leaks, sends, receives, leaves, enters = [], [], [], [], [], []
    beyond = {name: _of_all_neighbors(uplinks[name], at) for name in names} if acls else {}
    parsed = [parse_address(text) if text else None for text in addresses]
    for link, address in zip(links, parsed, strict=True):
        name, port = link.b
        ports = (port, *(group for group, member in joined[name] if member == port))
        vrf = next((row[1] for one in ports if (row := fabric.vrfs.get((name, one)))), "")
        domains.append(numbers.setdefault(_domain(name, vrf), len(numbers)))
        keys = routes[name].to(vrf, ports, address.host) if address else {}
        leaks.append({numbers.setdefault(_domain(name, *key), len(numbers)) for key in keys})
        targets = routes[name].imports(vrf)
        imports.append({numbers.setdefault(_domain(name, *target), len(numbers)) for target in targets})
        here = [table for table in acls.get(name, ()) if port in interfaces(table, joined[name])]
        sends.append(tuple(table for table in here if table.stage == "ingress"))
        receives.append(tuple(table for table in here if table.stage == "egress"))
        own, others = at[name], beyond.get(name, {})
        leaves.append((*own.get("egress", ()), *others.get("ingress", ())))
        enters.append((*own.get("ingress", ()), *others.get("egress", ())))
    if not any(domains) and not any(map(any, (sends, receives, leaves, enters))):
        return None
    return Filters(
        np.array([leaf[link.b[0]] for link in links], np.int64), np.array(domains, np.int64), leaks, imports, sends,
        receives, leaves, enters, parsed, dscp,
    )  # fmt: skip


def _domain(switch: str, *key: str) -> tuple[str, ...]:
    """The domain of a VRF of a switch, or of a route target, of all switches."""
    return key if len(key) > 1 else (switch, *key) if key[0] else _DEFAULT


def _to_switches(bundle: Bundle) -> Mapping[str, set[tuple[str, str]]]:
    """Switch -> (port, the switch at its far end) of each link to another switch."""
    found: dict[str, set[tuple[str, str]]] = {name: set() for name in bundle.devices}
    for link in bundle.switch_links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if near[0] != far[0]:
                found[near[0]].add((near[1], far[0]))
    return found


def _at_fabric_ports(
    uplinks: Set[tuple[str, str]], tables: Tables, joined: Sequence[tuple[str, str]]
) -> Mapping[str, Tables]:
    """Stage -> the tables that are bound to all ports towards other switches."""
    ports = {port for port, _ in uplinks}
    whole = [table for table in tables if ports and ports <= interfaces(table, joined)]
    return {stage: tuple(table for table in whole if table.stage == stage) for stage in ("ingress", "egress")}


def _of_all_neighbors(uplinks: Set[tuple[str, str]], at: Mapping[str, Mapping[str, Tables]]) -> Mapping[str, Tables]:
    """Stage -> the tables of a neighbor, if all neighbors have tables with the same rules at their ports."""
    neighbors = sorted({far for _, far in uplinks})
    found: dict[str, Tables] = {}
    for stage in ("ingress", "egress"):
        all_tables = [at.get(one, {}).get(stage, ()) for one in neighbors]
        if all_tables and all(
            [table.rules for table in tables] == [table.rules for table in all_tables[0]] for tables in all_tables
        ):
            found[stage] = all_tables[0]
    return found
