"""What a person reads who has made a mistake: an inventory in tests/errors/<case>, the whole output in expected.txt.

`pytest --update-golden` rewrites the texts; read them as that person would.
"""

from pathlib import Path

import pytest

from tests.conftest import Cli, Golden

CASES = Path(__file__).parents[1] / "errors"
UNJUDGED = "not judged: the files of the switches, deadlock and congestion: errors prevent the rendering\n"
EXITS_2 = {"yaml_syntax", "lock_damaged", "not_a_mapping"}


@pytest.mark.parametrize("case", sorted(folder.name for folder in CASES.iterdir()))
def test_text_of(case: str, cli: Cli, golden: Golden, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(CASES)
    rendered = cli("render", case, "--output", tmp_path / "out")
    checked = cli("check", case)
    assert list(tmp_path.iterdir()) == []
    assert rendered.code == checked.code == (2 if case in EXITS_2 else 1)
    assert checked.out.replace(UNJUDGED, "") == rendered.out and checked.err == rendered.err
    golden(CASES / case / "expected.txt", (rendered.out + rendered.err).encode())


def test_no_case_shows_a_secret() -> None:
    shown = [case.name for case in CASES.iterdir() if "hunter2" in (case / "expected.txt").read_text()]
    assert shown == []
