"""What the real OpenSM makes of files with and without mistakes, as `fabricgen simulate deadlock` reports it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from fabricgen.bundle.fabric_file import dump_wiring
from fabricgen.bundle.wiring import Wiring
from fabricgen.cli.main import run
from fabricgen.simulate.opensm import Tools, find_tools
from tests.opensm.netlists import Net, two_tier, write
from tests.signals import restore_interrupts
from tests.simulate.deadlock.infiniband.test_credit_loops import made

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


def judged(*arguments: str) -> tuple[int, dict]:
    """The exit code and the report of `simulate deadlock`."""
    with redirect_stdout(StringIO()) as out, pytest.raises(SystemExit) as stop:
        run(["simulate", "deadlock", *arguments, "--format", "json"])
    return int(stop.value.code or 0), json.loads(out.getvalue())


def codes(report: dict) -> list[str]:
    return [finding["code"] for finding in report["findings"]]


def test_certificates_come_with_failures(opensm: Tools, tmp_path: Path) -> None:
    """Without a list of roots our model does not hold, so OpenSM routes the tree again for each of eight cables."""
    certificate = tmp_path / "certificate.json"
    code, report = judged(str(subnet(tmp_path / "b")), "--failures", "1", "--certificate", str(certificate))
    assert (code, codes(report)) == (0, [])
    found = report["deadlock"]["failures"]
    assert found.items() >= {"depth": 1, "sets": 8, "judged": 8, "cyclic_sets": 0, "unreachable_sets": 0}.items()
    assert report["deadlock"]["fixed_sl"]["failures"].items() <= found.items()
    assert len(json.loads(certificate.read_text())["planes"]) == 1


@pytest.mark.parametrize(
    ("partitions", "extra"),
    [
        (tenant(range(8)), ""),
        (tenant(range(8)), "part_enforce off"),  # then switches have no P_Keys of their adapters
        (tenant(range(8), "both"), "allow_both_pkeys TRUE"),  # and of two keys of one number the full one
        (tenant(range(8)).partition("\n")[2], ""),  # without a line on Default
        (tenant(range(8)) + f"core=0x12 : ALL_SWITCHES=full, {port(NET, 1)}=full ;", ""),
    ],
)
def test_good_files_are_proved(opensm: Tools, tmp_path: Path, partitions: str, extra: str) -> None:
    code, report = judged(str(subnet(tmp_path, partitions=partitions, extra=extra)))
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
        (  # a log that would hide it
            {
                "partitions": tenant(range(8)).replace("ipoib :", "ipiob :", 1),
                "extra": "log_flags 0x01\nlog_prefix lab\nper_module_logging_file /etc/opensm/modules",
            },
            ["FG803"],
        ),
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


def test_a_root_that_is_not_there_is_a_warning(opensm: Tools, tmp_path: Path) -> None:
    """OpenSM routes with the other roots: the switch can be down."""
    root = subnet(tmp_path, "ftree,no_fallback", extra="root_guid_file /etc/opensm/root_guids")
    roots = [*(NET.guid(one) for one in NET.roots), 0xE8EBD30300009999]
    (root / "infiniband" / "compute" / "root_guids").write_text("".join(f"0x{one:016x}\n" for one in roots))
    code, report = judged(str(root))
    assert (code, codes(report)) == (0, ["FG803"])
    (finding,) = report["findings"]
    assert finding["severity"] == "warning" and "0xe8ebd30300009999" in finding["message"]
    assert finding["location"]["file"].endswith("root_guids") and finding["location"]["line"] == 3


def test_p_keys_are_read_where_nothing_is_routed(opensm: Tools, tmp_path: Path) -> None:
    """With missing cables two leaves have no common spine. Their hosts have their P_Keys, and no path to each other."""
    net = Net()
    near, far, between = (net.switch(name) for name in ("near", "far", "between"))
    roots = [net.switch("one"), net.switch("other")]
    for leaf, root in ((near, roots[0]), (between, roots[0]), (between, roots[1]), (far, roots[1])):
        net.link(leaf, root)
    for leaf in (near, near, far, far, between):
        net.host(leaf)
    partitions = "Default=0x7fff, ipoib : ALL=limited, SELF=full ;\ntenant=0x8011 : ALL_CAS=full ;\n"
    extra = "root_guid_file /etc/opensm/root_guids"
    root = subnet(tmp_path, partitions=partitions, extra=extra, net=net)
    listed = "".join(f"0x{net.guid(one):016x}\n" for one in roots)
    (root / "infiniband" / "compute" / "root_guids").write_text(listed)
    code, report = judged(str(root))
    assert (code, codes(report)) == (1, ["FG807"])


def test_p_keys_of_switches_are_read_back(opensm: Tools, tmp_path: Path) -> None:
    """A switch of ibsim has room for eight P_Keys: it gets eight of ten."""
    more = "".join(f"t{number}=0x{number + 32:x} : ALL_SWITCHES=full ;\n" for number in range(9))
    code, report = judged(str(subnet(tmp_path, partitions=tenant(range(8)) + more)))
    assert code == 1 and set(codes(report)) == {"FG803", "FG804"}
    (reported,) = (finding for finding in report["findings"] if finding["code"] == "FG804")
    assert reported["count"] == 6 and "leaf0 port 0 has 0x" in reported["message"], "four leaves and two spines"


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
    assert report["deadlock"]["claim"] is None
    assert report["deadlock"]["failures"]["unreachable_sets"] == 1


def test_runs_beside_each_other_do_not_meet(opensm: Tools, tmp_path: Path) -> None:
    tree, ring = subnet(tmp_path / "tree"), bundle(tmp_path / "torus")
    made(ring / "infiniband" / "compute", "torus-5x5", "minhop")
    with ThreadPoolExecutor(4) as pool:
        command = [sys.executable, "-m", "fabricgen", "simulate", "deadlock", "--format", "json"]
        runs = pool.map(lambda path: subprocess.run([*command, path], stdout=subprocess.PIPE), [tree, ring, tree, ring])
        reports = [json.loads(one.stdout) for one in runs]
    assert [report["deadlock"]["verdict"] for report in reports] == ["free", "cyclic", "free", "cyclic"]


@pytest.fixture
def interrupted(opensm: Tools, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A run whose OpenSM is at work, and the folder that everything temporary goes to."""
    root, scratch = bundle(tmp_path / "bundle"), tmp_path / "scratch"
    scratch.mkdir()
    made(root / "infiniband" / "compute", "torus-5x5x5", "dfsssp")
    command = [sys.executable, "-m", "fabricgen", "simulate", "deadlock", str(root)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(scratch)},
        stderr=subprocess.DEVNULL,
        preexec_fn=restore_interrupts,
    )
    assert soon(lambda: any(scratch.glob("*/opensm.log")), 30)
    assert len(children_in(scratch)) >= 2  # ibsim and opensm
    yield process, scratch
    process.kill()
    process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing(
    interrupted: tuple[subprocess.Popen[bytes], Path], number: signal.Signals
) -> None:
    process, scratch = interrupted
    process.send_signal(number)
    assert process.wait(30) == 130
    assert not list(scratch.iterdir())
    assert not children_in(scratch)


def test_killed_its_children_die_too(interrupted: tuple[subprocess.Popen[bytes], Path]) -> None:
    process, scratch = interrupted
    process.kill()
    process.wait()
    assert soon(lambda: not children_in(scratch), 5)


@pytest.mark.parametrize("mistake", [{"engine": "updn"}, {"engine": "ftre"}, {"net": "Switch 4 nonsense"}])
def test_done_or_failed_it_leaves_nothing(opensm: Tools, tmp_path: Path, mistake: dict[str, str]) -> None:
    scratch, root = tmp_path / "scratch", subnet(tmp_path / "bundle", mistake.get("engine", "updn"))
    scratch.mkdir()
    if broken := mistake.get("net"):
        (root / "infiniband" / "compute" / "topology.ibsim").write_text(broken)
    command = [sys.executable, "-m", "fabricgen", "simulate", "deadlock", str(root)]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(scratch)}, capture_output=True, check=False)
    assert done.returncode == {"updn": 0, "ftre": 1}.get(mistake.get("engine", ""), 2)
    assert not list(scratch.iterdir())
    assert not children_in(scratch)


def soon(holds: Callable[[], bool], most_s: float) -> bool:
    """Whether something comes true in time."""
    until = time.monotonic() + most_s
    while not holds() and time.monotonic() < until:
        time.sleep(0.02)
    return holds()


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


@pytest.fixture
def without_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with nothing on it is not enough: /usr/sbin is looked into, too. ibsim is not there."""
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("without_tools")
def test_without_opensm_a_tree_is_free_by_its_wiring(tmp_path: Path) -> None:
    code, report = judged(str(subnet(tmp_path)))
    assert (code, codes(report)) == (0, ["FG809"])
    verdict = report["deadlock"]
    assert (verdict["verdict"], verdict["claim"], verdict["model"]) == ("free", "proved", "design")
    assert verdict["channels"] == 16


@pytest.mark.usefixtures("without_tools")
def test_without_opensm_a_torus_proves_nothing(tmp_path: Path) -> None:
    made(bundle(tmp_path) / "infiniband" / "compute", "torus-5x5", "torus-2QoS,no_fallback")
    code, report = judged(str(tmp_path))
    assert code == 0
    assert [finding["severity"] for finding in report["findings"]] == ["warning"]
    assert (report["deadlock"]["claim"], report["deadlock"]["model"]) == ("possible", "design")


def test_tools_are_named_by_path() -> None:
    tools = find_tools()
    assert tools is None or all(Path(file).is_file() for file in (tools.opensm, tools.ibsim, tools.umad2sim))


def test_tools_are_looked_for_again_on_another_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Programs are searched on the PATH of the moment: an answer for another PATH does not stay."""
    for name in ("one", "two"):
        files = [tmp_path / name / place for place in ("bin/opensm", "bin/ibsim", "lib/umad2sim/libumad2sim.so")]
        for file in files:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
            file.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path / name / "bin"))
        assert find_tools() == Tools(*map(str, files))
