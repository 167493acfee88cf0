"""What hosts that choose paths by lists of SRv6 uSIDs do to a plane: the turns of their packets, and their next hops.

A list of the wiring goes up and then down. If each port of these paths has a uSID that leads over it for certain
(`UsidPlane.unsure`), all lists take their paths, and none is followed. Otherwise each list is followed through the
tables, and one whose ports have no such uSID has the uSIDs that hosts have from the routes of switches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.engine.derived import kept
from fabricgen.findings import Finding, Severity
from fabricgen.results import WrongList
from fabricgen.routing import bits
from fabricgen.routing.bits import Words
from fabricgen.routing.endpoints import is_active
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.usids import UsidPlane, usid_planes
from fabricgen.simulate.plane.findings import finding_at
from fabricgen.simulate.plane.ports import Flags, Ints
from fabricgen.sonic.image import rows
from fabricgen.sonic.srv6 import LOCATORS
from fabricgen.units import counted

MOST_LISTS = 400_000  # to be walked: a second for about 60,000
_MOST_WRONG = 8


@dataclass(frozen=True, eq=False)
class Turns:
    """Packets of lists arrive over the links `held` and leave over the links `awaited`. `lists` are the outer addresses
    of examples; empty where all lists take their paths."""

    held: Ints
    awaited: Ints
    lists: tuple[str, ...] = ()

    def after(self, kept_links: Ints, links: int) -> "Turns":
        """The turns over the links that are left, by their new numbers. No list takes another path after a failure."""
        number = np.full(links, -1, np.int64)
        number[kept_links] = np.arange(len(kept_links))
        held, awaited = number[self.held], number[self.awaited]
        stay = (held >= 0) & (awaited >= 0)
        lists = tuple(one for one, stays in zip(self.lists, stay.tolist(), strict=False) if stays)
        return Turns(held[stay], awaited[stay], lists)

    def example(self, held: int, awaited: int) -> str:
        """A list that takes a turn; "" if it is not known."""
        found = np.flatnonzero((self.held == held) & (self.awaited == awaited))
        return self.lists[found[0]] if len(found) and self.lists else ""


@dataclass(frozen=True, eq=False)
class Steering:
    """`lists` from leaves to NICs, of which it is known of `followed` where they lead; `wrong` ones are grouped.
    `without_session` are the directions of links in service that lists use and that have no BGP session, with one of
    them."""

    plane: UsidPlane
    lists: int
    followed: int
    wrong: tuple[WrongList, ...]
    turns: Turns
    without_session: int
    example: Endpoint | None

    @property
    def wrong_lists(self) -> int:
        """The lists that do not take their paths."""
        return sum(one.lists for one in self.wrong)


def steering(bundle: Bundle, fabric: RoutedFabric) -> Steering | None:
    """The lists of a plane, which the bundle keeps; None if no switch has a locator."""
    return kept(partial(_read, bundle, fabric), _read, *fabric.names, memo=bundle.models)


def _read(bundle: Bundle, fabric: RoutedFabric) -> Steering | None:
    if not any(rows(tables, LOCATORS) for tables in fabric.spoken.tables.values()):
        return None
    found = [plane for _, plane in usid_planes(bundle) if set(plane.switches) == set(fabric.names)]
    if not found:
        return None
    (plane,) = found
    number = _link_numbers(fabric)
    used = [end for links in plane.up.values() for link in links for end in (link.a, link.b)]
    active = {name for name in fabric.names if is_active(bundle, name)}
    outside = [
        end
        for end in used
        if end not in number and end not in bundle.cordoned and {end[0], (plane.far(*end) or ("",))[0]} <= active
    ]
    leaves = list(dict.fromkeys(link.b[0] for link in plane.nics))
    lists = sum(plane.path_count(leaf, link.b[0]) for leaf in leaves for link in plane.nics)
    if not plane.unsure:
        return Steering(
            plane, lists, lists, (), _up_then_down(fabric, plane, number), len(outside), next(iter(outside), None)
        )
    followed, wrong, turns = _followed(plane, leaves, max(1, -(-lists // MOST_LISTS)))
    inside = [(number[a], number[b], shown) for (a, b), shown in turns.items() if a in number and b in number]
    held, awaited = np.array([pair[:2] for pair in inside], np.int64).reshape(-1, 2).T
    taken = Turns(held, awaited, tuple(shown for *_, shown in inside))
    return Steering(plane, lists, followed, wrong, taken, len(outside), next(iter(outside), None))


def _link_numbers(fabric: RoutedFabric) -> dict[Endpoint, int]:
    """The link that leaves each port."""
    sources = fabric.network.source.tolist()
    return {(fabric.names[one], port): link for link, (one, port) in enumerate(zip(sources, fabric.ports, strict=True))}


def _followed(
    plane: UsidPlane, leaves: Sequence[str], step: int
) -> tuple[int, tuple[WrongList, ...], dict[tuple[Endpoint, Endpoint], str]]:
    """(lists followed, wrong ones, (port, next port) -> the address of a list), of every `step`-th NIC of a leaf."""
    wrong: dict[tuple[Endpoint, str], WrongList] = {}
    turns: dict[tuple[Endpoint, Endpoint], str] = {}
    followed = 0
    for place, leaf in enumerate(leaves):
        for link in plane.nics[place % step :: step]:
            for one in plane.lists(leaf, link):
                followed += 1
                address = plane.as_hosts_name(one)
                walk = plane.walk(leaf, address) if address else None
                for turn in pairwise(walk.hops) if walk else ():
                    turns.setdefault(turn, address.ip if address else "")
                if problem := plane.problem(leaf, one, walk):
                    first = wrong.get(problem) or WrongList(leaf, one.nic, address.ip if address else "", *problem, 0)
                    wrong[problem] = replace(first, lists=first.lists + 1)
    return followed, tuple(sorted(wrong.values(), key=lambda one: -one.lists)), turns


def _up_then_down(fabric: RoutedFabric, plane: UsidPlane, number: dict[Endpoint, int]) -> Turns:
    """The turns of all paths that go up and then down, and never back."""
    network, rises = fabric.network, _rises(fabric, plane, number)
    inside = np.zeros(network.links, bool)
    inside[[number[end] for links in plane.up.values() for one in links for end in (one.a, one.b) if end in number]] = (
        True
    )
    held, awaited = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for switch in range(network.switches):
        come = network.incoming[network.incoming_offsets[switch] : network.incoming_offsets[switch + 1]].astype(
            np.int64
        )
        go = np.arange(network.offsets[switch], network.offsets[switch + 1])
        come, go = come[inside[come]], go[inside[go]]
        turns = (network.source[come][:, None] != network.target[go][None, :]) & (rises[come][:, None] | ~rises[go])
        rows, columns = turns.nonzero()
        held.append(come[rows])
        awaited.append(go[columns])
    return Turns(np.concatenate(held), np.concatenate(awaited))


def _rises(fabric: RoutedFabric, plane: UsidPlane, number: dict[Endpoint, int]) -> Flags:
    """Whether each link leads upwards."""
    rises = np.zeros(fabric.network.links, bool)
    rises[[number[one.a] for links in plane.up.values() for one in links if one.a in number]] = True
    return rises


def listed_hops(fabric: RoutedFabric, found: Steering, leaf_of: Sequence[int | None]) -> Words:
    """The next hops (links x words) of packets with lists, where all lists take their paths. `leaf_of` is the leaf of
    each destination, None for those without NICs."""
    network, plane, names = fabric.network, found.plane, fabric.names
    rises = _rises(fabric, plane, _link_numbers(fabric))
    lasts = np.zeros((network.links, len(leaf_of)), bool)
    for leaf in {one for one in leaf_of if one is not None}:
        above = np.array([names[leaf] in plane.below[name] for name in names], bool)
        reaches = np.array([plane.path_count(name, names[leaf]) > 0 for name in names], bool)
        upwards = rises & ~above[network.source] & reaches[network.target]
        downwards = ~rises & above[network.source] & above[network.target]
        lasts[:, [column for column, one in enumerate(leaf_of) if one == leaf]] = (upwards | downwards)[:, None]
    return bits.set_bits(network.links, len(leaf_of), *lasts.nonzero())


def why_not_judged(found: Steering) -> str:
    """Why a verdict does not hold for the lists; "" if it does."""
    if not found.lists:
        return "lists of uSIDs: the files contain no hosts, so no list has an end"
    if found.wrong:
        do = "does not take its path" if found.wrong_lists == 1 else "do not take their paths"
        return f"{found.wrong_lists:,} of {counted(found.followed, 'list')} of uSIDs {do}"
    if found.without_session:
        return f"{counted(found.without_session, 'direction')} of links that lists of uSIDs use have no BGP session"
    if found.followed < found.lists:
        return f"only {found.followed:,} of {counted(found.lists, 'list')} of uSIDs were followed"
    return ""


def steering_findings(bundle: Bundle, found: Steering) -> Iterator[Finding]:
    """FG749 for wrong lists; FG708 where lists are not judged for another reason."""
    yield from wrong_lists(bundle, found.wrong)
    if (reason := why_not_judged(found)) and not found.wrong:
        at = found.example if found.lists and found.without_session else None
        hint = "add the session, or take the link out of service" if at else "judge a bundle with fabric.json"
        device, port = at or ("", "")
        yield finding_at(bundle, "FG708", Severity.ERROR, f"not judged: {reason}", device, hint, port, certain=True)


def wrong_lists(bundle: Bundle, wrong: Sequence[WrongList]) -> Iterator[Finding]:
    """FG749 for each reason of wrong lists, most lists first."""
    for one in wrong[:_MOST_WRONG]:
        device, port = one.at
        name = f"{one.destination} from {one.source}" if one.destination else f"the path from {one.source}"
        message = f"{one.reason}; {counted(one.lists, 'list')} wrong, such as {name} to {one.nic[0]} {one.nic[1]}"
        hint = "correct SRV6_MY_SIDS and STATIC_ROUTE of the switches there: FG288, FG747 and FG748"
        yield finding_at(bundle, "FG749", Severity.ERROR, message, device, hint, port, certain=True)
    if more := len(wrong[_MOST_WRONG:]):
        message = f"{counted(more, 'more reason')} for wrong lists; the JSON output of `simulate paths` has all"
        yield finding_at(bundle, "FG749", Severity.ERROR, message, "", certain=True)
