"""partitions.conf by OpenSM's grammar, with the place of every word.

    Name[=PKEY][,flag[=value]]… : member[=membership], … ;

OpenSM ignores the whole file after one of these mistakes: a definition without a colon on the same line, a member that
is neither a GUID with 0x nor a known word, a line that is longer than its buffer, a `;` that begins its line or follows
another one, a carriage return (blanks are spaces and tabs only). Without a `;`, two partitions become one. Words can be
abbreviated: OpenSM accepts any prefix of a known word.

A partition can have several definitions with one key: each adds members, and of one port the last membership counts.
A definition without a key is that of an earlier partition of its name, else OpenSM makes up a key.

Source: opensm 3.3.23, opensm/osm_prtn_config.c, osm_prtn.c and doc/partition-config.txt.
"""

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fabricgen.c_numbers import c_number
from fabricgen.opensm.located_text import LocatedWord, lines_of
from fabricgen.opensm.options import MAX_PARTITION_LINE_BYTES

Known = TypeVar("Known", bound=str)

GROUPS = ("ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF", "NONE")
# In the order of comparison. A multicast group (mgid) has the first seven, too.
FLAGS = ("mtu", "rate", "scope", "Q_Key", "TClass", "sl", "FlowLabel", "ipoib", "defmember", "indx0")
GROUP_FLAGS = FLAGS[:7]
MULTICAST_GROUP = "mgid"  # the rest of its line are flags of the group
_NO_BLANKS = "\r\v\f"  # of C, but not of this file


class MemberKind(enum.StrEnum):
    """What a member of a partition may talk to: all members, full members only, or as both."""

    FULL = "full"
    LIMITED = "limited"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Entry:
    """A flag or a member: a word, and its value after `=`."""

    name: LocatedWord
    value: LocatedWord | None


@dataclass
class PartitionEntry:
    """One definition of a partition. `key` is None if it has no P_Key, `earlier` then is the first definition of its
    name. `group_flags` are each mgid and what follows it in its line."""

    name: LocatedWord
    key: LocatedWord | None
    flags: list[Entry] = field(default_factory=list)
    members: list[Entry] = field(default_factory=list)
    group_flags: list[Entry] = field(default_factory=list)
    earlier: "PartitionEntry | None" = None

    def flag(self, name: str) -> Entry | None:
        """The last flag of that name."""
        return next((one for one in reversed(self.flags) if one.name.text == name), None)

    def has(self, name: str) -> bool:
        """Whether it has a flag."""
        return self.flag(name) is not None


@dataclass(frozen=True)
class PartitionFault:
    """A mistake that makes OpenSM ignore the file, or read two partitions as one."""

    word: LocatedWord
    message: str


@dataclass(frozen=True)
class PartitionFile:
    """The partitions of a file and its syntax errors. `unfinished` is a last definition without `;`."""

    partitions: tuple[PartitionEntry, ...]
    faults: tuple[PartitionFault, ...]
    unfinished: PartitionEntry | None = None


def read_partitions(text: str) -> PartitionFile:
    """The content of a partitions.conf."""
    partitions: list[PartitionEntry] = []
    faults = [
        PartitionFault(
            LocatedWord("", number, 1),
            f"a line of {len(line.encode())} bytes: OpenSM cuts it at {MAX_PARTITION_LINE_BYTES}",
        )
        for number, line in enumerate(text.split("\n"), 1)
        if len(line.encode()) > MAX_PARTITION_LINE_BYTES
    ]
    faults += [
        PartitionFault(line, "a carriage return or form feed, which OpenSM does not read as a blank")
        for line in (LocatedWord(line, number, 1) for number, line in enumerate(text.split("\n"), 1))
        if any(sign in line.text.partition("#")[0] for sign in _NO_BLANKS)
    ]
    current: PartitionEntry | None = None
    for line in lines_of(text):
        *statements, rest = line.split(";")
        for part, ends in [*((one, True) for one in statements), (rest, False)]:
            if ends and not part.text:
                faults.append(PartitionFault(part, "a `;` that begins its line or follows another one"))
            if part.text and current is None:
                head, colon, _ = part.text.partition(":")
                if not colon:
                    faults.append(
                        PartitionFault(part, f"a definition without a colon on its line: {_short(part.text)}")
                    )
                    break
                current = _defined(part.part(0, len(head)), partitions)
                partitions.append(current)
                part = part.part(len(head) + 1, len(part.text))
            if part.text and current is not None:
                faults += _read_members(current, part)
            if ends:
                current = None
    return PartitionFile(tuple(partitions), tuple(faults), current)


def _defined(head: LocatedWord, earlier: Iterable[PartitionEntry]) -> PartitionEntry:
    first, *flags = [_entry(one) for one in head.split(",")]
    if first.value is None and first.name.text[:1].isdecimal():
        return PartitionEntry(first.name, first.name, flags)
    known = next((one for one in earlier if one.name.text == first.name.text), None)
    return PartitionEntry(first.name, first.value, flags, earlier=None if first.value else known)


def _entry(word: LocatedWord) -> Entry:
    name, equals, _ = word.text.partition("=")
    return Entry(word.part(0, len(name)), word.part(len(name) + 1, len(word.text)) if equals else None)


def _read_members(partition: PartitionEntry, line: LocatedWord) -> Sequence[PartitionFault]:
    faults = []
    words = [word for word in line.split(",") if _entry(word).name.text]
    entries = [_entry(word) for word in words]
    for place, (word, entry) in enumerate(zip(words, entries, strict=True)):
        if entry.name.text == MULTICAST_GROUP:
            partition.group_flags += entries[place:]
            break
        if not expanded(entry.name.text, GROUPS) and not c_number(entry.name.text):
            message = f"{_short(word.text)} is neither a GUID with 0x nor a word of OpenSM"
            faults.append(PartitionFault(entry.name, message))
        partition.members.append(entry)
    return faults


def expanded(text: str, words: Iterable[Known]) -> Known | None:
    """The first known word that begins with the text, as OpenSM compares words."""
    return next((word for word in words if text and word.startswith(text)), None)


def guid_of(entry: Entry) -> int | None:
    """The GUID of a member; None for a word."""
    return None if expanded(entry.name.text, GROUPS) else c_number(entry.name.text)


def membership_of(partition: PartitionEntry, member: Entry) -> MemberKind:
    """The membership as OpenSM reads it."""
    usual = [one.value for one in partition.flags if one.name.text == "defmember" and one.value]
    known = [kind for word in usual if (kind := _member_kind(word.text))]
    if member.value is None:
        return known[-1] if known else MemberKind.LIMITED
    return _member_kind(member.value.text) or MemberKind.LIMITED


def _member_kind(text: str) -> MemberKind | None:
    """OpenSM compares as many letters as there are, so no letters are `full`."""
    return expanded(text, MemberKind) if text else MemberKind.FULL


def key_of(partition: PartitionEntry) -> int | None:
    """The low 15 bits of the P_Key; 0 if OpenSM generates the key, None if it is not a number."""
    if partition.key is None:
        if partition.name.text == "Default":
            return 0x7FFF
        return key_of(partition.earlier) if partition.earlier else 0
    number = c_number(partition.key.text)
    return None if number is None else number & 0x7FFF


def number_of(partition: PartitionEntry, name: str) -> int | None:
    """The number of the last flag of that name; None without one, or if it is not a number."""
    flag = partition.flag(name)
    return c_number(flag.value.text) if flag and flag.value else None


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
