"""A change of a switch, step by step: order of the steps, failures, killed runs."""

import re
from pathlib import Path

import pytest

from fabricgen.deploy import restore, transaction
from fabricgen.deploy.restore import DeviceError
from fabricgen.deploy.target import Preference, Source
from tests.deploy.switch import OWN, PEER, Switch, Tables, tables


@pytest.fixture
def switch(tmp_path: Path) -> Switch:
    """A switch with an old MTU."""
    return Switch(tmp_path, tables(mtu="1500"))


def change(switch: Switch, rendered: Tables) -> None:
    """All steps of a change without a failure."""
    plan, refusal = transaction.prepare(switch, switch.request(rendered), check=False)
    assert plan.differs and not refusal
    transaction.apply(switch, set())
    assert transaction.deviations(switch, set()) == []
    transaction.save(switch, set())


def test_a_patch_is_prepared_applied_and_saved_in_order(switch: Switch) -> None:
    change(switch, tables())
    timer = switch.log[1].partition("--unit=")[2].partition(" ")[0]
    assert [line.partition(" --")[0] for line in switch.log] == [
        "config checkpoint fabricgen",
        "systemd-run",
        "config apply-patch patch.json",
        "config save -y saved.json",
        "config delete-checkpoint fabricgen",
        f"systemctl stop {timer}.timer",
    ]
    assert switch.config == switch.startup == tables() | OWN
    assert switch.timers == []
    kept = {"lock", "restore.py", "before.json", "owned_tables.json", "previous.json"}
    assert {file.name for file in switch.folder.iterdir()} == kept


def test_a_pool_is_changed_by_a_reload_without_a_checkpoint(switch: Switch) -> None:
    change(switch, tables(pool_size="2000"))
    assert "config reload -y target.json" in switch.log
    assert not [line for line in switch.log if "checkpoint" in line or "patch" in line]
    assert switch.config == switch.startup == tables(pool_size="2000") | OWN


def test_a_file_that_the_release_cannot_read_is_not_validated(switch: Switch) -> None:
    """202505 refuses `config reload FILE` of leaf-lists of groupings, as in the peer group of unnumbered BGP."""
    switch.config |= {"BGP_PEER_GROUP_AF": {"default|FABRIC|ipv4_unicast": {"route_map_in": ["PASS"]}}}
    new = tables(mtu="9000") | {"BGP_PEER_GROUP_AF": switch.config["BGP_PEER_GROUP_AF"]}
    _, refusal = transaction.prepare(switch, switch.request(new), check=False)
    assert refusal == ""
    transaction.apply(switch, set())
    assert "config reload -y stdin" in switch.log and switch.config["PORT"]["Ethernet0"]["mtu"] == "9000"


def test_check_mode_changes_nothing(switch: Switch) -> None:
    plan, refusal = transaction.prepare(switch, switch.request(tables()), check=True)
    assert (plan.tables, plan.differs, refusal) == (["PORT"], True, "")
    assert switch.log == []
    assert {file.name for file in switch.folder.iterdir()} == {"lock"}


def test_the_timer_is_set_before_the_change_is_in_progress(switch: Switch) -> None:
    switch.failing = ("systemd-run",)
    with pytest.raises(DeviceError, match="systemd-run"):
        transaction.prepare(switch, switch.request(tables()), check=False)
    assert switch.pending() is None
    with pytest.raises(DeviceError, match="no change is in progress"):
        transaction.apply(switch, set())
    assert switch.config == tables(mtu="1500") | OWN


def test_the_timer_waits_longer_for_a_long_patch(switch: Switch) -> None:
    rendered = tables()
    rendered["PORT"]["Ethernet0"]["description"] = "x"
    rendered["BGP_NEIGHBOR"][PEER]["holdtime"] = "9"
    transaction.prepare(switch, switch.request(rendered, restore_after_s=100), check=False)
    # 100 s, the longest time of both patches, and the wait for the session between them
    assert [line for line in switch.log if "--on-active=304 " in line]


def test_a_failed_apply_is_undone(switch: Switch) -> None:
    transaction.prepare(switch, switch.request(tables()), check=False)
    switch.config["PORT"]["Ethernet0"]["mtu"] = "4000"  # half a patch
    switch.failing = ("config apply-patch",)
    with pytest.raises(DeviceError):
        transaction.apply(switch, set())
    assert transaction.undo(switch, set()) is True
    assert switch.config == switch.startup == tables(mtu="1500") | OWN
    assert switch.timers == [] and switch.pending() is None
    assert transaction.undo(switch, set()) is False


def with_queues(scheduler: str) -> Tables:
    """A port that is up, with a queue: its scheduler changes in four patches."""
    found = tables()
    found["PORT"]["Ethernet0"]["admin_status"] = "up"
    found["QUEUE"] = {"Ethernet0|3": {"scheduler": scheduler}}
    return found


def test_the_patches_of_a_plan_are_applied_in_order(tmp_path: Path) -> None:
    switch = Switch(tmp_path, with_queues("a"))
    change(switch, with_queues("b"))
    assert switch.log.count("config apply-patch patch.json") == 4
    assert not [line for line in switch.log if "checkpoint" in line]
    seen = [(step["PORT"]["Ethernet0"]["admin_status"], step.get("QUEUE")) for step in switch.patched]
    old, new = with_queues("a")["QUEUE"], with_queues("b")["QUEUE"]
    assert seen == [("down", old), ("down", None), ("down", new), ("up", new)]
    assert switch.config == switch.startup == with_queues("b") | OWN


@pytest.mark.parametrize("killed_after", [1, 2, 3])
def test_a_plan_that_was_killed_is_continued_or_undone(tmp_path: Path, killed_after: int) -> None:
    for resumed in (True, False):
        folder = tmp_path / str(resumed)
        folder.mkdir()
        switch = Switch(folder, with_queues("a"))
        transaction.prepare(switch, switch.request(with_queues("b")), check=False)
        for patch in switch.read("patches.json")[:killed_after]:
            switch.write("patch.json", patch["patch"])
            switch.run("config", "apply-patch", str(switch.folder / "patch.json"))
        if resumed:
            change(switch, with_queues("b"))
            assert switch.config == switch.startup == with_queues("b") | OWN
        else:
            assert transaction.undo(switch, set()) is True
            assert "config reload -y -f before.json" in switch.log
            assert switch.config == switch.startup == with_queues("a") | OWN
        assert switch.timers == [] and switch.pending() is None


def test_the_next_session_waits_for_the_one_before(switch: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered = tables()
    rendered["BGP_NEIGHBOR"][PEER]["asn"] = "65009"
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        switch.up = [PEER] if len(waited) == 2 else []

    monkeypatch.setattr(transaction.time, "sleep", pause)
    transaction.prepare(switch, switch.request(rendered), check=False)
    assert [patch["settle"] for patch in switch.read("patches.json")] == [True, False]
    switch.up = []
    transaction.apply(switch, set())
    assert len(waited) == 2
    switch.up = []
    switch.write("patches.json", [{"patch": [], "settle": True}])
    switch.write("pending.json", switch.read("pending.json") | {"settle_s": 0})
    with pytest.raises(DeviceError, match=f"the session with {re.escape(PEER)} is down"):
        transaction.apply(switch, set())


def test_a_lost_write_is_a_deviation(switch: Switch) -> None:
    switch.ignored = ("config apply-patch",)
    transaction.prepare(switch, switch.request(tables()), check=False)
    transaction.apply(switch, set())
    assert transaction.deviations(switch, set()) == ["these tables differ from the target: PORT"]


def test_a_session_that_is_down_after_the_change_is_a_deviation(switch: Switch) -> None:
    transaction.prepare(switch, switch.request(tables()), check=False)
    transaction.apply(switch, set())
    switch.up = []
    assert transaction.deviations(switch, set()) == [f"BGP: the session with {PEER} is down"]
    switch.loaded = False
    assert transaction.deviations(switch, set()) == ["CONFIG_DB is not loaded"]


def test_rows_that_the_switch_makes_itself_are_no_deviation(switch: Switch) -> None:
    transaction.prepare(switch, switch.request(tables()), check=False)
    transaction.apply(switch, set())
    switch.config["INTERFACE"] = {"Ethernet0": {}}
    switch.config["PORT_QOS_MAP"] = {"global": {"dscp_to_tc_map": "AZURE"}}
    assert transaction.deviations(switch, set()) == []
    switch.config["INTERFACE"]["Ethernet0|10.0.0.0/31"] = {}
    assert transaction.deviations(switch, set()) == ["these tables differ from the target: INTERFACE"]


def test_the_run_after_a_killed_one_keeps_the_first_configuration(switch: Switch) -> None:
    transaction.prepare(switch, switch.request(tables()), check=False)
    transaction.apply(switch, set())  # killed here
    (killed,) = switch.timers
    switch.up = []
    plan, _ = transaction.prepare(switch, switch.request(tables()), check=False)
    assert plan.tables == [] and plan.differs
    assert killed not in switch.timers and len(switch.timers) == 1
    assert switch.read("before.json") == tables(mtu="1500") | OWN
    assert transaction.deviations(switch, set()) == [f"BGP: the session with {PEER} is down"]  # up before the first run
    transaction.undo(switch, set())
    assert switch.config == tables(mtu="1500") | OWN


def test_the_run_after_half_a_reload_restores_first(switch: Switch) -> None:
    transaction.prepare(switch, switch.request(tables(pool_size="2000")), check=False)
    switch.config, switch.loaded = {"PORT": {}}, False  # killed between the flush and the end
    with pytest.raises(DeviceError, match="CONFIG_DB is not loaded"):
        transaction.prepare(switch, switch.request(tables()), check=True)
    change(switch, tables())
    assert switch.config == tables() | OWN


def test_a_change_of_before_the_last_boot_is_over(switch: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    transaction.prepare(switch, switch.request(tables()), check=False)
    monkeypatch.setattr(restore, "boot_id", lambda: "another")
    assert switch.pending() is None
    assert transaction.undo(switch, set()) is False


def test_what_needs_a_reboot_is_refused(switch: Switch) -> None:
    rendered = tables()
    rendered["DEVICE_METADATA"]["localhost"]["hwsku"] = "Y"
    _, refusal = transaction.prepare(switch, switch.request(rendered), check=False)
    assert refusal.startswith("the change needs a reboot; nothing was changed: DEVICE_METADATA: hwsku selects")
    assert switch.log == [] and switch.pending() is None


@pytest.mark.parametrize(
    ("preference", "pool_size", "command"),
    [
        (Preference.AUTO, "1000", "config apply-patch"),
        (Preference.AUTO, "2000", "config reload"),
        (Preference.PATCH, "1000", "config apply-patch"),
        (Preference.PATCH, "2000", ""),
        (Preference.RELOAD, "1000", "config reload"),
    ],
)
def test_route(switch: Switch, preference: Preference, pool_size: str, command: str) -> None:
    request = switch.request(tables(pool_size=pool_size), route=preference)
    _, refusal = transaction.prepare(switch, request, check=False)
    assert bool(refusal) is not bool(command)
    if refusal:
        assert refusal.startswith("`config apply-patch` cannot make the change; nothing was changed: BUFFER_POOL: ")
        return
    transaction.apply(switch, set())
    assert [line for line in switch.log if line.startswith(command)]


def test_previous_configuration_and_back(switch: Switch) -> None:
    request = switch.request(tables(), source=Source.PREVIOUS)
    with pytest.raises(DeviceError, match="there is no previous configuration"):
        transaction.prepare(switch, request, check=False)
    change(switch, tables())
    for mtu in ("1500", "9100"):
        transaction.prepare(switch, request, check=False)
        transaction.apply(switch, set())
        transaction.save(switch, set())
        assert switch.config == switch.startup == tables(mtu=mtu) | OWN


def test_a_table_that_is_no_longer_rendered_is_removed(switch: Switch) -> None:
    change(switch, tables() | {"NTP_SERVER": {"10.9.9.9": {}}})
    assert "NTP_SERVER" in switch.config
    change(switch, tables())
    assert "NTP_SERVER" not in switch.config
    assert switch.config.keys() >= OWN.keys()


def test_only_the_startup_file_differs(switch: Switch) -> None:
    switch.config["PORT"]["Ethernet0"]["mtu"] = "9100"
    plan, _ = transaction.prepare(switch, switch.request(tables()), check=False)
    assert (plan.tables, plan.differs, plan.is_saved, str(plan.way)) == ([], True, False, "no change")
    transaction.apply(switch, set())
    transaction.save(switch, set())
    assert switch.startup == tables() | OWN
    assert not [line for line in switch.log if "patch" in line or "reload" in line]
    assert switch.read("previous.json") is None


def test_a_missing_secret_is_named(switch: Switch) -> None:
    rendered = tables() | {"SNMP_COMMUNITY": {"${secret:snmp/read}": {"TYPE": "RO"}}}
    with pytest.raises(DeviceError, match="no value for secret snmp/read"):
        transaction.prepare(switch, switch.request(rendered), check=False)


def test_the_startup_file_keeps_its_mode(switch: Switch) -> None:
    switch.startup_file.chmod(0o640)
    change(switch, tables())
    assert switch.startup_file.stat().st_mode & 0o777 == 0o640
