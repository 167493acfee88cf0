"""No text reaches the recursive composer of PyYAML with more levels than it can hold: that would end the process."""

from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.errors import UnreadableInputError
from fabricgen.plain_yaml import MAX_DEPTH, Loader, load_yaml


def _rows(separator: str, start: str) -> str:
    return separator.join(" " * depth + start for depth in range(3 * MAX_DEPTH))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + "- " * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "- ? " * 100_000,
        "[ ']',\n" * 100_000,
        "[ x, # ]\n" * 100_000,
        "x]: [\n" + "[" * 100_000,
        '{"}": ' * 100_000,
        _rows("\n", "a:"),
        _rows("\n", "-"),
        _rows("\r", "a:"),
        _rows("\u2028", "-"),
        _rows("\x85", "a:"),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_deep_text_is_refused(text: str) -> None:
    with pytest.raises(UnreadableInputError):
        load_yaml(text, "file")


PIECES = ("- ", "? ", ": ", "a: ", "[", "]", "{", "}", "'", '"', "#", "\n", "\n ", "\n  ", "\r", "\u2028", "\ufeff",
          "!<]> ", "&a ", "|\n", ", ", "x", "\t", "--- ", "... ", "%")  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.integers(1, 4 * MAX_DEPTH), st.text("-? [", max_size=4))
def test_no_text_is_deeper_than_the_limit(pieces: list[str], repeat: int, start: str) -> None:
    text = start + "".join(pieces) * repeat
    depth = deepest = 0
    with suppress(yaml.YAMLError, ValueError):
        for event in yaml.parse(text, Loader=Loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        with pytest.raises(UnreadableInputError):
            load_yaml(text, "file")
