"""Each statement about a daemon was read in every release that fabricgen knows."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import fabricgen
from fabricgen.sonic import statements
from fabricgen.sonic.releases import DEFAULT
from fabricgen.sonic.statements import Statement
from fabricgen.sonic.updater.live import FIELDS, TABLES, price_of
from fabricgen.sonic.updater.tables import COMMITS

ROOT = Path(fabricgen.__file__).parent


def modules() -> Iterator[str]:
    """The modules that make statements."""
    for file in sorted(ROOT.rglob("*.py")):
        calls = (node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call))
        if any(isinstance(func, ast.Name) and func.id == "Statement" for func in calls):
            yield ".".join(("fabricgen", *file.relative_to(ROOT).with_suffix("").parts))


def made() -> Iterator[Statement]:
    for name in modules():
        yield from (value for value in vars(importlib.import_module(name)).values() if isinstance(value, Statement))
    yield from (price.statement for price in (*FIELDS.values(), *TABLES.values()))


def test_a_release_that_is_added_is_read_for_each_statement() -> None:
    found = list(made())
    assert len(found) > 20
    for statement in found:
        assert set(statement.read) == COMMITS.keys(), f"read {statement.source} in the new release: {statement.text}"
        assert {statement.since, statement.before} - {0} <= COMMITS.keys()
        assert statement.source.startswith(("sonic-", "no match in sonic-", "the readers of"))


@pytest.mark.parametrize("commits", [
    statements.SWSS_COMMITS, statements.HOST_SERVICES_COMMITS, statements.BUILDIMAGE_COMMITS
])  # fmt: skip
def test_each_repository_was_read_in_each_release(commits: dict[int, str]) -> None:
    assert commits.keys() == COMMITS.keys()


def test_a_statement_holds_for_its_releases() -> None:
    statement = Statement("", "", (), since=202411, before=202511)
    assert [release for release in COMMITS if statement.holds(release)] == [202411, DEFAULT]


def test_a_field_that_an_older_release_does_not_follow_has_the_price_of_its_table() -> None:
    for release, is_live in ((202411, False), (202505, True)):
        price = price_of("DEVICE_METADATA", "syslog_with_osversion", release)
        assert price is not None and price.is_live is is_live
