"""Findings about transient loops after a failure."""

from collections.abc import Iterator

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Confidence, Finding, Place, Related, Severity
from fabricgen.simulate.deadlock.analysis import Evidence
from fabricgen.simulate.deadlock.transients import transient_loops
from fabricgen.sonic.image import text
from fabricgen.units import whole_number

NEIGHBORS = "BGP_NEIGHBOR"
TTL = 64  # of packets from hosts


def transient_findings(bundle: Bundle, evidence: Evidence) -> Iterator[Finding]:
    """FG620: the loop after the first failure that can cause one. FG624: the rate above which a loop freezes."""
    loops = transient_loops(evidence)
    if not loops:
        return
    fabric, network, loop = evidence.fabric, evidence.fabric.network, loops[0]
    struck, neighbor = fabric.names[network.source[loop.failed]], fabric.names[loop.neighbor]
    failed, back = fabric.port(loop.failed), fabric.port(loop.back)
    lost = fabric.names[network.target[loop.failed]]
    prefix = evidence.traffic.witness[loop.column]
    key = fabric.row(loop.back)
    there = fabric.port(int(network.reverse[loop.back]))
    related = (
        Related(
            f"{struck} {failed} to {lost} fails", bundle.devices[struck].locate(NEIGHBORS, fabric.row(loop.failed))
        ),
        Related(
            f"{neighbor} still sends {prefix} through {there} to {struck}",
            bundle.devices[neighbor].locate(NEIGHBORS, fabric.row(int(network.reverse[loop.back]))),
        ),
    )
    yield Finding(
        code="FG620",
        severity=Severity.WARNING,
        message=f"when {struck} loses {failed} to {lost}, it can send {prefix} back to {neighbor}, which still sends "
        f"{prefix} to {struck}: {struck} {back} -> {neighbor} {there} -> {struck} {back}",
        device=struck,
        place=Place(NEIGHBORS, key),
        location=bundle.devices[struck].locate(NEIGHBORS, key),
        related=related,
        hint="give the switches of this tier one ASN (RFC 7938): the loop check then refuses the neighbors' routes, "
        "and packets are dropped for a short time instead of looping",
        confidence=Confidence.POSSIBLE,
        count=len(loops),
    )
    speed_mbps = whole_number(text(bundle.devices[struck].row("PORT", back), "speed"))
    if speed_mbps is not None:
        yield _rate_bound(bundle, struck, back, speed_mbps / 1000)


def _rate_bound(bundle: Bundle, switch: str, port: str, gbps: float) -> Finding:
    return Finding(
        code="FG624",
        severity=Severity.NOTE,
        message=f"a loop of two switches over {gbps:g} Gb/s freezes if more than {2 * gbps / TTL:g} Gb/s enter it "
        f"(2 links x {gbps:g} Gb/s / TTL {TTL})",
        device=switch,
        place=Place("PORT", port, "speed"),
        location=bundle.devices[switch].locate("PORT", port, "speed"),
        hint="below this rate packets leave the loop by their TTL; a smaller TTL at the hosts raises the bound",
        confidence=Confidence.POSSIBLE,
    )
