"""Names of EOS ports: Ethernet5 is cage 5, and Ethernet5/3 its third lane."""

import re
from collections.abc import Iterator
from itertools import islice

from fabricgen.adopt.foreign.described import DescribedPort
from fabricgen.findings import Location

_PORT = re.compile(r"Ethernet(\d{1,4})(?:/(\d{1,2}))?")
_RANGE = re.compile(r"(\d{1,4})-(\d{1,4})")
_MOST = 4096


def port_of(name: str, place: Location) -> DescribedPort | None:
    """The port of a name; None for another name."""
    match = _PORT.fullmatch(name)
    return DescribedPort(place, cage=int(match[1]), lane=int(match[2] or 0)) if match else None


def expanded(names: list[str]) -> list[str]:
    """Ethernet1-3 to Ethernet1, Ethernet2, Ethernet3; Ethernet1,3/1 to Ethernet1, Ethernet3/1. At most 4,096 names."""
    texts = []
    for name in names:
        first, *others = name.split(",")
        kind = first.rstrip("0123456789/-")
        texts += [first, *(text if not text[:1].isdecimal() else kind + text for text in others)]
    return list(islice((each for text in texts for each in _range(text)), _MOST))


def _range(text: str) -> Iterator[str]:
    match = _RANGE.search(text)
    if match is None:
        yield text
        return
    for number in range(int(match[1]), int(match[2]) + 1):
        yield from _range(f"{text[: match.start()]}{number}{text[match.end() :]}")
