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
results = []
for command in json.loads(sys.argv[1]):
    opened.clear()
    try:
        run(command)
    except SystemExit as stop:
        results.append({"code": stop.code, "opened": [file for file in opened if file.endswith(".json")]})
json.dump(results, sys.stderr)
"""


OTHER = {"fabric.json", "manifest.json", "sources.json"}
SCHEMAS = {str(resource("schemas", "config_db.json")), str(Path(schema.__file__).with_name("conditions.json"))}


def opens(*commands: tuple[object, ...]) -> list[collections.Counter[str]]:
    """How often each of some commands opens each configuration for reading."""
    words = json.dumps([[*map(str, one), "--quiet"] for one in commands])
    done = subprocess.run([sys.executable, "-c", COUNT, words], capture_output=True, text=True, check=True)
    found = json.loads(done.stderr)
    assert [one["code"] for one in found] == [0] * len(commands), done.stdout
    return [
        collections.Counter(file for file in one["opened"] if file not in SCHEMAS and Path(file).name not in OTHER)
        for one in found
    ]


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
    assert opens((*verb, loose[0].parent), (*verb, *loose)) == [dict.fromkeys(map(str, loose), 1)] * 2


def test_files_of_a_bundle_are_opened_once(rendered: Path) -> None:
    [found] = opens(("validate", rendered))
    assert found == dict.fromkeys(map(str, rendered.glob("sonic/*/config_db.json")), 1)


def test_check_opens_what_it_rendered_once() -> None:
    [found] = opens(("check", QUICKSTART))
    configs = {file: count for file, count in found.items() if "/sonic/" in file}
    assert len(configs) == 20 and set(configs.values()) == {1}
