"""Tests of each kind of port of a plane under conditions that normal traffic does not produce.

Headroom: a neighbor sends at line rate over the true cable while nothing leaves the switch, in full packets and in the
smallest, which take whole cells of the buffer. Watchdog: a broken NIC, or
any peer, pauses the port for seconds. Ports with equal settings are one kind and are tested once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Place, Severity, in_order
from fabricgen.physics import WIRE_GAP_BYTES
from fabricgen.simulate.packets.analysis import PlaneRun
from fabricgen.simulate.packets.outcome import outcome
from fabricgen.simulate.packets.simulation import run
from fabricgen.simulate.scenario import (
    CongestionControl,
    Flow,
    NodeKind,
    PauseStorm,
    Scenario,
    ScenarioLink,
    ScenarioNode,
    SwitchBuffers,
)
from fabricgen.vocabulary import WatchdogAction

STORM_NS = 3_000_000_000  # longer than any sensible detection time
_MS = 1_000_000
_SMALLEST_BYTES = 64  # of an Ethernet frame
_ALL = 100  # per cent
_SENDER, _SWITCH, _RECEIVER = "sender", "switch", "receiver"


@dataclass(frozen=True)
class _Kind:
    """Ports with equal settings: the first one, and their number."""

    device: str
    port: str
    profile: str
    buffers: SwitchBuffers
    link: ScenarioLink
    count: int


def probe(bundle: Bundle, runs: Sequence[PlaneRun]) -> list[Finding]:
    """FG755 and FG756 for the kinds of ports of the planes that were run."""
    found = [
        finding
        for one in runs
        for kind in _kinds(one)
        for finding in (*_headroom(bundle, one, kind), *_storm(bundle, one, kind))
    ]
    return in_order(found)


def _kinds(one: PlaneRun) -> Iterator[_Kind]:
    scenario = one.made.scenario
    first: dict[object, _Kind] = {}
    for link in scenario.links:
        for device, port, own in ((link.a, link.a_port, link.a_buffers), (link.b, link.b_port, link.b_buffers)):
            if own is None or not own.pfc:
                continue
            settings = replace(own, buffer_bytes=0, ingress_pool_bytes=0, egress_pool_bytes=0)
            key = (settings, link.speed_gbps, link.delay_ns, link.response_ns)
            profile = one.made.switches[device].group(port).profile
            kind = first.get(key) or _Kind(device, port, profile, own, link, 0)
            first[key] = replace(kind, count=kind.count + 1)
    yield from first.values()


def _star(one: PlaneRun, kind: _Kind, buffers: SwitchBuffers, size_bytes: int, storm_ns: int) -> Scenario:
    """A sender on a port of this kind, and a receiver on another one, which pauses the switch from the start."""
    cable = ScenarioLink(_SENDER, _SWITCH, kind.link.speed_gbps, kind.link.delay_ns, response_ns=kind.link.response_ns)
    transport = replace(one.made.scenario.transport, congestion_control=CongestionControl.NONE, dcqcn=None)
    priority = one.made.priority
    return Scenario(
        name=f"{kind.device} {kind.port}",
        nodes=(
            ScenarioNode(_SENDER, NodeKind.HOST),
            ScenarioNode(_RECEIVER, NodeKind.HOST),
            ScenarioNode(_SWITCH, NodeKind.SWITCH, buffers),
        ),
        links=(cable, replace(cable, a=_RECEIVER)),
        flows=(Flow(_SENDER, _RECEIVER, size_bytes, 0, priority),),
        routes={(_SWITCH, _SENDER): _SENDER, (_SWITCH, _RECEIVER): _RECEIVER},
        transport=transport,
        stop_ns=storm_ns,
        storms=(PauseStorm(_RECEIVER, 0, 2 * storm_ns),),
    )


def _headroom(bundle: Bundle, one: PlaneRun, kind: _Kind) -> Iterator[Finding]:
    """FG755, with a low static threshold instead of alpha: headroom starts there as well, a millisecond earlier."""
    low = 16 * one.made.scenario.transport.packet_bytes
    buffers = replace(kind.buffers, static_threshold_bytes=low, watchdog=None)
    full = _star(one, kind, buffers, 4 * low + 4 * buffers.pg_headroom_bytes, 2 * _MS)
    own = f"headroom of {kind.buffers.pg_headroom_bytes} B"
    cable = f"on a cable of {kind.link.delay_ns} ns at {kind.link.speed_gbps:g} Gb/s"
    if drops := outcome(run(full), 1).drops:
        yield _overflow(
            bundle, kind, Severity.ERROR,
            f"{own} overflows {cable}: {drops} packets dropped in the probe of {kind.port}",
            "raise xoff to a round trip, two packets, the pause frame and the response time of the peer",
        )  # fmt: skip
    elif _is_for_floods(one, kind) and (drops := outcome(run(_flood(full)), 1).drops):
        yield _overflow(
            bundle, kind, Severity.NOTE,
            f"{own} overflows {cable} if a peer sends only packets of {_SMALLEST_BYTES} bytes, which take cells of "
            f"{buffers.cell_bytes} B: {drops} packets dropped in the probe of {kind.port}",
            "set a larger xoff if hosts send only such packets at line rate",
        )  # fmt: skip


def _is_for_floods(one: PlaneRun, kind: _Kind) -> bool:
    """Whether headroom is for packets of the smallest size alone. Where the switch computes it, the file says for which
    share of them: SONiC's pattern has 50 %."""
    computed = one.made.switches[kind.device].buffers.computed
    by_pattern = computed is not None and not kind.profile
    share = computed.pattern.small_packet_percentage if computed and by_pattern else _ALL
    return bool(kind.buffers.cell_bytes) and share == _ALL


def _flood(scenario: Scenario) -> Scenario:
    """The scenario with the smallest packets."""
    transport = scenario.transport
    payload = max(1, _SMALLEST_BYTES + WIRE_GAP_BYTES - transport.header_bytes)
    return replace(scenario, transport=replace(transport, payload_bytes=payload))


def _overflow(bundle: Bundle, kind: _Kind, severity: Severity, message: str, hint: str) -> Finding:
    device = bundle.devices[kind.device]
    profile = device.row("BUFFER_PROFILE", kind.profile)
    path = ("BUFFER_PROFILE", kind.profile, "xoff") if profile else ("CABLE_LENGTH",)
    return Finding(
        code="FG755",
        severity=severity,
        message=message,
        device=kind.device,
        place=Place(*path),
        location=device.locate(*path),
        hint=hint,
        confidence=Confidence.OBSERVED,
        count=kind.count,
    )


def _is_detected(one: PlaneRun, kind: _Kind) -> bool:
    """Whether the watchdog of the port detects the storm. The run ends there: for most soon after that time."""
    if not kind.buffers.watchdog:
        return False
    return bool(run(_star(one, kind, kind.buffers, 1 << 20, STORM_NS), until_storm=True).storms)


def _storm(bundle: Bundle, one: PlaneRun, kind: _Kind) -> Iterator[Finding]:
    """FG756 unless a watchdog ends a storm."""
    watchdog = kind.buffers.watchdog
    storms = _is_detected(one, kind)
    if storms and watchdog and watchdog.action is not WatchdogAction.ALERT:
        return
    device = bundle.devices[kind.device]
    state = "its watchdog only alerts" if storms else "its watchdog does not act" if watchdog else "it has no watchdog"
    yield Finding(
        code="FG756",
        severity=Severity.WARNING,
        message=f"a pause storm holds {kind.port} for {STORM_NS / 1e9:g} s: {state}",
        device=kind.device,
        place=Place("PFC_WD", kind.port),
        location=device.locate("PFC_WD", kind.port),
        hint="set PFC_WD with action drop and a detection time of some hundred milliseconds, and pfcwd_sw_enable",
        confidence=Confidence.OBSERVED,
        count=kind.count,
    )
