"""Every row of "What of a real switch is modelled" names tests that exist."""

import re
from pathlib import Path

from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "packet-model.md"
TESTS = ROOT / "tests" / "simulate" / "packets"


def test_rows_of_the_model_name_their_tests() -> None:
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!part|---)(.+) \|$", text, re.MULTILINE)
    assert len(rows) >= 20
    for row in rows:
        named = re.findall(r"`(?:(test_\w+\.py)(?:::)?)?(test_\w+)?`", row.split("|")[-1])
        assert named, row
        file = TESTS
        for name, test in named:
            file = TESTS / name if name else file
            assert f"def {test}" in _text(file), f"{row}: {test} is not in {file.name}"


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
