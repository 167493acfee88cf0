"""The route maps and prefix lists of sessions: which announced prefixes pass each direction of each link."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fabricgen.routing.bits import Indices
from fabricgen.routing.spoken import SessionEnd, SpokenFabric
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.policy import DeniedPrefix, Policies, RouteFilter


class FilterStep(NamedTuple):
    """One filter on the way from a switch to its neighbor: the switch that applies it, and how."""

    switch: str
    policies: Policies
    version: int
    chosen: RouteFilter
    is_inbound: bool


class LinkFilters:
    """`numbers[l]` is the number of the filters on directed link l of the list of cables, for the routes that its
    source learns over it; 0 if all routes pass. Links with the same filters have the same number."""

    def __init__(self, spoken: SpokenFabric, cable: Sequence[int], cables: int) -> None:
        self._spoken = spoken
        self._known: dict[tuple[tuple[tuple[object, ...], ...], ...], int] = {}
        self._sessions: list[list[tuple[frozenset[int], tuple[FilterStep, ...]]]] = [[]]
        by_link: dict[int, list[tuple[SessionEnd, SessionEnd]]] = {}
        for place, (a, b) in zip(cable, spoken.sessions, strict=True):
            if any(end.terms.filters_in or end.terms.filters_out for end in (a, b)):
                by_link.setdefault(place, [])
        for place, (a, b) in zip(cable, spoken.sessions, strict=True):
            if place in by_link:
                by_link[place].append((a, b))
        self.numbers: Indices = np.zeros(2 * cables, np.int64)
        for place, sessions in by_link.items():
            self.numbers[2 * place] = self._number(sessions)
            self.numbers[2 * place + 1] = self._number([(b, a) for a, b in sessions])

    @property
    def exist(self) -> bool:
        """Whether any route may be filtered."""
        return len(self._sessions) > 1

    def barring(self, prefix: str) -> frozenset[int]:
        """The numbers of the filters that deny a prefix."""
        address = parse_address(prefix)
        if not self.exist or address is None:
            return frozenset()
        results: dict[tuple[Policies, RouteFilter], bool] = {}  # (policies, filter) -> whether the prefix passes

        def passes(step: FilterStep) -> bool:
            key = (step.policies, step.chosen)
            if key not in results:
                results[key] = step.policies.permits(step.chosen, address)
            return results[key]

        return frozenset(
            number
            for number, sessions in enumerate(self._sessions)
            if number
            and not any(
                address.version in heard and all(passes(step) for step in steps if step.version == address.version)
                for heard, steps in sessions
            )
        )

    def _number(self, sessions: Sequence[tuple[SessionEnd, SessionEnd]]) -> int:
        found = []
        for near, far in sessions:
            heard = near.terms.accepts & far.terms.sends
            found.append((heard, tuple(steps(self._spoken, near, far))))
        if not any(steps for _, steps in found):
            return 0
        key = tuple(
            (tuple(sorted(heard)), *((one.policies, one.version, one.chosen) for one in steps))
            for heard, steps in found
        )
        if key not in self._known:
            self._known[key] = len(self._sessions)
            self._sessions.append(found)
        return self._known[key]


def steps(spoken: SpokenFabric, near: SessionEnd, far: SessionEnd) -> Iterator[FilterStep]:
    """The filters on the way of the routes that `near` learns from `far`."""
    for end, filters, is_inbound in (
        (far, far.terms.filters_out, False),
        (near, near.terms.filters_in, True),
    ):
        policies = spoken.speakers[end.switch].policies
        for version, chosen in filters if policies is not None else ():
            assert policies is not None
            yield FilterStep(end.switch, policies, version, chosen, is_inbound)


def blocked(
    spoken: SpokenFabric, near: SessionEnd, far: SessionEnd, prefix: Address
) -> tuple[FilterStep, DeniedPrefix] | None:
    """The first filter that denies a prefix on the way from `far` to `near`; None if all permit it."""
    for step in steps(spoken, near, far):
        if step.version == prefix.version and (why := step.policies.blocked(step.chosen, prefix)):
            return step, why
    return None
