"""The way back: rollback, then reload; the startup file; the timer's own run; commands of a real process."""

import fcntl
import sys
from pathlib import Path

import pytest

from fabricgen.deploy import restore, transaction
from fabricgen.deploy.restore import Device, DeviceError, differing_tables, put
from tests.deploy.switch import OWN, Switch, tables

BEFORE = tables(mtu="1500") | OWN


@pytest.fixture
def switch(tmp_path: Path) -> Switch:
    """A switch with a patch that was applied and not saved."""
    switch = Switch(tmp_path, tables(mtu="1500"))
    transaction.prepare(switch, switch.request(tables()), check=False)
    transaction.apply(switch, set())
    assert switch.config == tables() | OWN
    switch.log.clear()
    return switch


def test_the_checkpoint_comes_first(switch: Switch) -> None:
    assert restore.restore(switch) is True
    assert switch.config == BEFORE
    assert [line.partition(" fabricgen-")[0] for line in switch.log] == [
        "config rollback fabricgen",
        "config delete-checkpoint fabricgen",
        "systemctl stop",
    ]
    assert restore.restore(switch) is False


@pytest.mark.parametrize("kind", ["failing", "ignored"])
def test_a_rollback_without_success_is_followed_by_a_reload(switch: Switch, kind: str) -> None:
    setattr(switch, kind, ("config rollback",))
    restore.restore(switch)
    assert "config reload -y -f before.json" in switch.log
    assert switch.config == switch.startup == BEFORE


def test_a_configuration_that_yang_refuses_is_reloaded_as_the_startup_file(switch: Switch) -> None:
    switch.failing = ("config rollback", f"config reload -y -f {switch.folder}")
    switch.startup_file.write_bytes(kept := b'{"PORT": {}}')
    (switch.folder / "startup.json").write_bytes(kept)
    restore.restore(switch)
    assert "config reload -y -f" in switch.log
    assert switch.config == BEFORE
    assert switch.startup_file.read_bytes() == kept


def test_no_rollback_after_half_a_reload(switch: Switch) -> None:
    switch.config, switch.loaded = {}, False
    restore.restore(switch)
    assert not [line for line in switch.log if "rollback" in line]
    assert switch.config == BEFORE


def test_a_restore_without_effect_is_an_error_and_stays_in_progress(switch: Switch) -> None:
    switch.ignored = ("config",)
    with pytest.raises(DeviceError, match="these tables differ from the previous configuration: PORT"):
        restore.restore(switch)
    assert switch.pending() is not None
    assert len(switch.timers) == 1


def test_the_startup_file_is_restored_byte_by_byte(switch: Switch) -> None:
    switch.startup_file.write_text("half of a saved fi")
    switch.startup_file.chmod(0o600)
    kept = (switch.folder / "startup.json").read_bytes()
    restore.restore(switch)
    assert switch.startup_file.read_bytes() == kept


def test_a_startup_file_that_did_not_exist_is_removed(tmp_path: Path) -> None:
    switch = Switch(tmp_path, tables(mtu="1500"))
    switch.startup_file.unlink()
    transaction.prepare(switch, switch.request(tables()), check=False)
    switch.startup_file.write_text("{}")
    restore.restore(switch)
    assert not switch.startup_file.exists()


def test_the_timer_restores_only_its_own_change(switch: Switch, monkeypatch: pytest.MonkeyPatch) -> None:
    (timer,) = switch.timers
    monkeypatch.setattr(restore, "Device", lambda folder: switch)
    for name, config in (("another", tables() | OWN), (timer, BEFORE)):
        monkeypatch.setattr(sys, "argv", ["restore.py", name])
        restore.main()
        assert switch.config == config


def test_the_timer_tries_again_before_it_fails(
    switch: Switch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    switch.ignored = ("config",)
    pauses: list[float] = []
    monkeypatch.setattr(restore, "Device", lambda folder: switch)
    monkeypatch.setattr(sys, "argv", ["restore.py", *switch.timers])
    monkeypatch.setattr(restore.time, "sleep", pauses.append)
    with pytest.raises(SystemExit) as ended:
        restore.main()
    assert ended.value.code == 1
    assert len(pauses) == 2
    assert capsys.readouterr().err.count("these tables differ from the previous configuration") == 3


def test_a_second_change_waits_for_the_lock(tmp_path: Path) -> None:
    device = Device(tmp_path / "work")
    with (
        device.locked(),
        pytest.raises(DeviceError, match="another change of this switch is still in progress"),
        Device(tmp_path / "work").locked(wait_s=0),
    ):
        pass
    with Device(tmp_path / "work").locked(wait_s=0):
        pass


def test_a_command_inherits_the_lock(tmp_path: Path) -> None:
    device = Device(tmp_path / "work")
    program = "import pathlib; print(*(file.resolve() for file in pathlib.Path('/proc/self/fd').iterdir()))"
    with device.locked():
        assert str(tmp_path / "work" / "lock") in device.run(sys.executable, "-c", program)
    with (tmp_path / "work" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_failing_command_is_quoted_with_the_end_of_its_output(tmp_path: Path) -> None:
    device = Device(tmp_path)
    program = "import sys; print(*range(30), sep=chr(10), file=sys.stderr); sys.exit(3)"
    with pytest.raises(DeviceError, match=r"failed with exit code 3: 10\n11\n") as failed:
        device.run(sys.executable, "-c", program)
    assert str(failed.value).endswith("\n29")
    assert device.attempt(sys.executable, "-c", program) is False
    with pytest.raises(DeviceError, match="no-such-command"):
        device.run("no-such-command")
    with pytest.raises(DeviceError, match="timed out"):
        device.run(sys.executable, "-c", "import time; time.sleep(9)", timeout_s=0.1)


def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x"
    put(file, b"old", 0o640)
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"old", 0o640)

    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(restore.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        put(file, b"new")
    assert file.read_bytes() == b"old"


def test_differing_tables() -> None:
    wanted = {"A": {"x": {"f": "1"}}, "B": {"x": {}}, "S": {"x": {"f": "1"}}}
    assert differing_tables(wanted, wanted) == []
    found = {"A": {"x": {"f": "1", "g": "2"}}, "C": {}, "S": {"x": {"f": "1", "g": "2"}, "y": {}}}
    assert differing_tables(wanted, found) == ["A", "B", "S"]
    assert differing_tables(wanted, found, ["S"]) == ["A", "B"]
    assert differing_tables({"S": {"x": {"f": "1"}}}, {"S": {"x": {"f": "2"}}}, ["S"]) == ["S"]
    assert differing_tables({"S": {"x": {}}}, {"S": {}}, ["S"]) == ["S"]
