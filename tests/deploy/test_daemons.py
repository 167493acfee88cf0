"""What the daemons hold: nothing is reported after a cold boot, and each loss is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricgen.deploy import transaction
from fabricgen.deploy.daemons import held_problems, in_short
from fabricgen.deploy.restore import DeviceError
from fabricgen.diff.stand_in import StandIn
from tests.deploy.daemons import faults
from tests.deploy.switch import Switch, Tables
from tests.diff import measured
from tests.inventories import ARISTA, NVIDIA

EXPECTED = {
    "a queue without profile": "BUFFER_QUEUE Ethernet0 3 has no buffer profile, expected egress_lossless_profile",
    "a group without profile": "BUFFER_PG Ethernet0 3 has no buffer profile, expected pg_lossless_400000_5m_profile",
    "another profile": "BUFFER_PG Ethernet0 3 has another buffer profile than pg_lossless_400000_5m_profile: "
    "size 0, expected 18796",
    "an unwatched queue": "the watchdog of Ethernet0 watches queues 3, expected 3,4",
    "a queue that is still watched": "the watchdog of Ethernet8 watches queues 3,4,5, expected 3,4",
    "no watchdog": "the watchdog of Ethernet0 watches queues none, expected 3,4",
    "headroom without PFC": "BUFFER_PG Ethernet0 5 keeps headroom without PFC",
    "other PFC bits": "PFC of Ethernet0 is programmed for priorities 3, expected 3,4",
}


class Losing(Switch):
    """A switch whose daemons lose something after their boot."""

    lose: Callable[[Any], Any] = staticmethod(lambda held: None)

    @property
    def daemons(self) -> StandIn:
        found = super().daemons
        type(self).lose(found.daemons)
        return found


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return measured.render_leaf(tmp_path_factory.mktemp("leaf"), ARISTA, 4)


@pytest.mark.parametrize("platform", [ARISTA, NVIDIA])
def test_nothing_is_reported_after_a_cold_boot(platform: str, tmp_path: Path) -> None:
    tables = measured.render_leaf(tmp_path, platform, 4)
    (tmp_path / "switch").mkdir()
    assert held_problems(Switch(tmp_path / "switch", tables), tables) == []


@pytest.mark.parametrize(("name", "lose"), list(faults()))
def test_each_loss_is_found(name: str, lose: Any, leaf: Tables, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(Losing, "lose", staticmethod(lose))
    assert held_problems(Losing(tmp_path, leaf), leaf) == [EXPECTED[name]]


def test_pools(leaf: Tables, tmp_path: Path) -> None:
    other = measured.edited(leaf, lambda config: config["BUFFER_POOL"]["ingress_lossless_pool"].update(xoff="7"))
    assert held_problems(Switch(tmp_path, leaf), other) == [
        f"pool ingress_lossless_pool has xoff {leaf['BUFFER_POOL']['ingress_lossless_pool']['xoff']}, expected 7"
    ]
    unnamed = measured.edited(leaf, lambda config: config["BUFFER_POOL"].update(unknown={"type": "ingress"}))
    assert held_problems(Switch(tmp_path, leaf), unnamed) == ["pool unknown has size 0, expected more than 0"]


def test_ports_that_are_down_are_not_compared(leaf: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Losing, "lose", staticmethod(lambda held: held.pfc.clear()))
    down = measured.edited(leaf, measured.every("PORT", admin_status="down"))
    assert held_problems(Losing(tmp_path, down), down) == []
    found = held_problems(Losing(tmp_path, leaf), leaf)
    assert len(found) == len(measured.up_ports(leaf)) == 8 and in_short(found) == found
    assert in_short([*found, "a", "b"]) == [*found, "2 more"]


def test_a_change_is_not_complete_while_the_daemons_hold_something_else(
    leaf: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = measured.edited(leaf, measured.every("PORT", mtu="9000"))
    monkeypatch.setattr(Losing, "lose", staticmethod(lambda held: held.pfc.pop("Ethernet0")))
    switch = Losing(tmp_path, old)
    transaction.prepare(switch, switch.request(leaf, secrets={"snmp/read": "secret"}), check=False)
    transaction.apply(switch, set())
    assert transaction.deviations(switch, set()) == []  # it was so before the change
    monkeypatch.setattr(Losing, "lose", staticmethod(lambda held: held.watched.pop("Ethernet0")))
    assert transaction.deviations(switch, set()) == [EXPECTED["no watchdog"]]
    assert transaction.undo(switch, set()) is True
    assert switch.config["PORT"] == old["PORT"]


def test_an_answer_that_is_not_json_is_an_error(leaf: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Switch, "run", lambda *command, **options: "ERR unknown command")
    with pytest.raises(DeviceError, match="did not print JSON: ERR unknown command"):
        held_problems(Switch(tmp_path, leaf), leaf)
