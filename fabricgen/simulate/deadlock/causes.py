"""Findings about other causes of deadlock than converged routes. They do not change the verdict."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Confidence, Finding, Place, Related, Severity
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.network import Network
from fabricgen.routing.spoken import AbsentSession
from fabricgen.simulate.deadlock.analysis import Evidence, PlaneDeadlock
from fabricgen.simulate.deadlock.core.dependencies import carried, link_dependencies
from fabricgen.simulate.deadlock.core.tiers import tiers
from fabricgen.simulate.deadlock.switching import switched_cycle
from fabricgen.simulate.deadlock.transient_findings import transient_findings
from fabricgen.simulate.plane.interfaces import InterfaceQos
from fabricgen.simulate.plane.queues import QueueTables
from fabricgen.sonic.image import Speaker, text
from fabricgen.sonic.port_qos import PRIORITIES
from fabricgen.vocabulary import LinkKind, Role, WatchdogAction

_NS_PER_MS = 1_000_000
NEIGHBORS = "BGP_NEIGHBOR"


def cause_findings(bundle: Bundle, result: PlaneDeadlock) -> Iterator[Finding]:
    """FG620 and FG624: transient loops after a failure. FG621: a loop check above the leaves that accepts the own ASN.
    FG622: floods. FG623: rings of switched links. FG625: hosts with BGP sessions to several switches. FG627: lossless
    traffic that reaches a lossy queue. FG628: the effect of a watchdog on a cycle."""
    evidence = result.evidence
    if evidence.lossless.priorities:
        if evidence.orders is not None:  # a cycle is reported first
            yield from transient_findings(bundle, evidence)
        yield from _lenient(bundle, evidence)
        yield from _forwarding_hosts(bundle, evidence)
        yield from _lossy_hops(bundle, evidence)
    yield from _switched(bundle, evidence)
    yield from _watchdog(bundle, result)


def _lenient(bundle: Bundle, evidence: Evidence) -> Iterator[Finding]:
    """Switches without hosts that accept their own ASN from below, if another switch of the tier has the same ASN."""
    fabric, network = evidence.fabric, evidence.fabric.network
    level, asn = tiers(network, evidence.traffic.sources), fabric.policy.asn
    falls = level[network.target] < level[network.source]
    suspects = np.flatnonzero((fabric.policy.allowas_in > 0) & falls)
    links = np.array([link for link in suspects.tolist() if _has_equal(network, level, asn, link)], np.int64)
    for switch in np.unique(network.source[links]).tolist():
        link = int(links[network.source[links] == switch][0])
        device = bundle.devices[fabric.names[switch]]
        if device.wired and device.wired.role == Role.LEAF:  # without hosts so far
            continue
        place: tuple[str, ...] = ("DEVICE_METADATA", "localhost", "type")
        if "|" in fabric.row(link):  # the management framework
            place = (NEIGHBORS, fabric.row(link))
        elif text(device.metadata, "type") == "LeafRouter":
            place = ("BGP_BBR", "all", "status")
        yield Finding(
            code="FG621",
            severity=Severity.WARNING,
            message=f"a switch above the leaves accepts paths with its own ASN {fabric.policy.asn[switch]}: after a "
            "failure it sends traffic down to a leaf and up again",
            device=device.name,
            place=Place(*place),
            location=device.locate(*place),
            hint="set the type to LeafRouter or SpineRouter, BGP_BBR all status to disabled, and allow_as_in to false",
            confidence=Confidence.POSSIBLE,
        )


def _has_equal(network: Network, level: NDArray[np.int64], asn: NDArray[np.int64], link: int) -> bool:
    """Whether the lower end of a link has another uplink to a switch of the same level and ASN as the upper end."""
    upper, lower = int(network.source[link]), int(network.target[link])
    above = network.target[network.offsets[lower] : network.offsets[lower + 1]]
    same = (above != upper) & (asn[above] == asn[upper]) & (level[above] == level[upper])
    return bool(same.any())


def _switched(bundle: Bundle, evidence: Evidence) -> Iterator[Finding]:
    cycle = switched_cycle(bundle, evidence)
    if cycle is None:
        return
    switch, member = cycle.member
    around = " -> ".join(f"{name} {port}" for name, port in (*cycle.hops, cycle.hops[0]))
    if cycle.is_ring:
        code, problem = "FG623", "lossless links of VLANs form a ring"
        hint = "route between the switches, or disable PFC on the VLAN's links; spanning tree opens the ring only "
        hint += "while it works"
    else:
        code, problem = "FG622", "flooded frames close a cycle of lossless links"
        hint = "route on every link between switches, so that no frame is flooded to another switch"
    yield Finding(
        code=code,
        severity=Severity.WARNING,
        message=f"{problem} on priority {cycle.priority}: {around}",
        device=switch,
        place=Place("VLAN_MEMBER", member),
        location=bundle.devices[switch].locate("VLAN_MEMBER", member),
        related=tuple(
            Related(f"{name} {port}", bundle.devices[name].locate("PORT_QOS_MAP", port)) for name, port in cycle.hops
        ),
        hint=hint,
        confidence=Confidence.POSSIBLE,
    )


def _forwarding_hosts(bundle: Bundle, evidence: Evidence) -> Iterator[Finding]:
    """Hosts with sessions to several switches that accept and send all routes."""
    sessions: dict[str, dict[str, str]] = defaultdict(dict)
    spoken = evidence.fabric.spoken
    for absent in spoken.absent:
        host = None if absent.inside else _host_behind(bundle, spoken.speakers[absent.switch], absent)
        if host:
            sessions[host].setdefault(absent.switch, absent.key)
    for host, ends in sorted(sessions.items()):
        if len(ends) < 2:
            continue
        switch, key = next(iter(ends.items()))
        yield Finding(
            code="FG625",
            severity=Severity.WARNING,
            message=f"host {host} has sessions with {', '.join(ends)} that accept and send all routes: if the host "
            "forwards packets, it is a valley between them",
            device=switch,
            place=Place(NEIGHBORS, key),
            location=bundle.devices[switch].locate(NEIGHBORS, key),
            related=tuple(
                Related(f"the session of {name}", bundle.devices[name].locate(NEIGHBORS, row))
                for name, row in ends.items()
            ),
            hint="accept only the host's own prefix, by a route map or by BGP_PEER_RANGE, which sends no routes; "
            "disable forwarding on the host",
            confidence=Confidence.POSSIBLE,
        )


def _host_behind(bundle: Bundle, speaker: Speaker, absent: AbsentSession) -> str:
    """The host at the far end of a session without a judged far end; "" if it is not a host, or routes are filtered."""
    neighbor = next(one for one in speaker.neighbors if one.key == absent.key)
    if neighbor.obstacle or not neighbor.terms.unfiltered:
        return ""
    peer = neighbor.peer
    near = [entry.interface for entry in speaker.addresses if peer and entry.network.covers(peer)]
    for port in [neighbor.interface, *near]:
        link = bundle.link_at.get((absent.switch, port))
        if link is not None and link.kind == LinkKind.HOST_LEAF:
            return link.a[0]
    return ""


def _lossy_hops(bundle: Bundle, evidence: Evidence) -> Iterator[Finding]:
    """Links on which packets from a lossless link continue in a queue without PFC."""
    fabric, network, lossless = evidence.fabric, evidence.fabric.network, evidence.lossless
    if lossless.uniform and len(np.unique(lossless.mask)) < 2:
        return
    hops = forwarding(network, evidence.routes, fabric.discards)
    graph = link_dependencies(network, hops, carried(network, hops, evidence.traffic.sources))
    held, awaited = network.incoming[graph.tails()], network.incoming[graph.successors]
    lost: dict[tuple[int, int], list[int]] = {}
    for priority in lossless.priorities:
        onward = lossless.onward[lossless.arrival[held], lossless.departure[awaited], priority]
        is_held = (lossless.mask[held] >> priority & 1).astype(bool)
        for link in np.unique(awaited[is_held & (onward & lossless.mask[awaited] == 0)]).tolist():
            lost.setdefault((int(network.source[link]), priority), []).append(link)
    for (switch, priority), links in sorted(lost.items()):
        name, port = fabric.names[switch], fabric.port(links[0])
        far, far_port = fabric.names[network.target[links[0]]], fabric.port(int(network.reverse[links[0]]))
        yield Finding(
            code="FG627",
            severity=Severity.WARNING,
            message=f"packets that arrive on priority {priority} leave through {port} to {far} in a queue without PFC: "
            "they can be dropped, and the verdict has no dependency from there on",
            device=name,
            place=Place("PORT_QOS_MAP", port),
            location=bundle.devices[name].locate("PORT_QOS_MAP", port),
            related=(Related("the far end", bundle.devices[far].locate("PORT_QOS_MAP", far_port)),),
            hint="enable PFC on the priority at both ends, and map its traffic class to the same priority everywhere",
            count=len(links),
        )


def _watchdog(bundle: Bundle, result: PlaneDeadlock) -> Iterator[Finding]:
    """When a watchdog breaks the first cycle. A watchdog removes no dependency; it drops the packets that wait."""
    if not result.cycles:
        return
    first_cycle = result.cycles[0]
    hops = first_cycle.hops
    armed = [(times, *hop) for hop in hops if (times := _detection_ms(bundle, hop, first_cycle.priority))]
    switch, port = hops[0]
    message = (
        "no port of the cycle has a watchdog that drops packets: once frozen, it stays frozen until a port is shut down"
    )
    if armed:
        (first, poll), switch, port = min(armed)
        message = (
            f"a watchdog breaks the cycle {first} to {first + poll} ms after it freezes, by dropping the packets that "
            f"wait at {switch} {port}; the cycle can freeze again at once, so this mitigates but does not cure it"
        )
    yield Finding(
        code="FG628",
        severity=Severity.NOTE,
        message=message,
        device=switch,
        place=Place("PFC_WD", port),
        location=bundle.devices[switch].locate("PFC_WD", port),
        hint="remove the cycle, as its finding says; on Broadcom the watchdog detects it only while pause frames are "
        "repeated",
    )


def _detection_ms(bundle: Bundle, hop: Endpoint, priority: int) -> tuple[int, int] | None:
    """(detection time, poll interval) in ms of the watchdog on a port that is paused on a priority, if it drops or
    forwards the packets that wait."""
    switch, port = hop
    device = bundle.devices[switch]
    qos = InterfaceQos(device.config).of(port)
    queue = qos.map_array("pfc_to_queue_map", PRIORITIES)[priority]
    watchdog = QueueTables(device).watchdog(qos, queue)
    if watchdog is None or watchdog.action is WatchdogAction.ALERT:
        return None
    return watchdog.detection_ns // _NS_PER_MS, watchdog.poll_ns // _NS_PER_MS
