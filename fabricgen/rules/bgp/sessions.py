"""Rules on BGP sessions: each link between switches has one, and its two ends agree."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.rules.view.subnets import addresses_by_port, end_addresses, mismatched_subnets, missing_addresses
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.tables import Row

_ASN = ("DEVICE_METADATA", "localhost", "bgp_asn")


class ExpectedSession(NamedTuple):
    """One direction of the session that a link should have: the row of `peer` on the switch of `end`.

    A large fabric has half a million of them, so they are made again for each use.
    """

    end: End
    peer: End
    local_ip: str
    peer_ip: str
    row: Row | None  # BGP_NEIGHBOR|peer_ip of `end`

    @property
    def key(self) -> str:
        """Row key in BGP_NEIGHBOR."""
        return self.peer_ip


def sessions(fabric: Fabric) -> Iterator[ExpectedSession]:
    """Both directions of the session of every link with addresses in one subnet (FG312), between BGP speakers."""
    return itertools.starmap(ExpectedSession, _sessions(fabric))


def _sessions(fabric: Fabric) -> Iterator[tuple[End, End, str, str, Row | None]]:
    """The members of each session."""
    wrong, addresses = mismatched_subnets(fabric), addresses_by_port(fabric)
    rows_of = {one: one.device.table("BGP_NEIGHBOR") for one in fabric.switches.values() if _runs_bgp(one)}
    for near, far in fabric.pairs:
        if near.switch not in rows_of or far.switch not in rows_of or near in wrong:
            continue
        ours, theirs = addresses[near.switch].get(near.port, ()), addresses[far.switch].get(far.port, ())
        for end, peer, own, others in ((near, far, ours, theirs), (far, near, theirs, ours)):
            for held in own:
                for other in others:
                    if held.is_beside(other):
                        ip = other.text
                        yield end, peer, held.text, ip, rows_of[end.switch].get(ip)


class ExpectedAsn(NamedTuple):
    """The most frequent ASN in the rows that peers have for a switch, the number of these rows, and of all rows."""

    asn: object
    rows: int
    all_rows: int

    @property
    def is_agreed(self) -> bool:
        """Whether more than half of at least two rows have it."""
        return self.all_rows > 1 and 2 * self.rows > self.all_rows


class Review(NamedTuple):
    """What one pass over all sessions finds."""

    differing: tuple[
        ExpectedSession, ...
    ]  # without a row, or with another asn, name or local_addr than the two switches have
    expected: Mapping[Switch, ExpectedAsn]  # by its peers
    strays: Mapping[Switch, Mapping[str, Row]]  # the rows of BGP_NEIGHBOR that are of no session


@derived
def reviewed(fabric: Fabric) -> Review:
    """The sessions and rows that rules have to look at, and the ASN that the peers of each switch expect."""
    differing: list[ExpectedSession] = []
    asns: dict[Switch, Counter[object]] = defaultdict(Counter)
    met: dict[Switch, set[str]] = defaultdict(set)
    for end, peer, local_ip, peer_ip, row in _sessions(fabric):
        switch = peer.switch
        met[end.switch].add(peer_ip)
        if row is not None and (asn := row.get("asn")) is not None:
            asns[switch][asn] += 1
            if asn == switch.asn and row.get("name") == switch.name and row.get("local_addr") == local_ip:
                continue
        differing.append(ExpectedSession(end, peer, local_ip, peer_ip, row))
    expected = {switch: ExpectedAsn(*counts.most_common(1)[0], counts.total()) for switch, counts in asns.items()}
    strays = {}
    for switch in fabric.switches.values():
        rows = switch.device.table("BGP_NEIGHBOR")
        if others := rows.keys() - met[switch]:
            strays[switch] = {key: row for key, row in rows.items() if key in others}
    return Review(tuple(differing), expected, strays)


def _runs_bgp(switch: Switch) -> bool:
    """Whether the switch has sessions in the form of bgpcfgd, where the key is an address without a VRF."""
    return any(parse_interface(key) for key in switch.device.table("BGP_NEIGHBOR"))


@rule("FG331", Severity.ERROR, "The ASN of a switch differs from the ASN that its peers expect", breaks=Breaks.SESSION)
def own_asn(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.bgp_asn is the ASN that most neighbors of the switch have in their rows for it.

    Why: BGP rejects a peer that sends a different ASN than configured. All sessions of the switch stay down.

    Example: leaf1 has bgp_asn 4200000009, but its four spines have 4200000001 in their rows for leaf1.

    Fix: Set bgp_asn to the ASN of the plan, or correct the rows of the neighbors.

    Source: RFC 4271; sonic-buildimage src/sonic-bgpcfgd.
    """
    found = reviewed(fabric).expected.items()
    wrong = {switch: expected for switch, expected in found if expected.asn != switch.asn and expected.is_agreed}
    examples: dict[Switch, ExpectedSession] = {}
    for one in sessions(fabric) if wrong else ():
        if one.row and one.peer.switch in wrong:
            examples.setdefault(one.peer.switch, one)
    for switch, expected in wrong.items():
        example = examples[switch]
        related = (("the ASN that a peer expects", example.end.switch.place("BGP_NEIGHBOR", example.key, "asn")),)
        rows = f"{expected.rows} of {expected.all_rows} sessions of its peers"
        message = f"bgp_asn is {switch.asn or 'missing'}, but {rows} expect {expected.asn}"
        yield Defect(switch.place(*_ASN), message, f"set bgp_asn to {expected.asn}", related)


@rule("FG332", Severity.ERROR, "A link between switches has no BGP session", breaks=Breaks.SESSION)
def missing_session(fabric: Fabric) -> Iterator[Defect]:
    """What: Each end of a routed link between switches has a BGP_NEIGHBOR row for the far end's address.

    Why: Without a session the link carries no traffic. The fabric loses a path, and the load on its rails is uneven.

    Example: leaf1 has no row for spine3's address 10.128.0.5.

    Fix: Add the row with asn, name and local_addr.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_bgp.py.
    """
    for session in reviewed(fabric).differing:
        switch = session.end.switch
        if session.row is None and not _stray_for(switch, session.local_ip):
            message = f"there is no BGP session with {session.peer.switch.name}, which has {session.peer_ip}"
            related = (("the far address", session.peer.switch.place("INTERFACE", session.peer.port)),)
            place = switch.place("BGP_NEIGHBOR", session.key)
            yield Defect(place, message, "add the row with asn, name and local_addr", related)


def _stray_for(switch: Switch, local_ip: str) -> bool:
    """Whether a row of another peer has this local address: then its key is wrong, which FG336 reports."""
    return any(row.get("local_addr") == local_ip for row in switch.device.table("BGP_NEIGHBOR").values())


@rule("FG333", Severity.ERROR, "The ASN of a neighbor is wrong", breaks=Breaks.SESSION)
def neighbor_asn(fabric: Fabric) -> Iterator[Defect]:
    """What: BGP_NEIGHBOR.asn is the bgp_asn of the switch that has the address.

    Why: BGP rejects the OPEN message of the peer with "bad peer AS", and the session stays down.

    Example: The row for spine1 has asn 65101, but spine1 has bgp_asn 65100.

    Fix: Set asn to the bgp_asn of the neighbor.

    Source: RFC 4271 section 6.2.
    """
    differing, expected, _ = reviewed(fabric)
    for session in differing:
        peer = session.peer.switch
        if session.row is None or session.row.get("asn") == peer.asn:
            continue
        usual = expected.get(peer)
        if usual and usual.is_agreed and session.row.get("asn") == usual.asn:
            continue  # FG331 reports the peer itself
        found = session.row.get("asn", "missing")
        message = f"asn of {peer.name} is {found}, but bgp_asn of {peer.name} is {peer.asn or 'missing'}"
        related = ((f"{peer.name} itself", peer.place(*_ASN)),)
        place = session.end.switch.place("BGP_NEIGHBOR", session.key, "asn")
        yield Defect(place, message, f"set asn to {peer.asn}", related)


@rule("FG334", Severity.WARNING, "The name of a neighbor is wrong")
def neighbor_name(fabric: Fabric) -> Iterator[Defect]:
    """What: BGP_NEIGHBOR.name is the name of the switch that has the address.

    Why: Operators and alerts use the name. With use_neighbors_meta the session waits for a DEVICE_NEIGHBOR_METADATA row
    that does not exist.

    Example: The row for 10.128.0.1 has the name spine2, but spine1 has the address.

    Fix: Set name to the name of the far switch.

    Source: sonic-buildimage src/sonic-bgpcfgd (description; constants.yml use_neighbors_meta).
    """
    for session in reviewed(fabric).differing:
        name = session.peer.switch.name
        if session.row is not None and session.row.get("name") != name:
            message = f"name is {session.row.get('name', 'missing')}, but {name} has the address {session.peer_ip}"
            related = ((f"{name} itself", session.peer.switch.place("DEVICE_METADATA", "localhost", "hostname")),)
            place = session.end.switch.place("BGP_NEIGHBOR", session.key, "name")
            yield Defect(place, message, f"set name to {name}", related)


@rule("FG335", Severity.ERROR, "The local address of a session is not the address of its port", breaks=Breaks.SESSION)
def local_address(fabric: Fabric) -> Iterator[Defect]:
    """What: BGP_NEIGHBOR.local_addr is the address of the port that leads to the neighbor.

    Why: bgpcfgd does not start the session before an interface has this address. With a wrong address the session does
    not start, and bgpcfgd logs no error.

    Example: local_addr is 10.128.0.4, but the port to spine1 has 10.128.0.0.

    Fix: Set local_addr to the address of the port.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_bgp.py.
    """
    for session in reviewed(fabric).differing:
        if session.row is not None and session.row.get("local_addr") != session.local_ip:
            found = session.row.get("local_addr")
            severity = None if found else Severity.WARNING
            message = (
                f"local_addr is {found or 'missing'}, but the port to {session.peer.switch.name} has {session.local_ip}"
            )
            place = session.end.switch.place("BGP_NEIGHBOR", session.key, "local_addr")
            related = (("the port to the neighbor", session.end.place("INTERFACE")), *far_end(session.end, "INTERFACE"))
            yield Defect(place, message, f"set local_addr to {session.local_ip}", related, severity)


@rule("FG336", Severity.ERROR, "A BGP neighbor is not on a link of the switch", breaks=Breaks.SESSION)
def stray_neighbor(fabric: Fabric) -> Iterator[Defect]:
    """What: Every BGP_NEIGHBOR address is in a subnet of one of the switch's ports. If the far end is a known switch,
    it is the address of that switch.

    Why: The switch retries the session for ever, and the correct session is missing.

    Example: leaf1 has a row for 10.128.0.9, but the address of spine1 is 10.128.0.1.

    Fix: Correct the address, or remove the row.

    Source: RFC 4271 (eBGP peers are directly connected); sonic-buildimage src/sonic-bgpcfgd.
    """
    wrong = mismatched_subnets(fabric)
    missing = {text.partition("/")[0] for texts in missing_addresses(fabric).values() for text in texts}
    for switch, strays in reviewed(fabric).strays.items():
        ends = fabric.ends_of[switch.name]
        if not any(end.far for end in ends.values()):
            continue  # a single file: the far ends are not known
        mismatched = [end for end in ends.values() if end in wrong]
        mismatched_ips = {str(held.ip) for end in mismatched for held in end_addresses(end)}
        known = {end.port for end in ends.values() if end.far and end not in wrong}
        open_networks = [held.value.network for held in switch.addresses if held.interface not in known]
        for key, row in strays.items():
            peer = parse_interface(key)
            if not peer or any(peer.ip in network for network in open_networks):
                continue
            if row.get("local_addr") in mismatched_ips or row.get("name") in {end.far_name for end in mismatched}:
                continue  # FG312 reports the link
            if key in missing or row.get("local_addr") in missing:
                continue  # FG311 reports the end without an address
            message = f"neighbor {row.get('name', '')} {key} is not on a link of the switch".replace("  ", " ")
            yield Defect(switch.place("BGP_NEIGHBOR", key), message, "use the address of the far end")


@rule("FG305", Severity.WARNING, "A switch accepts BGP sessions from addresses of other switches")
def wide_peer_range(fabric: Fabric) -> Iterator[Defect]:
    """What: A range in BGP_PEER_RANGE, or a prefix in BGP_GLOBALS_LISTEN_PREFIX, does not contain addresses of other
    switches, apart from those in VLANs, and is not the whole address space.

    Why: FRR opens a session with each address of the range that connects, so any host can be a BGP speaker, and a
    switch whose own row is missing gets a session without the fabric's policy.

    Example: BGP_PEER_RANGE|ALL has ip_range 0.0.0.0/0.

    Fix: Set the range to the subnets of the hosts that speak BGP.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_bgp.py, bgpd/templates/dynamic; src/sonic-frr-mgmt-framework;
    FRR (bgp listen range).
    """
    ranges = [(switch, *one) for switch in fabric.switches.values() for one in _listened(switch)]
    held = [
        (switch, one.value)
        for switch in (fabric.switches.values() if ranges else ())
        for one in switch.addresses
        if one.table != "VLAN_INTERFACE"  # two leaves with the same hosts share their VLANs
    ]
    for switch, place, text in ranges:
        found = parse_interface(text)
        network = found.network if found else None
        others = (
            one.name
            for one, own in held
            if network and one is not switch and own.version == network.version and own.ip in network
        )
        other = next(others, "")
        if network and (network.prefixlen == 0 or other):
            what = f"addresses of {other} and others" if other else "every address"
            message = f"{network} contains {what}: each of them can open a session"
            yield Defect(place, message, "set the range to the subnets of the hosts that speak BGP")


def _listened(switch: Switch) -> Iterator[tuple[Place, str]]:
    """The ranges from which a switch accepts sessions, each with its place."""
    for key, row in switch.device.table("BGP_PEER_RANGE").items():
        for text in str(row.get("ip_range", "")).split(","):
            yield switch.place("BGP_PEER_RANGE", key, "ip_range"), text
    for key in switch.device.table("BGP_GLOBALS_LISTEN_PREFIX"):
        yield switch.place("BGP_GLOBALS_LISTEN_PREFIX", key), key.rpartition("|")[2]
