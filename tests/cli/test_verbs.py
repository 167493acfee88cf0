"""The verbs: help without heavy imports, check, capacity, explain, schema."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api import FailureOptions
from fabricgen.codes import codes
from fabricgen.rules.registry import all_rules
from fabricgen.vocabulary import Repair
from tests.conftest import Cli
from tests.inventories import GENERIC, QUICKSTART, rail_optimized, write

PACKAGE = Path(sys.modules["fabricgen"].__file__ or "").parent
VERBS = ["init", "render", "validate", "simulate", "check", "capacity", "diff", "handoff", "explain", "schema"]
SOURCES = [file for file in PACKAGE.rglob("*.py") if "_shipped" not in file.parts]


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nfrom fabricgen.cli.main import _exit_code\ncode = _exit_code(['--help'], False)\n"
        "heavy = {'numpy', 'jinja2', 'jsonschema', 'yaml', 'orjson', 'netaddr'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert all(re.search(rf"^  {verb} ", done.stdout, re.MULTILINE) for verb in VERBS)


@pytest.mark.parametrize("verb", [*VERBS, "simulate deadlock", "handoff ansible"])
def test_every_verb_has_help(verb: str, cli: Cli) -> None:
    outcome = cli(*verb.split(), "--help")
    assert outcome.code == 0 and outcome.out.startswith(f"Usage: fabricgen {verb}")


def test_version_and_suggestion(cli: Cli) -> None:
    assert re.fullmatch(r"fabricgen \d+\.\d+\.\d+\n", cli("--version").out)
    outcome = cli("rendr", "x")
    assert outcome.code == 2 and "unknown command 'rendr'; did you mean 'render'?" in outcome.err


def test_check_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "i", rail_optimized())
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert cli("check", inventory).code == 0
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_capacity_in_three_forms(cli: Cli) -> None:
    plane = json.loads(cli("capacity", QUICKSTART, "--format", "json").out)["capacity"]["planes"][0]
    assert {
        key: plane[key] for key in ("name", "hosts", "endpoints", "switches", "links", "oversubscription", "lids")
    } == {
        "name": "compute",
        "hosts": 32,
        "endpoints": 256,
        "switches": {"leaf": 16, "spine": 4, "core": 0},
        "links": {"host-leaf": 256, "leaf-spine": 256, "spine-core": 0},
        "oversubscription": {"leaf": 1.0},
        "lids": None,
    }
    assert plane["bisection_gbps"] == 256 * 400 // 2
    assert plane["ports"][0] == {"role": "leaf", "used": 512, "spare": 16 * 128 - 512}
    text, markdown = cli("capacity", QUICKSTART).out, cli("capacity", QUICKSTART, "--format", "markdown").out
    for shown in ("16 arista-7060x6-64pe (room for 32)", "256 in 128 cables", "1:1", "51200 Gb/s"):
        assert shown in text and shown in markdown
    assert markdown.startswith("|") and not text.startswith("|")


def test_capacity_of_a_fabric_that_does_not_fit(cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path, rail_optimized(8, 40, 1, GENERIC))
    outcome = cli("capacity", inventory)
    assert outcome.code == 1 and "a leaf needs 80 ports (40 hosts + 40 uplinks), its platform has 64" in outcome.out
    assert json.loads(cli("capacity", inventory, "--format", "json").out)["findings"][0]["code"] == "FG201"


def emitted() -> set[str]:
    return {code for file in SOURCES for code in re.findall(r'"(FG\d{3})"', file.read_text())}


def test_every_code_is_explained_once() -> None:
    rules, others = {rule.code for rule in all_rules()}, set(codes())
    assert emitted() - rules - others == set(), "emitted and not explained"
    assert rules & others == set(), "a rule's page is its docstring"
    assert others - emitted() == set(), "explained and never emitted"


def test_explain_has_a_page_for_every_code(cli: Cli) -> None:
    assert len(all_rules()) >= 15
    for code in {rule.code for rule in all_rules()} | set(codes()):
        outcome = cli("explain", code.lower())
        assert outcome.code == 0 and outcome.out.startswith(code)
        assert len(outcome.out.splitlines()) > 3
    assert "Fix\n" in cli("explain", "FG381").out


def test_explain_a_value(cli: Cli, tmp_path: Path) -> None:
    cli("render", write(tmp_path / "i", rail_optimized()), "-o", tmp_path / "b", "-q")
    outcome = cli("explain", tmp_path / "b", "compute-su00-r0-leaf:BUFFER_PROFILE|pg_lossless_400000_40m_profile|xoff")
    assert outcome.code == 0 and "pg_profile_lookup.ini" in outcome.out
    assert cli("explain", tmp_path / "b", "leaf9:PORT|Ethernet0|mtu").code == 2


@pytest.mark.parametrize("name", ["inventory", "findings"])
def test_schema_prints_one(name: str, cli: Cli) -> None:
    assert json.loads(cli("schema", name).out)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize(
    ("given", "depth"),
    [
        ({}, 0),
        ({"switches": True}, 1),
        ({"repair": Repair.LOCAL}, 1),
        ({"depth": 2, "switches": True}, 2),
        ({"depth": 0, "repair": Repair.LOCAL}, 0),
    ],
)
def test_switch_failures_and_repair_imply_single_failures(given: dict[str, Any], depth: int) -> None:
    assert FailureOptions(**given).most_links == depth


def test_the_bundle_of_another_fabric_is_replaced_on_request_only(cli: Cli, tmp_path: Path) -> None:
    one, other = (write(tmp_path / name, rail_optimized() | {"fabric": name}) for name in ("one", "other"))
    assert cli("render", one, "-o", tmp_path / "b", "--only", "*-su00-r0-leaf").out.startswith("1 device: 1 changed")
    assert "warning" not in cli("render", one, "-o", tmp_path / "b").err
    refused = cli("render", other, "-o", tmp_path / "b")
    assert refused.code == 2 and "is the bundle of fabric 'one', this inventory is 'other'" in refused.err
    assert cli("render", other, "-o", tmp_path / "b", "--adopt-folder").code == 0
    assert json.loads((tmp_path / "b" / "manifest.json").read_text())["fabric"] == "other"
