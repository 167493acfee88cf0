"""Hooks, workflows and owners name commands, scripts and files that exist."""

import ast
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).parents[2]
WORKFLOWS = sorted((CHECKOUT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((CHECKOUT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
HOOKS = CHECKOUT / ".pre-commit-config.yaml"
SYSTEM = {"apt-get", "gh"}  # commands of the runner, not of this repository
REUSED = "./.github/workflows/"


def read(file: Path) -> Any:
    return yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)  # "on" stays a text


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def steps(workflow: Any) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job.get("steps", [])


def commands(script: str) -> Iterator[list[str]]:
    """The words of each command of a shell script."""
    for line in script.splitlines():
        for command in re.split(r"&&|\|\||;|\|", line):
            yield shlex.split(command)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_commands_of_workflows_exist(file: Path) -> None:
    for step in steps(read(file)):
        for name, *arguments in commands(step.get("run", "")):
            if name == "make":
                assert set(arguments) <= targets()
            elif name == "python":
                assert (CHECKOUT / arguments[0]).is_file()
            else:
                assert name in SYSTEM


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_actions_have_a_full_version(file: Path) -> None:
    workflow = read(file)
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    used += [job["uses"] for job in workflow["jobs"].values() if "uses" in job]
    assert used
    for action in used:
        if action.startswith(REUSED):
            assert "workflow_call" in read(CHECKOUT / action)["on"]
        else:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+\.\d+\.\d+", action), action


def permissions() -> Iterator[tuple[str, str, str]]:
    """(workflow, job, right) for every right to write."""
    for file in WORKFLOWS:
        workflow = read(file)
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            for right, level in job.get("permissions", {}).items():
                if level == "write":
                    yield file.stem, name, right


def test_a_job_has_the_rights_that_it_needs_and_no_others() -> None:
    """Code of a pull request or a dependency never runs beside a right to write."""
    assert set(permissions()) == {
        ("release", "publish", "id-token"),
        ("release", "publish", "attestations"),
        ("release", "announce", "contents"),
        ("release", "site", "id-token"),
        ("release", "site", "pages"),
    }
    jobs = read(CHECKOUT / ".github" / "workflows" / "release.yml")["jobs"]
    assert jobs["publish"]["needs"] == ["test", "build"]
    assert not [step for name in ("publish", "site") for step in jobs[name]["steps"] if "run" in step]


def test_ci_covers_each_supported_python() -> None:
    (test,) = [job for job in read(CHECKOUT / ".github" / "workflows" / "ci.yml")["jobs"].values() if "strategy" in job]
    assert test["strategy"]["matrix"]["image"] == ["debian:12", "python:3.12-bookworm", "python:3.13-bookworm"]


def hooks() -> list[dict[str, Any]]:
    (local,) = read(HOOKS)["repos"]
    assert local["repo"] == "local"
    found: list[dict[str, Any]] = local["hooks"]
    return found


def test_hooks_use_programs_of_the_environment() -> None:
    subprocess.run([sys.executable, "-m", "pre_commit", "validate-config", HOOKS], check=True)
    programs = Path(sys.executable).parent
    for hook in hooks():
        program = Path(hook["entry"].split()[0])
        assert hook["language"] == "system"
        assert program.parent == Path(".venv/bin")
        assert (programs / program.name).is_file()


def test_make_lint_and_the_hooks_run_the_same_programs() -> None:
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    of_make = set(re.findall(r"\$\(BIN\)/(ruff check|ruff format|shellcheck|lint-imports|mypy)", makefile))
    of_hooks = {
        " ".join(re.findall(r"ruff \w+|[\w-]+", hook["entry"].removeprefix(".venv/bin/"))[:1]) for hook in hooks()
    }
    assert of_hooks == of_make | {"pytest"}


def test_a_hook_refuses_a_fault(tmp_path: Path) -> None:
    """In a repository with our hooks a file that ruff complains of is not committed, and a clean one is."""
    shutil.copy(HOOKS, tmp_path)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "ruff").symlink_to(Path(sys.executable).parent / "ruff")
    (tmp_path / ".gitignore").write_text(".venv/\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)

    def run(content: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "module.py").write_text(content)
        subprocess.run(["git", "add", "--all"], cwd=tmp_path, check=True)
        command = [sys.executable, "-m", "pre_commit", "run", "ruff", "--files", "module.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("import os\n").returncode == 1
    assert run('"""A module."""\n').returncode == 0


@pytest.mark.parametrize("file", [file for file in TEMPLATES if file.stem != "config"], ids=lambda file: file.stem)
def test_issue_forms_are_complete(file: Path) -> None:
    form = read(file)
    assert {"name", "description", "labels", "body"} == set(form)
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    for field in form["body"]:
        assert field["type"] in {"input", "textarea", "dropdown", "checkboxes"}
        assert field["attributes"]["label"]
    assert any(field.get("validations", {}).get("required") == "true" for field in form["body"])


def test_owners_own_what_exists() -> None:
    lines = (CHECKOUT / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    assert rows[0] == ["*", "@fabricgen/maintainers"]
    for path, team in rows:
        assert re.fullmatch(r"@fabricgen/[a-z]+", team)
        assert path == "*" or (CHECKOUT / path.strip("/")).exists(), path


@pytest.mark.parametrize("package", ["fabricgen", "benchmarks", "scripts"])
def test_no_key_is_an_address(package: str) -> None:
    """`id` is the address of an object, and that of another one later: `fabricgen.same.Same` refers to the object."""
    called = re.compile(rb"\bid\s*\(")  # to parse all files takes seconds
    found = [
        f"{file.relative_to(CHECKOUT)}:{node.lineno}"
        for file in (CHECKOUT / package).rglob("*.py")
        if called.search(text := file.read_bytes())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"
    ]
    assert found == []
