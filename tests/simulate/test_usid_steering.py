"""Lists of uSIDs in the proof of deadlock freedom and in the congestion analysis: the paths that the tables give."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.routing.usids import usid_planes
from tests.conftest import Cli
from tests.inventories import DUAL_STACK, explicit, write
from tests.simulate.test_usid_paths import edit

Change = Callable[[dict[str, Any]], object]
ROUTES = "STATIC_ROUTE"


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four leaves with a host each, and two spines. The uSIDs of leaves are 1 to 4, those of spines 5 and 6."""
    from fabricgen.api import render

    links = [[f"gpu/{number}:rail0", f"leaf{number + 1}:Ethernet0"] for number in range(4)]
    links += [
        [f"leaf{leaf}:Ethernet{248 + 8 * spine}", f"spine{spine}:Ethernet{16 * (leaf - 1)}"]
        for leaf in range(1, 5)
        for spine in (1, 2)
    ]
    tree = explicit(addressing=DUAL_STACK, srv6="fcbb:bb00::/32", links=links)
    tree["planes"]["compute"]["leaves"] = [{"name": f"leaf{number}", "rail": 0} for number in range(1, 5)]
    tree["hosts"]["gpu"]["count"] = 4
    tree["sonic"] = {"release": 202511}
    folder = tmp_path_factory.mktemp("steering")
    render(write(folder / "in", tree), folder / "build")
    return folder / "build"


@pytest.fixture
def build(right: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(right, tmp_path / "build"))


def over(build: Path, switch: str, port: str, prefix: str) -> Change:
    """Adds the route of a prefix over a port of a switch, with the next hop of the route that leads there."""
    config = json.loads((build / "sonic" / switch / "config_db.json").read_text())
    row = next(one for one in config[ROUTES].values() if one.get("ifname") == port)
    return lambda changed: changed[ROUTES].update({f"default|{prefix}": row})


def judged(cli: Cli, verb: str, build: Path, *options: str) -> tuple[int, dict[str, Any], list[str]]:
    outcome = cli("-q", "simulate", verb, build, "--format", "json", *options)
    report = json.loads(outcome.out)
    return outcome.code, report[verb], [one["code"] for one in report["findings"]]


def test_lists_of_a_right_plane_are_covered(right: Path, cli: Cli) -> None:
    """4 leaves, 4 NICs: 2 lists to each NIC of another leaf and 1 to the own one."""
    code, found, codes = judged(cli, "deadlock", right, "--failures", "1")
    assert (code, found["verdict"], found["claim"], codes) == (0, "free", "proved", [])
    assert found["covers"]["lists"] == 4 * (3 * 2 + 1)
    assert "routes of BGP and 28 lists of uSIDs" in found["statement"]["covers"]
    code, found, codes = judged(cli, "congestion", right, "--pattern", "all-to-all")
    assert (code, codes) == (0, ["FG710"])
    assert found["load_balancing"].startswith("uSIDs: load spreads evenly over the lists of each pair (28 lists")
    assert found["max_load"] == 1.0


def test_a_proof_by_ports_equals_following_each_list(right: Path) -> None:
    (plane,) = (one for _, one in usid_planes(open_bundle([right])))
    assert not plane.unsure
    for leaf in ("leaf1", "leaf2", "leaf3", "leaf4"):
        for link in plane.nics:
            for one in plane.lists(leaf, link):
                assert one.destination is not None
                assert plane.problem(leaf, one, plane.walk(leaf, one.destination)) is None


def test_lists_do_not_follow_bgp(build: Path, cli: Cli) -> None:
    """A spine with TSA announces nothing, so BGP sends all over the other one. Hosts do not know it: lists use both."""

    def busiest(*options: str) -> dict[str, float]:
        found = judged(cli, "congestion", build, "--pattern", "ring-all-reduce", *options)[1]
        return {node: load for node, port, load in found["link_loads"] if node == "leaf1" and port != "Ethernet0"} | {
            node: load for node, _, load in found["link_loads"] if node.startswith("spine")
        }

    edit(build, "spine2", lambda c: c.update(BGP_DEVICE_GLOBAL={"STATE": {"tsa_enabled": "true"}}))
    assert busiest() == {"leaf1": 0.5, "spine1": 0.5, "spine2": 0.5}
    assert busiest("--balance", "spray") == {"leaf1": 1.0, "spine1": 1.0}


def test_a_missing_sid_leaves_the_verdict_open(build: Path, cli: Cli) -> None:
    """Spines send lists of leaf2 there, and leaf2 does not remove its uSID: 2 lists from each other leaf, and of those
    from leaf2 only the one that stays there arrives."""
    edit(build, "leaf2", lambda c: c.pop("SRV6_MY_SIDS"))
    code, found, codes = judged(cli, "deadlock", build, "--failures", "1")
    assert (code, found["verdict"], set(codes)) == (1, "unknown", {"FG749"})
    assert found["covers"]["unjudged_lists"] == "6 of 28 lists of uSIDs do not take their paths"
    code, found, codes = judged(cli, "congestion", build)
    assert code == 1 and set(codes) == {"FG708", "FG749"}
    assert found["model"] == "skipped"


def test_two_switches_with_one_locator(build: Path, cli: Cli) -> None:
    """Nothing removes the uSID of spine2 any more, and each list over it is lost there."""

    def as_spine1(config: dict[str, Any]) -> None:
        config["SRV6_MY_LOCATORS"] = {"MAIN": {"func_len": "0", "prefix": "fcbb:bb00:5::"}}
        config["SRV6_MY_SIDS"] = {"MAIN|fcbb:bb00:5::/48": {"action": "uN", "decap_dscp_mode": "pipe"}}

    edit(build, "spine2", as_spine1)
    code, found, codes = judged(cli, "deadlock", build)
    assert (code, found["verdict"], set(codes)) == (1, "unknown", {"FG749"})
    assert found["covers"]["unjudged_lists"] == "12 of 28 lists of uSIDs do not take their paths"
    assert "FG288" in {
        one["code"] for one in json.loads(cli("-q", "validate", build, "--format", "json").out)["findings"]
    }


def test_a_valley_is_a_cycle(build: Path, cli: Cli) -> None:
    """spine1 sends the uSID of leaf2 to leaf3, which sends it up to spine2; spine2 sends that of leaf4 to leaf1, which
    sends it up to spine1. The routes of BGP join these turns to a cycle. Without the routes of leaves to the block the
    packets are lost there, and no cycle exists."""
    edit(build, "spine1", over(build, "spine1", "Ethernet32", "fcbb:bb00:2::/48"))
    edit(build, "spine2", over(build, "spine2", "Ethernet0", "fcbb:bb00:4::/48"))
    lost = judged(cli, "deadlock", build)[1]
    assert (lost["verdict"], lost["cycles"]) == ("unknown", [])
    edit(build, "leaf3", over(build, "leaf3", "Ethernet264", "fcbb:bb00::/32"))
    edit(build, "leaf1", over(build, "leaf1", "Ethernet256", "fcbb:bb00::/32"))
    outcome = cli("-q", "simulate", "deadlock", build, "--format", "json", "--failures", "1", "--demonstrate")
    report = json.loads(outcome.out)
    found = report["deadlock"]
    assert (outcome.code, found["verdict"], found["claim"]) == (1, "cyclic", "proved")
    hops = {tuple(hop) for hop in found["cycles"][0]["hops"]}
    assert {("leaf3", "Ethernet264"), ("leaf1", "Ethernet256")} <= hops, hops
    assert any(witness.startswith("fcbb:bb00:") for witness in found["cycles"][0]["witnesses"])
    (cycle,) = (one for one in report["findings"] if one["code"] == "FG601")
    assert cycle["hint"].startswith("correct SRV6_MY_SIDS and STATIC_ROUTE of these switches")
    assert report["packets"]["freeze"] is not None


def test_a_list_that_never_ends_is_a_cycle(build: Path, cli: Cli) -> None:
    """leaf2 does not remove its uSID, and its route to the block leads up: packets go around until their hop limit."""
    edit(build, "leaf2", lambda c: c.pop("SRV6_MY_SIDS"))
    edit(build, "leaf2", over(build, "leaf2", "Ethernet264", "fcbb:bb00::/32"))
    code, found, codes = judged(cli, "deadlock", build)
    assert (code, found["verdict"]) == (1, "cyclic") and "FG601" in codes
    assert {tuple(hop) for hop in found["cycles"][0]["hops"]} == {("spine2", "Ethernet16"), ("leaf2", "Ethernet264")}


def test_files_without_fabric_json(right: Path, cli: Cli, tmp_path: Path) -> None:
    """The tiers follow from the distance to hosts. Without hosts no list has an end, and nothing passes."""
    files = Path(shutil.copytree(right / "sonic", tmp_path / "files" / "sonic")).parent
    code, found, codes = judged(cli, "deadlock", files)
    assert (code, found["verdict"], found["covers"]["lists"], codes) == (0, "free", 28, [])
    assert judged(cli, "paths", files)[1]["lists"] == 28

    def without_hosts(config: dict[str, Any]) -> None:
        rows = config["DEVICE_NEIGHBOR"]
        config["DEVICE_NEIGHBOR"] = {key: row for key, row in rows.items() if not row["name"].startswith("gpu")}

    for leaf in range(1, 5):
        edit(files, f"leaf{leaf}", without_hosts)
    code, found, codes = judged(cli, "deadlock", files)
    assert (code, found["verdict"], codes) == (1, "unknown", ["FG708"])
    assert found["covers"]["unjudged_lists"] == "lists of uSIDs: the files contain no hosts, so no list has an end"


def test_a_plane_without_usids_is_judged_as_before(build: Path, cli: Cli) -> None:
    for switch in open_bundle([build]).devices:
        edit(build, switch, lambda c: (c.pop("SRV6_MY_LOCATORS"), c.pop("SRV6_MY_SIDS")))
    code, found, codes = judged(cli, "deadlock", build)
    assert (code, found["verdict"], "lists" in found["covers"], codes) == (0, "free", False, [])


def test_a_lossy_plane_is_free_on_any_path(build: Path, cli: Cli) -> None:
    """MRC runs without PFC. Wrong lists stay errors."""
    for switch in open_bundle([build]).devices:
        edit(build, switch, lambda c: c.pop("PORT_QOS_MAP"))
    edit(build, "leaf2", lambda c: c.pop("SRV6_MY_SIDS"))
    code, found, codes = judged(cli, "deadlock", build)
    assert (code, found["verdict"]) == (1, "free") and "FG749" in codes


def test_a_link_without_a_session_is_named(build: Path, cli: Cli) -> None:
    """Lists use a link that has no BGP session: its buffers are in no proof."""
    for switch, far in (("leaf1", "spine1"), ("spine1", "leaf1")):

        def without(config: dict[str, Any], far: str = far) -> None:
            rows = config["BGP_NEIGHBOR"]
            for key in [key for key, row in rows.items() if row.get("name") == far]:
                del rows[key]

        edit(build, switch, without)
    code, found, codes = judged(cli, "deadlock", build)
    assert (code, found["verdict"]) == (1, "unknown") and "FG708" in codes
    assert found["covers"]["unjudged_lists"] == "2 directions of links that lists of uSIDs use have no BGP session"
