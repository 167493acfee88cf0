"""Rules that are checked in turns find what they find alone, in the same order."""

import importlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import fabricgen.rules
from fabricgen import spread
from fabricgen.bundle.device import FileContent, SharedTables
from fabricgen.bundle.forgetful import ForgetfulContent, forget_tables, forgetful, shut_of, speeds_of
from fabricgen.bundle.read import open_bundle
from fabricgen.draw.topology import read_topology
from fabricgen.findings import Severity
from fabricgen.rules import turns
from fabricgen.rules.defects import Defect
from fabricgen.rules.parallel import checked
from fabricgen.rules.registry import all_rules
from fabricgen.rules.rule import Basis, Rule, module_of, subject_of
from fabricgen.rules.run import run
from fabricgen.rules.turns import _STAGES, Turns
from fabricgen.rules.view.fabric import Fabric
from fabricgen.sonic.dump import dump
from tests.rules.case import Case, HostFiles
from tests.rules.clean import clean_fabric
from tests.rules.hosts.inventories import TWO_PLANES

SUBJECTS = ("addresses", "bgp", "bundle", "control", "hosts", "links", "opensm", "peers", "qos", "schema")
CASES: dict[str, Case] = {
    subject: importlib.import_module(f"tests.rules.{subject}.cases").CASES[-1] for subject in SUBJECTS
}


@pytest.fixture(autouse=True)
def _small_fabrics_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LEAST_FORGOTTEN", 1)


def test_each_subject_has_a_stage() -> None:
    folders = {path.parent.name for path in Path(fabricgen.rules.__path__[0]).glob("*/__init__.py")} - {"view"}
    members = [member for stage in _STAGES for member in stage.members]
    assert sorted(folders) == sorted(member for member in members if "." not in member)
    assert {member for member in members if "." in member} <= {*map(module_of, all_rules())}


@pytest.mark.parametrize("subject", CASES)
def test_turns_do_not_change_findings(subject: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[subject]
    bundle = case.clean.broken(case.change, tmp_path)
    alone = run(bundle, prepare=lambda view, _rules: lambda rule: rule.check(view()))
    assert case.code in {one.code for one in alone}
    assert run(forgetful(bundle)) == run(bundle) == alone
    monkeypatch.setattr(spread, "SWITCHES_EACH", 1)
    assert run(forgetful(bundle), prepare=partial(checked, jobs=2)) == alone


def test_shut_ports_and_speeds_are_known_when_the_table_of_ports_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut, up = {"admin_status": "down", "speed": "fast"}, {"admin_status": "up", "speed": "400000"}
    config = {"PORT": {"Ethernet0": shut, "Ethernet4": up, "Ethernet8": {}}}
    (tmp_path / "leaf.json").write_bytes(dump(config))
    (loose,) = open_bundle([tmp_path / "leaf.json"]).devices.values()
    device = replace(loose, content=ForgetfulContent(FileContent(loose.file, SharedTables())))
    forget_tables(device, ["PORT"])
    monkeypatch.setattr(FileContent, "table_again", lambda *_: pytest.fail("a table is read again"))
    assert shut_of(device) == {"Ethernet0": ("PORT", "Ethernet0", "admin_status")}
    assert speeds_of(device) == speeds_of(loose) == {"Ethernet4": 400_000}


def test_no_rule_and_no_picture_reads_a_forgotten_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a correct bundle of two planes: findings of wrong files may read more."""
    root = HostFiles(TWO_PLANES).broken(lambda _: None, tmp_path).root
    assert root
    bundle = forgetful(open_bundle([root]))
    monkeypatch.setattr(FileContent, "table_again", lambda _, name: pytest.fail(f"{name} is read again"))
    assert run(bundle) == []
    assert set(read_topology(bundle, states=True).down.values()) <= {0}


def test_a_rule_of_another_package_reads_tables_that_were_forgotten(tmp_path: Path) -> None:
    configs = clean_fabric().configs
    for name, config in configs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "config_db.json").write_bytes(dump(config))
    fabric = Fabric(forgetful(open_bundle([tmp_path])))
    seen: list[int] = []

    def check(fabric: Fabric) -> Iterator[Defect]:
        seen.extend(len(switch.device.table("PORT")) for switch in fabric.switches.values())
        yield from ()

    own = Rule("XY1", Severity.NOTE, "Counts ports", check, Basis.MEANING)
    assert subject_of(own) == "" and list(Turns(fabric, [own, *all_rules()]).defects(own)) == []
    assert seen == [len(configs[name]["PORT"]) for name in fabric.switches]
