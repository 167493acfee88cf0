"""Plans of every kind of change, applied by the role to a switch that takes patches as measured, and interrupted
between two rows of any patch. The run after it, or the rollback, ends with the new or the old configuration; no state
in between has a lossless queue without watchdog, a host without a path, a cyclic dependency, or too few uplinks."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.deploy import transaction
from fabricgen.diff.batches import KEPT_SHARE
from fabricgen.diff.lookup import profiles
from fabricgen.diff.stand_in import StandIn, differences, unwatched
from fabricgen.rollout.mixture import Between, Mixture, Wires
from fabricgen.rollout.moments import Moment
from tests.deploy.switch import Switch, Tables
from tests.diff import measured
from tests.diff.test_plan import KINDS
from tests.inventories import ARISTA, NVIDIA

RELEASE = 202605
NAME = "compute-su00-r0-leaf"
ONE_CLASS = {"lossless": {"classes": {3: {"dscp": [26, 34]}}, "cnp": {"dscp": 48}}}
KILLS = 8  # of each plan, spread evenly over the rows that it changes
NOTHING: frozenset[str] = frozenset()


class KilledError(Exception):
    """The run is killed here."""


@dataclass
class Fabric:
    """A fabric and the leaf that changes; `one_class` is the leaf with one lossless class."""

    bundle: Bundle
    leaf: Tables
    one_class: Tables
    judged: dict[frozenset[str], Between] = field(default_factory=dict)

    def between(self, down: frozenset[str]) -> Between:
        """The fabric while these ports of the leaf are down."""
        if down not in self.judged:
            mixture = Mixture.of(self.bundle, Wires(self.bundle, ()), self.bundle, {}, 0)
            moment = Moment(down, NOTHING, NOTHING, whole=False, reroutes=False, done=())
            _, self.judged[down] = mixture.step(NAME, moment)
        return self.judged[down]


class MeasuredSwitch(Switch):
    """A switch whose updater and daemons behave as measured. The run is killed after `kill_after` rows."""

    def __init__(self, folder: Path, running: Tables, fabric: Fabric, new: Tables) -> None:
        self.stand_in = StandIn(RELEASE, profiles(running))
        self.kill_after = -1
        self.rows = 0
        super().__init__(folder, running)
        self.config["VERSIONS"] = {"DATABASE": {"VERSION": f"version_{RELEASE}_01"}}
        self.stand_in.boot(self.config)
        self.startup_file.write_text(json.dumps(self.config))
        self.up = list(running.get("BGP_NEIGHBOR", {}))
        self.fabric = fabric
        self.watched = frozenset(running["PFC_WD"].keys() & new["PFC_WD"].keys())
        self.in_service = frozenset(measured.up_ports(running)) & frozenset(measured.up_ports(new))
        self.hidden = self.stand_in._set
        self.stand_in._set = self._row  # type: ignore[method-assign]

    @property
    def config(self) -> Tables:
        return self.stand_in.config

    @config.setter
    def config(self, tables: Tables) -> None:
        self.stand_in.boot(tables)

    @property
    def daemons(self) -> StandIn:
        return self.stand_in

    def _row(self, table: str, key: str, row: dict[str, Any] | None) -> None:
        if self.rows == self.kill_after:
            raise KilledError
        self.rows += 1
        self.hidden(table, key, row)

    def _change(self, command: tuple[str, ...]) -> None:
        match command:
            case ("config", "apply-patch", file):
                self.stand_in.apply(json.loads(Path(file).read_text()))
                self.check()
            case ("config", "reload", "-y", *rest):
                file = next((Path(word) for word in rest if word != "-f"), self.startup_file)
                tables = json.loads(file.read_text()) | {"VERSIONS": self.config["VERSIONS"]}
                self.stand_in._set = self.hidden  # type: ignore[method-assign]
                self.stand_in.boot(tables)
            case _:
                super()._change(command)

    def check(self) -> None:
        """The state between two patches."""
        assert unwatched(self.stand_in, self.watched) == []
        down = self.in_service - frozenset(measured.up_ports(self.config))
        between = self.fabric.between(down)
        assert (between.cut_off, between.lost, between.cyclic) == ((), (), False)
        assert between.uplink_share >= KEPT_SHARE
        rails = [port for port in measured.host_ports(self.fabric.leaf) if port in self.in_service]
        assert any(port not in down for port in rails)


@pytest.fixture(scope="module", params=[ARISTA, NVIDIA], ids=["traditional", "dynamic"])
def fabric(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    folder = tmp_path_factory.mktemp("two")
    leaf = measured.render_leaf(folder, request.param, 8)
    one = measured.render_leaf(tmp_path_factory.mktemp("one"), request.param, 8, **ONE_CLASS)
    for tables in (leaf, one):
        del tables["SNMP_COMMUNITY"]
    return Fabric(open_bundle([folder / "bundle"]), leaf, one)


def changes(fabric: Fabric) -> Iterator[tuple[str, Tables, Tables]]:
    """Each kind of change, and the classes in both directions."""
    for kind, edit in KINDS.items():
        yield kind, fabric.leaf, measured.edited(fabric.leaf, edit)
    yield "class dropped", fabric.leaf, fabric.one_class
    yield "class added", fabric.one_class, fabric.leaf


def started(folder: Path, old: Tables, new: Tables, fabric: Fabric) -> MeasuredSwitch:
    folder.mkdir()
    switch = MeasuredSwitch(folder, copy.deepcopy(old), fabric, new)
    _, refusal = transaction.prepare(switch, switch.request(copy.deepcopy(new)), check=False)
    assert refusal == ""
    return switch


def assert_booted(switch: MeasuredSwitch, tables: Tables) -> None:
    """Configuration and daemons are as after a cold boot."""
    expected = StandIn(RELEASE, profiles(tables))
    expected.boot(tables | {"VERSIONS": switch.config["VERSIONS"]})
    found = list(differences(switch.stand_in, expected))
    # beside split ranges, which the file has, buffermgrd keeps a row of the whole range, and may have removed it once
    is_split = any(key.endswith("|4") for key in tables["BUFFER_PG"])
    assert found == [] or (is_split and found == ["CONFIG_DB: BUFFER_PG differs"])
    assert switch.startup == switch.config and switch.timers == [] and switch.pending() is None


@pytest.mark.parametrize("kind", [*KINDS, "class dropped", "class added"])
def test_a_plan_that_is_interrupted_anywhere(
    kind: str, fabric: Fabric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "profiles", profiles)
    monkeypatch.setattr(transaction, "_PAUSE_S", 0)
    old, new = next((old, new) for name, old, new in changes(fabric) if name == kind)
    if old == new:  # the kind is of the other buffer model
        assert kind in ("profile list", "global map off", "xoff")
        return
    switch = started(tmp_path / "whole", old, new, fabric)
    if switch.read("pending.json")["route"] != "apply-patch":
        # some pools, and what daemons refuse
        assert kind in ("class dropped", "class added", "watchdog action", "trimming")
        return
    transaction.apply(switch, set())
    assert transaction.deviations(switch, set()) == []
    transaction.save(switch, set())
    assert_booted(switch, new)
    rows = switch.rows
    for number, moment in enumerate(sorted({(rows - 1) * step // (KILLS - 1) for step in range(KILLS)})):
        switch = started(tmp_path / str(moment), old, new, fabric)
        switch.kill_after = switch.rows + moment
        with pytest.raises(KilledError):
            transaction.apply(switch, set())
        switch.kill_after = -1
        if number % 2:
            assert transaction.undo(switch, set()) is True
            assert_booted(switch, old)
            continue
        _, refusal = transaction.prepare(switch, switch.request(copy.deepcopy(new)), check=False)
        assert refusal == ""
        transaction.apply(switch, set())
        assert transaction.deviations(switch, set()) == []
        transaction.save(switch, set())
        assert_booted(switch, new)
