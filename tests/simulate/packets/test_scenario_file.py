"""Scenario files: mistakes are findings with their lines, and wrong usage is refused."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fabricgen.errors import UsageError
from fabricgen.resources import resource
from fabricgen.simulate.scenario import check_scenario, parse_scenario
from tests.conftest import Cli
from tests.simulate.packets.running import finished, result, ring, star


def written(folder: Path, tree: dict[str, Any]) -> Path:
    file = folder / "scenario.json"
    file.write_text(json.dumps(tree, indent=1))
    return file


@pytest.mark.parametrize("tree", [star(3), ring()], ids=["star", "ring"])
def test_correct_files_have_no_mistakes(tmp_path: Path, tree: dict[str, Any]) -> None:
    assert check_scenario(written(tmp_path, tree)) == []
    schema = json.loads(resource("schemas", "scenario.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tree, schema)


def test_every_mistake_is_reported_with_its_line(tmp_path: Path) -> None:
    tree = star(3)
    tree["links"][1]["speed_gbps"] = "fast"
    tree["transport"]["payload_bytes"] = 0
    tree["flows"][2]["bites"] = 1
    file = written(tmp_path, tree)
    found = {one.path: one for one in check_scenario(file)}
    assert set(found) == {"links[1].speed_gbps", "transport.payload_bytes", "flows[2].bites"}
    place = found["links[1].speed_gbps"].location
    assert place is not None
    assert '"speed_gbps": "fast"' in file.read_text().splitlines()[place.line - 1]


def test_names_must_exist(tmp_path: Path) -> None:
    tree = star(3)
    tree["flows"][0]["dst"] = "h9"
    tree["routes"][1]["via"] = "h0"
    tree["routes"].append({"at": "h0", "to": "h1", "via": "s"})
    paths = {one.path for one in check_scenario(written(tmp_path, tree))}
    assert paths == {"flows[0].dst", "routes[4].at"}


@pytest.mark.parametrize(
    ("times", "where", "problem"),
    [
        ({"up_at_ns": 5}, "up_at_ns", "5 is not after at_ns 10"),
        ({"routes_back_at_ns": 50}, "routes_back_at_ns", "the link does not come up"),
        ({"up_at_ns": 20, "routes_at_ns": 30}, "up_at_ns", "back before they change at 30 ns"),
        ({"up_at_ns": 20, "routes_at_ns": 30, "routes_back_at_ns": 30}, "routes_back_at_ns", "back before they change"),
        ({"up_at_ns": 20, "routes_at_ns": 30, "routes_back_at_ns": 31}, "", ""),
    ],
)
def test_times_of_a_flap(tmp_path: Path, times: dict[str, int], where: str, problem: str) -> None:
    found = check_scenario(written(tmp_path, star(1, failures=[{"a": "h0", "b": "s", "at_ns": 10, **times}])))
    assert [one.path for one in found] == [f"failures[0].{where}"] * bool(where)
    assert all(problem in one.message for one in found)


def test_ends_of_links_replace_settings_of_their_switch(tmp_path: Path) -> None:
    tree = star(2)
    tree["links"][1]["b_buffers"] = {"alpha": 1, "ecn": {"kmin_bytes": 1000, "kmax_bytes": 2000, "pmax": 1}}
    assert check_scenario(written(tmp_path, tree)) == []
    first, second, third = (link.b_buffers for link in parse_scenario(tree).links)
    assert (first, third) == (None, None)
    assert second is not None
    assert (second.alpha, second.pg_reserve_bytes) == (1, tree["switch_defaults"]["pg_reserve_bytes"])
    assert second.ecn is not None
    assert second.ecn.kmax_bytes == 2000
    tree["links"][2]["a_buffers"] = {"alpha": 1}
    assert [one.path for one in check_scenario(written(tmp_path, tree))] == ["links[2].a_buffers"]
    with pytest.raises(UsageError, match="'h2' is not a switch"):
        parse_scenario(tree)


def test_command_reports_mistakes_and_exits_with_1(cli: Cli, tmp_path: Path) -> None:
    tree = star(2)
    tree["routes"][0]["to"] = "nowhere"
    outcome = cli("simulate", "packets", "--scenario", str(written(tmp_path, tree)), "--format", "json")
    assert outcome.code == 1
    assert [one["code"] for one in json.loads(outcome.out)["findings"]] == ["FG790"]
    assert cli("simulate", "packets", "--scenario", str(tmp_path / "none.json")).code == 2


def test_flow_that_cannot_be_counted_is_refused(cli: Cli, tmp_path: Path) -> None:
    tree = star(1, 10**12)
    tree["transport"]["payload_bytes"] = 100
    outcome = cli("simulate", "packets", "--scenario", str(written(tmp_path, tree)))
    assert outcome.code == 2
    assert "h0 to h1 has 10000000000 packets" in outcome.err
    late = star(1)
    late["flows"][0]["start_ns"] = 10**19
    assert [one.path for one in check_scenario(written(tmp_path, late))] == ["flows[0].start_ns"]


def test_times_of_unusual_speeds_do_not_overflow() -> None:
    """97.3 Gb/s have a clock of 10 fs: a pause of 65,535 quanta is 3e10 ticks of it, more than 32 bits hold."""
    tree = star(2)
    tree["links"][0]["speed_gbps"] = 97.3
    near = [flow.fct_ns or 0 for flow in result(star(2)).flows]
    assert [flow.fct_ns for flow in result(tree).flows] == pytest.approx(near, rel=0.03)
    network = finished(tree).network
    assert network.ns(network.run.pfc["pause"][0]) == int(65_535 * 512 / 97.3)


def test_unknown_keys_are_mistakes_wherever_they_are(tmp_path: Path) -> None:
    tree = star(2)
    tree["nots"] = []
    tree["switch_defaults"]["alfa"] = 1
    tree["nodes"][0]["drain_gpbs"] = 10
    tree["links"][0]["b_buffers"] = {"xon": 5, "alpha": "much"}
    found = {one.path: one.message for one in check_scenario(written(tmp_path, tree))}
    assert set(found) == {
        "nots", "switch_defaults.alfa", "nodes[0].drain_gpbs", "links[0].b_buffers.xon", "links[0].b_buffers.alpha",
    }  # fmt: skip
    assert "did you mean 'alpha'?" in found["switch_defaults.alfa"]
    assert "did you mean 'drain_gbps'?" in found["nodes[0].drain_gpbs"]


def test_mistakes_in_an_object_that_may_be_null_are_named(tmp_path: Path) -> None:
    tree = star(2)
    tree["switch_defaults"]["watchdog"] = {"detection_ns": 1000, "restoration_ns": 1000}
    tree["switch_defaults"]["ecn"] = {"kmin_bytes": -1, "kmax_bytes": 2000, "pmax": 1, "kmid": 5}
    found = {one.path: one.message for one in check_scenario(written(tmp_path, tree))}
    assert set(found) == {"switch_defaults.watchdog", "switch_defaults.ecn.kmin_bytes", "switch_defaults.ecn.kmid"}
    assert "'poll_ns' is missing" in found["switch_defaults.watchdog"]


@pytest.mark.parametrize("verb", ["packets", "congestion"])
def test_a_flow_without_a_route_is_a_mistake_in_both_directions(verb: str, cli: Cli, tmp_path: Path) -> None:
    tree = star(2)
    tree["routes"] = tree["routes"][1:2]
    outcome = cli("simulate", verb, "--scenario", str(written(tmp_path, tree)), "--format", "json")
    assert outcome.code == 1
    messages = {(one["path"], one["message"].partition(": ")[2]) for one in json.loads(outcome.out)["findings"]}
    assert messages == {("flows[0]", "s has no route to h2"), ("flows[0]", "s has no route to h0")}


def test_routes_in_a_cycle_are_a_mistake(tmp_path: Path) -> None:
    tree = ring()
    first = tree["flows"][0]
    switches = [node["name"] for node in tree["nodes"] if node["kind"] == "switch"]
    tree["routes"] = [route for route in tree["routes"] if route["to"] != first["dst"]]
    around = zip(switches, switches[1:] + switches[:1], strict=True)
    tree["routes"] += [{"at": at, "to": first["dst"], "via": via} for at, via in around]
    found = check_scenario(written(tmp_path, tree))
    assert {one.path for one in found} >= {"flows[0]"}
    assert all("in a cycle" in one.message for one in found)


def test_a_switch_that_selects_next_hops_needs_no_route_to_its_hosts(tmp_path: Path) -> None:
    tree = star(2)
    tree["routes"] = []
    assert check_scenario(written(tmp_path, tree))
    tree["balance"] = {"mode": "spray"}
    assert check_scenario(written(tmp_path, tree)) == []
    assert all(flow.fct_ns for flow in result(tree).flows)


def test_the_compat_option_overrides_the_file(cli: Cli, tmp_path: Path) -> None:
    file = written(tmp_path, {**star(1, 1_048_000), "compat": "hpcc"})

    def completion(*options: str) -> int:
        outcome = cli("-q", "simulate", "packets", "--scenario", str(file), "--format", "json", *options)
        assert outcome.code == 0
        time: int = json.loads(outcome.out)["packets"]["flows"][0]["fct_ns"]
        return time

    assert completion() == completion("--compat", "hpcc") < completion("--compat", "none")


def test_freeze_in_the_json_object(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("-q", "simulate", "packets", "--scenario", str(written(tmp_path, ring())), "--format", "json")
    assert outcome.code == 1
    packets = json.loads(outcome.out)["packets"]
    assert packets["frozen"] is True
    assert packets["freeze"]["cycle"] == [["s0", "s1"], ["s1", "s2"], ["s2", "s0"]]
    assert packets["finished"] == 0
    assert packets["flows"][0]["fct_ns"] is None


def test_without_numba_the_extra_is_named(tmp_path: Path) -> None:
    code = "import sys; sys.modules['numba'] = None; from fabricgen.cli.main import run; run(sys.argv[1:])"
    command = [sys.executable, "-c", code, "simulate", "packets", "--scenario", str(written(tmp_path, star(1)))]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 2
    assert "pip install 'fabricgen[sim]'" in outcome.stderr


def test_whole_numbers_with_a_fraction_are_whole_numbers() -> None:
    tree = star(2)
    plain = result(tree)
    for link in tree["links"]:
        link["delay_ns"], link["speed_gbps"] = float(link["delay_ns"]), float(link["speed_gbps"])
    for flow in tree["flows"]:
        flow["bytes"], flow["start_ns"] = float(flow["bytes"]), float(flow["start_ns"])
    assert result(tree) == plain


def test_a_compilation_is_announced_when_a_run_begins(
    cli: Cli, tmp_path: Path, rendered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not before wrong options and files are refused, because they compile nothing."""
    monkeypatch.setattr("fabricgen.simulate.compilation.has_machine_code", lambda _: False)
    right = written(tmp_path, star(3))
    assert cli("simulate", "packets", "--scenario", right).err.count("compiling the packet simulator") == 1
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    at_a_host = ["--pattern", "incast", "--fail", "gpu-000|rail0@1us"]
    for refused in (
        cli("simulate", "packets", "--scenario", wrong),
        cli("simulate", "packets", rendered, "--plane", "nowhere"),
        cli("simulate", "packets", rendered, *at_a_host),
        cli("tune", rendered, "--pattern", "incast", "--for", "p99", "--plane", "nowhere"),
    ):
        assert refused.code and "compiling" not in refused.err
