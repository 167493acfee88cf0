"""The rule on links that are out of service on purpose."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.wiring import WiredLink, WiredNic
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric


@rule("FG264", Severity.ERROR, "A cordoned link disconnects a host or a rail of it")
def cordoned_hosts(fabric: Fabric) -> Iterator[Defect]:
    """What: Each host has a link in service on each of its planes, and on each of its rails. A host without any link is
    an error, a rail without one a warning.

    Why: A link with state cordoned is down at both ends. A job on a host that lost a rail fails or waits, because
    collectives use every rail; the scheduler places jobs there until someone drains the host.

    Example: The link of gpu-000 rail0 is cordoned, and no other NIC of the host is on rail 0.

    Fix: Drain the host in the scheduler until the cable is replaced. If the wrong link is cordoned, correct `links` of
    the inventory.

    Source: fabric.json, which lists the cordoned links.
    """
    cordoned = fabric.bundle.cordoned
    links = {link.a: link for link in fabric.bundle.host_links}
    if cordoned.isdisjoint(links):
        return
    for name, host in fabric.hosts.items():
        of_plane: dict[str, dict[WiredNic, WiredLink]] = {}
        for nic in host.nics:
            if link := links.get((name, nic.name)):
                of_plane.setdefault(nic.plane, {})[nic] = link
        for plane, own in of_plane.items():
            down = {nic: link for nic, link in own.items() if link.a in cordoned}
            if len(down) == len(own):
                yield _defect(fabric, down, f"{name} has no link in service on plane {plane}", Severity.ERROR)
                continue
            served = {nic.rail for nic in own.keys() - down.keys()}
            for nic, link in down.items():
                if nic.rail is not None and nic.rail not in served:
                    message = f"{name} has no link in service on rail {nic.rail} of plane {plane}"
                    yield _defect(fabric, {nic: link}, message, Severity.WARNING)


def _defect(fabric: Fabric, down: Mapping[WiredNic, WiredLink], message: str, severity: Severity) -> Defect:
    """The finding at the switch port of the first cordoned link."""
    first, *others = [fabric.ends_of[link.b[0]][link.b[1]].place("PORT", "admin_status") for link in down.values()]
    related = tuple(("another cordoned link of the host", place) for place in others)
    hint = "drain the host in the scheduler until the cable is replaced"
    return Defect(first, message, hint, related, severity)
