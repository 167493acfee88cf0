"""Rehearsals: every kind of plan ends as a cold boot, and what is dangerous in one patch shows."""

import json
from pathlib import Path
from typing import Any

import jsonpatch
import orjson
import pytest

from fabricgen.diff.lookup import profiles
from fabricgen.diff.plan import make_plan
from fabricgen.diff.stand_in import RefusedError, StandIn, differences, unwatched
from tests.conftest import Cli
from tests.diff import measured
from tests.diff.test_plan import KINDS, leaves, pairs, pfc_off, watched_priorities

__all__ = ["leaves"]  # a fixture
Config = dict[str, Any]
RELEASE = 202605


def booted(config: Config, release: int = RELEASE) -> StandIn:
    switch = StandIn(release, profiles(config))
    switch.boot(config)
    return switch


def patch_of(old: Config, new: Config) -> list[Any]:
    return list(jsonpatch.make_patch(old, new))


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
@pytest.mark.parametrize("release", [202505, 202511, RELEASE])
def test_every_plan_ends_as_a_cold_boot(model: str, release: int, leaves: dict[str, Config]) -> None:
    done = set()
    for kind, old, new in pairs(leaves, model):
        switch, watched = booted(old, release), frozenset(old["PFC_WD"].keys() & new["PFC_WD"].keys())
        assert switch.config == old or kind == "group range split, back", kind  # buffermgrd adds the row of the range
        running = {table: dict(rows) for table, rows in switch.config.items()}
        plan = make_plan(running, new, release, lookup=profiles(old))
        if not plan.steps:
            continue
        for step in plan.steps:
            switch.apply([operation.json for operation in step.patch()])
            assert unwatched(switch, watched) == [], kind
        assert list(differences(switch, booted(new, release))) == [], kind
        done.add(kind)
    of_other_model = {"traditional": {"profile list", "watchdog action"}, "dynamic": {"xoff", "trimming"}}
    if release == RELEASE:
        assert set(KINDS) - done == of_other_model[model]  # or they need a reload


def test_what_one_patch_leaves_behind(leaves: dict[str, Config]) -> None:
    """As measured: the watchdog keeps the old queues, and ranges that overlap lose their profiles."""
    old = leaves["traditional"]
    new = measured.edited(old, watched_priorities)
    switch = booted(old)
    switch.apply(patch_of(old, new))
    assert list(differences(switch, booted(new))) == ["watchdog: Ethernet0 has priorities [3, 4], expected [3]"]

    def ranges(config: Config) -> None:
        config["BUFFER_QUEUE"]["Ethernet0|3"] = config["BUFFER_QUEUE"].pop("Ethernet0|3-4")
        config["BUFFER_QUEUE"]["Ethernet0|4"] = dict(config["BUFFER_QUEUE"]["Ethernet0|3"])

    new = measured.edited(old, ranges)
    switch = booted(old)
    switch.apply(patch_of(old, new))
    lost = list(differences(switch, booted(new)))
    assert lost == ["BUFFER_QUEUE: Ethernet0 3 has no profile, expected egress_lossless_profile"]


def test_buffermgrd_writes_groups_back(leaves: dict[str, Config]) -> None:
    """PFC off a port with the traditional model: the port event after it brings the priority group back."""
    old = leaves["traditional"]
    new = measured.edited(old, pfc_off)
    switch = booted(old)
    switch.apply(patch_of(old, new))
    switch.apply([{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9000"}])
    assert "Ethernet0|3-4" in switch.config["BUFFER_PG"]
    dynamic = leaves["dynamic"]
    switch = booted(dynamic)
    switch.apply([{"op": "remove", "path": "/BUFFER_PG/Ethernet0|3-4"}])
    switch.apply([{"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9000"}])
    assert "Ethernet0|3-4" not in switch.config["BUFFER_PG"]


def test_refused_patches_change_nothing(leaves: dict[str, Config]) -> None:
    old = leaves["traditional"]
    for release, new in ((202505, measured.edited(old, measured.ecn)), (RELEASE, leaves["traditional one class"])):
        switch = booted(old, release)
        with pytest.raises(RefusedError, match=r"wred_profile|does not find an order"):
            switch.apply(patch_of(old, new))
        assert switch.config == old


def test_the_command(bundle: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    new = tmp_path / "new"
    bundle.rename(tmp_path / "old")
    file = new / "sonic/compute-su00-r0-leaf/config_db.json"
    file.parent.mkdir(parents=True)
    config = measured.leaf(tmp_path / "old")
    file.write_bytes(orjson.dumps(measured.edited(config, watched_priorities)))
    old = tmp_path / "old/sonic/compute-su00-r0-leaf/config_db.json"
    outcome = cli("rehearse", old, file)
    assert outcome.code == 0
    assert outcome.out == ("rehearsed 1 device, no problems: 1 reaches the state of a cold boot with 4 patches\n")
    found = json.loads(cli("rehearse", old, file, "--format", "json").out)
    assert found["devices"]["compute-su00-r0-leaf"] == {
        "route": "plan", "release": 202505, "patches": 4, "problems": []
    }  # fmt: skip
    assert cli("rehearse", old, file, "--output", tmp_path / "out.txt").out == ""
    assert (tmp_path / "out.txt").read_text() == outcome.out

    def refuse(self: StandIn, patch: list[Any], **_: bool) -> None:
        raise RefusedError("no")

    monkeypatch.setattr(StandIn, "apply", refuse)
    outcome = cli("rehearse", old, file)
    assert outcome.code == 1
    assert "compute-su00-r0-leaf: patch 1 (ports down) is refused: no" in outcome.out
    assert "watchdog: Ethernet0 has priorities [3, 4], expected [3]" in outcome.out
