"""config_db files to eBGP sessions: the pairs of rows that make a session, and the reason why a row makes none.

A session needs a row at both ends. Each row has an address (or, unnumbered, a port) of the other end and its ASN. A
session that cannot come up is left out of the routing model and reported, because it changes the next hops.
"""

from collections.abc import Mapping
from typing import NamedTuple

from fabricgen.bundle.forgetful import shut_of
from fabricgen.bundle.outside import outside_sessions, read_speaker
from fabricgen.bundle.read import Bundle
from fabricgen.routing.spoken import AbsentSession, Session, SessionEnd, SpokenFabric
from fabricgen.sonic.acl import dropped_bgp
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.image import InterfaceAddress, Neighbor, Speaker
from fabricgen.sonic.tables import ConfigDb

_LOSSLESS_TABLES = (
    "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
    "PORTCHANNEL_MEMBER", "VLAN_MEMBER",
)  # fmt: skip
_FAR_END = "held down by the far end"
_NEIGHBORS = "BGP_NEIGHBOR"


def find_sessions(bundle: Bundle, switches: list[str]) -> SpokenFabric:
    """The sessions among `switches`. Raises UnreadableInputError if a file is not JSON."""
    return _Pairing(bundle, switches).run()


class _Failure(NamedTuple):
    """Why a session stays down, and the switch and (table, key, field) of the cause; () is the row itself."""

    reason: str
    switch: str
    place: tuple[str, ...] = ()


class _Pairing:
    """Finds for every neighbor row the row at the far end."""

    def __init__(self, bundle: Bundle, switches: list[str]) -> None:
        self.bundle = bundle
        self.speakers: dict[str, Speaker] = {}
        self.ports_down: dict[str, Mapping[str, tuple[str, ...]]] = {}  # interface -> the field that shuts it down
        self.acl: dict[str, dict[tuple[str, str, int, bool], str]] = {}
        self.tables: dict[str, ConfigDb] = {}
        for name in switches:
            config = bundle.devices[name].content.peek()
            self.speakers[name] = read_speaker(config, bundle.release)
            self.ports_down[name] = shut_of(bundle.devices[name])
            self.acl[name] = dropped_bgp(config)
            self.tables[name] = {table: config[table] for table in _LOSSLESS_TABLES if table in config}
        speakers = self.speakers
        self.by_peer = {name: {n.peer: n for n in one.neighbors if n.peer} for name, one in speakers.items()}
        self.by_interface = {
            name: {n.interface: n for n in one.neighbors if n.interface} for name, one in speakers.items()
        }
        self.owner: dict[Address, tuple[str, InterfaceAddress]] = {}
        self.in_vrf: dict[Address, tuple[str, InterfaceAddress]] = {}
        self.by_subnet: dict[str, dict[Address, InterfaceAddress]] = {}
        for name, one in speakers.items():
            usable = [entry for entry in one.addresses if not entry.vrf]
            self.owner.update([(entry.host, (name, entry)) for entry in usable])
            self.in_vrf.update([(entry.host, (name, entry)) for entry in one.addresses if entry.vrf])
            routed = [entry for entry in usable if entry.bound and entry.table != "LOOPBACK_INTERFACE"]
            self.by_subnet[name] = {entry.network: entry for entry in routed}

    def run(self) -> SpokenFabric:
        sessions: list[Session] = []
        absent: list[AbsentSession] = []
        answered: dict[str, set[str]] = {name: set() for name in self.speakers}  # rows of sessions already found
        for name, one in self.speakers.items():
            done = answered[name]
            beyond = {neighbor.key for _, neighbor in outside_sessions(self.bundle, name, one)}
            for neighbor in one.neighbors:
                if neighbor.key in done or (neighbor.key in beyond and not neighbor.obstacle):
                    continue
                far = self._far_end(name, neighbor)
                if isinstance(far, _Failure):
                    absent.append(self._absent(name, neighbor, far))
                    continue
                near, other = SessionEnd(name, far[0], neighbor), far[1]
                answered[other.switch].add(other.neighbor.key)
                sessions.append(Session(near, other) if name < other.switch else Session(other, near))
        down = frozenset((name, port) for name, ports in self.ports_down.items() for port in ports)
        return SpokenFabric(self.speakers, tuple(sessions), tuple(absent), self.tables, down)

    def _absent(self, name: str, neighbor: Neighbor, why: "_Failure") -> AbsentSession:
        far, session = self._ends(name, neighbor)
        is_known = neighbor.peer in self.owner or (name, neighbor.interface) in self.bundle.link_at
        cause = (why.switch or name, why.place or (_NEIGHBORS, neighbor.key))
        follows = why.reason.startswith(_FAR_END)
        is_cordoned = cause[1][:1] == ("PORT",) and (cause[0], cause[1][1]) in self.bundle.cordoned
        return AbsentSession(
            name, neighbor.key, why.reason, is_known or bool(far), follows, far, cause, session, is_cordoned
        )

    def _ends(self, name: str, neighbor: Neighbor) -> tuple[str, frozenset[object]]:
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
        owner = self.owner.get(neighbor.peer) or self.in_vrf.get(neighbor.peer)
        if owner is not None:
            return ("" if owner[0] == name else owner[0]), session
        link = self.bundle.link_at.get((name, near.interface)) if near else None
        beyond = "" if link is None else link.b[0] if link.a[0] == name else link.a[0]
        return (beyond if beyond in self.speakers and beyond != name else ""), session

    def _far_end(self, name: str, neighbor: Neighbor) -> "tuple[str, SessionEnd] | _Failure":
        """(own interface, far end), or the reason why the session stays down."""
        if neighbor.obstacle:
            return _Failure(neighbor.obstacle, name, neighbor.cause)
        found = self._by_address(name, neighbor.peer) if neighbor.peer else self._by_link(name, neighbor.interface)
        if isinstance(found, _Failure):
            return found
        near, far = found
        answer = far.neighbor
        if answer.obstacle:
            return _Failure(f"{_FAR_END} {far.switch}: {answer.obstacle}", far.switch, answer.cause)
        version = neighbor.peer.version if neighbor.peer else 6  # unnumbered sessions use link-local addresses
        ends = (name, near), (far.switch, far.interface)
        down = self._port_down(name, near, far) or self._filtered(version, *ends)
        return self._disagreement(name, neighbor, far) or down or (near, far)

    def _filtered(self, version: int, near: tuple[str, str], far: tuple[str, str]) -> "_Failure | None":
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
        return _Failure(f"ACL_RULE|{key} of {switch} drops the packets of BGP", switch, ("ACL_RULE", key))

    def _disagreement(self, name: str, neighbor: Neighbor, far: SessionEnd) -> "_Failure | None":
        own, other = self.speakers[name], self.speakers[far.switch]
        if own.asn == other.asn:
            reason = f"{far.switch} has the same ASN {own.asn}: internal sessions are not modelled"
            return _Failure(reason, name, ("DEVICE_METADATA", "localhost", "bgp_asn"))
        if neighbor.asn not in (None, other.asn):
            return _Failure(f"the row has ASN {neighbor.asn}, {far.switch} has {other.asn}", name)
        if far.neighbor.asn not in (None, own.asn):
            reason = f"the row at {far.switch} has ASN {far.neighbor.asn}, this switch has {own.asn}"
            return _Failure(reason, far.switch, (_NEIGHBORS, far.neighbor.key))
        if own.router_id and own.router_id == other.router_id:
            reason = f"{far.switch} has the same router id {own.router_id}"
            return _Failure(reason, name, ("DEVICE_METADATA", "localhost", "bgp_router_id"))
        return None

    def _port_down(self, name: str, near: str, far: SessionEnd) -> "_Failure | None":
        for switch, interface in ((name, near), (far.switch, far.interface)):
            if interface in self.ports_down[switch]:
                return _Failure(f"{switch} {interface} is shut down", switch, self.ports_down[switch][interface])
        return None

    def _by_address(self, name: str, peer: Address) -> "tuple[str, SessionEnd] | _Failure":
        owner = self.owner.get(peer)
        if owner is None or owner[0] == name:
            if owner is None and peer in self.in_vrf and self.in_vrf[peer][0] != name:
                other, entry = self.in_vrf[peer]
                reason = f"{other} {entry.interface} has {peer.ip} in VRF {entry.vrf}, not in the default VRF"
                return _Failure(reason, other, (entry.table, entry.interface))
            return _Failure(f"no other judged switch has the address {peer.ip}", name)
        other, entry = owner
        if not entry.bound:
            reason = f"{other} {entry.interface} has {peer.ip} but no base row"
            return _Failure(reason, other, (entry.table, entry.interface))
        near = self._interface_towards(name, entry)
        if near is None:
            return _Failure(f"no interface shares a subnet with {peer.ip}", name)
        answer = self.by_peer[other].get(near.host)
        if answer is None:
            return self._unanswered(other, near.host)
        unplugged = self._unplugged((name, near.interface), (other, entry.interface))
        if unplugged:
            return _Failure(unplugged, name)
        return near.interface, SessionEnd(other, entry.interface, answer)

    def _unanswered(self, other: str, address: Address) -> "_Failure":
        """Why the switch that has the peer address does not answer this address."""
        one = self.speakers[other]
        if one.obstacle:
            return _Failure(f"{_FAR_END} {other}: {one.obstacle.reason}", other, one.obstacle.place)
        row = next((row for subnet, row in one.listens if subnet.covers(address)), None)
        if row is not None:
            return _Failure(f"{other} answers {address.ip} by {'|'.join(row)}, which sends no routes", other, row)
        return _Failure(f"{other} has no BGP_NEIGHBOR {address.ip}", other, (_NEIGHBORS, address.ip))

    def _interface_towards(self, name: str, far: InterfaceAddress) -> InterfaceAddress | None:
        """The interface whose subnet contains the far address; FRR takes its source address from it."""
        subnets = self.by_subnet[name]
        same = subnets.get(far.network)
        if same is not None:
            return same
        return next((entry for subnet, entry in subnets.items() if subnet.covers(far.host)), None)

    def _unplugged(self, near: tuple[str, str], far: tuple[str, str]) -> str:
        """Why two interfaces of one subnet are not connected; "" if they are, or if no cable of them is known."""
        link = self.bundle.link_at.get(near)
        if link is None or not near[1].startswith("Ethernet"):
            return ""
        plugged = link.b if link.a == near else link.a
        return "" if plugged == far else f"{near[1]} is cabled to {' '.join(plugged)}, not to {' '.join(far)}"

    def _by_link(self, name: str, interface: str) -> "tuple[str, SessionEnd] | _Failure":
        link = self.bundle.link_at.get((name, interface))
        if link is None:
            return _Failure(f"no cable of {interface} is known", name)
        switch, port = link.b if link.a == (name, interface) else link.a
        if switch not in self.speakers:
            return _Failure(f"{interface} is cabled to {switch}, which is not a judged switch", name)
        answer = self.by_interface[switch].get(port)
        if answer is None:
            if obstacle := self.speakers[switch].obstacle:
                return _Failure(f"{_FAR_END} {switch}: {obstacle.reason}", switch, obstacle.place)
            reason = f"{switch} has no unnumbered BGP_NEIGHBOR on {port}"
            return _Failure(reason, switch, (_NEIGHBORS, f"default|{port}"))
        return interface, SessionEnd(switch, port, answer)
