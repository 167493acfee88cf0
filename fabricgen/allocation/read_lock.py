"""allocations.lock.yaml read back, with the line of each entry and the comments of people."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import yaml
from netaddr import AddrFormatError, IPNetwork, valid_ipv4, valid_ipv6

from fabricgen.allocation.lock import HEADER, NUMBERS, SECTIONS, VERSION, EntryKey, Lock
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import LOCK_BYTES, read_text
from fabricgen.inventory.values import NAME
from fabricgen.plain_yaml import load_yaml_node

_POINT_TO_POINT = 2  # addresses of the subnet of a link
_HEAD = ("version", "fabric")
_EXPECTED = {
    "names": "a name of letters, digits, - _ .",
    "units": "a list of numbers",
    "loopbacks": "a list of addresses, one of each family",
    "management": "a list of addresses with prefix length, one of each family",
    "blocks": "a list of prefixes, one of each family",
}


def read_lock(file: Path) -> Lock | None:
    """The lock in a file; None if there is no file. Raises UnreadableInputError with the line of a damaged entry."""
    return _lock(read_text(file, LOCK_BYTES), file) if file.exists() else None


@lru_cache(maxsize=4)  # an editor judges each edit of an inventory with the same lock file
def _lock(text: str, file: Path) -> Lock:
    root, raw = load_yaml_node(text, str(file))
    version = raw.get("version") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or version != VERSION:
        problem = f"lock version {version!r}; this fabricgen reads version {VERSION}"
        raise UnreadableInputError(problem, Location(str(file), 1, 1))
    reader = _Reader(str(file), text)
    sections = reader.sections(root, raw)
    return Lock(fabric=str(raw.get("fabric", "")), **sections, lines=reader.lines, remarks=reader.remarks())


class _Reader:
    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.lines: dict[EntryKey, int] = {}
        self._ends: dict[EntryKey, tuple[int, int]] = {}  # line index and column behind the value

    def sections(self, root: yaml.Node, raw: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """section -> key -> value, each checked."""
        found = {}
        for name, node in self._members(root):
            if name in _HEAD:
                continue
            if name not in SECTIONS:
                self._refuse(node, f"unknown section {name!r}; the sections are {', '.join(SECTIONS)}")
            self.lines[name, ""] = node[0].start_mark.line + 1
            section = raw[name] or {}
            if not isinstance(section, dict):
                self._refuse(node, f"section {name!r} is not a mapping")
            for key, entry in self._members(node[1]) if section else ():
                value = section.get(key)
                if not _is_entry(name, value):
                    expected = _EXPECTED.get(name, "a whole number from 0")
                    self._refuse(entry, f"{name}: entry {key!r} is {_shown(value)}, expected {expected}")
                self.lines[name, key] = entry[0].start_mark.line + 1
                self._ends[name, key] = entry[1].end_mark.line, entry[1].end_mark.column
            found[name] = section
        return found

    def remarks(self) -> dict[EntryKey, tuple[list[str], str]]:
        """Entry -> the comment lines above it, and the comment behind it; ("", "") for those at the end of the file."""
        if "#" not in self.text.replace(HEADER, "", 1):
            return {}
        lines = self.text.split("\n")
        own = set(HEADER.split("\n"))
        at = {line - 1: key for key, line in self.lines.items()}
        found: dict[EntryKey, tuple[list[str], str]] = {}
        above: list[str] = []
        for index, line in enumerate(lines):
            if line.lstrip().startswith("#"):
                above += [line.strip()] * (line not in own)
            elif index in at:
                key = at[index]
                end, column = self._ends.get(key, (index, line.find(" #") if " #" in line else len(line)))
                behind = lines[end][column:].strip()
                if above or behind.startswith("#"):
                    found[key] = above, behind if behind.startswith("#") else ""
                above = []
        return found | ({("", ""): (above, "")} if above else {})

    def _members(self, node: yaml.Node) -> list[tuple[str, tuple[yaml.Node, yaml.Node]]]:
        """(key, nodes of key and value). Raises UnreadableInputError for a key that occurs twice."""
        assert isinstance(node, yaml.MappingNode)
        first: dict[str, int] = {}
        members: list[tuple[str, tuple[yaml.Node, yaml.Node]]] = []
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
                self._refuse((key, value), "a key that is not text; write it in quotes")
            if key.value in first:
                self._refuse((key, value), f"{key.value!r} occurs twice; the first is in line {first[key.value]}")
            first[key.value] = key.start_mark.line + 1
            members.append((key.value, (key, value)))
        return members

    def _refuse(self, node: Sequence[yaml.Node], problem: str) -> NoReturn:
        mark = node[0].start_mark
        raise UnreadableInputError(problem, Location(self.file, mark.line + 1, mark.column + 1))


def _is_entry(section: str, value: object) -> bool:
    if section == "names":
        return isinstance(value, str) and NAME.fullmatch(value) is not None
    if section in NUMBERS:
        return type(value) is int and value >= 0
    if section == "units":
        return isinstance(value, list) and all(type(item) is int and 0 <= item < 1 << 20 for item in value)
    if not isinstance(value, list) or not all(isinstance(item, str) and _is_address(section, item) for item in value):
        return False
    versions = [IPNetwork(item).version for item in value]
    return len(set(versions)) == len(versions)


def _is_address(section: str, text: str) -> bool:
    found = re.fullmatch(r"[0-9a-fA-F.:]+(/[0-9]{1,3})?", text)
    if found is None or (found[1] is None) != (section == "loopbacks"):
        return False
    if section == "loopbacks":
        return valid_ipv4(text) or valid_ipv6(text)
    try:
        network = IPNetwork(text)
    except AddrFormatError:
        return False
    is_link = network.size == _POINT_TO_POINT  # a link: the address of its lower end
    return section == "management" or is_link or network.ip == network.network


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
