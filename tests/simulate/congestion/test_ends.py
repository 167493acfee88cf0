"""The ends of flows that a result shows, and the words of findings about ports."""

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.render.hosts.rendered import write_bundle


@pytest.mark.parametrize("pattern", ["all-to-all", "checkpoint", "permutation"])
def test_no_flow_ends_at_the_adapter_where_it_begins(pattern: str, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("simulate", "congestion", write_bundle(tmp_path / "b"), "--pattern", pattern, "--format", "json")
    flows = json.loads(outcome.out)["congestion"]["flows"]
    assert flows and all(flow["src"] != flow["dst"] for flow in flows)


def test_congestion_at_a_port_is_not_caused_by_a_value_of_the_port(cli: Cli, bundle: Path) -> None:
    outcome = cli("simulate", "congestion", bundle, "--pattern", "incast", "--format", "json")
    trees = [one for one in json.loads(outcome.out)["findings"] if one["code"] == "FG702"]
    assert trees and all(one["path"].startswith("PORT|Ethernet") for one in trees)
    assert not [each["message"] for one in trees for each in one["related"]]
