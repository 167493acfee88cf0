"""Which ports of switches belong to which tenant, and the ACLs or VRFs that keep tenants apart on RoCE planes.

With ACLs, a table for each tenant and address family is bound to all ports of its hosts on a switch. It lets packets to
the tenant's own subnets pass, and drops those to any other address of a host. With VRFs, the ports of a tenant are in
its VRF, and static routes lead to the hosts of tenants that share with it. Ports of hosts without a tenant have an ACL
that drops packets to all hosts, so a host that no tenant has reaches no other host.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import NamedTuple

from fabricgen.allocation.allocate import Allocation
from fabricgen.allocation.naming import name_hosts
from fabricgen.control_plane.members import MemberEndpoints
from fabricgen.design.model import Block, Fabric, Host, Link, PlaneDesign
from fabricgen.findings import Finding, Related
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.prefixes import networks
from fabricgen.inventory.tenants import ALL, TenantSpec
from fabricgen.same import Same
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.vrfs import vrf_of
from fabricgen.vocabulary import Isolation

IDLE = ""  # the tenant of a host that no tenant has


class TenantTable(NamedTuple):
    """One ACL table of a switch: what its ports may send to, and what they may not. `source` is the inventory value."""

    tenant: str
    version: int
    ports: tuple[str, ...]
    permitted: Same[tuple[str, ...]]  # of a tenant, and shared by all its tables
    refused: tuple[str, ...]
    source: str


class LeakedRoute(NamedTuple):
    """A route to a host in another VRF of the switch. It is a host route: FRR does not install a route whose next hop
    is resolved by the same prefix in another VRF, unless it is a host route (zebra/zebra_nhg.c, nexthop_active)."""

    prefix: str
    next_hop: str
    port: str
    vrf: str


class TenantVrf(NamedTuple):
    """The VRF of a tenant on a switch, its ports and its routes to hosts of other tenants. `vni` is that of EVPN, None
    where the VRF ends at the switch. `families` are the IP versions of its hosts, `source` is the inventory value."""

    name: str
    vni: int | None
    families: tuple[int, ...]
    ports: tuple[str, ...]
    leaks: tuple[LeakedRoute, ...]
    source: str


@dataclass(frozen=True)
class TenantPlan:
    """`tables` and `vrfs` are those of each switch by its identity, `vteps` the switches that send and receive VXLAN.
    `ends` are the endpoints of each tenant, in the order of the inventory, and `partners` the tenants that each one
    exchanges packets with."""

    tables: Mapping[str, tuple[TenantTable, ...]] = field(default_factory=dict)
    vrfs: Mapping[str, tuple[TenantVrf, ...]] = field(default_factory=dict)
    vteps: frozenset[str] = frozenset()
    ends: Mapping[str, Sequence[Link]] = field(default_factory=dict)
    partners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def with_tenant_blocks(fabric: Fabric) -> Fabric:
    """The fabric with a block of each leaf for each tenant that has its own addresses. A link keeps its slot, so hosts
    that a tenant gets or loses do not change the addresses of its others."""
    tenants = [tenant for tenant in fabric.inventory.tenants.values() if tenant.addresses]
    if not tenants:
        return fabric
    names = name_hosts(fabric, (), [])
    planes = []
    for design in fabric.planes:
        name, endpoints = design.plane.name, MemberEndpoints(design, names)
        owners: dict[Link, TenantSpec] = {}
        for tenant in tenants:
            if name in tenant.addresses and design.plane.isolation and name in (tenant.planes or [name]):
                list(_claim(tenant, {name: endpoints}, owners))  # `plan_tenants` reports the mistakes
        links = tuple(
            replace(link, block=_own_block(link.block, owners[link].name)) if link in owners else link
            for link in design.links
        )
        planes.append(replace(design, links=links))
    return replace(fabric, planes=tuple(planes))


def _own_block(block: Block, tenant: str) -> Block:
    return replace(block, key=f"{block.key}/{tenant}", tenant=tenant)


def plan_tenants(fabric: Fabric, allocation: Allocation) -> tuple[TenantPlan, list[Finding]]:
    """The tenants of the planes with `isolation`, and findings for hosts that are unknown or have two tenants."""
    tenants, findings = fabric.inventory.tenants, list[Finding]()
    designs = [design for design in fabric.planes if design.plane.isolation is not None]
    endpoints = {design.plane.name: MemberEndpoints(design, allocation.host_names) for design in designs}
    owners: dict[Link, TenantSpec] = {}
    for tenant in tenants.values():
        findings += _claim(tenant, endpoints, owners)
    partners = _partners(tenants)
    tables: dict[str, list[TenantTable]] = {}
    vrfs: dict[str, list[TenantVrf]] = {}
    vteps: set[str] = set()
    for design in designs:
        owner_of = {link: owners[link].name if link in owners else IDLE for link in endpoints[design.plane.name].links}
        if design.plane.isolates_by_vrf:
            is_overlay = design.plane.isolation == Isolation.EVPN
            if is_overlay:
                vteps |= {link.b.key for link in owner_of}
                findings += _check_loopbacks(design, allocation, {link.b.key for link in owner_of})
            else:
                findings += _check_vrfs(design)
            for switch, vrf in _vrfs(design, allocation, owner_of, tenants, partners):
                vrfs.setdefault(switch, []).append(vrf)
            owner_of = {link: owner for link, owner in owner_of.items() if not owner}
        for switch, table in _tables(design, allocation, owner_of, tenants, partners):
            tables.setdefault(switch, []).append(table)
    ends: dict[str, list[Link]] = {name: [] for name in tenants} if designs else {}
    for link, owner in owners.items():
        ends[owner.name].append(link)
    plan = TenantPlan(
        {key: tuple(found) for key, found in tables.items()},
        {key: tuple(found) for key, found in vrfs.items()},
        frozenset(vteps),
        ends,
        partners,
    )
    return plan, findings


def _claim(
    tenant: TenantSpec, endpoints: Mapping[str, MemberEndpoints], owners: dict[Link, TenantSpec]
) -> Iterator[Finding]:
    """Make a tenant the owner of its endpoints."""
    chosen = [name for name in endpoints if name in (tenant.planes or endpoints)]
    for index, name in enumerate(tenant.hosts):
        results = [endpoints[plane].find(name) for plane in chosen]
        found = [link for result in results if isinstance(result, list) for link in result]
        if not found and results:
            reason = next(result for result in results if isinstance(result, str))
            yield error("FG645", f"{name!r} is not a host of the tenant's planes", tenant, "hosts", index, hint=reason)
        taken = {owners[link].name: link for link in reversed(found) if owners.get(link, tenant) is not tenant}
        for other, link in taken.items():
            owner = owners[link]
            assert isinstance(link.a, Host)
            nic = f"{link.a.group}/{link.a.number}/{link.a_port}"
            yield error(
                "FG646", f"{nic} has two tenants, {other} and {tenant.name}", tenant, "hosts", index,
                hint="give each host to one tenant; let tenants share a service with `shared_with`",
                related=(Related("the other tenant", owner.at("hosts")),),
            )  # fmt: skip
        owners.update((link, tenant) for link in found if link not in owners)


def _partners(tenants: Mapping[str, TenantSpec]) -> dict[str, tuple[str, ...]]:
    """Tenant -> the tenants that it exchanges packets with, whichever of both names the other."""
    found: dict[str, set[str]] = {name: set() for name in tenants}
    for name, tenant in tenants.items():
        named = [
            other for other in tenants if other != name and (other in tenant.shared_with or ALL in tenant.shared_with)
        ]
        for other in named:
            found[name].add(other)
            found[other].add(name)
    return {name: tuple(sorted(others, key=natural_key)) for name, others in found.items()}


def _tables(
    design: PlaneDesign,
    allocation: Allocation,
    owner_of: Mapping[Link, str],
    tenants: Mapping[str, TenantSpec],
    partners: Mapping[str, tuple[str, ...]],
) -> Iterator[tuple[str, TenantTable]]:
    """(switch, table) of all tenants of a plane, and of its hosts without one."""
    plane = design.plane
    subnets: dict[tuple[str, int], list[IPv4Network | IPv6Network]] = {}
    ports: dict[str, dict[str, list[str]]] = {}
    for link, owner in owner_of.items():
        ports.setdefault(link.b.key, {}).setdefault(owner, []).append(link.b_port)
        if owner and plane.name in tenants[owner].addresses:
            continue  # its prefixes have all its subnets
        for host, _, length in allocation.link_addresses(link) if owner else ():
            subnet = ip_network(f"{host}/{length}", strict=False)
            subnets.setdefault((owner, subnet.version), []).append(subnet)
    for tenant in tenants.values():
        for prefix in networks(tenant.addresses[plane.name].prefixes) if plane.name in tenant.addresses else ():
            subnets[tenant.name, prefix.version] = [prefix]
    pools = _pools(design)
    if plane.isolation == Isolation.EVPN and plane.addressing:  # VXLAN packets of a host would enter a VRF
        pools += plane.addressing.loopbacks.prefixes if plane.addressing.loopbacks else ()
    refused = {version: tuple(pool for pool in pools if (":" in pool) == (version == 6)) for version in (4, 6)}
    permitted: dict[tuple[str, int], Same[tuple[str, ...]]] = {}
    for owner in (*tenants, IDLE):
        for version in (4, 6):
            own = [one for name in (owner, *partners.get(owner, ())) for one in subnets.get((name, version), ())]
            permitted[owner, version] = Same(tuple(map(str, collapse_addresses(own))))  # type: ignore[type-var]
    for switch, by_owner in ports.items():
        for owner in sorted(by_owner, key=natural_key):
            source = tenants[owner].source("hosts") if owner else plane.source("isolation")
            bound = tuple(sorted(by_owner[owner], key=natural_key))
            for version in (version for version in (4, 6) if refused[version]):
                yield switch, TenantTable(owner, version, bound, permitted[owner, version], refused[version], source)


def _check_vrfs(design: PlaneDesign) -> Iterator[Finding]:
    """A finding for a plane whose leaves are connected: a VRF ends at its leaf."""
    plane = design.plane
    link = next((link for link in design.links if not isinstance(link.a, Host)), None)
    if link:
        message = f"links connect the switches of plane {plane.name}, and a VRF ends at its switch"
        hint = (
            "use `isolation: acl`; `vrf` is for leaves that nothing connects, such as those of rail-only with one unit"
        )
        yield error("FG651", message, plane, "isolation", hint=hint)


def _check_loopbacks(design: PlaneDesign, allocation: Allocation, vteps: Iterable[str]) -> Iterator[Finding]:
    """A finding for a plane whose leaves have no IPv4 loopback for the VTEP."""
    if any(all(":" in text for text in allocation.loopbacks.get(key, ())) for key in vteps):
        message = f"the leaves of plane {design.plane.name} have no IPv4 loopback, which is the source of VXLAN packets"
        yield error("FG654", message, design.plane, "isolation", hint="add an IPv4 prefix to `loopbacks`")


def _vrfs(
    design: PlaneDesign,
    allocation: Allocation,
    owner_of: Mapping[Link, str],
    tenants: Mapping[str, TenantSpec],
    partners: Mapping[str, tuple[str, ...]],
) -> Iterator[tuple[str, TenantVrf]]:
    """(switch, VRF) of all tenants of a plane. With EVPN, a tenant also has a VRF where a tenant that shares with it
    has hosts: its other VRFs have the routes to these hosts from there."""
    is_overlay = design.plane.isolation == Isolation.EVPN
    families = tuple(version for version in (4, 6) if any((":" in pool) == (version == 6) for pool in _pools(design)))
    ends: dict[str, dict[str, list[Link]]] = {}
    for link, owner in owner_of.items():
        if owner:
            ends.setdefault(link.b.key, {}).setdefault(owner, []).append(link)
    for switch, by_owner in ends.items():
        beside = {other for owner in by_owner for other in partners[owner]} if is_overlay else set[str]()
        for owner in sorted({*by_owner, *beside}, key=natural_key):
            leaks = [
                LeakedRoute(str(ip_network(host)), host, link.b_port, vrf_of(other))
                for other in partners[owner]
                for link in by_owner.get(other, ())
                for host, _, _ in allocation.link_addresses(link)
            ]
            ports = tuple(sorted((link.b_port for link in by_owner.get(owner, ())), key=natural_key))
            vni = tenants[owner].vni if is_overlay else None
            yield switch, TenantVrf(vrf_of(owner), vni, families, ports, tuple(leaks), tenants[owner].source("hosts"))


def _pools(design: PlaneDesign) -> tuple[str, ...]:
    addressing = design.plane.addressing
    return addressing.hosts.prefixes if addressing and addressing.hosts else ()
