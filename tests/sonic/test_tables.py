"""The grammar of keys, priorities and ranges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.sonic.tables import format_ranges, parse_priorities, split_key


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("Ethernet0", ["Ethernet0"]),
        ("Ethernet0|3-4", ["Ethernet0", "3-4"]),
        ("default|fc00::1|ipv6_unicast", ["default", "fc00::1", "ipv6_unicast"]),
        ("", [""]),
    ],
)
def test_split_key(key: str, parts: list[str]) -> None:
    assert split_key(key) == parts


@pytest.mark.parametrize(
    ("text", "priorities"),
    [("3,4", {3, 4}), ("3-4", {3, 4}), ("", set()), ("3", {3}), ("0-2,6", {0, 1, 2, 6}), ("x,4", {4}), ("3;4", set())],
)
def test_parse_priorities(text: str, priorities: set[int]) -> None:
    assert parse_priorities(text) == priorities


@pytest.mark.parametrize(
    ("numbers", "ranges"), [({3, 4}, ["3-4"]), ({3, 4, 6}, ["3-4", "6"]), (set(), []), ({0, 2, 1, 7}, ["0-2", "7"])]
)
def test_format_ranges(numbers: set[int], ranges: list[str]) -> None:
    assert format_ranges(numbers) == ranges


@given(st.frozensets(st.integers(0, 15)))
def test_ranges_read_back(numbers: frozenset[int]) -> None:
    assert parse_priorities(",".join(format_ranges(numbers))) == numbers


@given(st.text(max_size=20))
def test_priorities_of_any_text(text: str) -> None:
    assert all(isinstance(priority, int) for priority in parse_priorities(text))
