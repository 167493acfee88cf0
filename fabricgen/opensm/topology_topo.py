"""topology.topo: systems and their cabled ports, as ibdiagnet and UFM read them.

    MQM9700 leaf1                   a system: its type, its name
       P1 -> DGX-H100 gpu-000 rail0     a port, and the type, name and port at the other end

Source: ibdm of ibutils, TopoFile in its user manual.
"""

import re
from dataclasses import dataclass, field

from fabricgen.opensm.located_text import LocatedWord, lines_of, words_of

_PORT = re.compile(r"(\S+)\s+(?:-\S+\s+)*->\s+(\S+)\s+(\S+)\s+(\S+)")  # words before the arrow are width and speed

End = tuple[str, str]  # system and port


@dataclass(frozen=True, slots=True)
class TopoCable:
    """The cable of a port, from one line."""

    near: End
    far: End
    far_type: str
    line: LocatedWord


@dataclass
class TopoFile:
    """The file. `systems` are type and line by name. `repeated` are lines with a system or port of an earlier line."""

    systems: dict[str, tuple[str, LocatedWord]] = field(default_factory=dict)
    cables: dict[End, TopoCable] = field(default_factory=dict)
    repeated: list[LocatedWord] = field(default_factory=list)
    unreadable: list[LocatedWord] = field(default_factory=list)


def read_topo(text: str) -> TopoFile:
    """The content of a topology.topo."""
    result = TopoFile()
    system = ""
    for line in lines_of(text):
        if found := _PORT.fullmatch(line.text):
            port, far_type, far, far_port = found.groups()
            _add_cable(result, TopoCable((system, port), (far, far_port), far_type, line))
        elif len(words := words_of(line)) == 2 and line.column == 1:
            kind, name = (word.text for word in words)
            system = name
            if name in result.systems:
                result.repeated.append(line)
            result.systems.setdefault(name, (kind, line))
        else:
            result.unreadable.append(line)
    return result


def _add_cable(result: TopoFile, cable: TopoCable) -> None:
    if not cable.near[0]:
        result.unreadable.append(cable.line)
    elif cable.near in result.cables:
        result.repeated.append(cable.line)
    else:
        result.cables[cable.near] = cable
