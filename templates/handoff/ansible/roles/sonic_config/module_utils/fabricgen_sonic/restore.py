#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Put back what a switch ran before a change that nobody confirmed.

The role lays this file into its folder on the switch and sets a timer for it before it changes anything. It stands
alone: standard library only, and the switch's own commands.
"""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

# Files in the folder.
PENDING = "pending.json"  # there while a change is under way; written before, removed when it is saved or undone
BEFORE = "before.json"  # what ran before the change
STARTUP = "startup.json"  # the startup file before the change, byte by byte
TARGET = "target.json"
PATCH = "patch.json"

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_READ_TIMEOUT_S = 60
_LOAD_TIMEOUT_S = 1800
_LOCK_WAIT_S = 900
_ATTEMPTS, _PAUSE_S = 3, 20


class DeviceError(Exception):
    """A command of the switch failed, or the switch is not as it should be."""


class Device:
    """The switch, through its own commands and a folder of files that root alone can read."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self._lock = None

    @contextmanager
    def locked(self, wait_s=_LOCK_WAIT_S):
        """One change at a time. Commands that run hold the lock as well, also when whoever started them is killed."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            end = time.monotonic() + wait_s
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise DeviceError("another change of this switch is still running") from None
                    time.sleep(0.2)
            self._lock = lock.fileno()
            try:
                yield
            finally:
                self._lock = None

    def run(self, *command, timeout_s=_READ_TIMEOUT_S):
        """What a command says. Raises DeviceError with the end of what it said when it fails."""
        handed_on = () if self._lock is None else (self._lock,)
        try:
            done = subprocess.run(
                list(command),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                pass_fds=handed_on,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DeviceError(f"`{' '.join(command)}`: {error}") from error
        if done.returncode:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-20:]
            raise DeviceError(f"`{' '.join(command)}` ended with {done.returncode}: " + "\n".join(said))
        return done.stdout

    def load(self, *command):
        """A command that changes the configuration."""
        return self.run(*command, timeout_s=_LOAD_TIMEOUT_S)

    def attempt(self, *command):
        """Whether a command went well."""
        try:
            self.load(*command)
        except DeviceError:
            return False
        return True

    def is_whole(self):
        """Whether CONFIG_DB is loaded. From the flush to the end of a reload this flag is missing, and SONiC's own
        commands wait for it."""
        return self.run("sonic-db-cli", "CONFIG_DB", "GET", "CONFIG_DB_INITIALIZED").strip() == "1"

    def running(self):
        """The tables of CONFIG_DB."""
        return json.loads(self.run("sonic-cfggen", "-d", "--print-data"))

    def read(self, name, missing=None):
        """A JSON file of the folder, or `missing` when there is none."""
        file = self.folder / name
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else missing

    def write(self, name, value):
        """A JSON file of the folder."""
        put(self.folder / name, json.dumps(value, indent=4).encode())

    def remove(self, *names):
        """Remove files of the folder."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)

    def pending(self):
        """The change that is under way, or None. None of before the last boot is: the switch booted a whole file."""
        found = self.read(PENDING)
        return None if found is None or found["boot"] != boot_id() else found

    def close(self, pending):
        """The end of a change: from here on there is nothing to put back."""
        self.remove(PENDING)
        if pending["checkpoint"]:
            self.attempt("config", "delete-checkpoint", pending["checkpoint"])
        self.remove(TARGET, PATCH, STARTUP)
        self.stop_timer(pending["timer"])

    def start_timer(self, timer, after_s):
        """Restore after a while, whatever becomes of the connection, unless the change has another timer by then."""
        script = (sys.executable, str(self.folder / "restore.py"), timer)
        self.run("systemd-run", "--quiet", "--collect", f"--unit={timer}", f"--on-active={after_s}", *script)

    def stop_timer(self, timer):
        """Whether there was such a timer."""
        return self.attempt("systemctl", "stop", f"{timer}.timer")


def put(file, content, mode=0o600):
    """Put a file in place whole, or not at all."""
    handle, staged = tempfile.mkstemp(dir=str(file.parent))
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    Path(staged).chmod(mode)
    Path(staged).replace(file)


def boot_id():
    """Another one after each boot."""
    return _BOOT_ID.read_text(encoding="ascii").strip()


def unlike(wanted, found, shared):
    """The tables that are not as wanted. In the `shared` ones the switch may have more than that."""
    names = []
    for table in sorted(wanted.keys() | found.keys()):
        rows, others = wanted.get(table, {}), found.get(table, {})
        if table not in shared:
            same = rows == others
        else:
            same = all(
                key in others and all(others[key].get(field) == row[field] for field in row)
                for key, row in rows.items()
            )
        if not same:
            names.append(table)
    return names


def restore(device):
    """Back to what ran before the change under way, and to its startup file; the lock must be held.

    Returns whether there was a change under way. Raises DeviceError when the switch does not arrive there.
    """
    pending = device.pending()
    if pending is None:
        return False
    before, startup_file = device.read(BEFORE), Path(pending["startup_file"])
    _put_startup_back(device, startup_file)
    if _differs(device, before, pending) and pending["checkpoint"] and device.is_whole():
        device.attempt("config", "rollback", pending["checkpoint"])
    if _differs(device, before, pending):
        device.run("sonic-db-cli", "CONFIG_DB", "SET", "CONFIG_DB_INITIALIZED", "1")
        if not device.attempt("config", "reload", "-y", "-f", str(device.folder / BEFORE)):
            # With a file, reload asks the YANG models; what ran need not have been valid.
            put(startup_file, (device.folder / BEFORE).read_bytes())
            device.load("config", "reload", "-y", "-f")
            _put_startup_back(device, startup_file)
    if tables := _differs(device, before, pending):
        raise DeviceError(f"after the restore these tables differ from what ran before: {', '.join(tables)}")
    device.close(pending)
    return True


def _put_startup_back(device, startup_file):
    kept = device.folder / STARTUP
    if not kept.exists():
        startup_file.unlink(missing_ok=True)
    elif not startup_file.exists() or startup_file.read_bytes() != kept.read_bytes():
        put(startup_file, kept.read_bytes(), kept.stat().st_mode & 0o777)


def _differs(device, before, pending):
    if not device.is_whole():
        return ["all of them"]
    return unlike(before, device.running(), pending["shared"])


def main():
    """What the timer runs, with its own name."""
    device, timer = Device(Path(__file__).parent), sys.argv[1]
    for left in range(_ATTEMPTS, 0, -1):
        try:
            with device.locked():
                pending = device.pending()
                if pending and pending["timer"] == timer:
                    restore(device)
            return
        except DeviceError as error:
            print(error, file=sys.stderr)  # noqa: T201 (for the journal)
            if left == 1:
                sys.exit(1)
            time.sleep(_PAUSE_S)


if __name__ == "__main__":
    main()
