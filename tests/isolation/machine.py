"""A kernel with VRFs or bonds for tests: User Mode Linux with the files of this machine, or the own kernel if it has
them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.components import missing, require_namespaces

_INSIDE = Path(__file__).with_name("inside.py")
_KERNEL = "linux.uml"
_LONGEST_S = 1500
_INIT = """\
#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mkdir -p /run/netns
{command}
sync
echo o > /proc/sysrq-trigger
sleep 10
"""


def require_machine(device: str = "vrf") -> None:
    """Skip the test where no kernel with this kind of device, or no FRR, is there."""
    if not Path("/usr/lib/frr/bgpd").is_file():
        missing("FRR", "apt-get install frr")
    if not shutil.which(_KERNEL) and not _has(device):
        missing(f"a kernel with devices of type {device}", "apt-get install user-mode-linux")
    if not shutil.which(_KERNEL):
        require_namespaces()


def run(scenarios: dict[str, Any], inside: Path = _INSIDE) -> dict[str, Any]:
    """The results of the scenarios, by the script that runs inside the machine."""
    with tempfile.TemporaryDirectory(prefix="tenants-") as name:
        folder = Path(name)
        spec, results, init = (folder / one for one in ("spec.json", "results.json", "init"))
        spec.write_text(json.dumps(scenarios))
        command = [sys.executable, "-S", str(inside), str(spec), str(results)]
        if shutil.which(_KERNEL):
            log = folder / "log"
            init.write_text(_INIT.format(command=f"{' '.join(command)} >{log} 2>&1"))
            init.chmod(0o755)
            command = [_KERNEL, "mem=1G", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", f"init={init}"]
            command += ["con=null", "con0=null", "quiet", f"uml_dir={folder}/"]
        shown = _finished(command)
        if (folder / "log").is_file():
            shown = (folder / "log").read_text()
        assert results.is_file(), f"no results: {shown}"
        found: dict[str, Any] = json.loads(results.read_text())
        assert found.keys() == scenarios.keys(), shown
        return {**found, "": shown}


def _finished(command: list[str]) -> str:
    """The output of a command, with all its processes at an end."""
    started = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        return started.communicate(timeout=_LONGEST_S)[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)


def _has(device: str) -> bool:
    table = ["table", "1001"] if device == "vrf" else []
    command = ["unshare", "-n", "ip", "link", "add", "probe", "type", device, *table]
    return not subprocess.run(command, capture_output=True, check=False).returncode
