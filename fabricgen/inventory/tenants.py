"""Tenants of an inventory, which share planes and must not reach each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.part import Part, key, map_of, part_notation
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import Network, contains, networks
from fabricgen.inventory.routing import PoolSpec
from fabricgen.sonic.vrfs import LONGEST_NAME, vlan_of, vrf_of
from fabricgen.vocabulary import AccessKind, BgpAddressing, Isolation, Technology

ALL = "ALL"  # in place of the names of all other tenants


@dataclass(frozen=True, kw_only=True)
class TenantSpec(Part):
    """One tenant: hosts, or single NICs of hosts, and the tenants that it exchanges packets with."""

    name: str
    hosts: Annotated[
        tuple[str, ...],
        key(
            "The hosts of the tenant: GROUP, GROUP/NUMBER or GROUP/FIRST-LAST, each optionally with /NIC; the name of "
            "a host, or railN.",
            required=True,
            minItems=1,
        ),
    ]
    addresses: Annotated[
        Mapping[str, PoolSpec],
        key(
            "Plane: prefixes of its host pool from which the hosts of the tenant have their addresses.",
            notation=map_of(part_notation(PoolSpec)),
            usual="those of all hosts",
        ),
    ]
    planes: Annotated[
        tuple[str, ...],
        key("The planes of the tenant.", usual="all planes with `isolation` that have its hosts"),
    ]
    vni: Annotated[
        int | None,
        key(
            "The VNI of the tenant on planes with `isolation: evpn`. Its VLAN on leaves is 3000 and its last three "
            "digits.",
            minimum=1,
            maximum=16777215,
            usual="none; required for `evpn`",
        ),
    ]
    shared_with: Annotated[
        tuple[str, ...],
        key("Tenants that may exchange packets with this one, such as a storage service, or ALL.", usual="none"),
    ]


def check_tenants(tenants: Mapping[str, TenantSpec], planes: Mapping[str, Plane]) -> Iterator[Finding]:
    """Findings for unknown planes and tenants, and for planes whose tenants would not be separated."""
    separated = [name for name, plane in planes.items() if plane.isolation is not None]
    for plane in (planes[name] for name in separated):
        if plane.technology == Technology.INFINIBAND:
            message, hint = "an InfiniBand plane separates tenants by `partitions`", "remove `isolation`"
            yield error("FG105", message, plane, "isolation", hint=hint)
        elif not tenants:
            hint = "add `tenants:` with the hosts of each, or remove `isolation`"
            yield error("FG106", f"plane {plane.name} has `isolation`, and no tenants", plane, "isolation", hint=hint)
    yield from _check_access([planes[name] for name in separated])
    yield from _check_addresses(tenants, planes)
    yield from _check_vrfs(tenants, [planes[name] for name in separated if planes[name].isolates_by_vrf])
    for tenant in tenants.values():
        if not separated and not tenant.planes:
            hint = "set `isolation` on a plane, or remove the tenant"
            yield error("FG644", f"no plane separates tenant {tenant.name} from others", tenant, hint=hint)
        for index, name in enumerate(tenant.planes):
            if name not in planes:
                hint = suggest(name, sorted(planes))
                yield error("FG107", f"the plane {name!r} is not defined", tenant, "planes", index, hint=hint)
            elif name not in separated:
                hint = f"set `isolation` on plane {name}, or remove it from the planes of the tenant"
                message = f"plane {name} does not separate tenants"
                yield error("FG644", message, tenant, "planes", index, hint=hint)
        for index, name in enumerate(tenant.shared_with):
            if name == tenant.name:
                message, hint = f"tenant {name} reaches itself without this entry", "remove it"
                yield error("FG105", message, tenant, "shared_with", index, hint=hint)
            elif name != ALL and name not in tenants:
                hint = suggest(name, [ALL, *sorted(tenants)])
                yield error("FG107", f"the tenant {name!r} is not defined", tenant, "shared_with", index, hint=hint)


def _check_access(planes: Sequence[Plane]) -> Iterator[Finding]:
    """Findings for planes whose hosts are not on routed ports."""
    for plane in planes:
        access = plane.access
        if access and any(one.kind != AccessKind.ROUTED for one in (access, *access.groups.values())):
            message = f"tenants need hosts on routed ports, and those of plane {plane.name} are in a VLAN or a bond"
            hint = "remove `access`, or remove `isolation`: no ACL or VRF of a port separates hosts in one VLAN"
            yield error("FG661", message, plane, "isolation", hint=hint)


def _check_vrfs(tenants: Mapping[str, TenantSpec], planes: Sequence[Plane]) -> Iterator[Finding]:
    """Findings for names that a VRF cannot have, and for devices outside the fabric that no VRF reaches."""
    for plane in planes:
        for name in ("external", "static"):
            if name in plane.node.mapping:
                message = f"hosts of plane {plane.name} are in VRFs, and these routes are in the default VRF"
                hint = "use `isolation: acl` on this plane, or remove the entries"
                yield error("FG652", message, plane, name, hint=hint)
    for tenant in tenants.values() if planes else ():
        if len(vrf_of(tenant.name)) > LONGEST_NAME:
            longest = LONGEST_NAME - len(vrf_of(""))
            message = f"the name of VRF {vrf_of(tenant.name)} is longer than {LONGEST_NAME} characters"
            yield error("FG653", message, tenant, hint=f"give the tenant a name of at most {longest} characters")
    yield from _check_vnis(tenants, [plane for plane in planes if plane.isolation == Isolation.EVPN])


def _check_vnis(tenants: Mapping[str, TenantSpec], planes: Sequence[Plane]) -> Iterator[Finding]:
    """Findings for planes whose BGP has no EVPN, and for tenants without their own VNI."""
    for plane in planes:
        if plane.bgp != BgpAddressing.UNNUMBERED:
            message = f"with numbered BGP plane {plane.name} has no EVPN: templates of bgpcfgd have no such family"
            yield error("FG654", message, plane, "isolation", hint="set `bgp: unnumbered`, or use `isolation: acl`")
    owners: dict[int, TenantSpec] = {}
    for tenant in tenants.values() if planes else ():
        if tenant.vni is None:
            message, hint = (
                f"tenant {tenant.name} has no VNI",
                "add `vni`, such as `vni: 5001`, different for each tenant",
            )
            yield error("FG655", message, tenant, hint=hint)
            continue
        other = owners.setdefault(vlan_of(tenant.vni), tenant)
        if other is not tenant:
            message = (
                f"VNI {tenant.vni} uses VLAN {vlan_of(tenant.vni)}, as VNI {other.vni} of tenant {other.name} does"
            )
            hint = "give each tenant a VNI whose last three digits differ"
            yield error("FG655", message, tenant, "vni", hint=hint)


def _check_addresses(tenants: Mapping[str, TenantSpec], planes: Mapping[str, Plane]) -> Iterator[Finding]:
    """Findings for addresses of tenants that the host pool of their plane does not have, or another tenant has."""
    for name, plane in planes.items():
        pool = networks(plane.addressing.hosts.prefixes) if plane.addressing else ()
        taken: list[tuple[str, Network]] = []
        for tenant in tenants.values():
            own = networks(tenant.addresses[name].prefixes) if name in tenant.addresses else ()
            if own and {one.version for one in own} != {one.version for one in pool}:
                hint = "give one prefix of each family that the host pool of the plane has"
                message = f"the addresses of tenant {tenant.name} and of plane {name} have different families"
                yield error("FG650", message, tenant, "addresses", name, hint=hint)
            for prefix in own:
                if not any(contains(each, prefix) for each in pool):
                    message = f"{prefix} is not in the host pool of plane {name}, {' and '.join(map(str, pool))}"
                    hint = "use a part of the pool, which the ACLs of all tenants refuse"
                    yield error("FG650", message, tenant, "addresses", name, hint=hint)
                for other, network in taken:
                    if network.version == prefix.version and network.overlaps(prefix):
                        message, hint = (
                            f"{prefix} overlaps {network} of tenant {other}",
                            "give each tenant its own prefix",
                        )
                        yield error("FG650", message, tenant, "addresses", name, hint=hint)
                taken.append((tenant.name, prefix))
    for tenant in tenants.values():
        for name in tenant.addresses:
            if name not in planes or planes[name].addressing is None:
                hint = suggest(name, sorted(name for name, plane in planes.items() if plane.addressing))
                message = f"plane {name!r} has no addresses of hosts"
                yield error("FG107", message, tenant, "addresses", name, hint=hint)
