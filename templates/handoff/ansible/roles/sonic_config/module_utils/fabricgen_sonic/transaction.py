"""A change of a switch in steps that can be undone at any moment: by the play, by the next run, or by a timer.

    prepare    compare; keep what runs and the startup file, take a checkpoint, set the timer; a change is under way
    apply      `config apply-patch` or `config reload`
    verify     compare again
    save       put the startup file in place; the change is no longer under way, the timer is stopped
    undo       put back what was kept

All but `prepare` know the change by what that laid ready, and tell their caller which secrets no message may show.

pending.json is the one thing that decides: while it is there the timer, or a failing play, puts back what ran before. A
run that finds one was preceded by a run that was killed; it starts from what ran before that one, and keeps it.
"""

import json
import pkgutil
import secrets
from dataclasses import dataclass
from pathlib import Path

from ansible.module_utils.fabricgen_sonic.disguise import Disguise
from ansible.module_utils.fabricgen_sonic.restore import (
    BEFORE,
    PATCH,
    PENDING,
    STARTUP,
    TARGET,
    DeviceError,
    boot_id,
    put,
    restore,
    unlike,
)
from ansible.module_utils.fabricgen_sonic.state import lost_sessions, sessions
from ansible.module_utils.fabricgen_sonic.target import NO_CHANGE, Way, aim, differing, without_made

PREVIOUS = "previous.json"  # what ran before the last change that was saved
OWNED = "owned_tables.json"  # the tables that were rendered for this switch then


@dataclass
class Order:
    """What is asked for."""

    rendered: dict
    secrets: dict
    disguise: Disguise
    shared: list
    source: str = "rendered"  # rendered | previous
    route: str = "auto"  # auto | patch | reload
    startup_file: str = "/etc/sonic/config_db.json"
    checkpoint: str = "fabricgen"
    restore_after_s: int = 900


@dataclass
class Plan:
    """What is, what is to be, and the way from here to there."""

    running: dict
    target: dict
    way: Way
    is_saved: bool
    pending: dict

    @property
    def tables(self):
        """The tables that differ."""
        return differing(self.running, self.target)


def make_plan(device, order):
    """Compare, and touch nothing. Raises DeviceError."""
    pending = device.pending()
    if not device.is_whole():
        raise DeviceError("CONFIG_DB is not loaded: a reload was interrupted, or is still running")
    running = order.disguise.look_at(device.running())
    base = device.read(BEFORE) if pending else running
    startup_file = Path(order.startup_file)
    startup = json.loads(startup_file.read_text(encoding="utf-8")) if startup_file.exists() else {}
    if order.source == "previous":
        target = device.read(PREVIOUS)
        if target is None:
            raise DeviceError("there is no configuration to go back to: nothing was applied to this switch yet")
        is_saved = not unlike(target, startup, order.shared)
    else:
        try:
            wanted = order.disguise.fill(order.rendered, order.secrets)
        except KeyError as error:
            raise DeviceError(f"no value for secret {error.args[0]}") from error
        owned = device.read(OWNED, [])
        target = aim(base, wanted, order.shared, owned)
        is_saved = not differing(startup, aim(startup, wanted, order.shared, owned))
    return Plan(running, target, Way(running, target, order.route), is_saved, pending)


def prepare(device, order, check):
    """The plan; unless `check`, all is laid ready for the other steps."""
    with device.locked():
        if not check and device.pending() and not device.is_whole():
            restore(device)  # half a reload: nothing can be planned on that
        plan = make_plan(device, order)
        problem = _refusal(plan, order)
        differs = bool(plan.tables) or not plan.is_saved
        if plan.pending and not differs:  # a run that was killed between the change and its end
            differs = True
        if problem is None and differs and not check:
            _lay_ready(device, order, plan)
        return plan, differs, problem


def _refusal(plan, order):
    if plan.way.route == "reboot":
        return "this takes a reboot, nothing was touched: " + "; ".join(plan.way.reasons)
    if order.route == "patch" and plan.way.route == "reload":
        return "`config apply-patch` cannot do this, nothing was touched: " + "; ".join(plan.way.reasons)
    return None


def _lay_ready(device, order, plan):
    put(device.folder / "restore.py", pkgutil.get_data(__package__, "restore.py"), 0o700)
    device.write(TARGET, plan.target)
    device.write(PATCH, plan.way.patch)
    checkpoint = plan.pending["checkpoint"] if plan.pending else ""
    if not plan.pending:
        device.write(BEFORE, plan.running)
        startup_file = Path(order.startup_file)
        device.remove(STARTUP)
        if startup_file.exists():
            put(device.folder / STARTUP, startup_file.read_bytes(), startup_file.stat().st_mode & 0o777)
        if plan.way.route == "apply-patch":
            checkpoint = order.checkpoint
            if checkpoint in json.loads(device.run("config", "list-checkpoints")):
                device.run("config", "delete-checkpoint", checkpoint)
            device.run("config", "checkpoint", checkpoint)
    timer = f"fabricgen-restore-{secrets.token_hex(4)}"
    device.start_timer(timer, order.restore_after_s + 2 * plan.way.seconds)
    note = {
        "boot": boot_id(),
        "timer": timer,
        "route": plan.way.route,
        "checkpoint": checkpoint,
        "startup_file": order.startup_file,
        "shared": order.shared,
        "sessions": plan.pending["sessions"] if plan.pending else sessions(device),
        "owned": sorted(order.rendered) if order.source == "rendered" else None,
        "hidden": sorted(order.disguise.seen.union(map(str, order.secrets.values()))),
    }
    device.write(PENDING, note)  # there is never a change under way without its timer
    if plan.pending:
        device.stop_timer(plan.pending["timer"])


def apply(device, seen):
    """Load what was laid ready. A reload names the file: after a power cut the switch boots from the old one."""
    with device.locked():
        pending = _under_way(device, seen)
        if pending["route"] == "reload":
            device.load("config", "reload", "-y", str(device.folder / TARGET))
        elif pending["route"] != NO_CHANGE:
            device.load("config", "apply-patch", str(device.folder / PATCH))


def deviations(device, seen):
    """What is not as it was to be after a change: tables that differ, and sessions that did not come back."""
    pending = _under_way(device, seen)
    if not device.is_whole():
        return ["CONFIG_DB is not loaded"]
    target, found = device.read(TARGET), device.running()
    tables = unlike(target, without_made(found, target), pending["shared"])
    problems = [f"these tables still differ: {', '.join(tables)}"] if tables else []
    return problems + lost_sessions(pending["sessions"], target, sessions(device))


def save(device, seen):
    """Make the running configuration the startup file, and the change a done one."""
    with device.locked():
        pending = _under_way(device, seen)
        startup_file = Path(pending["startup_file"])
        mode = startup_file.stat().st_mode & 0o777 if startup_file.exists() else 0o644
        device.run("config", "save", "-y", str(device.folder / "saved.json"))
        put(startup_file, (device.folder / "saved.json").read_bytes(), mode)  # `config save` alone is not atomic
        owned = pending["owned"] or []
        device.write(OWNED, sorted({*owned, *device.read(OWNED, [])}))
        before = device.read(BEFORE)
        if differing(before, device.read(TARGET)):
            device.write(PREVIOUS, before)
        device.close(pending)
        if owned:
            device.write(OWNED, owned)
        device.remove("saved.json")


def undo(device, seen):
    """Whether a change was under way; it is undone."""
    with device.locked():
        if pending := device.pending():
            seen.update(pending["hidden"])
        return restore(device)


def _under_way(device, seen):
    pending = device.pending()
    if pending is None:
        raise DeviceError("no change is under way any more: the switch was put back in the meantime")
    seen.update(pending["hidden"])  # a command's message may quote them
    return pending
