"""Wrapped lines: the same words in the same order, no line over the width, hanging lines below the text."""

from hypothesis import given
from hypothesis import strategies as st

from fabricgen.report.wrapping import room, wrapped

WORDS = st.lists(st.text("abcÄ語=-", min_size=1, max_size=8), min_size=1, max_size=30)


@given(words=WORDS, indent=st.integers(0, 6), gap=st.sampled_from(["", "  ", "   "]), width=st.integers(30, 60))
def test_words_stay_whole_and_in_order(words: list[str], indent: int, gap: str, width: int) -> None:
    line = " " * indent + "label" + gap + " ".join(words)
    found = wrapped(line, width)
    assert found.split() == line.split()
    assert all(room(part) <= width for part in found.split("\n"))
    if room(line) <= width:
        assert found == line


def test_hanging_lines_begin_below_the_text() -> None:
    assert (
        wrapped("deadlock  plane compute is free of cycles", 30)
        == "deadlock  plane compute is\n          free of cycles"
    )
    assert (
        wrapped("   help: set the mtu of the port to 9000", 30) == "   help: set the mtu of the\n         port to 9000"
    )
    assert wrapped("one two three four five six seven", 24) == "one two three four five\n    six seven"
    assert wrapped("a line that would wrap", 0) == "a line that would wrap", "a pipe"


def test_a_path_breaks_after_a_step_and_only_if_it_is_longer_than_a_line() -> None:
    path = "a/folder/with/a/long/name/and/a/file.json"
    assert wrapped(f"see {path}", 30) == "see\n    a/folder/with/a/long/name/\n    and/a/file.json"
    assert wrapped("x" * 50, 30) == "x" * 50, "a word without a joint"


def test_colors_take_no_room() -> None:
    line = "\x1b[31merror FG512\x1b[0m  the text of it"
    assert wrapped(line, 27) == line
