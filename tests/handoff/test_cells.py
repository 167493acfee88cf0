"""Tables of handoffs: no spreadsheet reads a cell as a formula."""

import csv
from io import StringIO

from hypothesis import example, given
from hypothesis import strategies as st

from fabricgen.visible import cell, may_have_formulas

CELLS = st.one_of(st.text("=+-@'\t\r\n,\"ab 1", max_size=4), st.integers(-2, 2), st.none())
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5)


def table(rows: list[list[object]]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


@given(ROWS)
@example([["a", "=1"]])
@example([["a-b", "c"], ["d", "\n"]])
def test_a_table_without_signs_has_the_cells_as_they_are(rows: list[list[object]]) -> None:
    safe = table([[cell(value) for value in row] for row in rows])
    assert may_have_formulas(table(rows)) or table(rows) == safe


def test_names_and_labels_are_no_formulas() -> None:
    assert not may_have_formulas(table([["leaf-00", "etp1a etp1b", 400, "R1 U2"], ["", "gpu/0/rail0", "2x400G", "3m"]]))
