"""The real Nautobot: the quickstart fabric is written, killed in the middle, completed, edited and corrected."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from fabricgen.api import render
from fabricgen.bundle.fabric_file import load_wiring
from fabricgen.dcim.connecting import Software, connect
from fabricgen.dcim.objects import FoundObject, Item, ObjectKind
from fabricgen.errors import UsageError
from fabricgen.resources import resource
from tests.components import package
from tests.conftest import Cli
from tests.dcim.fabrics import bundle
from tests.dcim.nautobot_lab import Nautobot, running_nautobot
from tests.dcim.test_changes import TRUNKED

EDITS = 20
# Kinds of objects in the files of the handoff, and the tables that have them.
TABLES = {"device": "dcim_device", "interface": "dcim_interface", "prefix": "ipam_prefix", "address": "ipam_ipaddress",
          "cable": "dcim_cable"}  # fmt: skip


@pytest.fixture(scope="module")
def nautobot() -> Iterator[Nautobot]:
    with running_nautobot() as server:
        yield server


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quickstart")
    render(resource("inventories", "quickstart"), folder / "bundle")
    return folder / "bundle"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fabric with other addresses and hosts, because each address and name is in Nautobot once."""

    def others(tree: dict[str, Any]) -> None:
        plane = tree["planes"]["compute"]
        tree["hosts"], plane["hosts"] = {"lab": tree["hosts"]["gpu"]}, ["lab"]
        plane["links"] = [[end.replace("gpu/", "lab/") for end in link] for link in plane["links"]]
        pools = {"loopbacks": "172.16.0.0/16", "links": "172.17.0.0/16", "hosts": "172.18.0.0/16"}
        plane["addressing"] = pools
        tree["management"] = {**tree["management"], "addresses": "172.19.0.0/20", "gateway": "172.19.0.1"}

    return bundle(tmp_path_factory.mktemp("small"), others)


@pytest.fixture
def api(nautobot: Nautobot, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Nautobot's own client; fabricgen reads the same address and token."""
    for name, value in nautobot.environment.items():
        monkeypatch.setenv(name, value)
    return package("pynautobot", "netbox").api(nautobot.url, token=nautobot.environment["NAUTOBOT_TOKEN"])


def test_nautobot(nautobot: Nautobot, api: Any, quickstart: Path, small: Path, cli: Cli, tmp_path: Path) -> None:
    """One test, because each step needs the state that the one before leaves."""
    _kill_in_the_middle(quickstart, tmp_path, nautobot)
    assert handoff(cli, quickstart, tmp_path, "--apply")["source_of_truth"]["applied"]
    objects = {kind: objects_of(quickstart, cli, tmp_path, kind) for kind in TABLES}
    assert {kind: _count(nautobot, table) for kind, table in TABLES.items()} == objects

    before = nautobot.content(times=True)
    again = handoff(cli, quickstart, tmp_path, "--apply")
    assert (again["findings"], again["source_of_truth"]["changes"]) == ([], [])
    assert {kind: again["source_of_truth"]["objects"][kind] for kind in TABLES} == objects
    assert nautobot.content(times=True) == before

    before = nautobot.content(times=False)
    edited = edit(api, nautobot, random.Random(23))
    assert nautobot.content(times=False) != before
    drift = handoff(cli, quickstart, tmp_path, "--apply")
    found = drift["source_of_truth"]["changes"]
    assert len(found) == len(drift["findings"]) == EDITS
    assert {(each["op"], each["kind"]) for each in found} == edited
    assert nautobot.content(times=False) == before

    _assert_refusals_are_named(api, nautobot)


def test_a_small_fabric_is_written_once_and_comes_back(
    nautobot: Nautobot, api: Any, small: Path, cli: Cli, tmp_path: Path
) -> None:
    assert handoff(cli, small, tmp_path, "--apply")["source_of_truth"]["applied"]
    before = nautobot.content(times=True)
    again = handoff(cli, small, tmp_path, "--apply")
    assert (again["findings"], again["source_of_truth"]["changes"]) == ([], [])
    assert nautobot.content(times=True) == before
    assert_imported(cli, small, tmp_path)


def test_vlans_are_written_once_and_corrected(nautobot: Nautobot, api: Any, cli: Cli, tmp_path: Path) -> None:
    """Bonds at two leaves with a native and a tagged VLAN, judged by Nautobot, and ports that leave the tagged one."""
    texts = {"in-band": TRUNKED, "plain": TRUNKED.replace("tagged: [120], ", "")}
    bundles = {}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        text = text.replace("10.", "172.").replace("172.1.0.0/16", "172.20.0.0/16").replace("gpu", "box")
        text = text.replace("172.192.0.0/11", "172.21.0.0/16").replace("172.224.0.0/12", "172.22.0.0/16")
        (tmp_path / name / "fabric.yaml").write_text(text)
        assert not render(tmp_path / name / "fabric.yaml", tmp_path / name / "bundle").has_errors
        bundles[name] = tmp_path / name / "bundle"
    assert handoff(cli, bundles["in-band"], tmp_path, "--apply")["source_of_truth"]["applied"]
    expected = {("bond0", "tagged", "110", "120"), ("PortChannel0", "tagged", "110", "120"),
                ("PortChannel4", "tagged", "110", "120"),
                ("PortChannel496", "tagged", "", "110,120")}  # fmt: skip
    assert _modes(nautobot) == expected
    again = handoff(cli, bundles["in-band"], tmp_path, "--apply")
    assert (again["findings"], again["source_of_truth"]["changes"]) == ([], [])
    (vlan,) = nautobot.column("SELECT v.id FROM ipam_vlan v WHERE vid = 120")
    ports = nautobot.column("SELECT id FROM dcim_interface WHERE name = 'PortChannel0'")
    api.dcim.interfaces.update([{"id": ports[0], "mode": "access", "tagged_vlans": [], "untagged_vlan": vlan}])
    assert _modes(nautobot) != expected
    assert len(handoff(cli, bundles["in-band"], tmp_path, "--apply")["findings"]) == 1
    assert _modes(nautobot) == expected
    assert handoff(cli, bundles["plain"], tmp_path, "--apply")["source_of_truth"]["applied"]
    assert {mode for _, mode, _, _ in _modes(nautobot)} == {"access", "tagged"}  # peer links stay tagged
    assert {(name, tagged) for name, _, _, tagged in _modes(nautobot) if tagged} == {("PortChannel496", "110")}


def _modes(nautobot: Nautobot) -> set[tuple[str, ...]]:
    """(name, mode, untagged VLAN, tagged VLANs) of the interfaces with a mode."""
    query = """SELECT i.name || '|' || i.mode || '|' || coalesce(u.vid::text, '') || '|' || coalesce((
        SELECT string_agg(v.vid::text, ',' ORDER BY v.vid) FROM dcim_interface_tagged_vlans t
        JOIN ipam_vlan v ON v.id = t.vlan_id WHERE t.interface_id = i.id), '')
        FROM dcim_interface i LEFT JOIN ipam_vlan u ON u.id = i.untagged_vlan_id WHERE i.mode <> ''"""
    return {tuple(row.split("|")) for row in nautobot.column(query)}


def handoff(cli: Cli, bundle: Path, folder: Path, mode: str) -> dict[str, Any]:
    """The report of a handoff in JSON."""
    outcome = cli("handoff", "netbox", bundle, "-o", folder / "out", "--software", "nautobot", mode, "--format", "json")
    assert outcome.code == 0, outcome.out + outcome.err
    report: dict[str, Any] = orjson.loads(outcome.out)
    return report


def objects_of(bundle: Path, cli: Cli, folder: Path, kind: str) -> int:
    """How many objects of a kind the bundle has, by the files of the handoff."""
    if not (folder / "files").exists():
        assert cli("handoff", "netbox", bundle, "-o", folder / "files").code == 0
    return len((folder / "files" / f"{kind}.jsonl").read_bytes().splitlines())


def _count(nautobot: Nautobot, table: str) -> int:
    return int(nautobot.column(f"SELECT count(*) FROM {table}")[0])


def _kill_in_the_middle(bundle: Path, folder: Path, nautobot: Nautobot) -> None:
    """Apply in another process, and kill it when Nautobot has some of the interfaces."""
    command = [sys.executable, "-m", "fabricgen", "handoff", "netbox", str(bundle), "-o", str(folder / "killed")]
    process = subprocess.Popen([*command, "--software", "nautobot", "--apply"], stdout=subprocess.DEVNULL)
    while _count(nautobot, "dcim_interface") == 0:
        assert process.poll() is None
        time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert _count(nautobot, "dcim_cable") == 0


def edit(api: Any, nautobot: Nautobot, rng: random.Random) -> set[tuple[str, str]]:
    """Edits of different objects; returns operation and kind of the changes that correct them."""

    def some(number: int, query: str) -> list[str]:
        return rng.sample(nautobot.column(f"SELECT {query} ORDER BY 1"), number)

    devices = some(3, "id FROM dcim_device")
    planned = nautobot.column("SELECT id FROM extras_status WHERE name = 'Planned'")[0]
    api.dcim.devices.update([{"id": devices[0], "name": "renamed"}])
    api.dcim.devices.update([{"id": one, "status": planned} for one in devices[1:]])
    interfaces = some(10, "id FROM dcim_interface WHERE label <> ''")
    values = [{"enabled": False}, {"mtu": 1500}, {"label": "edited"}, {"speed": 1000}]
    api.dcim.interfaces.update([{"id": one, **rng.choice(values)} for one in interfaces])
    cables = some(4, "id FROM dcim_cable")
    api.dcim.cables.update([{"id": one, "label": "edited"} for one in cables[:2]])
    api.dcim.cables.update([{"id": cables[2], "length": 99}])
    api.dcim.cables.delete([cables[3]])
    assigned = (
        "id FROM ipam_ipaddresstointerface WHERE ip_address_id IN (SELECT id FROM ipam_ipaddress WHERE mask_length"
    )
    api.ipam.ip_address_to_interface.delete(some(2, f"{assigned} = 31)"))
    api.ipam.ip_addresses.delete(some(1, "id FROM ipam_ipaddress WHERE mask_length = 32"))
    changes = {("change", kind) for kind in ("device", "interface", "cable", "address")}
    return changes | {("create", "cable"), ("create", "address")}


def _assert_refusals_are_named(api: Any, nautobot: Nautobot) -> None:
    """Nautobot answers to new objects one by one, and to changes with the first refusal; both are named."""
    system = connect(Software.NAUTOBOT, nautobot.url)
    (name,) = nautobot.column("SELECT name FROM dcim_manufacturer ORDER BY 1 LIMIT 1")
    items = [Item(ObjectKind.MANUFACTURER, each, each) for each in ("new", name, "x" * 300)]
    with pytest.raises(UsageError, match=rf"2 of 3 are refused:\n  {name}: name: .*\n  x+: name: .*255"):
        list(system.create(ObjectKind.MANUFACTURER, items, {}))
    assert not nautobot.column("SELECT id FROM dcim_manufacturer WHERE name = 'new'")
    ids = nautobot.column("SELECT id FROM dcim_interface ORDER BY name LIMIT 3")
    mtus = zip(ids, (9100, 10**9, 9100), strict=True)
    changes = [(FoundObject(ObjectKind.INTERFACE, one, one), {"mtu": mtu}) for one, mtu in mtus]
    with pytest.raises(UsageError, match=rf"changing interface {ids[1]}: mtu: "):
        system.change(ObjectKind.INTERFACE, changes)


def assert_imported(cli: Cli, small: Path, folder: Path) -> None:
    """The inventory of the site renders the same devices and links, with racks, serials and addresses."""
    arguments = ["--software", "nautobot", "--site", "tiny", "--gateway", "172.19.0.1", "-o", folder / "taken-over"]
    outcome = cli("import", "netbox", *arguments)
    assert outcome.code == 0, outcome.out + outcome.err
    outcome = cli("render", folder / "taken-over", "-o", folder / "rendered")
    assert outcome.code == 0, outcome.out + outcome.err
    ours, theirs = (load_wiring((path / "fabric.json").read_bytes()) for path in (small, folder / "rendered"))
    for field in ("name", "hwsku", "role", "rack", "unit", "serial", "loopbacks", "management"):
        assert [getattr(each, field) for each in ours.devices] == [getattr(each, field) for each in theirs.devices]
    assert {frozenset((link.a, link.b)) for link in ours.links} == {
        frozenset((link.a, link.b)) for link in theirs.links
    }
    assert {(cable.length_m, cable.medium) for cable in ours.cables} == {
        (cable.length_m, cable.medium) for cable in theirs.cables
    }
    for one, other in zip(ours.hosts, theirs.hosts, strict=True):
        assert (one.name, one.model) == (other.name, other.model)
        assert [nic.addresses for nic in one.nics] == [nic.addresses for nic in other.nics]
