"""docs/api.md: its Python examples run, and it lists every function."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import fabricgen.api

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "api.md"
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The examples run one after the other, in a folder with the example inventories."""
    shutil.copytree(ROOT / "inventories", tmp_path / "inventories")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    examples = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(examples) >= 5
    for text in examples:
        exec(compile(text, str(PAGE), "exec"), names)


def test_every_function_has_a_row() -> None:
    rows = re.findall(r"^\| `([a-z_]+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(name for name in fabricgen.api.__all__ if name.islower())
