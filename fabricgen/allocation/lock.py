"""allocations.lock.yaml: the names and numbers of each identity, committed beside the inventory.

Each entry is one line, so growth shows as added lines. Entries of removed identities stay: their numbers are not given
to others, and an identity that returns has them again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from netaddr import AddrFormatError, IPNetwork, valid_ipv4, valid_ipv6

from fabricgen.atomic import write_atomically
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.sonic.canonical import natural_key

VERSION = 1
SECTIONS = ("units", "names", "asns", "loopbacks", "management", "blocks", "subnets", "guids")
_NUMBERS = ("asns", "subnets", "guids")
_OPTIONAL = ("subnets", "guids")  # only InfiniBand planes have them
_RESOLVER: Any = yaml.resolver.Resolver()
_HEADER = """\
# What every switch was given, by identity. Written by `fabricgen render`; commit it beside the inventory.
# Lines may be edited to keep numbers from elsewhere; deleting one gives its numbers back.
"""


@dataclass
class Lock:
    """The sections of the lock file: identity or key of a block -> its names and numbers."""

    fabric: str
    units: dict[str, list[int]] = field(default_factory=dict)  # plane/group of hosts -> its scalable units
    names: dict[str, str] = field(default_factory=dict)
    asns: dict[str, int] = field(default_factory=dict)
    loopbacks: dict[str, list[str]] = field(default_factory=dict)  # addresses, one of each family
    management: dict[str, list[str]] = field(default_factory=dict)  # addresses with prefix length
    blocks: dict[str, list[str]] = field(default_factory=dict)  # prefixes, one of each family
    subnets: dict[str, int] = field(default_factory=dict)  # InfiniBand subnet -> the number in its prefix
    guids: dict[str, int] = field(default_factory=dict)  # switch -> number of its placeholder; host -> of its first NIC

    def dump(self) -> str:
        """The text of the file."""
        lines = [_HEADER + f"version: {VERSION}\nfabric: {_scalar(self.fabric)}"]
        for section in SECTIONS:
            entries: Mapping[str, object] = getattr(self, section)
            if not entries and section in _OPTIONAL:
                continue
            lines.append(f"{section}:" if entries else f"{section}: {{}}")
            for key in sorted(entries, key=natural_key):
                value = entries[key]
                text = f"[{', '.join(map(_scalar, value))}]" if isinstance(value, list) else _scalar(value)
                lines.append(f"  {key}: {text}")
        return "\n".join(lines) + "\n"

    def entries(self) -> int:
        """The number of entries in all sections."""
        return sum(len(getattr(self, section)) for section in SECTIONS)


def _scalar(value: object) -> str:
    """A text or number as YAML. A text that YAML reads as another type, such as 'on' or '12', is quoted."""
    text = str(value)
    is_text = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)).endswith(":str") and text.strip(":") == text
    return text if is_text or isinstance(value, int) else f'"{text}"'


def read_lock(file: Path) -> Lock | None:
    """The lock in a file; None if there is no file. Raises UnreadableInputError for a damaged file."""
    if not file.exists():
        return None
    try:
        raw = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = Location(str(file), mark.line + 1, mark.column + 1) if mark else Location(str(file))
        raise UnreadableInputError("not a lock file: the text is not YAML", place) from error
    if not isinstance(raw, dict) or raw.get("version") != VERSION:
        version = raw.get("version") if isinstance(raw, dict) else None
        problem = f"lock version {version!r}; this fabricgen reads version {VERSION}"
        raise UnreadableInputError(problem, Location(str(file), 1, 1))
    sections = {section: raw.get(section) or {} for section in SECTIONS}
    for section, entries in sections.items():
        if not isinstance(entries, dict):
            raise UnreadableInputError(f"section {section!r} is not a mapping", Location(str(file), 1, 1))
        wrong = [key for key, value in entries.items() if not _is_entry(section, value)]
        if wrong:
            problem = f"section {section!r}: entry {wrong[0]!r} is damaged; restore it from git"
            raise UnreadableInputError(problem, Location(str(file), 1, 1))
    return Lock(fabric=str(raw.get("fabric", "")), **sections)


def _is_entry(section: str, value: object) -> bool:
    if section == "names":
        return isinstance(value, str)
    if section in _NUMBERS:
        return type(value) is int and value >= 0
    if section == "units":
        return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
    return isinstance(value, list) and all(isinstance(item, str) and _is_address(section, item) for item in value)


def _is_address(section: str, text: str) -> bool:
    if section == "loopbacks":
        return valid_ipv4(text) or valid_ipv6(text)
    try:
        network = IPNetwork(text)
    except AddrFormatError:
        return False
    return section == "management" or network.ip == network.network


def write_lock(file: Path, lock: Lock) -> None:
    """Replace the file atomically."""
    write_atomically(file, lock.dump().encode())
