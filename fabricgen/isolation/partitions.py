"""The verdict on the tenants of InfiniBand subnets: who has which partition, and who shares a P_Key.

Two ports exchange packets if their tables have a P_Key in common, and at least one of them has it as a full member
(InfiniBand Architecture Specification, volume 1, 10.9). Ports that share no partition other than Default must not. The
tables are those that OpenSM writes: if it rejects partitions.conf, all ports are full members of Default. Hosts of
subnet managers, which Default lists as full members by their GUIDs, reach all others.
"""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.read import Bundle
from fabricgen.observed.subnet_files import subnets_of
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.partitions_conf import MemberKind, PartitionEntry, guid_of, key_of, membership_of
from fabricgen.opensm.pkey_table import DEFAULT_KEY, EMPTY, FULL_BIT
from fabricgen.results.isolation import HostAddress, IsolationResult, Reach, WrongPair
from fabricgen.rules.view.pkey_tables import partition_members, pkey_tables
from fabricgen.rules.view.subnet_managers import ManagedSubnet

SHARED = "the credits of a VL are shared by all tenants on it, and only the keys that these files write are judged"

_MANAGER = ""  # in place of a partition: the port of a subnet manager without one
_Kinds = tuple[tuple[str, MemberKind], ...]  # partition and membership, of a port


def partition_verdicts(bundle: Bundle) -> Iterator[IsolationResult]:
    """The verdicts on subnets of fabric.json with partitions other than Default. Raises UnreadableInputError."""
    yield from (_judge(subnet, tenants) for subnet, tenants in _subnets(bundle))


def partitions_of_ports(bundle: Bundle) -> Iterator[tuple[str, dict[tuple[str, str], str]]]:
    """(plane, port (host, NIC) -> the names of its partitions) of the subnets that have a verdict. Raises
    UnreadableInputError."""
    for subnet, tenants in _subnets(bundle):
        found = {}
        for (kinds, _), ports in _classes(subnet, tenants, pkey_tables(subnet)).items():
            for host, nic in (subnet.adapters[port] for port in ports):
                found[host.name, nic.name] = _tenants(kinds)
        yield subnet.name, found


def _subnets(bundle: Bundle) -> Iterator[tuple[ManagedSubnet, list[PartitionEntry]]]:
    """The subnets of fabric.json with partitions other than Default, and these partitions."""
    for root in bundle.subnet_roots if bundle.wiring else ():
        for files in subnets_of(root):
            subnet = ManagedSubnet(files, bundle.wiring)
            file = subnet.partition_file
            tenants = [one for one in file.partitions if key_of(one) != DEFAULT_KEY] if file else []
            if tenants and subnet.adapters:
                yield subnet, tenants


def _judge(subnet: ManagedSubnet, tenants: list[PartitionEntry]) -> IsolationResult:
    tables = pkey_tables(subnet)
    classes = _classes(subnet, tenants, tables)
    apart = together = 0
    wrong: list[WrongPair] = []
    reach: dict[tuple[str, str], list[int]] = {}
    for (kinds, keys), members in classes.items():
        for (other_kinds, other_keys), others in classes.items():
            pairs = len(members) * (len(others) - (members is others))
            if not pairs:
                continue
            belongs, key = _belong(kinds, other_kinds), _common(keys, other_keys)
            known_pairs = reach.setdefault((_tenants(kinds), _tenants(other_kinds)), [0, 0, 0])
            for place, counts in enumerate((True, key is not None, belongs)):
                known_pairs[place] += pairs * counts
            together, apart = together + pairs * belongs, apart + pairs * (not belongs)
            if belongs == (key is not None):
                continue
            first = members[0]
            last = next(port for port in others if port != first)
            reason = "no P_Key is common to both, with a full member" if key is None else f"both have P_Key {key:#06x}"
            row = (subnet.name, subnet.partition_name or "", f"{(key or 0) & DEFAULT_KEY:#06x}")
            ends = _end(subnet, first, kinds), _end(subnet, last, other_kinds)
            wrong.append(WrongPair(ends[0], ends[1], not belongs, reason, (row,), pairs))
    known = {port for members in classes.values() for port in members}
    adapters = subnet.adapters.items()
    left_out = [(host.name, nic.name) for port, (host, nic) in adapters if not tables or port not in known]
    matrix = tuple(Reach(*ends, *pairs) for ends, pairs in sorted(reach.items()))
    return IsolationResult(
        subnet.name, len(tenants), len(known), apart, together, tuple(wrong), tuple(left_out), (), matrix, SHARED
    )


def _tenants(kinds: _Kinds) -> str:
    return " and ".join(name for name, _ in kinds if name)


def _classes(
    subnet: ManagedSubnet, tenants: list[PartitionEntry], tables: Mapping[int, list[int]]
) -> dict[tuple[_Kinds, frozenset[int]], list[int]]:
    """The ports of hosts by their partitions and P_Keys."""
    kinds: dict[int, dict[str, MemberKind]] = {port: {} for port in subnet.adapters}
    for partition in tenants:
        for port, kind in partition_members(partition, kinds):
            kinds[port][partition.name.text] = kind
    found: dict[tuple[_Kinds, frozenset[int]], list[int]] = {}
    for port in _managers(subnet):
        if not kinds.get(port, True):
            kinds[port][_MANAGER] = MemberKind.FULL
    for port, own in kinds.items():
        if port in tables:
            key = tuple(sorted(own.items())), frozenset(tables[port]) - {EMPTY}
            found.setdefault(key, []).append(port)
    return found


def _managers(subnet: ManagedSubnet) -> Iterator[int]:
    """The ports that Default lists as full members by their GUIDs."""
    file = subnet.partition_file
    for partition in file.partitions if file else ():
        for member in partition.members if key_of(partition) == DEFAULT_KEY else ():
            if (port := guid_of(member)) and membership_of(partition, member) is not MemberKind.LIMITED:
                yield port


def _belong(kinds: _Kinds, others: _Kinds) -> bool:
    """Whether two ports are in one partition, in which at least one of them is not limited, or one is a manager's."""
    far = dict(others)
    return (
        _MANAGER in far
        or any(name == _MANAGER for name, _ in kinds)
        or any(name in far and {kind, far[name]} != {MemberKind.LIMITED} for name, kind in kinds)
    )


def _common(keys: frozenset[int], others: frozenset[int]) -> int | None:
    """A P_Key of both ports that one of them has as a full member; None without one."""
    for key in sorted(keys):
        low = key & DEFAULT_KEY
        if (low | FULL_BIT in others) or (key & FULL_BIT and low in others):
            return low | FULL_BIT
    return None


def _end(subnet: ManagedSubnet, port: int, kinds: _Kinds) -> HostAddress:
    host, nic = subnet.adapters[port]
    return HostAddress(host.name, nic.name, guid_text(port), _tenants(kinds), "", "")
