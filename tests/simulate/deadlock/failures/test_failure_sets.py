"""What fails: links, cables, switches and sets of them, by name and number."""

from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.simulate.deadlock.analysis import maintenance_sets
from fabricgen.simulate.deadlock.failures.failure_sets import (
    NOTHING,
    Failure,
    FailureSet,
    SetsOf,
    cables_that_fail,
    links_that_fail,
    switch_failure,
)
from fabricgen.simulate.deadlock.failures.named_links import failed_links
from tests.bgp_fabric import Fabric, open_configs
from tests.simulate.deadlock.test_fabrics import clos
from tests.simulate.deadlock.test_maintenance import ROOT, fabricgen
from tests.simulate.deadlock.test_valleys import with_ipv6


def opened(fabric: Fabric, folder: Path) -> tuple[Bundle, RoutedFabric]:
    bundle = open_configs(fabric.configs(), folder)
    return bundle, read_fabric(bundle, list(bundle.devices))


def ends(fabric: RoutedFabric, failure: Failure) -> set[tuple[str, str]]:
    net = fabric.network
    return {(fabric.names[net.source[link]], fabric.names[net.target[link]]) for link in failure.links}


def test_every_link_fails_both_ways(tmp_path: Path) -> None:
    bundle, fabric = opened(clos(2, 2), tmp_path)
    found = links_that_fail(bundle, fabric)
    assert [one.name for one in found] == [
        "l0:Ethernet0--s0:Ethernet0", "l0:Ethernet4--s1:Ethernet0",
        "l1:Ethernet0--s0:Ethernet4", "l1:Ethernet4--s1:Ethernet4",
    ]  # fmt: skip
    assert [ends(fabric, one) for one in found] == [
        {("l0", "s0"), ("s0", "l0")}, {("l0", "s1"), ("s1", "l0")},
        {("l1", "s0"), ("s0", "l1")}, {("l1", "s1"), ("s1", "l1")},
    ]  # fmt: skip
    assert all(one.links == tuple(sorted(one.links)) and one.switch == -1 for one in found)


def test_parallel_links_and_families(tmp_path: Path) -> None:
    """Two cables fail one by one; two sessions over one cable fail together."""
    twice = clos(1, 1)
    twice.links = [*twice.links, *twice.links]
    configs = with_ipv6(twice.configs())
    bundle = open_configs(configs, tmp_path)
    fabric = read_fabric(bundle, list(bundle.devices))
    found = links_that_fail(bundle, fabric)
    assert [one.name for one in found] == ["l0:Ethernet0--s0:Ethernet0", "l0:Ethernet4--s0:Ethernet4"]
    assert [len(one.links) for one in found] == [2, 2]


def test_a_switch_fails_with_all_of_its_links(tmp_path: Path) -> None:
    _, fabric = opened(clos(3, 2), tmp_path)
    number = fabric.names.index("s1")
    found = switch_failure(fabric, number)
    assert (found.name, found.switch) == ("switch s1", number)
    assert ends(fabric, found) == {(a, b) for low in ("l0", "l1", "l2") for a, b in ((low, "s1"), ("s1", low))}
    assert list(found.links) == sorted(set(found.links))


def test_sets_have_names_links_and_switches() -> None:
    both = FailureSet((Failure("a", (4, 1)), Failure("switch b", (1, 2), 7), Failure("c", (), 0)))
    assert both.names == ("a", "switch b", "c")
    assert both.dead.tolist() == [1, 2, 4]
    assert both.gone == (7, 0)
    assert (NOTHING.names, NOTHING.dead.tolist(), NOTHING.gone) == ((), [], ())


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_all_sets_of_a_depth(depth: int) -> None:
    failures = [Failure(str(number), (number,)) for number in range(5)]
    sets = SetsOf(failures, depth)
    assert sets.count == comb(5, depth) == len(sets.all())
    assert [one.names for one in sets.all()] == list(combinations("01234", depth))


def test_samples_are_drawn_evenly_and_again() -> None:
    sets = SetsOf([Failure(str(number), (number,)) for number in range(4)], 2)
    drawn = [one.names for one in sets.sample(600, seed=5)]
    assert drawn == [one.names for one in sets.sample(600, seed=5)]
    assert drawn != [one.names for one in sets.sample(600, seed=6)]
    count = Counter(drawn)
    assert set(count) == set(combinations("0123", 2)), "sorted, without repeats"
    assert min(count.values()) > 60


@pytest.fixture(scope="module")
def cabled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, RoutedFabric]:
    """An example with cables of several links."""
    folder = tmp_path_factory.mktemp("cabled")
    fabricgen("render", str(ROOT / "inventories" / "border"), "--output", str(folder / "build"))
    bundle = open_bundle([folder / "build"])
    return bundle, read_fabric(bundle, list(bundle.devices))


def test_cables_of_several_links(cabled: tuple[Bundle, RoutedFabric]) -> None:
    bundle, fabric = cabled
    assert bundle.wiring
    links = {one.name: one for one in links_that_fail(bundle, fabric)}
    cables = cables_that_fail(bundle, list(links.values()))
    expected = {
        f"cable {one.id}": tuple(sorted(link for name in one.links for link in links[name].links))
        for one in bundle.wiring.cables
        if sum(name in links for name in one.links) > 1
    }
    assert {one.name: one.links for one in cables} == expected
    for cable in cables:
        named = failed_links(bundle, cable.name)
        assert len(named) * 2 == len(cable.links)
    assert cables
    assert np.all([len(one.links) > 2 for one in cables])


def test_ends_of_named_links(tmp_path: Path, cabled: tuple[Bundle, RoutedFabric]) -> None:
    bundle, _ = opened(clos(2, 1), tmp_path)
    assert failed_links(bundle, "l0:Ethernet0--s0:Ethernet0") == [(("l0", "Ethernet0"), ("s0", "Ethernet0"))]
    assert failed_links(bundle, "switch s0") == []
    wired = cabled[0].switch_links[0]
    assert failed_links(cabled[0], wired.id) == [(wired.a, wired.b)]


def test_maintenance_sets_by_pattern(tmp_path: Path, cabled: tuple[Bundle, RoutedFabric]) -> None:
    bundle, fabric = cabled
    assert list(maintenance_sets(bundle, fabric, [])) == [], "the example plans none"


def test_patterns_of_links_match_no_switch_that_fails(tmp_path: Path) -> None:
    """With switches among the failures, "*" as a pattern of links still means links only."""
    bundle, fabric = opened(clos(2, 1), tmp_path)
    links = links_that_fail(bundle, fabric)
    planned = SimpleNamespace(name="work", switches=(), links=("*",))
    wiring = SimpleNamespace(checks=SimpleNamespace(maintenance=[planned]))
    everything = [*links, *(switch_failure(fabric, number) for number in range(3))]
    [(name, found)] = maintenance_sets(SimpleNamespace(wiring=wiring), fabric, everything)  # type: ignore[arg-type]
    assert (name, found) == ("maintenance work", FailureSet(tuple(links)))
