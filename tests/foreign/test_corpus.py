"""The corpus of foreign files: no crash, at most a screen of text, and the verdicts of the golden file."""

import re
from pathlib import Path

from tests.conftest import Cli, Golden
from tests.foreign.corpus import CORPUS, Foreign

GOLDEN = Path(__file__).parent / "golden" / "verdicts.txt"
_SCREEN_LINES = 40
_FINDING = re.compile(r"(?:(?P<place>\S+:\d+:\d+)  )?(?P<what>(?:error|warning|note) FG\d+  .*)")


def verdicts(one: Foreign, folder: Path, cli: Cli) -> list[str]:
    """The verdict and findings of each command, without places."""
    for path, text in one.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    lines = [f"{one.name}: {one.fact}"]
    for command in one.commands:
        words = [word.replace("DIR", str(folder)).replace("OUT", str(folder / "out")) for word in command.split()]
        outcome = cli(*words)
        shown = [*outcome.out.splitlines(), *outcome.err.splitlines()]
        assert outcome.code in (0, 1, 2, 4), outcome.err
        assert len(outcome.out.splitlines()) <= _SCREEN_LINES, outcome.out
        assert " 0 more" not in outcome.out
        lines.append(f"  {command}: exit {outcome.code}")
        for line in shown:
            line = line.replace(f"{folder}/", "").replace(str(folder), "DIR")
            if found := _FINDING.match(line):
                lines.append(f"    {found['what']}")
            elif line.startswith(("WARNING:", "error:", "deadlock ", "not judged")) or (
                re.match(r"\S*:? ?(note|warning|error) FG", line)
            ):
                lines.append(f"    {line}")
    return lines


def test_verdicts_are_those_of_the_golden_file(cli: Cli, golden: Golden, tmp_path: Path) -> None:
    found = [line for one in CORPUS for line in (*verdicts(one, tmp_path / one.name, cli), "")]
    golden(GOLDEN, "\n".join(found).encode())


def test_each_file_of_the_corpus_has_a_fact() -> None:
    assert len({one.name for one in CORPUS}) == len({one.fact for one in CORPUS}) == len(CORPUS) >= 25
