"""The module's parameters and result, step by step."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.deploy import steps
from fabricgen.deploy.steps import StepOutcome, take
from tests.deploy.switch import OWN, SECRET, Switch, Tables, tables

RENDERED = tables() | {"SNMP_COMMUNITY": {"${secret:snmp}": {"TYPE": "RO"}}}
NEW_SECRET = 'new"community'


class Module:
    """The module of the role on one switch."""

    def __init__(self, folder: Path, running: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
        self.switch = Switch(folder, running)
        monkeypatch.setattr(steps, "Device", lambda folder: self.switch)

    def take(self, step: str, check: bool = False, **more: Any) -> StepOutcome:
        """One step with the parameters of the role."""
        parameters: dict[str, Any] = {
            "step": step,
            "source": "rendered",
            "rendered": RENDERED,
            "secrets": {"snmp": NEW_SECRET},
            "route": "auto",
            "shared_tables": [],
            "secret_fields": [],
            "secret_tables": [],
            "startup_file": str(self.switch.startup_file),
            "work_folder": str(self.switch.folder),
            "checkpoint": "fabricgen",
            "restore_after_s": 900,
            "settle_s": 180,
            "frr_conf": "",
            "frr_file": str(self.switch.folder / "frr.conf"),
        }
        return take(parameters | more, check=check)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    """A switch with an old MTU and an old secret."""
    return Module(tmp_path, tables(mtu="1500") | {"SNMP_COMMUNITY": {SECRET: {"TYPE": "RO"}}}, monkeypatch)


def test_all_steps(module: Module) -> None:
    prepared = module.take("prepare")
    assert (prepared.changed, prepared.problem) == (False, "")
    assert prepared.result | {"diff": None} == {
        "differs": True,
        "tables": ["PORT", "SNMP_COMMUNITY"],
        "frr_conf": False,
        "route": "apply-patch",
        "way": "config apply-patch, at most 13 s",
        "patch_seconds": 13,
        "ports": [],
        "saved": False,
        "diff": None,
    }
    assert type(prepared.result["route"]) is str
    bare: dict[str, Any] = {"rendered": {}, "secrets": {}}  # as the role calls the other steps
    assert module.take("apply", **bare) == StepOutcome(True, hidden=module.take("verify", **bare).hidden)
    assert module.take("verify", **bare).problem == ""
    assert module.take("save", **bare).changed is True
    assert module.switch.config == tables() | {"SNMP_COMMUNITY": {NEW_SECRET: {"TYPE": "RO"}}} | OWN
    assert module.take("undo", **bare) == StepOutcome()
    assert module.take("prepare").result["differs"] is False


def test_no_secret_in_the_result(module: Module) -> None:
    outcome = module.take("prepare", check=True)
    assert outcome.changed is True
    text = json.dumps(outcome.result)
    assert SECRET not in text and NEW_SECRET not in text and json.dumps(NEW_SECRET)[1:-1] not in text
    assert "${secret:snmp}" in outcome.result["diff"]["after"]
    assert '"mtu": "1500"' in outcome.result["diff"]["before"]
    assert outcome.result["diff"]["after_header"] == "target configuration, by config apply-patch, at most 13 s"


def test_secrets_in_any_spelling_are_hidden_from_the_output(module: Module) -> None:
    assert module.take("prepare").hidden == {SECRET, NEW_SECRET, 'new\\"community'}
    module.switch.failing = ("config apply-patch",)
    failed = module.take("apply", rendered={}, secrets={})  # the message of the command quotes a secret
    assert SECRET in failed.problem
    assert failed.hidden >= {SECRET, NEW_SECRET}


def test_compare_fails_where_tables_differ(module: Module) -> None:
    outcome = module.take("compare")
    assert outcome.problem == "these tables differ from the rendered file: PORT, SNMP_COMMUNITY"
    assert outcome.changed is False
    assert module.switch.log == []


@pytest.mark.parametrize("step", ["apply", "verify", "save", "undo"])
def test_check_mode_takes_no_other_step(module: Module, step: str) -> None:
    module.take("prepare")
    module.switch.log.clear()
    outcome = module.take(step, check=True)
    assert (outcome.changed, outcome.problem) == (False, "")
    assert module.switch.log == [] and module.switch.pending() is not None


def test_a_failure_is_a_problem_and_not_an_exception(module: Module) -> None:
    assert module.take("save").problem == "no change is in progress: the switch was restored in the meantime"
    refused = module.take("prepare", rendered=tables(pool_size="1"), route="patch")
    assert refused.problem.startswith("`config apply-patch` cannot make the change; nothing was changed: BUFFER_POOL")
    assert refused.result["route"] == "reload"


def test_undo_reports_that_it_changed_something(module: Module) -> None:
    before = module.switch.running()
    module.take("prepare")
    module.take("apply")
    assert module.take("undo", rendered={}, secrets={}).changed is True
    assert module.switch.config == before
