"""torus-2QoS.conf: the size of a torus or mesh, the seeds of its coordinates, and the datelines.

OpenSM reads one line after the other: a second size, or a dateline before the size, makes the engine fail. Of a link
that a seed has twice the last one counts. Words after the values of a line are ignored.

Source: opensm 3.3.23, doc of torus-2QoS.conf(5) and opensm/osm_torus.c.
"""

import re
from dataclasses import dataclass, field

from fabricgen.c_numbers import c_number
from fabricgen.opensm.located_text import LocatedWord, lines_of

DEFAULT_PORTGROUP_MAX = 16
_LINK = re.compile(r"([xyz])([pm])_link")
_DATELINE = re.compile(r"([xyz])_dateline")
_SIZE = re.compile(r"(0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9})([mMtT]?)")
_WORD = re.compile(r"[^ \t\r]+")


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
    first seed of which all switches exist. `repeated` are lines of which a later one is used."""

    head: LocatedWord | None = None
    sizes: tuple[int, ...] = ()
    rings: tuple[bool, ...] = ()
    seeds: list[Seed] = field(default_factory=list)
    most_ports: int = DEFAULT_PORTGROUP_MAX
    most_ports_word: LocatedWord | None = None
    port_order: dict[int, LocatedWord] = field(default_factory=dict)
    repeated: list[LocatedWord] = field(default_factory=list)
    unreadable: list[LocatedWord] = field(default_factory=list)


def read_torus(text: str) -> TorusFile:
    """The content of a torus-2QoS.conf."""
    result = TorusFile()
    for line in lines_of(text):
        name, *values = [line.part(found.start(), found.end()) for found in _WORD.finditer(line.text)]
        try:
            _read_line(result, name, [value.text for value in values])
        except (ValueError, IndexError):
            result.unreadable.append(line)
    if result.head is None:  # the fault of all datelines
        result.unreadable = [line for line in result.unreadable if not _DATELINE.match(line.text)]
    result.seeds = result.seeds or [Seed()]
    return result


def _read_line(result: TorusFile, name: LocatedWord, values: list[str]) -> None:
    if name.text in ("torus", "mesh"):
        sizes = [found for text in values[:3] if (found := _SIZE.fullmatch(text))]
        if len(sizes) != 3 or result.head:
            raise ValueError
        kinds = [found[2].lower() or name.text[0] for found in sizes]
        result.head = name
        result.sizes = tuple(_number(found[1]) for found in sizes)
        result.rings = tuple(kind == "t" and size > 2 for kind, size in zip(kinds, result.sizes, strict=True))
    elif found := _LINK.fullmatch(name.text):
        link = TorusSeedLink("xyz".index(found[1]), found[2] == "p", _number(values[0]), _number(values[1]), name)
        links = _seed(result).links
        before = [one for one in links if (one.axis, one.forward) == (link.axis, link.forward)]
        result.repeated += [one.word for one in before]
        links[:] = [one for one in links if one not in before] + [link]
    elif found := _DATELINE.fullmatch(name.text):
        if result.head is None:
            raise ValueError
        _seed(result).datelines["xyz".index(found[1])] = _number(values[0]), name
    elif name.text == "portgroup_max_ports":
        if result.most_ports_word:
            result.repeated.append(result.most_ports_word)
        result.most_ports, result.most_ports_word = _number(values[0]), name
    elif name.text == "next_seed":
        result.seeds.append(Seed())
    elif name.text == "port_order":
        result.port_order |= {_number(text): name for text in values}
    elif name.text == "max_changes":
        _number(values[0])
    else:
        raise ValueError


def _seed(result: TorusFile) -> Seed:
    """The seed to which a line belongs. A first next_seed starts the first seed, as no seed does."""
    if not result.seeds:
        result.seeds.append(Seed())
    return result.seeds[-1]


def _number(text: str) -> int:
    number = c_number(text)
    if number is None:
        raise ValueError
    return number
