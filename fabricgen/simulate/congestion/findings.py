"""Findings of congestion, each at its port or device.

Results of counts, or of routes without a choice, are *proved*. Results that depend on a draw of hashes are *possible*;
they are only notes if the pattern fits the fabric when it is spread evenly.
"""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity, in_order
from fabricgen.results import CongestionModel, CongestionResult, CongestionTree, TreeKind
from fabricgen.simulate.plane.findings import finding_at
from fabricgen.units import counted

_FITS = 1.01  # load of a pattern that fits when it is spread evenly
_UNEVEN = 1.25  # ratio of the times that rails need
_FEWER = 0.7  # links used, over those that independent hashes would use
_MOST_TREES = 5
_MUCH_SLOWER = 1.5


def congestion_findings(bundle: Bundle | None, results: Sequence[CongestionResult]) -> list[Finding]:
    """The findings FG701 to FG711 and FG719 of the results of `analyse_congestion` or `analyse_scenario`."""
    found: list[Finding] = []
    skipped = [result for result in results if result.model is CongestionModel.SKIPPED]
    for result in skipped:  # a verdict on nothing does not pass
        severity = Severity.ERROR if len(skipped) == len(results) else Severity.NOTE
        message = f"{_plane(result)}not simulated: {result.reason}"
        found.append(finding_at(bundle, "FG708", severity, message, "", certain=True))
    for result in results:
        for source in (_tiers, _trees, _victims, _rails, _polarised, _collisions, _rest):
            found += source(bundle, result)
    return in_order(found)


def _tiers(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    for one in result.oversubscribed:
        which = f"{one.tier} tier" if one.rail is None else f"{one.tier} tier of rail {one.rail}"
        message = f"the links of the {which} downwards are {one.ratio:g} times as fast as those upwards"
        hint = "add uplinks, or keep traffic that needs more below this tier"
        yield finding_at(bundle, "FG701", Severity.NOTE, message, one.device, hint, certain=True)


def _trees(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    reported = [tree for tree in result.trees if tree.victims or not _is_luck(result)]  # FG707 reports bad luck
    certain = result.single_path and not result.ecn
    for tree in reported[:_MOST_TREES]:
        device, port = tree.root
        if tree.kind is TreeKind.SLOW_RECEIVER:
            message = f"{port} feeds a receiver slower than its only sender, and pauses {tree.channels} ports behind it"
            hint = "give the receiver the speed of its senders, or limit the senders"
            yield finding_at(bundle, "FG706", Severity.WARNING, message, device, hint, port, certain=certain)
            continue
        severity = Severity.WARNING if tree.victims and not _is_luck(result) else Severity.NOTE
        message = f"{_tree_text(tree)}{_later(tree)}{_transient(result)}"
        incast = tree.kind is TreeKind.INCAST
        hint = "let fewer hosts send at a time" if incast else "change the placement, or add paths or queue pairs"
        yield finding_at(bundle, "FG702", severity, message, device, hint, port, certain=certain)
    if more := result.roots - len(result.trees) + len(reported[_MOST_TREES:]):
        message = f"{_plane(result)}{counted(more, 'more root')}; the JSON output has the trees of {len(result.trees)}"
        yield finding_at(bundle, "FG702", Severity.NOTE, message, "", certain=certain)


def _tree_text(tree: CongestionTree) -> str:
    port = tree.root[1]
    if tree.kind is TreeKind.UNFAIR_SHARE:
        return f"flows share {port} unequally: {counted(tree.victims, 'victim')} among them"
    cause = "an incast" if tree.kind is TreeKind.INCAST else "more load than the link can carry"
    text = f"{cause} at {port} pauses {counted(tree.channels, 'port')}, the farthest {counted(tree.depth, 'link')} away"
    return f"{text}; {counted(tree.victims, 'victim')} among the flows that these ports delay"


def _later(tree: CongestionTree) -> str:
    return f", after the flows of the roots before are gone (round {tree.round})" if tree.round > 1 else ""


def _victims(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    victims = result.victims
    if not victims:
        return
    count, total = sum(flow.count for flow in victims), sum(flow.count for flow in result.flows)
    worst = victims[0]
    factor = "does not complete" if worst.hol_factor is None else f"takes {worst.hol_factor:.1f} times as long"
    message = f"{count} of {total} flows are victims: other flows delay them beyond 1.2 times their ideal time; "
    message += f"{worst.src} to {worst.dst} {factor}"
    message += f" ({worst.label}){_transient(result)}" if worst.label else _transient(result)
    if result.unexplained:
        message += f"; {counted(result.unexplained, 'flow')} would also be victims after the flows of all roots end"
    severity = Severity.NOTE if _is_luck(result) else Severity.WARNING
    hint = "relieve the roots of the congestion trees that FG702 names" if result.trees else ""
    yield finding_at(bundle, "FG703", severity, message, "", hint, certain=result.single_path and not result.ecn)


def _rails(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    needed = result.rail_bytes
    if len(needed) < 2 or max(needed.values()) <= _UNEVEN * min(needed.values()):
        return
    slow, fast = max(needed, key=lambda rail: needed[rail]), min(needed, key=lambda rail: needed[rail])
    ratio = needed[slow] / needed[fast]
    message = f"rail {slow} needs {ratio:.2f} times as long as rail {fast} to send its share"
    hint = "give all rails the same NICs, and the job the same ranks on each rail"
    yield finding_at(bundle, "FG704", Severity.WARNING, message, "", hint, certain=True)


def _polarised(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    for tier, (used, expected) in result.polarised.items():
        if used < _FEWER * expected:
            message = f"hashing uses {used} links above the {tier} tier; independent hashes would use {expected:.0f}"
            hint = "give the tiers DEVICE_METADATA types whose hashes have different offsets (FG352, FG369)"
            yield finding_at(bundle, "FG705", Severity.WARNING, message, "", hint)


def _collisions(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    found = result.collisions
    if found is None or result.model is CongestionModel.IDLE:
        return
    fair = max(1.0, found.flows / found.links)
    if found.expected / fair >= _MUCH_SLOWER:
        message = f"hashing {found.flows} flows over {found.links} links puts {found.expected:.1f} on the fullest link "
        message += f"on average ({counted(found.groups, 'switch')}), {found.expected / fair:.1f} times an even spread"
        hint = "use more queue pairs per connection, or adaptive routing"
        yield finding_at(bundle, "FG707", Severity.NOTE, message, "", hint)


def _rest(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    if result.reason and result.flows and result.model is not CongestionModel.SKIPPED:
        yield finding_at(bundle, "FG710", Severity.NOTE, f"{_plane(result)}{result.reason}", "", certain=True)
    if result.balance and result.model is not CongestionModel.SKIPPED:
        yield finding_at(bundle, "FG710", Severity.NOTE, f"{_plane(result)}{result.balance}", "", certain=True)
    if result.repeating:
        message = f"{_plane(result)}completion times do not hold: {result.repeating} repeat packets that arrive out of "
        message += "order, and all that follow"
        hint = "run `fabricgen simulate packets`; use NICs that place packets out of order, or a path for each flow"
        yield finding_at(bundle, "FG710", Severity.WARNING, message, "", hint)
    if result.unfinished:
        message = f"{counted(result.unfinished, 'flow')} not completed after 40 times the ideal time"
        yield finding_at(
            bundle,
            "FG709",
            Severity.WARNING,
            message,
            "",
            "run `fabricgen simulate deadlock` first: the plane may be deadlocked",
        )
    if result.unsettled > 0.01 * max(len(result.flows), 1):
        message = f"the rates of {counted(result.unsettled, 'flow')} have not settled: only their distribution is valid"
        yield finding_at(bundle, "FG710", Severity.NOTE, message, "")
    if result.blocked:
        message = (
            f"{_plane(result)}VRFs or ACLs block {result.blocked} of the {counted(result.pairs, 'pair')} of hosts "
        )
        message += f"in {result.pattern}: nothing is sent between them"
        hint = "run the pattern on hosts that can reach each other, or correct the VRFs and ACLs"
        yield finding_at(bundle, "FG719", Severity.WARNING, message, "", hint, certain=True)
    if result.lost:
        message = f"{counted(result.lost, 'flow')} of the pattern have no route and are not simulated"
        hint = "run the pattern on hosts that can reach each other, or check the routes with `fabricgen validate`"
        yield finding_at(bundle, "FG711", Severity.WARNING, message, "", hint, certain=True)


def _is_luck(result: CongestionResult) -> bool:
    """Whether the pattern fits when spread evenly, so only this draw of hashes causes the congestion."""
    return not result.single_path and result.max_load <= _FITS


def _transient(result: CongestionResult) -> str:
    return ", until ECN slows the senders" if result.ecn else ""


def _plane(result: CongestionResult) -> str:
    return f"plane {result.name}: " if result.name else ""
