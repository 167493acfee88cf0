"""The shell steps of both pipelines, run on a repository: a clean change passes, bad ones fail at the right line."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gitops.repository import (
    CHECKOUT,
    Repository,
    clean_change,
    hand_edit,
    second_asn_among_the_spines,
    wrong_priority,
)

RECIPES = CHECKOUT / "docs" / "gitops"
Change = Callable[[Repository], list[str]]


def github(repository: Repository) -> Iterator[tuple[int, str]]:
    """(exit code, what it prints) of every step that runs."""
    summary = repository.folder.parent / "summary.md"
    runner = str(summary.parent / "runner")
    variables = {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": runner}
    failed = False
    for step in yaml.safe_load((RECIPES / "github.yml").read_text())["jobs"]["check"]["steps"]:
        condition = step.get("if", "")
        known = {"", "${{ !cancelled() }}", "${{ !cancelled() && github.event_name == 'pull_request' }}"}
        assert condition in known, "the test does not know this condition"
        if "run" in step and (condition or not failed):
            outcome = repository.attempt(step["run"], **variables)
            failed |= outcome.returncode != 0
            yield outcome.returncode, outcome.stdout


def gitlab(repository: Repository) -> Iterator[tuple[int, str]]:
    """(exit code, what it prints) of every job."""
    pipeline: dict[str, Any] = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())
    before = pipeline["default"]["before_script"]
    jobs = {name: job for name, job in pipeline.items() if isinstance(job, dict) and "script" in job}
    assert len(jobs) == 4 and {job["stage"] for name, job in jobs.items() if "stage" in job} == {"check"}
    for job in jobs.values():
        script = "\n".join([*before, *job["script"]])
        outcome = repository.attempt(script, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
        yield outcome.returncode, outcome.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Change], tuple[Repository, list[str]]]:
    """Repositories with a change, each made once, and the text that a pipeline must report."""
    ready: dict[Change, tuple[Repository, list[str]]] = {}

    def make(change: Change) -> tuple[Repository, list[str]]:
        if change not in ready:
            repository = Repository(tmp_path_factory.mktemp(change.__name__))
            ready[change] = repository, change(repository)
        return ready[change]

    return make


@pytest.mark.parametrize("change", [clean_change, hand_edit, second_asn_among_the_spines, wrong_priority])
@pytest.mark.parametrize("pipeline", [github, gitlab])
def test_pipeline(
    pipeline: Callable[[Repository], Iterator[tuple[int, str]]],
    change: Change,
    made: Callable[[Change], tuple[Repository, list[str]]],
) -> None:
    repository, expected = made(change)
    outcomes = list(pipeline(repository))
    text = "\n".join(printed for code, printed in outcomes if code)
    assert {code for code, _ in outcomes} == ({0, 1} if expected else {0}), text
    places = [each for each in expected if re.match(r"\S+/\S+[:,]", each)]
    annotations = [each for each in places if ",line=" in each]  # GitHub shows these beside the line
    required = (
        annotations if pipeline is github and annotations else [each for each in places if each not in annotations]
    )
    assert [each for each in required if each not in text] == [], text
    assert [each for each in expected if each not in places and each not in text] == []
    assert "Traceback" not in "".join(printed for _, printed in outcomes)


def test_the_reviewer_sees_what_changes(made: Callable[[Change], tuple[Repository, list[str]]], tmp_path: Path) -> None:
    repository, _ = made(clean_change)
    summary = repository.folder.parent / "summary.md"
    if not summary.exists():
        list(github(repository))
    assert "SYSLOG_SERVER" in summary.read_text()


def test_ci_renders_and_commits_the_bundle(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    clean_change(repository)
    repository.run(
        "git reset --quiet --soft HEAD~ && git restore --staged --worktree bundle && git commit -qam inventory"
    )
    assert repository.attempt("fabricgen render inventory --output bundle --check --locked").returncode == 1
    job = yaml.safe_load((RECIPES / "github-render.yml").read_text())["jobs"]["render"]
    for _ in range(2):  # a second run has nothing to commit
        for step in job["steps"]:
            if "run" in step:
                repository.run(step["run"], GITHUB_REF_NAME="change")
    assert repository.run("git log --format=%s origin/change").splitlines()[:2] == ["Render the bundle", "inventory"]
    assert repository.run("git status --porcelain") == ""
    repository.run("fabricgen render inventory --output bundle --check --locked")
