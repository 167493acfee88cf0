"""Tables with a column for each of several things, and rows by name."""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, zip_longest

_GAP = 2
_USUAL = 100  # columns of a table in a pipe, if its titles can be wrapped to fit
_PIECE = re.compile(r"[^-]+-*|-+")  # of a title; a line may end behind it


def columns_text(
    titles: Sequence[str], columns: Sequence[Mapping[str, str]], names: Sequence[str], width: int = 0
) -> str:
    """The table in columns of equal width. Long titles are wrapped where the table would be too wide. On a terminal of
    `width` characters, 0 for none, columns that do not fit follow as another table below."""
    rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
    cells = [["fabric", *titles], *rows]
    widths = [max(map(len, row)) for row in zip(*cells, strict=True)]
    if sum(widths) + _GAP * len(titles) > (width or _USUAL):
        heads = [_wrapped(title, max(len(row[i]) for row in rows)) for i, title in enumerate(titles, 1)] if rows else []
        cells = [*map(list, zip_longest(["fabric"], *heads, fillvalue="")), *rows] if rows else cells
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


def _wrapped(title: str, width: int) -> list[str]:
    """The title in lines of at most `width` characters, except single pieces that are longer."""
    lines = [""]
    for piece in _PIECE.findall(title):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return lines


def columns_markdown(titles: Sequence[str], columns: Sequence[Mapping[str, str]], names: Sequence[str]) -> str:
    """The table for a pull request."""
    head = ["| |" + "".join(f" {title} |" for title in titles), "|---|" + "---|" * len(titles)]
    rows = (f"| {name} |" + "".join(f" {column.get(name, '')} |" for column in columns) for name in names)
    return "\n".join([*head, *rows])
