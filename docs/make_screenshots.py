"""Take the pictures of docs/screenshots in Chromium, from a report with at least one error.

    fabricgen report build --pattern permutation --pattern incast --output report.html
    python docs/make_screenshots.py report.html

`build` is the bundle of the quickstart with the three edits of `broken` in tests/page/test_browser.py.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent / "screenshots"
SIZE = {"width": 1280, "height": 800}


def main(report: Path) -> None:
    """Write report.png, the top of the page, and switch.png, the first switch with an error in dark colors."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(report.resolve().as_uri())
        page.screenshot(path=FOLDER / "report.png")
        page = browser.new_page(viewport=SIZE, color_scheme="dark")
        page.goto(report.resolve().as_uri())
        page.locator(".box.switch.error").first.click()
        page.locator("#topology").evaluate("element => element.scrollIntoView()")
        page.screenshot(path=FOLDER / "switch.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
