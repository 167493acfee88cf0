"""Several processes find the same as one, in the same order."""

import importlib
from functools import partial
from pathlib import Path

import pytest

from fabricgen import spread
from fabricgen.bundle.read import Bundle
from fabricgen.findings import has_errors
from fabricgen.rules import parallel
from fabricgen.rules.bgp.reachability import routed_fabrics
from fabricgen.rules.registry import all_rules
from fabricgen.rules.run import run, viewed
from fabricgen.rules.turns import is_on_routes
from tests.rules.case import Case
from tests.rules.clean import clean_fabric

SUBJECTS = ("addresses", "bgp", "bundle", "hosts", "links", "opensm", "peers", "qos", "schema")
FIRST_CASES: dict[str, Case] = {
    subject: importlib.import_module(f"tests.rules.{subject}.cases").CASES[0] for subject in SUBJECTS
}


@pytest.fixture(autouse=True)
def _small_fabrics_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "SWITCHES_EACH", 1)


def faulty() -> Bundle:
    """A fabric with faults of several kinds: in a value, between two ends, among peers, in the shape of a row."""
    fabric = clean_fabric()
    first, *others = sorted(fabric.configs)
    for name in others:
        fabric.configs[name]["PORT"]["Ethernet0"] |= {"mtu": "1500", "description": "elsewhere"}
    fabric.configs[first]["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "7"
    fabric.configs[first]["CABLE_LENGTH"]["AZURE"] = dict.fromkeys(fabric.configs[first]["PORT"], "1m")
    fabric.configs[others[0]]["UNKNOWN"] = {"a": {"b": "c"}}
    fabric.configs[others[1]]["BUFFER_PROFILE"] = {}
    return fabric.bundle()


@pytest.mark.parametrize("jobs", [2, 4])
def test_findings_do_not_depend_on_the_number_of_processes(jobs: int) -> None:
    expected = run(faulty())
    assert has_errors(expected) and len({one.code for one in expected}) > 6
    assert run(faulty(), prepare=partial(parallel.checked, jobs=jobs)) == expected


@pytest.mark.parametrize("subject", FIRST_CASES)
def test_findings_of_each_subject_come_back_as_they_are(subject: str, tmp_path: Path) -> None:
    case = FIRST_CASES[subject]
    bundle = case.clean.broken(case.change, tmp_path)
    expected = run(bundle)
    assert case.code in {one.code for one in expected}
    assert run(bundle, prepare=partial(parallel.checked, jobs=2)) == expected


def test_the_routing_model_is_made_in_one_process() -> None:
    fabric = viewed(clean_fabric().bundle())
    for one in sorted(all_rules(), key=is_on_routes):
        if is_on_routes(one):
            break
        list(one.check(fabric))
    assert routed_fabrics.name not in vars(fabric)
    list(one.check(fabric))
    assert routed_fabrics.name in vars(fabric)
