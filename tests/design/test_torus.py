"""Laws of torus and mesh over random sizes; their counts; refusals with their arithmetic."""

from collections import Counter, defaultdict, deque
from math import prod
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import assume, given, settings

from fabricgen.design.capacity import capacity
from fabricgen.design.model import Fabric, Switch
from fabricgen.render.plans import design_only
from tests.design.laws import check_ports, endpoints_of, wiring
from tests.design.test_rail_optimized import laid_out
from tests.examples import examples
from tests.inventories import Tree, grid, write

_FAST = settings(max_examples=examples(40), deadline=None)
_SIZES = st.lists(st.integers(2, 6), min_size=1, max_size=3)


@st.composite
def intents(draw: st.DrawFn) -> tuple[Tree, str, list[int], list[int]]:
    """A legal tree, its design, size and parallel links of each dimension."""
    design, size = draw(st.sampled_from(["torus", "mesh"])), draw(_SIZES)
    assume(prod(size) <= 80)
    links = [draw(st.integers(1, 3)) for _ in size]
    unit = draw(st.integers(1, 2))
    return grid(design, size, draw(st.integers(1, unit * prod(size))), unit, links), design, size, links


def around(fabric: Fabric) -> dict[str, Counter[str]]:
    """switch -> its neighbours, with the parallel links to each."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for link in fabric.links:
        if isinstance(link.a, Switch):
            found[link.a.key][link.b.key] += 1
            found[link.b.key][link.a.key] += 1
    return found


def distances(neighbours: dict[str, Counter[str]], start: str) -> dict[str, int]:
    reached, queue = {start: 0}, deque([start])
    while queue:
        one = queue.popleft()
        for other in neighbours[one]:
            if other not in reached:
                reached[other] = reached[one] + 1
                queue.append(other)
    return reached


def coordinates(number: int, size: list[int]) -> list[int]:
    found = []
    for each in size:
        found.append(number % each)
        number //= each
    return found


@_FAST
@given(intents())
def test_neighbours_differ_by_one_in_one_dimension(drawn: tuple[Tree, str, list[int], list[int]]) -> None:
    tree, design, size, links = drawn
    fabric = laid_out(tree)
    check_ports(fabric)
    assert len(fabric.switches) == prod(size)
    neighbours = around(fabric)
    for switch in fabric.switches:
        own = coordinates(switch.identity.number, size)
        expected: Counter[str] = Counter()
        for dimension, each in enumerate(size):
            wraps = design == "torus" and each > 2
            for step in (1, -1):
                place = own[dimension] + step
                if wraps or 0 <= place < each:
                    there = [*own[:dimension], place % each, *own[dimension + 1 :]]
                    number = sum(one * prod(size[:index]) for index, one in enumerate(there))
                    expected[f"compute/leaf{number}"] += links[dimension]
        assert neighbours[switch.key] == expected


@_FAST
@given(intents())
def test_degree_diameter_and_counts(drawn: tuple[Tree, str, list[int], list[int]]) -> None:
    tree, design, size, links = drawn
    fabric = laid_out(tree)
    rings = [design == "torus" and each > 2 for each in size]
    neighbours = around(fabric)
    diameter = sum(each // 2 if ring else each - 1 for each, ring in zip(size, rings, strict=True))
    starts = {fabric.switches[0].key, fabric.switches[-1].key}
    assert {max(distances(neighbours, start).values()) for start in starts} == {diameter}
    (plane,) = capacity(fabric)["planes"]
    hops = [each if ring else each - 1 for each, ring in zip(size, rings, strict=True)]
    pairs = zip(size, hops, links, strict=True)
    assert plane["links"]["peer"] == sum(prod(size) // each * hop * parallel for each, hop, parallel in pairs)
    if all(rings):
        assert {sum(one.values()) for one in neighbours.values()} == {2 * sum(links)}
    assert "leaf" not in plane["oversubscription"], "no switch is above another"
    assert plane["planned"]["leaf"] == prod(size)


@_FAST
@given(intents(), st.integers(1, 40))
def test_more_hosts_change_no_link(drawn: tuple[Tree, str, list[int], list[int]], more: int) -> None:
    tree, _, size, _ = drawn
    unit = tree["planes"]["compute"]["scalable_unit"]["hosts"]
    count = min(tree["hosts"]["gpu"]["count"] + more, unit * prod(size))
    before, after = laid_out(tree), laid_out({**tree, "hosts": {"gpu": {"model": "dgx-h100", "count": count}}})
    assert wiring(before).items() <= wiring(after).items()
    assert [switch.key for switch in before.switches] == [switch.key for switch in after.switches]
    assert max(endpoints_of(after).values()) <= 8 * unit


@pytest.mark.parametrize(
    ("design", "size", "links", "cut"),
    [
        ("torus", [4, 4, 4], 1, 2 * 16),  # 2 x product / longest
        ("torus", [8, 4], 2, 2 * 4 * 2),
        ("torus", [8, 4], [4, 1], 2 * 8),  # across the shorter dimension, whose hops are thinner
        ("mesh", [8, 4], 1, 4),
        ("torus", [2, 2], 3, 2 * 3),  # a torus of two is a mesh of two
        ("torus", [5], 1, 2),
    ],
)
def test_bisection(design: str, size: list[int], links: object, cut: int) -> None:
    hosts = prod(size) * 2
    (plane,) = capacity(laid_out(grid(design, size, hosts, 2, links)))["planes"]
    assert plane["bisection_gbps"] == cut * 400


def test_bisection_is_never_more_than_the_hosts_send() -> None:
    (plane,) = capacity(laid_out(grid("torus", [3, 3], 1, 1, 8)))["planes"]
    assert plane["bisection_gbps"] == 8 * 400 // 2


def test_ports_by_dimension_and_direction() -> None:
    """Endpoints, then to the next and to the one before of each dimension, also where a mesh ends."""
    fabric = laid_out(grid("mesh", [3, 2], 6, 1, [2, 1]))
    ports = [port.name for port in fabric.switches[0].layout.fabric_ports]
    found = {
        (link.a.key, ports.index(link.a_port), link.b.key, ports.index(link.b_port))
        for link in fabric.links
        if link.a.key == "compute/leaf1"
    }
    assert found == {
        ("compute/leaf1", 8, "compute/leaf2", 10), ("compute/leaf1", 9, "compute/leaf2", 11),
        ("compute/leaf1", 12, "compute/leaf4", 13),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "code", "path", "arithmetic"),
    [
        (grid("torus", [4, 4], 33, 2), "FG207", "planes.compute.torus.size",
         "33 hosts, 2 on a switch, need 17 switches, `size` has 4 x 4 = 16 switches"),
        (grid("mesh", [4, 10**12]), "FG207", "planes.compute.torus.size",
         "`size` has 4 x 1000000000000 = 4000000000000 switches, at most 49151 are laid out"),
        (grid("torus", [4, 4], 1, 7, [3, 2]), "FG201", "planes.compute.leaf.platform",
         "a switch needs 66 ports (56 endpoints + 2 x 3 + 2 x 2), its platform has 64"),
        (grid("torus", [2, 2, 2, 2]), "FG105", "planes.compute.torus.size", "takes at most 3 items"),
        (grid("torus", [4, 1]), "FG105", "planes.compute.torus.size[1]", "1 is less than 2"),
        (grid("torus", [4, 4], links=[1, 1, 1]), "FG105", "planes.compute.torus.links",
         "links has 3 entries, size has 2 dimensions"),
    ],
)  # fmt: skip
def test_refusals_show_the_arithmetic(tree: Tree, code: str, path: str, arithmetic: str, tmp_path: Path) -> None:
    finding = design_only(write(tmp_path, tree))[1][0]
    assert (finding.code, finding.path, finding.severity) == (code, path, "error") and arithmetic in finding.message
    assert finding.location and finding.location.line > 1


@pytest.mark.parametrize(
    ("design", "datelines", "arithmetic"),
    [
        ("torus", [4, 0], "dateline 4 is outside: the dimension has the coordinates 0 to 3"),
        ("torus", [0], "datelines has 1 entries, size has 2 dimensions"),
        ("mesh", [0, 0], "a mesh has no rings, so no datelines"),
    ],
)
def test_datelines_lie_on_rings(design: str, datelines: list[int], arithmetic: str, tmp_path: Path) -> None:
    tree = grid(design, [4, 4])
    tree["planes"]["compute"]["torus"]["datelines"] = datelines
    (finding,) = design_only(write(tmp_path, tree))[1]
    assert finding.code == "FG105" and arithmetic in finding.message


def test_planned_is_the_size(tmp_path: Path) -> None:
    tree = grid("torus", [4, 4])
    tree["planes"]["compute"]["scalable_unit"]["planned"] = 15
    (finding,) = design_only(write(tmp_path, tree))[1]
    assert finding.code == "FG207" and "`planned` is 15, `size` has 4 x 4 = 16 switches" in finding.message
