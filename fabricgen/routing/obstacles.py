"""The far end of a neighbor row, found step by step, and the reason why the session stays down."""

from typing import NamedTuple

from fabricgen.routing.answers import NONE
from fabricgen.routing.spoken import AbsentSession
from fabricgen.routing.spoken_files import SpokenFiles
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.image import InterfaceAddress, Neighbor

_FAR_END = "held down by the far end"
_NEIGHBORS = "BGP_NEIGHBOR"


class SessionFailure(NamedTuple):
    """Why a session stays down, and the switch and (table, key, field) of the cause; () is the row itself."""

    reason: str
    switch: str
    place: tuple[str, ...] = ()


class FarEnd(NamedTuple):
    """The far end of a session: its switch, its interface and its neighbor row."""

    switch: str
    interface: str
    row: int


class Obstacles:
    """Looks at the rows of both ends of a session. Rows have numbers, see `spoken_rows`."""

    def __init__(self, read: SpokenFiles) -> None:
        self.bundle, self.names, self.speakers = read.bundle, read.names, read.speakers
        self.addresses, self.neighbors, self.found = read.addresses, read.neighbors, read.found
        self.ports_down, self.acl = read.ports_down, read.acl
        self.number = {name: number for number, name in enumerate(read.names)}
        self.in_vrf = {self.addresses.row(row).host: row for row in self.addresses.vrf}
        unnumbered = self.neighbors.interface.items()
        self.by_interface = {(self.neighbors.switch_of(row), interface): row for row, interface in unnumbered}

    def unplugged(self, near: tuple[str, str], far: tuple[str, str]) -> str:
        """Why two interfaces of one subnet are not connected; "" if they are, or if no cable of them is known."""
        link = self.bundle.link_at.get(near)
        if link is None or not near[1].startswith("Ethernet"):
            return ""
        plugged = link.b if link.a == near else link.a
        return "" if plugged == far else f"{near[1]} is cabled to {' '.join(plugged)}, not to {' '.join(far)}"

    def absent(self, name: str, row: int, why: SessionFailure) -> AbsentSession:
        """The session of a row, which stays down."""
        neighbor = self.neighbors.row(row)
        far, session = self._ends(name, neighbor, row)
        is_known = self.found.owner[row] != NONE or (name, neighbor.interface) in self.bundle.link_at
        cause = (why.switch or name, why.place or (_NEIGHBORS, neighbor.key))
        follows = why.reason.startswith(_FAR_END)
        is_cordoned = cause[1][:1] == ("PORT",) and (cause[0], cause[1][1]) in self.bundle.cordoned
        return AbsentSession(
            name, neighbor.key, why.reason, bool(is_known or far), follows, far, cause, session, is_cordoned
        )

    def _ends(self, name: str, neighbor: Neighbor, row: int) -> tuple[str, frozenset[object]]:
        """The switch at the far end of a row, "" if it is not judged, and what both rows of the session share."""
        if neighbor.peer is None:
            link = self.bundle.link_at.get((name, neighbor.interface))
            if link is None:
                return "", frozenset()
            far = link.b if link.a == (name, neighbor.interface) else link.a
            return (
                (far[0], frozenset([(name, neighbor.interface), far])) if far[0] in self.speakers else ("", frozenset())
            )
        addresses = [one for one in self.speakers[name].addresses if one.table != "LOOPBACK_INTERFACE"]
        near = next((one for one in addresses if one.network.covers(neighbor.peer)), None)
        session = frozenset([near.host, neighbor.peer]) if near else frozenset()
        owner = int(self.found.owner[row])
        if owner == NONE:
            owner = self.in_vrf.get(neighbor.peer, NONE)
        if owner != NONE:
            holder = self.names[self.addresses.switch_of(owner)]
            return ("" if holder == name else holder), session
        link = self.bundle.link_at.get((name, near.interface)) if near else None
        beyond = "" if link is None else link.b[0] if link.a[0] == name else link.a[0]
        return (beyond if beyond in self.speakers and beyond != name else ""), session

    def far_end(self, name: str, row: int) -> tuple[str, FarEnd] | SessionFailure:
        """(own interface, far end), or the reason why the session stays down."""
        neighbor = self.neighbors.row(row)
        if neighbor.obstacle:
            return SessionFailure(neighbor.obstacle, name, neighbor.cause)
        found = self._by_address(name, row, neighbor.peer) if neighbor.peer else self._by_link(name, neighbor.interface)
        if isinstance(found, SessionFailure):
            return found
        near, far = found
        answer = self.neighbors.row(far.row)
        if answer.obstacle:
            return SessionFailure(f"{_FAR_END} {far.switch}: {answer.obstacle}", far.switch, answer.cause)
        version = neighbor.peer.version if neighbor.peer else 6  # unnumbered sessions use link-local addresses
        ends = (name, near), (far.switch, far.interface)
        down = self._port_down(name, near, far) or self._filtered(version, *ends)
        return self._disagreement(name, neighbor, far, answer) or down or (near, far)

    def _filtered(self, version: int, near: tuple[str, str], far: tuple[str, str]) -> SessionFailure | None:
        """ACLs must stop the connections that each of the two ends opens."""
        if not (self.acl[near[0]] or self.acl[far[0]]):
            return None
        found = []
        for opener, other in ((near, far), (far, near)):
            stops = (
                (opener, "egress", True),
                (other, "ingress", True),
                (other, "egress", False),
                (opener, "ingress", False),
            )
            rules = [
                (switch, key)
                for (switch, port), stage, is_request in stops
                if (key := self.acl[switch].get((port, stage, version, is_request)))
            ]
            if not rules:
                return None
            found += rules
        switch, key = found[0]
        return SessionFailure(f"ACL_RULE|{key} of {switch} drops the packets of BGP", switch, ("ACL_RULE", key))

    def _disagreement(self, name: str, neighbor: Neighbor, far: FarEnd, answer: Neighbor) -> SessionFailure | None:
        own, other = self.speakers[name], self.speakers[far.switch]
        if own.asn == other.asn:
            reason = f"{far.switch} has the same ASN {own.asn}: internal sessions are not modelled"
            return SessionFailure(reason, name, ("DEVICE_METADATA", "localhost", "bgp_asn"))
        if neighbor.asn not in (None, other.asn):
            return SessionFailure(f"the row has ASN {neighbor.asn}, {far.switch} has {other.asn}", name)
        if answer.asn not in (None, own.asn):
            reason = f"the row at {far.switch} has ASN {answer.asn}, this switch has {own.asn}"
            return SessionFailure(reason, far.switch, (_NEIGHBORS, answer.key))
        if neighbor.terms.waits and answer.terms.waits:
            return SessionFailure(f"the row is passive, and so is the one at {far.switch}: neither end connects", name)
        if neighbor.terms.checks_ttl != answer.terms.checks_ttl:
            reason = "only one end sets ttl_security_hops: it drops the packets of the other one, whose TTL is 1"
            return SessionFailure(reason, name)
        if own.router_id and own.router_id == other.router_id:
            reason = f"{far.switch} has the same router id {own.router_id}"
            return SessionFailure(reason, name, ("DEVICE_METADATA", "localhost", "bgp_router_id"))
        return None

    def _port_down(self, name: str, near: str, far: FarEnd) -> SessionFailure | None:
        for switch, interface in ((name, near), (far.switch, far.interface)):
            if interface in self.ports_down[switch]:
                return SessionFailure(f"{switch} {interface} is shut down", switch, self.ports_down[switch][interface])
        return None

    def _by_address(self, name: str, row: int, peer: Address) -> tuple[str, FarEnd] | SessionFailure:
        owner, number = int(self.found.owner[row]), self.number[name]
        if owner == NONE or self.addresses.switch_of(owner) == number:
            held = self.in_vrf.get(peer, NONE) if owner == NONE else NONE
            if held != NONE and self.addresses.switch_of(held) != number:
                other, entry = self.names[self.addresses.switch_of(held)], self.addresses.row(held)
                reason = f"{other} {entry.interface} has {peer.ip} in VRF {entry.vrf}, not in the default VRF"
                return SessionFailure(reason, other, (entry.table, entry.interface))
            return SessionFailure(f"no other judged switch has the address {peer.ip}", name)
        holder = self.addresses.switch_of(owner)
        other, entry = self.names[holder], self.addresses.row(owner)
        if not entry.bound:
            reason = f"{other} {entry.interface} has {peer.ip} but no base row"
            return SessionFailure(reason, other, (entry.table, entry.interface))
        near = int(self.found.near[row])
        if near == NONE:
            near = self._around(number, entry)
        if near == NONE:
            return SessionFailure(f"no interface shares a subnet with {peer.ip}", name)
        answer, interface = self.found.answer_of(holder, near), self.addresses.interface[near]
        if answer == NONE:
            return self._unanswered(other, self.addresses.row(near).host)
        unplugged = self.unplugged((name, interface), (other, entry.interface))
        if unplugged:
            return SessionFailure(unplugged, name)
        return interface, FarEnd(other, entry.interface, answer)

    def _around(self, switch: int, far: InterfaceAddress) -> int:
        """The row of an interface whose subnet is not that of the far address but contains it; FRR takes its source
        address from it."""
        subnets: dict[Address, int] = {}
        for row in self.addresses.rows_of(switch):
            entry = self.addresses.row(row)
            if entry.bound and not entry.vrf and entry.table != "LOOPBACK_INTERFACE":
                subnets[entry.network] = row
        return next((row for subnet, row in subnets.items() if subnet.covers(far.host)), NONE)

    def _unanswered(self, other: str, address: Address) -> SessionFailure:
        """Why the switch that has the peer address does not answer this address."""
        one = self.speakers[other]
        if one.obstacle:
            return SessionFailure(f"{_FAR_END} {other}: {one.obstacle.reason}", other, one.obstacle.place)
        row = next((row for subnet, row in one.listens if subnet.covers(address)), None)
        if row is not None:
            return SessionFailure(f"{other} answers {address.ip} by {'|'.join(row)}, which sends no routes", other, row)
        return SessionFailure(f"{other} has no BGP_NEIGHBOR {address.ip}", other, (_NEIGHBORS, address.ip))

    def _by_link(self, name: str, interface: str) -> tuple[str, FarEnd] | SessionFailure:
        link = self.bundle.link_at.get((name, interface))
        if link is None:
            return SessionFailure(f"no cable of {interface} is known", name)
        switch, port = link.b if link.a == (name, interface) else link.a
        if switch not in self.speakers:
            return SessionFailure(f"{interface} is cabled to {switch}, which is not a judged switch", name)
        answer = self.by_interface.get((self.number[switch], port))
        if answer is None:
            if obstacle := self.speakers[switch].obstacle:
                return SessionFailure(f"{_FAR_END} {switch}: {obstacle.reason}", switch, obstacle.place)
            reason = f"{switch} has no unnumbered BGP_NEIGHBOR on {port}"
            return SessionFailure(reason, switch, (_NEIGHBORS, f"default|{port}"))
        return interface, FarEnd(switch, port, answer)
