"""Which prefixes a route map of the management framework lets pass."""

from typing import Any

import pytest

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.policy import is_open, longest_wider, passes

DEFAULT, HOSTS, SIX = "0.0.0.0/0", "10.64.0.32/27", "::/0"
SETS = {"some": {"mode": "IPv4"}, "own": {"mode": "IPv4"}, "six": {"mode": "IPv6"}, "any": {"mode": "IPv4"}}
PREFIXES: dict[str, dict[str, str]] = {
    "some|0.0.0.0/0|exact": {"action": "permit"},
    "some|10.0.0.0/8|8..27": {"action": "permit"},
    "own|10|10.64.0.0/24|24..32": {"action": "deny"},
    "own|20|10.64.0.0/10|10..32": {"action": "permit"},
    "six|::/0|exact": {},
    "any|0.0.0.0/0|0..32": {"action": "permit"},
}


def entry(operation: str, **conditions: str) -> dict[str, str]:
    return {"route_operation": operation, **conditions}


def config(*entries: dict[str, str]) -> Any:
    rows = {f"M|{number}": row for number, row in zip((20, 100, 3), entries, strict=False)}
    return {"PREFIX_SET": SETS, "PREFIX": PREFIXES, "ROUTE_MAP": rows}


def address(text: str) -> Address:
    found = parse_address(text)
    assert found
    return found


@pytest.mark.parametrize(
    ("entries", "passing"),
    [
        ([], []),
        ([entry("permit")], [DEFAULT, HOSTS, SIX]),
        ([entry("deny")], []),
        ([entry("permit", match_prefix_set="some")], [DEFAULT, HOSTS]),
        ([entry("permit", match_prefix_set="six")], [SIX]),
        ([entry("permit", match_prefix_set="own")], []),  # its first entry denies these hosts
        ([entry("permit", match_prefix_set="nowhere")], [DEFAULT, HOSTS, SIX]),  # then the condition is not written
        ([entry("deny", match_prefix_set="some"), entry("permit")], [SIX]),
        ([entry("permit"), entry("permit"), entry("deny", match_prefix_set="some")], [SIX]),  # 3 comes before 20
        ([entry("permit", match_community="c")], [DEFAULT, HOSTS, SIX]),  # it may match
        ([entry("deny", match_community="c"), entry("permit")], [DEFAULT, HOSTS, SIX]),  # it may not
    ],
)
def test_what_passes(entries: list[dict[str, str]], passing: list[str]) -> None:
    found = [text for text in (DEFAULT, HOSTS, SIX) if passes(config(*entries), ["M"], address(text))]
    assert found == passing


def test_lengths_count() -> None:
    some = config(entry("permit", match_prefix_set="some"))
    assert passes(some, ["M"], address("10.64.0.0/27")) and not passes(some, ["M"], address("10.64.0.0/28"))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([], False),
        ([entry("permit")], True),
        ([entry("deny")], False),
        ([entry("permit", match_prefix_set="some")], False),
        ([entry("deny", match_prefix_set="own"), entry("permit", match_prefix_set="any")], True),
    ],
)
def test_whether_nothing_is_filtered(entries: list[dict[str, str]], expected: bool) -> None:
    assert is_open(config(*entries), ["M"]) is expected
    assert not is_open(config(*entries), [])


@pytest.mark.parametrize(
    ("entries", "longest"),
    [
        ([], None),
        ([entry("permit")], 26),
        ([entry("permit", match_prefix_set="some")], 26),
        ([entry("permit", match_prefix_set="own")], 23),  # its first entry denies from /24 on
        ([entry("permit", match_prefix_set="six")], None),
        ([entry("deny", match_prefix_set="some"), entry("permit", match_prefix_set="any")], 7),
        ([entry("deny", match_prefix_set="any"), entry("permit")], None),
    ],
)
def test_the_longest_wider_prefix(entries: list[dict[str, str]], longest: int | None) -> None:
    assert longest_wider(config(*entries), ["M"], address(HOSTS)) == longest
    every = [n for n in range(27) if passes(config(*entries), ["M"], address(HOSTS).widened(n))]
    assert longest == max(every, default=None)
