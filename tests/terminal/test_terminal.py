"""The commands on terminals of 80 and 120 columns: no line is wider, no word is broken, and NO_COLOR is obeyed."""

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.inventories import two_rails, write
from tests.terminal.pseudo_terminal import on_terminal, run_on_terminal

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
WIDE = 10_000  # columns: nothing wraps
COMMANDS = {
    "init": "init NEW --gpus 512",
    "check": "check fabric",
    "check with errors": "check wrong",
    "render": "render fabric --output NEW",
    "render --check": "render fabric --output changed --check --diff",
    "validate": "validate build",
    "validate with errors": "validate changed",
    "diff": "diff build changed",
    "capacity": "capacity fabric",
    "deadlock": "simulate deadlock build --failures 1",
    "congestion": "simulate congestion build --pattern incast",
    "explain": "explain build compute-su00-r0-leaf:PORT|Ethernet0|mtu",
    "unknown path": "validate a/folder/with/a/name/that/is/longer/than/the/width/of/the/terminal/is/at/eighty",
}

WRONG = list(COMMANDS).index("check with errors")


MARK = "=== next command ==="
RUN_ALL = f"""
import sys
from fabricgen.cli.main import run

for command in sys.argv[1:]:
    try:
        run(command.split())
    except SystemExit:
        print({MARK!r}, flush=True)
"""


def all_on_terminal(commands: Iterable[str], columns: int, folder: Path) -> list[str]:
    """What the terminal shows of each command, one after the other in one process. As in CI, there are no bars."""
    program = [sys.executable, "-c", RUN_ALL, *commands]
    return run_on_terminal(program, columns, folder, {"CI": "true"}).split(f"{MARK}\n")[:-1]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a fabric, its bundle, a wrong inventory and a bundle with edits on all switches."""
    folder = tmp_path_factory.mktemp("terminal")
    for name in ("fabric", "wrong"):
        write(folder / name, two_rails())
    all_on_terminal([f"render fabric --output {name}" for name in ("build", "changed")], WIDE, folder)
    file = folder / "wrong" / "fabric.yaml"
    file.write_text(re.sub(r"design: .*", "design: rail-optimised\n    mtu: 90", file.read_text()))
    for switch in (folder / "changed" / "sonic").glob("*/config_db.json"):
        switch.write_text(switch.read_text().replace('"mtu": "9100"', '"mtu": "9000"'))
    return folder


Screens = Callable[[int], list[str]]


@pytest.fixture(scope="module")
def screens(work: Path) -> Screens:
    """Columns of the terminal -> what it shows of each command."""

    @cache
    def shown(columns: int) -> list[str]:
        new = f"new-{columns:05}"
        screens = all_on_terminal([each.replace("NEW", new) for each in COMMANDS.values()], columns, work)
        return [screen.replace(new, "NEW") for screen in screens]

    return shown


def lines(shown: str) -> list[str]:
    """What the lines of the screen show at the end."""
    return [line.rpartition("\r")[2] for line in ESCAPE.sub("", shown).split("\n")]


def words(shown: str) -> list[str]:
    """Without times, and with the parts of a broken path together."""
    return re.sub(r"\d+\.\d\d s", "", re.sub(r"([/|])\n +", r"\1", "\n".join(lines(shown)))).split()


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_lines_wrap_between_words(name: str, columns: int, screens: Screens) -> None:
    number = list(COMMANDS).index(name)
    whole = words(screens(WIDE)[number])
    assert len(whole) > 3
    text = screens(columns)[number]
    assert max(map(len, lines(text))) <= columns, text
    assert words(text) == whole


def test_findings_are_grouped_by_file_after_the_verdict(
    work: Path, screens: Screens, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = lines(screens(80)[WRONG])
    assert shown[0].startswith("failed: 2 errors")
    assert shown[1].startswith("not judged: the files of the switches, deadlock and congestion")
    assert shown.count("wrong/fabric.yaml") == 1
    places = [tuple(map(int, found.groups())) for line in shown if (found := re.match(r"  (\d+):(\d+)  error", line))]
    assert len(places) == 2 and places == sorted(places)
    assert any(line.startswith("Checked ") for line in shown[-3:]), shown[-3:]
    monkeypatch.chdir(work)
    piped = cli("check", "wrong").out.splitlines()
    assert sum(line.startswith("wrong/fabric.yaml:") for line in piped) == 2, "one line for grep"


def test_output_without_escape_sequences(work: Path, screens: Screens) -> None:
    assert "\x1b[1mfailed" in screens(80)[WRONG]
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        text = on_terminal(["check", "wrong"], 80, work, variables)
        assert "\x1b" not in text and "failed" in text, variables


BAR = """
import time
from types import SimpleNamespace
from fabricgen.cli import live_bar

live_bar.PATIENCE_S, live_bar._LEAST_S = 0.01, 0.1
now = time.monotonic()
live_bar.time = SimpleNamespace(monotonic=lambda: now)  # the rate is steady on a busy machine, too
with live_bar.LiveBar("validating the files of a fabric", 8) as bar:
    for number in range(8):
        bar.reach(number, "and a state that is longer than a narrow terminal, so it must be cropped at its edge")
        time.sleep(0.1)
        now += 0.1
    with bar.counting("failures", 4):
        bar.reach(1)
        time.sleep(0.6)  # some frames: one is drawn each 0.2 s
print("done")
"""


def test_a_bar_fits_the_terminal_and_is_gone_at_the_end(tmp_path: Path) -> None:
    text = run_on_terminal([sys.executable, "-c", BAR], 60, tmp_path)
    frames = [frame for part in ESCAPE.sub("", text).split("\n") for frame in part.split("\r")]
    assert max(map(len, frames)) <= 60
    assert any(re.search(r"\d+%, \d+ s left", frame) for frame in frames)
    assert any("failures" in frame for frame in frames)
    assert text.rstrip().endswith("done") and text.index("\x1b[?25l") < text.rindex("\x1b[?25h"), "the cursor is back"


def test_short_work_has_no_bar(tmp_path: Path) -> None:
    program = "from fabricgen.cli.live_bar import LiveBar\nwith LiveBar('x', 3) as bar: bar.reach(2)\nimport sys\n"
    text = run_on_terminal([sys.executable, "-c", f"{program}print('rich' in sys.modules)"], 60, tmp_path)
    assert text == "False\n"
