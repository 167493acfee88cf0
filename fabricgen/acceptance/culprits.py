"""The NIC, host, switch or rail that is common to what is slow."""

import enum
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import median

_BAD_SHARE = 0.75  # of the tests of a culprit: another defect, or chance, can hide it in a few
_OUTLIER_Z = -3.5
_OUTLIER_SHARE = 0.97  # of the median: a difference that is worth a look
_NORMAL = 0.6745  # MAD of a normal distribution in standard deviations


class PartKind(enum.IntEnum):
    """What can be common to tests, the smallest part first."""

    NIC = 0
    NIC_SENDING = 1
    NIC_RECEIVING = 2
    HOST = 3
    HOST_SENDING = 4
    HOST_RECEIVING = 5
    UPLINKS = 6
    UPLINKS_SENDING = 7
    UPLINKS_RECEIVING = 8
    SWITCH = 9
    RAIL = 10


# A direction is named from two bad tests: one alone can be the fault of either end.
DIRECTIONS = (
    PartKind.NIC_SENDING, PartKind.NIC_RECEIVING, PartKind.HOST_SENDING, PartKind.HOST_RECEIVING,
    PartKind.UPLINKS_SENDING, PartKind.UPLINKS_RECEIVING,
)  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class FabricPart:
    """A part of the fabric: NICs have the host and the name, uplinks and switches the device, rails plane and NIC.

    A NIC, a host or the uplinks of a leaf can be a part in one direction only, as seen from the host or the leaf.
    """

    kind: PartKind
    name: str
    port: str = ""


@dataclass(frozen=True, slots=True)
class Culprit:
    """A part, the slow tests that it explains, and other parts that are in exactly the same tests."""

    part: FabricPart
    tests: tuple[str, ...]
    total: int
    or_else: tuple[FabricPart, ...] = ()


def culprits(parts_of: Mapping[str, Collection[FabricPart]], bad: Collection[str]) -> tuple[list[Culprit], list[str]]:
    """The parts that explain the bad tests, and the bad tests that no part explains.

    A part explains its bad tests if nearly all of its tests are bad. The part that explains most comes first; of
    several parts that explain the same the smallest one.
    """
    tests_of: dict[FabricPart, set[str]] = {}
    for test, parts in parts_of.items():
        for part in parts:
            tests_of.setdefault(part, set()).add(test)
    bad_of = {part: tests.intersection(bad) for part, tests in tests_of.items()}
    suspects = [
        part
        for part, tests in tests_of.items()
        if len(bad_of[part]) >= max(_BAD_SHARE * len(tests), 2 if part.kind in DIRECTIONS else min(2, len(tests)), 1)
    ]
    left = set(bad)
    found = []
    while left:
        covers = {part: len(bad_of[part] & left) for part in suspects}
        best = max(suspects, key=lambda part: (covers[part], -part.kind, part), default=None)
        if best is None or not covers[best]:
            break
        alike = sorted(
            part for part in suspects if part != best and part.kind == best.kind and tests_of[part] == tests_of[best]
        )
        explained = bad_of[best] & left
        found.append(Culprit(best, tuple(sorted(explained)), len(tests_of[best]), tuple(alike)))
        left -= explained
    return found, sorted(left)


def outliers(values: Mapping[str, float]) -> set[str]:
    """The tests whose value is far below the others of their kind: a modified z-score by the median deviation."""
    if len(values) < 4:
        return set()
    middle = median(values.values())
    spread = median(abs(value - middle) for value in values.values()) or 1e-9 * abs(middle) or 1e-9
    return {
        test
        for test, value in values.items()
        if _NORMAL * (value - middle) / spread < _OUTLIER_Z and value < _OUTLIER_SHARE * middle
    }
