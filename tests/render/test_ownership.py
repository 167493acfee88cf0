"""Tables of a site's own: from a base file, under what fabricgen renders or instead of it."""

import json
from pathlib import Path

import pytest

from fabricgen.findings import Severity
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from tests.inventories import Tree, explicit, write

BASE = {"CRM": {"Config": {"polling_interval": "300"}}, "SCHEDULER": {"site": {"type": "STRICT"}}}


def rendered(folder: Path, tree: Tree) -> dict[str, dict[str, object]]:
    """leaf1's file."""
    plans = make_plans(write(folder, tree))
    assert plans.findings == []
    return json.loads(dict(BundleContent(plans).files())["sonic/leaf1/config_db.json"])  # type: ignore[no-any-return]


def inventory(folder: Path, **sonic: object) -> Tree:
    (folder / "site").mkdir(parents=True)
    for name in ("leaf1", "leaf2", "spine1", "spine2"):
        (folder / "site" / f"{name}.json").write_text(json.dumps(BASE))
    return {**explicit(), "sonic": sonic}


def test_a_base_file_adds_what_is_not_rendered(tmp_path: Path) -> None:
    whole = rendered(tmp_path / "a", explicit())
    based = rendered(tmp_path / "b", inventory(tmp_path / "b", base="site/{name}.json"))
    assert based == {**whole, "CRM": BASE["CRM"]}


def test_owned_tables_leave_all_others_to_the_base_file(tmp_path: Path) -> None:
    whole = rendered(tmp_path / "a", explicit())
    tree = inventory(tmp_path / "b", base="site/{name}.json", owned_tables=["BUFFER_*", "QUEUE"])
    owned = {table: rows for table, rows in whole.items() if table.startswith("BUFFER_") or table == "QUEUE"}
    assert rendered(tmp_path / "b", tree) == {**owned, **BASE}


def test_owned_tables_alone_are_all_there_is(tmp_path: Path) -> None:
    tree = inventory(tmp_path / "b", owned_tables=["SCHEDULER", "QUEUE"])
    assert set(rendered(tmp_path / "b", tree)) == {"SCHEDULER", "QUEUE"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory"),
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"CRM": {"Config": {"polling_interval": 300}}}', "CRM|Config is not a row of texts"),
    ],
)
def test_a_base_file_that_cannot_be_used_is_a_finding(tmp_path: Path, content: str | None, problem: str) -> None:
    tree = inventory(tmp_path, base="site/{name}.json")
    (tmp_path / "site" / "spine2.json").unlink()
    if content is not None:
        (tmp_path / "site" / "spine2.json").write_text(content)
    (finding,) = make_plans(write(tmp_path, tree)).findings
    assert (finding.code, finding.severity, finding.path) == ("FG113", Severity.ERROR, "sonic.base")
    assert "spine2.json" in finding.message and problem in finding.message
