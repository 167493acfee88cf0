"""netplan itself takes the rendered files, and refuses mistakes in them."""

import gc
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.api import render
from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Severity
from fabricgen.resources import resource
from fabricgen.rules.run import run
from tests.components import require_namespaces
from tests.render.hosts.rendered import STORAGE, files_of, inventory, write_bundle
from tests.rules.hosts.test_hosts import BOTH, SIX

TEXTS = {"rails": inventory(), "storage": inventory(more=STORAGE.format(name="storage")), "ipv6": SIX, "both": BOTH}
_GENERATOR = Path("/usr/libexec/netplan/generate")  # netplan/cli/commands/generate.py calls it with the same option


def generate(netplan: str, folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """What netplan makes of a file."""
    file = folder / "etc/netplan/60-fabricgen.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o600)
    return run_netplan(netplan, folder)


def run_netplan(netplan: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """`netplan generate`, or the program that does its work: to start Python for it takes ten times longer."""
    command = [str(_GENERATOR)] if _GENERATOR.is_file() else [netplan, "generate"]
    return subprocess.run([*command, "--root-dir", str(folder)], capture_output=True, text=True)


def rendered(text: str) -> str:
    """The netplan file of the first host."""
    return files_of(text)["hosts/gpu/netplan/gpu-000.yaml"].decode()


@pytest.mark.parametrize("name", TEXTS)
def test_netplan_takes_what_is_rendered(netplan: str, tmp_path: Path, name: str) -> None:
    done = generate(netplan, tmp_path, rendered(TEXTS[name]))
    assert (done.returncode, done.stderr) == (0, "")
    network = (tmp_path / "run/systemd/network/10-netplan-rail1.network").read_text()
    assert "MTUBytes=9100\n" in network and network.count("[RoutingPolicyRule]") == (2 if name == "both" else 1)
    assert "Table=101\n" in network and "IPv6AcceptRA=no\n" in network
    assert len(list((tmp_path / "run/systemd/network").glob("*.network"))) == (10 if name == "storage" else 8)


MISTAKES = [
    ('"10.64.0.1/31"', '"10.64.0.1"', "/prefixlength"),
    ('"10.64.0.1/31"', '"10.64.0.1/33"', "prefix"),
    ("mtu: 9100", "mtu: jumbo", "unsigned int"),
    ('via: "10.64.0.0"', 'via: "10.64.0"', "via"),
    ("routing-policy:", "routing-policies:", "unknown key"),
    ("table: 100, priority", "table: one, priority", "table"),
    ("addresses:", "addresses: {", "Invalid YAML"),
    ("accept-ra: false", "accept-ra: maybe", "boolean"),
    ("optional: true", "optional: true\n      adresses: []", "unknown key"),
    ("optional: true", "optional: true\n      ipv4: {mtu: 9100}", "unknown key"),
    ("scope: link, table", "scope: link, tabel: 7, table", "unknown key"),
    ("table: 100, priority", "iif: rail0, table: 100, priority", "unknown key"),
    ("optional: true", "optional: 1", "boolean"),
    ("link-local: []", "link-local: no", "sequence"),
    ("link-local: []", "link-local: [ipv5]", "link-local"),
    ("renderer: networkd", "renderer: systemd", "renderer"),
    ("table: 100, priority: 1000", "table: 100, priority: first", "unsigned int"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES, ids=[one[1] for one in MISTAKES])
def test_netplan_refuses_a_mistake(netplan: str, tmp_path: Path, old: str, new: str, message: str) -> None:
    text = rendered(TEXTS["rails"])
    assert old in text
    done = generate(netplan, tmp_path, text.replace(old, new, 1))
    assert done.returncode != 0 and message in done.stderr, done.stderr


ODD = ("abc", 7, -1, [], {}, "", ["abc"], {"abc": 1}, True, 1.5)
# netplan of Debian 12 takes any lacp-rate, later versions slow and fast.
LATER = ("network", "bonds", "bond0", "parameters", "lacp-rate")


def test_what_netplan_refuses_of_bonds_and_vlans_is_found(netplan: str, tmp_path: Path) -> None:
    """Each value of a file with bonds and VLANs in turn has each odd value. The check says that netplan refuses it only
    if it does so, and finds all that it refuses."""
    bundle = tmp_path / "bundle"
    render(resource("inventories", "trunks"), bundle)
    (bundle / "manifest.json").unlink()
    file = bundle / "hosts/gpu/netplan/gpu-000.yaml"
    tree = yaml.safe_load(file.read_text())
    wrong, refused = [], 0
    for path in [*places(tree)]:
        for odd in ODD:
            text = yaml.safe_dump(changed(tree, path, odd))
            file.write_text(text)
            done = generate(netplan, tmp_path / "root", text)
            codes = codes_at(bundle, "netplan/gpu-000.yaml")
            refused += done.returncode != 0
            if (not codes and done.returncode) or ("FG927" in codes and not done.returncode and path != LATER):
                wrong.append((path, odd, done.stderr))
        gc.collect()  # the cycles that all bundles of this test leave have 700 MiB
    assert not wrong, "\n".join(map(repr, wrong))
    assert refused > 200


def codes_at(bundle: Path, file: str) -> set[str]:
    """The codes of the findings in a file of a host; that of a file without interfaces is "unreadable"."""
    try:
        return {one.code for one in run(open_bundle([bundle]), ("FG29", "FG69", "FG9")) if one.path.startswith(file)}
    except UnreadableInputError:
        return {"unreadable"}


def places(tree: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of each value of a tree, of equal interfaces and rows the first one."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree[:1]) if isinstance(tree, list) else ()
    for key, child in items:
        yield (*path, key)
        yield from places(child, (*path, key))


def changed(tree: Any, path: tuple[str | int, ...], value: object) -> Any:
    """A copy with another value at a path."""
    if not path:
        return value
    copy = tree.copy()
    copy[path[0]] = changed(tree[path[0]], path[1:], value)
    return copy


# Forms of the same values, and further keys: netplan takes them, and so does the check.
VALID = {
    "quoted numbers": ("mtu: 9100", 'mtu: "9100"'),
    "words": ("accept-ra: false", "accept-ra: n"),
    "no dhcp": ("optional: true", "optional: yes\n      dhcp4: n\n      dhcp6: off"),
    "match of its name": ("optional: true", "optional: true\n      match: {name: rail0}"),
    "offload": ("optional: true", "optional: true\n      wakeonlan: false\n      large-receive-offload: false"),
    "label": ('- "10.64.0.1/31"', '- "10.64.0.1/31": {label: "rail0:a"}'),
    "default route": ('{to: "10.64.0.0/10", via', "{to: default, via"),
    "wider route": ('{to: "10.64.0.0/10", via', '{to: "10.0.0.0/8", via'),
    "on-link": ('via: "10.64.0.0", table: 100}', 'via: "10.64.0.0", table: "100", on-link: y}'),
    "a list in blocks": (
        '- {from: "10.64.0.1/32", table: 100, priority: 1000}',
        '- from: 10.64.0.1\n          table: "100"\n          priority: 1000',
    ),
}
# Faults for which netplan gives no message; (code, the end of the path).
FAULTS = {
    "gateway4": ("optional: true", 'optional: true\n      gateway4: "10.64.0.0"', "FG909", "gateway4"),
    "match": ("optional: true", 'optional: true\n      match: {macaddress: "00:11:22:33:44:55"}', "FG909", "match"),
    "driver": ("optional: true", "optional: true\n      match: {driver: mlx5_core}", "FG909", "match"),
    "off": ("optional: true", "optional: true\n      activation-mode: manual", "FG909", "activation-mode"),
    "limited rule": ("table: 100, priority", 'to: "10.64.0.0/16", table: 100, priority', "FG909", "routing-policy"),
    "marked": ("table: 100, priority", "mark: 7, table: 100, priority", "FG909", "routing-policy"),
    "blackhole": ('via: "10.64.0.0", table: 100}', "type: blackhole, table: 100}", "FG909", "routes"),
    "main table": ("table: 100", "table: 254", "FG909", "routes"),
    "small mtu": ("mtu: 9100", "mtu: 1500", "FG906", "mtu"),
    "dhcp": ("optional: true", 'optional: true\n      dhcp4: "yes"', "FG909", "dhcp4"),
    "advertised": ("accept-ra: false", "accept-ra: on", "FG911", "accept-ra"),
}


def found_in(folder: Path, text: str) -> list[Finding]:
    """Errors and warnings of a bundle whose first host has this netplan file."""
    bundle = write_bundle(folder / "bundle", TEXTS["rails"])
    (bundle / "hosts/gpu/netplan/gpu-000.yaml").write_text(text)
    return [one for one in run(open_bundle([bundle]), ("FG9",)) if one.severity is not Severity.NOTE]


@pytest.mark.parametrize("name", VALID)
def test_other_forms_are_valid_to_netplan_and_to_the_check(netplan: str, tmp_path: Path, name: str) -> None:
    old, new = VALID[name]
    text = rendered(TEXTS["rails"])
    assert old in text
    text = text.replace(old, new, 1)
    assert found_in(tmp_path, text) == []
    done = generate(netplan, tmp_path / "root", text)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", FAULTS)
def test_faults_that_netplan_takes_are_found(netplan: str, tmp_path: Path, name: str) -> None:
    old, new, code, path = FAULTS[name]
    text = rendered(TEXTS["rails"])
    assert old in text
    text = text.replace(old, new) if name == "main table" else text.replace(old, new, 1)
    assert generate(netplan, tmp_path / "root", text).returncode == 0
    found = found_in(tmp_path, text)
    assert [one for one in found if one.code == code and one.path.endswith(f"ethernets.rail0.{path}")], found


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES, ids=[one[1] for one in MISTAKES])
def test_what_netplan_refuses_is_found(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = rendered(TEXTS["rails"]).replace(old, new, 1)
    if message == "Invalid YAML":
        with pytest.raises(UnreadableInputError):
            found_in(tmp_path, text)
        return
    found = found_in(tmp_path, text)
    assert any(one.path.startswith("netplan/gpu-000.yaml|ethernets.rail0.") for one in found), found


def test_interfaces_of_other_files_keep_their_renderer(netplan: str, tmp_path: Path) -> None:
    """A renderer for all interfaces in our file would take the management port from NetworkManager."""
    other = tmp_path / "etc/netplan/01-site.yaml"
    other.parent.mkdir(parents=True)
    site = "network: {version: 2, renderer: NetworkManager, ethernets: {mgmt0: {dhcp4: true}}}\n"
    other.write_text(site)
    other.chmod(0o600)
    ours = tmp_path / "etc/netplan/60-fabricgen.yaml"
    ours.write_text(rendered(TEXTS["rails"]))
    ours.chmod(0o600)
    done = run_netplan(netplan, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    networks = {file.name for file in (tmp_path / "run/systemd/network").glob("*.network")}
    assert networks == {f"10-netplan-rail{rail}.network" for rail in range(8)}
    assert [file.stem for file in (tmp_path / "run/NetworkManager/system-connections").iterdir()] == ["netplan-mgmt0"]


def test_rules_come_after_the_local_table_that_cilium_moves(netplan: str, tmp_path: Path) -> None:
    """The kernel answers for local addresses by the rule at 100 of Cilium, before it asks a rule of a NIC."""
    require_namespaces()
    generate(netplan, tmp_path, rendered(TEXTS["rails"]))
    text = (tmp_path / "run/systemd/network/10-netplan-rail0.network").read_text()
    found = dict(line.split("=", 1) for line in text.partition("[RoutingPolicyRule]")[2].splitlines() if "=" in line)
    rule = f"from {found['From']} lookup {found['Table']} priority {found['Priority']}"
    commands = [
        "ip link set lo up", "ip address add 10.64.0.1/31 dev lo", "ip rule add from all lookup local priority 100",
        "ip rule delete priority 0", f"ip rule add {rule}", f"ip route add blackhole default table {found['Table']}",
        "ip rule", "ip route get 10.64.0.1 from 10.64.0.1",
    ]  # fmt: skip
    done = subprocess.run(["unshare", "-n", "sh", "-ec", "; ".join(commands)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (
        "local 10.64.0.1 from 10.64.0.1 dev lo" in done.stdout
        and f"{found['Priority']}:\tfrom 10.64.0.1" in done.stdout
    )
