"""Names of EOS ports: Ethernet5 is cage 5, and Ethernet5/3 its third lane."""

import re
from collections.abc import Iterator

from fabricgen.adopt.foreign.described import DescribedPort
from fabricgen.findings import Location

_PORT = re.compile(r"Ethernet(\d{1,4})(?:/(\d{1,2}))?")
_RANGE = re.compile(r"(.*?)(\d{1,4})-(\d{1,4})")


def port_of(name: str, place: Location) -> DescribedPort | None:
    """The port of a name; None for another name."""
    match = _PORT.fullmatch(name)
    return DescribedPort(place, cage=int(match[1]), lane=int(match[2] or 0)) if match else None


def expanded(names: list[str]) -> Iterator[str]:
    """Ethernet1-3 to Ethernet1, Ethernet2, Ethernet3; also after commas: Ethernet1,3."""
    for name in names:
        prefix = ""
        for part in name.split(","):
            text = part if not part[:1].isdecimal() else prefix + part
            prefix = text.rstrip("0123456789-")
            if match := _RANGE.fullmatch(text):
                yield from (f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1))
            else:
                yield text
