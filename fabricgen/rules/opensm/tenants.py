"""What tenants and the Default partition are good for: members that can talk, managers that answer, groups to join."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.options import MTU_CODES, RATE_CODES
from fabricgen.opensm.partitions_conf import GROUPS, Entry, PartitionEntry, expanded, guid_of, key_of
from fabricgen.rules.defects import Defect
from fabricgen.rules.opensm.partitions import EVERYBODY, membership_of, with_partitions
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, majority
from fabricgen.rules.view.subnet_managers import ManagedSubnet

_DEFAULT_KEY = 0x7FFF
_RATE_OF = {code: mbps for mbps, code in RATE_CODES.items()}
_MTU_OF = {code: size for size, code in MTU_CODES.items()}


@rule("FG822", Severity.ERROR, "A tenant whose members cannot talk to each other")
def limited_tenant(fabric: Fabric) -> Iterator[Defect]:
    """What: a tenant has members, one of them full or both. That a host is in it with other ports than most of its
    hosts is a warning.

    Why: limited members reach full ones only. A tenant of limited members has keys, and no connectivity. Of a host with
    seven ports of eight in the tenant one rail reaches nobody, and the whole collective waits for it.

    Example: blue=0x8001 : 0x02fab00200000001, 0x02fab00200000003 ; without `=full`.

    Fix: `=full` for the members, or for what they share; or the flag defmember=full.

    Source: InfiniBand Architecture Specification, volume 1, section 10.9; opensm doc/partition-config.txt.
    """
    for subnet, file in with_partitions(fabric):
        for partition in subnet.partitions:
            if key_of(partition) == _DEFAULT_KEY:
                continue
            memberships = {membership_of(partition, member) for member in partition.members}
            if memberships <= {"limited"}:
                what = "has limited members only" if memberships else "has no member"
                hint = "`=full` for those that others have to reach"
                yield Defect(subnet.place(file, partition.name), f"{partition.name} {what}", hint)
            yield from _partial_hosts(subnet, file, partition)


def _partial_hosts(subnet: ManagedSubnet, file: str, partition: PartitionEntry) -> Iterator[Defect]:
    """Hosts of a group with other NICs in the tenant than most of those of the group that are in it."""
    nics: dict[str, dict[str, Entry]] = {}
    groups: dict[str, list[str]] = {}
    for member in partition.members:
        if (guid := guid_of(member) or 0) in subnet.adapters:
            host, nic = subnet.adapters[guid]
            nics.setdefault(host.name, {})[nic.name] = member
            groups.setdefault(host.group, []).append(host.name)
    for names in groups.values():
        usual = majority(frozenset(nics[name]) for name in dict.fromkeys(names)) or frozenset()
        for name in dict.fromkeys(names) if usual else ():
            if (own := nics[name].keys()) != usual:
                odd = sorted(usual - own) or sorted(own - usual)
                what = "without" if usual - own else "also with"
                place = subnet.place(file, next(iter(nics[name].values())).name)
                message = f"{name} is in {partition.name} {what} {', '.join(odd)}, unlike most hosts there"
                yield Defect(place, message, "the same ports of each host", severity=Severity.WARNING)


@rule("FG823", Severity.WARNING, "The Default partition isolates nobody, or cuts off the subnet manager")
def default_partition(fabric: Fabric) -> Iterator[Defect]:
    """What: there is a Default partition (0x7fff) with all adapters in it, the ports of the subnet managers full
    members. Where there are tenants, hosts are limited members of it, and switches enforce P_Keys in both directions.

    Why: hosts ask the subnet manager for paths over 0x7fff: a manager that is limited there answers nobody. Without the
    partition all are limited in it, so that IPoIB between hosts ends. Where all are full in it, or switches let any key
    pass, tenants reach each other whatever their own keys are; without tenants limited hosts reach nobody.

    Example: Default=0x7fff, ipoib : ALL_CAS=full ; beside two tenants.

    Fix: Default=0x7fff, ipoib : ALL_CAS=limited, ALL_SWITCHES=full, SELF=full ; and part_enforce both.

    Source: opensm 3.3.23, doc/partition-config.txt and osm_prtn.c; measured with the real one.
    """
    for subnet, file in with_partitions(fabric):
        if not subnet.partitions:
            continue
        default = [one for one in subnet.partitions if key_of(one) == _DEFAULT_KEY]
        tenants = [one for one in subnet.partitions if key_of(one) != _DEFAULT_KEY]
        if not default:
            message = "there is no Default partition (0x7fff): all ports are limited members of it"
            yield Defect(subnet.place(file), message, "Default=0x7fff, ipoib : ALL=limited, SELF=full ;")
        else:
            yield from _default_members(subnet, file, default, bool(tenants))
        for manager in subnet.managers if tenants else ():
            if manager.content.text("part_enforce") != "both" or manager.content.is_true("no_partition_enforcement"):
                name = "part_enforce" if manager.content.text("part_enforce") != "both" else "no_partition_enforcement"
                message = "switches do not hold back packets of other partitions in both directions"
                yield Defect(manager.place(name), message, "part_enforce both")


def _default_members(
    subnet: ManagedSubnet, file: str, default: list[PartitionEntry], has_tenants: bool
) -> Iterator[Defect]:
    full: set[object] = set()
    everybody = []
    for partition in default:
        for member in partition.members:
            who = expanded(member.name.text, GROUPS) or guid_of(member)
            if membership_of(partition, member) in ("full", "both"):
                full.add(who)
            if who in EVERYBODY:
                everybody.append((partition, member))
    for partition, member in everybody:
        if has_tenants and membership_of(partition, member) != "limited":
            message = "all hosts are full members of Default: tenants reach each other there"
            yield Defect(subnet.place(file, member.name), message, f"{member.name}=limited")
        elif not has_tenants and membership_of(partition, member) == "limited":
            message = "there is no tenant, and hosts that are limited members of Default reach no other host"
            yield Defect(subnet.place(file, member.name), message, f"{member.name}=full")
    at = subnet.place(file, default[0].name)
    if not everybody:
        yield Defect(at, "Default has not all adapters: the others reach no subnet manager", "ALL_CAS=limited")
    managers = {manager.content.number("guid") for manager in subnet.managers} - {0}
    if not full & {*EVERYBODY, "SELF"} and not (managers and managers <= full):
        message = "the subnet manager's port is no full member of Default: limited hosts get no answer"
        yield Defect(at, message, "SELF=full", severity=Severity.ERROR)
    elif managers - full and not full & set(EVERYBODY):
        names = ", ".join(guid_text(guid) for guid in sorted(managers - full))
        message = f"{names} of a subnet manager is no full member of Default: SELF is the one that is at work"
        yield Defect(at, message, "name the port of each manager with =full")


@rule("FG824", Severity.ERROR, "An MTU or a rate that a multicast group cannot have")
def group_speeds(fabric: Fabric) -> Iterator[Defect]:
    """What: mtu and rate of a partition are codes of OpenSM (5 is 4096 bytes, 21 is 400 Gb/s), the rate not above that
    of its slowest port; sl is one of 0 to 15.

    Why: for 4096 or 400 OpenSM creates no broadcast group (ERR 1B26), so that IPoIB is down. A port that is slower than
    its group cannot join it.

    Example: blue=0x8001, ipoib, mtu=4096, rate=400 : …

    Fix: mtu=5, rate=21.

    Source: opensm 3.3.23, include/iba/ib_types.h and doc/partition-config.txt; measured with the real one.
    """
    for subnet, file in with_partitions(fabric):
        for partition in subnet.partitions:
            for flag in partition.flags:
                problem = _code_problem(flag)
                if problem:
                    yield Defect(
                        subnet.place(file, flag.value or flag.name), f"{partition.name}: {problem[0]}", problem[1]
                    )
            rate = partition.flag("rate")
            if partition.has("ipoib") and rate and rate.value and rate.value.text.isdecimal():
                yield from _too_fast(subnet, file, partition, int(rate.value.text), rate)


def _code_problem(flag: Entry) -> tuple[str, str] | None:
    name, text = flag.name.text, flag.value.text if flag.value else ""
    number = int(text) if text.isdecimal() else None
    if name == "mtu" and number not in _MTU_OF:
        return f"mtu={text} is no code", ", ".join(f"{code} is {size}" for code, size in _MTU_OF.items())
    if name == "rate" and number not in _RATE_OF:
        speed = RATE_CODES.get((number or 0) * 1000)
        return f"rate={text} is no code", f"rate={speed}" if speed else "16 is 100G, 17 is 200G, 21 is 400G"
    if name == "sl" and (number is None or number > 15):
        return f"sl={text} is none of 0 to 15", ""
    return None


def _too_fast(subnet: ManagedSubnet, file: str, partition: PartitionEntry, code: int, rate: Entry) -> Iterator[Defect]:
    names = {expanded(member.name.text, GROUPS) for member in partition.members}
    guids = {guid_of(member) for member in partition.members}
    members = [
        (nic.speed_mbps, f"{host.name} {nic.name}")
        for guid, (host, nic) in subnet.adapters.items()
        if guid in guids or names & set(EVERYBODY)
    ]
    slowest = min(members, default=None)
    if slowest and _RATE_OF.get(code, 0) > slowest[0]:
        message = (
            f"{partition.name}: rate={code} is {_RATE_OF[code] // 1000} Gb/s, {slowest[1]} has {slowest[0] // 1000}"
        )
        yield Defect(subnet.place(file, rate.value), message, "the rate of the slowest member; faster ones join, too")
