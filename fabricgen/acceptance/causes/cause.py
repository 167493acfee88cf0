"""What a cause is, and the evidence from which causes are found."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fabricgen.acceptance.counters import SentFairness
from fabricgen.acceptance.host_counters import NicRise, rise_lines
from fabricgen.acceptance.link_errors import DamagedLink
from fabricgen.acceptance.measured import MeasuredTest
from fabricgen.acceptance.planned import Stage
from fabricgen.acceptance.slow import Slow
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Finding
from fabricgen.vocabulary import Purpose

OF_PAIRS = (Stage.NEAR, Stage.BACK, Stage.FAR)
ALIKE = 0.9  # parts that are slow together within this share of each other are slow in the same way


class CauseKind(enum.StrEnum):
    """What the cause is."""

    NONE = "none"  # every measured part carries what the files promise
    CABLING = "cabling"
    LOST_PACKETS = "lost packets"
    TRAFFIC_CLASS = "traffic class"
    PAUSE_STORM = "pause storm"
    NIC = "nic"
    CABLE = "cable"  # a link that damages frames
    DIRECTION = "direction"
    HOST = "host"
    LEAF = "leaf"
    UPLINKS = "uplinks"
    RAIL = "rail"
    COLLISIONS = "hash collisions"
    COLLECTIVES = "collectives"  # links are good: NCCL or the hosts
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause: the part of the fabric or "", a sentence, what shows it, and the command to run next."""

    kind: CauseKind
    part: str
    sentence: str
    evidence: tuple[str, ...] = ()
    next_command: str = ""


@dataclass(frozen=True)
class Observations:
    """What a run measured beside its tests: how evenly uplinks sent, counters of NICs, links that damage frames,
    and all findings; and what was left out."""

    fairness: Sequence[SentFairness]
    nics: Mapping[Endpoint, NicRise]
    damaged: Sequence[DamagedLink]
    findings: Sequence[Finding]
    switches: int = 0  # with counters before and after
    with_drops: int = 0  # of them
    with_storms: int = 0
    with_errors: int = 0
    left_out: int = 0  # files that belong to no test


@dataclass(frozen=True)
class Evidence:
    """The tests of a run, those that are slow, the fabric, and what was observed beside the tests."""

    found: Sequence[MeasuredTest]
    slow: Slow
    bundle: Bundle
    seen: Observations

    def switch_port(self, nic: Endpoint) -> str:
        """'leaf1 Ethernet0', where the link of a NIC ends; "" without a link."""
        link = self.bundle.link_at.get(nic)
        return f"{link.b[0]} {link.b[1]}" if link else ""

    @cached_property
    def planes(self) -> frozenset[str]:
        """The planes that the slow collectives can use: with one rail that of the rail, otherwise all for compute."""
        wiring = self.bundle.wiring
        compute = {one.name for one in wiring.planes if one.purpose == Purpose.COMPUTE} if wiring else set()
        tests = [one.test for one, _ in self.slow.collectives]
        return frozenset(
            name for test in tests for name in ((test.plane,) if test.stage is Stage.RAILS else (test.plane, *compute))
        )

    @cached_property
    def damaged(self) -> tuple[DamagedLink, ...]:
        """The links with errors that the slow collectives can use."""
        return tuple(one for one in self.seen.damaged if one.link.plane in self.planes)

    def pairs(self) -> list[MeasuredTest]:
        """The measured pairs that ran alone."""
        return [one for one in self.found if one.test.stage in OF_PAIRS and one.value is not None]


def value(one: MeasuredTest) -> float:
    """The value of a test, 0 without a result."""
    return one.value or 0


def share(one: MeasuredTest) -> float:
    """The value of a test as a share of what the files promise."""
    return value(one) / (one.test.expected or 1)


def of_expected(one: MeasuredTest) -> str:
    """'180.2 of 392.15 Gb/s'."""
    return f"{value(one):.1f} of {one.test.expected} {one.test.unit}"


def worst(tests: Sequence[MeasuredTest]) -> str:
    """The slowest of the tests in words."""
    slowest = min(tests, key=share)
    return f"{slowest.test.id}: {of_expected(slowest)}, {share(slowest):.0%}"


def risen(end: Endpoint, rise: NicRise) -> list[str]:
    """A line for each counter of a NIC that rose."""
    return rise_lines(end, {**rise.errors, **rise.pauses, **rise.stalled})
