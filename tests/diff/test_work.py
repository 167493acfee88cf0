"""Switches with the same changes share their work, and only those."""

import copy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from fabricgen.api.comparison import diff
from fabricgen.diff.difference import Difference
from fabricgen.diff.plan import make_plan
from fabricgen.diff.work import Work, likeness
from tests.diff.fabrics import edited, running
from tests.diff.measured import every
from tests.diff.test_plan import KINDS

Config = dict[str, Any]
RAILS = ("r0-leaf", "r1-leaf")


@pytest.fixture
def bundle(small: Path, tmp_path: Path) -> Path:
    """A copy of a bundle of four leaves and two spines."""
    return Path(shutil.copytree(small / "bundle", tmp_path / "bundle"))


def compared(old: Path, new: Path) -> Difference:
    found = diff(old, new)
    assert isinstance(found, Difference)
    return found


def patches(work: Work) -> list[list[Any]]:
    return [[operation.json for operation in step.patch()] for step in work.plan.steps]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"cable", "host removed", "profile list", "global map off"}))
def test_shared_plans_are_the_plans_of_each_switch(kind: str, bundle: Path) -> None:
    """Two rails of two units."""
    new = edited(bundle, "new", lambda name, config: KINDS[kind](config) if name.endswith(RAILS) else None)
    found = compared(bundle, new)
    assert len(found.changed) == 4
    for device in found.changed:
        alone = Work(device.drift, device.old, device.new, device.work.release)
        assert patches(device.work) == patches(alone)
        assert [step.price for step in device.work.plan.steps] == [step.price for step in alone.plan.steps]
        assert device.work.plan.kept_share == make_plan(device.old, device.new, device.work.release).kept_share


def test_a_change_of_all_leaves_is_planned_once(bundle: Path) -> None:
    new = edited(bundle, "new", lambda name, config: every("PORT_QOS_MAP", pfc_enable="3")(config))
    found = compared(bundle, new)
    assert len(found.changed) == 6
    assert len({device.work for device in found.changed}) == 2  # leaves and spines


SURROUNDINGS: list[Callable[[Config], Any]] = [
    lambda config: config["PORT"]["Ethernet0"].update(admin_status="down"),
    lambda config: config["PORT"]["Ethernet0"].update(speed="100000"),
    lambda config: config["DEVICE_METADATA"]["localhost"].update(hwsku="X"),
    lambda config: config["DEVICE_NEIGHBOR"]["Ethernet0"].update(name="compute-spine-00"),
    lambda config: config["DEVICE_NEIGHBOR_METADATA"][config["DEVICE_NEIGHBOR"]["Ethernet0"]["name"]].clear(),
    lambda config: config["PFC_WD"].pop("Ethernet0"),
    lambda config: config["BGP_NEIGHBOR"].popitem(),  # another size
]


@pytest.mark.parametrize("number", range(len(SURROUNDINGS)))
def test_other_surroundings_are_another_plan(number: int, bundle: Path) -> None:
    old: Config = orjson.loads((bundle / "sonic/compute-su00-r0-leaf/config_db.json").read_bytes())
    new = old | {"QUEUE": {}}
    other = copy.deepcopy(old)
    SURROUNDINGS[number](other)
    other = {table: rows if rows == other[table] else other[table] for table, rows in old.items()}
    assert likeness(old, new, 202505) != likeness(other, other | {"QUEUE": new["QUEUE"]}, 202505)
    same = old | {"DEVICE_METADATA": copy.deepcopy(old["DEVICE_METADATA"])}
    same["DEVICE_METADATA"]["localhost"]["hostname"] = "other"
    assert likeness(old, new, 202505) == likeness(same, same | {"QUEUE": new["QUEUE"]}, 202505)
    assert likeness(old, new, 202505) != likeness(old, new, 202605)


def test_a_group_of_an_earlier_file_is_removed_from_a_running_switch(bundle: Path, tmp_path: Path) -> None:
    """buffermgrd writes BUFFER_PG as well, but it does not write two ranges for a group."""
    new = edited(bundle, "new", lambda name, config: KINDS["group range split"](config))
    found = compared(running(bundle, "running"), new)
    for device in found.changed:
        end = device.work.plan.steps[-1].new["BUFFER_PG"]
        assert end.keys() == device.new["BUFFER_PG"].keys() and not any(key.endswith("|3-4") for key in end)
    kept = compared(running(bundle, "more", lambda name, config: KINDS["group range split"](config)), new)
    assert not any(change.table == "BUFFER_PG" for device in kept.changed for change in device.changes)
