"""torus-2QoS.conf: the size of a torus or mesh, the seeds of its coordinates, and the datelines.

Source: opensm 3.3.23, doc of torus-2QoS.conf(5) and opensm/osm_torus.c.
"""

import re
from dataclasses import dataclass, field

from fabricgen.opensm.located_text import LocatedWord, lines_of, words_of

DEFAULT_PORTGROUP_MAX = 16
_LINK = re.compile(r"([xyz])([pm])_link")
_DATELINE = re.compile(r"([xyz])_dateline")
_SIZE = re.compile(r"(\d{1,9})([mt]?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TorusSeedLink:
    """A link that defines the direction of an axis: `axis` 0 to 2, `forward` for p, the switches by node GUID."""

    axis: int
    forward: bool
    a: int
    b: int
    word: LocatedWord


@dataclass
class Seed:
    """The links from one switch to its neighbours, and the datelines relative to it."""

    links: list[TorusSeedLink] = field(default_factory=list)
    datelines: dict[int, tuple[int, LocatedWord]] = field(default_factory=dict)


@dataclass
class TorusFile:
    """The file. `sizes` has three axes, 1 for an unused axis. `rings`: whether each axis is a ring. OpenSM uses the
    first seed of which all switches exist."""

    head: LocatedWord | None = None
    sizes: tuple[int, ...] = ()
    rings: tuple[bool, ...] = ()
    seeds: list[Seed] = field(default_factory=lambda: [Seed()])
    most_ports: int = DEFAULT_PORTGROUP_MAX
    most_ports_word: LocatedWord | None = None
    unreadable: list[LocatedWord] = field(default_factory=list)


def read_torus(text: str) -> TorusFile:
    """The content of a torus-2QoS.conf."""
    result = TorusFile()
    for line in lines_of(text):
        name, *values = words_of(line)
        try:
            _read_line(result, name, [value.text for value in values])
        except (ValueError, IndexError):
            result.unreadable.append(line)
    return result


def _read_line(result: TorusFile, name: LocatedWord, values: list[str]) -> None:
    if name.text in ("torus", "mesh"):
        sizes = [_SIZE.fullmatch(text) for text in values]
        if len(sizes) != 3 or None in sizes:
            raise ValueError
        kinds = [found[2].lower() or name.text[0] for found in sizes if found]
        result.head = name
        result.sizes = tuple(int(found[1]) for found in sizes if found)
        result.rings = tuple(kind == "t" and size > 1 for kind, size in zip(kinds, result.sizes, strict=True))
    elif found := _LINK.fullmatch(name.text):
        a, b = (int(text, 0) for text in values)
        result.seeds[-1].links.append(TorusSeedLink("xyz".index(found[1]), found[2] == "p", a, b, name))
    elif found := _DATELINE.fullmatch(name.text):
        result.seeds[-1].datelines["xyz".index(found[1])] = int(values[0]), name
    elif name.text == "portgroup_max_ports":
        result.most_ports, result.most_ports_word = int(values[0]), name
    elif name.text == "next_seed":
        result.seeds.append(Seed())
    elif name.text not in ("port_order", "max_changes"):
        raise ValueError
