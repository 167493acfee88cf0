"""partitions.conf by OpenSM's grammar, with the place of every word.

    Name[=PKEY][,flag[=value]]… : member[=membership], … ;

OpenSM ignores the whole file after one of these mistakes: a definition without a colon on the same line, a member that
is neither a GUID with 0x nor a known word, a line that is longer than its buffer. Without a `;`, two partitions become
one. Words can be abbreviated: OpenSM accepts any prefix of a known word.

Source: opensm 3.3.23, opensm/osm_prtn_config.c and doc/partition-config.txt.
"""

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from fabricgen.opensm.located_text import LocatedWord, lines_of
from fabricgen.opensm.options import MAX_PARTITION_LINE_BYTES

Known = TypeVar("Known", bound=str)

GROUPS = ("ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF", "NONE")
FLAGS = ("indx0", "ipoib", "mtu", "rate", "scope", "Q_Key", "TClass", "sl", "FlowLabel", "defmember", "mgid")


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
    """One partition. `key` is None if it has no P_Key."""

    name: LocatedWord
    key: LocatedWord | None
    flags: list[Entry] = field(default_factory=list)
    members: list[Entry] = field(default_factory=list)

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
    """The partitions of a file and its syntax errors."""

    partitions: tuple[PartitionEntry, ...]
    faults: tuple[PartitionFault, ...]


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
    current: PartitionEntry | None = None
    for line in lines_of(text):
        *statements, rest = line.split(";")
        for part, ends in [*((one, True) for one in statements), (rest, False)]:
            if part.text and current is None:
                head, colon, _ = part.text.partition(":")
                if not colon:
                    faults.append(
                        PartitionFault(part, f"a definition without a colon on its line: {_short(part.text)}")
                    )
                    break
                current = _defined(part.part(0, len(head)))
                partitions.append(current)
                part = part.part(len(head) + 1, len(part.text))
            if part.text and current is not None:
                faults += _read_members(current, part)
            if ends:
                current = None
    if current is not None:
        faults.append(PartitionFault(current.name, f"the partition {current.name} has no `;` at the end"))
    return PartitionFile(tuple(partitions), tuple(faults))


def _defined(head: LocatedWord) -> PartitionEntry:
    first, *flags = [_entry(one) for one in head.split(",")]
    return PartitionEntry(first.name, first.value, flags)


def _entry(word: LocatedWord) -> Entry:
    name, equals, _ = word.text.partition("=")
    return Entry(word.part(0, len(name)), word.part(len(name) + 1, len(word.text)) if equals else None)


def _read_members(partition: PartitionEntry, line: LocatedWord) -> Sequence[PartitionFault]:
    faults = []
    if line.text.startswith("mgid"):
        return ()
    for word in line.split(","):
        if not word.text:
            continue
        entry = _entry(word)
        if not expanded(entry.name.text, GROUPS) and _number(entry.name.text) is None:
            faults.append(
                PartitionFault(entry.name, f"{_short(word.text)} is neither a GUID with 0x nor a word of OpenSM")
            )
        partition.members.append(entry)
    return faults


def expanded(text: str, words: Iterable[Known]) -> Known | None:
    """The first known word that begins with the text, as OpenSM compares words."""
    return next((word for word in words if text and word.startswith(text)), None)


def guid_of(entry: Entry) -> int | None:
    """The GUID of a member; None for a word."""
    return None if expanded(entry.name.text, GROUPS) else _number(entry.name.text)


def key_of(partition: PartitionEntry) -> int | None:
    """The low 15 bits of the P_Key; 0 if OpenSM generates the key, None if it is not a number."""
    if partition.key is None:
        return 0x7FFF if partition.name.text == "Default" else 0
    number = _number(partition.key.text, with_zero=True)
    return None if number is None else number & 0x7FFF


def _number(text: str, *, with_zero: bool = False) -> int | None:
    """The text as strtoull reads it; None if it is not a number, or 0 without `with_zero`."""
    base = 16 if text[:2].lower() == "0x" else 8 if text[:1] == "0" else 10
    try:
        number = int(text, base)
    except ValueError:
        return None
    return number if number or with_zero else None


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
