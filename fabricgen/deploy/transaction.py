"""A change of a switch in steps that can be undone at any moment: by the play, by the next run, or by a timer.

    prepare    compare; keep the running configuration and the startup file, take a checkpoint, set the timer
    apply      `config apply-patch` for each patch of the plan, or `config reload`
    verify     compare again
    save       replace the startup file; the change is complete, stop the timer
    undo       restore what prepare kept

All steps but `prepare` read the change from the files that prepare wrote. They add the secrets that no message may show
to `hidden`.

pending.json decides: while it exists, the timer or a failing play restores the previous configuration. A run that finds
one follows a run that was killed. It starts from the configuration that the killed run kept, and keeps that one.
"""

import json
import secrets
import time
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..diff.patch import Route
from ..sonic.releases import DEFAULT, release_of
from ..sonic.tables import ConfigDb
from ..sonic.updater.unparsed import refuses_files
from .daemons import held_problems, in_short
from .disguise import Disguise
from .frr import announce, missing_statements, reads_frr_conf, with_isolation
from .headroom import profiles
from .isolation import is_isolated, isolation
from .restore import (
    BEFORE,
    FRR_BEFORE,
    FRR_FILE,
    FRR_TARGET,
    PATCH,
    PATCHES,
    STARTUP,
    TARGET,
    Device,
    DeviceError,
    Pending,
    boot_id,
    differing_tables,
    put,
    put_frr,
    restore,
    text_of,
)
from .state import lost_sessions, sessions
from .target import Preference, Source, Way, aim, without_switch_made

_PAUSE_S = 5  # between two readings of the BGP sessions
PREVIOUS = "previous.json"  # the configuration before the last change that was saved
FRR_PREVIOUS = "frr_previous.conf"  # its frr.conf, if one of both configurations reads it
OWNED = "owned_tables.json"  # the tables that were rendered for this switch at that time
SAVED = "saved.json"


@dataclass
class Request:
    """What the role passes to a step."""

    rendered: dict[str, Any]
    disguise: Disguise
    secrets: dict[str, Any] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    source: Source = Source.RENDERED
    route: Preference = Preference.AUTO
    startup_file: str = "/etc/sonic/config_db.json"
    checkpoint: str = "fabricgen"
    restore_after_s: int = 900
    settle_s: int = 180
    frr_conf: str = ""  # rendered, for a VTEP; "" for other switches
    frr_file: str = FRR_FILE


@dataclass
class Transition:
    """The running configuration, the target, and the way from one to the other."""

    running: ConfigDb
    target: ConfigDb
    way: Way
    is_saved: bool  # whether the startup file already has the target
    pending: Pending | None  # the change of a run that was killed
    frr_found: str | None = None  # the text of frr.conf on the switch; None without one
    frr_target: str | None = None  # None if the target does not have one

    @property
    def tables(self) -> list[str]:
        """The tables that differ."""
        return differing_tables(self.running, self.target)

    @property
    def differs(self) -> bool:
        """Whether there is anything to do. A run that was killed between the change and its end has to be completed."""
        return bool(self.tables) or self.changes_frr or not self.is_saved or self.pending is not None

    @property
    def changes_frr(self) -> bool:
        """Whether frr.conf differs."""
        return self.frr_target is not None and self.frr_target != self.frr_found


def make_plan(device: Device, request: Request) -> Transition:
    """Compare without any change on the switch. Raises DeviceError."""
    pending = device.pending()
    if not device.is_loaded():
        raise DeviceError("CONFIG_DB is not loaded: a reload was interrupted, or is still in progress")
    running = device.running()
    request.disguise.note(running)
    base = device.read(BEFORE) if pending else running
    startup_file = Path(request.startup_file)
    startup = json.loads(startup_file.read_text(encoding="utf-8")) if startup_file.exists() else {}
    if request.source is Source.PREVIOUS:
        target = device.read(PREVIOUS)
        if target is None:
            raise DeviceError("there is no previous configuration: no change of this switch was saved yet")
        is_saved = not differing_tables(target, startup, request.shared)
        frr_target = text_of(device.folder / FRR_PREVIOUS)
    else:
        try:
            rendered = request.disguise.fill(request.rendered, request.secrets)
        except KeyError as error:
            raise DeviceError(f"no value for secret {error.args[0]}") from error
        owned = device.read(OWNED, [])
        target = aim(base, rendered, request.shared, owned)
        is_saved = not differing_tables(startup, aim(startup, rendered, request.shared, owned))
        isolated = isolation(rendered) if is_isolated(base) else {}
        frr_target = with_isolation(request.frr_conf, target, isolated) if request.frr_conf else None
    way = Way(running, target, request.route, profiles(running))
    return Transition(running, target, way, is_saved, pending, text_of(Path(request.frr_file)), frr_target)


def prepare(device: Device, request: Request, *, check: bool) -> tuple[Transition, str]:
    """The plan, and why it is refused ("" when it is not). Without `check` the switch is ready for the other steps.

    Raises DeviceError.
    """
    with device.locked():
        if not check and device.pending() and not device.is_loaded():
            restore(device)  # half a reload is not a base for a plan
        plan = make_plan(device, request)
        refusal = _refusal(plan, request)
        if not refusal and plan.differs and not check:
            _make_ready(device, request, plan)
        return plan, refusal


def _refusal(plan: Transition, request: Request) -> str:
    reasons = "; ".join(plan.way.reasons)
    if plan.way.route is Route.REBOOT:
        return f"the change needs a reboot; nothing was changed: {reasons}"
    if request.route is Preference.PATCH and plan.way.route is Route.RELOAD:
        return f"`config apply-patch` cannot make the change; nothing was changed: {reasons}"
    return ""


def _make_ready(device: Device, request: Request, plan: Transition) -> None:
    put(device.folder / "restore.py", files(__package__).joinpath("restore.py").read_bytes(), 0o700)
    device.write(TARGET, plan.target)
    device.write(PATCHES, plan.way.patches)
    killed = plan.pending
    checkpoint = killed.checkpoint if killed else _keep_running(device, request, plan)
    has_frr = plan.frr_target is not None or reads_frr_conf(plan.running)
    replaces_frr = plan.changes_frr or (killed is not None and killed.replaces_frr)
    if plan.frr_target is not None and replaces_frr:
        put(device.folder / FRR_TARGET, plan.frr_target.encode())
    timer = f"fabricgen-restore-{secrets.token_hex(4)}"
    waits_s = request.settle_s * sum(patch["settle"] for patch in plan.way.patches)
    device.start_timer(timer, request.restore_after_s + plan.way.seconds + waits_s)
    pending = Pending(
        boot=boot_id(),
        timer=timer,
        route=plan.way.route,
        checkpoint=checkpoint,
        startup_file=request.startup_file,
        settle_s=request.settle_s,
        shared=request.shared,
        sessions=killed.sessions if killed else sessions(device),
        owned=sorted(request.rendered) if request.source is Source.RENDERED else None,
        hidden=sorted(request.disguise.seen.union(map(str, request.secrets.values()))),
        held=killed.held if killed else held_problems(device, plan.running),
        frr_file=request.frr_file if has_frr else "",
        replaces_frr=replaces_frr,
    )
    device.begin(pending)  # the timer exists before the change begins
    if killed:
        device.stop_timer(killed.timer)


def _keep_running(device: Device, request: Request, plan: Transition) -> str:
    """Keep the running configuration and the startup file; returns the name of the checkpoint, if one was taken."""
    device.write(BEFORE, plan.running)
    startup_file = Path(request.startup_file)
    device.remove(STARTUP)
    if startup_file.exists():
        put(device.folder / STARTUP, startup_file.read_bytes(), startup_file.stat().st_mode & 0o777)
    device.remove(FRR_BEFORE, FRR_TARGET)
    if (frr_file := Path(request.frr_file)).exists() and (plan.frr_target is not None or reads_frr_conf(plan.running)):
        put(device.folder / FRR_BEFORE, frr_file.read_bytes())
    if plan.way.route is not Route.APPLY_PATCH or len(plan.way.patches) > 1 or plan.changes_frr:
        return ""  # the updater may not find an order for the way back in one patch, so a reload restores the switch
    if request.checkpoint in json.loads(device.run("config", "list-checkpoints")):
        device.run("config", "delete-checkpoint", request.checkpoint)
    device.run("config", "checkpoint", request.checkpoint)
    return request.checkpoint


def apply(device: Device, hidden: set[str]) -> None:
    """Load what prepare wrote. A reload names the file, so that after a power cut the switch boots the old one. A file
    that the YANG library of the release cannot read goes through standard input, which is not validated."""
    with device.locked():
        pending = _in_progress(device, hidden)
        frr_conf = text_of(device.folder / FRR_TARGET)
        if frr_conf is not None:
            put_frr(Path(pending.frr_file), frr_conf.encode())
            device.remove(FRR_TARGET)
        if pending.route == Route.RELOAD:
            target = device.folder / TARGET
            release = release_of(device.read(BEFORE, {})) or DEFAULT
            if refuses_files(device.read(TARGET), release):
                device.load("config", "reload", "-y", "/dev/stdin", stdin=target)
            else:
                device.load("config", "reload", "-y", str(target))
        elif pending.route != Route.NONE:
            _apply_patches(device, pending)
        if frr_conf is not None and pending.route != Route.RELOAD:
            announce(device, frr_conf)


def _apply_patches(device: Device, pending: Pending) -> None:
    """Apply the patches in order. Ports and sessions of a batch are up before those of the next one go down."""
    target = device.read(TARGET)
    for step in device.read(PATCHES):
        device.write(PATCH, step["patch"])
        device.load("config", "apply-patch", str(device.folder / PATCH))
        if step["settle"]:
            _await_sessions(device, pending, target)


def _await_sessions(device: Device, pending: Pending, target: ConfigDb) -> None:
    end = time.monotonic() + pending.settle_s
    while lost := lost_sessions(pending.sessions, target, sessions(device)):
        if time.monotonic() > end:
            raise DeviceError(f"after a patch: {'; '.join(lost)}")
        time.sleep(_PAUSE_S)


def deviations(device: Device, hidden: set[str]) -> list[str]:
    """What differs from the target after a change: tables, what the daemons hold, except for what they did not hold
    before, and sessions that are not established again."""
    pending = _in_progress(device, hidden)
    if not device.is_loaded():
        return ["CONFIG_DB is not loaded"]
    target, running = device.read(TARGET), device.running()
    tables = differing_tables(target, without_switch_made(running, target), pending.shared)
    problems = [f"these tables differ from the target: {', '.join(tables)}"] if tables else []
    if not tables:
        problems += in_short([one for one in held_problems(device, target) if one not in pending.held])
    if pending.frr_file and reads_frr_conf(target):
        problems += in_short(missing_statements(device, text_of(Path(pending.frr_file)) or ""))
    return problems + lost_sessions(pending.sessions, target, sessions(device))


def save(device: Device, hidden: set[str]) -> None:
    """Make the running configuration the startup file, and complete the change."""
    with device.locked():
        pending = _in_progress(device, hidden)
        startup_file = Path(pending.startup_file)
        mode = startup_file.stat().st_mode & 0o777 if startup_file.exists() else 0o644
        device.run("config", "save", "-y", str(device.folder / SAVED))
        put(startup_file, (device.folder / SAVED).read_bytes(), mode)  # `config save` alone is not atomic
        owned = pending.owned or []
        device.write(OWNED, sorted({*owned, *device.read(OWNED, [])}))
        before, frr_before = device.read(BEFORE), device.folder / FRR_BEFORE
        if differing_tables(before, device.read(TARGET)) or pending.replaces_frr:
            device.write(PREVIOUS, before)
            device.remove(FRR_PREVIOUS)
            if frr_before.exists():
                put(device.folder / FRR_PREVIOUS, frr_before.read_bytes())
        device.finish(pending)
        if owned:
            device.write(OWNED, owned)
        device.remove(SAVED)


def undo(device: Device, hidden: set[str]) -> bool:
    """Undo the change in progress. Returns whether there was one."""
    with device.locked():
        if pending := device.pending():
            hidden.update(pending.hidden)
        return restore(device)


def _in_progress(device: Device, hidden: set[str]) -> Pending:
    pending = device.pending()
    if pending is None:
        raise DeviceError("no change is in progress: the switch was restored in the meantime")
    hidden.update(pending.hidden)  # the message of a command may quote them
    return pending
