"""Pools as the switch has them: several ingress pools, cells, one headroom pool, and the sizes of a dynamic switch."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.findings import Finding, Severity
from tests.inventories import ARISTA, NVIDIA
from tests.simulate.packets.running import edit, finished, prepare, result, star

prepare(print)

from fabricgen.simulate.packets.analysis import PlaneRun, simulate_bundle  # noqa: E402
from fabricgen.simulate.packets.probes import probe  # noqa: E402 (compiled code comes after its cache)

HEADROOM = 37_500  # of the star's switch
XOFF_BYTES = 86_016  # of a 400G port of SN5600 with 5 m of cable, by the script of 202505; 202605 adds 2 KiB
MEMORY = 158_229_504


def two_classes(**lossy: Any) -> dict[str, Any]:
    """Eight hosts send on priority 3, eight on priority 0, whose groups have their own pool."""
    tree = star(16, size=400_000, classes=[{"priority": 3}, {"priority": 0, "lossless": False}])
    for index, flow in enumerate(tree["flows"]):
        flow["priority"] = 3 if index % 2 else 0
        tree["links"][index]["b_buffers"] = {} if index % 2 else lossy
    return tree


def test_traffic_of_another_pool_takes_nothing_from_this_one() -> None:
    """In one pool the lossy groups take half of the buffer, and the lossless ones pause more often."""
    together = two_classes(alpha=4.0)
    apart = two_classes(alpha=4.0, ingress_pool="ingress_lossy_pool", ingress_pool_bytes=1 << 19)
    pauses = [sum(group.pauses for group in result(tree).groups) for tree in (together, apart)]
    assert pauses[0] > 1.2 * pauses[1] > 0


def test_the_pool_of_a_port_limits_its_groups() -> None:
    """A pool of 64 KiB that the lossy groups share holds 64 KiB, then the switch drops."""
    tree = two_classes(alpha=128.0, pg_reserve_bytes=0, ingress_pool="small", ingress_pool_bytes=1 << 16)
    run = result(tree)
    assert {one.priority for one in run.dropped} == {0}
    network = finished(tree).network
    assert sorted(network.run.pools["limit"].tolist())[-2] == 1 << 16


@pytest.mark.parametrize(("cell", "share"), [(0, 1048), (208, 5 * 208), (256, 5 * 256), (1028, 1028), (1029, 1029)])
def test_a_packet_takes_whole_cells(cell: int, share: int) -> None:
    """Packets of 1048 bytes on the wire, 1028 without the gap. Headroom of 50 packets that fit exactly loses nothing,
    one byte less loses packets."""
    needed = headroom_needed(cell)
    packets = needed / share
    assert packets == round(packets)
    assert not run_with(cell, needed).drops
    assert run_with(cell, needed - share).drops


def run_with(cell: int, headroom: int) -> Any:
    buffers = {"alpha": 1 / 256, "pg_headroom_bytes": headroom, "cell_bytes": cell, "pg_reserve_bytes": 0}
    return result(star(2, switch_defaults={**star(2)["switch_defaults"], **buffers, "buffer_bytes": 1 << 24}))


def headroom_needed(cell: int) -> int:
    return max(group.headroom_most_bytes for group in run_with(cell, 1 << 20).groups)


def test_over_subscribed_headroom_overflows_if_all_ports_need_it() -> None:
    """16 senders are paused at once. One headroom for each is enough; a pool of half of them is not, nor is one of a
    quarter, and a pool of all is."""
    tree = star(16, size=400_000, switch_defaults={**star(1)["switch_defaults"], "buffer_bytes": 1 << 24})
    low = {"static_threshold_bytes": 20_000, "pg_headroom_bytes": HEADROOM}
    for link in tree["links"]:
        link["b_buffers"] = dict(low)
    assert not result(tree).drops
    need = sum(group.headroom_most_bytes for group in result(tree).groups)
    drops = []
    for pool in (need, need // 2, need // 4):
        tree["switch_defaults"]["headroom_pool_bytes"] = pool
        drops.append(result(tree).drops)
    assert drops[0] == 0 < drops[1] < drops[2]


def simulated(bundle: Path, **options: Any) -> PlaneRun:
    [one] = simulate_bundle(open_bundle([bundle]), "incast", **options)
    return one


@pytest.mark.parametrize("small", [NVIDIA], indirect=True)
def test_a_dynamic_switch_has_its_daemons_pools(own: Path) -> None:
    leaf = next(link for link in simulated(own).made.scenario.links if link.b_port == "Ethernet4").b_buffers
    assert leaf is not None
    assert leaf.ingress_pool == "ingress_lossless_pool" and 70e6 < leaf.ingress_pool_bytes < 79e6 < MEMORY / 2
    assert (leaf.pg_headroom_bytes, leaf.xon_bytes, leaf.cell_bytes) == (XOFF_BYTES, 19_456, 192)
    lossy = simulated(own, priorities=[0]).made.scenario.links[0].b_classes[0]
    assert lossy.ingress_pool == "ingress_lossy_pool" and lossy.ingress_pool_bytes == leaf.ingress_pool_bytes


@pytest.mark.parametrize("small", [NVIDIA], indirect=True)
def test_an_incast_without_ecn_fills_the_daemons_pool_and_pauses(own: Path) -> None:
    """The pool is about half of the memory: with the whole memory no group would pause."""
    edit(own, "WRED_PROFILE", lambda _, row: row.update(ecn="ecn_none"))
    edit(own, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", lambda _, row: row.update(default_dynamic_th="-4"))
    run = simulated(own, size_bytes=8 << 20).result
    pauses = sum(kind for _, _, kind in run.pfc_frames)
    assert pauses and not run.drops


def flood_findings(bundle: Path) -> list[Finding]:
    return [one for one in probe(open_bundle([bundle]), [simulated(bundle)]) if one.code == "FG755"]


@pytest.mark.parametrize("small", [ARISTA], indirect=True)
def test_a_flood_of_the_smallest_packets_is_a_note(own: Path) -> None:
    """Headroom of 120000 bytes is enough for full packets, but not for packets that take cells of 254 bytes each."""
    assert not flood_findings(own)
    edit(own, "BUFFER_PROFILE", lambda key, row: row.update(xoff="120000") if key.startswith("pg_l") else None)
    notes = flood_findings(own)
    assert notes and {one.severity for one in notes} == {Severity.NOTE}
    assert "only packets of 64 bytes" in notes[0].message and "cells of 254 B" in notes[0].message


@pytest.mark.parametrize("small", [NVIDIA], indirect=True)
@pytest.mark.parametrize("percentage", ["50", "100"])
def test_computed_headroom_holds_the_share_of_small_packets_of_the_pattern(percentage: str, own: Path) -> None:
    """With 100 % the flood is probed, and fits."""
    edit(own, "LOSSLESS_TRAFFIC_PATTERN", lambda _, row: row.update(small_packet_percentage=percentage))
    assert not flood_findings(own)


@pytest.mark.parametrize("small", [NVIDIA], indirect=True)
def test_a_ratio_gives_one_headroom_pool(own: Path) -> None:
    """Half of what both lossless groups of each port need beyond their private headroom."""
    edit(own, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", lambda _, row: row.update(over_subscribe_ratio="2"))
    made = simulated(own).made
    for node in made.scenario.nodes:
        if node.buffers:
            computed = made.switches[node.name].buffers.computed
            assert computed is not None
            lacking = sum((2 * own.xoff_bytes - 10_240) * len(ports) for own, ports in computed.profiles.values())
            assert node.buffers.headroom_pool_bytes == -(-lacking // 2) > 0
