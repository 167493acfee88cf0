"""The intent of a partitions.conf: the P_Keys that each adapter port and each switch should have.

This reader follows OpenSM's partition-config.txt without the leniency of OpenSM's parser, so that the effect of a
typing error on the parser shows as a difference."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from fabricgen.c_numbers import c_number
from fabricgen.opensm.partitions_conf import MemberKind

DEFAULT_KEY, FULL = 0x7FFF, 0x8000
_EMPTY_GROUPS = ("ALL_ROUTERS", "NONE")
_MEMBER = re.compile(r"(\w+)(?:=(\w+))?")


@dataclass
class IntendedKeys:
    """`keys` are the P_Keys by port GUID. `unknown_members` are members that are not a port of this subnet.
    `has_generated`: a partition has a key that OpenSM generates."""

    keys: dict[int, set[int]]
    unknown_members: list[str] = field(default_factory=list)
    has_generated: bool = False


def intended_keys(text: str, adapters: Iterable[int], switches: Iterable[int], sm_port: int) -> IntendedKeys:
    """The keys of adapter ports, among them `sm_port` of the subnet manager, and of switches, all by GUID."""
    groups: dict[str, Collection[int]] = {"ALL_CAS": [*adapters], "ALL_SWITCHES": [*switches], "SELF": [sm_port]}
    groups["ALL"] = all_ports = dict.fromkeys([*groups["ALL_CAS"], *groups["ALL_SWITCHES"]])
    usual: dict[int, str] = {**dict.fromkeys(all_ports, MemberKind.LIMITED), sm_port: MemberKind.FULL}
    members = {DEFAULT_KEY: usual}
    result = IntendedKeys({port: set() for port in all_ports})
    for statement in re.sub(r"#.*", "", text).split(";"):
        head, colon, body = statement.partition(":")
        if not colon:
            continue
        name, *flags = [word.strip() for word in head.split(",")]
        title, _, number = (part.strip() for part in name.partition("="))
        key = _key(title, number)
        if key is None:
            result.has_generated = True
            continue
        default = next((flag.partition("=")[2] for flag in flags if flag.startswith("defmember")), MemberKind.LIMITED)
        for word in _words(body):
            chosen, membership = _chosen(word, groups)
            if chosen is None:
                result.unknown_members.append(word)
            else:
                members.setdefault(key, {}).update(dict.fromkeys(chosen, membership or default))
    for key, ports_of in members.items():
        for port, membership in ports_of.items():
            result.keys[port] |= _keys_of(key, membership)
    return result


def _keys_of(key: int, membership: str) -> set[int]:
    """The table entries of a member."""
    if membership == MemberKind.BOTH:
        return {key, key | FULL}
    return {key | FULL if membership == MemberKind.FULL else key}


def _key(title: str, number: str) -> int | None:
    if not number:
        return DEFAULT_KEY if title == "Default" else None
    return (c_number(number) or 0) & DEFAULT_KEY or None


def _words(body: str) -> Iterable[str]:
    for line in body.splitlines():
        if not line.strip().startswith("mgid="):
            yield from filter(None, re.split(r"[,\s]+", line.strip()))


def _chosen(word: str, groups: Mapping[str, Collection[int]]) -> tuple[Collection[int] | None, str]:
    """The ports of a member and its membership; None if no port matches."""
    found = _MEMBER.fullmatch(word)
    if not found:
        return None, ""
    name, membership = found[1], found[2] or ""
    if name in (*groups, *_EMPTY_GROUPS):
        return groups.get(name, []), membership
    guid = c_number(name)
    return ([guid] if guid is not None and guid in groups["ALL"] else None), membership
