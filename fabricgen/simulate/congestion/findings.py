"""Congestion to findings, each at the port or device that it is about.

What follows from counts, or from routes without a choice, is *proved*; what rests on a draw of hashes is *possible*,
and only a note as long as the pattern fits the fabric when it is spread evenly.
"""

from collections.abc import Iterator, Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Location, Place, Severity, in_order
from fabricgen.results import CongestionModel, CongestionResult, CongestionTree, TreeKind
from fabricgen.units import counted

_FITS = 1.01  # load: a pattern that needs no more, ideally spread, fits
_UNEVEN = 1.25  # rails, by the time that each needs
_FEWER = 0.7  # links used, of those that independent hashes would use
_MOST_TREES = 5
_MUCH_SLOWER = 1.5


def congestion_findings(bundle: Bundle | None, results: Sequence[CongestionResult]) -> list[Finding]:
    """The findings FG701 to FG711 of `analyse_congestion`'s or `analyse_scenario`'s results."""
    found: list[Finding] = []
    for result in results:
        for source in (_tiers, _trees, _victims, _rails, _polarised, _collisions, _rest):
            found += source(bundle, result)
    return in_order(found)


def _tiers(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    for one in result.oversubscribed:
        which = f"{one.tier} tier" if one.rail is None else f"{one.tier} tier of rail {one.rail}"
        message = f"the {which} takes in {one.ratio:g} times what it passes on"
        hint = "Add uplinks, or keep traffic that needs more below this tier."
        yield _at(bundle, "FG701", Severity.NOTE, message, one.device, hint, certain=True)


def _trees(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    telling = [tree for tree in result.trees if tree.victims or not _is_luck(result)]  # of bad luck FG707 tells
    for tree in telling[:_MOST_TREES]:
        device, port = tree.root
        certain = result.single_path and not result.ecn
        if tree.kind is TreeKind.SLOW_RECEIVER:
            message = f"{port} feeds a receiver slower than its one sender and pauses {tree.channels} ports behind it"
            hint = "Give the receiver the speed of its senders, or limit them."
            yield _at(bundle, "FG706", Severity.WARNING, message, device, hint, port, certain=certain)
            continue
        severity = Severity.WARNING if tree.victims and not _is_luck(result) else Severity.NOTE
        message = f"{_cause(tree)} at {port} pauses {counted(tree.channels, 'port')}, the farthest "
        message += f"{counted(tree.depth, 'link')} away; "
        message += f"{counted(tree.victims, 'victim')} among the flows they hold{_transient(result)}"
        incast = tree.kind is TreeKind.INCAST
        hint = (
            "Let fewer send at a time." if incast else "Another placement, more paths or queue pairs spread the load."
        )
        yield _at(bundle, "FG702", severity, message, device, hint, port, certain=certain)


def _cause(tree: CongestionTree) -> str:
    return "an incast" if tree.kind is TreeKind.INCAST else "more than the link carries"


def _victims(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    victims = result.victims
    if not victims:
        return
    count, total = sum(flow.count for flow in victims), sum(flow.count for flow in result.flows)
    worst = victims[0]
    factor = "never ends" if worst.hol_factor is None else f"takes {worst.hol_factor:.1f} times as long"
    message = f"{count} of {total} flows are victims: others hold them up beyond 1.2 times their ideal time; "
    message += f"{worst.src} to {worst.dst} {factor}"
    message += f" ({worst.label}){_transient(result)}" if worst.label else _transient(result)
    severity = Severity.NOTE if _is_luck(result) else Severity.WARNING
    hint = "FG702 names the roots of congestion trees; without roots, victims are gone." if result.trees else ""
    yield _at(bundle, "FG703", severity, message, "", hint, certain=result.single_path and not result.ecn)


def _rails(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    needed = result.rail_bytes
    if len(needed) < 2 or max(needed.values()) <= _UNEVEN * min(needed.values()):
        return
    slow, fast = max(needed, key=lambda rail: needed[rail]), min(needed, key=lambda rail: needed[rail])
    ratio = needed[slow] / needed[fast]
    message = f"rail {slow} needs {ratio:.2f} times as long as rail {fast} to send its part"
    hint = "Give all rails the same NICs, and the job the same ranks on each."
    yield _at(bundle, "FG704", Severity.WARNING, message, "", hint, certain=True)


def _polarised(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    for tier, (used, expected) in result.polarised.items():
        if used < _FEWER * expected:
            message = f"hashing uses {used} links above the {tier} tier, independent hashes would use {expected:.0f}"
            hint = "Give each tier its own DEVICE_METADATA type, from which SONiC takes the hash seed."
            yield _at(bundle, "FG705", Severity.WARNING, message, "", hint)


def _collisions(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    found = result.collisions
    if found is None or result.model is CongestionModel.IDLE:
        return
    fair = max(1.0, found.flows / found.links)
    if found.expected / fair >= _MUCH_SLOWER:
        message = f"hashing {found.flows} flows over {found.links} links puts {found.expected:.1f} on the fullest on "
        message += f"average (over {found.groups} alike), {found.expected / fair:.1f} times an even spread"
        hint = "More queue pairs per connection, or adaptive routing, spread better."
        yield _at(bundle, "FG707", Severity.NOTE, message, "", hint)


def _rest(bundle: Bundle | None, result: CongestionResult) -> Iterator[Finding]:
    if result.model is CongestionModel.SKIPPED:
        yield _at(bundle, "FG708", Severity.NOTE, f"{_plane(result)}not simulated: {result.reason}", "", certain=True)
    elif result.reason and result.flows:
        yield _at(bundle, "FG710", Severity.NOTE, f"{_plane(result)}{result.reason}", "", certain=True)
    if result.unfinished:
        message = f"{counted(result.unfinished, 'flow')} still not through after 40 times the ideal time"
        yield _at(
            bundle, "FG709", Severity.WARNING, message, "", "Ask simulate deadlock first: nothing may move at all."
        )
    if result.unsettled > 0.01 * max(len(result.flows), 1):
        message = f"the rates of {counted(result.unsettled, 'flow')} have not settled: read percentiles, not flows"
        yield _at(bundle, "FG710", Severity.NOTE, message, "")
    if result.lost:
        message = f"{counted(result.lost, 'flow')} of the pattern have no route and are left out"
        hint = "Run the pattern on hosts that reach each other, or see what validate says of the routes."
        yield _at(bundle, "FG711", Severity.WARNING, message, "", hint, certain=True)


def _is_luck(result: CongestionResult) -> bool:
    """Whether the pattern fits when spread evenly, so that only this draw of hashes is to blame."""
    return not result.single_path and result.max_load <= _FITS


def _transient(result: CongestionResult) -> str:
    return ", until ECN has slowed the senders" if result.ecn else ""


def _plane(result: CongestionResult) -> str:
    return f"plane {result.name}: " if result.name else ""


def _at(
    bundle: Bundle | None,
    code: str,
    severity: Severity,
    message: str,
    device: str,
    hint: str = "",
    port: str = "",
    *,
    certain: bool = False,
) -> Finding:
    """A finding at a device's port, at the device, or of the plane as a whole."""
    known = bundle.devices.get(device) if bundle else None
    location: Location | None = None
    if known is not None:
        location = known.locate("PORT", port) if port else known.locate("DEVICE_METADATA", "localhost")
    return Finding(
        code=code,
        severity=severity,
        message=message if known is not None or not device else f"{device}: {message}",
        device=device if known is not None else "",
        place=Place("PORT", port) if known is not None and port else None,
        location=location,
        hint=hint,
        confidence=Confidence.PROVED if certain else Confidence.POSSIBLE,
    )
