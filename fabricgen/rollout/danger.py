"""What makes a step of a roll-out dangerous."""

import enum
from collections.abc import Iterator

from fabricgen.diff.batches import KEPT_SHARE
from fabricgen.rollout.mixture import Between


class Danger(enum.StrEnum):
    """What a step does that a safe one does not."""

    CUTS_OFF = "cuts off hosts"
    LOSES_ROUTES = "loses routes between hosts"
    MAKES_CYCLE = "makes a cyclic buffer dependency"
    TAKES_UPLINKS = "takes more of the uplinks than stated"  # of a switch that stays in service
    JOINS_TENANTS = "joins tenants"
    NOT_JUDGED = "is not judged"


def dangers(between: Between, was_cyclic: bool) -> Iterator[Danger]:
    """What is dangerous about a state. A cycle that exists before the change is not made by it."""
    if between.cut_off:
        yield Danger.CUTS_OFF
    if between.lost:
        yield Danger.LOSES_ROUTES
    if between.cyclic and not was_cyclic:
        yield Danger.MAKES_CYCLE
    if not between.is_whole and between.uplink_share < KEPT_SHARE:
        yield Danger.TAKES_UPLINKS
    if between.joined:
        yield Danger.JOINS_TENANTS
    if not between.is_judged:
        yield Danger.NOT_JUDGED
