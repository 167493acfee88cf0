"""Each configuration file is opened once, however many judges read it."""

import collections
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabricgen.resources import resource
from fabricgen.sonic import schema
from tests.inventories import QUICKSTART

COUNT = """
import json, sys
opened = []
def hook(event, found):
    if event == "open" and "r" in str(found[1]):
        opened.append(str(found[0]))
sys.addaudithook(hook)
from fabricgen.cli.main import run
try:
    run(sys.argv[1:])
except SystemExit as stop:
    json.dump({"code": stop.code, "opened": [file for file in opened if file.endswith(".json")]}, sys.stderr)
"""


OTHER = {"fabric.json", "manifest.json", "sources.json"}
SCHEMAS = {str(resource("schemas", "config_db.json")), str(Path(schema.__file__).with_name("conditions.json"))}


def opens(*arguments: object) -> collections.Counter[str]:
    """How often a run of the command opens each configuration for reading."""
    command = [sys.executable, "-c", COUNT, *map(str, arguments)]
    done = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=True)
    found = json.loads(done.stderr)
    assert found["code"] == 0, done.stdout
    return collections.Counter(file for file in found["opened"] if file not in SCHEMAS and Path(file).name not in OTHER)


@pytest.fixture
def loose(rendered: Path, tmp_path: Path) -> list[Path]:
    """The files of the quickstart without its fabric.json, each in the same folder."""
    files = []
    for file in sorted(rendered.glob("sonic/*/config_db.json")):
        files.append(tmp_path / f"{file.parent.name}.json")
        shutil.copy(file, files[-1])
    return files


@pytest.mark.parametrize("verb", [("validate",), ("simulate", "deadlock"), ("simulate", "congestion")], ids=" ".join)
def test_loose_files_are_opened_once(verb: tuple[str, ...], loose: list[Path]) -> None:
    assert opens(*verb, loose[0].parent) == dict.fromkeys(map(str, loose), 1)
    assert opens(*verb, *loose) == dict.fromkeys(map(str, loose), 1)


def test_files_of_a_bundle_are_opened_once(rendered: Path) -> None:
    found = opens("validate", rendered)
    assert found == dict.fromkeys(map(str, rendered.glob("sonic/*/config_db.json")), 1)


def test_check_opens_what_it_rendered_once() -> None:
    found = opens("check", QUICKSTART)
    configs = {file: count for file, count in found.items() if "/sonic/" in file}
    assert len(configs) == 20 and set(configs.values()) == {1}
