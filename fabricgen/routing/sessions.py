"""config_db files to eBGP sessions: the pairs of rows that make a session, and the reason why a row makes none.

A session needs a row at both ends. Each row has an address (or, unnumbered, a port) of the other end and its ASN. A
session that cannot come up is left out of the routing model and reported, because it changes the next hops.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fabricgen.bundle.outside import outside_sessions, read_speaker
from fabricgen.bundle.read import Bundle
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.image import InterfaceAddress, Neighbor, Speaker, rows
from fabricgen.sonic.tables import ConfigDb

_LOSSLESS_TABLES = (
    "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
    "PORTCHANNEL_MEMBER", "VLAN_MEMBER",
)  # fmt: skip
_FAR_END = "held down by the far end"


class SessionEnd(NamedTuple):
    """One end: the switch, its egress interface, and its BGP_NEIGHBOR row."""

    switch: str
    interface: str
    neighbor: Neighbor


class Session(NamedTuple):
    """An eBGP session that comes up as configured; the name of switch `a` comes first. Parallel links have one session
    each."""

    a: SessionEnd
    b: SessionEnd


@dataclass(frozen=True, slots=True)
class AbsentSession:
    """A BGP_NEIGHBOR row whose session cannot come up. `inside`: the far end is one of the judged switches. `follows`:
    this row is right, and the row at the far end is wrong."""

    switch: str
    key: str
    reason: str
    inside: bool
    follows: bool = False


@dataclass(frozen=True)
class SpokenFabric:
    """The BGP speakers of one plane by switch, the sessions, and the rows whose sessions stay down. `tables` are the
    QoS tables of each switch, kept so that each file is read once."""

    speakers: Mapping[str, Speaker]
    sessions: tuple[Session, ...]
    absent: tuple[AbsentSession, ...]
    tables: Mapping[str, ConfigDb]


def find_sessions(bundle: Bundle, switches: list[str]) -> SpokenFabric:
    """The sessions among `switches`. Raises UnreadableInputError if a file is not JSON."""
    return _Pairing(bundle, switches).run()


class _Pairing:
    """Finds for every neighbor row the row at the far end."""

    def __init__(self, bundle: Bundle, switches: list[str]) -> None:
        self.bundle = bundle
        self.speakers: dict[str, Speaker] = {}
        self.ports_down: dict[str, set[str]] = {}
        self.tables: dict[str, ConfigDb] = {}
        for name in switches:
            config = bundle.devices[name].content.peek()
            self.speakers[name] = read_speaker(config)
            ports = rows(config, "PORT").items()
            self.ports_down[name] = {port for port, row in ports if row.get("admin_status") == "down"}
            self.tables[name] = {table: config[table] for table in _LOSSLESS_TABLES if table in config}
        speakers = self.speakers
        self.by_peer = {name: {n.peer: n for n in one.neighbors if n.peer} for name, one in speakers.items()}
        self.by_interface = {
            name: {n.interface: n for n in one.neighbors if n.interface} for name, one in speakers.items()
        }
        self.owner: dict[Address, tuple[str, InterfaceAddress]] = {}
        self.by_subnet: dict[str, dict[Address, InterfaceAddress]] = {}
        for name, one in speakers.items():
            usable = [entry for entry in one.addresses if not entry.vrf]
            self.owner.update([(entry.host, (name, entry)) for entry in usable])
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
                if isinstance(far, str):
                    inside = neighbor.peer in self.owner or (name, neighbor.interface) in self.bundle.link_at
                    absent.append(AbsentSession(name, neighbor.key, far, inside, far.startswith(_FAR_END)))
                    continue
                near, other = SessionEnd(name, far[0], neighbor), far[1]
                answered[other.switch].add(other.neighbor.key)
                sessions.append(Session(near, other) if name < other.switch else Session(other, near))
        return SpokenFabric(self.speakers, tuple(sessions), tuple(absent), self.tables)

    def _far_end(self, name: str, neighbor: Neighbor) -> tuple[str, SessionEnd] | str:
        """(own interface, far end), or the reason why the session stays down."""
        if neighbor.obstacle:
            return neighbor.obstacle
        found = self._by_address(name, neighbor.peer) if neighbor.peer else self._by_link(name, neighbor.interface)
        if isinstance(found, str):
            return found
        near, far = found
        answer = far.neighbor
        if answer.obstacle:
            return f"{_FAR_END} {far.switch}: {answer.obstacle}"
        return self._disagreement(name, neighbor, far) or self._port_down(name, near, far) or (near, far)

    def _disagreement(self, name: str, neighbor: Neighbor, far: SessionEnd) -> str:
        own, other = self.speakers[name], self.speakers[far.switch]
        if own.asn == other.asn:
            return f"{far.switch} has the same ASN {own.asn}: internal sessions are not modelled"
        if neighbor.asn not in (None, other.asn):
            return f"the row has ASN {neighbor.asn}, {far.switch} has {other.asn}"
        if far.neighbor.asn not in (None, own.asn):
            return f"the row at {far.switch} has ASN {far.neighbor.asn}, this switch has {own.asn}"
        if own.router_id and own.router_id == other.router_id:
            return f"{far.switch} has the same router id {own.router_id}"
        return ""

    def _port_down(self, name: str, near: str, far: SessionEnd) -> str:
        if near in self.ports_down[name]:
            return f"{name} {near} is shut down"
        if far.interface in self.ports_down[far.switch]:
            return f"{far.switch} {far.interface} is shut down"
        return ""

    def _by_address(self, name: str, peer: Address) -> tuple[str, SessionEnd] | str:
        owner = self.owner.get(peer)
        if owner is None or owner[0] == name:
            return f"no other judged switch has the address {peer.ip}"
        other, entry = owner
        if not entry.bound:
            return f"{other} {entry.interface} has {peer.ip} but no base row"
        near = self._interface_towards(name, entry)
        if near is None:
            return f"no interface shares a subnet with {peer.ip}"
        answer = self.by_peer[other].get(near.host)
        if answer is None:
            return f"{other} has no BGP_NEIGHBOR {near.host.ip}"
        unplugged = self._unplugged((name, near.interface), (other, entry.interface))
        return unplugged or (near.interface, SessionEnd(other, entry.interface, answer))

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

    def _by_link(self, name: str, interface: str) -> tuple[str, SessionEnd] | str:
        link = self.bundle.link_at.get((name, interface))
        if link is None:
            return f"no cable of {interface} is known"
        switch, port = link.b if link.a == (name, interface) else link.a
        if switch not in self.speakers:
            return f"{interface} is cabled to {switch}, which is not a judged switch"
        answer = self.by_interface[switch].get(port)
        if answer is None:
            return f"{switch} has no unnumbered BGP_NEIGHBOR on {port}"
        return interface, SessionEnd(switch, port, answer)
