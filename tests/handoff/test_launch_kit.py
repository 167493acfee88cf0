"""The topology file of NVIDIA's launch kit, read as its reader reads it."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.launch_kit import launch_kit_file
from tests.conftest import Cli
from tests.handoff.test_kubernetes_operators import B300, GB300
from tests.render.hosts.rendered import inventory, write_bundle
from tests.rules.hosts.inventories import INFINIBAND

Pool = dict[str, tuple[str, str]]


def read(topology: dict[str, Any], *, planes: int, three_tiers: bool = False) -> dict[tuple[int, int], Pool]:
    """(rail, plane) -> node -> (host, leaf) address, as l8k makes them with swplb, or without planes.

    Source: NVIDIA/k8s-launch-kit@5027cad7 pkg/networkoperatorplugin/spectrumx/addressing.go: topologyLink,
    hostLinks (its refusals), ipv4HostLeafMiddleOctets, poolKeyForLink.
    """
    assert topology["links"] and {"nodes", "links"} <= set(topology)
    places: dict[tuple[int, int], dict[str, int]] = {}
    pools: dict[tuple[int, int], Pool] = {}
    for link in topology["links"]:
        assert len(link) == 2
        by_role = {end["attributes"]["role"]: end for end in link}
        host, leaf = by_role["host"], by_role["leaf"]
        rail, plane = host["attributes"]["rail"], leaf["attributes"]["plane"]
        pod, su = host["attributes"].get("pod"), host["attributes"].get("su")
        unit = places.setdefault((pod, su), {})
        index = unit.setdefault(host["node"], len(unit))
        assert 0 <= rail <= 7 and index <= 127 and su <= 63
        if three_tiers:
            assert pod is not None and pod <= 31
            second, third = (
                (plane << 6 | rail << 3 | pod >> 2, (pod & 3) << 6 | su) if planes > 1 else (rail << 5 | pod, su)
            )
        elif planes > 1:
            assert plane <= 3
            second, third = 16 | plane << 2 | rail >> 2 & 1, (rail & 3) << 6 | su
        else:
            second, third = 16 | rail << 1, su
        both = tuple(f"172.{second}.{third}.{index << 1 | bit}" for bit in (0, 1))
        pool = pools.setdefault((rail, plane if planes > 1 else 0), {})
        pool.setdefault(host["node"], (both[0], both[1]))
    return pools


CASES = [(inventory(), 8, 1), (GB300, 4, 2), (B300, 8, 4)]


@pytest.mark.parametrize(("text", "rails", "planes"), CASES, ids=["h100", "gb300", "b300"])
def test_each_worker_has_each_rail_on_each_plane(tmp_path: Path, text: str, rails: int, planes: int) -> None:
    bundle = open_bundle([write_bundle(tmp_path / "bundle", text)])
    assert bundle.wiring
    topology = json.loads(launch_kit_file(bundle)[1])
    names = {host.name for host in bundle.wiring.hosts}
    for three_tiers in (False, True):
        pools = read(topology, planes=planes, three_tiers=three_tiers)
        assert set(pools) == {(rail, plane) for rail in range(rails) for plane in range(planes)}
        assert all(set(pool) == names for pool in pools.values())
        addresses = [address for pool in pools.values() for pair in pool.values() for address in pair]
        assert len(addresses) == len(set(addresses))
    assert {node["role"] for node in topology["nodes"]} == {"host", "leaf"}


def test_the_verb(tmp_path: Path, cli: Cli) -> None:
    bundle = write_bundle(tmp_path / "bundle", GB300)
    done = cli("handoff", "topology", str(bundle), "-o", str(tmp_path / "out"), "--format", "l8k")
    assert done.code == 0 and "l8k generate --topology-file" in done.out, done
    assert "not those of the switches" in done.err
    assert [path.name for path in (tmp_path / "out").glob("*.*") if path.suffix == ".json"][-1:] == [
        "l8k-topology.json"
    ]


def test_what_the_kit_has_no_room_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no hosts with rails on a RoCE plane"):
        launch_kit_file(open_bundle([write_bundle(tmp_path / "a", INFINIBAND)]))
    bundle = open_bundle([write_bundle(tmp_path / "b", inventory())])
    assert bundle.wiring
    for device in bundle.wiring.devices:
        object.__setattr__(device, "su", 64)
    with pytest.raises(UsageError, match="su 64, but l8k has addresses up to su 63"):
        launch_kit_file(bundle)
