"""Tables with a column for each fabric: whole in a pipe, in parts on a narrow terminal."""

import pytest

from fabricgen.report.columns import columns_text

TITLES = ["small", "large", "other"]
COLUMNS = [{"switches": "12", "cables": "1024"}, {"switches": "48"}, {"cables": "7"}]
WHOLE = """\
fabric    small  large  other
switches  12     48
cables    1024          7"""


@pytest.mark.parametrize("width", [0, 29, 200])
def test_a_table_that_fits_is_whole(width: int) -> None:
    assert columns_text(TITLES, COLUMNS, ["switches", "cables"], width) == WHOLE


@pytest.mark.parametrize(("width", "heads"), [
    (28, ["small  large", "other"]), (22, ["small  large", "other"]), (21, ["small", "large", "other"]),
    (1, ["small", "large", "other"]),
])  # fmt: skip
def test_columns_that_do_not_fit_follow_below(width: int, heads: list[str]) -> None:
    parts = columns_text(TITLES, COLUMNS, ["switches", "cables"], width).split("\n\n")
    assert [part.splitlines()[0].removeprefix("fabric").strip() for part in parts] == heads
    assert all([line.split()[0] for line in part.splitlines()[1:]] == ["switches", "cables"] for part in parts)
    if width > 15:
        assert max(len(line) for part in parts for line in part.splitlines()) <= width
