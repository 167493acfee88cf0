"""The pages of all codes, in the parts that formats for machines show."""

import inspect
import re
from dataclasses import dataclass
from functools import cache

from fabricgen.codes import codes
from fabricgen.findings import Severity

_SECTION = re.compile(r"^(What|Why|Example|Fix|Source): ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """`severity` is the usual one of a rule, None for a code that says it with each finding."""

    code: str
    title: str
    what: str
    text: str
    severity: Severity | None = None

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
        found[code] = Page(code, entry["title"].capitalize(), entry["what"], text)
    for rule in all_rules():
        text = inspect.getdoc(rule.check) or rule.title
        what = " ".join(text.partition("\n\n")[0].removeprefix("What: ").split())
        found[rule.code] = Page(rule.code, rule.title, what, text, rule.severity)
    return found


def page(code: str) -> Page:
    """The page of a code; of one that has none, the code itself."""
    return pages().get(code) or Page(code, code, code, code)
