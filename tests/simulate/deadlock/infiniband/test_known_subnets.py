"""Subnets whose answers are known: up-down wirings, rings with their loops by lane, losses."""

from dataclasses import replace

import numpy as np
import pytest

from fabricgen.observed.opensm_dumps import NO_PORT, Dumps
from fabricgen.observed.subnet import subnet_of
from fabricgen.opensm.netlist import Cable, PortEnd, SubnetNodeKind
from fabricgen.routing.infiniband import LANES
from fabricgen.simulate.deadlock.infiniband.certificate import subnet_next_hops, switch_names
from fabricgen.simulate.deadlock.infiniband.up_down import UpDown, up_down
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops


def switch(number: int, port: int, name: str = "") -> PortEnd:
    return PortEnd(SubnetNodeKind.SWITCH, 0x100 + number, 0, name or f"s{number}", 100 + number, port)


def adapter(number: int) -> PortEnd:
    return PortEnd(SubnetNodeKind.ADAPTER, 0x500 + number, 0x600 + number, f"h{number}", 1 + number, 1)


def leaf_spine(leaves: int, spines: int) -> list[Cable]:
    """Port 1 of each leaf has an adapter; uplinks follow."""
    cables: list[Cable] = [(switch(leaf, 1), adapter(leaf)) for leaf in range(leaves)]
    for leaf in range(leaves):
        cables += [(switch(leaf, 2 + spine), switch(leaves + spine, 1 + leaf)) for spine in range(spines)]
    return cables


@pytest.mark.parametrize(("leaves", "spines"), [(2, 1), (3, 2), (4, 3)])
def test_every_turn_of_a_leaf_spine(leaves: int, spines: int) -> None:
    """Up and down again at each spine to every other leaf; a leaf turns no packet upwards."""
    found = up_down(subnet_of(leaf_spine(leaves, spines)))
    assert found == UpDown(True, 2 * leaves * spines, spines * leaves * (leaves - 1))


def test_links_within_a_tier_prove_nothing() -> None:
    cables = [*leaf_spine(3, 1), (switch(0, 9), switch(1, 9))]
    assert up_down(subnet_of(cables)) == UpDown(False, 8, 0)


def test_a_switch_out_of_reach_of_adapters_proves_nothing() -> None:
    cables = [*leaf_spine(2, 1), (switch(7, 1), switch(8, 1))]
    assert not up_down(subnet_of(cables)).is_legal


def ring(size: int) -> Dumps:
    """Switches in a ring, one adapter each; all packets go over port 1 to the next switch."""
    cables: list[Cable] = [(switch(one, 1), switch((one + 1) % size, 2)) for one in range(size)]
    cables += [(switch(one, 3), adapter(one)) for one in range(size)]
    subnet = subnet_of(cables)
    lids = np.array([one.lid for one in subnet.adapters])
    forwarding = np.full((size, int(lids.max()) + 1), NO_PORT, np.uint8)
    forwarding[:, lids] = 1
    forwarding[subnet.attached_switch, lids] = 3
    return Dumps(subnet, forwarding, lids, np.arange(size))


@pytest.mark.parametrize("level", [0, 2, 15])
def test_a_ring_is_a_loop_on_the_lane_of_its_level(level: int) -> None:
    dumps = replace(ring(4), path_sl=np.full((4, 4), level, np.uint8))
    found = find_credit_loops(dumps)
    assert found.cycle is not None
    assert (found.lanes, found.channels, found.dependencies) == ((level,), 4, 4)
    assert (found.order, found.lost, found.lost_count) == (None, (), 0)
    assert found.cycle.priority == level
    hops = list(found.cycle.hops)
    first = next(number for number, (name, _) in enumerate(hops) if name == "s0")
    assert hops[first:] + hops[:first] == [("s0", "1"), ("s1", "1"), ("s2", "1"), ("s3", "1")]
    for (name, _), lid in zip(hops, found.cycle.witnesses, strict=True):
        here = int(name[1:])
        assert int(lid) - 1 not in (here, (here + 1) % 4), "its packets go on for two hops at least"


def test_a_dateline_opens_the_ring() -> None:
    """Packets over the link from s3 to s0 have SL 1 and use lane 1 from there on, lane 0 before."""
    dumps = ring(4)
    row = {one.name: number for number, one in enumerate(dumps.subnet.switches)}
    home = np.array([int(one.name[1:]) for one in dumps.subnet.adapters])
    crosses = home[None, :] < home[:, None]
    sl2vl = np.zeros((4, dumps.subnet.ports, dumps.subnet.ports, LANES), np.uint8)
    sl2vl[row["s3"], :, 1, 1] = sl2vl[row["s0"], 2, 1, 1] = sl2vl[row["s1"], 2, 1, 1] = 1
    found = find_credit_loops(replace(dumps, path_sl=crosses.astype(np.uint8), sl2vl=sl2vl))
    assert found.cycle is None
    assert found.order is not None
    assert (found.lanes, found.channels, found.dependencies) == ((0, 1), 6, 5)
    names = {number: name for name, number in row.items()}
    order = [(names[one // LANES // dumps.subnet.ports], one % LANES) for one in found.order.tolist()]
    assert order == [("s0", 0), ("s1", 0), ("s2", 0), ("s3", 1), ("s0", 1), ("s1", 1)]


def test_the_first_losses_are_named_and_all_counted() -> None:
    dumps = ring(6)
    table = dumps.forwarding.copy()
    row = {one.name: number for number, one in enumerate(dumps.subnet.switches)}
    table[row["s0"], dumps.destinations[1:]] = NO_PORT
    found = find_credit_loops(replace(dumps, forwarding=table))
    assert found.lost_count == 5
    assert found.lost == tuple(("s0", lid) for lid in (2, 3, 4, 5, 6))
    table[row["s1"], dumps.destinations[2]] = NO_PORT
    assert find_credit_loops(replace(dumps, forwarding=table)).lost_count == 6
    assert len(find_credit_loops(replace(dumps, forwarding=table)).lost) == 5


def test_next_hops_by_port_guid() -> None:
    dumps = ring(3)
    guid = {number: f"0x{0x600 + number:016x}" for number in range(3)}
    expected = {f"s{one}": {guid[two]: [f"s{(one + 1) % 3}"] for two in range(3) if two != one} for one in range(3)}
    assert subnet_next_hops(dumps) == expected
    table = dumps.forwarding.copy()
    row = {one.name: number for number, one in enumerate(dumps.subnet.switches)}
    table[row["s0"], 2] = NO_PORT
    del expected["s0"][guid[1]]
    assert subnet_next_hops(replace(dumps, forwarding=table)) == expected


def test_switches_of_one_name_go_by_guid() -> None:
    cables = [(switch(0, 1, "same"), switch(1, 1, "same")), (switch(1, 2, "same"), switch(2, 1, "other"))]
    assert switch_names(subnet_of(cables)) == ["0x0000000000000100", "0x0000000000000101", "other"]
