"""docs/rules: a page for each code; that of a rule has a bad case and what `fabricgen validate` prints for it.

python docs/make_rule_pages.py

The pages travel inside the wheel: `fabricgen explain CODE` prints them.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

FOLDER = Path(__file__).with_name("rules")
sys.path.insert(0, str(FOLDER.parents[1]))

from fabricgen.report.formats.text import text_report  # noqa: E402
from fabricgen.report.pages import pages as pages_of_codes  # noqa: E402
from fabricgen.report.summary import Counts  # noqa: E402
from tests.rules.case import SWITCHES, Case, Switches  # noqa: E402
from tests.rules.changes import described  # noqa: E402
from tests.rules.test_cases import CASES  # noqa: E402


def pages() -> Mapping[str, str]:
    """Code -> text of the page. Of the cases of a rule, the first one without a special fabric is shown."""
    shown: dict[str, Case] = {}
    for case in sorted(CASES, key=_is_special):
        shown.setdefault(case.code, case)
    return {
        code: one.document + (_bad_case(shown[code]) if code in shown else "") for code, one in pages_of_codes().items()
    }


def _is_special(case: Case) -> tuple[bool, bool]:
    return (isinstance(case.clean, Switches) and case.clean != SWITCHES, case.lenient)


def _bad_case(case: Case) -> str:
    change = "\n".join(f"    {line}" for line in described(case.change).splitlines())
    subject = "a correct fabric" if isinstance(case.clean, Switches) else "correct files"
    printed = "".join(f"    {line}".rstrip() + "\n" for line in _printed(case).splitlines())
    return f"\n## Bad case\n\nA change of {subject},\n\n{change}\n\nfor which `fabricgen validate` prints\n\n{printed}"


def _printed(case: Case) -> str:
    with _empty_folder():
        finding = case.found(case.findings(Path(), (case.code,)))
        report = text_report([finding], Counts())
    return report.rstrip().rpartition("\n\n")[0]  # without the summary


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    """Work in a temporary folder, so that places are relative."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def write() -> None:
    """Write all pages and remove those of codes that are gone."""
    FOLDER.mkdir(exist_ok=True)
    found = pages()
    for code, text in found.items():
        (FOLDER / f"{code}.md").write_text(text, encoding="utf-8")
    for file in FOLDER.glob("FG*.md"):
        if file.stem not in found:
            file.unlink()


if __name__ == "__main__":
    write()
