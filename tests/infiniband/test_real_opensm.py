"""What the real OpenSM makes of files with and without mistakes, as `fabricgen simulate deadlock` reports it."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fabricgen.bundle.wiring import Wiring, dump_wiring
from fabricgen.simulate.opensm import Tools, find_tools
from tests.infiniband.netlists import Net, two_tier, write
from tests.infiniband.test_credit_loops import made

NET = two_tier(4, 2, 4)


def bundle(root: Path) -> Path:
    root.mkdir(exist_ok=True)
    (root / "fabric.json").write_bytes(dump_wiring(Wiring("lab", (), (), (), (), ())))
    return root


def subnet(root: Path, engine: str = "updn,no_fallback", partitions: str = "", extra: str = "", net: Net = NET) -> Path:
    """A bundle with one plane, `compute`."""
    if partitions:
        extra += "\npartition_config_file /etc/opensm/partitions.conf"
    folder = write(bundle(root) / "infiniband" / "compute", net, engine, extra=extra)
    if partitions:
        (folder / "partitions.conf").write_text(partitions)
    return root


def port(net: Net, host: int) -> str:
    return f"0x{net.guid(f'H{host}') + 1:016x}"


def tenant(hosts: range, word: str = "full") -> str:
    members = ", ".join(f"{port(NET, host)}={word}" for host in hosts)
    return f"Default=0x7fff, ipoib : ALL=limited, SELF=full ;\ntenant=0x0011, ipoib : {members} ;\n"


def judged(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, dict]:
    command = [sys.executable, "-m", "fabricgen", "simulate", "deadlock", *arguments, "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})}, check=False)
    assert run.stdout, run.stderr
    return run.returncode, json.loads(run.stdout)


def codes(report: dict) -> list[str]:
    return [finding["code"] for finding in report["findings"]]


def test_good_files_are_proved(opensm: Tools, tmp_path: Path) -> None:
    code, report = judged(str(subnet(tmp_path, partitions=tenant(range(8)))))
    assert (code, codes(report)) == (0, [])
    verdict = report["deadlock"]
    assert (verdict["verdict"], verdict["claim"], verdict["model"]) == ("free", "proved", "opensm")
    assert verdict["priorities"] == [0] and verdict["failures"]["unreachable_sets"] == 0


@pytest.mark.parametrize(
    ("mistake", "expected"),
    [
        ({"engine": "ftre"}, ["FG801"]),
        ({"engine": "torus-2QoS,no_fallback"}, ["FG801"]),
        ({"extra": "ar_mode 1"}, ["FG802"]),
        ({"extra": "sm_priority 16"}, ["FG802"]),
        ({"extra": "root_guid_file /etc/opensm/root_guids"}, ["FG803"]),
        ({"partitions": tenant(range(8)).replace("ipoib :", "ipiob :", 1)}, ["FG803"]),
        ({"partitions": tenant(range(8)).replace("SELF=full ;", "SELF=full")}, ["FG803", "FG804", "FG805"]),
        (
            {"partitions": tenant(range(8)).replace("tenant=0x0011, ipoib :", "tenant=0x0011, ipoib")},
            ["FG803", "FG804"],
        ),
        ({"partitions": tenant(range(8), "both")}, ["FG804"]),
        ({"partitions": tenant(range(8)).replace(port(NET, 3), f"0x{NET.guid('H3'):016x}")}, ["FG805"]),
        ({"partitions": tenant(range(8)).replace(port(NET, 3), "0xe8ebd30400009999")}, ["FG805"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else " ".join(str(each)[-40:] for each in value.values()),
)
def test_mistakes_are_found(opensm: Tools, tmp_path: Path, mistake: dict[str, str], expected: list[str]) -> None:
    code, report = judged(str(subnet(tmp_path, **mistake)))
    assert code == 1
    assert sorted(set(codes(report))) == expected


def test_a_torus_on_minhop_loops_though_updn_was_asked_for(opensm: Tools, tmp_path: Path) -> None:
    made(bundle(tmp_path) / "infiniband" / "compute", "torus-5x5", "updn")
    code, report = judged(str(tmp_path))
    assert code == 1
    assert sorted(codes(report)) == ["FG801", "FG806"]
    cycle = report["deadlock"]["cycles"][0]
    assert len(cycle["hops"]) == len(cycle["witnesses"]) == 4
    assert report["deadlock"]["failures"]["cyclic_sets"] == 1


def test_with_no_fallback_nothing_is_routed(opensm: Tools, tmp_path: Path) -> None:
    made(bundle(tmp_path) / "infiniband" / "compute", "torus-5x5", "updn,no_fallback")
    code, report = judged(str(tmp_path))
    assert (code, codes(report)) == (1, ["FG801"])
    assert report["deadlock"]["claim"] == "possible"
    assert report["deadlock"]["failures"]["unreachable_sets"] == 1


def test_runs_beside_each_other_do_not_meet(opensm: Tools, tmp_path: Path) -> None:
    tree, ring = subnet(tmp_path / "tree"), bundle(tmp_path / "torus")
    made(ring / "infiniband" / "compute", "torus-5x5", "minhop")
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(lambda path: judged(str(path))[1], [tree, ring, tree, ring]))
    assert [report["deadlock"]["verdict"] for report in reports] == ["free", "cyclic", "free", "cyclic"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing(opensm: Tools, tmp_path: Path, number: signal.Signals) -> None:
    root, scratch = bundle(tmp_path / "bundle"), tmp_path / "scratch"
    scratch.mkdir()
    made(root / "infiniband" / "compute", "torus-5x5x5", "dfsssp")
    command = [sys.executable, "-m", "fabricgen", "simulate", "deadlock", str(root)]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not list(scratch.glob("*/opensm.log")) and time.monotonic() < until:
        time.sleep(0.02)
    assert children_in(scratch)
    process.send_signal(number)
    assert process.wait(30) == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert not list(scratch.iterdir())
    assert not children_in(scratch)


def test_killed_its_children_die_too(opensm: Tools, tmp_path: Path) -> None:
    root, scratch = bundle(tmp_path / "bundle"), tmp_path / "scratch"
    scratch.mkdir()
    made(root / "infiniband" / "compute", "torus-5x5x5", "dfsssp")
    command = [sys.executable, "-m", "fabricgen", "simulate", "deadlock", str(root)]
    process = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 30
    while not list(scratch.glob("*/opensm.log")) and time.monotonic() < until:
        time.sleep(0.02)
    process.kill()
    process.wait()
    until = time.monotonic() + 5
    while children_in(scratch) and time.monotonic() < until:
        time.sleep(0.05)
    assert not children_in(scratch)


def children_in(folder: Path) -> list[str]:
    """Processes whose working directory is below a folder."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if link.readlink().is_relative_to(folder):
                found.append(link.parent.name)
        except OSError:
            continue
    return found


def without_tools(tmp_path: Path) -> dict[str, str]:
    """A PATH with nothing on it is not enough: /usr/sbin is looked into, too. ibsim is not there."""
    return {"PATH": str(tmp_path)}


def test_without_opensm_a_tree_is_free_by_its_wiring(tmp_path: Path) -> None:
    code, report = judged(str(subnet(tmp_path)), env=without_tools(tmp_path))
    assert (code, codes(report)) == (0, ["FG809"])
    verdict = report["deadlock"]
    assert (verdict["verdict"], verdict["claim"], verdict["model"]) == ("free", "proved", "design")
    assert verdict["channels"] == 16


def test_without_opensm_a_torus_proves_nothing(tmp_path: Path) -> None:
    made(bundle(tmp_path) / "infiniband" / "compute", "torus-5x5", "torus-2QoS,no_fallback")
    code, report = judged(str(tmp_path), env=without_tools(tmp_path))
    assert code == 0
    assert [finding["severity"] for finding in report["findings"]] == ["warning"]
    assert (report["deadlock"]["claim"], report["deadlock"]["model"]) == ("possible", "design")


def test_tools_are_named_by_path() -> None:
    tools = find_tools()
    assert tools is None or all(Path(file).is_file() for file in (tools.opensm, tools.ibsim, tools.umad2sim))
