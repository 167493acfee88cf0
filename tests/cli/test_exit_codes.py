"""0 done, 1 findings, 2 no verdict possible, 3 a bug of ours, 130 interrupted."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.inventories import QUICKSTART, explicit, rail_optimized, write
from tests.signals import restore_interrupts


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    assert cli("render", write(tmp_path / "inventory", explicit()), "-o", tmp_path / "b", "-q").code == 0
    return tmp_path / "b"


@pytest.fixture
def faulty(bundle: Path) -> Path:
    """The bundle with an error: a leaf whose PFC misses a priority."""
    file = bundle / "sonic/leaf1/config_db.json"
    file.write_text(file.read_text().replace('"pfc_enable": "3,4"', '"pfc_enable": "3"'))
    return bundle


def test_done(cli: Cli, bundle: Path) -> None:
    for command in (["validate", bundle], ["simulate", "deadlock", bundle], ["check", bundle.parent / "inventory"]):
        outcome = cli(*command)
        assert (outcome.code, "0 errors" in outcome.out) == (0, True), outcome.out


def test_findings(cli: Cli, faulty: Path) -> None:
    outcome = cli("validate", faulty)
    assert outcome.code == 1 and "error FG5" in outcome.out and "leaf1 PORT_QOS_MAP|" in outcome.out


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("warning", 1), ("never", 0)])
def test_fail_on(fail_on: str, code: int, cli: Cli, faulty: Path, tmp_path: Path) -> None:
    assert cli("validate", faulty, "--fail-on", fail_on).code == code
    tree = explicit()
    tree["overrides"] = [{"match": {"name": "absent"}, "config_db": {"PORT": {"Ethernet0": {"mtu": 1}}}}]
    write(tmp_path / "warned", tree)
    assert cli("check", tmp_path / "warned", "--fail-on", fail_on).code == int(fail_on == "warning")
    tree["planes"]["compute"]["mtu"] = "large"
    write(tmp_path / "wrong", tree)
    assert cli("check", tmp_path / "wrong", "--fail-on", fail_on).code == int(fail_on != "never")


@pytest.mark.parametrize(
    "command",
    [
        ["nonsense"],
        ["check"],
        ["check", "nowhere"],
        ["check", "empty"],
        ["render", "inventory"],
        ["render", "inventory", "-o", "inventory/fabric.yaml"],
        ["render", "inventory", "-o", "b", "--only", "zz*"],
        ["validate", "empty"],
        ["validate", "b", "--select", "X5"],
        ["validate", "b", "--select", "FG999"],
        ["check", "inventory", "--ignore", "FG512,FG777"],
        ["simulate", "deadlock", "b", "--scheduler", "nowhere"],
        ["validate", "b", "--format", "xml"],
        ["validate", "b", "--links", "nowhere.json"],
        ["simulate", "deadlock", "b", "--plane", "storage"],
        ["explain", "FG999"],
        ["schema", "nothing"],
        ["init", "inventory"],
        ["capacity", "inventory", "--jobs", "0"],
        ["simulate", "deadlock", "b", "--routes", "r.json", "--certificate", "./r.json"],
        ["validate", "b", "--format", "json", "--output", "r.json", "--certificate", "r.json"],
    ],
)
def test_no_verdict_possible(command: list[str], cli: Cli, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bundle.parent)
    Path("empty").mkdir()
    outcome = cli(*command)
    assert outcome.code == 2 and outcome.err
    assert "Traceback" not in outcome.err and "bug" not in outcome.err


def test_files_that_are_not_json(cli: Cli, bundle: Path) -> None:
    (bundle / "sonic/leaf1/config_db.json").write_text('{\n "PORT": {,}\n}')
    outcome = cli("validate", bundle)
    assert outcome.code == 2 and "leaf1/config_db.json:2" in outcome.err
    (bundle / "fabric.json").write_text("{")
    assert cli("validate", bundle).code == 2


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_an_internal_error_is_reported_as_a_bug(debug: list[str], cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("fabricgen.render.plans.design_only", broken)
    outcome = cli("capacity", QUICKSTART, *debug)
    assert outcome.code == 3 and outcome.out == ""
    assert "fabricgen has a bug: ZeroDivisionError: on purpose" in outcome.err and "--debug" in outcome.err
    assert ("Traceback" in outcome.err) is bool(debug)


def test_full_memory_is_not_our_bug(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("fabricgen.render.plans.design_only", full)
    outcome = cli("capacity", QUICKSTART)
    assert (outcome.code, outcome.out) == (2, "") and "error: the memory is full" in outcome.err


def test_interrupted(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fabricgen.render.plans.design_only", interrupted)
    outcome = cli("capacity", QUICKSTART)
    assert (outcome.code, outcome.out) == (130, "") and "Traceback" not in outcome.err


def test_a_signal_leaves_nothing_half_written(tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", rail_optimized(64, 1, 64, oversubscription=0.5, spine={
        "platform": "arista-7060x6-64pe"}, core={"platform": "arista-7060x6-64pe"}))  # fmt: skip
    command = [sys.executable, "-m", "fabricgen", "render", str(inventory), "-o", str(tmp_path / "b")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=restore_interrupts)
    assert process.stderr
    while "planned" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    rest = process.communicate()[1]
    assert process.returncode == 130, rest
    assert "Traceback" not in rest
    assert sorted(each.name for each in tmp_path.iterdir()) == ["inventory"]


WORKERS = """
import sys, time
from fabricgen.interrupts import unwind_at_signals
from fabricgen.spread import spread

def slow(number):
    print(number, flush=True)
    time.sleep(0.05)

unwind_at_signals()
try:
    list(spread(slow, range(5000), 2))
except KeyboardInterrupt:
    sys.stderr.write("interrupted")
"""


def test_a_signal_to_the_process_group_shows_no_error_of_workers() -> None:
    """`timeout` and runners of pipelines end the workers together with their parent."""
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", WORKERS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        assert process.stdout
        for _ in range(4):  # both work
            process.stdout.readline()
        os.killpg(process.pid, signal.SIGTERM)
        assert process.communicate()[1] == "interrupted"


SIGNAL_IN_THE_POOL = """
import signal, sys
from fabricgen import spread
from fabricgen.interrupts import unwind_at_signals

owner = spread if sys.argv[1] == "wait" else spread.ProcessPoolExecutor
function = getattr(owner, sys.argv[1])

def interrupted(*arguments, **options):
    signal.raise_signal(signal.SIGINT)
    print("not yet", flush=True)
    return function(*arguments, **options)

setattr(owner, sys.argv[1], interrupted)
unwind_at_signals()
try:
    list(spread.spread(str, range(4), 2))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("place", ["submit", "wait", "shutdown"])
def test_a_signal_takes_effect_between_two_calls_of_the_pool(place: str) -> None:
    """Within one, a lock could stay taken for which the thread of the pool waits: the run would never end."""
    done = subprocess.run(
        [sys.executable, "-c", SIGNAL_IN_THE_POOL, place], capture_output=True, text=True,
        preexec_fn=restore_interrupts,
    )  # fmt: skip
    assert set(done.stdout.splitlines()[:-1]) == {"not yet"} and done.stdout.endswith("interrupted\n"), done


HALF_AN_ANSWER = """
import os, signal, sys, time
from multiprocessing.connection import Connection
from fabricgen.errors import KilledError
from fabricgen.interrupts import unwind_at_signals
from fabricgen.spread import spread

def half(pipe, answer):
    os.write(pipe.fileno(), bytes(answer)[: len(answer) // 2])
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(86400)

def work(number):
    Connection._send = half
    return number

unwind_at_signals()
try:
    list(spread(work, range(4), 2))
except (KeyboardInterrupt, KilledError) as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(("end", "error"), [("interrupted", "KeyboardInterrupt"), ("killed", "KilledError")])
def test_half_an_answer_does_not_stop_the_run(end: str, error: str) -> None:
    """A process that ends within its answer leaves the thread of the pool waiting for the rest."""
    done = subprocess.run(
        [sys.executable, "-c", HALF_AN_ANSWER, end], capture_output=True, text=True, timeout=100,
        preexec_fn=restore_interrupts,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{error}\n", "")


LONG_WORK = """
import os, sys, time
from fabricgen.interrupts import unwind_at_signals
from fabricgen.spread import apart, spread

def endless(number):
    os.write(1, f"{number}\\n".encode())  # at once: print can write a number and its line end apart
    time.sleep(86400)

unwind_at_signals()
try:
    with apart(lambda: endless(0)) as waited:
        list(spread(endless, (1, 2, 3), 2))
except KeyboardInterrupt:
    sys.stderr.write("interrupted")
"""


def test_an_interrupt_does_not_wait_for_workers() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_WORK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=restore_interrupts,
    )  # fmt: skip
    assert process.stdout
    assert {process.stdout.readline() for _ in range(3)} == {"0\n", "1\n", "2\n"}
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1] == "interrupted"


def test_a_worker_that_is_killed_is_not_our_bug(cli: Cli, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers kill the process that takes the most memory."""
    monkeypatch.setattr("fabricgen.spread.SWITCHES_EACH", 1)
    monkeypatch.setattr("fabricgen.rules.parallel.check_together", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    outcome = cli("validate", bundle, "--jobs", 2)
    assert (outcome.code, outcome.out) == (2, "")
    assert "a process of fabricgen was killed" in outcome.err and "use --jobs 1" in outcome.err


def _in_shell(line: str, bundle: Path) -> tuple[int, str]:
    command = line.replace("fabricgen", f"{sys.executable} -m fabricgen").replace("BUNDLE", str(bundle))
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "fabricgen -q validate BUNDLE --expand --format json | true",  # the reader is gone
        "fabricgen validate BUNDLE 2>&1 | true",
        "fabricgen validate BUNDLE >&-",  # the stream is closed
        "fabricgen validate BUNDLE 2>&-",
    ],
)
def test_a_closed_output_does_not_change_the_exit_code(line: str, faulty: Path) -> None:
    code, err = _in_shell(line, faulty)
    assert code == 1 and "rror" not in err.replace("0 errors", ""), err


def test_a_reader_that_closes_the_pipe_is_not_an_error() -> None:
    assert _in_shell("fabricgen schema inventory | head -1", Path()) == (0, "")


def test_a_full_disk_is_reported(bundle: Path) -> None:
    for locale in ("C", "C.UTF-8"):  # in C the stream is wrapped once more
        code, err = _in_shell(f"export LC_ALL={locale}; fabricgen -q validate BUNDLE >/dev/full", bundle)
        assert (code, err) == (2, "error: output: No space left on device\n")


def test_an_interrupt_while_modules_load(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    (tmp_path / "orjson.py").write_text("exec('import signal; signal.raise_signal(signal.SIGINT)')\n")
    for gone in ("click.py", "orjson.py"):
        command = [sys.executable, "-m", "fabricgen", "validate", "nowhere"]
        paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths},
            preexec_fn=restore_interrupts,
        )  # fmt: skip
        assert (done.returncode, done.stderr.strip()) == (130, "interrupted; nothing was left half-written")
        (tmp_path / gone).unlink()
