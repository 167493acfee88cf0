"""Packets that follow OpenSM's tables hop by hop, against a slow walk of every pair by itself."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.observed.opensm_dumps import NO_PORT, Dumps
from fabricgen.observed.subnet import subnet_of
from fabricgen.opensm.netlist import PortEnd, SubnetNodeKind
from fabricgen.routing import infiniband
from fabricgen.routing.infiniband import LANES, MOST_HOPS, Hop, Lost, distinct, walk

Pair = tuple[int, int]


def switch(number: int, port: int) -> PortEnd:
    return PortEnd(SubnetNodeKind.SWITCH, 0x100 + number, 0, f"s{number}", 100 + number, port)


def adapter(number: int) -> PortEnd:
    return PortEnd(SubnetNodeKind.ADAPTER, 0x500 + number, 0x600 + number, f"h{number}", 1 + number, 1)


def line(switches: int, hosts: int = 1) -> Dumps:
    """Switches in a line, `hosts` adapters at each: ports 1 (to the lower neighbor), 2 (to the higher), 3 and up."""
    cables = [(switch(number, 2), switch(number + 1, 1)) for number in range(switches - 1)]
    ends = [(number, host) for number in range(switches) for host in range(hosts)]
    cables += [(switch(number, 3 + host), adapter(hosts * number + host)) for number, host in ends]
    subnet = subnet_of(cables)
    lids = np.array([one.lid for one in subnet.adapters])
    forwarding = np.full((switches, int(lids.max()) + 1), NO_PORT, np.uint8)
    row = {one.name: number for number, one in enumerate(subnet.switches)}
    for here in range(switches):
        for place, one in enumerate(subnet.adapters):
            home = int(subnet.attached_switch[place])
            there = int(subnet.switches[home].name[1:])
            port = int(subnet.attached_port[place]) if there == here else 1 if there < here else 2
            forwarding[row[f"s{here}"], one.lid] = port
    return Dumps(subnet, forwarding, lids, np.arange(len(lids)))


def followed(dumps: Dumps) -> tuple[set[tuple[int, int, int]], set[Pair]]:
    """((channel held, channel requested, destination LID) of every hop, (switch, destination) of every loss)."""
    hops, lost = set(), set()
    for step in walk(dumps):
        lids = dumps.destinations[step.columns].tolist()
        if isinstance(step, Hop):
            hops.update(zip(step.held.tolist(), step.awaited.tolist(), lids, strict=True))
        else:
            lost.update(zip(step.switches.tolist(), lids, strict=True))
    return hops, lost


def slowly_followed(dumps: Dumps) -> tuple[set[tuple[int, int, int]], set[Pair]]:
    """The same, one packet after the other."""
    subnet, hops, lost = dumps.subnet, set(), set()
    senders = len(subnet.adapters)
    rows = senders if dumps.path_sl is None else len(dumps.path_sl)
    for row in range(rows):
        sender = row % senders
        for column, (lid, owner) in enumerate(zip(dumps.destinations.tolist(), dumps.owners.tolist(), strict=True)):
            level = 0 if dumps.path_sl is None else int(dumps.path_sl[row, column])
            if level >= LANES or subnet.attached_switch[sender] < 0:
                continue
            here, into, held = int(subnet.attached_switch[sender]), int(subnet.attached_port[sender]), -1
            for _ in range(MOST_HOPS):
                out = int(dumps.forwarding[here, lid])
                if out < subnet.ports and subnet.adapter_at[here, out] == owner:
                    break
                if out >= subnet.ports or subnet.peer_switch[here, out] < 0:
                    lost.add((here, lid))
                    break
                lane = level if dumps.sl2vl is None else int(dumps.sl2vl[here, into, out, level])
                awaited = (here * subnet.ports + out) * LANES + lane
                hops.add((held, awaited, lid))
                held = awaited
                here, into = int(subnet.peer_switch[here, out]), int(subnet.peer_port[here, out])
            else:
                lost.add((here, lid))
    return hops, lost


def test_two_switches_by_hand() -> None:
    """One hop each way: from s0 port 2 and from s1 port 1, on lane 0, with nothing held."""
    dumps = line(2)
    number = {one.name: row for row, one in enumerate(dumps.subnet.switches)}
    up = (number["s0"] * dumps.subnet.ports + 2) * LANES
    down = (number["s1"] * dumps.subnet.ports + 1) * LANES
    assert followed(dumps) == ({(-1, up, 2), (-1, down, 1)}, set())


def test_a_packet_holds_the_channel_that_it_waited_for() -> None:
    dumps = line(3)
    number = {one.name: row for row, one in enumerate(dumps.subnet.switches)}
    ports = dumps.subnet.ports
    first, second = ((number[name] * ports + 2) * LANES for name in ("s0", "s1"))
    hops, lost = followed(dumps)
    assert (first, second, 3) in hops
    assert (-1, first, 3) in hops
    assert not lost


def with_lanes(dumps: Dumps, seed: int, lids_each: int = 1) -> Dumps:
    """Random SLs, and SL-to-VL tables that depend on both ports."""
    chance, subnet = np.random.default_rng(seed), dumps.subnet
    levels = chance.integers(0, 4, (lids_each * len(subnet.adapters), len(dumps.destinations))).astype(np.uint8)
    levels[chance.random(levels.shape) < 0.2] = 255
    size = (len(subnet.switches), subnet.ports, subnet.ports, 16)
    return replace(dumps, path_sl=levels, sl2vl=chance.integers(0, 4, size).astype(np.uint8))


@given(st.integers(2, 5), st.integers(1, 3), st.integers(0, 99), st.integers(1, 2))
def test_lanes_and_levels_agree_with_the_slow_walk(switches: int, hosts: int, seed: int, lids_each: int) -> None:
    plain = line(switches, hosts)
    drawn = with_lanes(plain, seed, lids_each)
    for dumps in (plain, drawn, replace(drawn, sl2vl=None), replace(drawn, path_sl=None)):
        assert followed(dumps) == slowly_followed(dumps)


@given(st.integers(2, 4), st.integers(1, 2), st.lists(st.tuples(*[st.integers(0, 99)] * 3), max_size=5))
def test_broken_tables_agree_with_the_slow_walk(
    switches: int, hosts: int, wrong: Sequence[tuple[int, int, int]]
) -> None:
    """Entries of other ports, of none, and loops."""
    dumps = line(switches, hosts)
    table = dumps.forwarding.copy()
    for row, lid, port in wrong:
        column = dumps.destinations[lid % len(dumps.destinations)]
        table[row % len(table), column] = [0, 1, 2, 3, 4, NO_PORT][port % 6]
    broken = replace(dumps, forwarding=table)
    assert followed(broken) == slowly_followed(broken)


def test_a_packet_to_another_adapter_of_the_wrong_port_is_lost() -> None:
    dumps = line(2, hosts=2)
    table = dumps.forwarding.copy()
    home = int(dumps.subnet.attached_switch[0])
    lid = int(dumps.destinations[0])
    table[home, lid] = 4 if table[home, lid] == 3 else 3
    assert (home, lid) in followed(replace(dumps, forwarding=table))[1]


def test_an_adapter_without_a_cable_sends_nothing() -> None:
    dumps = line(2)
    subnet = replace(dumps.subnet, attached_switch=np.where(np.arange(2) == 0, -1, dumps.subnet.attached_switch))
    loose = replace(dumps, subnet=subnet)
    assert followed(loose) == slowly_followed(loose)
    assert len(followed(loose)[0]) == 1


@pytest.mark.parametrize("packets", [1, 3, 8])
def test_passes_change_nothing(packets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dumps = with_lanes(line(4, 2), 7)
    expected = followed(dumps)
    monkeypatch.setattr(infiniband, "_PACKETS_PER_PASS", packets)
    assert followed(dumps) == expected


def test_packets_that_share_the_rest_of_their_way_are_followed_once() -> None:
    """Three adapters of s0 send to the one of s2: two hops, each once."""
    dumps = line(3, hosts=3)
    hops = [step for step in walk(dumps) if isinstance(step, Hop)]
    seen = [
        (held, awaited, column)
        for step in hops
        for held, awaited, column in zip(step.held.tolist(), step.awaited.tolist(), step.columns.tolist(), strict=True)
        if held >= 0
    ]
    assert len(seen) == len(set(seen))


def test_a_loop_ends_after_as_many_hops_as_a_packet_may_take() -> None:
    dumps = line(2)
    table = dumps.forwarding.copy()
    lid, home = int(dumps.destinations[0]), int(dumps.subnet.attached_switch[0])
    table[home, lid] = 2 if dumps.subnet.switches[home].name == "s0" else 1
    looping = replace(dumps, forwarding=table)
    steps = [step for step in walk(looping) if isinstance(step, Hop) and lid in dumps.destinations[step.columns]]
    assert len(steps) == MOST_HOPS == 64
    lost = [step for step in walk(looping) if isinstance(step, Lost)]
    assert {one for step in lost for one in dumps.destinations[step.columns].tolist()} == {lid}


def test_distinct() -> None:
    assert distinct(np.array([3, 1, 3, 2, 1])).tolist() == [1, 2, 3]
    assert distinct(np.empty(0, np.int64)).tolist() == []


def test_constants_of_the_infiniband_architecture() -> None:
    """16 virtual lanes (VL 0 to 15), and at most 64 hops in a directed route."""
    assert (LANES, MOST_HOPS) == (16, 64)
