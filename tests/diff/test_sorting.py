"""Numbers of changes and times of the real updater for changes of three leaves, and the limits of its search."""

import copy
from dataclasses import dataclass
from typing import Any

import pytest

from fabricgen.diff.changes import changes
from fabricgen.diff.price import Price, price, total
from fabricgen.diff.sorting import MOST_CHANGES, Generation, Sorting, generation_of, sorting
from tests.diff import measured
from tests.inventories import ARISTA, NVIDIA

Config = dict[str, Any]
GROUPED, SINGLE = 202605, 202505
ONE_CLASS = {"lossless": {"classes": {3: {"dscp": [26, 34]}}, "cnp": {"dscp": 48}}}
TWO_CLASSES = {"lossless": {"classes": {3: {"dscp": [26]}, 4: {"dscp": [34]}}, "cnp": {"dscp": 48}}}


@dataclass(frozen=True)
class Leaves:
    """The configurations, and that of L32 with one class."""

    by_name: dict[str, Config]
    one_class: Config


@pytest.fixture(scope="module")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Leaves:
    def leaf(name: str, platform: str, unit: int, **plane: Any) -> Config:
        return measured.render_leaf(tmp_path_factory.mktemp(name), platform, unit, **plane)

    return Leaves(
        {
            "L32": leaf("l32", ARISTA, 16, **TWO_CLASSES),
            "L64": leaf("l64", ARISTA, 32, **TWO_CLASSES),
            "N64": leaf("n64", NVIDIA, 32, **TWO_CLASSES),
        },
        leaf("one", ARISTA, 16, **ONE_CLASS),
    )


def sort(old: Config, new: Config, release: int) -> Sorting:
    return sorting(changes(old, new, release), old, new, release)


# Section 2: kind, leaf, edit, and for both generations the changes and the CPU seconds of the sorter; None: not
# measured. A range of seconds over several leaves has its ends at L32 and N64.
Measured = tuple[int, float] | None
ROWS: list[tuple[str, str, measured.Edit, Measured, Measured]] = [
    ("ECN", "L32", measured.ecn, (1, 0.4), None),
    ("ECN", "N64", measured.ecn, (1, 0.7), None),
    ("DSCP map", "L32", measured.dscp, (1, 0.2), (1, 0.2)),
    ("scheduler weight", "L32", measured.weight, (1, 0.2), (1, 0.2)),
    ("scheduler weight", "N64", measured.weight, (1, 0.4), None),
    ("neighbor out", "L32", measured.neighbor_out, (1, 0.2), (1, 0.2)),
    ("NTP and syslog", "L32", measured.ntp_and_syslog, (3, 0.3), (3, 0.5)),
    ("speed of 1 port", "L32", measured.speed(1), (1, 0.4), None),
    ("speed of 2 ports", "L32", measured.speed(2), (1, 0.4), None),
    ("speed of 4 ports", "L32", measured.speed(4), (1, 0.6), (4, 0.8)),
    ("MTU", "L32", measured.every("PORT", mtu="9000"), (1, 7.6), (130, 25)),
    ("MTU", "L64", measured.every("PORT", mtu="9000"), (1, 9.9), (130, 45)),
    ("watchdog", "L32", measured.watchdog, (1, 3.8), (65, 15)),
    ("watchdog", "L64", measured.watchdog, (1, 11), (129, 57)),
    ("remove a host", "L32", measured.remove_host, (12, 5.6), (22, 10)),
    ("remove a host", "L64", measured.remove_host, (12, 8.5), (22, 21)),
    ("remove a host", "N64", measured.remove_host, (14, 11.5), None),
    ("4 to 8 spines", "L32", measured.rename_sessions, (18, 4.1), None),
    ("ASN", "L32", measured.asn, (18, 2.0), (32, 83)),
    ("ASN", "L64", measured.asn, (34, 6.3), None),
    ("cable of 1", "L32", measured.cable(1), (4, 1.1), (4, 1.1)),
    ("cable of 2", "L32", measured.cable(2), (7, 1.8), (8, 2.8)),
    ("cable of 4", "L32", measured.cable(4), (13, 4.5), (16, 8.5)),
    ("cable of 8", "L32", measured.cable(8), (25, 12), (32, 29)),
    ("cable of 16", "L64", measured.cable(16), (49, 66), None),
    ("cable of 16, old profile leaves", "L32", measured.cable(16, old_leaves=True), (54, 58), None),
    ("cable of 32", "N64", measured.cable(32), (1, 2.8), None),
]  # fmt: skip


def assert_equal(found: Sorting, expected: tuple[int, float]) -> None:
    number, cpu_s = expected
    assert found.changes == number
    factor = 3 if cpu_s > 60 else 2
    assert cpu_s / factor <= price(found).cpu_seconds <= cpu_s * factor


@pytest.mark.parametrize(("kind", "name", "edit", "grouped", "single"), ROWS)
def test_section_2(
    kind: str, name: str, edit: measured.Edit, grouped: Measured, single: Measured, leaves: Leaves
) -> None:
    old = leaves.by_name[name]
    new = measured.edited(old, edit)
    for release, expected in ((GROUPED, grouped), (SINGLE, single)):
        if expected is not None:
            assert_equal(sort(old, new, release), expected)


@pytest.mark.parametrize(
    ("name", "grouped", "single"),
    [("L32", (12, 1.3), (22, 3.1)), ("L64", (12, 2.3), (22, 7.1)), ("N64", (14, 2.8), None)],
)
def test_adding_a_host(name: str, grouped: tuple[int, float], single: Measured, leaves: Leaves) -> None:
    new = leaves.by_name[name]
    old = measured.edited(new, measured.remove_host)
    assert_equal(sort(old, new, GROUPED), grouped)
    if single:
        assert_equal(sort(old, new, SINGLE), single)


@pytest.mark.parametrize(
    ("ports", "grouped", "single"),
    [(1, (9, 3.4), (12, 4.4)), (2, (20, 15), (24, 19)), (4, (42, 63), (48, 80)), (8, (86, 238), None)],
)
def test_classes_of_some_ports(ports: int, grouped: tuple[int, float], single: Measured, leaves: Leaves) -> None:
    old = leaves.by_name["L32"]
    new = measured.edited(old, measured.classes(leaves.one_class, ports))
    assert_equal(sort(old, new, GROUPED), grouped)
    if single:
        assert_equal(sort(old, new, SINGLE), single)


def test_patches_that_the_updater_does_not_sort(leaves: Leaves) -> None:
    old = leaves.by_name["L32"]
    for release in (GROUPED, SINGLE):
        problem = sort(old, leaves.one_class, release).problem
        assert problem == "32 ports that are up have 7 changes each: the updater does not find an order"
        four = measured.edited(old, measured.classes(leaves.one_class, 4))
        eight = measured.edited(old, measured.classes(leaves.one_class, 8))
        assert sort(old, four, release).problem == "" and sort(old, eight, release).problem
    assert "14 sessions" in sort(old, measured.edited(old, measured.rename_sessions), SINGLE).problem


def test_memory_of_the_leak(leaves: Leaves) -> None:
    """Grouped: 0.28, 1.1 and 4.4 GB for 2, 4 and 8 ports."""
    old = leaves.by_name["L32"]
    for ports, measured_mb in ((2, 280), (4, 1100), (8, 4400)):
        new = measured.edited(old, measured.classes(leaves.one_class, ports))
        assert measured_mb / 2 <= price(sort(old, new, GROUPED)).megabytes <= measured_mb * 2
        assert price(sort(old, new, SINGLE)).megabytes <= 110


def test_the_recursion_limit() -> None:
    def rows(number: int) -> Config:
        return {"LOGGER": {f"c{n}": {"LOGLEVEL": "INFO"} for n in range(number)}}

    for number in (MOST_CHANGES - 2, MOST_CHANGES):
        found = sort(rows(1), rows(number + 1), SINGLE)
        assert found.changes == number and bool(found.problem) == (number >= MOST_CHANGES)
        assert sort(rows(1), rows(number + 1), GROUPED) == Sorting(Generation.GROUPED, 1, 0, 0, 1)


def test_generations() -> None:
    assert generation_of(202511) is Generation.ONE_BY_ONE
    assert generation_of(202605) is generation_of(209912) is Generation.GROUPED


def test_the_first_row_of_a_table_opens_it() -> None:
    old: Config = {"VLAN": {"Vlan1": {}}}
    for number, groups in ((1, 1), (2, 2), (3, 2)):
        new = old | {"LOGGER": {f"c{n}": {"LOGLEVEL": "INFO"} for n in range(number)}}
        assert sort(old, new, GROUPED).changes == groups and sort(old, new, SINGLE).changes == number
        assert sort(new, old, GROUPED).changes == 1


def test_the_price_of_several_patches() -> None:
    one, other = Price(1, 2.5, (10, 20), 300), Price(4, 0.5, (1, 2), 110)
    assert total([one, other]) == Price(5, 3.0, (11, 22), 300)
    assert total([]) == Price(0, 0, (0, 0), 0)


def test_all_sessions_of_a_table_and_some(leaves: Leaves) -> None:
    old = leaves.by_name["L32"]
    some = copy.deepcopy(old)
    for row in list(some["BGP_NEIGHBOR"].values())[:5]:
        row["asn"] = "65000"
    assert (sort(old, some, GROUPED).changes, sort(old, some, SINGLE).changes) == (6, 10)
