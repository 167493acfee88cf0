"""Each kind of port of a plane put to the test that a good day never brings.

Headroom: a neighbour sends at line rate while everything behind the port stands still, on the true cable. Watchdog: a
broken NIC, or any peer, pauses the port for seconds. Ports with equal settings are one kind, tested once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Place, Severity, in_order
from fabricgen.simulate.packets.outcome import outcome
from fabricgen.simulate.packets.planes import PlaneRun
from fabricgen.simulate.packets.simulation import run
from fabricgen.simulate.scenario import Flow, Link, Node, PauseStorm, Scenario, SwitchBuffers

STORM_NS = 3_000_000_000  # longer than any sensible detection time
_MS = 1_000_000
_SENDER, _SWITCH, _RECEIVER = "sender", "switch", "receiver"


@dataclass(frozen=True)
class _Kind:
    """Ports that are alike: the first one, and how many there are."""

    device: str
    port: str
    profile: str
    buffers: SwitchBuffers
    link: Link
    count: int


def probe(bundle: Bundle, runs: Sequence[PlaneRun]) -> list[Finding]:
    """FG755 and FG756 for the kinds of ports in the planes that were run."""
    found = [
        finding
        for one in runs
        for kind in _kinds(one)
        for finding in (*_headroom(bundle, one, kind), *_storm(bundle, one, kind))
    ]
    return in_order(found)


def _kinds(one: PlaneRun) -> Iterator[_Kind]:
    scenario, settings = one.made.scenario, one.made.settings
    switches = {node.name: node.buffers for node in scenario.nodes if node.buffers}
    first: dict[object, _Kind] = {}
    for link in scenario.links:
        for device, port, own in ((link.a, link.a_port, link.a_buffers), (link.b, link.b_port, link.b_buffers)):
            shared = switches.get(device)
            if shared is None or not own.get("pfc"):
                continue
            buffers = replace(shared, **own)
            key = (replace(buffers, buffer_bytes=0), link.speed_gbps, link.delay_ns, link.response_ns)
            kind = first.get(key) or _Kind(device, port, settings[device].profile_name(port), buffers, link, 0)
            first[key] = replace(kind, count=kind.count + 1)
    yield from first.values()


def _star(one: PlaneRun, kind: _Kind, size_bytes: int, storm_ns: int, **changes: object) -> Scenario:
    """A sender on a port of this kind, a receiver on another one, which pauses from the beginning."""
    own: Mapping[str, object] = {"watchdog": None, **changes}
    buffers = replace(kind.buffers, **own)  # type: ignore[arg-type]
    cable = {"speed_gbps": kind.link.speed_gbps, "delay_ns": kind.link.delay_ns, "response_ns": kind.link.response_ns}
    transport = replace(one.made.scenario.transport, congestion_control="none", dcqcn=None)
    priority = one.made.priority
    return Scenario(
        name=f"{kind.device} {kind.port}",
        nodes=(Node(_SENDER, "host"), Node(_RECEIVER, "host"), Node(_SWITCH, "switch", buffers)),
        links=(Link(_SENDER, _SWITCH, **cable), Link(_RECEIVER, _SWITCH, **cable)),  # type: ignore[arg-type]
        flows=(Flow(_SENDER, _RECEIVER, size_bytes, 0, priority),),
        routes={(_SWITCH, _SENDER): _SENDER, (_SWITCH, _RECEIVER): _RECEIVER},
        transport=transport,
        stop_ns=storm_ns,
        storms=(PauseStorm(_RECEIVER, 0, 2 * storm_ns),),
    )


def _headroom(bundle: Bundle, one: PlaneRun, kind: _Kind) -> Iterator[Finding]:
    """With a fixed low threshold in place of alpha: it takes a millisecond less, and headroom begins there, too."""
    low = 16 * one.made.scenario.transport.packet_bytes
    scenario = _star(one, kind, 4 * low + 4 * kind.buffers.pg_headroom_bytes, 2 * _MS, static_threshold_bytes=low)
    drops = outcome(run(scenario), 1).drops
    if drops:
        device = bundle.devices[kind.device]
        profile = device.row("BUFFER_PROFILE", kind.profile)
        path = ("BUFFER_PROFILE", kind.profile, "xoff") if profile else ("CABLE_LENGTH",)
        yield Finding(
            code="FG755",
            severity=Severity.ERROR,
            message=f"headroom of {kind.buffers.pg_headroom_bytes} B overflows on a cable of {kind.link.delay_ns} ns "
            f"at {kind.link.speed_gbps:g} Gb/s: {drops} packets dropped in the probe of {kind.port}",
            device=kind.device,
            place=Place(*path),
            location=device.locate(*path),
            hint="Headroom must hold a round trip, two packets, the pause frame and the peer's response time.",
            confidence=Confidence.OBSERVED,
            count=kind.count,
        )


def _storm(bundle: Bundle, one: PlaneRun, kind: _Kind) -> Iterator[Finding]:
    watchdog = kind.buffers.watchdog
    scenario = _star(one, kind, 1 << 20, STORM_NS, watchdog=watchdog)
    storms = run(scenario).storms
    if storms and watchdog and watchdog.action != "alert":
        return
    device = bundle.devices[kind.device]
    state = "its watchdog only alerts" if storms else "no watchdog acts" if watchdog else "it has no watchdog"
    yield Finding(
        code="FG756",
        severity=Severity.WARNING,
        message=f"a pause storm holds {kind.port} for {STORM_NS / 1e9:g} s: {state}",
        device=kind.device,
        place=Place("PFC_WD", kind.port),
        location=device.locate("PFC_WD", kind.port),
        hint="Set PFC_WD with action drop and a detection time of some hundred milliseconds, and pfcwd_sw_enable.",
        confidence=Confidence.OBSERVED,
        count=kind.count,
    )
