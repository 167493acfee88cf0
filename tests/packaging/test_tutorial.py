"""A first hour without the checkout: the wheels are collected and installed in an empty environment as the page on an
installation without internet says, and the commands of the tutorial run there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.components import missing
from tests.docs.pages import as_shown, steps, write_files

ROOT = Path(__file__).parents[2]
TUTORIAL, AIR_GAPPED = ROOT / "docs" / "tutorial.md", ROOT / "docs" / "howto" / "air-gapped.md"
WHEEL = "fabricgen-0.1.0-py3-none-any.whl"
_HERE = ("python -m", "fabricgen-env/bin/python")  # commands that install


def run(command: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of an environment that has only fabricgen and what it requires, installed without an index."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "wheel", "--no-deps"]
    subprocess.run([*build, "--no-build-isolation", "-w", folder, ROOT], check=True)
    assert (folder / WHEEL).is_file(), "the pages name the wheel of this version"
    clean = {
        "HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or "proxy" in name.lower()}
    configured = Path.home() / ".config" / "pip"
    if configured.is_dir():  # of this machine: where its packages come from
        shutil.copytree(configured, folder / ".config" / "pip")
    for step in steps(AIR_GAPPED):
        if step.command.startswith(_HERE):
            done = run(step.command, folder, clean | (settings if " download " in step.command else {}))
            if done.returncode and " download " in step.command:
                missing("a package index", "allow pip to download\n" + done.stderr)
            assert done.returncode == 0, step.command + done.stderr
    return {**clean, "PATH": f"{folder}/fabricgen-env/bin:/usr/bin:/bin"}


def test_the_environment_is_empty(empty: dict[str, str], tmp_path: Path) -> None:
    done = run("python -m pip list --format freeze", tmp_path, empty)
    names = {line.partition("==")[0].lower() for line in done.stdout.splitlines()}
    assert "fabricgen" in names and not {"pytest", "numba", "pygls", "hypothesis"} & names
    done = run("python -c 'import fabricgen; print(fabricgen.__file__)'", tmp_path, empty)
    assert "site-packages" in done.stdout and str(ROOT) not in done.stdout


@pytest.mark.parametrize("page", [TUTORIAL, AIR_GAPPED], ids=lambda page: page.stem)
def test_the_commands_print_what_the_page_shows(page: Path, empty: dict[str, str], tmp_path: Path) -> None:
    write_files(page, tmp_path)
    done = 0
    for step in steps(page):
        if step.command.startswith(_HERE):
            continue
        assert shlex.split(step.command)[0] in ("fabricgen", "sed", "cp", "mkdir"), step.command
        outcome = run(step.command, tmp_path, empty)
        assert outcome.returncode == step.code, f"{step.command}\n{outcome.stdout}{outcome.stderr}"
        if step.shown:
            assert as_shown(outcome.stdout) == step.shown.strip(), step.command
        done += 1
    assert done >= 5


def test_the_page_says_how_to_install() -> None:
    """The first block of the tutorial installs the wheel of this version."""
    assert re.search(rf"fabricgen-env/bin/pip install {re.escape(WHEEL)}", TUTORIAL.read_text())
