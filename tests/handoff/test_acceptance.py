"""The acceptance pack: its scripts are clean, run with stand-ins of the programs, and give what `accept` judges."""

import os
import stat
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabricgen.acceptance.planned import Stage, load_tests
from tests.acceptance.runs import FORMS, put, refuse_other_forms
from tests.components import tool
from tests.conftest import Cli
from tests.inventories import explicit, write

SSH = """#!/usr/bin/env bash
while [ "${1#-}" != "$1" ]; do shift 2; done
export STAND_IN_HOST=$1
exec bash -c "$2"
"""
PERFTEST = """#!/usr/bin/env bash
for word in "$@"; do
    case $word in --out_json_file=*) file=${word#*=} ;; --tclass=106) class=yes ;; esac
done
[ "${class:-}" = yes ] || exit 1
[ -z "${file:-}" ] || echo '{"test_info": {}, "results": {"BW_average": 386.0}}' > "$file"
"""
MPIRUN = """#!/usr/bin/env bash
echo "# nThread 1 nGpus 1 minBytes 2147483648 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20"
number=0
while read -r host slots; do
    for _ in $(seq "${slots#slots=}"); do
        printf '#  Rank %2d Group %2d Pid %6d on %10s device %2d [0000:18:00] GPU\\n' "$number" 0 1 "$host" 0
        number=$((number + 1))
    done
done < "$2"
echo "$@" >> "$CALLS"
case "$*" in *mlx5_*) speed=47 ;; *alltoall*) speed=75 ;; *sendrecv*) speed=47 ;; *) speed=375 ;; esac
echo "  8589934592  2147483648  float  sum  -1  43944  195.47  $speed  0  43925  195.56  $speed  0"
"""
DOCKER = """#!/usr/bin/env bash
cat "$DUMPS/$(basename "${STAND_IN_HOST#*@}").json"
"""
# The titles of the tables of a switch without ports.
SHOW = """#!/usr/bin/env bash
case "$*" in
*json | *-j) echo '{}' ;;
*"pfc counters") printf '  Port Rx    PFC0    PFC3\\n---------  ------  ------\\n\\n  Port Tx    PFC0    PFC3\\n' ;;
*"drop counters") echo '     Port    PG0    PG3' ;;
*errors) echo '      IFACE    STATE    RX_ERR    RX_DRP' ;;
*fec-stats) echo '      IFACE    STATE    FEC_CORR    FEC_UNCORR' ;;
*stats) echo '  QUEUE    STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP' ;;
esac
"""
STAND_INS = {"ssh": SSH, "ib_write_bw": PERFTEST, "mpirun": MPIRUN, "docker": DOCKER, "show": SHOW, "pfcwd": SHOW}


def one_rail() -> dict[str, Any]:
    """Two leaves with two hosts each, and two spines."""
    tree = explicit(leaves=[{"name": "leaf1"}, {"name": "leaf2"}])
    tree["hosts"]["gpu"]["count"] = 4
    plane = tree["planes"]["compute"]
    hosts = [[f"gpu/{host}:rail0", f"leaf{host // 2 + 1}:Ethernet{host % 2 * 8}"] for host in range(4)]
    plane["links"] = hosts + plane["links"][2:]
    return tree


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a bundle, the pack, and stand-ins in bin."""
    from fabricgen.api import render
    from fabricgen.bundle.read import open_bundle
    from fabricgen.handoff.acceptance import acceptance_files
    from fabricgen.handoff.folder import write_folder

    folder = tmp_path_factory.mktemp("pack")
    render(write(folder / "in", one_rail()), folder / "bundle")
    write_folder(folder / "pack", acceptance_files(open_bundle([folder / "bundle"])))
    for name, text in {**STAND_INS, "sudo": '#!/usr/bin/env bash\nexec "$@"\n'}.items():
        put(folder / "bin" / name, text)
        (folder / "bin" / name).chmod(0o755)
    return folder


def run(pack: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PATH": f"{pack / 'bin'}:/usr/bin:/bin",
        "RESULTS": str(pack / "results"),
        "CALLS": str(pack / "calls"),
        "DUMPS": str(pack / "dumps"),
        "START_S": "0",
        **settings,
    }
    command = ["bash", str(pack / "pack" / "run.sh"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def test_the_scripts_are_clean(pack: Path) -> None:
    scripts = [
        str(file.relative_to(pack / "pack")) for file in (pack / "pack").rglob("*.s*") if file.suffix != ".jsonl"
    ]
    assert len(scripts) == 16
    shellcheck = tool("shellcheck", "shellcheck")
    done = subprocess.run([shellcheck, *scripts], cwd=pack / "pack", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert not any(file.stat().st_mode & stat.S_IXUSR for file in (pack / "pack").rglob("*.txt"))


def test_a_run_gives_what_accept_judges(pack: Path, cli: Cli) -> None:
    stages = [stage for stage in Stage if stage not in (Stage.LLDP, Stage.WATCHDOG, Stage.FAILOVER)]
    done = run(pack, "--in-service", *stages)
    assert done.returncode == 0, done.stderr
    options = [word for stage in stages for word in ("--stages", stage)]
    outcome = cli("accept", pack / "bundle", pack / "pack", pack / "results", *options)
    assert outcome.code == 1, outcome.out + outcome.err
    # The stand-ins do not count; and eight writers that each have the whole NIC are more than it carries.
    assert {line.split()[1] for line in outcome.out.splitlines() if line.startswith(("error", "warning"))} <= {
        "FG971", "FG973", "FG974"
    }  # fmt: skip
    assert "near: 2 tests, 2 pass" in outcome.out
    calls = (pack / "calls").read_text()
    assert "NCCL_IB_HCA==mlx5_0" in calls and "CUDA_VISIBLE_DEVICES=0" in calls
    assert calls.count("NCCL_ALGO=RING") == calls.count("all_reduce") + calls.count("all_gather") + calls.count(
        "reduce_s"
    )


# A storm from a NIC counts at its port; the switch prints all that it counted since it started.
STORM = """#!/usr/bin/env bash
[ "$1" = - ] && [ "$2" != "${DEAF:-}" ] && echo "$STAND_IN_HOST $2" >> "$STORMS"
exit 0
"""
PFCWD = """#!/usr/bin/env bash
n=$(grep -c . "$STORMS")
echo '      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP'
echo "Ethernet0:3  operational  $(grep -c rail0 "$STORMS")/$(grep -c rail0 "$STORMS")  0/0"
echo "Ethernet8:3  operational  $(grep -c rail1 "$STORMS")/$(grep -c rail1 "$STORMS")  $n/0"
"""


@pytest.mark.parametrize("deaf", ["", "rail0", "rail1"])
def test_two_watchdogs_of_one_switch_are_tested(deaf: str, tmp_path: Path, cli: Cli) -> None:
    """Rails share a leaf: the reading before the second storm does not replace the one before the first."""
    tree = explicit(leaves=[{"name": "leaf1"}], spines=[], links=[["gpu/0:rail0", "leaf1:Ethernet0"],
                                                                  ["gpu/0:rail1", "leaf1:Ethernet8"]])  # fmt: skip
    assert cli("-q", "render", write(tmp_path / "in", tree), "-o", tmp_path / "bundle").code == 0
    assert cli("handoff", "acceptance", tmp_path / "bundle", "-o", tmp_path / "pack").code == 0
    stand_ins = {
        **STAND_INS,
        "python3": STORM,
        "pfcwd": PFCWD,
        "sleep": "#!/bin/sh\n",
        "sudo": '#!/bin/sh\nexec "$@"\n',
    }
    for name, text in stand_ins.items():
        put(tmp_path / "bin" / name, text)
        (tmp_path / "bin" / name).chmod(0o755)
    put(tmp_path / "storms", "an earlier storm of rail0\n")
    done = run(tmp_path, "--in-service", "watchdog", STORMS=str(tmp_path / "storms"), DEAF=deaf)
    assert done.returncode == 0, done.stderr
    results = [tmp_path / "pack", tmp_path / "results"]
    outcome = cli("accept", tmp_path / "bundle", *results, "--stages", "watchdog")
    missed = {"": "", "rail0": "Ethernet0", "rail1": "Ethernet8"}[deaf]
    assert ("no storm was detected" in outcome.out) == bool(deaf)
    assert f"no storm was detected and ended on {missed}" in outcome.out or not deaf
    assert ("1 fail" in outcome.out, outcome.code) == (bool(deaf), int(bool(deaf))), outcome.out


def test_stand_ins_print_what_the_programs_print(tmp_path: Path) -> None:
    put(tmp_path / "hosts", "gpu-000 slots=2\n")
    put(tmp_path / "storms", "gpu-000 rail0\n")
    for program, name, text in (("nccl-tests", "mpirun", MPIRUN), ("pfcwd", "pfcwd", PFCWD)):
        put(tmp_path / name, text)
        environment = {**os.environ, "CALLS": str(tmp_path / "calls"), "STORMS": str(tmp_path / "storms")}
        command = ["bash", str(tmp_path / name), "--hostfile", str(tmp_path / "hosts")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout
        refuse_other_forms(program, done.stdout)
    with pytest.raises(AssertionError, match="cannot print"):
        refuse_other_forms("nccl-tests", "#  Rank 0 Group 0 Pid 1 on gpu-000 device 0 [0000:18:00] GPU")
    assert all(source for forms in FORMS.values() for _, source in forms)


def test_hosts_that_send_stop_the_run(pack: Path) -> None:
    done = run(pack, "near", RESULTS=str(pack / "none"))
    assert done.returncode == 1
    assert "cannot be read" in done.stderr and "--in-service" in done.stderr
    assert not list((pack / "none").rglob("*.json"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"DURATION_S": "3600"}, "DURATION_S is 3600, expected 1 to 60"),
        ({"MESSAGE_BYTES": "1G"}, "MESSAGE_BYTES is 1G"),
        ({"NCCL_MOST_BYTES": "1"}, "NCCL_MOST_BYTES is 1"),
    ],
)
def test_sizes_and_durations_are_bounded(pack: Path, settings: dict[str, str], message: str) -> None:
    done = run(pack, "--in-service", "near", **settings)
    assert (done.returncode, message in done.stderr) == (1, True)


def test_an_unknown_stage_is_refused(pack: Path) -> None:
    done = run(pack, "--in-service", "nearby")
    assert (done.returncode, "unknown stage nearby" in done.stderr) == (1, True)


def test_every_nic_is_tested_alone_and_in_both_directions(pack: Path) -> None:
    tests = load_tests((pack / "pack" / "tests.jsonl").read_bytes())
    nics = {test.a for test in tests if test.stage is Stage.LOOPBACK}
    assert len(nics) == 4 and len({test.id for test in tests}) == len(tests)
    for stages in ((Stage.NEAR, Stage.BACK), (Stage.FAR,), (Stage.BISECTION,)):
        ends = Counter(end for test in tests if test.stage in stages for end in (test.a, test.b))
        assert set(ends) == nics, stages
    rounds: dict[tuple[str, int], list[object]] = {}
    for test in tests:
        if test.stage in (Stage.NEAR, Stage.BACK, Stage.FAR, Stage.BISECTION):
            rounds.setdefault((test.stage, test.round), []).extend([test.a, test.b])
    assert all(len(ends) == len(set(ends)) for ends in rounds.values())


def test_a_bundle_without_gpus_has_no_tests(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "sonic" / "x").mkdir(parents=True)
    put(tmp_path / "sonic" / "x" / "config_db.json", '{"PORT": {"Ethernet0": {}}}')
    outcome = cli("handoff", "acceptance", tmp_path, "-o", tmp_path / "out")
    assert (outcome.code, "there are no tests to run" in outcome.err) == (2, True)
