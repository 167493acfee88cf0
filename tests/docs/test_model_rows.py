"""Every row of "what of a real switch is modelled" names tests that exist."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PACKETS = ROOT / "tests" / "simulate" / "packets"


@pytest.mark.parametrize(("page", "least"), [("packet-model.md", 20), ("simulate-packets.md", 7)])
def test_rows_of_the_model_name_their_tests(page: str, least: int) -> None:
    """A row names a file, below tests/simulate/packets if it has no folder, and tests of it."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?!part|---|finding)(.+) \|$", text[text.index("| part |") :], re.MULTILINE)
    assert len(rows) >= least
    for row in rows:
        named = re.findall(r"`(?:([\w/]*test_\w+\.py)(?:::)?)?(test_\w+)?`", row.split(" | ")[-1])
        assert named, row
        file = PACKETS
        for name, test in named:
            file = (ROOT if "/" in name else PACKETS) / name if name else file
            assert f"def {test}" in _text(file), f"{row}: {test} is not in {file.name}"


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")
