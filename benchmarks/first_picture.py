"""The time from opening a report to its first picture, in Chromium: the best and the median of several openings.

    python -m benchmarks.first_picture report.html ...

The page paints once: its script draws everything before the first paint.
"""

import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

OPENINGS = 9
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def paint_ms(browser: Browser, report: Path) -> float:
    """The first contentful paint of a new page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
    page.goto(report.resolve().as_uri())
    found = page.wait_for_function(_PAINT).json_value()
    page.close()
    return float(found)


def main(reports: list[str]) -> None:
    """Print a line for each report."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for report in map(Path, reports):
            times = [paint_ms(browser, report) for _ in range(OPENINGS)]
            size = report.stat().st_size / 1e6
            print(f"{report}: {size:.2f} MB, best {min(times):.0f} ms, median {statistics.median(times):.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
