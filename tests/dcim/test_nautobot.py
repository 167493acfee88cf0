"""The real Nautobot: a fabric is written, killed in the middle, completed, edited, corrected, and imported."""

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

from fabricgen.bundle.fabric_file import load_wiring
from tests.conftest import Cli
from tests.dcim.fabrics import bundle
from tests.dcim.nautobot_lab import Nautobot, running_nautobot

EDITS = 20


@pytest.fixture(scope="module")
def nautobot() -> Iterator[Nautobot]:
    with running_nautobot() as server:
        yield server


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bundle(tmp_path_factory.mktemp("small"))


def test_nautobot(nautobot: Nautobot, small: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test, because each step needs the state that the one before leaves."""
    import pynautobot

    for name, value in nautobot.environment.items():
        monkeypatch.setenv(name, value)
    api = pynautobot.api(nautobot.url, token=nautobot.environment["NAUTOBOT_TOKEN"])
    _kill_in_the_middle(small, tmp_path, api)
    partly = plan(cli, small, tmp_path)
    assert {"create"} <= {each["op"] for each in partly["changes"]} <= {"create", "change"} and not partly["obstacles"]
    assert 0 < len(partly["changes"]) < sum(partly["objects"].values())

    outcome = handoff(cli, small, tmp_path, "--apply")
    assert outcome["source_of_truth"]["applied"]
    assert plan(cli, small, tmp_path)["changes"] == []
    before = changed_at(api)
    assert handoff(cli, small, tmp_path, "--apply")["findings"] == []
    assert changed_at(api) == before

    edited = edit(api, random.Random(23))
    found = plan(cli, small, tmp_path)["changes"]
    assert len(found) == EDITS and {(each["op"], each["kind"]) for each in found} == edited
    handoff(cli, small, tmp_path, "--apply")
    assert plan(cli, small, tmp_path)["changes"] == []

    assert_imported(cli, small, tmp_path)


def handoff(cli: Cli, small: Path, folder: Path, mode: str) -> dict[str, Any]:
    """The report of a handoff in JSON."""
    outcome = cli("handoff", "netbox", small, "-o", folder / "out", "--software", "nautobot", mode, "--format", "json")
    assert outcome.code == 0, outcome.out + outcome.err
    report: dict[str, Any] = orjson.loads(outcome.out)
    return report


def plan(cli: Cli, small: Path, folder: Path) -> dict[str, Any]:
    """The plan."""
    found: dict[str, Any] = handoff(cli, small, folder, "--plan")["source_of_truth"]
    return found


def _kill_in_the_middle(small: Path, folder: Path, api: Any) -> None:
    """Apply in another process, and kill it when Nautobot has the devices."""
    command = [sys.executable, "-m", "fabricgen", "handoff", "netbox", str(small), "-o", str(folder / "killed")]
    process = subprocess.Popen([*command, "--software", "nautobot", "--apply"], stdout=subprocess.DEVNULL)
    while api.dcim.devices.count() == 0:
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def changed_at(api: Any) -> list[Any]:
    """When each device, interface and cable changed last."""
    sources = (api.dcim.devices, api.dcim.interfaces, api.dcim.cables, api.ipam.ip_addresses)
    return [sorted((one.id, one.last_updated) for one in source.all()) for source in sources]


def edit(api: Any, rng: random.Random) -> set[tuple[str, str]]:
    """Edits of different objects; returns operation and kind of the changes that correct them."""
    switches = [one.id for one in api.dcim.devices.all() if one.serial]  # the inventory has no serial of the host
    api.dcim.devices.update([{"id": one, "serial": "edited"} for one in rng.sample(switches, 3)])
    interfaces = rng.sample([one for one in api.dcim.interfaces.all() if one.cable and one.label], 10)
    values = [{"enabled": False}, {"mtu": 1500}, {"label": "edited"}, {"speed": 1000}]
    api.dcim.interfaces.update([{"id": one.id, **rng.choice(values)} for one in interfaces])
    cables = rng.sample(api.dcim.cables.all(), 4)
    api.dcim.cables.update([{"id": one.id, "label": "edited"} for one in cables[:2]])
    api.dcim.cables.update([{"id": cables[2].id, "length": 99}])
    api.dcim.cables.delete([cables[3].id])
    loose = next(one for one in api.ipam.ip_addresses.all() if one.address.endswith("/32"))
    assigned = [one for one in api.ipam.ip_address_to_interface.all() if one.ip_address.id != loose.id]
    api.ipam.ip_address_to_interface.delete([one.id for one in rng.sample(assigned, 2)])
    api.ipam.ip_addresses.delete([loose.id])
    changes = {("change", kind) for kind in ("device", "interface", "cable", "address")}
    return changes | {("create", "cable"), ("create", "address")}


def assert_imported(cli: Cli, small: Path, folder: Path) -> None:
    """The inventory of the site renders the same devices and links, with racks, serials and addresses."""
    arguments = ["--software", "nautobot", "--site", "tiny", "--gateway", "10.255.0.1", "-o", folder / "taken-over"]
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
