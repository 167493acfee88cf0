"""Tables with a column for each of several things, and rows by name."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

_GAP = 2


def columns_text(
    titles: Sequence[str], columns: Sequence[Mapping[str, str]], names: Sequence[str], width: int = 0
) -> str:
    """The table in columns of equal width. On a terminal of `width` characters, 0 for none, columns that do not fit
    follow as another table below."""
    cells = [["fabric", *titles], *([name, *(column.get(name, "") for column in columns)] for name in names)]
    widths = [max(map(len, row)) for row in zip(*cells, strict=True)]
    ends = [end - _GAP for end in accumulate(one + _GAP for one in widths)]
    fitting = max(1, sum(end <= width for end in ends[1:])) if width else len(titles)
    text = "\n".join(
        (" " * _GAP).join(f"{text:<{one}}" for text, one in zip(row[: fitting + 1], widths, strict=False)).rstrip()
        for row in cells
    )
    if fitting >= len(titles):
        return text
    return f"{text}\n\n{columns_text(titles[fitting:], columns[fitting:], names, width)}"


def columns_markdown(titles: Sequence[str], columns: Sequence[Mapping[str, str]], names: Sequence[str]) -> str:
    """The table for a pull request."""
    head = ["| |" + "".join(f" {title} |" for title in titles), "|---|" + "---|" * len(titles)]
    rows = (f"| {name} |" + "".join(f" {column.get(name, '')} |" for column in columns) for name in names)
    return "\n".join([*head, *rows])
