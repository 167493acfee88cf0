"""`fabricgen list`, `explain --list` and shell completion."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from fabricgen.cli.list_ import KINDS
from fabricgen.codes import codes
from fabricgen.design.registry import designs
from fabricgen.extensions import DESIGNS, FORMATS, HANDOFFS, member_names
from fabricgen.handoff import handoffs
from fabricgen.platforms.catalog import host_names, nic_names, switch_names
from fabricgen.report.formats import formats
from fabricgen.rules.registry import all_rules
from fabricgen.simulate.patterns import PATTERNS
from fabricgen.vocabulary import InputForm
from tests.cli.examples import all_commands
from tests.conftest import Cli

EXPECTED = {
    "platforms": switch_names(),
    "hosts": host_names(),
    "nics": nic_names(),
    "designs": designs(),
    "patterns": PATTERNS,
    "formats": formats(),
    "codes": sorted({*codes(), *(rule.code for rule in all_rules())}),
    "profiles": ("roce-lossless", "roce-lossless-two-class"),
    "releases": ("202305", "202405", "202411", "202505", "202511", "202605", "master"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_listed_whole(kind: str, cli: Cli) -> None:
    assert cli("list", kind, "--names").out.split() == list(EXPECTED[kind])
    full = cli("list", kind)
    assert [line.split()[0] for line in full.out.splitlines()] == list(EXPECTED[kind])
    if kind != "patterns":
        assert all(len(line.split()) > 1 for line in full.out.splitlines())


def test_the_codes_of_explain(cli: Cli) -> None:
    assert cli("explain", "--list").out == cli("list", "codes").out
    missing = cli("explain")
    assert missing.code == 2 and "--list shows all codes" in missing.err


def completed(*words: str) -> list[str]:
    """What bash offers for the last word."""
    asked = {
        "_FABRICGEN_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("fabricgen", *words)),
        "COMP_CWORD": str(len(words)),
    }
    command = [sys.executable, "-m", "fabricgen"]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ca",), ["capacity"]),
        (("li",), ["list"]),
        (("check", "--aga"), ["--against"]),
        (("list", "pla"), ["platforms"]),
        (("simulate", "congestion", "--pattern", "ring"), ["ring-all-reduce"]),
        (("init", "--platform", "dell-z9"), ["dell-z9332f-d1508", "dell-z9664f", "dell-z9864f"]),
        (("validate", "--format", "sar"), ["sarif"]),
        (("init", "--design", "dragonfly"), ["dragonfly", "dragonfly-plus"]),
        (("diff", "--as", "r"), [InputForm.RUNNING]),
        (("handoff", "c"), ["cabling", "containerlab"]),
        (("handoff", "ztp", "--by"), ["--by"]),
    ],
)
def test_words_are_completed(words: tuple[str, ...], expected: list[str]) -> None:
    assert completed(*words) == expected


BUNDLE = """{
  "planes": [
    {"name":"compute"},
    {"name":"storage"}
  ],
  "devices": [
    {"name":"leaf1","plane":"compute"},
    {"name":"leaf2","plane":"compute"}
  ],
  "hosts": [
    {"name":"gpu1"}
  ]
}
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("explain", "BUNDLE", "le"), ["leaf1:", "leaf2:"]),
        (("simulate", "deadlock", "BUNDLE", "--plane", "s"), ["storage"]),
        (("handoff", "ztp", "BUNDLE", "--only", "leaf1"), ["leaf1"]),
        (("handoff", "kubernetes", "BUNDLE", "--only", "g"), ["gpu1"]),
        (("explain", "FG512", ""), []),
    ],
)
def test_names_of_a_bundle_are_completed(words: tuple[str, ...], expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "fabric.json").write_text(BUNDLE)
    assert completed(*(word.replace("BUNDLE", str(tmp_path)) for word in words)) == expected


def test_a_damaged_bundle_completes_what_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "fabric.json").write_text(BUNDLE.replace('{"name":"leaf2"', "{"))
    assert completed("explain", str(tmp_path), "l") == ["leaf1:"]


def test_names_of_a_rendered_bundle_are_completed_fast(bundle: Path) -> None:
    assert len(completed("explain", str(bundle), "compute-su")) == 16
    assert slowness_of_completion(f"fabricgen explain {bundle} c") < MOST


def test_codes_are_completed_in_any_case() -> None:
    assert completed("explain", "fg60") == [code for code in EXPECTED["codes"] if code.startswith("FG60")]
    assert completed("explain", "FG") == EXPECTED["codes"]


@pytest.mark.parametrize(("shell", "text"), [("zsh", "#compdef fabricgen"), ("fish", "complete --no-files")])
def test_scripts_of_shells(shell: str, text: str, cli: Cli) -> None:
    outcome = cli("completion", shell)
    assert outcome.code == 0 and text in outcome.out and "_FABRICGEN_COMPLETE" in outcome.out


def test_the_script_of_bash_is_valid(cli: Cli) -> None:
    script = cli("completion", "bash").out
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    assert "complete" in script and "fabricgen" in script


def cpu_seconds(command: list[str], **environment: str) -> float:
    """The processor time of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


MOST = 12  # in units of an empty Python, as milliseconds depend on the machine: 120 ms where Python starts in 10 ms
TRIES = 6  # a busy machine slows some of them; code that is too slow fails all


def slowness(*arguments: str, **environment: str) -> float:
    """The time of a run in units of an empty Python that runs just before it: the first below MOST, else the least."""
    found = []
    while not found or (min(found) >= MOST and len(found) < TRIES):
        empty = cpu_seconds([sys.executable, "-c", "pass"])
        found.append(cpu_seconds([sys.executable, "-m", "fabricgen", *arguments], **environment) / empty)
    return min(found)


def slowness_of_completion(line: str) -> float:
    asked = {"_FABRICGEN_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return slowness(**asked)


def test_a_slow_command_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "TRIES", 1)
    (tmp_path / "sitecustomize.py").write_text("import sys\nif '-m' in sys.orig_argv: sum(range(20_000_000))\n")
    assert slowness("--help", PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])) > MOST


def test_help_and_completion_are_fast() -> None:
    assert slowness("--help") < MOST
    assert slowness_of_completion("fabricgen ca") < MOST


ASKED = [f"{name} --" for name, _ in all_commands()] + [
    "fabricgen init --platform dell", "fabricgen init --design r", "fabricgen validate --format s",
    "fabricgen handoff a", "fabricgen simulate congestion --pattern r", "fabricgen diff --as r",
    "fabricgen explain FG6",
]  # fmt: skip


@pytest.mark.parametrize("line", ASKED)
def test_each_option_is_completed_fast(line: str) -> None:
    assert slowness_of_completion(line) < MOST


def test_names_without_imports_are_those_of_the_registries() -> None:
    assert sorted(member_names("fabricgen.design", "DESIGN", DESIGNS)) == sorted(designs())
    assert sorted(member_names("fabricgen.report.formats", "FORMAT", FORMATS)) == sorted(formats())
    assert sorted(member_names("fabricgen.handoff", "HANDOFF", HANDOFFS)) == sorted(handoffs())
