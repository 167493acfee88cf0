"""What a hint says, as an edit: one value, a near name, or a line to remove."""

import pytest

from fabricgen.lsp.fixes import fixes
from fabricgen.lsp.server import _end_of_brackets

TEXT = """\
planes:
  compute:
    design: rail-optimised
    bfd: yes
    leaf: {platform: "nvidia-sn560", count: 3}
    spine:
      count: 2
    rows:
      - bfd: yes
"""


def applied(hint: str, marked: str) -> str | None:
    """The text after the fix of a hint for the first place of a word; None without a fix."""
    rows = TEXT.split("\n")
    line = next(number for number, row in enumerate(rows) if marked in row)
    start = rows[line].index(marked)
    found = list(fixes(hint, rows, line, start, start + len(marked)))
    if not found:
        return None
    (one,) = found
    head, tail = rows[one.start[0]][: one.start[1]], rows[one.end[0]][one.end[1] :]
    return "\n".join([*rows[: one.start[0]], head + one.new + tail, *rows[one.end[0] + 1 :]])


@pytest.mark.parametrize(
    ("hint", "marked", "before", "after"),
    [
        ("did you mean 'rail-optimized'?", "rail-optimised", "rail-optimised", "rail-optimized"),
        ("did you mean nvidia-sn5600?", '"nvidia-sn560"', '"nvidia-sn560"', '"nvidia-sn5600"'),
        ("known: compute", "rows", "rows", "compute"),
        ("use 4", "3", "count: 3", "count: 4"),
        ("write 1.5", "yes", "bfd: yes", "bfd: 1.5"),
        ("use `design: torus`", "rail-optimised", "design: rail-optimised", "design: torus"),
        ("remove it", "bfd", "    bfd: yes\n", ""),
    ],
)
def test_a_hint_with_one_value_has_a_fix(hint: str, marked: str, before: str, after: str) -> None:
    assert applied(hint, marked) == TEXT.replace(before, after, 1)


@pytest.mark.parametrize(
    ("hint", "marked"),
    [
        ("did you mean 'a' or 'b'?", "rail-optimised"),
        ("known: compute, storage", "rows"),
        ("use 1 to 4", "3"),
        ("set `bgp: unnumbered`, or remove `bfd`", "bfd"),
        ("remove it, or remove `mlnx_sm`", "bfd"),
        ("remove it", "spine"),  # with the lines below it
        ("remove it", "platform"),  # inside brackets
        ("use a unique name", "rows"),
        ("did you mean 'x'?", "{platform"),
        ("use `bgp: unnumbered`", "rail-optimised"),  # a key of another line
    ],
)
def test_other_hints_have_none(hint: str, marked: str) -> None:
    assert applied(hint, marked) is None


@pytest.mark.parametrize(
    ("row", "marked"),
    [
        ("a: {b: [1, 2], c: '}'} # {", "{b: [1, 2], c: '}'}"),
        ("a: [1, 2], b: 3", "[1, 2]"),
        ("a: {b: 1,", "{b: 1,"),
    ],
)
def test_brackets_are_marked_with_what_they_contain(row: str, marked: str) -> None:
    start = min(row.index(one) for one in "[{" if one in row)
    assert row[start : _end_of_brackets(row, start)] == marked
