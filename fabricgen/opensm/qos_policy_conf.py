"""qos-policy.conf by sections, with places. OpenSM ignores the whole policy after one mistake.

Source: opensm 3.3.23, doc/QoS_management_in_OpenSM.txt and opensm/osm_qos_parser_y.y.
"""

import re
from dataclasses import dataclass, field

from fabricgen.opensm.located_text import LocatedWord, lines_of
from fabricgen.opensm.options import LAST_SL
from fabricgen.opensm.partitions_conf import PartitionFault
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
_NARROWER = ("source", "destination", "qos-class", "service-id")
_ULP_OF_KEY = re.compile(r"any\s*,\s*pkey\s+(.*)")
_KEY_BITS = 0x7FFF


@dataclass(frozen=True)
class PolicyBlock:
    """One port-group, qos-level or qos-match-rule: its first line and its values by key."""

    head: LocatedWord
    values: dict[str, LocatedWord] = field(default_factory=dict)


@dataclass
class PolicyFile:
    """The content of a policy. `ulps` are the lines of qos-ulps: the match and the SL."""

    levels: list[PolicyBlock] = field(default_factory=list)
    rules: list[PolicyBlock] = field(default_factory=list)
    ulps: list[tuple[LocatedWord, LocatedWord]] = field(default_factory=list)
    faults: list[PartitionFault] = field(default_factory=list)


def level_for(policy: PolicyFile, key: int) -> LocatedWord | None:
    """The SL in answer to a path query with this P_Key, and no more. None without a level. Rules come before the lines
    of qos-ulps, and the first match counts; rules for some ports or services only do not match every query."""
    of_name = {one.values["name"].text: one.values.get("sl") for one in policy.levels if "name" in one.values}
    for rule in policy.rules:
        keys = rule.values.get("pkey")
        if keys and _has(keys.text, key) and not any(name in rule.values for name in _NARROWER):
            name = rule.values.get("qos-level-name")
            return of_name.get(name.text) if name else None
    default = of_name.get("DEFAULT")
    for match, level in policy.ulps:
        found = _ULP_OF_KEY.fullmatch(match.text)
        if found and _has(found[1], key):
            return level
        if match.text == "default":
            default = level
    return default


def _has(keys: str, key: int) -> bool:
    """Whether a list of P_Keys and ranges such as 0x8001,0x8010-0x801f contains a key."""
    for part in keys.split(","):
        first, _, last = (one.strip() for one in part.partition("-"))
        try:
            low, high = int(first, 0) & _KEY_BITS, int(last or first, 0) & _KEY_BITS
        except ValueError:
            continue
        if low <= key & _KEY_BITS <= high:
            return True
    return False


def read_policy(text: str) -> PolicyFile:
    """The content of a qos-policy.conf."""
    policy = PolicyFile()
    open_sections: list[LocatedWord] = []
    block = PolicyBlock(LocatedWord("", 1, 1))
    for line in lines_of(text):
        name, colon, _ = (part.strip() for part in line.text.partition(":"))
        inside = open_sections[-1].text if open_sections else ""
        if not colon and name == f"end-{inside}" and inside:
            open_sections.pop()
        elif not colon and name in (_INSIDE.get(inside, ()) if inside else _INSIDE):
            open_sections.append(line)
            block = PolicyBlock(line)
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
            policy.faults.append(PartitionFault(line, f"{name!r} is not allowed {where}"))
    policy.faults += [PartitionFault(one, f"{one} has no end-{one}") for one in open_sections]
    policy.faults += [fault for one in policy.ulps if (fault := _bad_level(one[1]))]
    return policy


def _fault_of(inside: str, line: LocatedWord, name: str, value: LocatedWord) -> PartitionFault | None:
    if not inside or inside in ("port-groups", "qos-levels", "qos-match-rules"):
        return PartitionFault(line, f"{name!r} is not allowed {f'within {inside}' if inside else 'outside a section'}")
    if inside in _KEYS and name not in _KEYS[inside]:
        return PartitionFault(line, f"{inside} has no key {name!r}")
    return _bad_level(value) if inside == "qos-level" and name == "sl" else None


def _bad_level(value: LocatedWord) -> PartitionFault | None:
    level = whole_number(value.text)
    if level is not None and level <= LAST_SL:
        return None
    return PartitionFault(value, f"the SL is {value}, expected 0 to {LAST_SL}")
