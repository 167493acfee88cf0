"""Rules on the members of partitions: connectivity in tenants, the Default partition and multicast groups."""

from collections.abc import Iterable, Iterator, Sequence

from fabricgen.c_numbers import c_number
from fabricgen.findings import Severity
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.options import LAST_SL, LAST_VL, MTU_OF, RATE_CODES, RATE_OF
from fabricgen.opensm.partitions_conf import (
    GROUPS,
    Entry,
    MemberKind,
    PartitionEntry,
    expanded,
    guid_of,
    key_of,
    membership_of,
    number_of,
)
from fabricgen.rules.defects import Defect
from fabricgen.rules.opensm.partitions import with_partitions
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, majority
from fabricgen.rules.view.pkey_tables import ALL_ADAPTERS
from fabricgen.rules.view.subnet_managers import ManagedSubnet, manager_files
from fabricgen.units import whole_number

_DEFAULT_KEY = 0x7FFF
# Engines that choose the SL of each path -> the bits of an SL that a partition can choose: torus-2QoS has two levels.
_LEVEL_BITS = {"torus-2QoS": 8, "dfsssp": 0, "lash": 0, "nue": 0}  # nue on several lanes


@rule("FG822", Severity.ERROR, "The members of a tenant cannot reach each other")
def limited_tenant(fabric: Fabric) -> Iterator[Defect]:
    """What: A tenant has members, and at least one of them is full or both. A host whose ports in the tenant differ
    from those of most of its hosts is a warning.

    Why: Limited members reach only full members. A tenant with only limited members has no connectivity. If a host has
    seven of its eight ports in the tenant, one rail cannot reach the others, and the whole collective waits for it.

    Example: blue=0x8001 : 0x02fab00200000001, 0x02fab00200000003 ; without `=full`.

    Fix: Write `=full` for all members, or for those that all others must reach, or set the flag defmember=full.

    Source: InfiniBand Architecture Specification, volume 1, section 10.9; opensm doc/partition-config.txt.
    """
    for subnet, file in with_partitions(fabric):
        tenants: dict[int, list[PartitionEntry]] = {}
        for partition in subnet.partitions:
            if (key := key_of(partition)) != _DEFAULT_KEY:
                tenants.setdefault(key or -partition.name.line, []).append(partition)
        for definitions in tenants.values():
            name = definitions[0].name
            memberships = _memberships(definitions)
            if set(memberships.values()) <= {MemberKind.LIMITED}:
                fault = "has only limited members" if memberships else "has no members"
                hint = "write `=full` for members that others must reach"
                yield Defect(subnet.place(file, name), f"{name} {fault}", hint)
            yield from _partial_hosts(subnet, file, name.text, [one for each in definitions for one in each.members])


def _memberships(definitions: Iterable[PartitionEntry]) -> dict[int | str, MemberKind]:
    """Port GUID, or group of ports -> membership, by the last member that contains the port."""
    found: dict[int | str, MemberKind] = {}
    for partition in definitions:
        for member in partition.members:
            group, kind = expanded(member.name.text, GROUPS), membership_of(partition, member)
            if group in ALL_ADAPTERS:
                found = dict.fromkeys(found, kind)
            if group != "NONE" and (name := group or guid_of(member)):
                found[name] = kind
    return found


def _partial_hosts(subnet: ManagedSubnet, file: str, name: str, members: Iterable[Entry]) -> Iterator[Defect]:
    """Hosts whose NICs in the tenant differ from those of most hosts of their group in the tenant."""
    nics: dict[str, dict[str, Entry]] = {}
    groups: dict[str, list[str]] = {}
    for member in members:
        if (guid := guid_of(member) or 0) in subnet.adapters:
            wired, nic = subnet.adapters[guid]
            nics.setdefault(wired.name, {})[nic.name] = member
            groups.setdefault(wired.group, []).append(wired.name)
    for names in groups.values():
        usual = majority(frozenset(nics[host]) for host in dict.fromkeys(names)) or frozenset()
        for host in dict.fromkeys(names) if usual else ():
            if (own := nics[host].keys()) != usual:
                different = sorted(usual - own) or sorted(own - usual)
                how = "without" if usual - own else "also with"
                place = subnet.place(file, next(iter(nics[host].values())).name)
                ports = ", ".join(different)
                message = f"{host} is in {name} {how} {ports}, which differs from most other hosts"
                yield Defect(place, message, "list the same ports of each host", severity=Severity.WARNING)


@rule("FG823", Severity.WARNING, "The Default partition does not isolate tenants, or disconnects the subnet manager")
def default_partition(fabric: Fabric) -> Iterator[Defect]:
    """What: There is a Default partition (0x7fff), and the ports of the subnet managers are full members. With tenants,
    hosts are limited members of it, except those of managers and those in no tenant or in all of several. No tenant has
    all hosts as full members. Switches enforce P_Keys in both directions.

    Why: Hosts query the subnet manager for paths over 0x7fff, and get no answer if the manager is a limited member. Of
    several members that contain a port OpenSM uses the last: with SELF=full before ALL_CAS=limited the manager is a
    limited member. Without the partition all ports are limited members, and IPoIB between hosts fails. If all hosts are
    full members, or switches pass any key, tenants reach each other. Without tenants, limited hosts do not reach each
    other.

    Example: Default=0x7fff, ipoib : ALL_CAS=full ; with two tenants.

    Fix: Write Default=0x7fff, ipoib : ALL_CAS=limited, ALL_SWITCHES=full, SELF=full ; and set part_enforce to both.

    Source: opensm 3.3.23, doc/partition-config.txt and osm_prtn.c; measured with opensm 3.3.23.
    """
    for subnet, file in with_partitions(fabric):
        if not subnet.partitions:
            continue
        default = [one for one in subnet.partitions if key_of(one) == _DEFAULT_KEY]
        tenants = [one for one in subnet.partitions if key_of(one) != _DEFAULT_KEY]
        if not default:
            message = "the Default partition (0x7fff) is missing: all ports are limited members of it"
            yield Defect(subnet.place(file), message, "add Default=0x7fff, ipoib : ALL=limited, SELF=full ;")
        else:
            yield from _default_members(subnet, file, default, bool(tenants))
            yield from _full_hosts(subnet, file, default, tenants)
        yield from _tenants_of_all(subnet, file, tenants)
        for manager in subnet.managers if tenants else ():
            if manager.content.text("part_enforce") != "both" or manager.content.is_true("no_partition_enforcement"):
                name = "part_enforce" if manager.content.text("part_enforce") != "both" else "no_partition_enforcement"
                message = "switches do not drop packets of other partitions in both directions"
                hint = "set part_enforce to both and no_partition_enforcement to FALSE"
                yield Defect(manager.place(name), message, hint)


def _default_members(
    subnet: ManagedSubnet, file: str, default: list[PartitionEntry], has_tenants: bool
) -> Iterator[Defect]:
    groups = [
        (partition, member)
        for partition in default
        for member in partition.members
        if expanded(member.name.text, GROUPS) in ALL_ADAPTERS
    ]
    for partition, member in groups[-1:]:
        if has_tenants and membership_of(partition, member) != MemberKind.LIMITED:
            message = "all hosts are full members of Default: tenants reach each other over it"
            yield Defect(subnet.place(file, member.name), message, f"write {member.name}=limited")
        elif not has_tenants and membership_of(partition, member) == MemberKind.LIMITED:
            message = "there are no tenants, and hosts are limited members of Default: they do not reach each other"
            yield Defect(subnet.place(file, member.name), message, f"write {member.name}=full")
    at = subnet.place(file, default[0].name)
    if not groups and not has_tenants:
        message = "there are no tenants, and ports that Default does not list are limited members: they do not reach "
        yield Defect(at, f"{message}each other", "add ALL_CAS=full")
    managers = sorted({manager.content.number("guid") for manager in subnet.managers} - {0})
    if limited := [guid for guid in managers or [0] if not _is_full(default, guid, is_active=True)]:
        message = "the port of the subnet manager is not a full member of Default: limited hosts get no answer"
        if any(expanded(member.name.text, GROUPS) == "SELF" for one in default for member in one.members):
            message += "; a later member of the list makes it limited"
        yield Defect(at, message, "add SELF=full", severity=Severity.ERROR)
    elif limited := [guid for guid in managers if not _is_full(default, guid, is_active=False)]:
        names = ", ".join(map(guid_text, limited))
        message = f"{names} of a subnet manager is not a full member of Default: SELF is only the active manager"
        yield Defect(at, message, "add the port of each manager with =full")


def _full_hosts(
    subnet: ManagedSubnet, file: str, default: Sequence[PartitionEntry], tenants: Sequence[PartitionEntry]
) -> Iterator[Defect]:
    """Single ports of a tenant that are full members of Default, which all limited members reach. A port in all of
    several tenants is meant to be reached, for example that of a storage target."""
    of_tenants: dict[int, set[int]] = {}
    for tenant in tenants:
        for guid in filter(None, map(guid_of, tenant.members)):
            of_tenants.setdefault(guid, set()).add(key_of(tenant) or 0)
    managers = [manager.content.number("guid") for manager in subnet.managers]
    every = {key_of(tenant) or 0 for tenant in tenants}
    members = _memberships(default)
    full = {
        guid
        for guid, keys in of_tenants.items()
        if guid not in managers
        and members.get(guid, MemberKind.LIMITED) != MemberKind.LIMITED
        and (keys != every or len(every) < 2)
    }
    is_unknown = len(full) <= managers.count(0)  # the ports can be those of managers without a guid
    for partition in default if not is_unknown else ():
        for member in partition.members:
            if (guid := guid_of(member) or 0) in full and membership_of(partition, member) != MemberKind.LIMITED:
                name = (subnet.ports or {}).get(guid) or member.name.text
                message = f"{name} of a tenant is a full member of Default: hosts of other tenants reach it over it"
                yield Defect(subnet.place(file, member.name), message, f"write {member.name}=limited")


def _tenants_of_all(subnet: ManagedSubnet, file: str, tenants: Sequence[PartitionEntry]) -> Iterator[Defect]:
    """Tenants with all hosts as full members, beside other tenants."""
    for tenant in tenants if len({key_of(one) for one in tenants}) > 1 else ():
        for member in tenant.members:
            is_group = expanded(member.name.text, GROUPS) in ALL_ADAPTERS
            if is_group and membership_of(tenant, member) != MemberKind.LIMITED:
                message = f"{tenant.name}: all hosts are full members: other tenants reach each other over it"
                yield Defect(subnet.place(file, member.name), message, f"write {member.name}=limited, or list members")


def _is_full(default: Iterable[PartitionEntry], manager: int, *, is_active: bool) -> bool:
    """Whether the port of a manager is a full member of Default: the last member that contains it counts. Before it
    reads the file OpenSM makes its own port a full member and all others limited ones."""
    kind = MemberKind.FULL if is_active else MemberKind.LIMITED
    for partition in default:
        for member in partition.members:
            group = expanded(member.name.text, GROUPS)
            is_self = group == "SELF" and is_active
            if group in ALL_ADAPTERS or is_self or (manager and guid_of(member) == manager):
                kind = membership_of(partition, member)
    return kind != MemberKind.LIMITED


@rule("FG824", Severity.ERROR, "A multicast group does not exist, or cannot have the MTU, rate or SL")
def group_speeds(fabric: Fabric) -> Iterator[Defect]:
    """What: disable_multicast is FALSE if a partition has the flag ipoib (without one, TRUE is a warning). mtu and rate
    of a partition are codes of OpenSM (5 is 4096 bytes, 21 is 400 Gb/s). The rate is at most that of the slowest
    member port. sl is a number from 0 to 15 that switches map to a lane, and that the routing engine does not choose by
    itself.

    Why: With disable_multicast OpenSM makes no group, and IPoIB is down. With 4096 or 400 OpenSM does not create the
    broadcast group (ERR 1B26), and IPoIB is down. A port that is slower than the group cannot join it. Switches without
    a mapping for an SL use any lane, which can close a credit loop, or drop the packets.

    Example: blue=0x8001, ipoib, mtu=4096, rate=400 : …

    Fix: Write mtu=5 and rate=21.

    Source: opensm 3.3.23, include/iba/ib_types.h and doc/partition-config.txt; measured with opensm 3.3.23.
    """
    for manager in manager_files(fabric):
        if manager.content.is_true("disable_multicast"):
            groups = [one.name.text for one in manager.subnet.partitions if one.has("ipoib")]
            what = (
                f"the IPoIB groups of {', '.join(groups)} do not exist" if groups else "there are no multicast groups"
            )
            severity = Severity.ERROR if groups else Severity.WARNING
            message = f"disable_multicast is TRUE: {what}"
            yield Defect(manager.place("disable_multicast"), message, "remove disable_multicast", severity=severity)
    for subnet, file in with_partitions(fabric):
        for partition in subnet.partitions:
            for flag in partition.flags:
                problem = _code_problem(flag)
                if problem:
                    yield Defect(
                        subnet.place(file, flag.value or flag.name), f"{partition.name}: {problem[0]}", problem[1]
                    )
            yield from _unserved_level(subnet, file, partition)
            rate, code = partition.flag("rate"), number_of(partition, "rate")
            if partition.has("ipoib") and rate and code is not None:
                yield from _too_fast(subnet, file, partition, code, rate)


def _code_problem(flag: Entry) -> tuple[str, str] | None:
    name, text = flag.name.text, flag.value.text if flag.value else ""
    number = c_number(text)
    if name == "mtu" and number not in MTU_OF:
        codes = ", ".join(f"{code} ({size})" for code, size in MTU_OF.items())
        return f"mtu={text} is not a code of OpenSM", f"use one of the codes {codes}"
    if name == "rate" and number not in RATE_OF:
        speed = RATE_CODES.get(number * 1000) if number else None
        hint = f"write rate={speed}" if speed else "use a code such as 16 (100G), 17 (200G) or 21 (400G)"
        return f"rate={text} is not a code of OpenSM", hint
    if name == "sl" and (number is None or not 0 <= number <= LAST_SL):
        return f"sl={text} is outside 0 to 15", "use an SL from 0 to 15"
    return None


def _unserved_level(subnet: ManagedSubnet, file: str, partition: PartitionEntry) -> Iterator[Defect]:
    """An SL that switches do not map to a lane of the plan, or that the routing engine chooses by itself."""
    flag = partition.flag("sl")
    level = number_of(partition, "sl") or 0
    if flag is None or not 0 < level <= LAST_SL:
        return
    place, hint = subnet.place(file, flag.value), "remove sl, or use 0"
    engine = subnet.master.engines[0]
    one_lane = engine == "nue" and subnet.master.content.number("nue_max_num_vls") == 1
    if engine in _LEVEL_BITS and not one_lane and level & ~_LEVEL_BITS[engine]:
        message = f"{partition.name}: sl={level}, but {engine} chooses the SL of each path to avoid credit loops"
        yield Defect(place, message, hint)
    elif not subnet.master.content.is_true("qos"):
        message = f"{partition.name}: sl={level}, but qos is not TRUE: switches are not programmed for this SL"
        yield Defect(place, message, hint)
    else:
        lanes = subnet.master.content.text("qos_sl2vl").split(",")
        lane = whole_number(lanes[level].strip()) or 0 if level < len(lanes) else 0
        if lane > LAST_VL:
            message = f"{partition.name}: sl={level} maps to lane {lane} in qos_sl2vl: switches drop its packets"
            yield Defect(place, message, hint)


def _too_fast(subnet: ManagedSubnet, file: str, partition: PartitionEntry, code: int, rate: Entry) -> Iterator[Defect]:
    names = {expanded(member.name.text, GROUPS) for member in partition.members}
    guids = {guid_of(member) for member in partition.members}
    members = [
        (nic.speed_mbps, f"{host.name} {nic.name}")
        for guid, (host, nic) in subnet.adapters.items()
        if guid in guids or names & set(ALL_ADAPTERS)
    ]
    slowest, rate_mbps = min(members, default=None), RATE_OF.get(code)
    if slowest and rate_mbps and rate_mbps > slowest[0]:
        message = (
            f"{partition.name}: rate={code} is {rate_mbps // 1000} Gb/s, but {slowest[1]} has {slowest[0] // 1000} Gb/s"
        )
        yield Defect(subnet.place(file, rate.value), message, "use the rate of the slowest member")
