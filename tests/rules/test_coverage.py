"""Every statement of a rule that makes a defect is reached by a bad case, so no message, hint or path is untested.

The cases are judged by all rules here, so this is also where no other rule may report the fault of a case.
"""

import ast
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

import fabricgen.rules
from fabricgen.rules import defects
from tests.rules.test_cases import CASES, assert_only_its_findings

ROOT = Path(fabricgen.rules.__file__).parent
MAKERS = {"Defect", "defects", "disagreements"}  # calls that make defects
SHARED = {"defects.py", "run.py", "rule.py", "registry.py", "guards.py", "recorded.py", "kept.py"}
# Checks that an option asks for: tests/sonic/yang and tests/sonic/test_release_models.py have their cases.
NO_RULES = {"schema/yang.py", "schema/release.py"}
FILES_GONE = {"bundle/completeness.py"}  # tests/rules/bundle/test_broken_files.py


def sites() -> Iterator[tuple[str, int, int]]:
    """(file, first line, last line) of each statement that makes a defect."""
    for file in sorted(ROOT.rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if name in SHARED | NO_RULES | FILES_GONE or name.startswith("view/"):
            continue
        for statement in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) and any(map(_makes, ast.walk(statement))):
                yield name, statement.lineno, statement.end_lineno or statement.lineno


def _makes(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in MAKERS


def test_every_defect_has_a_case(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reached: set[tuple[str, int]] = set()
    make = defects.Defect.__init__

    def recorded(self: defects.Defect, *arguments: object, **named: object) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if str(ROOT) in frame.f_code.co_filename:
                reached.add((Path(frame.f_code.co_filename).relative_to(ROOT).as_posix(), frame.f_lineno))
            frame = frame.f_back
        make(self, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(defects.Defect, "__init__", recorded)
    for number, case in enumerate(CASES):
        (tmp_path / str(number)).mkdir()
        assert_only_its_findings(case, case.findings(tmp_path / str(number)))
        if number % 100 == 0:
            gc.collect()  # the cycles that all cases leave have 280 MiB
    missing = [
        f"{name}:{first}"
        for name, first, last in sites()
        if not any((name, line) in reached for line in range(first, last + 1))
    ]
    assert not missing, "\n".join(missing)
