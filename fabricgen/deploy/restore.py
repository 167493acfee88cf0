#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Restore the configuration that a switch had before a change that was not confirmed.

The role copies this file into its folder on the switch and sets a timer for it before it changes anything. The file
imports only the standard library and calls only the commands of the switch.
"""

import dataclasses
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Files in the folder.
PENDING = "pending.json"  # exists while a change is in progress: written before it, removed when it is saved or undone
BEFORE = "before.json"  # the running configuration before the change
STARTUP = "startup.json"  # the startup file before the change, byte by byte
TARGET = "target.json"
PATCH = "patch.json"  # the patch in progress
PATCHES = "patches.json"  # all patches, in order
FRR_FILE = "/etc/sonic/frr/frr.conf"  # of the switch
FRR_BEFORE = "frr_before.conf"  # frr.conf before the change, if the switch had one
FRR_TARGET = "frr_target.conf"  # until it is applied; does not exist if frr.conf stays

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_READ_TIMEOUT_S = 60
_LOAD_TIMEOUT_S = 1800
_LOCK_WAIT_S = 900
_ATTEMPTS, _PAUSE_S = 3, 20
# What docker_init.sh appends to frr.conf of a VTEP (sonic-buildimage docker-fpm-frr, write_default_zebra_config).
_APPENDED = ("no fpm use-next-hop-groups", "fpm address 127.0.0.1")

_Tables = Mapping[str, Mapping[str, Mapping[str, Any]]]


class DeviceError(Exception):
    """A command of the switch failed, or the switch is in an unexpected state."""


@dataclass(frozen=True)
class Pending:
    """A change in progress, as pending.json contains it."""

    boot: str  # boot_id() at the start of the change
    timer: str  # name of the unit that restores the switch
    route: str  # none | apply-patch | reload
    checkpoint: str  # "" without a checkpoint
    startup_file: str
    settle_s: int  # for BGP sessions between two batches of ports
    shared: list[str]  # tables in which the switch may have more than the target
    sessions: list[str]  # BGP peers with an established session before the change
    owned: list[str] | None  # rendered tables; None when the target is the previous configuration
    hidden: list[str]  # secrets that no message may quote
    held: list[str] = dataclasses.field(default_factory=list)  # what the daemons did not hold before the change
    frr_file: str = ""  # frr.conf; "" if neither configuration reads it
    replaces_frr: bool = False  # whether the change replaces it


class Device:
    """The switch, through its own commands and a folder of files that only root can read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock: int | None = None

    @contextmanager
    def locked(self, wait_s: float = _LOCK_WAIT_S) -> Iterator[None]:
        """One change at a time. Commands inherit the lock, so they hold it even when the process that started them is
        killed. Raises DeviceError when the lock is not free in time."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            end = time.monotonic() + wait_s
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise DeviceError("another change of this switch is still in progress") from None
                    time.sleep(0.2)
            self._lock = lock.fileno()
            try:
                yield
            finally:
                self._lock = None

    def run(self, *command: str, timeout_s: float = _READ_TIMEOUT_S, stdin: Path | None = None) -> str:
        """The standard output of a command, which reads the file `stdin`. Raises DeviceError with the end of its output
        when it fails."""
        try:
            with Path(stdin or os.devnull).open("rb") as file:
                done = subprocess.run(
                    command,
                    stdin=file,
                    capture_output=True,
                    text=True,
                    timeout=timeout_s,
                    pass_fds=() if self._lock is None else (self._lock,),
                    check=False,
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DeviceError(f"`{' '.join(command)}`: {error}") from error
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines()[-20:]
            raise DeviceError(f"`{' '.join(command)}` failed with exit code {done.returncode}: " + "\n".join(lines))
        return done.stdout

    def load(self, *command: str, stdin: Path | None = None) -> str:
        """Like `run`, for a command that changes the configuration and takes minutes."""
        return self.run(*command, timeout_s=_LOAD_TIMEOUT_S, stdin=stdin)

    def attempt(self, *command: str) -> bool:
        """Whether a command succeeds."""
        try:
            self.load(*command)
        except DeviceError:
            return False
        return True

    def is_loaded(self) -> bool:
        """Whether CONFIG_DB is complete. The flag is missing from the flush to the end of a reload. SONiC's own
        commands wait for it."""
        return self.run("sonic-db-cli", "CONFIG_DB", "GET", "CONFIG_DB_INITIALIZED").strip() == "1"

    def running(self) -> dict[str, Any]:
        """The tables of CONFIG_DB."""
        tables: dict[str, Any] = json.loads(self.run("sonic-cfggen", "-d", "--print-data"))
        return tables

    def read(self, name: str, missing: Any = None) -> Any:
        """The content of a JSON file of the folder, or `missing` when the file does not exist."""
        file = self.folder / name
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else missing

    def write(self, name: str, value: object) -> None:
        """Write a JSON file of the folder."""
        put(self.folder / name, json.dumps(value, indent=4).encode())

    def remove(self, *names: str) -> None:
        """Remove files of the folder."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def pending(self) -> Pending | None:
        """The change in progress, or None. A boot ends a change: the switch then runs a complete startup file."""
        found = self.read(PENDING)
        return None if found is None or found["boot"] != boot_id() else Pending(**found)

    def begin(self, pending: Pending) -> None:
        """Begin a change: from here on the timer restores the switch."""
        self.write(PENDING, dataclasses.asdict(pending))

    def finish(self, pending: Pending) -> None:
        """End a change: from here on nothing is restored."""
        self.remove(PENDING)
        if pending.checkpoint:
            self.attempt("config", "delete-checkpoint", pending.checkpoint)
        self.remove(TARGET, PATCH, PATCHES, STARTUP, FRR_BEFORE, FRR_TARGET)
        self.stop_timer(pending.timer)

    def start_timer(self, timer: str, after_s: int) -> None:
        """Run this file on the switch after so many seconds, with or without a connection to it."""
        script = (sys.executable, str(self.folder / "restore.py"), timer)
        self.run("systemd-run", "--quiet", "--collect", f"--unit={timer}", f"--on-active={after_s}", *script)

    def stop_timer(self, timer: str) -> bool:
        """Whether the timer existed."""
        return self.attempt("systemctl", "stop", f"{timer}.timer")


def text_of(file: Path) -> str | None:
    """The text of frr.conf without what docker_init.sh appended; None where the file does not exist."""
    if not file.exists():
        return None
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.rstrip() not in _APPENDED)


def put_frr(file: Path, content: bytes) -> None:
    """Write frr.conf for the user of FRR, who owns its folder."""
    file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    put(file, content, 0o640)
    owner = file.parent.stat()
    os.chown(file, owner.st_uid, owner.st_gid)


def put(file: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file completely, or not at all."""
    handle, staged = tempfile.mkstemp(dir=str(file.parent))
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    Path(staged).chmod(mode)
    Path(staged).replace(file)


def boot_id() -> str:
    """The identifier of this boot; it changes with each boot."""
    return _BOOT_ID.read_text(encoding="ascii").strip()


def differing_tables(wanted: _Tables, found: _Tables, shared: Collection[str] = ()) -> list[str]:
    """The tables that differ. A table of `shared` differs only where a wanted field is missing or has another value."""
    names = []
    for table in sorted(wanted.keys() | found.keys()):
        rows, others = wanted.get(table, {}), found.get(table, {})
        same = _contains(others, rows) if table in shared else rows == others
        if not same:
            names.append(table)
    return names


def _contains(rows: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Mapping[str, Any]]) -> bool:
    return all(
        key in rows and all(rows[key].get(field) == value for field, value in row.items())
        for key, row in wanted.items()
    )


def restore(device: Device) -> bool:
    """Restore the configuration and the startup file from before the change in progress. The lock must be held.

    Returns whether a change was in progress. Raises DeviceError when the switch does not have that configuration at the
    end.
    """
    pending = device.pending()
    if pending is None:
        return False
    before, startup_file = device.read(BEFORE), Path(pending.startup_file)
    _restore_startup_file(device, startup_file)
    reads_again = _restore_frr_file(device, pending)
    if _differs(device, before, pending) and pending.checkpoint and device.is_loaded():
        device.attempt("config", "rollback", pending.checkpoint)
    if reads_again or _differs(device, before, pending):
        device.run("sonic-db-cli", "CONFIG_DB", "SET", "CONFIG_DB_INITIALIZED", "1")
        if not device.attempt("config", "reload", "-y", "-f", str(device.folder / BEFORE)):
            # `config reload FILE` validates the file with YANG; the configuration before the change may be invalid.
            put(startup_file, (device.folder / BEFORE).read_bytes())
            device.load("config", "reload", "-y", "-f")
            _restore_startup_file(device, startup_file)
    if tables := _differs(device, before, pending):
        raise DeviceError(f"after the restore these tables differ from the previous configuration: {', '.join(tables)}")
    device.finish(pending)
    return True


def _restore_startup_file(device: Device, startup_file: Path) -> None:
    kept = device.folder / STARTUP
    if not kept.exists():
        startup_file.unlink(missing_ok=True)
    elif not startup_file.exists() or startup_file.read_bytes() != kept.read_bytes():
        put(startup_file, kept.read_bytes(), kept.stat().st_mode & 0o777)


def _restore_frr_file(device: Device, pending: Pending) -> bool:
    """Whether FRR must read its file again: the change gave FRR another one. FRR_TARGET is removed as it is applied."""
    if not pending.frr_file:
        return False
    file, kept = Path(pending.frr_file), device.folder / FRR_BEFORE
    if text_of(file) == text_of(kept):
        return pending.replaces_frr and not (device.folder / FRR_TARGET).exists()
    if kept.exists():
        put_frr(file, kept.read_bytes())
    else:
        file.unlink(missing_ok=True)
    return True


def _differs(device: Device, before: _Tables, pending: Pending) -> list[str]:
    if not device.is_loaded():
        return ["all tables"]
    return differing_tables(before, device.running(), pending.shared)


def main() -> None:
    """Restore when the timer of the change in progress is the one of the command line."""
    device, timer = Device(Path(__file__).parent), sys.argv[1]
    for left in range(_ATTEMPTS, 0, -1):
        try:
            with device.locked():
                pending = device.pending()
                if pending and pending.timer == timer:
                    restore(device)
            return
        except DeviceError as error:
            print(error, file=sys.stderr)  # noqa: T201 (for the journal)
            if left == 1:
                sys.exit(1)
            time.sleep(_PAUSE_S)


if __name__ == "__main__":
    main()
