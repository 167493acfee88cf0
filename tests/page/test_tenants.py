"""Tenants in the report: the verdict among the evidence, the matrix of who reaches whom, and colors on the picture."""

import json
from pathlib import Path

from playwright.sync_api import Browser

from benchmarks.tenants import write as write_large
from fabricgen.api import render
from fabricgen.bundle.read import open_bundle
from fabricgen.isolation import isolation
from fabricgen.page.html import html_page
from fabricgen.page.report import report_object
from fabricgen.page.verdict import JudgedResults
from fabricgen.resources import resource
from tests.conftest import Cli
from tests.inventories import write
from tests.isolation.test_tenants import edit, rented
from tests.page.browser import opened


def test_a_leak_is_in_its_cell(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """A port without the ACL of blue: blue reaches red, and all other pairs are as they should be."""
    render(write(tmp_path / "inventory", rented()), tmp_path / "bundle")
    edit(tmp_path / "bundle", lambda config: config["ACL_TABLE"]["TENANT_BLUE"]["ports"].remove("Ethernet4"))
    file, report = tmp_path / "report.json", tmp_path / "report.html"
    assert cli("report", tmp_path / "bundle", "--failures", "0", "--format", "json", "-o", file).code == 1
    whole = json.loads(file.read_text())
    assert whole["isolation"]["verdict"] == "leaks"
    report.write_text(html_page({**whole["report"], "tool": whole["tool"], "summary": whole["summary"]}))
    with opened(browser, report) as found:
        page = found.page
        assert "Not apart, proved" in page.locator(".evidence").inner_text()
        assert "PFC is shared by all tenants of a port" in page.locator(".not-judged").inner_text()
        rows = page.locator("#tenants tbody tr").all()
        cells = [[cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in rows]
        assert [row[0] for row in cells] == ["blue", "red", "store", "no tenant"]
        assert cells[0][1] == cells[1][2] == cells[0][3] == cells[2][1] == "all"
        assert cells[0][2].startswith("leak: ") and cells[0][4].startswith("leak: ")
        assert {cells[1][1], cells[1][4], cells[3][1], cells[3][4]} == {"none"}
        assert found.faults() == []


def test_the_picture_shows_one_tenant(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """Strips have the tenants of each leaf by their NICs; a chosen tenant fades the switches without its hosts."""
    render(write(tmp_path / "inventory", rented()), tmp_path / "bundle")
    report = tmp_path / "report.html"
    assert cli("report", tmp_path / "bundle", "--failures", "0", "-o", report).code == 0
    with opened(browser, report) as found:
        page = found.page
        assert page.get_by_role("button", name="Tenants", exact=True).get_attribute("aria-pressed") == "true"
        leaves = page.locator(".box.switch[aria-label*=leaf]").count()
        assert page.locator("#picture .strip").count() == (leaves / 2 + 1) * (3 + 4)  # of leaves, and of host boxes
        page.locator("#legend").get_by_role("button", name="store").click()
        assert page.locator(".box.touched").count() == leaves / 2
        assert page.locator("#picture .strip.t2").count() == leaves / 2 + 1
        page.locator(".box.touched").first.click()
        assert "blue 1, red 1, store 1, no tenant 1" in page.locator("#inspector").inner_text()
        page.get_by_role("button", name="Links", exact=True).click()
        assert page.locator("#picture .strip").count() == 0
        assert found.faults() == []


def test_partitions_of_infiniband(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    cli("report", resource("inventories", "infiniband"), "--failures", "0", "-o", report)
    with opened(browser, report) as found:
        assert found.page.locator("#tenants .card").count() == 2
        assert found.page.locator("#picture .strip").count() > 0
        assert found.faults() == []


def test_64_tenants_are_a_grid(browser: Browser, tmp_path: Path) -> None:
    """1,024 switches: the tenants need less than 10 kB of the page, and one of them is shown alone."""
    (tmp_path / "bundle").mkdir()
    write_large(tmp_path / "bundle", "acl")
    bundle = open_bundle([tmp_path / "bundle"])
    judged = JudgedResults((), isolation=isolation(bundle))
    content = report_object(judged, bundle, None, None, "large")
    assert len(json.dumps(content["tenants"])) < 20_000
    report = tmp_path / "report.html"
    report.write_text(html_page({**content, "tool": {"name": "fabricgen", "version": "0"}, "summary": {}}))
    with opened(browser, report) as found:
        page = found.page
        grid = page.locator("#tenants svg.matrix")
        assert "64 tenants: 64 pairs of tenants exchange packets, 0 wrong" in str(grid.get_attribute("aria-label"))
        assert grid.locator(".mark.reach").count() == 64
        page.locator("#legend").get_by_role("button", name="t5", exact=True).click()
        assert page.locator(".box.touched").count() == 8
        assert found.faults() == []


def test_a_fabric_without_tenants_has_no_section(rendered: Path, cli: Cli, tmp_path: Path) -> None:
    cli("report", rendered, "--format", "json", "--failures", "0", "-o", tmp_path / "report.json")
    whole = json.loads((tmp_path / "report.json").read_text())
    assert whole["report"]["tenants"] == []
    assert "Tenants" not in [cell["name"] for cell in whole["report"]["verdict"]["evidence"]]
    assert "isolation" not in whole
