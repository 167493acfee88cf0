"""The shell steps of both pipelines, run on a repository: a clean change passes, bad ones fail at the right line."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gitops.gitlab_server import OTHER, TOKEN, GitLab
from tests.gitops.repository import (
    CHECKOUT,
    Repository,
    clean_change,
    hand_edit,
    second_asn_among_the_spines,
    wrong_priority,
)

SITE = "https://git.example"
RECIPES = CHECKOUT / "docs" / "gitops"
Change = Callable[[Repository], list[str]]


def github(repository: Repository) -> Iterator[tuple[int, str]]:
    """(exit code, what it prints) of every step that runs."""
    summary = repository.folder.parent / "summary.md"
    runner = str(summary.parent / "runner")
    variables = {"GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": runner}
    variables |= {
        "GITHUB_SERVER_URL": SITE,
        "GITHUB_REPOSITORY": "net/fabric",
        "NUMBER": "7",
        "REPORT": f"{SITE}/report",
    }
    repository.tool("gh", 'echo "$@" >../gh.txt\ncp comment.md ../comment.md\n')
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
    """The same of every job; without a token there is no comment."""
    pipeline = _gitlab_pipeline()
    before = pipeline["default"]["before_script"]
    jobs = {name: job for name, job in pipeline.items() if isinstance(job, dict) and "script" in job}
    assert len(jobs) == 4 and {job["stage"] for name, job in jobs.items() if "stage" in job} == {"check"}
    for job in jobs.values():
        script = "\n".join([*before, *job["script"]])
        outcome = repository.attempt(script, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
        yield outcome.returncode, outcome.stdout


def _gitlab_pipeline() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((RECIPES / "gitlab-ci.yml").read_text())
    return found


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


def test_the_reviewer_sees_what_changes(made: Callable[[Change], tuple[Repository, list[str]]]) -> None:
    """The summary has the difference; the comment has the verdict, a link to the report, and the picture."""
    repository, _ = made(clean_change)
    outside = repository.folder.parent
    if not (outside / "gh.txt").exists():
        list(github(repository))
    assert "SYSLOG_SERVER" in (outside / "summary.md").read_text()
    assert (outside / "gh.txt").read_text().split()[:5] == ["pr", "comment", "7", "--body-file", "comment.md"]
    found = re.search(rf"!\[Change\]\({SITE}/net/fabric/blob/(\w+)/change.svg\?raw=true\)", _comment(outside))
    assert found and "6 changed" in repository.run(f"git show {found[1]}:change.svg")
    assert repository.run("git ls-remote origin refs/heads/pictures/7-change").split()[0] == found[1]


def test_the_reviewer_of_a_merge_request_sees_it(made: Callable[[Change], tuple[Repository, list[str]]]) -> None:
    """One comment of the token's account, with the verdict, a link and the picture; a later run edits it, although the
    discussion is longer than a page and other people quote it. A refused token fails the job."""
    repository, _ = made(clean_change)
    repository.run("rm -rf report comment.md ../before && git worktree prune")
    *writes, comments = _gitlab_pipeline()["changes on the switches"]["script"]
    repository.run("\n".join(writes), CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    written = (repository.folder / "comment.md").read_text()
    variables = {"CI_PROJECT_ID": "1", "CI_PROJECT_URL": f"{SITE}/net/fabric", "CI_MERGE_REQUEST_IID": "7"}
    with GitLab() as server:
        variables |= {"CI_API_V4_URL": server.address, "FABRICGEN_TOKEN": TOKEN}
        others = [server.note(OTHER, "I see") for _ in range(120)]
        for job in ("5", "6"):
            (repository.folder / "comment.md").write_text(written)
            repository.run(comments, CI_JOB_ID=job, **variables)
            others.append(server.note(OTHER, "> " + server.notes[-1]["body"]))
        assert server.refused == [] and len(server.uploads) == 2 and "6 changed" in server.uploads[0]
        (note,) = (each for each in server.notes if each not in others)
        assert note["body"] == _comment(repository.folder) and note["edits"] == 1
        assert f"({SITE}/net/fabric/-/jobs/6/artifacts/file/report/report.html)" in note["body"]
        assert "\n![change](/uploads/2/change.svg)\n" in note["body"]
        assert all(each["edits"] == 0 for each in others)
        refused = repository.attempt(comments, **variables | {"FABRICGEN_TOKEN": "old"}, CI_JOB_ID="7")
        assert refused.returncode == 22 and "returned error: 401" in refused.stdout
        assert "Traceback" not in refused.stdout and len(server.notes) == len(others) + 1


def _comment(folder: Path) -> str:
    text = (folder / "comment.md").read_text()
    assert text.startswith("### ✅ Safe to merge: ")
    return text


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
