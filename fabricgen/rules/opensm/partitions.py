"""partitions.conf: read as a whole and as it is meant, members that are ports, keys of their own."""

from collections import Counter
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.partitions_conf import (
    FLAGS,
    GROUPS,
    Entry,
    Membership,
    PartitionEntry,
    expanded,
    guid_of,
    key_of,
)
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets

_ADAPTER_KEYS = 128  # entries of an adapter port's table
_SWITCH_KEYS = 8  # of a switch's port 0 in ibsim; hardware has more, how many its maker tells
EVERYBODY = ("ALL", "ALL_CAS")


def with_partitions(fabric: Fabric) -> Iterator[tuple[ManagedSubnet, str]]:
    """The subnets with a partition file, and its name."""
    for subnet in managed_subnets(fabric):
        if subnet.partition_name:
            yield subnet, subnet.partition_name


def membership_of(partition: PartitionEntry, member: Entry) -> Membership:
    """The membership, as OpenSM takes it."""
    usual = partition.flag("defmember")
    word = member.value or (usual.value if usual else None)
    return (expanded(word.text, Membership) if word else None) or Membership.LIMITED


@rule("FG819", Severity.ERROR, "A partitions.conf that OpenSM drops", Basis.SCHEMA)
def partition_syntax(fabric: Fabric) -> Iterator[Defect]:
    """What: there is a partition, every definition has its colon on its line and a `;` at its end, every member is a
    GUID with 0x or a word that OpenSM has, and no line is longer than 4,094 bytes.

    Why: OpenSM drops the whole file for one mistake and makes every port a full member of 0x7fff: isolation fails open.
    A longer line is cut in the middle of a GUID, a missing `;` makes one partition of two.

    Example: blue=0x8001, ipoib : e8ebd30400000001=full ;

    Fix: correct the word. Lists go on on the next line until `;`; four members a line are well below the limit.

    Source: opensm 3.3.23, osm_prtn_config.c; measured with the real one.
    """
    for subnet, file in with_partitions(fabric):
        faults = subnet.partition_file.faults if subnet.partition_file else ()
        if not faults and not subnet.partitions:
            message = "no partition is in it; OpenSM drops the file, and every port is a full member of 0x7fff"
            yield Defect(subnet.place(file), message, "Default=0x7fff, ipoib : ALL=limited, SELF=full ;")
        for fault in faults:
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
    for subnet, file in with_partitions(fabric):
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
        names = ", ".join(f"{guid_text(port)} ({subnet.ports[port]})" for port in ports if port in subnet.ports)
        return f"{guid_text(guid)} is a node's GUID, and OpenSM passes over it", f"its port: {names}"
    if guid in (subnet.switches or {}):
        return f"{guid_text(guid)} is a switch, and no member of a tenant", "GUIDs of adapter ports"
    return f"no port of the subnet has {guid_text(guid)}, and OpenSM passes over it", "correct it, or take it out"


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
    for subnet, file in with_partitions(fabric):
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
    for subnet, file in with_partitions(fabric):
        for partition in subnet.partitions:
            seen: dict[str, Entry] = {}
            for flag in partition.flags:
                known = expanded(flag.name.text, FLAGS)
                if flag.name.text not in FLAGS:
                    what = f"is read as {known}" if known else "is passed over"
                    yield Defect(subnet.place(file, flag.name), f"{partition.name}: the flag {flag.name} {what}", "")
                elif flag.name.text == "defmember":
                    yield from _membership_word(subnet, file, partition, flag)
            for member in partition.members:
                known = expanded(member.name.text, GROUPS)
                if known and known != member.name.text:
                    message = f"{partition.name}: {member.name} is read as {known}"
                    yield Defect(subnet.place(file, member.name), message, f"write {known}")
                yield from _membership_word(subnet, file, partition, member)
                before = seen.setdefault(member.name.text.lower(), member)
                if before is not member:
                    same = membership_of(partition, before) == membership_of(partition, member)
                    message = f"{partition.name}: {member.name} stands twice{'' if same else ', with two memberships'}"
                    yield Defect(subnet.place(file, member.name), message, "keep one of them")


def _membership_word(subnet: ManagedSubnet, file: str, partition: PartitionEntry, entry: Entry) -> Iterator[Defect]:
    if entry.value is None:
        return
    text = entry.value.text
    known = expanded(text, Membership)
    if text not in tuple(Membership):
        message = f"{partition.name}: the membership {text!r} is read as {known or 'limited'}"
        yield Defect(subnet.place(file, entry.value, entry.name.text), message, f"one of {', '.join(Membership)}")
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
    for subnet, file in with_partitions(fabric):
        everywhere = switches = 0
        keys: Counter[int] = Counter()
        last: dict[int, Entry] = {}
        for partition in subnet.partitions:
            words = {expanded(member.name.text, GROUPS) for member in partition.members}
            switches += bool(words & {"ALL", "ALL_SWITCHES"})
            if words & set(EVERYBODY):
                both = any(membership_of(partition, one) == "both" for one in partition.members if not guid_of(one))
                everywhere += 1 + both
            own = {guid: one for one in partition.members if (guid := guid_of(one))}
            for guid, member in own.items() if not words & set(EVERYBODY) else ():
                keys[guid] += 1 + (membership_of(partition, member) == "both")
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
