"""The fabric while it changes: some switches as before, some as after, and one in between."""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.rollout.moments import Moment
from fabricgen.rollout.plane import PlaneState, RolloutVerdict, SwitchOutage
from fabricgen.rollout.tenants import MOST, MovingTenants
from fabricgen.simulate.plane.names import planes
from fabricgen.sonic.canonical import natural_key

NOTHING = SwitchOutage("")


@dataclass(frozen=True, slots=True)
class Between:
    """The fabric during a step and after it. `uplink_share` is the share of the bandwidth to other switches that the
    switch keeps; `cut_off` are the hosts without any path in the plane, None where no file names the hosts; `lost` the
    switches with hosts that do not reach all others; `cyclic` whether buffers can wait for each other, None if this is
    not judged, with the routes."""

    uplink_share: float
    cut_off: tuple[str, ...] | None
    lost: tuple[str, ...]
    cyclic: bool | None
    is_whole: bool = False  # all of the switch is out of service
    joined: tuple[str, ...] | None = ()  # tenants that reach each other through hosts that move; None: not judged

    @property
    def is_judged(self) -> bool:
        """Whether routes, buffers and tenants were judged."""
        return self.cyclic is not None and self.joined is not None


class Wires:
    """What does not change: planes, links between switches with their bandwidth, and links to hosts. `shut` are the
    interfaces of switches that are down before or after the change."""

    def __init__(self, old: Bundle, shut: Container[Endpoint]) -> None:
        self.switches = dict(planes(old))
        self.plane_of = {name: plane for plane, names in self.switches.items() for name in names}
        self.speeds: dict[str, dict[str, int]] = defaultdict(dict)  # switch -> port -> Mb/s
        for link in old.switch_links:
            if link.a not in shut and link.b not in shut:
                self.speeds[link.a[0]][link.a[1]] = self.speeds[link.b[0]][link.b[1]] = link.speed_mbps or 1
        self.knows_hosts = old.wiring is not None
        self.ports: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)  # (plane, host) -> switch ports
        self.host_at: dict[str, dict[str, str]] = defaultdict(dict)  # switch -> port -> host
        for link in old.host_links if self.knows_hosts else ():
            if link.b not in shut:
                self.ports[link.plane, link.a[0]].append(link.b)
                self.host_at[link.b[0]][link.b[1]] = link.a[0]

    def share(self, switch: str, without: frozenset[str]) -> float:
        """The share of the bandwidth to other switches that is left without these ports."""
        speeds = self.speeds[switch]
        return 1 - sum(speeds.get(port, 0) for port in without) / sum(speeds.values()) if speeds else 1.0

    def cut_off(self, outage: SwitchOutage, isolated: Sequence[str]) -> tuple[str, ...] | None:
        """The hosts that have no port in service."""
        if not self.knows_hosts:
            return None
        plane, far = self.plane_of[outage.switch], set(isolated)
        own = self.host_at[outage.switch]
        struck = set(own.values()) if outage.whole else {own[port] for port in outage.interfaces if port in own}
        struck.update(host for switch in far for host in self.host_at[switch].values())

        def is_out(switch: str, port: str) -> bool:
            return switch in far or (switch == outage.switch and (outage.whole or port in outage.interfaces))

        cut = (host for host in struck if all(is_out(*end) for end in self.ports[plane, host]))
        return tuple(sorted(cut, key=natural_key))


@dataclass(frozen=True)
class Mixture:
    """The fabric while it changes. `done` is how far each switch is, `states` are the planes with their routes, None
    where they are not judged any more. The planes `unread` have too many changes of routes to be read after each."""

    wires: Wires
    start: Bundle
    states: Mapping[str, PlaneState | None]
    done: Mapping[str, Moment] = field(default_factory=dict)
    unread: Collection[str] = ()
    moving: MovingTenants | None = None
    is_divided: bool = True  # the tenants are judged in each state

    @staticmethod
    def of(
        old: Bundle,
        wires: Wires,
        new: Bundle,
        rerouted: Mapping[str, int],
        most: int,
        moving: MovingTenants | None = None,
        moments: int = 0,
    ) -> "Mixture":
        """The fabric before the change. The routes of the planes `rerouted` change so often; at most `most` switches
        are read again for a plane. `moving` are the tenants of a change with so many `moments`."""
        unread = {plane for plane, times in rerouted.items() if times * len(wires.switches[plane]) > most}
        states = {plane: PlaneState(old, names) for plane, names in wires.switches.items()}
        for plane in (name for name in rerouted if name not in unread):
            after = PlaneState(new, wires.switches[plane]).reached
            states[plane] = PlaneState(old, wires.switches[plane], states[plane].reached & after)
        is_divided = moving is None or moving.addresses * moments <= MOST
        return Mixture(wires, old, states, unread=unread, moving=moving, is_divided=is_divided)

    @cached_property
    def bundle(self) -> Bundle:
        """The present configurations."""
        devices = dict(self.start.devices)
        for name, moment in self.done.items():
            devices[name] = devices[name].with_config(moment.after(devices[name].config), b"")
        return replace(self.start, devices=devices)

    @cached_property
    def cyclic_planes(self) -> frozenset[str]:
        """The planes in which buffers can wait for each other now."""
        judged = {plane: state for plane, state in self.states.items() if state}
        return frozenset(
            plane
            for plane, state in judged.items()
            if state.verdict(NOTHING).may_cycle and state.is_cyclic(NOTHING, self.bundle)
        )

    @cached_property
    def joined(self) -> tuple[str, ...] | None:
        """The tenants that reach each other now, through hosts that move; None if this is not judged."""
        if self.moving is None:
            return ()
        return self.moving.joined(self.bundle) if self.is_divided else None

    def step(self, name: str, moment: Moment) -> "tuple[Mixture, Between]":
        """The fabric after a step of a switch, and the worst of the states during and after the step."""
        after, between = self._step(name, moment)
        return after, replace(between, joined=after.joined)

    def _step(self, name: str, moment: Moment) -> "tuple[Mixture, Between]":
        during = self._between(self._outage(name, moment.ports, moment.sessions, whole=moment.whole))
        after, left = self._with({name: moment}), self._outage(name, moment.down)
        state = after.states[self.wires.plane_of[name]]
        if state and not (moment.reroutes or state.verdict(left).may_cycle):  # then QoS alone makes no difference
            return after, during
        return after, worst([during, after._between(left)])

    def together(self, switch: str, done: Mapping[str, Moment]) -> "tuple[Mixture, Between]":
        """The fabric after the steps of several switches of a plane, during which one switch is without routes, and the
        worst of the states during and after them."""
        during, after = self._between(SwitchOutage(switch, whole=True)), self._with(done)
        return after, replace(worst([during, after._between(SwitchOutage(switch))]), joined=after.joined)

    def _outage(
        self, name: str, ports: frozenset[str], sessions: frozenset[str] = frozenset(), *, whole: bool = False
    ) -> SwitchOutage:
        channels: dict[str, set[str]] = {}
        for key in self.start.devices[name].table("PORTCHANNEL_MEMBER") if ports else ():
            channel, _, port = key.partition("|")
            channels.setdefault(channel, set()).add(port)
        without = {channel for channel, members in channels.items() if members <= ports}
        return SwitchOutage(name, ports | without, sessions, whole)

    def _between(self, outage: SwitchOutage) -> Between:
        state = self.states[self.wires.plane_of[outage.switch]]
        verdict = state.verdict(outage) if state else RolloutVerdict()
        cyclic = None if state is None else verdict.may_cycle and state.is_cyclic(outage, self.bundle)
        without = state.interfaces_of(outage) if state else outage.interfaces
        share = 0.0 if outage.whole else self.wires.share(outage.switch, without)
        return Between(share, self.wires.cut_off(outage, verdict.isolated), verdict.lost, cyclic, outage.whole)

    def _with(self, done: Mapping[str, Moment]) -> "Mixture":
        """The fabric after a moment of each of these switches of a plane."""
        after = replace(self, done={**self.done, **done})
        plane = self.wires.plane_of[next(iter(done))]
        state, switches = self.states[plane], self.wires.switches[plane]
        if state is None or not any(moment.reroutes for moment in done.values()):
            return after
        again = None if plane in self.unread else PlaneState(after.bundle, switches, state.wanted)
        return replace(after, states={**self.states, plane: again})


def worst(several: Iterable[Between]) -> Between:
    """The worst of several states: the least share, all hosts and switches. `is_whole` if one of them is."""
    found = list(several)
    knows_hosts = all(one.cut_off is not None for one in found)
    cut_off = {host for one in found for host in one.cut_off or ()}
    return Between(
        min((one.uplink_share for one in found), default=1.0),
        tuple(sorted(cut_off, key=natural_key)) if knows_hosts else None,
        tuple(sorted({name for one in found for name in one.lost}, key=natural_key)),
        any(one.cyclic for one in found) if all(one.is_judged for one in found) else None,
        any(one.is_whole for one in found),
        None
        if any(one.joined is None for one in found)
        else tuple(sorted({pair for one in found for pair in one.joined or ()})),
    )
