"""The traffic of each pattern, and the placement of jobs."""

import json
from pathlib import Path

import numpy as np
import pytest

from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.simulate.patterns import (
    PATTERNS,
    Adapter,
    Everyone,
    Messages,
    Placement,
    check_pattern,
    make_job,
    make_traffic,
)
from fabricgen.simulate.patterns.job import Job

NODES, RAILS, SIZE = 6, 2, 1200.0


def adapters(nodes: int = NODES, rails: int = RAILS, model: str = "", storage: int = 0) -> list[Adapter]:
    found = [Adapter(f"h{node}", f"rail{rail}", rail, "gpu", model) for node in range(nodes) for rail in range(rails)]
    return found + [Adapter(f"store{number}", "nic0", None, "storage") for number in range(storage)]


def sent(name: str, job: Job | None = None, given: list[Adapter] | None = None) -> Messages:
    given = given or adapters()
    traffic = make_traffic(name, job or make_job(given), given, SIZE, 1)
    return traffic.messages() if isinstance(traffic, Everyone) else traffic


def per_adapter(traffic: Messages) -> list[float]:
    return np.bincount(traffic.source, weights=traffic.bytes, minlength=NODES * RAILS).tolist()


@pytest.mark.parametrize("name", PATTERNS[:-1])
def test_every_pattern_stays_on_its_rail(name: str) -> None:
    given = adapters()
    traffic = sent(name)
    assert len(traffic)
    assert (traffic.source != traffic.target).all()
    if name not in ("storage-read", "checkpoint"):
        rails = np.array([adapter.rail for adapter in given])
        assert (rails[traffic.source] == rails[traffic.target]).all()


def test_bytes_are_those_of_nccl() -> None:
    ranks = NODES * RAILS
    each = SIZE * (ranks - 1) / ranks / RAILS
    assert per_adapter(sent("ring-all-reduce")) == pytest.approx([2 * each] * ranks)
    assert per_adapter(sent("reduce-scatter")) == per_adapter(sent("all-gather")) == pytest.approx([each] * ranks)
    assert per_adapter(sent("all-to-all")) == pytest.approx([SIZE * (NODES - 1) / NODES] * ranks)
    assert per_adapter(sent("pipeline"))[-RAILS:] == [0.0] * RAILS


@pytest.mark.parametrize("nodes", [2, 3, 5, 8, 13])
def test_double_tree_reaches_every_rank(nodes: int) -> None:
    """Each tree has one edge less than nodes; a node has at most two children in one, so at most six peers in all."""
    given = adapters(nodes, 1)
    traffic = sent("tree-all-reduce", given=given)
    assert len(traffic) == 4 * (nodes - 1)
    for tree in range(2):
        up = slice(2 * tree * (nodes - 1), (2 * tree + 1) * (nodes - 1))
        child, parent = traffic.source[up], traffic.target[up]
        assert len(set(child.tolist())) == nodes - 1
        assert np.bincount(parent).max() <= 2
        above = dict(zip(child.tolist(), parent.tolist(), strict=True))
        [root] = set(range(nodes)) - set(above)
        for node in range(nodes):
            for _ in range(nodes):
                node = above.get(node, root)
            assert node == root
    assert (np.bincount(traffic.source, weights=traffic.bytes) <= 3 * SIZE).all()


def test_permutation_gives_every_adapter_one_sender() -> None:
    traffic = sent("permutation")
    assert sorted(traffic.source.tolist()) == sorted(traffic.target.tolist()) == list(range(NODES * RAILS))
    assert sent("permutation").target.tolist() == traffic.target.tolist()


def test_storage_receives_the_bytes_of_all_writers() -> None:
    given = adapters(storage=2)
    traffic = sent("checkpoint", given=given)
    assert len(traffic) == NODES * RAILS
    assert set(traffic.target.tolist()) == {NODES * RAILS, NODES * RAILS + 1}
    read = sent("storage-read", given=given)
    assert read.source.tolist() == traffic.target.tolist()
    assert not make_job(given).stand_in and make_job(adapters()).stand_in


def test_incast_has_one_receiver() -> None:
    traffic = sent("incast")
    assert traffic.target.tolist() == [0] * (NODES - 1)
    assert traffic.source.tolist() == [2, 4, 6, 8, 10]


def test_placements() -> None:
    given = adapters()
    assert make_job(given).members[:, 0].tolist() == [0, 2, 4, 6, 8, 10]
    shuffled = make_job(given, Placement.FRAGMENTED, 3).members
    assert sorted(shuffled[:, 0].tolist()) == [0, 2, 4, 6, 8, 10] != shuffled[:, 0].tolist()
    assert (shuffled[:, 1] == shuffled[:, 0] + 1).all()
    assert make_job(given, ("h4", "h1")).members.tolist() == [[8, 9], [2, 3]]
    with pytest.raises(UsageError, match="unknown"):
        make_job(given, ("h4", "unknown"))


def test_trays_of_one_rack_are_one_node() -> None:
    job = make_job(adapters(36, 4, "gb200-nvl72"))
    assert job.members.shape == (2, 72)
    assert job.members[1, 0] == 72


def test_traces(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    flow = {"src": "h0|rail1", "dst": "h2", "bytes": 5}
    file.write_text(json.dumps({"flows": [flow, flow | {"start_ns": 7}]}))
    traffic = sent(f"trace:{file}")
    assert (traffic.source.tolist(), traffic.target.tolist()) == ([1, 1], [4, 4])
    assert traffic.start_ns.tolist() == [0, 7]
    for wrong in (flow | {"src": "h9"}, flow | {"bytes": 0}, flow | {"bytes": "many"}, {"src": "h0"}):
        file.write_text(json.dumps({"flows": [wrong]}))
        with pytest.raises(UnreadableInputError):
            sent(f"trace:{file}")


def test_an_unknown_name_is_reported_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="ring-all-reduce"):
        check_pattern("ring")
    with pytest.raises(UsageError):
        check_pattern("trace:")
