"""What NCCL must know of a host's tenant: the index of its P_Key, and its service level.

By default NCCL takes index 0, where hosts are limited members, and SL 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.managers import manager_links
from fabricgen.control_plane.partitions import DEFAULT_PKEY, Partition, allows_both, default_membership, plan_partitions
from fabricgen.design.model import Fabric, Host, Link, PlaneDesign
from fabricgen.design.subnets import SubnetDesign, split_subnets
from fabricgen.findings import Finding
from fabricgen.inventory.infiniband import Membership
from fabricgen.inventory.mistakes import error, warning
from fabricgen.inventory.plane import Plane
from fabricgen.opensm.guids import PortGuid
from fabricgen.opensm.pkey_table import FULL_BIT, pkey_table
from fabricgen.origin import Value, value
from fabricgen.units import counted
from fabricgen.vocabulary import Purpose, Technology


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """The settings of a group of hosts: `pkey_index` is the index that has a full P_Key of the tenant on every port of
    the compute planes. Either is None if it is the default, or differs among the ports of the group."""

    pkey_index: Value | None
    service_level: Value | None


@dataclass(frozen=True, slots=True)
class _Port:
    """A port of a host with GPUs on a compute plane. `index` is that of its tenant's key, None without a tenant."""

    link: Link
    host: Host
    index: int | None
    level: int


def plan_tenant_settings(fabric: Fabric, allocation: Allocation) -> Mapping[str, TenantSettings]:
    """Group of hosts -> its settings; groups without a tenant are omitted."""
    source = next((plane.source("partitions") for plane in map(_plane, fabric.planes) if plane.partitions), "")
    why = "the place of the tenant's key in the tables that OpenSM writes; index 0 is Default, where hosts are limited"
    why_level = "the SL of the tenant's QoS level: NCCL requests no path records"
    found = {}
    for group, ports in _groups(fabric, allocation).items():
        indexes = {port.index for port in ports if port.index is not None}
        levels = {port.level for port in ports if port.index is not None}
        found[group] = TenantSettings(
            pkey_index=value(min(indexes), why, inventory=source) if len(indexes) == 1 else None,
            service_level=value(min(levels), why_level, inventory=source)
            if len(levels) == 1 and levels != {0}
            else None,
        )
    return found


def check_tenant_settings(fabric: Fabric, allocation: Allocation) -> Iterator[Finding]:
    """Findings for groups whose ports need different settings, and for hosts that a tenant has in part."""
    for group, ports in _groups(fabric, allocation).items():
        first = {port.index: port for port in reversed(ports) if port.index is not None}
        if len(first) > 1:
            needs = " and ".join(f"{index} for {_name(first[index])}" for index in sorted(first))
            message = f"group {group} has one nccl.conf, but NCCL_IB_PKEY would be {needs}"
            hint = (
                "use a group of hosts for each tenant, give shared partitions a pkey whose low byte is greater than "
                "those of the tenants, and give every compute plane of the hosts its tenants"
            )
            yield error("FG850", message, fabric.inventory.hosts[group], "model", hint=hint)
        members = {port.host.key for port in ports if port.index is not None}
        outside = [port for port in ports if port.index is None and port.host.key in members]
        if outside:
            others = f" and {counted(len(outside) - 1, 'other port')}" if len(outside) > 1 else ""
            message = (
                f"{_name(outside[0])}{others} of hosts with a tenant are in no tenant: their jobs do not connect there"
            )
            spec = fabric.inventory.planes[outside[0].link.plane]
            hint = "make all compute ports of a host members of its tenant"
            yield warning("FG849", message, spec, "partitions", hint=hint)


def _name(port: _Port) -> str:
    return f"{port.link.a.key}/{port.link.a_port}"


def _plane(design: PlaneDesign) -> Plane:
    return design.plane


def _groups(fabric: Fabric, allocation: Allocation) -> Mapping[str, list[_Port]]:
    """Group of hosts -> its ports on compute planes, for groups with a tenant."""
    found: dict[str, list[_Port]] = {}
    for design in fabric.planes:
        if design.plane.purpose == Purpose.COMPUTE and any(plane.partitions for plane in map(_plane, fabric.planes)):
            for port in _ports(design, allocation):
                found.setdefault(port.host.group, []).append(port)
    return {group: ports for group, ports in found.items() if any(port.index is not None for port in ports)}


def _ports(design: PlaneDesign, allocation: Allocation) -> Iterator[_Port]:
    if design.plane.technology == Technology.INFINIBAND and design.plane.partitions:
        for subnet in split_subnets(design):
            yield from _ports_of_subnet(subnet, allocation)
        return
    for link in design.links:  # the only key of a port is at index 0
        if isinstance(link.a, Host) and link.a.model.gpus:
            yield _Port(link, link.a, 0, 0)


def _ports_of_subnet(subnet: SubnetDesign, allocation: Allocation) -> Iterator[_Port]:
    partitions = plan_partitions(subnet, allocation, manager_links(subnet, allocation))
    default, *tenants = partitions
    allow_both = allows_both(partitions)
    usual = default_membership(subnet.plane.plane, has_tenants=bool(tenants))
    of_port: dict[PortGuid, list[Partition]] = {}
    for tenant in sorted(tenants, key=lambda one: (len(one.members), one.pkey)):
        for port in tenant.members:
            of_port.setdefault(port, []).append(tenant)
    for link in subnet.host_links:
        if not isinstance(link.a, Host) or not link.a.model.gpus:
            continue
        port = allocation.guids.adapters[link.a.key, link.a_port].port
        own = of_port.get(port, [])
        full = next((one for one in own if one.members[port] is not Membership.LIMITED), None)
        if full is None:
            yield _Port(link, link.a, None, 0)
            continue
        keys = [key for one in own for key in _keys(one.pkey, one.members[port])]
        table = pkey_table([*_keys(DEFAULT_PKEY, default.members.get(port, usual)), *keys], allow_both=allow_both)
        yield _Port(link, link.a, table.index(full.pkey | FULL_BIT), full.level.sl if full.level else 0)


def _keys(pkey: int, membership: Membership) -> list[int]:
    if membership is Membership.BOTH:
        return [pkey, pkey | FULL_BIT]
    return [pkey | FULL_BIT if membership is Membership.FULL else pkey]
