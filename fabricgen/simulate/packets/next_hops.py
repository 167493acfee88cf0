"""The next hops of a scenario by destination, as the arrays of the event loop."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from fabricgen.errors import UsageError
from fabricgen.simulate.packets import choice
from fabricgen.simulate.packets.records import CHOICES, INDEX, NONE, REMEMBERED
from fabricgen.simulate.packets.state import NextHopChoices, Records
from fabricgen.simulate.scenario import Hops, LinkFailure, NodeKind, Scenario, SprayOrder
from fabricgen.simulate.scenario.balance import in_rounds
from fabricgen.vocabulary import BalanceMode, BalanceUnit

_NEVER = -(1 << 60)


def choice_of(scenario: Scenario) -> int:
    """How the switches select, as the loop numbers it."""
    balance = scenario.balance
    if not scenario.is_spread:
        return 0
    if balance.mode is BalanceMode.ECMP:
        return choice.HASH
    if balance.mode is BalanceMode.FLOWLET:
        return choice.FLOWLET
    if balance.mode is BalanceMode.SPRAY:
        return choice.SPRAY_ROUND if balance.order is SprayOrder.ROUND_ROBIN else choice.SPRAY_RANDOM
    return choice.ADAPTIVE_FLOWLET if balance.per is BalanceUnit.FLOWLET else choice.ADAPTIVE_PACKET


class NextHops:
    """The next hops of each switch; `ranks` are the places of ports by name, `home` the port of each host."""

    def __init__(
        self, scenario: Scenario, ends: Sequence[tuple[str, str]], ranks: Sequence[int], home: Mapping[str, int]
    ) -> None:
        self._scenario, self._ends, self._ranks, self._home = scenario, ends, ranks, home
        self._port = {end: port for port, end in enumerate(ends)}
        self._switches = sorted(node.name for node in scenario.nodes if node.kind is NodeKind.SWITCH)
        self._goal = {host: scenario.goals.get(host, host) for host in home}
        self._columns = {goal: column for column, goal in enumerate(sorted(set(self._goal.values())))}
        self._hops: dict[tuple[str, str], Hops] = {}
        self._paths: dict[tuple[str, str, str], tuple[int, ...]] = {}
        self._change(scenario.routes, scenario.groups)

    def _change(self, routes: Mapping[tuple[str, str], str], groups: Mapping[tuple[str, str], Hops]) -> None:
        self._hops |= {ends: ((via, 1),) for ends, via in routes.items()}
        self._hops |= groups
        self._members = {ends: self._ports(ends[0], hops) for ends, hops in self._hops.items()}

    def change(self, failure: LinkFailure, before: NextHopChoices) -> NextHopChoices:
        """The arrays after the routes of a failure, with the random choices so far. Raises UsageError if these routes
        do not lead to the hosts."""
        self._change(failure.routes, failure.groups)
        self._paths.clear()
        for flow in self._scenario.flows:
            self.path(flow.src, flow.dst)
        return self.arrays()._replace(made=before.made)

    def path(self, source: str, target: str) -> tuple[int, ...]:
        """The ports of the path by the first next hop of each switch. Raises UsageError if any of the next hops there
        or back does not lead to the host, or returns to a switch."""
        port, last = self._home[source], self._home[target] ^ 1
        if port == last:
            return (port,)
        self._onward(self._ends[last][0], source, ())
        return (port, *self._onward(self._ends[port][1], target, ()), last)

    def _onward(self, at: str, target: str, visited: tuple[str, ...]) -> tuple[int, ...]:
        """The ports from a switch to the neighbor of a host."""
        leaf, goal = self._ends[self._home[target]][1], self._goal[target]
        if at == leaf:
            return ()
        if at in visited:
            raise UsageError(f"a route to {target} returns to {at}")
        known = self._paths.get((at, leaf, goal))
        if known is None:
            members = self._members.get((at, goal), ())
            if not members:
                raise UsageError(f"{at} has no route to {target}")
            found = [(port, *self._onward(self._ends[port][1], target, (*visited, at))) for port in members]
            known = self._paths[at, leaf, goal] = found[0]
        return known

    def edges(self, source: str, target: str) -> Iterator[tuple[int, int]]:
        """The pairs of ports that packets may cross one after the other."""
        todo, seen = [self._home[source]], set()
        while todo:
            port = todo.pop()
            at, last = self._ends[port][1], self._home[target] ^ 1
            if port in seen or at == target:
                continue
            seen.add(port)
            onward = (last,) if self._ends[last][0] == at else self._members[at, self._goal[target]]
            for following in onward:
                yield port, following
                todo.append(following)

    def arrays(self) -> NextHopChoices:
        """The arrays, without packets so far."""
        place = {name: number for number, name in enumerate(self._switches)}
        number = [place[node.name] if node.name in place else self._column(node.name) for node in self._scenario.nodes]
        groups = np.full((len(place), len(self._columns)), NONE, INDEX)
        rows: dict[tuple[int, tuple[int, ...]], int] = {}
        for (at, goal), members in sorted(self._members.items()):
            if goal in self._columns:
                key = place[at], members
                groups[place[at], self._columns[goal]] = rows.setdefault(key, len(rows))
        balance = self._scenario.balance
        remembered = balance.max_flows if balance.by_flowlet else 0
        choices, ports = _choices(list(rows), remembered)
        memory = np.zeros(int(choices["memory"][-1]) + remembered + 1, REMEMBERED)
        memory["time"] = _NEVER
        return NextHopChoices(
            number=np.array(number, np.int64),
            groups=groups,
            choices=choices,
            members=np.array(ports, INDEX),
            memory=memory,
            made=np.zeros(len(place), np.uint64),
            bands=np.array(balance.bands_bytes, np.int64),
        )

    def _column(self, host: str) -> int:
        return self._columns[self._goal[host]] if host in self._goal else 0

    def _ports(self, at: str, hops: Hops) -> tuple[int, ...]:
        """The ports of next hops, as often as their weights."""
        weight: dict[int, int] = {}
        for via, share in hops:
            port = via if isinstance(via, int) else self._port.get((at, via))
            if port is None:
                raise UsageError(f"{at} has no link to {via}")
            weight[port] = share
        return in_rounds(weight, self._ranks)


def _choices(rows: Sequence[tuple[int, tuple[int, ...]]], remembered: int) -> tuple[Records, list[int]]:
    """The records of (switch, ports), and all ports. A group of several ports remembers some flows."""
    choices = np.zeros(max(1, len(rows)), CHOICES)
    several = np.array([len(members) > 1 for _, members in rows] or [False])
    lengths = np.array([len(members) for _, members in rows] or [0])
    choices["count"], choices["first"] = lengths, np.cumsum(lengths) - lengths
    choices["turn"][: len(rows)] = [switch for switch, _ in rows]
    choices["memory"] = (np.cumsum(several) - several) * remembered
    return choices, list(chain.from_iterable(members for _, members in rows)) or [0]


def no_spread() -> NextHopChoices:
    """The arrays of a run in which each flow has one path."""
    none = np.zeros(1, np.int64)
    empty = np.zeros((1, 1), INDEX)
    return NextHopChoices(
        none, empty, np.zeros(1, CHOICES), np.zeros(1, INDEX), np.zeros(1, REMEMBERED), np.zeros(1, np.uint64), none
    )
