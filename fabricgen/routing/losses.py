"""Why hosts do not reach each other: the rows that cause it, one group for each kind of cause."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.bits import Words
from fabricgen.routing.endpoints import NOT_ANNOUNCED, Target
from fabricgen.routing.filters import blocked
from fabricgen.routing.reachability import Reachability
from fabricgen.routing.spoken import AbsentSession, Session, SessionEnd

_LOCALHOST = ("DEVICE_METADATA", "localhost")


class LossCause(NamedTuple):
    """A switch, the (table, key, field) of its file, and what is wrong there. Causes of one kind form one group."""

    switch: str
    place: tuple[str, ...]
    reason: str
    kind: str


@dataclass(frozen=True, slots=True)
class Loss:
    """`pairs` of addresses that one group of causes disconnects, with an example."""

    causes: tuple[LossCause, ...]
    pairs: int
    source: str
    target: str


def find_losses(found: Reachability) -> list[Loss]:
    """The losses, largest first. A pair is counted for one group only."""
    if not found.lost.any():
        return []
    groups = _Causes(found).groups()
    explained = {kind: (causes, _upstream(found, starts)) for kind, (causes, starts) in groups.items()}
    left, losses = found.lost.copy(), []
    while explained:
        sizes = {kind: bits.count(left & reach) for kind, (_, reach) in explained.items()}
        kind = max(sizes, key=lambda one: (sizes[one], one))
        causes, reach = explained.pop(kind)
        if not sizes[kind]:
            break
        losses.append(_loss(found, left & reach, tuple(causes)))
        left &= ~reach
    if left.any():
        losses.append(_loss(found, left, ()))
    return losses


def _loss(found: Reachability, lost: Words, causes: tuple[LossCause, ...]) -> Loss:
    switch = int(np.flatnonzero(lost.any(axis=1))[0])
    target = found.targets[bits.columns_of(lost[switch])[0]]
    source = next((one.names[0] for one in found.targets if one.switch == switch and one.family == target.family), "")
    if not causes:
        name = found.fabric.names[switch]
        reason = f"no route to {target.prefix}"
        causes = (LossCause(name, ("BGP_NEIGHBOR",), reason, "route"),)
    return Loss(causes, found.pairs(lost), source, target.names[0])


def _upstream(found: Reachability, starts: Words) -> Words:
    """The switches and targets that are lost because they are lost at `starts` (switches x words)."""
    near, far = found.neighbors.T
    reach = starts & found.bad
    while True:
        before = reach.copy()
        np.bitwise_or.at(reach, near, reach[far] & found.bad[near])
        if (reach == before).all():
            return reach


class _Causes:
    """Looks for a cause where a switch that loses packets is next to one that delivers them."""

    def __init__(self, found: Reachability) -> None:
        self.found, self.fabric = found, found.fabric
        self.columns = np.bitwise_or.reduce(found.lost, axis=0)  # the targets that matter
        self.sessions: dict[tuple[str, str], list[tuple[SessionEnd, SessionEnd]]] = defaultdict(list)
        for session in self.fabric.spoken.sessions:
            self._add(session)
        self.absent: dict[tuple[str, str], list[AbsentSession]] = defaultdict(list)
        for one in self.fabric.spoken.absent:
            if one.far:
                self.absent[one.switch, one.far].append(one)
                self.absent[one.far, one.switch].append(one)

    def _add(self, session: Session) -> None:
        a, b = session
        self.sessions[a.switch, b.switch].append((a, b))
        self.sessions[b.switch, a.switch].append((b, a))

    def groups(self) -> dict[str, tuple[list[LossCause], Words]]:
        """Kind -> its causes, and where they lose packets (switches x words)."""
        found: dict[str, tuple[list[LossCause], Words]] = {}
        for cause, switches, columns in self._all():
            causes, starts = found.setdefault(cause.kind, ([], np.zeros_like(self.found.bad)))
            if cause not in causes[-1:]:
                causes.append(cause)
            starts[switches] |= columns
        return {kind: (list(dict.fromkeys(causes)), starts) for kind, (causes, starts) in found.items()}

    def _all(self) -> Iterator[tuple[LossCause, NDArray[np.int64], Words]]:
        size = len(self.found.targets)
        for number in bits.columns_of(self.columns):
            target = self.found.targets[number]
            if target.column == NOT_ANNOUNCED or target.vrf[1]:
                everyone = np.arange(len(self.fabric.names))
                yield self._at_owner(target), everyone, bits.row_of(np.array([number]), size)
        here = [number for number, one in enumerate(self.found.targets) if one.column != NOT_ANNOUNCED]
        announced = bits.row_of(np.array(here, np.int64), size) & self.columns
        for (switch, number), path in self.found.dropped.items():
            name, prefix = self.fabric.names[switch], self.found.targets[number].prefix
            reason = f"a blackhole route drops packets to {prefix}"
            cause = LossCause(name, ("STATIC_ROUTE", path.key), reason, "blackhole")
            yield cause, self._drop_starts(switch, number), bits.row_of(np.array([number]), size)
        bad = self.found.bad
        for near, far in self.found.neighbors.tolist():
            crossing = bad[near] & self.found.hopless[near] & ~bad[far] & announced
            if crossing.any():
                columns = bits.columns_of(crossing)
                first = [one for one in columns if (near, one) not in self.found.dropped]
                if first:
                    yield self._between(near, far, self.found.targets[first[0]]), np.array([near]), crossing

    def _drop_starts(self, switch: int, number: int) -> NDArray[np.int64]:
        """The switch that drops; if the host is behind it, all its neighbors."""
        if self.found.targets[number].switch != switch:
            return np.array([switch])
        near, far = self.found.neighbors.T
        others: NDArray[np.int64] = near[far == switch]
        return others

    def _at_owner(self, target: Target) -> LossCause:
        """Why the switch of the hosts does not announce their prefix."""
        name = self.fabric.names[target.switch]
        speaker = self.fabric.spoken.speakers[name]
        interface, vrf = target.vrf
        if vrf:
            reason = f"{interface}, the port of a host, is in VRF {vrf}, not in the default VRF"
            return LossCause(name, ("INTERFACE", interface, "vrf_name"), reason, "vrf")
        if speaker.obstacle:
            return LossCause(name, speaker.obstacle.place, speaker.obstacle.reason, _kind(speaker.obstacle.place))
        return LossCause(name, ("STATIC_ROUTE",), f"no announced prefix contains {target.addresses[0].ip}", "announced")

    def _between(self, near: int, far: int, target: Target) -> LossCause:
        """Why a switch has no working route over its neighbor, which has one."""
        names, spoken = self.fabric.names, self.fabric.spoken
        one, other = names[near], names[far]
        sessions = self.sessions.get((one, other), [])
        if not sessions:
            return self._no_session(one, other)
        if field := spoken.speakers[other].isolated:
            place = ("BGP_DEVICE_GLOBAL", "STATE", field)
            what = "TSA is on" if field == "tsa_enabled" else f"{field} withdraws routes"
            return LossCause(other, place, f"{what}: the switch announces only its loopbacks", "tsa")
        for a, b in sessions:
            found = blocked(spoken, a, b, target.prefix) if target.prefix else None
            if found is not None:
                step, why = found
                way = "from" if step.is_inbound else "to"
                peer = other if step.is_inbound else one
                reason = f"{why.reason}: {target.prefix} {way} {peer}"
                return LossCause(step.switch, why.row, reason, _kind(why.row))
        for a, b in sessions:
            for end, families, word in ((a, a.terms.accepts, "in"), (b, b.terms.sends, "out")):
                if target.family not in families:
                    reason = f"no IPv{target.family} route passes {word}: the family is not active or has no policy"
                    return LossCause(end.switch, ("BGP_NEIGHBOR", end.key), reason, f"family {target.family}")
        reason = f"it refuses or does not learn {target.prefix} from {other}"
        return LossCause(one, (*_LOCALHOST, "bgp_asn"), reason, "path")

    def _no_session(self, one: str, other: str) -> LossCause:
        rows = sorted(self.absent.get((one, other), []), key=lambda absent: (absent.follows, absent.switch != one))
        if rows:
            switch, place = rows[0].cause
            reason = rows[0].reason.partition(f"held down by the far end {switch}: ")[2] or rows[0].reason
            return LossCause(switch, place, reason, _kind(place))
        for name in (one, other):
            obstacle = self.fabric.spoken.speakers[name].obstacle
            if obstacle:
                return LossCause(name, obstacle.place, obstacle.reason, _kind(obstacle.place))
        return LossCause(one, ("BGP_NEIGHBOR",), f"there is no BGP session with {other}", "session")


def _kind(place: tuple[str, ...]) -> str:
    """Rows of one table are one group; a name in the key, such as that of a route map, keeps groups apart."""
    table, key, field = (*place, "", "", "")[:3]
    name = key.partition("|")[0] if table in ("ROUTE_MAP", "ROUTE_MAP_SET", "PREFIX_SET", "DEVICE_METADATA") else ""
    return "|".join((table, name, field))
