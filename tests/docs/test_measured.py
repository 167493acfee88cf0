"""A page of figures says with which commit they were measured."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Page -> where it names commits.
MEASURED = {"mutants.md": r"at commit ([0-9a-f]{7,40})", "speed.md": r"^\| \d{4}-\d\d-\d\d \| ([0-9a-f]{7,40})"}


@pytest.mark.parametrize("name", MEASURED)
def test_the_commit_of_a_measurement_exists(name: str) -> None:
    commits = re.findall(MEASURED[name], (ROOT / "docs" / name).read_text(encoding="utf-8"), re.MULTILINE)
    assert commits, f"docs/{name} names no commit"
    for commit in commits:
        command = ["git", "merge-base", "--is-ancestor", commit, "HEAD"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"docs/{name} names {commit}, which is not in the history. {done.stderr}"
