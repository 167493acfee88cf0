"""The rules that name RDMA devices, read and run by udev itself, with a stand-in for rdma_rename."""

import subprocess
from pathlib import Path

import pytest

from fabricgen.bundle.host_settings import read_settings
from tests.components import require_root, tool
from tests.render.hosts.rendered import files_of, inventory

RULES = "udev/60-rdma-persistent-naming.rules"
NAMED = inventory().replace("count: 2}", "count: 2, rdma_names: nic}", 1)
SECOND = '"*/0000:40:00.0/infiniband/*"'


def rules() -> str:
    """The rendered file."""
    return files_of(NAMED)[f"hosts/gpu/{RULES}"].decode()


@pytest.fixture
def udev(tmp_path: Path) -> "Udev":
    """udev with an own folder of rules, and programs that only log their arguments."""
    require_root()
    return Udev(tool("udevadm", "udev"), tmp_path)


class Udev:
    """Runs `udevadm test` in a mount namespace, for the loopback interface: any device serves that sysfs has."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder
        (folder / "lib").mkdir()
        stand_in = folder / "lib/rdma_rename"
        # kernel-boot/rdma_rename.c, main: prints the new name, and exits with 1 where it does not rename
        stand_in.write_text(f'#!/bin/sh\necho "$@" >>{folder}/calls\n[ "$2" = NAME_FALLBACK ] || echo "$3"\n')
        stand_in.chmod(0o755)

    def run(self, text: str) -> tuple[list[str], list[str]]:
        """(calls of rdma_rename, complaints of udev) for a text of rules."""
        (self.folder / "rules").write_text(text)
        (self.folder / "calls").write_text("")
        commands = [
            "mount -t tmpfs none /run",
            "mkdir -p /run/udev/rules.d",
            f"cp {self.folder}/rules /run/udev/rules.d/60-rdma-persistent-naming.rules",
            f"mount --bind {self.folder}/lib /usr/lib/udev",
            f"{self.program} test --action=add /sys/class/net/lo",
        ]
        done = subprocess.run(["unshare", "-m", "sh", "-ec", "; ".join(commands)], capture_output=True, text=True)
        assert "Reading rules file: /run/udev/rules.d/60-rdma" in done.stderr, done.stderr
        complaints = [line for line in done.stderr.splitlines() if line.startswith("/run/udev/rules.d/")]
        return (self.folder / "calls").read_text().splitlines(), complaints


def for_loopback(text: str) -> str:
    """The rules with the loopback interface in the place of RDMA devices."""
    return text.replace('SUBSYSTEM!="infiniband"', 'SUBSYSTEM!="net"')


def test_each_device_gets_one_name(udev: Udev) -> None:
    text = for_loopback(rules())
    assert SECOND in text
    assert udev.run(text.replace(SECOND, '"*/virtual/net/lo"')) == (["lo NAME_FIXED mlx5_rail1"], [])
    assert udev.run(text) == (["lo NAME_FALLBACK"], []), "a device that the model does not have"
    assert udev.run(rules()) == ([], []), "a device that is not for RDMA"


LINE = 'DEVPATH=="*/0000:40:00.0/infiniband/*", PROGRAM="rdma_rename %k NAME_FIXED mlx5_rail1"'
LINES = {
    "valid": LINE,
    "no comma": LINE.replace('", PROG', '" PROG'),
    "blanks": LINE.replace("==", " == "),
    "assigned": LINE.replace("==", "=", 1),
    "no quotes": LINE.replace('"', ""),
    "open quote": LINE[:-1],
    "lower case": LINE.replace("DEVPATH", "devpath"),
    "a word more": LINE + " always",
    "two lines": LINE.replace(", ", ", \\\n"),
    "comma at the end": LINE + ",",
    "kernels": LINE.replace("DEVPATH", "KERNELS").replace("*/0000:40:00.0/infiniband/*", "0000:40:00.0"),
    "comment": "# " + LINE,
}


@pytest.mark.parametrize("name", LINES)
def test_udev_reads_the_same_lines(udev: Udev, name: str) -> None:
    """A line that udev ignores has a fault, and any other line gives its name."""
    _, complaints = udev.run(LINES[name] + "\n")
    found = read_settings(RULES, LINES[name] + "\n")
    assert bool(complaints) == bool(found.faults), (complaints, found)
    assert found.values == ({} if complaints or name == "comment" else {"0000:40:00.0": "mlx5_rail1"})


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('ACTION!="add"', 'ACTION!="addx"', "no name"),
        ('SUBSYSTEM!="net"', 'SUBSYSTEM!="network"', "no name"),
        ('LABEL="fabricgen_rdma_end"', "# no label", "fault"),
        ("rail1", "rail7", "other name"),
    ],
)
def test_a_fault_shows_in_both(udev: Udev, old: str, new: str, code: str) -> None:
    text = for_loopback(rules()).replace(SECOND, '"*/virtual/net/lo"').replace(old, new, 1)
    calls, complaints = udev.run(text)
    for_rdma = text.replace("net", "infiniband").replace('"*/virtual/infiniband/lo"', SECOND)
    found = read_settings(RULES, for_rdma)
    assert bool(complaints) == bool(found.faults) == (code == "fault")
    named = [call.split()[-1] for call in calls if "NAME_FIXED" in call]
    assert named == [name for name in [found.values.get("0000:40:00.0")] if name]
    assert (named == ["mlx5_rail1"]) == (code == "fault")
