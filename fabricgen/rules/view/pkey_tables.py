"""The P_Key tables that OpenSM writes to the adapter ports of a subnet, by its files."""

from collections.abc import Iterable, Iterator, Mapping

from fabricgen.opensm.partitions_conf import (
    GROUPS,
    MemberKind,
    PartitionEntry,
    expanded,
    guid_of,
    key_of,
    membership_of,
)
from fabricgen.opensm.pkey_table import DEFAULT_KEY, FULL_BIT, pkey_table
from fabricgen.rules.view.subnet_managers import ManagedSubnet

ALL_ADAPTERS = ("ALL", "ALL_CAS")


def is_tenant_key(key: int) -> bool:
    """Whether a P_Key of a table is a full key of another partition than Default."""
    return bool(key & FULL_BIT) and key & DEFAULT_KEY != DEFAULT_KEY


def pkey_tables(subnet: ManagedSubnet) -> Mapping[int, list[int]]:
    """Port GUID of an adapter -> its P_Keys by index, 0 for an empty place. Without partitions all ports are full
    members of Default. Empty if the tables are unknown, because OpenSM generates the key of a partition."""
    ports = subnet.ports or {}
    if not all(key_of(one) for one in subnet.partitions):
        return {}
    if not subnet.partitions:
        return {port: [DEFAULT_KEY | FULL_BIT] for port in ports}
    # OpenSM makes all ports limited members of Default before it reads the file.
    memberships = {port: {DEFAULT_KEY: MemberKind.LIMITED} for port in ports}
    first: dict[int, int] = {}
    for partition in subnet.partitions:
        key = key_of(partition)
        assert key
        for port, membership in partition_members(partition, ports):
            memberships[port][key] = membership
            if partition.has("indx0"):
                first[port] = key
    both = subnet.master.content.is_true("allow_both_pkeys")
    return {
        port: pkey_table(_keys(own, allow_both=both), first=first.get(port), allow_both=both)
        for port, own in memberships.items()
    }


def partition_members(partition: PartitionEntry, ports: Iterable[int]) -> Iterator[tuple[int, MemberKind]]:
    """(port GUID, membership) of each member of a partition that is one of these ports."""
    known = set(ports)
    for member in partition.members:
        if expanded(member.name.text, GROUPS) in ALL_ADAPTERS:
            yield from ((port, membership_of(partition, member)) for port in ports)
        elif (guid := guid_of(member)) in known:
            assert guid
            yield guid, membership_of(partition, member)


def _keys(memberships: Mapping[int, MemberKind], *, allow_both: bool) -> Iterator[int]:
    for key, membership in memberships.items():
        if membership == MemberKind.LIMITED or (membership == MemberKind.BOTH and allow_both):
            yield key
        if membership != MemberKind.LIMITED:
            yield key | FULL_BIT
