"""Names in Slurm's hostlist notation: gpu-[000-015,020]."""

import re
from collections.abc import Iterable, Iterator

_MAX_RANGE = 1 << 16  # names that one pair of brackets may have, src/common/hostlist.h
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})")


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
