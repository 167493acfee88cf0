"""The cables of two bundles: new ones, removed ones, and those that move to another port."""

from collections.abc import Iterable
from dataclasses import dataclass

from fabricgen.bundle.cables import Pair, pair_of
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.sonic.canonical import natural_key


@dataclass(frozen=True, slots=True)
class MovedCable:
    """A cable at a port that had another far end. A cable with several links has several pairs."""

    old: tuple[Pair, ...]
    new: tuple[Pair, ...]


@dataclass(frozen=True)
class CableChanges:
    """`new` and `removed` have the pairs of ends of each cable. All lists are in natural order."""

    new: tuple[tuple[Pair, ...], ...]
    moved: tuple[MovedCable, ...]
    removed: tuple[tuple[Pair, ...], ...]
    same: int


def cable_changes(old: Iterable[WiredLink], new: Iterable[WiredLink]) -> CableChanges:
    """Compare the cables of two wirings by the ports that they join.

    A cable of the new wiring moves if a port of it has another far end in the old wiring. It is new if its ports had
    no cable. A cable of the old wiring is removed if both of its ports are free in the new one.
    """
    before, after = _by_cable(old), _by_cable(new)
    kept = {pair for pairs in before for pair in pairs} & {pair for pairs in after for pair in pairs}
    gone = {end: pair for pairs in before for pair in pairs if pair not in kept for end in pair}
    come = {end for pairs in after for pair in pairs if pair not in kept for end in pair}
    added, moved = [], []
    for pairs in after:
        changed = tuple(pair for pair in pairs if pair not in kept)
        was = sorted({gone[end] for pair in changed for end in pair if end in gone}, key=_order)
        if changed and was:
            moved.append(MovedCable(tuple(was), changed))
        elif changed:
            added.append(changed)
    removed = [pairs for pairs in before if not kept.intersection(pairs) and not _ends(pairs) & come]
    same = sum(kept.issuperset(pairs) for pairs in after)
    return CableChanges(tuple(added), tuple(moved), tuple(removed), same)


def _by_cable(links: Iterable[WiredLink]) -> list[tuple[Pair, ...]]:
    """The pairs of each cable, in natural order; a link without a cable is one."""
    cables: dict[str, list[Pair]] = {}
    for link in links:
        cables.setdefault(link.cable or f"/{link.id}", []).append(pair_of(link.a, link.b))
    return sorted((tuple(sorted(pairs, key=_order)) for pairs in cables.values()), key=lambda pairs: _order(pairs[0]))


def _ends(pairs: Iterable[Pair]) -> set[Endpoint]:
    return {end for pair in pairs for end in pair}


def _order(pair: Pair) -> list[object]:
    return [natural_key(text) for end in pair for text in end]
