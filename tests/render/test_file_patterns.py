"""A file from the pattern of its forms has the same bytes as one that is stamped and written row by row."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.render.file_patterns import FilePatterns, _fixed_order
from fabricgen.render.formed import FormedSwitch
from fabricgen.render.plans import Plans, make_plans
from fabricgen.render.switches import SwitchRenderer
from fabricgen.render.templates import TemplateLibrary, TemplateProblemError
from fabricgen.resources import resource
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.dump import dump
from tests.examples import examples
from tests.inventories import DUAL_STACK, rail_optimized, write


def renderer_of(plans: Plans) -> SwitchRenderer:
    library = TemplateLibrary("sonic")
    return SwitchRenderer(plans.rendered, plans.allocation, plans.control, plans.planner, library, plans.cordons)


def formed_of(plans: Plans, renderer: SwitchRenderer) -> Sequence[FormedSwitch]:
    return [formed for switch in plans.rendered.switches if (formed := renderer.formed(switch))]


@pytest.mark.parametrize("bgp", ["numbered", "unnumbered"])
def test_equal_bytes_for_all_switches(tmp_path: Path, bgp: str) -> None:
    tree = rail_optimized(bgp=bgp, addressing=DUAL_STACK)
    plans = make_plans(write(tmp_path, tree))
    renderer = renderer_of(plans)
    patterns = FilePatterns(lambda formed: renderer.stamped(formed).tables)
    formed = formed_of(plans, renderer)
    found = [patterns.content(one) for one in formed]
    assert sum(one is not None for one in found) > len(found) // 2, "switches with equal forms share a pattern"
    for one, content in zip(formed, found, strict=True):
        assert content in (None, dump(renderer.stamped(one).tables))


@pytest.mark.parametrize("name", ["quickstart", "border"])
def test_equal_bytes_for_an_example(name: str) -> None:
    plans = make_plans(resource("inventories", name))
    renderer = renderer_of(plans)
    patterns = FilePatterns(lambda formed: renderer.stamped(formed).tables)
    for one in formed_of(plans, renderer):
        patterns.content(one)
        assert patterns.content(one) == dump(renderer.stamped(one).tables)


@cache
def leaf() -> tuple[SwitchRenderer, FormedSwitch, FilePatterns]:
    """A switch whose pattern is made."""
    with TemporaryDirectory() as folder:
        plans = make_plans(write(Path(folder), rail_optimized()))
    renderer = renderer_of(plans)
    formed, patterns = formed_of(plans, renderer)[0], FilePatterns(lambda one: renderer.stamped(one).tables)
    patterns.content(formed)
    return renderer, formed, patterns


VALUES = st.one_of(st.sampled_from(["a", "b", "10", "9"]), st.text(max_size=5), st.sampled_from(['"', "\\", "é", "\0"]))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_equal_bytes_whatever_the_values(data: st.DataObject) -> None:
    """Also where keys of two ports are equal, and where a value needs escapes. None says: write it row by row."""
    renderer, formed, patterns = leaf()
    wired = [index for index, own in enumerate(formed.own) if own]
    changed = data.draw(st.lists(st.sampled_from(wired), min_size=1, max_size=4, unique=True))
    own = list(formed.own)
    for index in changed:
        names = data.draw(st.lists(st.sampled_from(sorted(own[index])), min_size=1, unique=True))
        own[index] = {**own[index], **{name: data.draw(VALUES) for name in names}}
    other = replace(formed, own=own)
    found = patterns.content(other)
    try:
        expected = dump(renderer.stamped(other).tables)
    except TemplateProblemError:
        assert found is None, "two rows with one key and different fields"
        return
    assert found in (None, expected)


def test_a_fabric_of_one_switch_of_each_kind_has_no_patterns() -> None:
    renderer, formed, _ = leaf()
    stamped: list[str] = []

    def stamp(one: FormedSwitch) -> dict[str, dict[str, dict[str, str | list[str]]]]:
        stamped.append(one.name)
        return renderer.stamped(one).tables

    patterns = FilePatterns(stamp)
    assert patterns.content(formed) is None and not stamped
    assert patterns.content(formed) is not None and len(stamped) == 1
    assert patterns.content(formed) is not None and len(stamped) == 1


STARTS = st.lists(
    st.tuples(st.text("aE01|", max_size=4), st.booleans()), min_size=1, max_size=4, unique_by=lambda one: one[0]
)


@settings(max_examples=examples(200), deadline=None)
@given(STARTS, st.data())
def test_a_fixed_order_is_that_of_all_values(starts: list[tuple[str, bool]], data: st.DataObject) -> None:
    keys = [f"{start}\ue000{index}\ue001" if is_open else start for index, (start, is_open) in enumerate(starts)]
    fixed = _fixed_order({key: {} for key in keys})
    if fixed is None:
        return
    filled = []
    for key in fixed:
        start, blank, _ = key.partition("\ue000")
        filled.append(start + data.draw(st.text("aE01|", max_size=4)) if blank else start)
    assert [natural_key(one) for one in filled] == sorted({natural_key(one) for one in filled})


def test_the_order_is_fixed_where_values_cannot_change_it() -> None:
    value, other = "\ue0000\ue001", "\ue0001\ue001"
    addresses = [f"Ethernet10|{value}", "Ethernet10", f"Ethernet2|{other}", "Ethernet2"]
    assert _fixed_order({key: {} for key in addresses}) == [*reversed(addresses)]
    for keys in ([value, other], [f"Ethernet{value}", "Ethernet1|a"], [f"Vlan|{value}", f"Vlan|{other}"]):
        assert _fixed_order({key: {} for key in keys}) is None
