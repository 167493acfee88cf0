"""partitions.conf: read as a whole, members that are ports, keys of their own, tenants that can talk."""

from collections import Counter
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.observed.partition_file import (
    FLAGS,
    GROUPS,
    MEMBERSHIPS,
    Entry,
    PartitionEntry,
    guid_of,
    key_of,
    taken_as,
)  # fmt: skip
from fabricgen.platforms.opensm import MTU_CODES, RATE_CODES
from fabricgen.rules.defects import Defect
from fabricgen.rules.fabric import Fabric, majority
from fabricgen.rules.opensm_files import ManagedSubnet, managed_subnets, shown
from fabricgen.rules.registry import Basis, rule

_DEFAULT_KEY = 0x7FFF
_ADAPTER_KEYS = 128  # entries of an adapter port's table
_SWITCH_KEYS = 8  # of a switch's port 0 in ibsim; hardware has more, how many its maker tells
_EVERYBODY = ("ALL", "ALL_CAS")
_RATE_OF = {code: mbps for mbps, code in RATE_CODES.items()}
_MTU_OF = {code: size for size, code in MTU_CODES.items()}


def _subnets(fabric: Fabric) -> Iterator[tuple[ManagedSubnet, str]]:
    """The subnets with a partition file, and its name."""
    for subnet in managed_subnets(fabric):
        if subnet.partition_name:
            yield subnet, subnet.partition_name


def _membership(partition: PartitionEntry, member: Entry) -> str:
    """full | limited | both, as OpenSM takes it."""
    usual = partition.flag("defmember")
    word = member.value or (usual.value if usual else None)
    return (taken_as(word.text, MEMBERSHIPS) if word else None) or "limited"


@rule("FG819", Severity.ERROR, "A partitions.conf that OpenSM drops", Basis.SCHEMA)
def partition_syntax(fabric: Fabric) -> Iterator[Defect]:
    """What: every definition has its colon on its line and a `;` at its end, every member is a GUID with 0x or a word
    that OpenSM has, and no line is longer than 4,094 bytes.

    Why: OpenSM drops the whole file for one mistake and makes every port a full member of 0x7fff: isolation fails open.
    A longer line is cut in the middle of a GUID, a missing `;` makes one partition of two.

    Example: blue=0x8001, ipoib : e8ebd30400000001=full ;

    Fix: correct the word. Lists go on on the next line until `;`; four members a line are well below the limit.

    Source: opensm 3.3.23, osm_prtn_config.c; measured with the real one.
    """
    for subnet, file in _subnets(fabric):
        for fault in subnet.partition_file.faults if subnet.partition_file else ():
            message = f"{fault.message}; OpenSM drops the file, and every port is a full member of 0x7fff"
            yield Defect(subnet.place(file, fault.word), message, "correct it; nothing of this file holds before")


@rule("FG820", Severity.ERROR, "A partition member that is no port of the subnet")
def strange_member(fabric: Fabric) -> Iterator[Defect]:
    """What: every GUID in partitions.conf is that of an adapter port of the subnet.

    Why: OpenSM passes over a GUID that it does not find, as over a node's GUID, without a word. The port has then no
    key of its tenant, and no connectivity.

    Example: 0x02fab00200000000=full, the node GUID of dgx-000 rail0.

    Fix: the port's GUID, as `ibstat` shows it.

    Source: opensm 3.3.23, osm_prtn_config.c; measured with the real one.
    """
    for subnet, file in _subnets(fabric):
        for partition in subnet.partitions if subnet.ports else ():
            for member in partition.members:
                guid = guid_of(member)
                if guid is None or guid in (subnet.ports or {}):
                    continue
                message, hint = _stranger(subnet, guid)
                yield Defect(subnet.place(file, member.name), f"{partition.name}: {message}", hint)


def _stranger(subnet: ManagedSubnet, guid: int) -> tuple[str, str]:
    ports = subnet.ports_of_nodes.get(guid, ())
    if ports and subnet.ports:
        names = ", ".join(f"{shown(port)} ({subnet.ports[port]})" for port in ports if port in subnet.ports)
        return f"{shown(guid)} is a node's GUID, and OpenSM passes over it", f"its port: {names}"
    if guid in (subnet.switches or {}):
        return f"{shown(guid)} is a switch, and no member of a tenant", "GUIDs of adapter ports"
    return f"no port of the subnet has {shown(guid)}, and OpenSM passes over it", "correct it, or take it out"


@rule("FG821", Severity.ERROR, "P_Keys that are one, or made up by OpenSM")
def clashing_keys(fabric: Fabric) -> Iterator[Defect]:
    """What: the low 15 bits of the P_Keys differ from partition to partition, none of them is 0, and every partition
    but Default has one.

    Why: the top bit is the membership, so that 0x8001 and 0x0001 are one partition: two tenants share it. For 0, 0x8000
    and no key at all OpenSM takes a free one, 0x8001 first, which may be that of a tenant further down.

    Example: blue=0x8001 and green=0x0001

    Fix: keys from 0x8001 to 0xfffe, each once.

    Source: opensm 3.3.23, osm_prtn_make_new and osm_prtn_config.c; measured with the real one.
    """
    for subnet, file in _subnets(fabric):
        first: dict[int, PartitionEntry] = {}
        for partition in subnet.partitions:
            key = key_of(partition)
            place = subnet.place(file, partition.key or partition.name, partition.name.text)
            if not key:
                said = partition.key.text if partition.key else "no P_Key"
                message = f"{partition.name} has {said}: OpenSM makes one up, which may be another tenant's"
                if key is None:
                    message = f"{partition.name} has the P_Key {said}, which is no number"
                yield Defect(place, message, "a key from 0x8001 to 0xfffe")
            elif (other := first.setdefault(key, partition)) is not partition:
                there = subnet.place(file, other.key or other.name, other.name.text)
                message = (
                    f"{partition.name} and {other.name} have one P_Key, 0x{key:04x}: OpenSM makes one partition of them"
                )
                yield Defect(place, message, "a key of its own for each", ((f"{other.name} has it, too", there),))


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
    for subnet, file in _subnets(fabric):
        for partition in subnet.partitions:
            if key_of(partition) == _DEFAULT_KEY:
                continue
            memberships = {_membership(partition, member) for member in partition.members}
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
    for subnet, file in _subnets(fabric):
        if subnet.partition_file is None or subnet.partition_file.faults:
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
            who = taken_as(member.name.text, GROUPS) or guid_of(member)
            if _membership(partition, member) in ("full", "both"):
                full.add(who)
            if who in _EVERYBODY:
                everybody.append((partition, member))
    for partition, member in everybody:
        if has_tenants and _membership(partition, member) != "limited":
            message = "all hosts are full members of Default: tenants reach each other there"
            yield Defect(subnet.place(file, member.name), message, f"{member.name}=limited")
        elif not has_tenants and _membership(partition, member) == "limited":
            message = "there is no tenant, and hosts that are limited members of Default reach no other host"
            yield Defect(subnet.place(file, member.name), message, f"{member.name}=full")
    at = subnet.place(file, default[0].name)
    if not everybody:
        yield Defect(at, "Default has not all adapters: the others reach no subnet manager", "ALL_CAS=limited")
    managers = {manager.content.number("guid") for manager in subnet.managers} - {0}
    if not full & {*_EVERYBODY, "SELF"} and not (managers and managers <= full):
        message = "the subnet manager's port is no full member of Default: limited hosts get no answer"
        yield Defect(at, message, "SELF=full", severity=Severity.ERROR)
    elif managers - full and not full & set(_EVERYBODY):
        names = ", ".join(shown(guid) for guid in sorted(managers - full))
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
    for subnet, file in _subnets(fabric):
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
    names = {taken_as(member.name.text, GROUPS) for member in partition.members}
    guids = {guid_of(member) for member in partition.members}
    members = [
        (nic.speed_mbps, f"{host.name} {nic.name}")
        for guid, (host, nic) in subnet.adapters.items()
        if guid in guids or names & set(_EVERYBODY)
    ]
    slowest = min(members, default=None)
    if slowest and _RATE_OF.get(code, 0) > slowest[0]:
        message = (
            f"{partition.name}: rate={code} is {_RATE_OF[code] // 1000} Gb/s, {slowest[1]} has {slowest[0] // 1000}"
        )
        yield Defect(subnet.place(file, rate.value), message, "the rate of the slowest member; faster ones join, too")


@rule("FG825", Severity.WARNING, "A word of a partition that OpenSM reads as another")
def misread_word(fabric: Fabric) -> Iterator[Defect]:
    """What: flags are ipoib, indx0, mtu, rate, sl, scope, Q_Key, TClass, FlowLabel, defmember; memberships full,
    limited, both; groups ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS, SELF, NONE; no member stands twice with two
    memberships. With `both` allow_both_pkeys is TRUE, else it is an error.

    Why: OpenSM takes the first known word that begins like the one given, makes an unknown membership limited and
    passes over an unknown flag, and says so at log level VERBOSE only. Without allow_both_pkeys `both` is full.

    Example: blue=0x8001, ipiob : 0x02fab00200000001=member ;

    Fix: the word in full.

    Source: opensm 3.3.23, partition_add_flag and partition_add_port; measured with the real one.
    """
    for subnet, file in _subnets(fabric):
        for partition in subnet.partitions:
            seen: dict[str, Entry] = {}
            for flag in partition.flags:
                known = taken_as(flag.name.text, FLAGS)
                if flag.name.text not in FLAGS:
                    what = f"is read as {known}" if known else "is passed over"
                    yield Defect(subnet.place(file, flag.name), f"{partition.name}: the flag {flag.name} {what}", "")
                elif flag.name.text == "defmember":
                    yield from _membership_word(subnet, file, partition, flag)
            for member in partition.members:
                known = taken_as(member.name.text, GROUPS)
                if known and known != member.name.text:
                    message = f"{partition.name}: {member.name} is read as {known}"
                    yield Defect(subnet.place(file, member.name), message, f"write {known}")
                yield from _membership_word(subnet, file, partition, member)
                before = seen.setdefault(member.name.text.lower(), member)
                if before is not member:
                    same = _membership(partition, before) == _membership(partition, member)
                    message = f"{partition.name}: {member.name} stands twice{'' if same else ', with two memberships'}"
                    yield Defect(subnet.place(file, member.name), message, "keep one of them")


def _membership_word(subnet: ManagedSubnet, file: str, partition: PartitionEntry, entry: Entry) -> Iterator[Defect]:
    if entry.value is None:
        return
    text = entry.value.text
    known = taken_as(text, MEMBERSHIPS)
    if text not in MEMBERSHIPS:
        message = f"{partition.name}: the membership {text!r} is read as {known or 'limited'}"
        yield Defect(subnet.place(file, entry.value, entry.name.text), message, f"one of {', '.join(MEMBERSHIPS)}")
    if known == "both" and not all(manager.content.is_true("allow_both_pkeys") for manager in subnet.managers):
        message = f"{partition.name}: `both` is full without allow_both_pkeys TRUE"
        hint = "allow_both_pkeys TRUE in opensm.conf"
        yield Defect(subnet.place(file, entry.value, entry.name.text), message, hint, severity=Severity.ERROR)


@rule("FG826", Severity.ERROR, "More P_Keys than a port's table holds")
def full_tables(fabric: Fabric) -> Iterator[Defect]:
    """What: an adapter port is in at most 128 partitions, `both` counting twice. Switches in more than 8 are a warning:
    that is what ibsim's have, and how many real ones have the data sheet tells.

    Why: OpenSM logs ERR 0512 and leaves out what is over: some tenants of the port have no connectivity.

    Example: 140 partitions with the member ALL.

    Fix: fewer partitions for the port; ALL_CAS in place of ALL, so that switches are in Default alone.

    Source: opensm 3.3.23, osm_pkey_mgr.c; measured: 140 partitions of ALL.
    """
    for subnet, file in _subnets(fabric):
        everywhere = switches = 0
        keys: Counter[int] = Counter()
        last: dict[int, Entry] = {}
        for partition in subnet.partitions:
            words = {taken_as(member.name.text, GROUPS) for member in partition.members}
            switches += bool(words & {"ALL", "ALL_SWITCHES"})
            if words & set(_EVERYBODY):
                both = any(_membership(partition, one) == "both" for one in partition.members if not guid_of(one))
                everywhere += 1 + both
            own = {guid: one for one in partition.members if (guid := guid_of(one))}
            for guid, member in own.items() if not words & set(_EVERYBODY) else ():
                keys[guid] += 1 + (_membership(partition, member) == "both")
                last[guid] = member
        most, count = max(((guid, number) for guid, number in keys.items()), key=lambda one: one[1], default=(0, 0))
        if everywhere + count > _ADAPTER_KEYS:
            place = subnet.place(file, last[most].name) if most else subnet.place(file)
            who = (subnet.ports or {}).get(most) or "every adapter port"
            message = f"{who} is in {everywhere + count} partitions, and its table holds {_ADAPTER_KEYS} keys"
            yield Defect(place, message, "fewer partitions on one port")
        if switches > _SWITCH_KEYS:
            message = f"switches are in {switches} partitions, and the table of a switch may hold {_SWITCH_KEYS} keys"
            yield Defect(subnet.place(file), message, "ALL_CAS in place of ALL", severity=Severity.WARNING)
