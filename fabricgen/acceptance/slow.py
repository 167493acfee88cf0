"""Findings about slow tests: the part that is common to them, then collisions, then single tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from fabricgen.acceptance.culprits import Culprit, FabricPart, PartKind, culprits
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
    PartKind.HOST: "FG961",
    PartKind.UPLINKS: "FG962",
    PartKind.SWITCH: "FG962",
    PartKind.RAIL: "FG963",
}
_HINTS = {
    PartKind.NIC: "clean or replace the cable, and check the FEC errors of both ends",
    PartKind.HOST: "compare the BIOS, PCIe and IOMMU settings of the host with those of a good one",
    PartKind.UPLINKS: "check the FEC errors and speeds of the uplinks, and the next hops of the routes",
    PartKind.SWITCH: "compare the running configuration with `fabricgen diff`, and check the switch",
    PartKind.RAIL: "compare the settings of the NICs and leaves of this rail with another rail",
}
_HINT_ALONE = "check the PCIe width and speed, and the firmware, of the NIC"


def slow(found: Sequence[MeasuredTest], bundle: Bundle, predicted: Predicted) -> Iterator[Finding]:
    """The findings. `predicted` is called for collectives that no slow part explains."""
    by_id = {one.test.id: one for one in found}
    links = bundle.wiring.links if bundle.wiring else ()
    leaf_of = {link.a: link.b[0] for link in links if link.kind == LinkKind.HOST_LEAF}
    alone = [one for one in found if one.test.stage in ALONE and one.value is not None]
    # A good loopback test excludes nothing: the cable is not in it.
    counting = [one for one in alone if one.test.stage is not Stage.LOOPBACK or one.is_slow]
    parts_of = {one.test.id: _parts(one.test, leaf_of) for one in counting}
    blamed, unexplained = culprits(parts_of, {one.test.id for one in alone if one.is_slow})
    parts = {culprit.part for culprit in blamed}
    yield from (_blame(culprit, by_id, bundle) for culprit in blamed)
    others = [one for one in found if one.is_slow and one.test.stage not in (*ALONE, Stage.WATCHDOG)]
    left = [one for one in others if parts.isdisjoint(_touched(one.test, leaf_of))]
    yield from _collisions([one for one in left if one.test.stage is Stage.BISECTION], found, leaf_of)
    yield from _collectives([one for one in left if one.test.stage is not Stage.BISECTION], predicted)
    yield from (_single(by_id[test], "other tests of both ends are good: measure it again") for test in unexplained)


def _parts(test: PlannedTest, leaf_of: Mapping[Endpoint, str]) -> tuple[FabricPart, ...]:
    """The parts that can make a point-to-point test slow. The writers of an incast share its only receiver."""
    ends = list(dict.fromkeys(end for end in (test.a, test.b) if end))
    found: list[FabricPart] = []
    for host, nic in ends:
        found += [FabricPart(PartKind.NIC, host, nic), FabricPart(PartKind.HOST, host)]
        leaf = leaf_of.get((host, nic))
        if test.stage is not Stage.LOOPBACK and leaf:
            found.append(FabricPart(PartKind.SWITCH, leaf))
            found += [FabricPart(PartKind.UPLINKS, leaf)] if test.stage in (Stage.FAR, Stage.FAILOVER) else []
    return tuple(dict.fromkeys([*found, *(FabricPart(PartKind.RAIL, test.plane, nic) for _, nic in ends)]))


def _touched(test: PlannedTest, leaf_of: Mapping[Endpoint, str]) -> set[FabricPart]:
    """The parts that a collective, or a pair of a bisection, uses."""
    if not test.hosts:
        return {
            *_parts(test, leaf_of),
            *(FabricPart(PartKind.UPLINKS, leaf_of.get(end, "")) for end in (test.a, test.b) if end),
        }
    rail = test.id.split("/")[2] if test.stage is Stage.RAILS else ""
    hosts = set(test.hosts)
    found = {FabricPart(PartKind.HOST, host) for host in hosts}
    for (host, nic), leaf in leaf_of.items():
        if host in hosts and rail in ("", nic):
            found |= {
                FabricPart(PartKind.NIC, host, nic),
                FabricPart(PartKind.SWITCH, leaf),
                FabricPart(PartKind.UPLINKS, leaf),
            }
            found.add(FabricPart(PartKind.RAIL, test.plane, nic))
    return found


def _blame(culprit: Culprit, by_id: Mapping[str, MeasuredTest], bundle: Bundle) -> Finding:
    tests = [by_id[test] for test in culprit.tests]
    worst = min(tests, key=lambda one: (one.value or 0) / (one.test.expected or 1))
    part = culprit.part
    alone = part.kind is PartKind.NIC and any(one.test.stage is Stage.LOOPBACK for one in tests)
    also = "".join(f", or {_name(other)}" for other in culprit.or_else)
    text = (
        f"{_name(part)}{also}: {len(tests)} of {counted(culprit.total, 'test')} slow"
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


def _name(part: FabricPart) -> str:
    if part.kind is PartKind.RAIL:
        return f"rail {part.port} of plane {part.name}"
    prefix = {PartKind.HOST: "all NICs of ", PartKind.UPLINKS: "the uplinks of ", PartKind.SWITCH: "all ports of "}
    return f"{prefix.get(part.kind, '')}{part.name} {part.port}".rstrip()


def _cable(part: FabricPart, bundle: Bundle) -> tuple[Related, ...]:
    """The cable of a NIC, at its switch port."""
    link = bundle.link_at.get((part.name, part.port))
    device = bundle.devices.get(link.b[0]) if link else None
    if link is None or device is None:
        return ()
    length_m = bundle.cable_length_m.get(link.id)
    length = f" of {length_m:g} m" if length_m else ""
    return (Related(f"cable {link.cable}{length} to {link.b[0]} {link.b[1]}", Location(str(device.file)), device.name),)


def _collisions(
    left: Sequence[MeasuredTest], found: Sequence[MeasuredTest], leaf_of: Mapping[Endpoint, str]
) -> Iterator[Finding]:
    """Pairs that are slow only at the same time as others: they share uplinks of a leaf, by the hash of the switch."""
    by_leaf: dict[str, list[MeasuredTest]] = {}
    for one in left:
        by_leaf.setdefault(_leaf(one, leaf_of), []).append(one)
    for leaf, tests in sorted(by_leaf.items()):
        total = sum(one.test.stage is Stage.BISECTION and _leaf(one, leaf_of) == leaf for one in found)
        worst = min(tests, key=lambda one: one.value or 0)
        text = (
            f"{len(tests)} of {counted(total, 'pair')} from {leaf} slow only together; the worst {compared(worst)}, "
            "which already counts collisions"
        )
        hint = (
            "compare the counters of the uplinks; another hash seed, more queue pairs or adaptive routing spread them"
        )
        yield observed("FG964", leaf, text, hint, [one.test.id for one in tests])


def _leaf(one: MeasuredTest, leaf_of: Mapping[Endpoint, str]) -> str:
    return leaf_of.get(one.test.a, "") if one.test.a else ""


def _collectives(left: Sequence[MeasuredTest], predicted: Predicted) -> Iterator[Finding]:
    for one in left:
        share = predicted(one.test)
        if share < 1 and (one.value or 0) >= share * (one.test.limit or 0):
            text = f"{compared(one)}; hash collisions leave {share * (one.test.expected or 0):.1f}"
            hint = "raise NCCL_IB_QPS_PER_CONNECTION, or use adaptive routing"
            yield observed("FG964", "", text, hint, [one.test.id], one.results[0].file, Severity.WARNING)
        else:
            yield _single(one, "no NIC or switch is slow alone: run it with NCCL_DEBUG=INFO, and compare the rings")


def _single(one: MeasuredTest, hint: str) -> Finding:
    severity = Severity.ERROR if one.verdict is Verdict.FAIL else Severity.WARNING
    device = one.test.a[0] if one.test.a else ""
    return observed("FG970", device, compared(one), hint, [one.test.id], one.results[0].file, severity)
