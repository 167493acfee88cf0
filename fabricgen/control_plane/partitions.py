"""The partitions of an InfiniBand subnet: the tenants of the inventory as P_Keys of port GUIDs.

Only ports of adapters are members. Switches are only in the Default partition.

Source: opensm 3.3.23 doc/partition-config.txt and osm_prtn_config.c. A P_Key is its low 15 bits. For 0, OpenSM makes up
a key, which may be that of another tenant. After a syntax error, every port has full membership in 0x7fff.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.members import Members
from fabricgen.control_plane.qos_levels import level_of
from fabricgen.design.model import Link
from fabricgen.design.subnets import SubnetDesign
from fabricgen.inventory.infiniband import Membership, PartitionSpec, QosLevel
from fabricgen.inventory.plane import Plane
from fabricgen.opensm.guids import PortGuid
from fabricgen.opensm.options import MTU_CODES, RATE_CODES, rate_at_most

DEFAULT_PKEY = 0x7FFF
PKEY_BITS = 0x7FFF
DEFAULT_MTU_BYTES = 2048  # the default of OpenSM, which every port supports


@dataclass(frozen=True)
class Partition:
    """One P_Key of a subnet. `members` is port GUID -> membership; `mtu` and `rate` are codes of OpenSM."""

    spec: PartitionSpec
    name: str
    pkey: int  # low 15 bits
    members: Mapping[PortGuid, Membership]
    ipoib: bool
    mtu: int
    rate: int
    level: QosLevel | None = None


def plan_partitions(subnet: SubnetDesign, allocation: Allocation, managers: list[Link]) -> list[Partition]:
    """The partitions of a valid subnet, Default first. Tenants without a member in it are omitted."""
    plane, members = subnet.plane.plane, Members(subnet.plane, allocation)
    here = set(subnet.host_links)
    partitions = [_default(plane, subnet, [members.port(link) for link in managers if link in here])]
    for spec in plane.partitions:
        chosen = members.chosen(spec)
        ports = {members.port(link): membership for link, membership in chosen.items() if link in here}
        if ports:
            assert spec.pkey is not None
            slowest = min(link.speed_mbps for link in chosen if link in here)
            partition = _partition(spec, spec.pkey & PKEY_BITS, ports, slowest, ipoib=False)
            partitions.append(replace(partition, level=level_of(plane.infiniband, spec)))
    return partitions


def default_membership(plane: Plane, *, has_tenants: bool) -> Membership:
    """The membership of all ports of a subnet in its Default partition: limited if the subnet has tenants, which it
    would connect."""
    tenants = Membership.LIMITED if has_tenants else Membership.FULL
    return plane.infiniband.default_partition.membership or tenants


def _default(plane: Plane, subnet: SubnetDesign, managers: list[PortGuid]) -> Partition:
    slowest = min((link.speed_mbps for link in subnet.host_links), default=min(RATE_CODES))
    spec = plane.infiniband.default_partition
    return _partition(spec, DEFAULT_PKEY, dict.fromkeys(managers, Membership.FULL), slowest, ipoib=True)


def _partition(
    spec: PartitionSpec, pkey: int, members: Mapping[PortGuid, Membership], slowest_mbps: int, *, ipoib: bool
) -> Partition:
    return Partition(
        spec=spec,
        name=spec.name,
        pkey=pkey,
        members=members,
        ipoib=ipoib if spec.ipoib is None else spec.ipoib,
        mtu=MTU_CODES[spec.mtu_bytes or DEFAULT_MTU_BYTES],
        rate=RATE_CODES[spec.rate_mbps] if spec.rate_mbps else rate_at_most(slowest_mbps),
    )


def allows_both(partitions: list[Partition]) -> bool:
    """Whether a member has a key of each kind, which needs the option allow_both_pkeys."""
    return any(Membership.BOTH in partition.members.values() for partition in partitions)
