"""The pages of all codes, as the formats for programs show them."""

import inspect
import re
from dataclasses import dataclass
from functools import cache

from fabricgen.codes import codes
from fabricgen.findings import Severity

PROJECT = "https://github.com/fabricgen/fabricgen"
_RELEASE = re.compile(r"\d+(\.\d+)*")
_SECTION = re.compile(r"^(What|Why|Example|Fix|Source): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """`severity` is the usual one of a rule; None for a code whose findings differ in severity. `file` is the page in
    the documentation, "" for a rule of another package."""

    code: str
    title: str
    what: str
    text: str
    severity: Severity | None = None
    file: str = ""

    def url(self, version: str) -> str:
        """The address of the page in a version of the project; "" if it has none."""
        branch = f"v{version}" if _RELEASE.fullmatch(version) else "main"
        return f"{PROJECT}/blob/{branch}/{self.file}" if self.file else ""

    @property
    def markdown(self) -> str:
        """The page with its headings in bold."""
        return _SECTION.sub(r"**\1.** ", self.text)


@cache
def pages() -> dict[str, Page]:
    """Every code that a finding can have."""
    from fabricgen.rules.registry import all_rules

    found = {}
    for code, entry in codes().items():
        text = f"What: {entry['what']}\n\nFix: {entry['fix']}"
        found[code] = Page(code, entry["title"], entry["what"], text, file="docs/findings.md")
    for rule in all_rules():
        text = inspect.getdoc(rule.check) or rule.title
        what = " ".join(text.partition("\n\n")[0].removeprefix("What: ").split())
        file = f"docs/rules/{rule.code}.md" if rule.check.__module__.startswith("fabricgen.") else ""
        found[rule.code] = Page(rule.code, rule.title, what, text, rule.severity, file)
    return found


def page(code: str) -> Page:
    """The page of a code. A code without a page has itself as title and text."""
    return pages().get(code) or Page(code, code, code, code)
