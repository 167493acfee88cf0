"""The documentation as a site: it builds, every link has a target, and its search works in a real browser."""

import importlib.resources
import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, sync_playwright

from docs.make_site import BASE, PROJECT, navigation, pages_of
from docs.site_links import dead_links
from docs.site_reference import commands_page, keys_page
from fabricgen import __version__
from fabricgen.cli.main import main
from fabricgen.inventory.schema import inventory_schema
from fabricgen.report.pages import pages


def test_every_link_has_a_target(site: Path) -> None:
    assert dead_links(site, BASE) == []


@pytest.mark.parametrize(
    ("link", "is_dead"),
    [
        ("tutorial/", False),
        ("tutorial/#grow", False),
        ("tutorial/#shrink", True),
        ("no-page/", True),
        ("../outside/", True),
        ("#no-heading", True),
        ("assets/none.png", True),
        ("https://example.org/", False),
    ],
)
def test_a_dead_link_or_anchor_is_found(tmp_path: Path, link: str, is_dead: bool) -> None:
    (tmp_path / "tutorial").mkdir()
    (tmp_path / "tutorial" / "index.html").write_text('<h2 id="grow">Grow</h2>')
    (tmp_path / "index.html").write_text(f'<a href="{link}">x</a>')
    found = [one for one in dead_links(tmp_path, BASE) if one.startswith("index.html")]
    assert found == ([f"index.html: {link}"] if is_dead else [])


def test_pages_of_the_navigation_exist(site: Path) -> None:
    for page in pages_of(navigation()):
        name = page.removesuffix(".md").removesuffix("index").removesuffix("README")
        assert (site / name / "index.html").is_file(), page


def test_the_navigation_leads_to_them(site: Path) -> None:
    """From the home page, over links of the navigation only: each page shows its own section open."""
    found: set[Path] = set()
    new = [site / "index.html"]
    while new:
        file = new.pop()
        found.add(file)
        links = re.findall(r'<a href="([^"#]*)"\s+class="md-nav__link', file.read_text("utf-8"))
        targets = {(file.parent / link / "index.html").resolve() for link in links}
        new += targets - found - {*new}
    for page in pages_of(navigation()):
        name = page.removesuffix(".md").removesuffix("index").removesuffix("README").strip("/")
        assert site / name / "index.html" in found, page


def test_every_code_has_a_page_with_headings(site: Path) -> None:
    for code, one in pages().items():
        html = (site / "rules" / code / "index.html").read_text("utf-8")
        assert [part for part in one.parts if f'<h2 id="{part.lower()}">' not in html] == [], code


def test_the_reference_has_every_verb_and_every_key() -> None:
    commands, keys = commands_page(), keys_page()
    assert all(f"## fabricgen {name}\n" in commands for name in main.list_commands(None))  # type: ignore[arg-type]
    schema = inventory_schema()
    named = [*schema["properties"], *schema["$defs"]["plane"]["properties"], "scalable_unit.planned", "ecn.min"]
    assert [key for key in named if f"`{key}`" not in keys] == []


def test_the_site_in_a_browser(address: str, chromium: str, tmp_path: Path) -> None:
    """The home page, a figure, and a search that leads to a page. Nothing is loaded from another host."""
    problems: list[str] = []
    requests: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(f"{address}/")
            assert page.locator("h1").first.inner_text().startswith("fabricgen")
            _search(page, "dynamic_th shared alpha", "shared")
            _search(page, "FG513", "FG513")
            footer = page.locator("footer")
            assert __version__ in footer.inner_text()
            link = footer.get_by_role("link", name="Repository")
            assert link.get_attribute("href") == PROJECT
            _dark(page)
            page.goto(f"{address}/tour/")
            block = page.locator(".language-console", has_text="explain build").first
            page.context.grant_permissions(["clipboard-read", "clipboard-write"])
            block.hover()
            block.get_by_title("Copy to clipboard").click()
            page.get_by_text("Copied to clipboard").wait_for()
            copied = page.evaluate("navigator.clipboard.readText()").splitlines()
            assert len(copied) == 3 and all(line.startswith("fabricgen explain build ") for line in copied)
            page.goto(f"{address}/how-lossless-works/")
            images = page.locator("article img")
            assert images.count() == 4
            for index in range(4):
                assert images.nth(index).evaluate("image => image.naturalWidth") > 0
        finally:
            browser.close()
    assert problems == []
    assert [url for url in requests if not url.startswith((address, "data:", "blob:"))] == []


def _dark(page: Page) -> None:
    """The button of the colors makes the page dark."""
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_title("Use dark colors").click()
    assert page.evaluate(background) != light
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"


def _search(page: Page, words: str, expected: str) -> None:
    """Type in the search, and open the first result: its page has the expected word."""
    before = page.url
    page.locator(".md-search__button").click()
    field = page.get_by_placeholder("Search")
    field.fill(words)
    page.get_by_text(re.compile(r"[1-9]\d* results?$")).wait_for()
    field.press("Enter")
    page.wait_for_url(lambda url: url != before)
    page.locator("article").wait_for()
    assert expected in page.locator("article").inner_text()


JUDGED = ["", "tour/", "tutorial/", "reference/inventory-keys/", "findings/", "rules/FG519/", "designs/", "changelog/"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_complaint(scheme: Literal["light", "dark"], address: str, chromium: str) -> None:
    """Eight kinds of pages in both color schemes, by the rules of axe of any grade."""
    script = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            page = browser.new_page(
                color_scheme=scheme, viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
            )
            for name in JUDGED:
                page.goto(f"{address}/{name}")
                page.wait_for_timeout(300)  # until the theme has completed the page
                page.evaluate(script)
                broken = page.evaluate("axe.run().then(result => result.violations)")
                found += [f"{name or 'home'}: {one['id']}: {one['nodes'][0]['html'][:200]}" for one in broken]
        finally:
            browser.close()
    assert found == []
