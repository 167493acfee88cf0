"""Names in Slurm's hostlist notation: gpu-[000-015,020]."""

import re
from collections.abc import Iterable, Iterator

_MAX_RANGE = 1 << 16  # names that one pair of brackets may have, src/common/hostlist.h
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})")
_PART = re.compile(r"([^\[\],]*)(?:\[([^\[\]]*)\]([^\[\],]*))?")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def hostlist(names: Iterable[str]) -> str:
    """The names as one expression."""
    return ",".join(hostlist_parts(names))


def hostlist_parts(names: Iterable[str]) -> Iterator[str]:
    """The names as expressions. Numbers at the end of names become ranges; brackets elsewhere are not valid in
    topology files, so other names are listed. Names with the same prefix come together, in the order of the first."""
    numbers: dict[str, list[str]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        numbers.setdefault(match[1] if match else name, []).append(match[2] if match else "")
    for prefix, texts in numbers.items():
        yield from _folded(prefix, texts)


def _folded(prefix: str, texts: list[str]) -> Iterator[str]:
    numbered = sorted((text for text in texts if text), key=lambda text: (int(text), text))
    if "" in texts:
        yield prefix
    for first in range(0, len(numbered), _MAX_RANGE):
        ranges = list(_ranges(numbered[first : first + _MAX_RANGE]))
        alone = len(ranges) == 1 and "-" not in ranges[0]
        yield f"{prefix}{ranges[0]}" if alone else f"{prefix}[{','.join(ranges)}]"


def _ranges(numbered: list[str]) -> Iterator[str]:
    """Ranges of consecutive numbers with the same padding: 08, 09, 10 are 08-10; 9 and 010 are apart."""
    first = last = numbered[0]
    for text in numbered[1:]:
        if text != str(int(last) + 1).zfill(len(first)):
            yield first if first == last else f"{first}-{last}"
            first = text
        last = text
    yield first if first == last else f"{first}-{last}"


def expanded(text: str) -> list[str]:
    """The names of an expression, in its order. Raises ValueError for one that is not valid, or with too many names."""
    found: list[str] = []
    at = 0
    while at <= len(text):
        match = _PART.match(text, at)
        if match is None or not match[0] or (match.end() < len(text) and text[match.end()] != ","):
            raise ValueError(f"{text!r} is not a list of names such as gpu-[000-015,020]")
        found += [f"{match[1]}{number}{match[3] or ''}" for number in _numbers(match[2], text)]
        if len(found) > _MAX_RANGE:
            raise ValueError(f"{text!r} has more than {_MAX_RANGE} names")
        at = match.end() + 1
    return found


def _numbers(ranges: str | None, text: str) -> Iterator[str]:
    """The numbers between brackets; a number without brackets is a part of the name."""
    if ranges is None:
        yield ""
        return
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part)
        first, last = (match[1], match[2] or match[1]) if match else ("1", "0")
        if not 0 <= int(last) - int(first) < _MAX_RANGE:
            raise ValueError(f"{text!r}: {part!r} is not a number or a range such as 000-015")
        for number in range(int(first), int(last) + 1):
            yield str(number).zfill(len(first))
