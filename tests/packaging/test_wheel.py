"""The wheel is complete: outside a checkout it renders, checks and explains, with its own templates and schemas."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder outside the checkout with the installed wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, CHECKOUT], check=True)
    (wheel,) = folder.glob("fabricgen-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True)
    return folder / "site"


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
    for extra in ("sim", "fast", "yang", "distributed", "all"):
        assert f"Provides-Extra: {extra}\n" in metadata.read_text()
