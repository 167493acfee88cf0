"""Findings about slow tests: the part that is common to them, then collisions, then single tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.acceptance.culprits import Culprit, FabricPart, PartKind, culprits
from fabricgen.acceptance.made import POINT_TO_POINT
from fabricgen.acceptance.measured import MeasuredTest, Verdict
from fabricgen.acceptance.planned import PlannedTest, Stage
from fabricgen.acceptance.reported import ALONE, compared, observed
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.units import counted
from fabricgen.vocabulary import LinkKind

Predicted = Callable[[PlannedTest], float]  # the share of the expected value that is left where paths collide
_CODES = {
    PartKind.NIC: "FG961",
    PartKind.NIC_SENDING: "FG961",
    PartKind.NIC_RECEIVING: "FG961",
    PartKind.HOST: "FG961",
    PartKind.HOST_SENDING: "FG961",
    PartKind.HOST_RECEIVING: "FG961",
    PartKind.UPLINKS: "FG962",
    PartKind.UPLINKS_SENDING: "FG962",
    PartKind.UPLINKS_RECEIVING: "FG962",
    PartKind.SWITCH: "FG962",
    PartKind.RAIL: "FG963",
}
_ONE_WAY = "compare the queue and PFC counters of the ports in this direction, and the FEC errors of the receiving ends"
_OF_HOST = "compare the BIOS, PCIe and IOMMU settings of the host with those of a good one"
_HINTS = {
    PartKind.NIC: "clean or replace the cable, and check the FEC errors of both ends",
    PartKind.NIC_SENDING: _ONE_WAY,
    PartKind.NIC_RECEIVING: _ONE_WAY,
    PartKind.UPLINKS_SENDING: _ONE_WAY,
    PartKind.UPLINKS_RECEIVING: _ONE_WAY,
    PartKind.HOST_SENDING: _OF_HOST,
    PartKind.HOST_RECEIVING: _OF_HOST,
    PartKind.HOST: _OF_HOST,
    PartKind.UPLINKS: "check the FEC errors and speeds of the uplinks, and the next hops of the routes",
    PartKind.SWITCH: "compare the running configuration with `fabricgen diff`, and check the switch",
    PartKind.RAIL: "compare the settings of the NICs and leaves of this rail with another rail",
}
_LEAF_PARTS = (PartKind.SWITCH, PartKind.UPLINKS, PartKind.UPLINKS_SENDING, PartKind.UPLINKS_RECEIVING)
_HINT_ALONE = "check the PCIe width and speed, and the firmware, of the NIC"


@dataclass(frozen=True)
class Slow:
    """The slow tests, by what explains them.

    `blamed` are the parts that are common to tests that run alone, `single` those tests that no part explains.
    `together` are pairs that are slow at the same time as others. `collectives` are (test, share that hash collisions
    leave of it). Tests that use a blamed part are in neither.
    """

    blamed: tuple[Culprit, ...]
    single: tuple[MeasuredTest, ...]
    together: tuple[MeasuredTest, ...]
    collectives: tuple[tuple[MeasuredTest, float], ...]
    leaf_of: Mapping[Endpoint, str]

    def leaf(self, one: MeasuredTest) -> str:
        """The leaf of the writer of a pair; "" for other tests."""
        return self.leaf_of.get(one.test.a, "") if one.test.a else ""


def find_slow(found: Sequence[MeasuredTest], bundle: Bundle, predicted: Predicted) -> Slow:
    """The slow tests. `predicted` is called for collectives that no slow part explains."""
    by_id = {one.test.id: one for one in found}
    links = bundle.wiring.links if bundle.wiring else ()
    leaf_of = {link.a: link.b[0] for link in links if link.kind == LinkKind.HOST_LEAF}
    alone = [one for one in found if one.test.stage in ALONE and one.value is not None]
    # A good loopback test excludes nothing: the cable is not in it.
    counting = [one for one in alone if one.test.stage is not Stage.LOOPBACK or one.is_slow]
    parts_of = {one.test.id: _parts(one.test, leaf_of) for one in counting}
    blamed, unexplained = culprits(parts_of, {one.test.id for one in alone if one.is_slow})
    parts = {culprit.part for culprit in blamed}
    others = [one for one in found if one.is_slow and one.test.stage not in (*ALONE, Stage.WATCHDOG)]
    left = [one for one in others if parts.isdisjoint(_touched(one.test, leaf_of))]
    return Slow(
        tuple(blamed),
        tuple(by_id[test] for test in unexplained),
        tuple(one for one in left if one.test.stage is Stage.BISECTION),
        tuple((one, predicted(one.test)) for one in left if one.test.stage is not Stage.BISECTION),
        leaf_of,
    )


def slow_findings(slow: Slow, found: Sequence[MeasuredTest], bundle: Bundle) -> Iterator[Finding]:
    """The findings: parts first, then collisions, collectives and single tests."""
    by_id = {one.test.id: one for one in found}
    yield from (_blame(culprit, by_id, bundle) for culprit in slow.blamed)
    yield from _collisions(slow, found)
    yield from _collectives(slow.collectives)
    yield from (_single(one, "other tests of both ends are good: measure it again") for one in slow.single)


def _parts(test: PlannedTest, leaf_of: Mapping[Endpoint, str]) -> tuple[FabricPart, ...]:
    """The parts that can make a point-to-point test slow. The writers of an incast share its only receiver."""
    ends = list(dict.fromkeys(end for end in (test.a, test.b) if end))
    found: list[FabricPart] = list(_directions(test, leaf_of))
    for host, nic in ends:
        found += [FabricPart(PartKind.NIC, host, nic), FabricPart(PartKind.HOST, host)]
        leaf = leaf_of.get((host, nic))
        if test.stage is not Stage.LOOPBACK and leaf:
            found.append(FabricPart(PartKind.SWITCH, leaf))
            found += [FabricPart(PartKind.UPLINKS, leaf)] if test.stage in (Stage.FAR, Stage.FAILOVER) else []
    return tuple(dict.fromkeys([*found, *(FabricPart(PartKind.RAIL, test.plane, nic) for _, nic in ends)]))


def _directions(test: PlannedTest, leaf_of: Mapping[Endpoint, str]) -> Iterator[FabricPart]:
    """The parts of a pair in the direction of its data."""
    if test.a == test.b:
        return
    if test.a:
        yield FabricPart(PartKind.NIC_SENDING, *test.a)
        yield FabricPart(PartKind.HOST_SENDING, test.a[0])
    if test.b:
        yield FabricPart(PartKind.NIC_RECEIVING, *test.b)
        yield FabricPart(PartKind.HOST_RECEIVING, test.b[0])
    if test.a and test.b and test.stage not in (Stage.NEAR, Stage.BACK):
        yield FabricPart(PartKind.UPLINKS_SENDING, leaf_of.get(test.a, ""))
        yield FabricPart(PartKind.UPLINKS_RECEIVING, leaf_of.get(test.b, ""))


def _touched(test: PlannedTest, leaf_of: Mapping[Endpoint, str]) -> set[FabricPart]:
    """The parts that a collective, or a pair of a bisection, uses."""
    if not test.hosts:
        return {
            *_parts(test, leaf_of),
            *(FabricPart(PartKind.UPLINKS, leaf_of.get(end, "")) for end in (test.a, test.b) if end),
        }
    rail = test.id.split("/")[2] if test.stage is Stage.RAILS else ""
    hosts = set(test.hosts)
    kinds = (PartKind.HOST, PartKind.HOST_SENDING, PartKind.HOST_RECEIVING)
    found = {FabricPart(kind, host) for host in hosts for kind in kinds}
    for (host, nic), leaf in leaf_of.items():
        if host in hosts and rail in ("", nic):
            found |= {
                *(FabricPart(kind, host, nic) for kind in (PartKind.NIC, PartKind.NIC_SENDING, PartKind.NIC_RECEIVING)),
                *(FabricPart(kind, leaf) for kind in _LEAF_PARTS),
            }
            found.add(FabricPart(PartKind.RAIL, test.plane, nic))
    return found


def _blame(culprit: Culprit, by_id: Mapping[str, MeasuredTest], bundle: Bundle) -> Finding:
    tests = [by_id[test] for test in culprit.tests]
    worst = min(tests, key=lambda one: (one.value or 0) / (one.test.expected or 1))
    part = culprit.part
    alone = part.kind is PartKind.NIC and any(one.test.stage is Stage.LOOPBACK for one in tests)
    also = "".join(f", or {name_of(other)}" for other in culprit.or_else)
    text = (
        f"{name_of(part)}{also}: {len(tests)} of {counted(culprit.total, 'test')} slow"
        f"{', also without the cable' if alone else ''}; the worst {compared(worst)}"
    )
    failed = any(one.verdict is Verdict.FAIL for one in tests)
    return observed(
        _CODES[part.kind],
        "" if part.kind is PartKind.RAIL else part.name,
        text,
        _HINT_ALONE if alone else _HINTS[part.kind],
        culprit.tests,
        severity=Severity.ERROR if failed else Severity.WARNING,
        path=part.port,
        related=_cable(part, bundle),
    )


_PREFIXES = {
    PartKind.NIC_SENDING: "what leaves ",
    PartKind.NIC_RECEIVING: "what arrives at ",
    PartKind.HOST: "all NICs of ",
    PartKind.HOST_SENDING: "what leaves all NICs of ",
    PartKind.HOST_RECEIVING: "what arrives at all NICs of ",
    PartKind.UPLINKS: "the uplinks of ",
    PartKind.UPLINKS_SENDING: "the uplinks from ",
    PartKind.UPLINKS_RECEIVING: "the uplinks to ",
    PartKind.SWITCH: "all ports of ",
}


def name_of(part: FabricPart) -> str:
    """A part in words: 'gpu-000 rail0', 'the uplinks of compute-su00-r0-leaf'."""
    if part.kind is PartKind.RAIL:
        return f"rail {part.port} of plane {part.name}"
    return f"{_PREFIXES.get(part.kind, '')}{part.name} {part.port}".rstrip()


def _cable(part: FabricPart, bundle: Bundle) -> tuple[Related, ...]:
    """The cable of a NIC, at its switch port."""
    link = bundle.link_at.get((part.name, part.port))
    device = bundle.devices.get(link.b[0]) if link else None
    if link is None or device is None:
        return ()
    length_m = bundle.cable_length_m.get(link.id)
    length = f" of {length_m:g} m" if length_m else ""
    return (Related(f"cable {link.cable}{length} to {link.b[0]} {link.b[1]}", Location(str(device.file)), device.name),)


def _collisions(slow: Slow, found: Sequence[MeasuredTest]) -> Iterator[Finding]:
    """Pairs that are slow only at the same time as others: they share uplinks of a leaf, by the hash of the switch."""
    by_leaf: dict[str, list[MeasuredTest]] = {}
    for one in slow.together:
        by_leaf.setdefault(slow.leaf(one), []).append(one)
    for leaf, tests in sorted(by_leaf.items()):
        total = sum(one.test.stage is Stage.BISECTION and slow.leaf(one) == leaf for one in found)
        worst = min(tests, key=lambda one: one.value or 0)
        text = (
            f"{len(tests)} of {counted(total, 'pair')} from {leaf} slow only together; the worst {compared(worst)}"
            f"{', which already counts collisions' if _counts_collisions(worst.test) else ''}"
        )
        hint = (
            "compare the counters of the uplinks; another hash seed, more queue pairs or adaptive routing spread them"
        )
        yield observed("FG964", leaf, text, hint, [one.test.id for one in tests])


def _counts_collisions(test: PlannedTest) -> bool:
    """Whether the limit is lower than that of the pair alone."""
    return (test.limit or 0) < (test.expected or 0) * POINT_TO_POINT.passes - 0.01


def is_collision(one: MeasuredTest, share: float) -> bool:
    """Whether a collective reaches what hash collisions leave of it."""
    return share < 1 and (one.value or 0) >= share * (one.test.limit or 0)


def _collectives(left: Sequence[tuple[MeasuredTest, float]]) -> Iterator[Finding]:
    for one, share in left:
        if is_collision(one, share):
            text = f"{compared(one)}; hash collisions leave {share * (one.test.expected or 0):.1f}"
            hint = "raise NCCL_IB_QPS_PER_CONNECTION, or use adaptive routing"
            yield observed("FG964", "", text, hint, [one.test.id], one.results[0].file, Severity.WARNING)
        elif one.is_too_small:
            yield _single(one, "run it again with buffers up to 8 GB (-e 8G): those of this run are too small")
        else:
            yield _single(one, "no NIC or switch is slow alone: run it with NCCL_DEBUG=INFO, and compare the rings")


def _single(one: MeasuredTest, hint: str) -> Finding:
    severity = Severity.ERROR if one.verdict is Verdict.FAIL else Severity.WARNING
    device = one.test.a[0] if one.test.a else ""
    return observed("FG970", device, compared(one), hint, [one.test.id], one.results[0].file, severity)
