"""docs/rules has the page of every rule, with the bad case and the output that the rule gives today."""

import importlib.util
from pathlib import Path

from fabricgen.rules.registry import all_rules, explain_text

GENERATOR = Path(__file__).parents[2] / "docs" / "make_rule_pages.py"


def test_pages_are_fresh(update: bool) -> None:
    spec = importlib.util.spec_from_file_location("make_rule_pages", GENERATOR)
    assert spec and spec.loader
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    if update:
        generator.write()
    written = {file.stem: file.read_text(encoding="utf-8") for file in generator.FOLDER.glob("FG*.md")}
    assert written == generator.pages(), "refresh the pages with `make golden`"


def test_explain_prints_the_page() -> None:
    page = explain_text("fg513")
    assert page and "fabricgen/rules/qos/pfc.py" in page and "error FG513  pfc_enable is" in page


def test_every_page_names_a_file_that_exists() -> None:
    for rule in all_rules():
        name = rule.page.splitlines()[2].rpartition(", ")[2]
        assert (GENERATOR.parents[1] / name).is_file(), name
