"""allocations.lock.yaml: the names and numbers of each identity, committed beside the inventory.

Each entry is one line, so growth shows as added lines. Entries of removed identities stay: their numbers are not given
to others, and an identity that returns has them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from fabricgen.atomic import write_atomically
from fabricgen.sonic.canonical import natural_key

VERSION = 1
SECTIONS = ("units", "names", "asns", "loopbacks", "management", "blocks", "subnets", "guids")
NUMBERS = ("asns", "subnets", "guids")
RENUMBERED = tuple(section for section in SECTIONS if section not in ("units", "names"))
_OPTIONAL = ("subnets", "guids")  # only InfiniBand planes have them
_RESOLVER: Any = yaml.resolver.Resolver()
HEADER = """\
# What every switch was given, by identity. Written by `fabricgen render`; commit it beside the inventory.
# Lines may be edited to keep numbers from elsewhere; deleting one gives its numbers back.
"""
EntryKey = tuple[str, str]  # section, key; the key of a section itself is ""


@dataclass
class Lock:
    """The sections of the lock file: identity or key of a block -> its names and numbers."""

    fabric: str
    units: dict[str, list[int]] = field(default_factory=dict)  # plane/group of hosts -> its scalable units
    names: dict[str, str] = field(default_factory=dict)
    asns: dict[str, int] = field(default_factory=dict)
    loopbacks: dict[str, list[str]] = field(default_factory=dict)  # addresses, one of each family
    management: dict[str, list[str]] = field(default_factory=dict)  # addresses with prefix length
    blocks: dict[str, list[str]] = field(default_factory=dict)  # prefixes, one of each family; by block or link
    subnets: dict[str, int] = field(default_factory=dict)  # InfiniBand subnet -> the number in its prefix
    guids: dict[str, int] = field(default_factory=dict)  # switch -> number of its placeholder; host -> of its first NIC
    lines: dict[EntryKey, int] = field(default_factory=dict, compare=False, repr=False)  # in the file that was read
    remarks: dict[EntryKey, tuple[list[str], str]] = field(default_factory=dict, compare=False, repr=False)

    def dump(self) -> str:
        """The text of the file."""
        lines = [HEADER + f"version: {VERSION}\nfabric: {_scalar(self.fabric)}"]
        for section in SECTIONS:
            entries: Mapping[str, object] = getattr(self, section)
            if not entries and section in _OPTIONAL:
                continue
            lines += self._line(section, "", f"{section}:" if entries else f"{section}: {{}}")
            for key in sorted(entries, key=natural_key):
                value = entries[key]
                text = f"[{', '.join(map(_scalar, value))}]" if isinstance(value, list) else _scalar(value)
                lines += self._line(section, key, f"  {key}: {text}")
        lines += self.remarks.get(("", ""), ([], ""))[0]
        return "\n".join(lines) + "\n"

    def _line(self, section: str, key: str, line: str) -> list[str]:
        """The line of an entry, with the comments of people above and behind it."""
        above, behind = self.remarks.get((section, key), ([], ""))
        indent = "  " if key else ""
        return [*(indent + comment for comment in above), f"{line}  {behind}" if behind else line]

    def without(self, plane: str) -> "Lock":
        """The lock without the numbers of a plane. Names and units stay."""
        kept: dict[str, Any] = {
            section: {key: value for key, value in getattr(self, section).items() if not key.startswith(f"{plane}/")}
            for section in RENUMBERED
        }
        return replace(self, **kept)

    def entries(self) -> int:
        """The number of entries in all sections."""
        return sum(len(getattr(self, section)) for section in SECTIONS)


def _scalar(value: object) -> str:
    """A text or number as YAML. A text that YAML reads as another type, such as 'on' or '12', is quoted."""
    text = str(value)
    is_text = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)).endswith(":str") and text.strip(":") == text
    return text if is_text or isinstance(value, int) else f'"{text}"'


def write_lock(file: Path, lock: Lock) -> None:
    """Replace the file atomically."""
    write_atomically(file, lock.dump().encode())
