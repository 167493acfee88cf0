"""The pages of codes, as formats for programs show them."""

import json
import tomllib
from pathlib import Path

import pytest

from fabricgen import __version__
from fabricgen.codes import codes
from fabricgen.findings import Finding, Severity
from fabricgen.report.formats import formats
from fabricgen.report.pages import PROJECT, page
from fabricgen.report.run import Run


@pytest.mark.parametrize(
    ("code", "title"),
    [("FG110", "DSCP used twice"), ("FG101", "Unknown key"), ("FG118", "External routes on an InfiniBand plane")],
)
def test_names_in_titles_keep_their_case(code: str, title: str) -> None:
    assert page(code).title == title


def test_every_title_starts_with_a_capital_letter() -> None:
    assert [title for code in codes() if (title := page(code).title)[0].islower()] == []


def test_the_address_of_a_page() -> None:
    assert page("FG513").url("1.2.0") == "https://github.com/fabricgen/fabricgen/blob/v1.2.0/docs/rules/FG513.md"
    assert page("FG513").url("1.2.0.dev4").endswith("/blob/main/docs/rules/FG513.md")
    assert page("FG101").url("1.2.0").endswith("/blob/v1.2.0/docs/rules/FG101.md")
    assert page("FG001").url("1.2.0") == ""


def test_the_project_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Documentation"] == f"{PROJECT}/tree/main/docs"


def test_sarif_links_each_rule_to_its_page() -> None:
    run = Run(__version__, "validate", [Finding("FG513", Severity.ERROR, "no PFC")], codes=["FG243"])
    rules = json.loads(formats()["sarif"].write(run))["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["helpUri"] for rule in rules] == [page(code).url(__version__) for code in ("FG243", "FG513")]
