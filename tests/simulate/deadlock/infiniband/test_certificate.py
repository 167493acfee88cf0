"""Certificates of InfiniBand subnets: the independent checker compares them with the files, and sees every change."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabricgen.simulate.deadlock.certificate import certificate, certificate_text, next_hops
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock, analyse_dumps, analyse_subnets
from fabricgen.simulate.opensm import Tools
from tests.conftest import Cli
from tests.opensm.small import TREE, rendered
from tests.simulate.deadlock.infiniband.test_credit_loops import made
from tests.simulate.deadlock.infiniband.test_dumps import fdbs, folder, ibnetdiscover, lfts, ring, sl2vl, subnet_lst
from tests.simulate.deadlock.test_certificate import checked, checker

Content = dict[str, Any]
MADE = "holds for these tables; that they are made of these files by OpenSM (proved) is not checked"


@dataclass(frozen=True)
class Certified:
    """Files, the verdicts on them, and the certificate as it is written."""

    root: Path
    results: list[SubnetDeadlock]
    text: str

    def content(self) -> Content:
        return json.loads(self.text)  # type: ignore[no-any-return]


def certified(root: Path) -> Certified:
    results = analyse_subnets(root)
    return Certified(root, results, certificate_text(results))


@pytest.fixture(scope="module")
def tree(opensm: Tools, tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """Two subnets, one with tenants: most pairs there may not talk."""
    return certified(rendered(tmp_path_factory.mktemp("tree"), TREE))


@pytest.fixture(scope="module")
def torus(opensm: Tools, tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A torus on two lanes for each of two classes, two LIDs a port: SL-to-VL tables are of many kinds."""
    root = tmp_path_factory.mktemp("torus")
    made(root / "infiniband" / "compute", "torus-6x4", "torus-2QoS,no_fallback", extra="lmc 1")
    return certified(root)


def sealed(content: Content) -> Content:
    for plane in content["planes"]:
        plane["seal"] = checker().check_subnet.__globals__["seal"](plane)
    return content


def test_the_checker_follows_the_same_dependencies(tree: Certified, torus: Certified) -> None:
    for made_of in (tree, torus):
        lines = checked(made_of.content(), made_of.root).splitlines()
        assert len(lines) == len(made_of.results)
        for line, result in zip(lines, sorted(made_of.results, key=lambda one: one.name), strict=True):
            counts = f"{result.channels} channels are in order, {result.dependencies} dependencies checked"
            assert line.startswith(f"plane {result.name}: {counts}; ")
            assert line.endswith(MADE)
    assert "pairs may not communicate" in checked(tree.content(), tree.root)
    assert "96 LIDs reach each other; " in checked(torus.content(), torus.root), "48 ports of two LIDs"


def test_two_runs_give_the_same_bytes(torus: Certified) -> None:
    assert certified(torus.root).text == torus.text
    assert json.loads(torus.text) == json.loads(json.dumps(certificate(torus.results)))


def last(plane: Content) -> int:
    return len(plane["order"]) - 1


def swap(plane: Content) -> None:
    order = plane["order"]
    order[0], order[last(plane)] = order[last(plane)], order[0]


def send_elsewhere(plane: Content, port: int) -> None:
    """The first table's port to the last endpoint, which is not on that switch."""
    name = next(iter(plane["tables"]))
    plane["tables"][name] = plane["tables"][name][:-2] + f"{port:02x}"


def give(plane: Content, digit: str) -> None:
    """An SL from the first senders to the last endpoint."""
    plane["levels"][0][1] = plane["levels"][0][1][:-1] + digit


CHANGES: list[tuple[str, Callable[[Content], object], str]] = [
    ("two channels swapped", swap, "does not come later in the order"),
    ("a channel left out", lambda plane: plane["order"].pop(), "missing in the order"),
    ("a channel twice over", lambda plane: plane["order"].append(plane["order"][0]), "is in the order twice"),
    ("a channel on another lane", lambda plane: plane["order"].append([*plane["order"][0][:2], [7]]), "no packet uses"),
    ("a table entry to a host", lambda plane: send_elsewhere(plane, 5), "do not arrive"),
    ("a table entry to no cable", lambda plane: send_elsewhere(plane, 60), "has no cable"),
    ("a table entry of none", lambda plane: send_elsewhere(plane, 255), "do not arrive"),
    ("a table of no switch", lambda plane: plane["tables"].popitem(), "switches are not those"),
    ("an endpoint left out", lambda plane: plane["endpoints"].pop(), "a table does not have a port for every endpoint"),
    ("a path on another SL", lambda plane: give(plane, "8"), "the order"),
    ("a path left out", lambda plane: give(plane, "-"), "shares a P_Key"),
    ("a sender left out", lambda plane: plane["levels"].pop(), "not every endpoint has service levels"),
    ("one lane for all", lambda plane: plane.update(lanes={"usual": "0" * 16, "others": {}}), "the order"),
]


@pytest.mark.parametrize(("change", "lines"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_changes_are_refused_sealed_or_not(torus: Certified, change: Callable[[Content], object], lines: str) -> None:
    content = torus.content()
    change(content["planes"][0])
    assert "sealed" in checked(content, torus.root)
    after = checked(sealed(content), torus.root)
    assert after.startswith("refused: ") and lines in after


def test_a_path_that_a_partition_allows_cannot_be_left_out(tree: Certified) -> None:
    content = tree.content()
    plane = content["planes"][0]
    sources, levels = next(row for row in plane["levels"] if 0 < row[1].count("-") < len(row[1]))
    assert sources
    plane["levels"] = [[row[0], row[1].replace("0", "-") if row[1] == levels else row[1]] for row in plane["levels"]]
    assert "with which it shares a P_Key" in checked(sealed(content), tree.root)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (lambda plane: plane.update(name="other"), "its folder is that of another one"),
        (lambda plane: plane.update(model="lfts"), "the model is lfts, but the tables are of another one"),
        (lambda plane: plane["files"].pop("opensm.conf"), "has no checksum of opensm.conf"),
        (lambda plane: plane["files"].pop("partitions.conf"), "has no checksum of partitions.conf"),
    ],
)
def test_what_the_tables_are_of_cannot_be_changed(
    tree: Certified, change: Callable[[Content], object], refusal: str
) -> None:
    content = tree.content()
    change(content["planes"][0])
    assert refusal in checked(sealed(content), tree.root)


def test_a_subnet_that_is_left_out_is_named(tree: Certified) -> None:
    content = tree.content()
    left_out = content["planes"].pop()
    lines = checked(content, tree.root).splitlines()
    assert lines[0].endswith(MADE)
    assert lines[1:] == [
        f"infiniband/{left_out['name']}: not checked, because the certificate does not have this subnet"
    ]
    content["planes"].clear()
    assert checked(content, tree.root) == "refused: no plane is in the certificate: nothing is checked"


@pytest.mark.parametrize("file", ["topology.ibsim", "opensm.conf"])
def test_other_files_are_refused(torus: Certified, tmp_path: Path, file: str) -> None:
    copy = Path(shutil.copytree(torus.root, tmp_path / "copy"))
    changed = copy / "infiniband" / "compute" / file
    changed.write_text(changed.read_text() + "\n# a hand edit\n")
    assert f"{file} differs from the file of the certificate" in checked(torus.content(), copy)
    changed.unlink()
    assert "refused: " in checked(torus.content(), copy)


def test_another_wiring_is_refused_though_its_checksum_is_given(torus: Certified, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(torus.root, tmp_path / "copy"))
    netlist = copy / "infiniband" / "compute" / "topology.ibsim"
    text = netlist.read_text()
    hosts = [line for line in text.splitlines() if line.startswith("[1](")]
    one, other = hosts[0], hosts[-1]  # two hosts change places
    there, back = one.partition(")")[2].split("\t#")[0], other.partition(")")[2].split("\t#")[0]
    moved = text.replace(one, one.replace(there, back)).replace(other, other.replace(back, there))
    nodes = [line.split('"')[1] for line in text.splitlines() if line.startswith("Ca")]
    first, final = f'"{nodes[0]}"[1]', f'"{nodes[-1]}"[1]'
    moved = moved.replace(first, "@").replace(final, first).replace("@", final)
    netlist.write_text(moved)
    content = torus.content()
    digest = checker().hashlib.sha256(netlist.read_bytes()).hexdigest()
    content["planes"][0]["files"]["topology.ibsim"] = digest
    assert "do not arrive" in checked(content, copy)
    netlist.write_text(text.replace(one, "", 1))
    content["planes"][0]["files"]["topology.ibsim"] = checker().hashlib.sha256(netlist.read_bytes()).hexdigest()
    assert "is missing at its other end" in checked(content, copy)


def test_what_has_a_loop_has_no_order(opensm: Tools, tmp_path: Path) -> None:
    made(tmp_path / "infiniband" / "compute", "torus-5x5", "minhop")
    found = certified(tmp_path)
    assert found.content()["planes"][0]["order"] is None
    assert "has no order: its dependencies are cyclic" in checked(found.content(), tmp_path)


def test_routes_are_those_of_the_tables(torus: Certified) -> None:
    routes = next_hops(torus.results)
    dumps = torus.results[0].evidence.dumps
    assert dumps is not None
    names = [switch.name for switch in dumps.subnet.switches]
    assert sorted(routes) == sorted(names)
    for row, name in enumerate(names):
        ports = {f"0x{one.port_guid:016x}" for one in dumps.subnet.adapters}
        own = np.flatnonzero(dumps.subnet.attached_switch == row).tolist()
        assert routes[name].keys() == ports - {f"0x{dumps.subnet.adapters[one].port_guid:016x}" for one in own}
        beside = {names[peer] for peer in dumps.subnet.peer_switch[row].tolist() if peer >= 0}
        assert all(hops and set(hops) <= beside for hops in routes[name].values())


DATELINE = {(0, 2): 1}  # what comes over the cable sw2-sw0 goes on on lane 1


def dumped(root: Path, form: str) -> Path:
    net = ring()
    lanes = sl2vl(net, DATELINE)
    if form == "opensm":
        return folder(root, opensm__subnet_lst=subnet_lst(net), opensm__lfts_dump=lfts(net), opensm__sl2vl_dump=lanes)
    if form == "ibdiagnet":
        return folder(root, ibdiagnet_lst=subnet_lst(net), ibdiagnet_fdbs=fdbs(net), opensm__sl2vl_dump=lanes)
    tables = lfts(net, name_ports=False)
    return folder(root, ibnetdiscover_txt=ibnetdiscover(net), lfts_txt=tables, opensm__sl2vl_dump=lanes)


@pytest.mark.parametrize("form", ["opensm", "ibdiagnet", "diags"])
def test_dumps_are_read_again(tmp_path: Path, form: str) -> None:
    """The certificate has no tables then, but the names and checksums of the files."""
    results = analyse_dumps(dumped(tmp_path, form))
    content = json.loads(certificate_text(results))
    plane = content["planes"][0]
    assert "endpoints" not in plane and plane["files"].keys() == {plane["topology"], plane["tables"], plane["lanes"]}
    assert f"{results[0].channels} channels are in order, {results[0].dependencies} dep" in checked(content, tmp_path)
    plane["order"].reverse()
    assert "does not come later" in checked(sealed(content), tmp_path)
    plane["order"].reverse()
    (tmp_path / plane["lanes"]).unlink()
    assert "differs from the file of the certificate" in checked(sealed(content), tmp_path)


def test_dumps_beside_a_bundle(tmp_path: Path) -> None:
    """Folders of several subnets, below one folder that is given together with others."""
    dumped(tmp_path / "dumps", "opensm").rename(tmp_path / "one")
    (tmp_path / "dumps").mkdir()
    (tmp_path / "one").rename(tmp_path / "dumps" / "a")
    shutil.copytree(tmp_path / "dumps" / "a", tmp_path / "dumps" / "b")
    content = json.loads(certificate_text(analyse_dumps(tmp_path / "dumps")))
    (tmp_path / "bundle").mkdir()
    module = checker()
    assert len(list(module.check(content, tmp_path / "bundle", tmp_path / "dumps"))) == 2
    assert "no given folder has a/opensm-subnet.lst" in checked(content, tmp_path / "bundle")


def test_without_tables_there_is_none(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "subnet", "two-tier", "updn,no_fallback")
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setattr("fabricgen.simulate.deadlock.infiniband.analysis.find_tools", lambda: None)
    file = tmp_path / "certificate.json"
    outcome = cli("simulate", "deadlock", tmp_path / "subnet", "--certificate", file, "--format", "json")
    (finding,) = (one for one in json.loads(outcome.out)["findings"] if one["code"] == "FG851")
    assert finding["severity"] == "warning" and "because OpenSM and ibsim are not installed" in finding["message"]
    assert json.loads(file.read_text())["planes"] == []
