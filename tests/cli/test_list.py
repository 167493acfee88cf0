"""`fabricgen list`, `explain --list` and shell completion."""

import os
import resource
import subprocess
import sys

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
    "releases": ("202305", "202505"),
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
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ca",), ["capacity"]),
        (("li",), ["list"]),
        (("check", "--aga"), ["--against"]),
        (("list", "pla"), ["platforms"]),
        (("simulate", "congestion", "--pattern", "ring"), ["ring-all-reduce"]),
        (("init", "--platform", "dell-z"), ["dell-z9664f", "dell-z9864f"]),
        (("validate", "--format", "sar"), ["sarif"]),
        (("init", "--design", "dragonfly"), ["dragonfly", "dragonfly-plus"]),
        (("diff", "--as", "r"), [InputForm.RUNNING]),
        (("handoff", "c"), ["cabling", "containerlab"]),
        (("handoff", "ztp", "--by"), ["--by"]),
    ],
)
def test_words_are_completed(words: tuple[str, ...], expected: list[str]) -> None:
    assert completed(*words) == expected


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
    """The least processor time of five runs."""
    found = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def test_help_and_completion_are_fast() -> None:
    """In units of an empty Python: milliseconds depend on the machine. 12 is 120 ms where Python starts in 10 ms."""
    empty = cpu_seconds([sys.executable, "-c", "pass"])
    verbs = {"_FABRICGEN_COMPLETE": "bash_complete", "COMP_WORDS": "fabricgen ca", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "fabricgen"]
    assert cpu_seconds([*command, "--help"]) < 12 * empty
    assert cpu_seconds(command, **verbs) < 12 * empty


ASKED = [f"{name} --" for name, _ in all_commands()] + [
    "fabricgen init --platform dell", "fabricgen init --design r", "fabricgen validate --format s",
    "fabricgen handoff a", "fabricgen simulate congestion --pattern r", "fabricgen diff --as r",
    "fabricgen explain FG6",
]  # fmt: skip


@pytest.mark.parametrize("line", ASKED)
def test_each_option_is_completed_fast(line: str) -> None:
    asked = {"_FABRICGEN_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    empty = cpu_seconds([sys.executable, "-c", "pass"])
    assert cpu_seconds([sys.executable, "-m", "fabricgen"], **asked) < 12 * empty


def test_names_without_imports_are_those_of_the_registries() -> None:
    assert sorted(member_names("fabricgen.design", "DESIGN", DESIGNS)) == sorted(designs())
    assert sorted(member_names("fabricgen.report.formats", "FORMAT", FORMATS)) == sorted(formats())
    assert sorted(member_names("fabricgen.handoff", "HANDOFF", HANDOFFS)) == sorted(handoffs())
