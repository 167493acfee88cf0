"""A link out of service through every judge and handoff, and back."""

import json
from pathlib import Path

import pytest

from fabricgen.deploy.state import expected_sessions
from tests.conftest import Cli
from tests.inventories import rail_optimized, two_rails, write

LEAF, SPINE, CABLE = "compute-su00-r0-leaf", "compute-spine-00", "compute/su0/rail0/leaf0/up0"
ENTRY = f"links:\n  - {{ends: ['{LEAF}:Ethernet496', '{SPINE}:Ethernet0'], state: cordoned}}\n"


@pytest.fixture(scope="module")
def inventory(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fabric with one cordoned uplink."""
    folder = tmp_path_factory.mktemp("cordoned")
    for file in (small / "inventory").iterdir():
        text = file.read_text() + (ENTRY if file.name == "fabric.yaml" else "")
        (folder / file.name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def bundle(inventory: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its bundle."""
    from fabricgen.cli.main import run

    folder = tmp_path_factory.mktemp("bundle") / "build"
    with pytest.raises(SystemExit) as stop:
        run(["-q", "render", str(inventory), "--output", str(folder)])
    assert not stop.value.code
    return folder


@pytest.fixture(scope="module")
def rendered(small: Path) -> Path:
    """The bundle without the entry."""
    return small / "bundle"


def config(bundle: Path, name: str) -> dict[str, dict[str, dict[str, str]]]:
    found: dict[str, dict[str, dict[str, str]]] = json.loads((bundle / f"sonic/{name}/config_db.json").read_text())
    return found


def test_only_admin_status_of_both_ends_changes(bundle: Path, rendered: Path, cli: Cli) -> None:
    shown = cli("diff", rendered, bundle).out
    assert "6 devices: 0 added, 0 removed, 2 changed, 4 unchanged. 2 fields changed." in shown
    for name, port in ((LEAF, "Ethernet496"), (SPINE, "Ethernet0")):
        before, after = config(rendered, name), config(bundle, name)
        assert after["PORT"][port].pop("admin_status") == "down"
        assert before["PORT"][port].pop("admin_status") == "up"
        assert before == after


def test_the_state_is_explained_at_the_line_of_the_inventory(bundle: Path, cli: Cli) -> None:
    outcome = cli("explain", bundle, f"{LEAF}:PORT|Ethernet496|admin_status")
    assert "links[0].state" in outcome.out and "the link is cordoned" in outcome.out


def test_check_has_no_error_and_counts_without_the_link(inventory: Path, cli: Cli) -> None:
    outcome = cli("check", inventory, "--format", "json", "--fail-on", "warning")
    result = json.loads(outcome.out)
    assert outcome.code == 0 and [one["code"] for one in result["findings"]] == ["FG701"]
    covers = result["deadlock"]["covers"]
    counted = {"sessions": 15, "left_out": 0, "lossless_links": 15, "without_routes": 0, "cordoned": 1}
    assert counted.items() <= covers.items()
    assert result["deadlock"]["failures"]["sets"] == 15
    shown = cli("check", inventory).out
    assert "without 1 cordoned session" in shown and "; out of service: 1 link cordoned\n" in shown


def test_undoing_gives_the_former_bytes(inventory: Path, rendered: Path, tmp_path: Path, cli: Cli) -> None:
    for file in inventory.iterdir():
        (tmp_path / file.name).write_text(file.read_text().replace(ENTRY, ""))
    assert cli("-q", "render", tmp_path, "--output", tmp_path / "b").code == 0
    for file in rendered.rglob("*"):
        if file.is_file():
            assert (tmp_path / "b" / file.relative_to(rendered)).read_bytes() == file.read_bytes()


def test_packets_and_congestion_use_the_other_links(bundle: Path, cli: Cli) -> None:
    text = cli("simulate", "congestion", bundle, "--pattern", "all-to-all", "--format", "json").out
    loads = {(device, port): load for device, port, load in json.loads(text)["congestion"]["link_loads"]}
    assert (LEAF, "Ethernet496") not in loads and (SPINE, "Ethernet0") not in loads
    assert loads[LEAF, "Ethernet500"] > 0


def test_a_nic_on_a_cordoned_link_sends_nothing(tmp_path: Path, cli: Cli) -> None:
    tree = rail_optimized(4, 4, 1)
    write(tmp_path / "whole", tree)
    links = [{"ends": ["gpu-000:rail0", "compute-su00-r0-leaf:Ethernet0"], "state": "cordoned"}]
    write(tmp_path / "cut", {**tree, "links": links})
    whole, cut = (json.loads(cli("check", tmp_path / name, "--format", "json").out) for name in ("whole", "cut"))
    assert [one["code"] for one in cut["findings"] if one["severity"] != "note"] == ["FG264", "FG285"]
    assert len(whole["congestion"]["flows"]) - len(cut["congestion"]["flows"]) == 1


def test_cabling_marks_the_cable(bundle: Path, rendered: Path, tmp_path: Path, cli: Cli) -> None:
    header, *rows = (bundle / "cabling.csv").read_text().splitlines()
    assert header == (rendered / "cabling.csv").read_text().splitlines()[0] + ",state"
    assert [row.partition(",")[0] for row in rows if row.endswith(",cordoned")] == [CABLE]
    assert all(row.endswith((",active", ",cordoned")) for row in rows)
    assert cli("-q", "handoff", "cabling", bundle, "--output", tmp_path / "sheets").code == 0
    sheet = (tmp_path / "sheets/cables.csv").read_text().splitlines()
    assert [row.partition(",")[0] for row in sheet if row.endswith(",cordoned")] == [CABLE]
    assert (tmp_path / "sheets/racks/no_rack.html").read_text().count("<strong>cordoned</strong>") == 2


@pytest.mark.parametrize("change", ["active", "cordoned,cordoned"])
def test_a_wrong_state_in_cabling_csv_is_found(change: str, bundle: Path, tmp_path: Path, cli: Cli) -> None:
    import shutil

    copy = shutil.copytree(bundle, tmp_path / "b")
    text = (copy / "cabling.csv").read_text()
    (copy / "cabling.csv").write_text(text.replace(",cordoned", f",{change}"))
    outcome = cli("validate", copy, "--select", "FG258")
    expected = "state is active, expected cordoned" if change == "active" else "the row has 16 cells, expected 15"
    assert outcome.code == 1 and expected in outcome.out


def test_lldp_does_not_expect_the_link(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    wiring = json.loads((bundle / "fabric.json").read_text())
    seen: dict[str, dict[str, dict[str, str]]] = {}
    for link in wiring["links"]:
        for near, far in ((link["a"], link["b"]), (link["b"], link["a"])):
            if near[0].startswith("compute") and link["id"] != wiring["cordoned"][0]:
                seen.setdefault(near[0], {})[near[1]] = {"lldp_rem_sys_name": far[0], "lldp_rem_port_id": far[1]}
    for name, rows in seen.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"LLDP_ENTRY_TABLE": rows}))
    assert cli("diff", bundle, tmp_path, "--exit-code").code == 0
    assert cli("validate", bundle, "--lldp", tmp_path, "--select", "FG260,FG261").code == 0


def test_ansible_expects_neither_the_neighbor_nor_its_session(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("-q", "handoff", "ansible", bundle, "--output", tmp_path / "a").code == 0
    text = (tmp_path / f"a/host_vars/{SPINE}.yml").read_text()
    assert "Ethernet4:" in text and "Ethernet0:" not in text
    tables = config(bundle, SPINE)
    peers = {row["local_addr"]: peer for peer, row in tables["BGP_NEIGHBOR"].items()}
    near = next(key.partition("|")[2].partition("/")[0] for key in tables["INTERFACE"] if key.startswith("Ethernet0|"))
    expected = expected_sessions(tables, ())
    assert peers[near] not in expected and len(expected) == len(peers) - 1


def test_both_ends_of_unnumbered_sessions_are_not_expected() -> None:
    rows = {f"default|Ethernet{port}": {"name": f"leaf{port}"} for port in (0, 4)}
    tables = {
        "BGP_NEIGHBOR": rows,
        "PORT": {"Ethernet0": {"admin_status": "down"}, "Ethernet4": {"admin_status": "up"}},
    }
    assert expected_sessions(tables, ()) == {"Ethernet4": "leaf4"}


def test_hosts_of_a_leaf_without_uplinks_are_disconnected(tmp_path: Path, cli: Cli) -> None:
    tree = two_rails()
    write(tmp_path, tree)
    assert cli("-q", "render", tmp_path, "--output", tmp_path / "b").code == 0
    links = json.loads((tmp_path / "b/fabric.json").read_text())["links"]
    ends = [[":".join(link["a"]), ":".join(link["b"])] for link in links if link["a"][0] == LEAF]
    write(tmp_path / "cut", {**tree, "links": [{"ends": pair, "state": "cordoned"} for pair in ends]})
    outcome = cli("check", tmp_path / "cut", "--format", "json")
    assert outcome.code == 1 and "FG360" in {one["code"] for one in json.loads(outcome.out)["findings"]}


@pytest.mark.parametrize(
    ("entry", "number"),
    [
        ("ends: ['compute-spine-00:*', '*:*']", 8),
        (f"ends: ['{LEAF}:*', 'compute-spine-*:*']", 4),
        ("cable: compute/su0/rail0/*", 4),
        ("cable: compute/su9/*", 0),
        ("ends: ['compute-spine-*:*', 'compute-spine-*:*']", 0),
    ],
)
def test_patterns_take_several_links_out_of_service(
    cli: Cli, small: Path, tmp_path: Path, entry: str, number: int
) -> None:
    for file in (small / "inventory").iterdir():
        text = f"links:\n  - {{{entry}, state: cordoned}}\n" if file.name == "fabric.yaml" else ""
        (tmp_path / file.name).write_text(file.read_text() + text)
    outcome = cli("render", tmp_path, "-o", tmp_path / "b", "-q")
    if not number:
        assert outcome.code == 1 and "FG107" in outcome.out and "no link of the fabric matches" in outcome.out
        return
    wiring = json.loads((tmp_path / "b/fabric.json").read_text())
    assert outcome.code == 0 and len(wiring["cordoned"]) == number
