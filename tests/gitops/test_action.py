"""action.yml: the form that GitHub requires, its conditions, and its shell steps on a repository."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gitops.repository import (
    CHECKOUT,
    Repository,
    clean_change,
    fabric,
    hand_edit,
    wrong_priority,
    wrong_template,
)

ACTION: dict[str, Any] = yaml.safe_load((CHECKOUT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
ARTIFACT = "https://git.example/net/fabric/actions/runs/1/artifacts/2"
_GH = """#!/bin/sh
printf '%s\\n' "$@" >"$RUNNER_TEMP/gh"
"""


def test_the_form_of_a_composite_action() -> None:
    assert ACTION["runs"]["using"] == "composite" and ACTION["name"] and ACTION["description"]
    assert all(set(one) <= {"description", "default", "required"} for one in ACTION["inputs"].values())
    for step in STEPS:
        assert ("uses" in step) != ("run" in step), step
        assert "run" not in step or step["shell"] == "bash", "a composite step names its shell"
        assert "run" not in step or not _EXPRESSION.search(step["run"]), "inputs come as variables, not as shell text"
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+(/[\w-]+)*@v\d+(\.\d+\.\d+)?", step["uses"])


def test_expressions_name_inputs_and_steps() -> None:
    text = (CHECKOUT / "action.yml").read_text()
    inputs = set(re.findall(r"inputs\.([\w-]+)", text))
    assert inputs == set(ACTION["inputs"])
    steps = {step["id"]: step for step in STEPS if "id" in step}
    for name, output in re.findall(r"steps\.(\w+)\.outputs\.([\w-]+)", text):
        assert f"{output}=" in steps[name].get("run", "artifact-url=")


class Runner:
    """The shell steps, with the variables of a runner; steps that use another action are recorded."""

    def __init__(self, repository: Repository, **inputs: str) -> None:
        self.repository = repository
        self.temp = repository.folder.parent / "runner"
        self.temp.mkdir(exist_ok=True)
        gh = repository.folder.parent / "bin" / "gh"
        gh.write_text(_GH)
        gh.chmod(0o755)
        self.values = {f"inputs.{name}": str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        self.values |= {f"inputs.{name}": value for name, value in inputs.items()}
        self.values |= {"github.event_name": "pull_request", "github.base_ref": "main", "github.event.number": "7"}
        self.values |= {"github.action_path": str(CHECKOUT), "inputs.token": "t"}
        self.values |= {"github.server_url": "https://git.example", "github.repository": "net/fabric"}
        self.used: list[str] = []
        self.text = ""

    def run(self) -> bool:
        """Run all steps; whether the action succeeds."""
        ok = True
        for step in STEPS:
            if not self._applies(step.get("if", ""), ok):
                continue
            if "uses" in step:
                self.used.append(step["uses"].partition("@")[0])
                if "path" in step["with"]:
                    assert Path(self._filled(step["with"]["path"]), "report.html").is_file()
                    self.values[f"steps.{step['id']}.outputs.artifact-url"] = ARTIFACT
                continue
            output, summary = self.temp / "output", self.temp / "summary.md"
            output.write_text("")
            variables = {name: self._filled(str(value)) for name, value in step.get("env", {}).items()}
            variables |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
            done = self.repository.attempt(step["run"], RUNNER_TEMP=str(self.temp), **variables)
            self.text += done.stdout
            ok &= done.returncode == 0
            if "id" in step:
                self.values[f"steps.{step['id']}.outcome"] = "success" if done.returncode == 0 else "failure"
            for line in output.read_text().splitlines():
                name, _, value = line.partition("=")
                self.values[f"steps.{step['id']}.outputs.{name}"] = value
        return ok

    def _applies(self, condition: str, ok: bool) -> bool:
        terms = _EXPRESSION.sub(r"\1", condition).split(" && ") if condition else []
        always = "!cancelled()" in terms
        for term in (one for one in terms if one != "!cancelled()"):
            name, sign, word = re.fullmatch(r"([\w.-]+) (==|!=) '(.*)'", term).groups()  # type: ignore[union-attr]
            if (self.values.get(name, "") == word) != (sign == "=="):
                return False
        return ok or always

    def _filled(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            return next((self.values[name] for name in found[1].split(" || ") if self.values.get(name)), "")

        return _EXPRESSION.sub(value, text)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_a_clean_change(repository: Repository) -> None:
    """It passes, its findings are uploaded, the report is attached, and the comment has the verdict, the picture of the
    change and the changes on the switches."""
    clean_change(repository)
    runner = Runner(repository, pictures="pictures")
    assert runner.run(), runner.text
    assert runner.used == ["actions/setup-python", "github/codeql-action/upload-sarif", "actions/upload-artifact"]
    sarif = json.loads((runner.temp / "fabricgen.sarif").read_text())
    assert sarif["version"] == "2.1.0"
    assert (runner.temp / "gh").read_text().split() == [
        "pr", "comment", "7", "--body-file", "comment.md", "--edit-last", "--create-if-none",
    ]  # fmt: skip
    comment = (runner.temp / "comment.md").read_text()
    assert comment.startswith("### ✅ Safe to merge: ") and f"[The whole report]({ARTIFACT})" in comment
    assert "SYSLOG_SERVER" in comment and "SYSLOG_SERVER" in (runner.temp / "summary.md").read_text()
    found = re.search(r"!\[.*\]\(https://git.example/net/fabric/blob/(\w{40})/(pull-7/change.svg)\?raw=true\)", comment)
    assert found and "6 changed" in repository.run(f"git show origin/pictures:{found[2]}")
    assert repository.run("git fetch --quiet && git rev-parse origin/pictures").strip() == found[1]


def test_pictures_of_other_pull_requests_are_kept(repository: Repository) -> None:
    clean_change(repository)
    runner = Runner(repository, pictures="pictures", sarif="false")
    for number in ("7", "8"):
        shutil.rmtree(runner.temp)
        runner.temp.mkdir()
        repository.run("git worktree prune")
        runner.values["github.event.number"] = number
        assert runner.run(), runner.text
    listed = repository.run("git fetch --quiet && git ls-tree -r --name-only origin/pictures").split()
    assert listed == ["pull-7/change.svg", "pull-8/change.svg"]


def test_a_wrong_change_fails_and_is_uploaded(repository: Repository) -> None:
    wrong_priority(repository)
    runner = Runner(repository)
    assert not runner.run()
    assert "::error file=inventory/fabric.yaml" in runner.text and "FG513" in runner.text
    assert "FG513" in (runner.temp / "fabricgen.sarif").read_text()
    assert "github/codeql-action/upload-sarif" in runner.used


def test_a_hand_edit_fails(repository: Repository) -> None:
    hand_edit(repository)
    runner = Runner(repository, comment="false", sarif="false")
    assert not runner.run()
    assert "FG990" in runner.text and runner.used == ["actions/setup-python", "actions/upload-artifact"]
    assert not (runner.temp / "gh").exists()


def test_files_of_templates_are_judged(repository: Repository) -> None:
    """Templates of the site that render wrong files: the comment is about the files that are deployed."""
    wrong_template(repository)
    runner = Runner(repository, sarif="false")
    assert not runner.run()
    assert "::error file=bundle/sonic/leaf1/config_db.json" in runner.text, "validate judges the committed files"
    comment = (runner.temp / "comment.md").read_text()
    assert comment.startswith("### ❌ Do not merge: ") and "FG513" in comment


def test_a_stale_bundle_is_not_safe_to_merge(repository: Repository) -> None:
    """The files are right, and are not those of the inventory."""
    tree = fabric()
    tree["management"]["syslog"].append("10.255.15.6")
    repository.write(tree)
    repository.commit("not rendered")
    runner = Runner(repository, sarif="false")
    assert not runner.run()
    assert (runner.temp / "comment.md").read_text().startswith("### ❌ Do not merge: the bundle is not what")
