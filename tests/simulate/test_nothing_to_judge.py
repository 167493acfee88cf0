"""No verdict on nothing: unknown links, missing files and empty files never pass."""

import json
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.results import CongestionModel
from fabricgen.simulate.congestion.analysis import CongestionOptions, analyse_congestion
from tests.conftest import Cli
from tests.inventories import write
from tests.report.test_headline import fabric

VERBS = {
    "deadlock": ("simulate", "deadlock"),
    "congestion": ("simulate", "congestion"),
    "packets": ("simulate", "packets", "--pattern", "incast"),
}
LINK_TABLES = ("DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "BGP_NEIGHBOR", "INTERFACE")


def loose(rendered: Path, folder: Path, *, names: str = "*", without: tuple[str, ...] = ()) -> Path:
    """Files of switches without fabric.json, and without some tables."""
    for file in sorted((rendered / "sonic").glob(f"{names}/config_db.json")):
        tables = {name: rows for name, rows in json.loads(file.read_text()).items() if name not in without}
        for port in tables["PORT"].values() if without else ():
            port.pop("description", None)
        copy = folder / file.parent.name / file.name
        copy.parent.mkdir(parents=True)
        copy.write_text(json.dumps(tables))
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_unknown_links(cli: Cli, rendered: Path, tmp_path: Path, verb: str) -> None:
    """Twenty lossless switches whose links no table names."""
    outcome = cli("-q", *VERBS[verb], loose(rendered, tmp_path, without=LINK_TABLES))
    assert outcome.code in (1, 2) and "passed" not in outcome.out
    if verb == "deadlock":
        assert "not judged: 768 lossless ports lead to an unknown far end\n" in outcome.out
        assert "give --links or --lldp" in outcome.out


@pytest.mark.parametrize("verb", VERBS)
def test_one_switch(cli: Cli, rendered: Path, tmp_path: Path, verb: str) -> None:
    """Its metadata of neighbors names switches whose files are not given."""
    outcome = cli("-q", *VERBS[verb], loose(rendered, tmp_path, names="compute-su00-r0-leaf"), "--format", "json")
    found = json.loads(outcome.out)
    [one] = [one for one in found["findings"] if one["code"] == "FG614"]
    assert outcome.code == 1 and "compute-spine-00, compute-spine-01, compute-spine-02 and 1 more" in one["message"]
    assert one["hint"].startswith("give the config_db.json of compute-spine-00")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two leaves with two hosts each, which exchange packets without a spine, too, and two spines."""
    from fabricgen.api import render

    folder, tree = tmp_path_factory.mktemp("small"), fabric()
    tree["hosts"]["gpu"]["count"] = 4
    tree["planes"]["compute"]["links"] += [[f"gpu/{2 + leaf}:rail0", f"leaf{1 + leaf}:Ethernet8"] for leaf in (0, 1)]
    render(write(folder / "inventory", tree), folder / "bundle")
    return folder / "bundle"


@pytest.mark.parametrize("keeps_rows", [True, False])
@pytest.mark.parametrize("split", ["*", "spine1", "leaf1"])
@pytest.mark.parametrize("verb", VERBS)
def test_routes_of_frr(cli: Cli, small: Path, tmp_path: Path, verb: str, split: str, *, keeps_rows: bool) -> None:
    """Static routes and networks of frr.conf beside the file are not judged, and every verdict says so."""
    folder = loose(small, tmp_path)
    for file in folder.glob(f"{split}/config_db.json"):
        tables = json.loads(file.read_text())
        tables["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] = "split-unified"
        if not keeps_rows:
            del tables["BGP_NEIGHBOR"]
        file.write_text(json.dumps(tables))
        routes = "ip route 10.0.0.0/8 10.128.0.1\nrouter bgp 65000\n address-family ipv4\n  network 10.64.0.0/16\n"
        (file.parent / "frr.conf").write_text(routes)
    outcome = cli("-q", *VERBS[verb], folder)
    assert outcome.code == 1 and "proved" not in outcome.out and "FG610" in outcome.out
    assert "routes of FRR's own files are not judged" in outcome.out or not keeps_rows


@pytest.mark.parametrize("verb", VERBS)
def test_empty_file(cli: Cli, tmp_path: Path, verb: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "config_db.json").write_text("{}")
    outcome = cli("-q", *VERBS[verb], tmp_path)
    assert outcome.code in (1, 2) and "passed" not in outcome.out and "proved" not in outcome.out


def test_missing_file_of_a_bundle(cli: Cli, bundle: Path) -> None:
    """fabric.json has the links of a spine whose file is gone."""
    (bundle / "sonic" / "compute-spine-00" / "config_db.json").unlink()
    outcome = cli("-q", "simulate", "deadlock", bundle, "--format", "json")
    found = json.loads(outcome.out)["deadlock"]
    assert (outcome.code, found["verdict"], found["covers"]["unknown_ends"]) == (1, "unknown", 64)


def test_rails_without_spines_are_free(cli: Cli, rendered: Path, tmp_path: Path) -> None:
    """Each leaf has links to hosts only, and its files name them: nothing is unknown."""
    folder = loose(rendered, tmp_path, names="*leaf")
    for file in folder.glob("*/config_db.json"):
        tables = json.loads(file.read_text())
        metadata = tables["DEVICE_NEIGHBOR_METADATA"]
        hosts = {name for name, row in metadata.items() if row["type"] == "Server"}
        uplinks = {port for port, row in tables["DEVICE_NEIGHBOR"].items() if row["name"] not in hosts}
        tables["DEVICE_NEIGHBOR"] = {p: row for p, row in tables["DEVICE_NEIGHBOR"].items() if p not in uplinks}
        tables["PORT"] |= {port: {**tables["PORT"][port], "admin_status": "down"} for port in uplinks}
        del tables["BGP_NEIGHBOR"]
        file.write_text(json.dumps(tables))
    outcome = cli("-q", "simulate", "deadlock", folder)
    assert outcome.code == 0 and "free, proved" in outcome.out


def test_ports_that_count_as_ports_of_hosts(cli: Cli, rendered: Path, tmp_path: Path) -> None:
    """Links from the sessions of BGP do not name hosts; the verdict says how many ports that concerns."""
    folder = loose(rendered, tmp_path, without=("DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA"))
    outcome = cli("-q", "simulate", "deadlock", folder)
    assert outcome.code == 0
    assert "256 lossless ports without a known far end count as ports of hosts" in outcome.out


def test_no_plane_for_the_pattern(cli: Cli, tmp_path: Path) -> None:
    """A fabric for storage alone: the gate says that congestion has no verdict, and the simulators refuse."""
    folder, bundle = tmp_path / "inventory", tmp_path / "bundle"
    assert cli("-q", "init", folder, "--planes", "storage", "--hosts", "4").code == 0
    checked = cli("-q", "check", folder)
    assert checked.out.startswith("passed: no findings; judged: 4 devices, 16 links, ")
    assert checked.out.splitlines()[0].endswith(" rules, deadlock")
    assert "not judged: congestion of plane storage\n" in checked.out
    assert cli("-q", "render", folder, "--output", bundle).code == 0
    refused = cli("-q", "simulate", "congestion", bundle)
    assert refused.code == 1 and "judged:" not in refused.out.splitlines()[0]
    assert "error FG708  plane storage: not simulated: ring-all-reduce runs between GPUs" in refused.out
    assert cli("-q", "simulate", "congestion", bundle, "--pattern", "storage-read").code == 0
    packets = cli("-q", "simulate", "packets", bundle)
    assert packets.code == 2 and "plane storage: it runs between GPUs; storage-read and checkpoint run" in packets.err


def test_management_alone(cli: Cli, tmp_path: Path) -> None:
    assert cli("-q", "init", tmp_path / "inventory", "--planes", "out-of-band", "--hosts", "4").code == 0
    lines = cli("-q", "check", tmp_path / "inventory").out.splitlines()
    assert lines[0].endswith(" rules, deadlock") and lines[1] == "not judged: congestion of plane out-of-band"


def test_planes_for_other_traffic_are_named(cli: Cli, tmp_path: Path) -> None:
    assert cli("-q", "init", tmp_path / "inventory", "--planes", "compute,storage,in-band", "--hosts", "2").code == 0
    lines = cli("-q", "check", tmp_path / "inventory").out.splitlines()
    assert lines[0].startswith("passed: ") and lines[0].endswith(" rules, deadlock, congestion")
    assert lines[1] == "not judged: congestion of plane storage" and not lines[2].startswith("not judged")
    assert cli("-q", "render", tmp_path / "inventory", "--output", tmp_path / "bundle").code == 0
    found = analyse_congestion(open_bundle([tmp_path / "bundle"]), CongestionOptions("ring-all-reduce"))
    skipped = [one for one in found if one.model is CongestionModel.SKIPPED]
    assert [(one.name, one.is_for_others) for one in skipped] == [("storage", True)]
