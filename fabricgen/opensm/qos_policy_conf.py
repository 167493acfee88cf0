"""qos-policy.conf by sections, with places. OpenSM ignores the whole policy after one mistake.

OpenSM looks for its words everywhere in a line: a level cannot be called qos-level-1, because the name begins with the
word of a section. Only the text of `use` is free. Names are the same in upper and lower case.

Source: opensm 3.3.23, doc/QoS_management_in_OpenSM.txt, opensm/osm_qos_parser_l.l and osm_qos_parser_y.y;
tests/simulate/opensm/test_readers.py compares the verdicts with the real OpenSM.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fabricgen.c_numbers import c_number
from fabricgen.opensm.located_text import LocatedWord, lines_of
from fabricgen.opensm.options import LAST_SL, MTU_CODES, RATE_CODES
from fabricgen.opensm.partitions_conf import PartitionFault

DEFAULT_LEVEL = "default"  # in lower case
_INSIDE = {
    "port-groups": ("port-group",), "qos-setup": ("vlarb-tables", "sl2vl-tables"), "qos-levels": ("qos-level",),
    "qos-match-rules": ("qos-match-rule",), "qos-ulps": (),
    "vlarb-tables": ("vlarb-scope",), "sl2vl-tables": ("sl2vl-scope",),
}  # fmt: skip
_BLOCKS = ("port-group", "qos-level", "qos-match-rule", "vlarb-scope", "sl2vl-scope")
_NOT_EMPTY = ("port-groups", "qos-ulps")
_KEYS = {
    "port-group": ("name", "use", "port-guid", "port-name", "pkey", "partition", "node-type"),
    "qos-level": ("name", "use", "sl", "mtu-limit", "rate-limit", "packet-life", "path-bits", "pkey"),
    "qos-match-rule": ("use", "source", "destination", "qos-class", "qos-level-name", "service-id", "pkey"),
    "vlarb-scope": ("group", "across", "vlarb-high", "vlarb-low", "vl-high-limit"),
    "sl2vl-scope": ("group", "across", "across-from", "across-to", "from", "to", "sl2vl-table"),
}  # fmt: skip
_REPEATABLE = (
    "port-guid", "port-name", "pkey", "partition", "node-type", "path-bits", "source", "destination", "qos-class",
    "service-id", "group", "across", "across-from", "across-to", "from", "to", "vlarb-high", "vlarb-low",
    "vl-high-limit",
)  # fmt: skip
_NEEDED = {  # block -> keys of which it needs one each
    "port-group": (("name",),), "qos-level": (("name",), ("sl",)), "qos-match-rule": (("qos-level-name",),),
    "vlarb-scope": (("group", "across"),),
    "sl2vl-scope": (("sl2vl-table",), ("group", "across", "across-from", "across-to")),
}  # fmt: skip
_NARROWER = ("source", "destination", "qos-class", "service-id")
_FIRST_RATE, _LAST_RATE = min(RATE_CODES.values()), max(RATE_CODES.values())
_RANGES = {"sl": (0, LAST_SL), "mtu-limit": (1, max(MTU_CODES.values())), "rate-limit": (_FIRST_RATE, _LAST_RATE)}
_KEY_BITS = 0x7FFF
_LAST_PORT = 0xFFFF

_NUMBER = r"(?:0[xX][0-9a-fA-F]+|[0-9]+)"
_RANGE = rf"{_NUMBER}(?:\s*-\s*{_NUMBER})?"
_LIST = rf"{_RANGE}(?:\s*,\s*{_RANGE})*"
_PAIR = rf"{_NUMBER}\s*:\s*{_NUMBER}"
_FORMS = {
    **dict.fromkeys(("sl", "mtu-limit", "rate-limit", "packet-life", "vl-high-limit"), _NUMBER),
    **dict.fromkeys(("pkey", "path-bits", "qos-class", "service-id", "port-guid"), _LIST),
    **dict.fromkeys(("from", "to"), rf"\*|{_LIST}"),
    **dict.fromkeys(("vlarb-high", "vlarb-low"), rf"{_PAIR}(?:\s*,\s*{_PAIR})*"),
    "sl2vl-table": rf"{_NUMBER}(?:\s*,\s*{_NUMBER}){{15}}",
    "node-type": r"(?i:ca|router|switch|self|all)(?:\s*,\s*(?i:ca|router|switch|self|all))*",
    "port-name": r"[^,]+/[pP][^,0][^,]*(?:,[^,]+/[pP][^,0][^,]*)*",
    **dict.fromkeys(("name", "qos-level-name"), "[^,]+"),
}
_TEXTS = ("name", "qos-level-name", "source", "destination", "group", "across", "across-from", "across-to", "port-name")
_WORDS = sorted({word for one in (*_INSIDE, *_BLOCKS) for word in (one, f"end-{one}")}, key=len, reverse=True)
_ALL_KEYS = sorted({key for keys in _KEYS.values() for key in keys}, key=len, reverse=True)
_RESERVED = re.compile(
    rf"{'|'.join(_WORDS)}|(?:{'|'.join(_ALL_KEYS)}|(?i:default|sdp|rds|iser|ipoib))[ \t]*:",
)
_ULP = re.compile(
    rf"(?i:default|sdp|rds|iser|ipoib)|(?i:sdp|rds|iser)\s*,\s*port-num\s*({_LIST})|(?i:srp)\s*,\s*target-port-guid\s*{_LIST}"
    rf"|(?i:ipoib)\s*,\s*pkey\s*{_LIST}"
    rf"|(?i:any)\s*,\s*(?:service-id|pkey|target-port-guid|source-port-guid|source-target-port-guid)\s*{_LIST}"
)
_ULP_OF_KEY = re.compile(rf"(?i:any|ipoib)\s*,\s*pkey\s*({_LIST})")
_IPOIB = re.compile(rf"(?i:ipoib)(?:\s*,\s*pkey\s*({_LIST}))?")
_QUOTED = re.compile(r'"([^"]*)"')
_DEFAULT_KEY = "0x7fff"  # of ipoib without pkey


@dataclass(frozen=True)
class PolicyBlock:
    """A block such as port-group, qos-level or qos-match-rule: its first line, and its values by key. Of a key that
    can be repeated, `values` has the last one and `lists` has all."""

    head: LocatedWord
    values: dict[str, LocatedWord] = field(default_factory=dict)
    lists: dict[str, list[LocatedWord]] = field(default_factory=dict)

    def name(self, key: str = "name") -> str:
        """The name as OpenSM compares it: without quotes and in lower case; "" without one."""
        return _plain(self.values[key].text) if key in self.values else ""

    def names(self, key: str) -> Iterator[tuple[str, LocatedWord]]:
        """Each name in the lists of a key, and its line."""
        for value in self.lists.get(key, ()):
            yield from ((_plain(part.text), part) for part in value.split(","))

    @property
    def keys(self) -> str:
        """The P_Keys as one list; "" for none."""
        return ",".join(value.text for value in self.lists.get("pkey", ()))


@dataclass
class PolicyFile:
    """The content of a policy. `ulps` are the lines of qos-ulps: the match and the SL."""

    levels: list[PolicyBlock] = field(default_factory=list)
    rules: list[PolicyBlock] = field(default_factory=list)
    groups: list[PolicyBlock] = field(default_factory=list)
    ulps: list[tuple[LocatedWord, LocatedWord]] = field(default_factory=list)
    faults: list[PartitionFault] = field(default_factory=list)

    @property
    def ipoib_keys(self) -> Iterator[tuple[int, LocatedWord]]:
        """The low 15 bits of the P_Keys that lines of IPoIB name. OpenSM demands their partitions."""
        for match, _ in self.ulps:
            if found := _IPOIB.fullmatch(match.text):
                for low, high in _key_ranges(found[1] or _DEFAULT_KEY):
                    yield from ((key, match) for key in range(low, high + 1))


def name_problem(name: str) -> str | None:
    """Why OpenSM cannot read the name of a level; None if it can."""
    if found := _RESERVED.search(name):
        return f"OpenSM reads {found[0]!r} in it as a separate word"
    if not name or any(sign in name for sign in ',"#'):
        return "it is empty, or has a comma, a quote or a #"
    return None


def level_for(policy: PolicyFile, key: int) -> LocatedWord | None:
    """The SL in answer to a path query with this P_Key, and no more. None without a level. Rules come before the lines
    of qos-ulps, and the first match counts; rules for some ports or services only do not match every query."""
    of_name: dict[str, LocatedWord | None] = {}
    for one in policy.levels:
        of_name.setdefault(one.name(), one.values.get("sl"))
    for rule in policy.rules:
        if (not rule.keys or _has(rule.keys, key)) and not any(name in rule.values for name in _NARROWER):
            return of_name.get(rule.name("qos-level-name"))
    for match, level in policy.ulps:
        found, ipoib = _ULP_OF_KEY.fullmatch(match.text), _IPOIB.fullmatch(match.text)
        if (found and _has(found[1], key)) or (ipoib and _has(ipoib[1] or _DEFAULT_KEY, key)):
            return level
    if DEFAULT_LEVEL in of_name:
        return of_name[DEFAULT_LEVEL]
    return next((level for match, level in reversed(policy.ulps) if match.text.lower() == DEFAULT_LEVEL), None)


def _has(keys: str, key: int) -> bool:
    """Whether a list of P_Keys and ranges such as 0x8001,0x8010-0x801f contains a key."""
    return any(low <= key & _KEY_BITS <= high for low, high in _key_ranges(keys))


def _key_ranges(keys: str) -> Iterator[tuple[int, int]]:
    for part in keys.split(","):
        first, _, last = (one.strip() for one in part.partition("-"))
        low, high = c_number(first), c_number(last or first)
        if low is not None and high is not None:
            low, high = sorted((low & _KEY_BITS, high & _KEY_BITS))
            yield low, high


def read_policy(text: str) -> PolicyFile:
    """The content of a qos-policy.conf."""
    policy = PolicyFile()
    open_sections: list[LocatedWord] = []
    block = PolicyBlock(LocatedWord("", 1, 1))
    filled: set[int] = set()  # lines of the sections with content
    policy.faults += _letters(text)
    for line in lines_of(text):
        name, colon, _ = (part.strip() for part in line.text.partition(":"))
        inside = open_sections[-1].text if open_sections else ""
        if not colon and name == f"end-{inside}" and inside:
            policy.faults += _incomplete(open_sections.pop(), block, filled)
        elif not colon and name in (_INSIDE.get(inside, ()) if inside else _INSIDE):
            filled.update(one.line for one in open_sections)
            open_sections.append(line)
            block = PolicyBlock(line)
            blocks = {"qos-level": policy.levels, "qos-match-rule": policy.rules, "port-group": policy.groups}
            blocks.get(name, []).append(block)
        elif colon and inside == "qos-ulps":
            filled.update(one.line for one in open_sections)
            at = line.text.rindex(":")
            ulp = line.part(0, at), line.part(at + 1, len(line.text))
            policy.ulps.append(ulp)
            policy.faults += _ulp_faults(*ulp)
        elif colon:
            value = line.part(line.text.index(":") + 1, len(line.text))
            if fault := _fault_of(inside, line, name, value, block):
                policy.faults.append(fault)
            block.values[name] = value
            block.lists.setdefault(name, []).append(value)
        else:
            where = f"within {inside}" if inside else "outside a section"
            policy.faults.append(PartitionFault(line, f"{name!r} is not allowed {where}"))
    policy.faults += [PartitionFault(one, f"{one} has no end-{one}") for one in open_sections]
    return policy


def _letters(text: str) -> Iterator[PartitionFault]:
    """Signs that OpenSM reads as text where it expects none."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        word, comment, _ = line.partition("#")
        if any(sign in word for sign in "\r\v\f"):
            message = "a carriage return or form feed, which OpenSM does not read as a blank"
            yield PartitionFault(LocatedWord(line, number, 1), message)
        if word.count('"') % 2 and any('"' in later for later in lines[number:]):
            message = "a quote without a second one in the line: OpenSM reads on to the next quote of the file"
            yield PartitionFault(LocatedWord(line, number, 1), message)
        if comment and number == len(lines):
            yield PartitionFault(
                LocatedWord(line, number, 1), "the last line is a comment without a newline at its end"
            )


def _incomplete(head: LocatedWord, block: PolicyBlock, filled: set[int]) -> Iterator[PartitionFault]:
    if head.text in _NOT_EMPTY and head.line not in filled:
        yield PartitionFault(head, f"{head} is empty")
    if block.head is head:
        for keys in _NEEDED.get(head.text, ()):
            if not any(key in block.values for key in keys):
                yield PartitionFault(head, f"{head} has no {' and no '.join(keys)}")


def _ulp_faults(match: LocatedWord, level: LocatedWord) -> Iterator[PartitionFault]:
    found = _ULP.fullmatch(match.text)
    if found is None:
        yield PartitionFault(match, f"{match} is not a match of qos-ulps")
    elif any((c_number(port) or 0) > _LAST_PORT for port in re.findall(_NUMBER, found[1] or "")):
        yield PartitionFault(match, f"a port number is above {_LAST_PORT}")
    yield from _wrong_number("sl", level)


def _fault_of(
    inside: str, line: LocatedWord, name: str, value: LocatedWord, block: PolicyBlock
) -> PartitionFault | None:
    if inside not in _KEYS:
        return PartitionFault(line, f"{name!r} is not allowed {f'within {inside}' if inside else 'outside a section'}")
    if name not in _KEYS[inside]:
        return PartitionFault(line, f"{inside} has no key {name!r}")
    if name in block.values and name not in _REPEATABLE:
        return PartitionFault(line, f"{name} is repeated in the {inside}")
    if not value.text:
        return PartitionFault(line, f"{name} has no value")
    if name in _TEXTS and (found := _RESERVED.search(_QUOTED.sub("", value.text))):
        return PartitionFault(value, f"OpenSM reads {found[0]!r} in {value} as a separate word")
    if name in _RANGES:
        return next(_wrong_number(name, value), None)
    if name in _FORMS and not re.fullmatch(_FORMS[name], value.text):
        return PartitionFault(value, f"{name} has the value {value}, which OpenSM cannot read")
    return None


def _wrong_number(name: str, value: LocatedWord) -> Iterator[PartitionFault]:
    number = c_number(value.text) if re.fullmatch(_NUMBER, value.text) else None
    first, last = _RANGES[name]
    if number is None or not first <= number <= last:
        label = "SL" if name == "sl" else name
        yield PartitionFault(value, f"the {label} is {value}, expected {first} to {last}")


def _plain(text: str) -> str:
    return _QUOTED.sub(r"\1", text).strip().lower()


def repeated_names(levels: Sequence[PolicyBlock]) -> Iterator[tuple[PolicyBlock, PolicyBlock]]:
    """Each level whose name an earlier level has, and that level."""
    first: dict[str, PolicyBlock] = {}
    for level in levels:
        if (other := first.setdefault(level.name(), level)) is not level and level.name():
            yield level, other
