"""Value types of schemas/config_db.json, compiled to functions that check one text.

A type is written as a name (a base type of YANG, or an entry of "types"), or as one of {"int": ranges},
{"decimal": digits, "range": …}, {"enum": words}, {"length": ranges, "match": patterns, "not": patterns},
{"ref": "TABLE/LIST or row/leaf"}, {"union": types}. Ranges are [[first, last], …]; patterns are Python's.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabricgen.sonic.schema.violations import ViolationKind, shown
from fabricgen.sonic.secrets import PLACEHOLDER


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a text is not a value of a type; `known` are the allowed words, if the type lists them."""

    kind: ViolationKind
    message: str
    known: Collection[str] = ()


References = Callable[[str], Collection[str]]  # "TABLE/LIST/leaf" -> the values of the file's rows there
_Verdict = Callable[[str, References], Misfit | None]


@dataclass(frozen=True, eq=False, slots=True)
class Judge:
    """The check of one type: called with a text, it returns None, or why the text does not fit.

    `refers` is whether the result depends on the rest of the file. A text of its rows at `target` fits; "" if it names
    none. `fits` is a quick check: where it is true, the text fits. `fitting` contains texts that fit in every file; the
    caller adds them.
    """

    verdict: _Verdict
    refers: bool
    target: str = ""
    fits: Callable[[str], object] | None = None
    fitting: set[str] = field(default_factory=set)

    def __call__(self, text: str, references: References) -> Misfit | None:
        """None, or why the text does not fit. A reference to a secret fits: its value is not in the file."""
        return None if PLACEHOLDER in text else self.verdict(text, references)


_INTEGER = re.compile(r"-?[0-9]{1,25}")
_DECIMAL = re.compile(r"-?[0-9]{1,18}(?:\.([0-9]{1,18}))?")
_ALTERNATIVES = re.compile(r"[\w-]+(?:\|[\w-]+)*")
_BOUNDS = {
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
}
_WORDS = {
    "ipv4-address": "an IPv4 address such as 10.0.0.1",
    "ipv6-address": "an IPv6 address such as fc00::1",
    "ipv4-prefix": "an IPv4 prefix such as 10.0.0.0/31",
    "ipv6-prefix": "an IPv6 prefix such as fc00::/127",
    "ip-address": "an IP address",
    "ip-prefix": "an IP prefix such as 10.0.0.0/31",
    "[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}": "a MAC address such as 00:11:22:33:44:55",
    "": "the empty text",
    "([0-7](,[0-7])*)?": "priorities 0..7 with commas and no blanks, such as 3,4",
    "[0-7]((-)[0-7])?": "a priority group 0..7 or a range such as 3-4",
    "[0-9]+m": "whole metres such as 40m",
}


def compile_type(spec: Any, types: Mapping[str, Any]) -> Judge:
    """The check of one type, as written in the schema file."""
    return Judge(_compiled(spec, types), _refers(spec, types), _target(spec, types), _quick(spec, types))


def _target(spec: Any, types: Mapping[str, Any]) -> str:
    """The rows that a type, or the first such member of a union, refers to."""
    if isinstance(spec, str):
        return _target(types[spec], types) if spec in types else ""
    return spec.get("ref", "") or next(filter(None, (_target(one, types) for one in spec.get("union", ()))), "")


def _quick(spec: Any, types: Mapping[str, Any]) -> Callable[[str], object] | None:
    """A check of texts that differ in each row, such as addresses: of one pattern, the first of a union, or lengths."""
    if isinstance(spec, str):
        return _quick(types[spec], types) if spec in types else None
    if "union" in spec:
        return _quick(spec["union"][0], types)
    patterns, lengths = spec.get("match", ()), spec.get("length", ())
    if "not" not in spec and not lengths and len(patterns) == 1:
        return re.compile(patterns[0]).fullmatch
    if spec.keys() == {"length"} and len(lengths) == 1 and None not in lengths[0]:
        least, most = lengths[0]
        return lambda text: least <= len(text) <= most
    return None


def _refers(spec: Any, types: Mapping[str, Any]) -> bool:
    if isinstance(spec, str):
        return spec in types and _refers(types[spec], types)
    return "ref" in spec or any(_refers(member, types) for member in spec.get("union", ()))


def _compiled(spec: Any, types: Mapping[str, Any]) -> _Verdict:
    if isinstance(spec, str):
        if spec in types:
            judge = _compiled(types[spec], types)
            return _renamed(judge, _WORDS[spec]) if spec in _WORDS else judge
        return _base(spec)
    if "int" in spec:
        return _whole_number([tuple(pair) for pair in spec["int"]])
    if "decimal" in spec:
        return _decimal(spec["decimal"], [(float(first), float(last)) for first, last in spec.get("range", ())])
    if "enum" in spec:
        return _words(spec["enum"])
    if "ref" in spec:
        return _reference(spec["ref"])
    if "union" in spec:
        return _union([_compiled(member, types) for member in spec["union"]])
    return _text(spec.get("length", ()), spec.get("match", ()), spec.get("not", ()))


def _base(name: str) -> _Verdict:
    if name == "string":
        return lambda _text, _references: None
    if name == "boolean":
        return _words(["true", "false"])
    return _whole_number([_BOUNDS[name]])


def _renamed(judge: _Verdict, words: str) -> _Verdict:
    """The same check with a message in the words of the type's name."""

    def renamed(text: str, references: References) -> Misfit | None:
        misfit = judge(text, references)
        return misfit and Misfit(misfit.kind, f"{shown(text)} is not {words}")

    return renamed


def _whole_number(ranges: list[tuple[int, int]]) -> _Verdict:
    allowed = ", ".join(str(first) if first == last else f"{first}..{last}" for first, last in ranges)

    def judge(text: str, _references: References) -> Misfit | None:
        if not _INTEGER.fullmatch(text):
            return Misfit(ViolationKind.WRONG_TYPE, f"{shown(text)} is not a whole number {allowed}")
        number = int(text)
        if not any(first <= number <= last for first, last in ranges):
            return Misfit(ViolationKind.OUT_OF_RANGE, f"{text} is outside {allowed}")
        return None

    return judge


def _decimal(digits: int, ranges: list[tuple[float, float]]) -> _Verdict:
    def judge(text: str, _references: References) -> Misfit | None:
        match = _DECIMAL.fullmatch(text)
        if not match or len((match[1] or "").rstrip("0")) > digits:
            return Misfit(
                ViolationKind.WRONG_TYPE, f"{shown(text)} is not a number with at most {digits} decimal places"
            )
        if ranges and not any(first <= float(text) <= last for first, last in ranges):
            return Misfit(
                ViolationKind.OUT_OF_RANGE,
                f"{text} is outside " + ", ".join(f"{low:g}..{high:g}" for low, high in ranges),
            )
        return None

    return judge


def _words(words: list[str]) -> _Verdict:
    allowed = frozenset(words)

    def judge(text: str, _references: References) -> Misfit | None:
        if text in allowed:
            return None
        return Misfit(ViolationKind.BAD_ENUM, f"{shown(text)} is not one of {', '.join(words)}", allowed)

    return judge


def _text(lengths: list[list[int | None]], patterns: list[str], forbidden: list[str]) -> _Verdict:
    if len(patterns) == 1 and not lengths and _ALTERNATIVES.fullmatch(patterns[0]):
        return _words(patterns[0].split("|"))
    matched = [re.compile(pattern) for pattern in patterns]
    avoided = [re.compile(pattern) for pattern in forbidden]
    described = _WORDS.get(patterns[0], f"text of the form {patterns[0]}") if patterns else "allowed here"

    def judge(text: str, _references: References) -> Misfit | None:
        size = len(text)
        if lengths and not any((low or 0) <= size and (high is None or size <= high) for low, high in lengths):
            return Misfit(ViolationKind.OUT_OF_RANGE, f"{shown(text)} has {size} characters, not " + _spans(lengths))
        if all(pattern.fullmatch(text) for pattern in matched) and not any(p.fullmatch(text) for p in avoided):
            return None
        return Misfit(ViolationKind.BAD_PATTERN, f"{shown(text)} is not {described}")

    return judge


def _spans(ranges: list[list[int | None]]) -> str:
    return ", ".join(f"{low} or more" if high is None else f"{low}..{high}" for low, high in ranges)


def _reference(target: str) -> _Verdict:
    table, _, leaf = target.split("/")

    def judge(text: str, references: References) -> Misfit | None:
        known = references(target)
        if text in known:
            return None
        return Misfit(ViolationKind.DANGLING_REFERENCE, f"no row of {table} has the {leaf} {shown(text)}", known)

    return judge


def _union(members: list[_Verdict]) -> _Verdict:
    def judge(text: str, references: References) -> Misfit | None:
        misfits = []
        for member in members:
            misfit = member(text, references)
            if misfit is None:
                return None
            misfits.append(misfit)
        worst = next((m for m in misfits if m.kind == ViolationKind.DANGLING_REFERENCE), misfits[0])
        known = frozenset(word for misfit in misfits for word in misfit.known)
        return Misfit(worst.kind, ", and ".join(dict.fromkeys(misfit.message for misfit in misfits)), known)

    return judge
