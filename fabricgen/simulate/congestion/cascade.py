"""Roots as a cascade: without the flows of the first roots, second ones may appear, which those hid.

A port is a root of round n if it is one after the flows of all roots of the rounds before are gone. Rounds end when no
flow is a victim any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fabricgen.results import CongestionTree
from fabricgen.simulate.congestion.stage import StageTimes, follow, followed_flows, ideal_times_ns
from fabricgen.simulate.congestion.trees import crossing, trees
from fabricgen.simulate.plane.ports import Flags, Flows, Ports

MOST_ROUNDS = 16
_MOST_ROUNDS_OF_RATES = 3  # a round costs as much as the first one


@dataclass(frozen=True)
class Cascade:
    """The trees of all rounds, round by round. `roots` counts them, with those whose trees are not made. `left` is the
    number of victims without a root after the last round."""

    trees: Sequence[CongestionTree]
    roots: int
    left: int


def cascade(ports: Ports, flows: Flows, first: StageTimes, *, finite: bool) -> Cascade:
    """The roots of a run of `flows`, and of the runs without the flows of earlier roots."""
    made: list[CongestionTree] = []
    count, stage, rest = 0, first, flows
    for number in range(1, (MOST_ROUNDS if finite else _MOST_ROUNDS_OF_RATES) + 1):
        roots = _roots(stage, later=number > 1)
        if not roots.any():
            break
        made += trees(ports, stage.flows, stage.found, roots, stage.victims, stage.late, number)
        count += int(roots.sum())
        rest = rest.only(~crossing(rest.path, roots))
        affected = followed_flows(ports, rest, finite=finite) if len(rest) else roots[:0]
        if not affected.any():
            return Cascade(made, count, 0)
        ideal_ns = ideal_times_ns(ports, rest, finite=finite)
        stage = follow(ports, rest.only(affected), ideal_ns[affected], finite=finite, repeat=False)
        if not stage.victims.any():
            return Cascade(made, count, 0)
    return Cascade(made, count, int(stage.victims.sum()))


def _roots(stage: StageTimes, *, later: bool) -> Flags:
    """The ports that cause the congestion of a stage: those that other ports wait for, of later rounds only those with
    victims; or else those where a victim gets less than its fair share."""
    roots = stage.found.roots
    with_victims = stage.found.awaited_by(stage.crossed_by_victims()) & roots
    if later and with_victims.any():
        return with_victims
    return roots if roots.any() else stage.shared_unfairly()
