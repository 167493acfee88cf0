"""Who follows a hint gets no other finding: each bad case whose hint names one value or a removal, with it applied."""

import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest

from fabricgen.findings import Finding, Severity
from fabricgen.rules.run import run
from tests.rules.case import Case, Configs, Switches
from tests.rules.test_cases import CASES

_SET = re.compile(r"set (?P<field>[\w-]+) to (?P<value>[\w.:/-]+)")
_WRITE = re.compile(r'write "?(?P<value>[\w.:/,-]+)"?')
_REMOVE = re.compile(r"remove (?:it|the (?:row|field)|(?P<field>[\w-]+))")
# The value is right, but most other rows lack the field: the next finding, at the same place, asks for that.
_THEN_UNUSUAL = {"FG307": "FG593", "FG569": "FG592"}


def _names_a_value(hint: str) -> bool:
    return any(form.fullmatch(hint) for form in (_SET, _WRITE, _REMOVE))


def _follow(finding: Finding, configs: Configs) -> bool:
    """Change the tables as the hint says; False if it is about something else than the place of the finding."""
    table, _, rest = finding.path.partition("|")
    rows = configs[finding.device or ""].get(table)
    if not isinstance(rows, dict):
        return False
    key, field = (rest, "") if rest in rows else (rest.rpartition("|")[0], rest.rpartition("|")[2])
    if key not in rows:
        return False
    row = rows[key]
    if found := _SET.fullmatch(finding.hint):
        if field not in ("", found["field"]):
            return False
        row[found["field"]] = found["value"]
    elif found := _WRITE.fullmatch(finding.hint):
        if field not in row:
            return False
        row[field] = found["value"]
    elif found := _REMOVE.fullmatch(finding.hint):
        if field and (found["field"] or field) == field and "row" not in finding.hint:
            del row[field]
        elif not field and not found["field"]:
            del rows[key]
        else:
            return False
    return True


FOLLOWED = [case for case in CASES if isinstance(case.clean, Switches) and _names_a_value(case.hint)]


def _change(case: Case, before: list[Finding], done: list[bool]) -> Callable[[Configs], None]:
    def change(configs: Configs) -> None:
        case.change(configs)
        for device, tables in configs.items():  # a change may plant an object of its case, which stays as it is
            configs[device] = deepcopy(tables)
        done.extend(_follow(one, configs) for one in before if one.code == case.code and _names_a_value(one.hint))

    return change


@pytest.mark.whole
@pytest.mark.parametrize("case", FOLLOWED, ids=[f"{case.code}-{number}" for number, case in enumerate(FOLLOWED)])
def test_a_hint_leads_to_no_other_finding(case: Case, tmp_path: Path) -> None:
    assert isinstance(case.clean, Switches)
    before = case.findings(tmp_path / "before")
    done: list[bool] = []
    bundle = case.clean.broken(_change(case, before, done), tmp_path / "after")
    if not any(done):
        return
    known = {one.code for one in before} | {_THEN_UNUSUAL.get(case.code, "")}
    after = run(bundle, layout_lookup=case.clean.layout)
    assert [one for one in after if one.severity != Severity.NOTE and one.code not in known] == []


def test_most_of_these_hints_are_followed() -> None:
    assert len(FOLLOWED) > 90
