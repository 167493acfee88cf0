"""Growth of one group of hosts moves no other group, whatever the order in which groups grow."""

from hypothesis import given
from hypothesis import strategies as st

from fabricgen.allocation.allocate import allocate
from fabricgen.allocation.lock import Lock
from fabricgen.design.expand import expand
from fabricgen.design.model import Fabric, Link
from fabricgen.inventory.load import build_inventory
from fabricgen.inventory.read_yaml import read_yaml
from fabricgen.resources import resource
from tests.inventories import rail_optimized, text_of

UNIT = 4
PLANNED = 8


def fabric_of(sizes: dict[str, int], lock: Lock | None) -> tuple[Fabric, Lock]:
    """The fabric of groups of hosts, and the lock after it."""
    tree = rail_optimized(unit=UNIT, planned=PLANNED)
    tree["hosts"] = {name: {"model": "dgx-h100", "count": size} for name, size in sizes.items()}
    tree["planes"]["compute"]["hosts"] = list(sizes)
    inventory = build_inventory(read_yaml(text_of(tree), "fabric.yaml")[0], [])
    fabric, found = expand(inventory, resource(), lock.units if lock else {})
    _, grown, more = allocate(fabric, lock)
    assert [*found, *more] == []
    return fabric, grown


def plugs(fabric: Fabric) -> set[tuple[str, str, str, str]]:
    """Every link by what it joins."""

    def plug(link: Link) -> tuple[str, str, str, str]:
        return link.a.key, link.a_port, link.b.key, link.b_port

    return {plug(link) for link in fabric.links}


@given(st.lists(st.sampled_from(["train", "infer"]), max_size=PLANNED - 2))
def test_growth_keeps_every_link_and_number(growth: list[str]) -> None:
    sizes = {"train": UNIT - 1, "infer": UNIT}
    fabric, lock = fabric_of(sizes, None)
    for group in growth:
        sizes[group] += UNIT
        grown, new = fabric_of(sizes, lock)
        assert plugs(fabric) <= plugs(grown)
        for section in ("names", "asns", "loopbacks", "blocks"):
            assert getattr(lock, section).items() <= getattr(new, section).items()
        fabric, lock = grown, new


def test_a_group_that_shrank_grows_back_into_its_own_units() -> None:
    large, lock = fabric_of({"train": 2 * UNIT, "infer": UNIT}, None)
    _, kept = fabric_of({"train": UNIT, "infer": UNIT}, lock)
    again, _ = fabric_of({"train": 2 * UNIT, "infer": UNIT}, kept)
    assert plugs(again) == plugs(large)
