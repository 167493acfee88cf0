"""A report in a real browser: what is wrong with it is collected while a test uses it."""

import importlib.resources
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page


@dataclass
class Opened:
    """A page with the errors of its console, and all addresses that it requested."""

    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """The rules of axe of any grade that the page breaks in light or in dark colors, with the first element."""
        script = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
        self.page.evaluate(script)
        chosen = self.page.evaluate("document.documentElement.dataset.theme")
        found: list[str] = []
        for theme in ("light", "dark"):
            self.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
            self.page.wait_for_timeout(150)  # until transitions of colors have ended
            broken: list[dict[str, Any]] = self.page.evaluate("axe.run().then(result => result.violations)")
            found += [f"{theme}: {one['id']}: {one['nodes'][0]['html'][:160]}" for one in broken]
        self.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", chosen)
        return found

    def content(self) -> dict[str, Any]:
        """The content of the page."""
        found: dict[str, Any] = self.page.evaluate("JSON.parse(document.getElementById('content').textContent)")
        return found


@contextmanager
def opened(browser: Browser, report: Path, *, width: int = 1280, theme: str = "light") -> Iterator[Opened]:
    """The report in a new page. On leaving, it has no error in its console and has loaded nothing."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)  # type: ignore[arg-type]
    found = Opened(context.new_page())
    page = found.page
    page.on("console", lambda message: found.problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.problems.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(report.as_uri())
    try:
        yield found
        assert found.problems == []
        assert [one for one in found.requests if one != report.as_uri()] == []
    finally:
        context.close()
