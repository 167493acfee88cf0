"""What NCCL must know of a host's tenant: the index of its P_Key, and its service level.

By default NCCL takes index 0, where hosts are limited members, and SL 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.managers import manager_links
from fabricgen.control_plane.partitions import DEFAULT_PKEY, Partition, allows_both, default_membership, plan_partitions
from fabricgen.design.model import Fabric, Host
from fabricgen.design.subnets import SubnetDesign, split_subnets
from fabricgen.inventory.infiniband import Membership
from fabricgen.opensm.guids import PortGuid
from fabricgen.opensm.pkey_table import FULL_BIT, pkey_table
from fabricgen.origin import Value, value
from fabricgen.vocabulary import Purpose, Technology


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """The settings of a group of hosts: `pkey_index` is the index that has a full P_Key of the tenant on every port of
    the compute planes. Either is None if it is the default, or differs among the ports of the group."""

    pkey_index: Value | None
    service_level: Value | None


def plan_tenant_settings(fabric: Fabric, allocation: Allocation) -> Mapping[str, TenantSettings]:
    """Group of hosts -> its settings; groups without a tenant are omitted."""
    found: dict[str, set[int]] = {}
    levels: dict[str, set[int]] = {}
    source = ""
    for design in fabric.planes:
        plane = design.plane
        if plane.technology == Technology.INFINIBAND and plane.purpose == Purpose.COMPUTE and plane.partitions:
            source = source or plane.source("partitions")
            for subnet in split_subnets(design):
                for group, index, level in _tenants(subnet, allocation):
                    found.setdefault(group, set()).add(index)
                    levels.setdefault(group, set()).add(level)
    why = "the place of the tenant's key in the tables that OpenSM writes; index 0 is Default, where hosts are limited"
    why_level = "the SL of the tenant's QoS level: NCCL requests no path records"
    return {
        group: TenantSettings(
            pkey_index=value(min(own), why, inventory=source) if len(own) == 1 else None,
            service_level=value(min(levels[group]), why_level, inventory=source)
            if len(levels[group]) == 1 and levels[group] != {0}
            else None,
        )
        for group, own in found.items()
    }


def _tenants(subnet: SubnetDesign, allocation: Allocation) -> Iterator[tuple[str, int, int]]:
    """(group, index of the tenant's key, SL of the tenant) of every port of a host with GPUs."""
    partitions = plan_partitions(subnet, allocation, manager_links(subnet, allocation))
    default, *tenants = partitions
    allow_both = allows_both(partitions)
    of_port: dict[PortGuid, list[Partition]] = {}
    for tenant in sorted(tenants, key=lambda one: (len(one.members), one.pkey)):
        for port in tenant.members:
            of_port.setdefault(port, []).append(tenant)
    for link in subnet.host_links:
        port = allocation.guids.adapters[link.a.key, link.a_port].port
        own = of_port.get(port, [])
        full = next((one for one in own if one.members[port] is not Membership.LIMITED), None)
        if isinstance(link.a, Host) and link.a.model.gpus and full is not None:
            everybody = default.members.get(port, default_membership(subnet.plane.plane))
            keys = [key for one in own for key in _keys(one.pkey, one.members[port])]
            table = pkey_table([*_keys(DEFAULT_PKEY, everybody), *keys], allow_both=allow_both)
            yield link.a.group, table.index(full.pkey | FULL_BIT), full.level.sl if full.level else 0


def _keys(pkey: int, membership: Membership) -> list[int]:
    if membership is Membership.BOTH:
        return [pkey, pkey | FULL_BIT]
    return [pkey | FULL_BIT if membership is Membership.FULL else pkey]
