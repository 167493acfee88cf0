"""Rules on partitions.conf: its syntax, members and P_Keys."""

from collections import Counter
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

from fabricgen.c_numbers import c_number
from fabricgen.findings import Severity
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.partitions_conf import (
    FLAGS,
    GROUP_FLAGS,
    GROUPS,
    MULTICAST_GROUP,
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
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.pkey_tables import ALL_ADAPTERS
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets

_ADAPTER_KEYS = 128  # entries of an adapter port's table
_SWITCH_KEYS = 8  # entries of a switch's port 0 in ibsim; hardware has more, see its data sheet


_REJECTED = "; OpenSM rejects the file and makes every port a full member of 0x7fff"


def with_partitions(fabric: Fabric) -> Iterator[tuple[ManagedSubnet, str]]:
    """(subnet, name of its partition file) of each subnet with such a file."""
    for subnet in managed_subnets(fabric):
        if subnet.partition_name:
            yield subnet, subnet.partition_name


@rule("FG819", Severity.ERROR, "OpenSM rejects partitions.conf", Basis.SCHEMA)
def partition_syntax(fabric: Fabric) -> Iterator[Defect]:
    """What: The file defines at least one partition. Every definition has its colon on its first line and one `;` at
    its end. Every member is a GUID with 0x or a keyword of OpenSM, and no line is longer than 4,094 bytes. Lines end
    with a newline only, without a carriage return.

    Why: After one mistake OpenSM rejects the whole file and makes every port a full member of 0x7fff: tenants are not
    isolated. It cuts a longer line in the middle of a GUID, and a missing `;` merges two partitions.

    Example: blue=0x8001, ipoib : e8ebd30400000001=full ;

    Fix: Correct the word. A list continues on the next line until `;`; four members on a line are well below the limit.

    Source: opensm 3.3.23, osm_prtn_config.c; measured with opensm 3.3.23.
    """
    for subnet, file in with_partitions(fabric):
        faults = subnet.partition_file.faults if subnet.partition_file else ()
        if not faults and not subnet.partitions:
            message = f"the file has no partition{_REJECTED}"
            yield Defect(subnet.place(file), message, "add Default=0x7fff, ipoib : ALL=limited, SELF=full ;")
        for fault in faults:
            message = f"{fault.message}{_REJECTED}"
            yield Defect(subnet.place(file, fault.word), message, "correct the line: until then the file has no effect")


@rule("FG820", Severity.ERROR, "A partition member is not a port of the subnet")
def unknown_member(fabric: Fabric) -> Iterator[Defect]:
    """What: Every GUID in partitions.conf is the GUID of an adapter port of the subnet.

    Why: OpenSM silently ignores unknown GUIDs and node GUIDs. The port then does not have the P_Key of its tenant, and
    has no connectivity.

    Example: 0x02fab00200000000=full, but this is the node GUID of dgx-000 rail0.

    Fix: Write the GUID of the port, as `ibstat` shows it.

    Source: opensm 3.3.23, osm_prtn_config.c; measured with opensm 3.3.23.
    """
    for subnet, file in with_partitions(fabric):
        for partition in subnet.partitions if subnet.ports else ():
            for member in partition.members:
                guid = guid_of(member)
                if guid is None or guid in (subnet.ports or {}):
                    continue
                message, hint = _unknown_guid(subnet, guid)
                yield Defect(subnet.place(file, member.name), f"{partition.name}: {message}", hint)


def _unknown_guid(subnet: ManagedSubnet, guid: int) -> tuple[str, str]:
    ports = subnet.ports_of_nodes.get(guid, ())
    if ports and subnet.ports:
        names = ", ".join(f"{guid_text(port)} ({subnet.ports[port]})" for port in ports if port in subnet.ports)
        return f"{guid_text(guid)} is a node GUID, and OpenSM ignores it", f"write the port GUID, {names}"
    if guid in (subnet.switches or {}):
        return f"{guid_text(guid)} is a switch, expected an adapter port", "write GUIDs of adapter ports"
    return f"no port of the subnet has {guid_text(guid)}, and OpenSM ignores it", "correct or remove the GUID"


@rule("FG821", Severity.ERROR, "A P_Key is used twice, or OpenSM selects it")
def clashing_keys(fabric: Fabric) -> Iterator[Defect]:
    """What: Each partition has a P_Key (optional for Default). The low 15 bits of all P_Keys are different and not 0.
    Several definitions of one name can have the same key: they are one partition.

    Why: The top bit is the membership. 0x8001 and 0x0001 are the same partition, and two tenants share it. For 0, for
    0x8000 and without a key OpenSM uses a free key, first 0x8001, which can be the key of a later tenant.

    Example: blue=0x8001 and green=0x0001.

    Fix: Use each key from 0x8001 to 0xfffe once.

    Source: opensm 3.3.23, osm_prtn_make_new and osm_prtn_config.c; measured with opensm 3.3.23.
    """
    for subnet, file in with_partitions(fabric):
        first: dict[int, PartitionEntry] = {}
        for partition in subnet.partitions:
            key = key_of(partition)
            place = subnet.place(file, partition.key or partition.name, partition.name.text)
            if not key:
                text = f"the P_Key {partition.key}" if partition.key else "no P_Key"
                message = f"{partition.name} has {text}: OpenSM selects a key, possibly that of another tenant"
                if key is None:
                    message = f"{partition.name} has {text}, which is not a number"
                yield Defect(place, message, "use a key from 0x8001 to 0xfffe")
            elif (other := first.setdefault(key, partition)).name.text != partition.name.text:
                there = subnet.place(file, other.key or other.name, other.name.text)
                message = f"{partition.name} and {other.name} have the same P_Key 0x{key:04x}: OpenSM merges them"
                related = ((f"P_Key of {other.name}", there),)
                yield Defect(place, message, "use a unique P_Key for each partition", related)


@rule("FG825", Severity.WARNING, "OpenSM misreads a word of a partition")
def misread_word(fabric: Fabric) -> Iterator[Defect]:
    """What: Flags are ipoib, indx0, mtu, rate, sl, scope, Q_Key, TClass, FlowLabel and defmember, each once and with a
    number in its range; memberships are full, limited and both; groups are ALL, ALL_CAS, ALL_SWITCHES, ALL_ROUTERS,
    SELF and NONE. Each member is listed once. A line with mgid has a multicast address and its flags, and no members.
    All definitions of a partition have the same sl, and the last one has a `;`. With `both` allow_both_pkeys must be
    TRUE; otherwise it is an error.

    Why: OpenSM reads a word as the first known word with the same beginning. It makes an unknown membership limited and
    ignores an unknown flag, and logs this only at level VERBOSE. Without allow_both_pkeys it reads `both` as full. The
    SL of a partition is that of its last definition, which is 0 without sl.

    Example: blue=0x8001, ipiob : 0x02fab00200000001=member ;

    Fix: Write the complete word.

    Source: opensm 3.3.23, partition_add_flag and partition_add_port; measured with opensm 3.3.23.
    """
    for subnet, file in with_partitions(fabric):
        if (last := subnet.partition_file and subnet.partition_file.unfinished) and subnet.partitions:
            message = f"the partition {last.name} has no `;`: a definition that is added to the file becomes part of it"
            yield Defect(subnet.place(file, last.name), message, "end the definition with ;")
        first: dict[int, PartitionEntry] = {}
        for partition in subnet.partitions:
            yield from _flags(subnet, file, partition)
            before_it = first.setdefault(key_of(partition) or 0, partition)
            if (number_of(partition, "sl") or 0) != (number_of(before_it, "sl") or 0):
                message = f"{partition.name}: this definition has another sl than the first one, and OpenSM uses it"
                yield Defect(subnet.place(file, partition.name), message, "write the same sl in all definitions")
            seen: dict[str, Entry] = {}
            for member in partition.members:
                known = expanded(member.name.text, GROUPS)
                if known and known != member.name.text:
                    message = f"{partition.name}: OpenSM reads {member.name} as {known}"
                    yield Defect(subnet.place(file, member.name), message, f"write {known}")
                yield from _membership_word(subnet, file, partition, member)
                before = seen.setdefault(member.name.text.lower(), member)
                if before is not member:
                    is_equal = membership_of(partition, before) == membership_of(partition, member)
                    how = "more than once" if is_equal else "with two memberships"
                    message = f"{partition.name}: {member.name} is listed {how}"
                    yield Defect(subnet.place(file, member.name), message, "list each member once")


_LAST = {"scope": 0xF, "Q_Key": 0xFFFFFFFF, "TClass": 0xFF, "FlowLabel": 0xFFFFF}  # FG824 checks the others


def _flags(subnet: ManagedSubnet, file: str, partition: PartitionEntry) -> Iterator[Defect]:
    counts = Counter(flag.name.text for flag in partition.flags)
    for flag in partition.flags:
        name = flag.name.text
        known = expanded(name, FLAGS)
        if name not in FLAGS:
            effect = f"reads the flag {name} as {known}" if known not in (None, "indx0") else f"ignores the flag {name}"
            message, hint = f"{partition.name}: OpenSM {effect}", "write the complete name of the flag"
            yield Defect(subnet.place(file, flag.name), message, hint)
        elif name == "defmember":
            yield from _membership_word(subnet, file, partition, flag)
        yield from _out_of_range(subnet, file, partition, flag)
        if counts[name] > 1 and name != "scope" and flag is not partition.flag(name):
            message = f"{partition.name}: a later flag {name} overrides this flag"
            yield Defect(subnet.place(file, flag.name), message, "remove one of the flags")
    for flag in partition.group_flags:
        name, text = flag.name.text, flag.value.text if flag.value else ""
        if name == MULTICAST_GROUP and not _is_multicast(text):
            message = f"{partition.name}: {text or name} is not a multicast address, and OpenSM makes no group"
            yield Defect(subnet.place(file, flag.name), message, "write an address that begins with ff")
        elif name not in (MULTICAST_GROUP, *GROUP_FLAGS):
            message = f"{partition.name}: OpenSM ignores {name} in the line of a multicast group"
            yield Defect(subnet.place(file, flag.name), message, "write members on another line")
        yield from _out_of_range(subnet, file, partition, flag)


def _out_of_range(subnet: ManagedSubnet, file: str, partition: PartitionEntry, flag: Entry) -> Iterator[Defect]:
    last, text = _LAST.get(flag.name.text), flag.value.text if flag.value else ""
    number = c_number(text)
    if last is not None and (number is None or not 0 <= number <= last):
        message = (
            f"{partition.name}: {flag.name}={text} is outside 0 to {last:#x}, and OpenSM does not use it as written"
        )
        yield Defect(subnet.place(file, flag.value or flag.name), message, "correct the number, or remove the flag")


def _is_multicast(text: str) -> bool:
    try:
        return IPv6Address(text).is_multicast
    except AddressValueError:
        return False


def _membership_word(subnet: ManagedSubnet, file: str, partition: PartitionEntry, entry: Entry) -> Iterator[Defect]:
    if entry.value is None:
        return
    text = entry.value.text
    known = expanded(text, MemberKind) if text else MemberKind.FULL
    if text not in tuple(MemberKind):
        message = f"{partition.name}: OpenSM reads the membership {text!r} as {known or 'limited'}"
        hint = f"write one of {', '.join(MemberKind)}"
        yield Defect(subnet.place(file, entry.value, entry.name.text), message, hint)
    if known == MemberKind.BOTH and not all(manager.content.is_true("allow_both_pkeys") for manager in subnet.managers):
        message = f"{partition.name}: OpenSM reads `both` as full, because allow_both_pkeys is not TRUE"
        hint = "set allow_both_pkeys to TRUE in opensm.conf"
        yield Defect(subnet.place(file, entry.value, entry.name.text), message, hint, severity=Severity.ERROR)


@rule("FG826", Severity.ERROR, "A port has more P_Keys than its table can hold")
def full_tables(fabric: Fabric) -> Iterator[Defect]:
    """What: An adapter port is in at most 128 partitions, where `both` counts twice. Switches in more than 8 partitions
    are a warning: 8 is the limit in ibsim; the limit of hardware is in its data sheet.

    Why: OpenSM logs ERR 0512 and does not program the remaining keys: some tenants of the port have no connectivity.

    Example: 140 partitions have the member ALL.

    Fix: Use fewer partitions for the port. Use ALL_CAS instead of ALL, so that switches are only in Default.

    Source: opensm 3.3.23, osm_pkey_mgr.c; measured: 140 partitions of ALL.
    """
    for subnet, file in with_partitions(fabric):
        everywhere = switches = 0
        keys: Counter[int] = Counter()
        last: dict[int, Entry] = {}
        for partition in subnet.partitions:
            words = {expanded(member.name.text, GROUPS) for member in partition.members}
            switches += bool(words & {"ALL", "ALL_SWITCHES"})
            if words & set(ALL_ADAPTERS):
                both = any(
                    membership_of(partition, one) == MemberKind.BOTH for one in partition.members if not guid_of(one)
                )
                everywhere += 1 + both
            own = {guid: one for one in partition.members if (guid := guid_of(one))}
            for guid, member in own.items() if not words & set(ALL_ADAPTERS) else ():
                keys[guid] += 1 + (membership_of(partition, member) == MemberKind.BOTH)
                last[guid] = member
        most, count = max(((guid, number) for guid, number in keys.items()), key=lambda one: one[1], default=(0, 0))
        if everywhere + count > _ADAPTER_KEYS:
            place = subnet.place(file, last[most].name) if most else subnet.place(file)
            name = (subnet.ports or {}).get(most) or "every adapter port"
            message = f"{name} needs {everywhere + count} P_Keys, but its table holds {_ADAPTER_KEYS}"
            yield Defect(place, message, "use fewer partitions on one port")
        if switches > _SWITCH_KEYS:
            message = f"switches need {switches} P_Keys, but the table of a switch can be limited to {_SWITCH_KEYS}"
            yield Defect(subnet.place(file), message, "use ALL_CAS instead of ALL", severity=Severity.WARNING)
