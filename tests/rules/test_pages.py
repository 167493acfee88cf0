"""docs/rules has the page of every code; that of a rule has its bad case and the output that the rule gives today."""

import importlib.util
import re
import tomllib
from pathlib import Path

from fabricgen.codes import PARTS
from fabricgen.report.pages import explained, pages

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


def test_every_code_has_all_parts() -> None:
    assert [code for code in pages() if not re.fullmatch(r"FG[1-9]\d\d", code)] == []
    incomplete = [code for code, one in pages().items() if [*one.parts] != [*PARTS] or not all(one.parts.values())]
    assert incomplete == []


def test_explain_prints_the_page() -> None:
    page = explained("fg513")
    assert explained("FG000") is None
    assert page and "fabricgen/rules/qos/pfc.py" in page and "error FG513  pfc_enable is" in page
    assert re.findall(r"^\S.*$", page, re.MULTILINE)[1:] == [*PARTS, "Bad case"]


def test_explain_names_no_file_that_a_wheel_does_not_have() -> None:
    """Files of this project are in the package or its shipped folders; pages of the documentation are addresses."""
    root = GENERATOR.parents[1]
    wheel = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    shipped = (*wheel["packages"], *wheel["force-include"])
    own = re.compile(rf"(?<![\w/])(?:{'|'.join(one.name for one in root.iterdir() if one.is_dir())})/[\w./-]*\w")
    for code in pages():
        for name in own.findall(explained(code) or ""):
            own_file = (
                name.startswith("fabricgen/") or (root / name).exists()
            )  # others are of the repository named before
            assert not own_file or ((root / name).exists() and name.startswith(shipped)), f"{code}: {name}"
