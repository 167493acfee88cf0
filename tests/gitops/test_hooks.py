"""The hooks run under pre-commit, as a person's repository would have them; no network."""

import sys
from pathlib import Path

import pytest
import yaml

from tests.gitops.repository import CHECKOUT, Repository, clean_change, hand_edit, wrong_priority


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with pre-commit installed. The hooks are in a separate repository; fabricgen is on the PATH."""
    repository = Repository(tmp_path)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / ".pre-commit-hooks.yaml").write_bytes((CHECKOUT / ".pre-commit-hooks.yaml").read_bytes())
    repository.run("git init --quiet && git add --all && git commit --quiet -m hooks && git tag v1", hooks)
    names = [hook["id"] for hook in yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text())]
    config = {"repos": [{"repo": f"file://{hooks}", "rev": "v1",
                         "hooks": [{"id": name, "language": "system"} for name in names]}]}  # fmt: skip
    (repository.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    repository.environment["PRE_COMMIT_HOME"] = str(tmp_path / "cache")
    repository.run(f"git add --all && git commit --quiet -m hooks && {sys.executable} -m pre_commit install")
    return repository


def test_a_clean_change_is_committed_and_bad_ones_are_not(repository: Repository) -> None:
    clean_change(repository)
    before = repository.run("git rev-parse HEAD")
    for change in (hand_edit, wrong_priority):
        with pytest.raises(AssertionError) as refused:
            change(repository)
        text = str(refused.value)
        assert "Failed" in text and "fabricgen" in text
        assert ("FG990" if change is hand_edit else "FG513") in text
        repository.run("git reset --quiet --hard")
    assert repository.run("git rev-parse HEAD") == before


def test_hooks_run_only_where_they_have_something_to_say(repository: Repository) -> None:
    (repository.folder / "README.md").write_text("words\n")
    repository.run("git add --all")
    text = repository.run("git commit -m words")
    assert text.count("(no files to check)Skipped") == 3
