"""Files of hosts with one change each: the rules find what systemd, sysctl and the kernel do not read as meant."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from fabricgen.bundle.hosts import ObservedHosts
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.findings import Severity
from fabricgen.rules.run import run
from tests.components import require_namespaces, tool
from tests.render.hosts.rendered import write_bundle

LINK, UNIT, SYSCTL = "links/10-rail0.link", "fabricgen-roce@.service", "sysctl.conf"
Edit = tuple[str, str]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return open_bundle([write_bundle(tmp_path_factory.mktemp("hosts") / "bundle")])


def changed(bundle: Bundle, file: str, edit: Edit) -> str:
    text = bundle.hosts["gpu"].text(file)
    old, new = edit
    assert old in text
    return text.replace(old, new, 1)


def severity(bundle: Bundle, file: str, text: str) -> Severity | None:
    """The most severe finding on a file with this text."""
    hosts = bundle.hosts["gpu"]
    other = replace(bundle, hosts={"gpu": ObservedHosts("gpu", hosts.folder, {file: text})})
    found = run(other, ["FG9"])
    own = [one.severity for one in found if one.device == hosts.name and one.path.partition("|")[0] == file]
    return next((one for one in (Severity.ERROR, Severity.WARNING) if one in own), None)


def isolated(script: str, *, mounts: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a script with its own network and, if asked, its own mounts."""
    require_namespaces()
    options = ["-n", *(["-m"] if mounts else [])]
    command = [tool("unshare", "util-linux"), *options, "sh", "-euc", script]
    environment = {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "SYSTEMD_LOG_LEVEL": "info", "LC_ALL": "C"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


LINKS: dict[str, tuple[Edit, Severity | None]] = {
    "as rendered": (("[Match]", "[Match]"), None),
    "blanks": (("Path=", "  Path = "), None),
    "quotes": (("Path=pci-0000:18:00.0", 'Path="pci-0000:18:00.0"'), None),
    "a section twice": (("Name=", "[Match]\n[Link]\nName="), None),
    "a MAC address to use": (("Name=", "MACAddress=02:00:00:00:00:01\nName="), None),
    "an empty list after the path": (("[Link]", "Path=\n[Link]"), Severity.ERROR),
    "no section": (("[Match]\n", ""), Severity.ERROR),
    "an open section": (("[Match]", "[Match"), Severity.ERROR),
    "a section in small letters": (("[Match]", "[match]"), Severity.ERROR),
    "a path before the sections": (("[Match]\nPath=", "Path="), Severity.ERROR),
    "a name in small letters": (("Name=", "name="), Severity.ERROR),
    "a colon": (("Name=rail0", "Name: rail0"), Severity.ERROR),
    "a comment after the name": (("Name=rail0", "Name=rail0 # first"), Severity.ERROR),
    "a condition of the kernel": (("[Link]", "KernelCommandLine=fabricgen\n[Link]"), Severity.ERROR),
}


@pytest.mark.parametrize("name", LINKS)
def test_udev_names_the_nic_by_the_file(bundle: Bundle, tmp_path: Path, name: str) -> None:
    """systemd-udevd applies the file to a NIC at its slot and gives it the name, or the rules report an error."""
    edit, expected = LINKS[name]
    text = changed(bundle, LINK, edit)
    assert severity(bundle, LINK, text) == expected
    (tmp_path / "10-rail0.link").write_text(text)
    udevadm = tool("udevadm", "udev")
    done = isolated(
        "mount -t sysfs sysfs /sys; mount -t tmpfs tmpfs /run; mkdir -p /run/udev/data /run/systemd/network;"
        "ip link add nic type veth peer name peer;"
        f"cp {shlex.quote(str(tmp_path))}/*.link /run/systemd/network;"
        r"printf 'I:1\nE:ID_PATH=pci-0000:18:00.0\nV:1\n' > /run/udev/data/n$(cat /sys/class/net/nic/ifindex);"
        f"{udevadm} test-builtin net_setup_link /sys/class/net/nic",
        mounts=True,
    )
    assert done.returncode == 0, done.stderr
    is_applied = "ID_NET_LINK_FILE=/run/systemd/network/10-rail0.link" in done.stdout
    is_named = "ID_NET_NAME=rail0" in done.stdout.splitlines()
    assert (is_applied and is_named) == (expected is None), done.stdout + done.stderr


UNITS: dict[str, tuple[Edit, Severity | None]] = {
    "as rendered": (("[Unit]", "[Unit]"), None),
    "a target, too": (("WantedBy=", "WantedBy=multi-user.target\nWantedBy="), None),
    "a list in two lines": (("After=network-pre.target ", "After=network-pre.target\nAfter="), None),
    "a quoted path": (
        ("/usr/local/sbin/fabricgen-roce --", '"/usr/local/sbin/fabricgen-roce" --'), None
    ),
    "no section": (("[Unit]\n", ""), Severity.ERROR),
    "an open section": (("[Service]", "[Service"), Severity.ERROR),
    "a key in small letters": (("After=", "after="), Severity.WARNING),
    "a relative path": (("=/usr/local/sbin/", "=usr/local/sbin/"), Severity.ERROR),
    "quotes around the command": (
        ("/usr/local/sbin/fabricgen-roce --wait 60 %I", '"/usr/local/sbin/fabricgen-roce --wait 60 %I"'), Severity.ERROR
    ),
    "a command before the script": (("ExecStart=", "ExecStart=/nonexistent\nExecStart="), Severity.WARNING),
    "a line without a value": (("RemainAfterExit=yes", "RemainAfterExit"), Severity.WARNING),
    "a key in another section": (("[Install]\n", ""), Severity.ERROR),
}  # fmt: skip


@pytest.mark.parametrize("name", UNITS)
def test_systemd_takes_the_unit(bundle: Bundle, tmp_path: Path, name: str) -> None:
    edit, expected = UNITS[name]
    text = changed(bundle, UNIT, edit)
    assert severity(bundle, UNIT, text) == expected
    (tmp_path / UNIT).write_text(text)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "fabricgen-roce").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "fabricgen-roce").chmod(0o755)
    folder, analyze = shlex.quote(str(tmp_path)), tool("systemd-analyze", "systemd")
    verify = f"{analyze} verify --man=no --recursive-errors=no {folder}/{UNIT}"
    done = isolated(f"mount --bind {folder}/bin /usr/local/sbin; {verify}", mounts=True)
    assert (done.returncode == 0 and not done.stderr) == (expected is None), done.stderr


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ("multi-user.target", Severity.WARNING),
        ("sys-subsystem-net-devices-%j.device", Severity.ERROR),
        ("zork", Severity.ERROR),
    ],
)
def test_what_starts_the_unit(bundle: Bundle, units: str, expected: Severity) -> None:
    text = changed(bundle, UNIT, ("WantedBy=sys-subsystem-net-devices-%i.device", f"WantedBy={units}"))
    assert severity(bundle, UNIT, text) == expected


@pytest.mark.parametrize("wait", ["", "zork", "-5"])
def test_a_wait_without_a_number(bundle: Bundle, wait: str) -> None:
    assert severity(bundle, UNIT, changed(bundle, UNIT, ("--wait 60", f"--wait {wait}"))) == Severity.ERROR


LINE = "net/ipv4/conf/rail0/rp_filter = 2"
PATH = LINE.partition(" ")[0]
SYSCTLS: dict[str, tuple[Edit, bool]] = {
    # the change, and whether the settings of the NICs are the rendered ones afterwards
    "as rendered": ((LINE, LINE), True),
    "dots": ((LINE, LINE.replace("/", ".")), True),
    "a slash first": ((LINE, f"/{LINE}"), True),
    "errors accepted": ((LINE, f"-{LINE}"), True),
    "hexadecimal": ((LINE, f"{PATH} = 0x2"), True),
    "a comment after the value": ((LINE, f"{LINE} # loose"), True),
    "a backslash does not continue": ((LINE, f"{LINE} \\"), True),
    "a pattern in place of it": ((LINE, "net.ipv4.conf.rail*.rp_filter = 2"), True),
    "a pattern for all": ((LINE, "net/ipv4/conf/*/rp_filter = 2"), True),
    "another pattern": ((LINE, f"net/ipv4/conf/*/rp_filter = 1\n{LINE}"), True),
    "a pattern with another value": ((LINE, "net/ipv4/conf/rail?/rp_filter = 1"), False),
    "a later line": ((LINE, f"{LINE}\n{PATH.replace('/', '.')} = 1"), False),
    "a line that excludes": ((LINE, f"{LINE}\n-{PATH}"), False),
    "no equals sign": ((LINE, f"{PATH} 2"), False),
    "quotes": ((LINE, f'{PATH} = "2"'), False),
    "a plus sign": ((LINE, f"{PATH} = +2"), False),
    "a fraction": ((LINE, f"{PATH} = 2.0"), False),
    "slashes and a dot": ((LINE, "net/ipv4/conf/rail0.rp_filter = 2"), False),
    "capitals": ((LINE, LINE.upper()), False),
}


@cache
def kernel_values(text: str) -> str:
    """The settings of two NICs after systemd-sysctl has read a file."""
    program = next((path for path in ("/usr/lib/systemd/systemd-sysctl", "/lib/systemd/systemd-sysctl")
                    if Path(path).exists()), "")  # fmt: skip
    reader = program or tool("systemd-sysctl", "systemd")
    done = isolated(
        "ip link add rail0 type veth peer name rail1; file=$(mktemp);"
        f"printf %s {shlex.quote(text)} > $file; {reader} $file || :; rm $file;"
        "cd /proc/sys/net/ipv4/conf; cat rail[01]/arp_ignore rail[01]/arp_announce rail[01]/rp_filter"
    )
    assert done.returncode == 0 and len(done.stdout.split()) == 6, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SYSCTLS)
def test_the_kernel_gets_the_settings(bundle: Bundle, name: str) -> None:
    edit, is_right = SYSCTLS[name]
    text = changed(bundle, SYSCTL, edit)
    assert (severity(bundle, SYSCTL, text) != Severity.ERROR) == is_right
    only = (re.search(r"rail([2-9])", line) is None for line in text.splitlines())
    near = "\n".join(line for line, kept in zip(text.splitlines(), only, strict=True) if kept) + "\n"
    usual = changed(bundle, SYSCTL, (LINE, LINE))
    same = "\n".join(line for line in usual.splitlines() if not re.search(r"rail([2-9])", line)) + "\n"
    assert (kernel_values(near) == kernel_values(same)) == is_right


def test_patterns_reach_all_interfaces(bundle: Bundle) -> None:
    """The larger of `all` and the interface holds, and a pattern also sets `all`."""
    rule: Callable[[str], Severity | None] = lambda line: severity(bundle, SYSCTL, f"{usual}{line}\n")  # noqa: E731
    usual = bundle.hosts["gpu"].text(SYSCTL)
    assert rule("net/ipv4/conf/*/arp_ignore = 1") is None
    assert rule("net/ipv4/conf/*/arp_ignore = 3") == Severity.ERROR
    assert rule("net/ipv4/conf/*/forwarding = 0x1") == Severity.WARNING
