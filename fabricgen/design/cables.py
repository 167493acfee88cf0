"""The cables that carry links: which links share one, and which cables cannot be plugged.

A plug of a copper or active cable fills a cage, whatever number of ports the cage is split into. A fibre ends in a
connector of a transceiver: the links on one connector of the lower end share a cable. A cable has two plugs, or it is a
breakout cable with one plug at its trunk and one at each leg. Published counts of cables are counts of cages: a NIC of
two planes has one cable there. To buy are two fibres, since a twin-port transceiver has a connector for each.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabricgen.inventory.topology import CableSpec
from fabricgen.vocabulary import FIXED_PLUGS, LinkKind, Medium

_Plug = tuple[str, str]  # the key of a node, and its cage or connector


class Node(Protocol):
    """A switch or host with ports."""

    @property
    def key(self) -> str:
        """The identity as text."""

    def cage(self, port: str) -> str:
        """What a plug of copper fills."""

    def connector(self, port: str) -> str:
        """What a fibre ends in."""


class Link(Protocol):
    """A link of a design; `a` is the lower end."""

    @property
    def key(self) -> str: ...
    @property
    def kind(self) -> LinkKind: ...
    @property
    def a(self) -> Node: ...
    @property
    def b(self) -> Node: ...
    @property
    def a_port(self) -> str: ...
    @property
    def b_port(self) -> str: ...
    @property
    def cable(self) -> CableSpec: ...
    @property
    def plane(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Cable:
    """A physical cable and the ids of the links that it carries; `legs` are those of each leg, () if it has none."""

    key: str
    kind: LinkKind
    length_m: float
    medium: Medium
    links: tuple[str, ...]
    legs: tuple[tuple[str, ...], ...] = ()

    @property
    def pieces(self) -> int:
        """The cables to buy: each leg of fibre is one."""
        return 1 if self.medium in FIXED_PLUGS else max(len(self.legs), 1)


@dataclass(frozen=True, slots=True)
class Tangle:
    """Links whose plugs would be in one cage with those of other cables: no cable exists that carries them."""

    links: tuple[Link, ...]

    @property
    def example(self) -> str:
        """A cage with the plugs of several cables, and the far ends of these."""
        fars: dict[_Plug, dict[_Plug, Link]] = {}
        for link in self.links:
            low, high = _plugs(link)
            fars.setdefault(low, {}).setdefault(high, link)
            fars.setdefault(high, {}).setdefault(low, link)
        (name, cage), far = max(fars.items(), key=lambda item: len(item[1]))
        others = ", ".join(f"{node} {port}" for node, port in far)
        return f"cage {cage} of {name} leads to {len(far)} cages that lead elsewhere, too: {others}"


def cables_of(links: Sequence[Link]) -> tuple[Cable, ...]:
    """The cables, in the order of their first links. Each pair of cages of a tangle counts as a cable."""
    fibres: dict[_Plug, list[Link]] = {}
    cables: list[Cable] = []
    for link in links:
        if link.cable.medium not in FIXED_PLUGS:
            fibres.setdefault((link.a.key, link.a.connector(link.a_port)), []).append(link)
    cables += [_cable(joined, near if len(joined) > 1 else None) for near, joined in fibres.items()]
    for joined in _joined(links):
        if trunk := _trunk(joined):
            cables.append(_cable(joined, trunk))
            continue
        pairs: dict[tuple[_Plug, _Plug], list[Link]] = {}
        for link in joined:
            pairs.setdefault(_plugs(link), []).append(link)
        cables += [_cable(pair, None) for pair in pairs.values()]
    place = {link.key: number for number, link in enumerate(links)}
    return tuple(sorted(cables, key=lambda cable: place[cable.key]))


def tangles_of(links: Sequence[Link]) -> tuple[Tangle, ...]:
    """What cannot be plugged."""
    return tuple(Tangle(tuple(joined)) for joined in _joined(links) if _trunk(joined) is None)


def _trunk(joined: list[Link]) -> _Plug | None:
    """The plug that all links of a copper or active cable have; None if no cable carries them."""
    if len({(link.cable.medium, link.cable.length_m) for link in joined}) > 1:
        return None
    common = set.intersection(*(set(_plugs(link)) for link in joined))
    return min(common, key=_plugs(joined[0]).index) if common else None


def _cable(links: list[Link], trunk: _Plug | None) -> Cable:
    """The cable of links with a common plug; without a trunk it has two ends."""
    first, legs = links[0], dict[_Plug, list[str]]()
    for link in links if trunk else ():
        near, far = _plugs(link)
        legs.setdefault(far if near == trunk else near, []).append(link.key)
    ends = tuple(map(tuple, legs.values())) if len(legs) > 1 else ()
    names = tuple([link.key for link in links])
    return Cable(first.key, first.kind, first.cable.length_m, first.cable.medium, names, ends)


def _joined(links: Iterable[Link]) -> Iterator[list[Link]]:
    """Links on copper and active cables that share plugs, directly or by others, in the order of the links."""
    group_of: dict[_Plug, int] = {}
    groups: dict[int, list[tuple[int, Link]]] = {}
    fixed = [link for link in links if link.cable.medium in FIXED_PLUGS]
    for number, link in enumerate(fixed):
        known = {group_of[plug] for plug in _plugs(link) if plug in group_of}
        own, *others = sorted(known, key=lambda one: -len(groups[one])) or [number]
        groups.setdefault(own, []).append((number, link))
        for other in others:
            moved = groups.pop(other)
            groups[own] += moved
            group_of |= {plug: own for _, one in moved for plug in _plugs(one)}
        group_of |= dict.fromkeys(_plugs(link), own)
    for members in groups.values():
        yield [link for _, link in sorted(members, key=lambda member: member[0])]


def _plugs(link: Link) -> tuple[_Plug, _Plug]:
    """The plugs of a cable that carries a link."""
    is_fixed = link.cable.medium in FIXED_PLUGS
    (low, low_port), (high, high_port) = (link.a, link.a_port), (link.b, link.b_port)
    if is_fixed:
        return (low.key, low.cage(low_port)), (high.key, high.cage(high_port))
    return (low.key, low.connector(low_port)), (high.key, high.connector(high_port))
