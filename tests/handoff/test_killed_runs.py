"""Runs that are killed at any moment. The next run or the timer ends with the old or the new configuration."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.handoff.ansible import SHARED_TABLES, ansible_files
from fabricgen.handoff.folder import write_folder
from tests.handoff.site import assert_holds, filled, older, rendered
from tests.handoff.switch.config_db import Tables, merge
from tests.handoff.switch.stand_in import StandIn

DRIVE = Path(__file__).parent / "switch" / "drive.py"
ROUTES = ("apply-patch", "reload")
KILLS = 10  # for each route, at moments spread evenly over a complete run
LONG_S = 36000


@dataclass
class Bench:
    """One switch, and the tables of its file."""

    switch: StandIn
    role: Path
    tables: Tables

    def reset(self, route: str, kill_at: int) -> Tables:
        """Load the older configuration; the next run is killed at moment `kill_at` (0: never)."""
        for file in (*self.switch.folder.glob("etc/fabricgen/*"), *self.switch.folder.glob("moments")):
            file.unlink()
        self.switch.hold(older(self.tables, takes_reload=route == "reload"))
        (self.switch.folder / "kill_at").write_text(str(kill_at))
        return self.switch.running

    def run(self, timer_s: int = LONG_S) -> "subprocess.CompletedProcess[str]":
        """A run in a new process group."""
        order = {
            "rendered": filled(self.tables),
            "secrets": {},
            "shared": SHARED_TABLES,
            "startup_file": str(self.switch.startup_file),
            "restore_after_s": timer_s,
            "settle_s": 2,
        }
        file = self.switch.folder / "order.json"
        file.write_text(json.dumps(order))
        return subprocess.run(
            [sys.executable, str(DRIVE), str(self.switch.folder), str(self.role), str(file)],
            env={**os.environ, "PATH": self.switch.path},
            start_new_session=True,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def moments(self) -> list[str]:
        """The moments of the last run."""
        return (self.switch.folder / "moments").read_text().splitlines()

    def wait_for_timer(self) -> None:
        """Wait until no timer is left, no change is in progress, and the lock is free."""
        end = time.monotonic() + 60
        while self.switch.timers() or (self.switch.folder / "etc/fabricgen/pending.json").exists():
            assert time.monotonic() < end, [file.read_text() for file in self.switch.folder.glob("units/*.log")]
            time.sleep(0.05)
        with (self.switch.folder / "etc/fabricgen/lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("killed")
    bundle = open_bundle([rendered(folder)])
    write_folder(folder / "project", ansible_files(bundle, "leaf1"))
    switch = StandIn.start("leaf1", sshd=False)
    try:
        yield Bench(switch, folder / "project" / "roles" / "sonic_config", json.loads(bundle.devices["leaf1"].text))
    finally:
        switch.stop()


Moments = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def moments(bench: Bench) -> Moments:
    """Route -> the moments of a complete run."""

    @cache
    def complete(route: str) -> list[str]:
        before = bench.reset(route, 0)
        done = bench.run()
        assert (done.returncode, done.stdout) == (0, route), done.stderr
        assert_holds(bench.switch.running, filled(bench.tables), before)
        assert bench.switch.startup == bench.switch.running
        return bench.moments()

    return complete


def after_the_reload(moments: Moments) -> int:
    """The moment after the last write of a reload."""
    return moments("reload").index("migrated") + 2


@pytest.mark.parametrize("nth", range(KILLS))
@pytest.mark.parametrize("route", ROUTES)
def test_a_killed_run_ends_with_the_old_or_the_new_configuration(
    bench: Bench, moments: Moments, route: str, nth: int
) -> None:
    before = bench.reset(route, 1 + (len(moments(route)) - 1) * nth // (KILLS - 1))
    assert bench.run().returncode == -signal.SIGKILL
    (bench.switch.folder / "kill_at").unlink()
    if nth % 2:
        bench.switch.pass_time()
        bench.wait_for_timer()
        assert bench.switch.is_whole
        assert bench.switch.running == bench.switch.startup
        if bench.switch.running != before:  # killed at the end
            assert_holds(bench.switch.running, filled(bench.tables), before)
        return
    done = bench.run()
    assert done.returncode == 0, done.stderr
    assert_holds(bench.switch.running, filled(bench.tables), before)
    assert bench.switch.startup == bench.switch.running
    bench.switch.pass_time()  # the timer of the killed run has nothing to restore
    bench.wait_for_timer()
    assert_holds(bench.switch.running, filled(bench.tables), before)


def test_the_timer_restores_what_is_not_confirmed(bench: Bench, moments: Moments) -> None:
    """The management connection is lost after the change, and time passes."""
    before = bench.reset("reload", after_the_reload(moments))
    assert bench.run(timer_s=1).returncode == -signal.SIGKILL
    assert bench.switch.running != before
    (bench.switch.folder / "kill_at").unlink()
    bench.wait_for_timer()
    assert bench.switch.running == bench.switch.startup == before


def test_a_write_that_the_updater_loses_is_found(bench: Bench) -> None:
    before = bench.reset("apply-patch", 0)
    (bench.switch.folder / "mishap").write_text("lost write")
    done = bench.run()
    (bench.switch.folder / "mishap").unlink()
    assert "these tables differ from the target: BUFFER_PG" in done.stderr
    assert bench.switch.running == bench.switch.startup == before
    assert bench.switch.timers() == []


def test_a_session_that_stays_down_undoes_the_change(bench: Bench) -> None:
    before = bench.reset("apply-patch", 0)
    peer = next(iter(before["BGP_NEIGHBOR"]))
    (bench.switch.folder / "lose").write_text(peer)
    done = bench.run()
    (bench.switch.folder / "down").unlink()
    assert f"BGP: the session with {peer} is down" in done.stderr
    assert bench.switch.running == bench.switch.startup == before


def test_a_configuration_that_the_models_refuse_is_restored(bench: Bench, moments: Moments) -> None:
    """With a table without a YANG model `config rollback` and `config reload FILE` refuse the configuration."""
    bench.reset("reload", after_the_reload(moments))
    merge(bench.switch.redis, {"SITE_NOTES": {"door": {"code": "1"}}})
    before = bench.switch.running
    names = bench.switch.folder / "yang_tables"
    models = names.read_text()
    names.write_text(models + " SITE_NOTES")  # the change is accepted,
    assert bench.run().returncode == -signal.SIGKILL
    names.write_text(models)  # the restore is not
    (bench.switch.folder / "kill_at").unlink()
    startup = bench.switch.startup
    bench.switch.pass_time()
    bench.wait_for_timer()
    assert bench.switch.running == before
    assert bench.switch.startup == startup
    assert "config reload -y -f" in bench.switch.log()
