"""The wheel is complete: outside a checkout it renders, checks and explains, with its own templates and schemas."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import click
import numpy
import pytest
import yaml

from tests.components import tool


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the checkout with the installed wheel."""
    site = tmp_path_factory.mktemp("installed") / "site"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "install", "--no-deps", "--no-compile", "--target", site, wheel], check=True)
    return site


def fabricgen(installed: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-P", "-m", "fabricgen", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_code_and_resources_are_those_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    code = "import fabricgen.resources as r; print(r.__file__); print(r.resource('templates', 'sonic').is_dir())"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [str(installed / "fabricgen" / "resources.py"), "True"]


def test_init_then_check(installed: Path, tmp_path: Path) -> None:
    started = fabricgen(installed, "init", "fabric", cwd=tmp_path)
    assert started.returncode == 0, started.stderr
    checked = fabricgen(installed, "check", "fabric", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "0 errors, 0 warnings" in checked.stdout


def test_schemas_and_pages(installed: Path, tmp_path: Path) -> None:
    assert '"fabricgen inventory"' in fabricgen(installed, "schema", "inventory", cwd=tmp_path).stdout
    assert "FG601" in fabricgen(installed, "explain", "FG601", cwd=tmp_path).stdout


def test_the_command_and_the_extras(installed: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(installed / "bin" / "fabricgen"), "--version"]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "fabricgen"), done.stderr
    (metadata,) = installed.glob("fabricgen-*.dist-info/METADATA")
    for extra in ("sim", "fast", "yang", "distributed", "lsp", "docs", "all"):
        assert f"Provides-Extra: {extra}\n" in metadata.read_text()


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with the wheel; its dependencies are those of the test run."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "--python", folder / "bin" / "python"]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", wheel], check=True)
    dependencies = {str(Path(module.__file__ or "").parents[1]) for module in (click, numpy, yaml)}
    (site / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n")
    return folder


def test_the_manual_has_a_page_for_each_command(environment: Path) -> None:
    """`man` finds the pages of the environment in whose bin/ the command is, and formats them without a warning."""
    pages = sorted((environment / "share" / "man" / "man1").glob("*.1"))
    names = {page.stem for page in pages}
    assert {"fabricgen", "fabricgen-check", "fabricgen-simulate-deadlock", "fabricgen-handoff-ztp"} <= names
    done = subprocess.run(
        [tool("man", "man-db"), "--warnings=all", "-l", *pages], capture_output=True, text=True, check=True,
        env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "80"},
    )  # fmt: skip
    assert done.stderr == ""
    assert all(re.search(rf"^ +{page} +- +\w", done.stdout.replace("\b", ""), re.MULTILINE) for page in names)


EXPLAIN_ALL = """
import contextlib, io
from fabricgen.api.names import KINDS
from fabricgen.cli.main import main

codes = KINDS["codes"]()
for code in codes:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        main(["explain", code], standalone_mode=False)
    assert code in shown.getvalue() and len(shown.getvalue().split()) > 8, code
print(len(codes) > 200)
"""


def test_every_code_is_explained_offline(environment: Path, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [environment / "bin" / "python", "-P", "-c", EXPLAIN_ALL], cwd=tmp_path, env=clean, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


PROGRAM = """
import sys
from pathlib import Path

import fabricgen
import fabricgen.api

assert Path(fabricgen.__file__).is_relative_to(sys.prefix), fabricgen.__file__
assert "numpy" not in sys.modules
rendering = fabricgen.api.render(Path("fabric"), Path("build"))
assert rendering.is_written and not rendering.has_errors, rendering.findings
findings = fabricgen.api.validate([Path("build")]).findings
proof = fabricgen.api.simulate_deadlock(fabricgen.api.DeadlockRequest(paths=[Path("build")]))
print(len(findings), rendering.switches.files, *(plane.verdict for plane in proof.planes))
"""


def test_a_program_uses_the_api_of_the_wheel(environment: Path, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*command: object) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in command]
        return subprocess.run(words, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)

    started = run(environment / "bin" / "fabricgen", "init", "fabric")
    assert started.returncode == 0, started.stderr
    done = run(environment / "bin" / "python", "-P", "-c", PROGRAM)
    assert (done.returncode, done.stdout) == (0, "0 6 free\n"), done.stderr
    validated = run(environment / "bin" / "fabricgen", "validate", "build")
    assert validated.returncode == 0 and "0 errors" in validated.stdout, validated.stderr
