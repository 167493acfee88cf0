"""Causes in links between switches: links that damage frames, uplinks that carry too little, and hash collisions."""

from collections.abc import Iterator, Sequence

from fabricgen.acceptance.causes.cause import ALIKE, Cause, CauseKind, Evidence, share, worst
from fabricgen.acceptance.link_errors import DamagedLink, lines_of
from fabricgen.acceptance.measured import MeasuredTest, Verdict
from fabricgen.acceptance.planned import Stage
from fabricgen.bundle.wiring import WiredLink
from fabricgen.units import counted, listed
from fabricgen.vocabulary import LinkKind

_ENOUGH_PAIRS = 4
_UNEVEN = 1.3  # the fullest uplink over the mean
_UPWARDS = (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)
MOST_LINES = 4  # of counters in the evidence of one cause


def damaged_cable(damaged: DamagedLink, shown: Sequence[str] = ()) -> Cause:
    """One link damages frames."""
    a, b = damaged.link.a, damaged.link.b
    if damaged.link.kind is LinkKind.HOST_LEAF:
        text = f"the cable of {a[0]} {a[1]} has errors, from {b[0]} {b[1]}"
    else:
        text = f"the cable from {a[0]} {a[1]} to {b[0]} {b[1]} has errors"
    command = f"clean or replace the cable {damaged.link.cable} or its transceivers, then measure again"
    return Cause(CauseKind.CABLE, f"{a[0]} {a[1]}", text, (*shown, *damaged.shown), command)


def damaged_uplinks(evidence: Evidence, leaf: str, shown: Sequence[str] = ()) -> Cause | None:
    """Links of a leaf to higher switches damage frames; None if none of them does."""
    damaged = [one for one in evidence.seen.damaged if _is_uplink(one.link, leaf)]
    if len(damaged) < 2:
        return damaged_cable(damaged[0], shown) if damaged else None
    uplinks = sum(_is_uplink(link, leaf) for link in evidence.bundle.links)
    ports = [one.link.a[1] for one in damaged]
    text = f"{len(damaged)} of {uplinks} uplinks of {leaf} have errors: {listed(ports)}"
    command = f"on {leaf}: show interfaces fec status, show interfaces transceiver info; compare both ends of the links"
    return Cause(CauseKind.UPLINKS, leaf, text, (*shown, *lines_of(damaged, MOST_LINES)), command)


def _is_uplink(link: WiredLink, switch: str) -> bool:
    return link.a[0] == switch and link.kind in _UPWARDS


def single(evidence: Evidence) -> Iterator[Cause]:
    """Slow tests without a part in common: links at their leaves have errors, or the cause is unknown."""
    damaged = {one.link.a[0] for one in evidence.seen.damaged if one.link.kind in _UPWARDS}
    of_leaf: dict[str, list[MeasuredTest]] = {}
    left = []
    for one in evidence.slow.single:
        leaves = {evidence.slow.leaf_of.get(end, "") for end in (one.test.a, one.test.b) if end}
        blamed = leaves & damaged if len(leaves) > 1 else set()
        left += [] if blamed else [one]
        for leaf in blamed:
            of_leaf.setdefault(leaf, []).append(one)
    for leaf, tests in sorted(of_leaf.items()):
        if cause := damaged_uplinks(evidence, leaf, (worst(tests),)):
            yield cause
    if left:
        text = f"cannot tell: {counted(len(left), 'slow test')} without a NIC, host, leaf or rail in common"
        command = "run the same tests again: " + listed([one.test.id for one in left], 3)
        yield Cause(CauseKind.UNKNOWN, "", text, (worst(left),), command)


def together(evidence: Evidence) -> Iterator[Cause]:
    """The cause for each leaf whose pairs are slow at the same time only."""
    by_leaf: dict[str, list[MeasuredTest]] = {}
    for one in evidence.slow.together:
        by_leaf.setdefault(evidence.slow.leaf(one), []).append(one)
    alone = {end for one in evidence.found if one.test.stage is Stage.FAR and one.verdict is Verdict.PASS
             for end in (one.test.a, one.test.b)}  # fmt: skip
    for leaf, tests in sorted(by_leaf.items()):
        in_bisection = (one for one in evidence.found if one.test.stage is Stage.BISECTION)
        of_leaf = [one for one in in_bisection if evidence.slow.leaf(one) == leaf]
        shown: tuple[str, ...] = (
            f"{len(tests)} of {counted(len(of_leaf), 'pair')} from {leaf} slow at the same time",
            worst(tests),
        )
        shown = (*shown, *evenness(evidence, leaf))
        if cause := damaged_uplinks(evidence, leaf, shown):
            yield cause
            continue
        if not all(one.test.a in alone for one in tests):
            text = (
                f"cannot tell uplinks from hash collisions: the pairs from {leaf} are slow together, and were not "
                "measured alone"
            )
            yield Cause(CauseKind.UNKNOWN, "", text, shown, "measure the same pairs one after the other (stage far)")
            continue
        shares = [share(one) for one in of_leaf if one.value is not None]
        if len(of_leaf) == len(tests) >= _ENOUGH_PAIRS and min(shares) > ALIKE * max(shares):
            text = (
                f"the uplinks of {leaf} carry less together than alone: all its pairs lose the same, and hash "
                "collisions are uneven"
            )
            command = f"on {leaf}: show interfaces status, show ip route: count the uplinks that are up and in use"
            yield Cause(CauseKind.UPLINKS, leaf, text, shown, command)
        else:
            text = f"hash collisions on the uplinks of {leaf}: its pairs are good alone and uneven together"
            command = f"on {leaf}: show interfaces counters of the uplinks; then raise NCCL_IB_QPS_PER_CONNECTION"
            yield Cause(CauseKind.COLLISIONS, leaf, text, shown, command)


def evenness(evidence: Evidence, leaf: str) -> tuple[str, ...]:
    """How evenly the uplinks of a leaf sent, if its counters were read."""
    return tuple(
        f"uplinks of {leaf} are {'uneven' if one.mmr > _UNEVEN else 'even'}: {one.fullest} sent {one.mmr:.2f} "
        f"times the mean of {one.links}"
        for one in evidence.seen.fairness
        if one.device == leaf
    )
