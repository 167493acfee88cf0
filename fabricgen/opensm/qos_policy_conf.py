"""qos-policy.conf by sections, with places. OpenSM ignores the whole policy after one mistake.

Source: opensm 3.3.23, doc/QoS_management_in_OpenSM.txt and opensm/osm_qos_parser_y.y.
"""

from dataclasses import dataclass, field

from fabricgen.opensm.located_text import Word, lines_of
from fabricgen.opensm.partitions_conf import Fault
from fabricgen.units import whole_number

_INSIDE = {
    "port-groups": ("port-group",), "qos-setup": ("vlarb-tables", "sl2vl-tables"), "qos-levels": ("qos-level",),
    "qos-match-rules": ("qos-match-rule",), "qos-ulps": (),
    "vlarb-tables": ("vlarb-scope",), "sl2vl-tables": ("sl2vl-scope",),
}  # fmt: skip
_KEYS = {
    "port-group": ("name", "use", "port-guid", "port-name", "pkey", "partition", "node-type"),
    "qos-level": ("name", "use", "sl", "mtu-limit", "rate-limit", "packet-life", "path-bits", "pkey"),
    "qos-match-rule": ("use", "source", "destination", "qos-class", "qos-level-name", "service-id", "pkey"),
}
MOST_SL = 15


@dataclass(frozen=True)
class Block:
    """One port-group, qos-level or qos-match-rule: its first line and its values by key."""

    head: Word
    values: dict[str, Word] = field(default_factory=dict)


@dataclass
class PolicyFile:
    """The content of a policy. `ulps` are the lines of qos-ulps: the match and the SL."""

    levels: list[Block] = field(default_factory=list)
    rules: list[Block] = field(default_factory=list)
    ulps: list[tuple[Word, Word]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def read_policy(text: str) -> PolicyFile:
    """The content of a qos-policy.conf."""
    policy = PolicyFile()
    open_sections: list[Word] = []
    block = Block(Word("", 1, 1))
    for line in lines_of(text):
        name, colon, _ = (part.strip() for part in line.text.partition(":"))
        inside = open_sections[-1].text if open_sections else ""
        if not colon and name == f"end-{inside}" and inside:
            open_sections.pop()
        elif not colon and name in (_INSIDE.get(inside, ()) if inside else _INSIDE):
            open_sections.append(line)
            block = Block(line)
            if name in ("qos-level", "qos-match-rule"):
                (policy.levels if name == "qos-level" else policy.rules).append(block)
        elif colon:
            value = line.part(line.text.index(":") + 1, len(line.text))
            if fault := _fault_of(inside, line, name, value):
                policy.faults.append(fault)
            elif inside == "qos-ulps":
                policy.ulps.append((line.part(0, line.text.index(":")), line.part(line.text.rindex(":") + 1, 9999)))
            else:
                block.values[name] = value
        else:
            where = f"within {inside}" if inside else "outside a section"
            policy.faults.append(Fault(line, f"{name!r} is not allowed {where}"))
    policy.faults += [Fault(one, f"{one} has no end-{one}") for one in open_sections]
    policy.faults += [fault for one in policy.ulps if (fault := _bad_level(one[1]))]
    return policy


def _fault_of(inside: str, line: Word, name: str, value: Word) -> Fault | None:
    if not inside or inside in ("port-groups", "qos-levels", "qos-match-rules"):
        return Fault(line, f"{name!r} is not allowed {f'within {inside}' if inside else 'outside a section'}")
    if inside in _KEYS and name not in _KEYS[inside]:
        return Fault(line, f"{inside} has no key {name!r}")
    return _bad_level(value) if inside == "qos-level" and name == "sl" else None


def _bad_level(value: Word) -> Fault | None:
    level = whole_number(value.text)
    if level is not None and level <= MOST_SL:
        return None
    return Fault(value, f"the SL is {value}, expected 0 to {MOST_SL}")
