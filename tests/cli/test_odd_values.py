"""Values that once caused internal errors, each by name: exit code 0, 1 or 2, within 10 s CPU and 2 GiB."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.inventories import explicit, write

LONG = "9" * 5000
MIB = 1 << 20
Config = dict[str, Any]


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    inventory = write(folder / "inventory", explicit())
    command = [sys.executable, "-m", "fabricgen", "render", inventory, "-o", folder / "bundle", "-q"]
    assert subprocess.run(command, check=False).returncode == 0
    return folder


def limited(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """A run that ends after 10 s CPU and cannot have more than 2 GiB of data."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        resource.setrlimit(resource.RLIMIT_DATA, (2048 * MIB, 2048 * MIB))

    command = [sys.executable, "-m", "fabricgen", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, preexec_fn=limit, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("text", ["00G", "0", LONG, f"{LONG}G", "{}", "[]", "null", "1e400"])
@pytest.mark.parametrize("key", ["speed", "mtu", "design", "cables", "addressing", "leaf", "lossless"])
def test_odd_values_of_a_plane(key: str, text: str, cli: Cli, tmp_path: Path) -> None:
    inventory = write(tmp_path / "inventory", explicit())
    for file in inventory.glob("*.yaml"):
        lines = file.read_text().split("\n")
        kept = [line for line in lines if not line.startswith(f"    {key}:")]
        at = next((n for n, line in enumerate(kept) if line.startswith("  compute:")), None)
        if at is not None:
            file.write_text("\n".join([*kept[: at + 1], f"    {key}: {text}", *kept[at + 1 :]]))
    outcome = cli("capacity", inventory)
    assert outcome.code in (0, 1, 2) and "bug" not in outcome.err, outcome.err


def _each_field(table: str, field: str, value: object) -> Callable[[Config], None]:
    def change(config: Config) -> None:
        for row in config[table].values():
            row[field] = value

    return change


def _long_range(config: Config) -> None:
    config["BUFFER_QUEUE"]["Ethernet0|0-99999999999"] = {"profile": "egress_lossy_profile"}


CONFIGS = {
    "empty field": _each_field("PORT", "", "x"),
    "empty field of one switch": _each_field("DEVICE_METADATA", "", "x"),
    "long range": _long_range,
    "long list": _each_field("PORT_QOS_MAP", "pfc_enable", "0-99999999999"),
    "long priority": _each_field("PORT_QOS_MAP", "pfc_enable", LONG),
    "long class": _each_field("TC_TO_QUEUE_MAP", "3", LONG),
    "long key": _each_field("DSCP_TO_TC_MAP", LONG, "3"),
    "long ASN": _each_field("DEVICE_METADATA", "bgp_asn", LONG),
    "long MTU": _each_field("PORT", "mtu", LONG),
    "long threshold": _each_field("WRED_PROFILE", "green_min_threshold", LONG),
    "large exponent": _each_field("BUFFER_PROFILE", "dynamic_th", "99999"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_odd_values_of_a_switch(name: str, cli: Cli, fabric: Path, tmp_path: Path) -> None:
    config = json.loads((fabric / "bundle" / "sonic" / "leaf1" / "config_db.json").read_text())
    CONFIGS[name](config)
    for device in ("leaf1", "leaf2"):
        (tmp_path / f"{device}.json").write_text(json.dumps(config).replace("leaf1", device))
    for command in (("validate",), ("simulate", "deadlock"), ("simulate", "congestion")):
        outcome = cli(*command, tmp_path)
        allowed = (1,) if command == ("validate",) else (0, 1, 2)
        assert outcome.code in allowed and "bug" not in outcome.err, (command, outcome)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("cables", 0, "length_m"), 1e308),
        (("cables", 0, "length_m"), -1),
        (("links", 0, "speed_mbps"), 0),
        (("planes", 0, "roce_dscp"), {"x": [3]}),
        (("planes", 0, "roce_dscp"), {"3": [64]}),
        (("planes", 0, "lossless"), [8]),
        (("planes", 0, "cnp_dscp"), -1),
        (("hosts", 0, "nics", 0, "addresses"), ["x"]),
        (("hosts", 0, "nics", 0, "port_guid"), "0xzz"),
        (("devices", 0, "loopbacks"), ["10.0.0.1/33"]),
        (("devices", 0, "management"), [LONG]),
    ],
)
def test_odd_values_of_fabric_json(
    place: tuple[Any, ...], value: object, cli: Cli, fabric: Path, tmp_path: Path
) -> None:
    tree = json.loads((fabric / "bundle" / "fabric.json").read_text())
    node = tree
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    (tmp_path / "fabric.json").write_text(json.dumps(tree))
    outcome = cli("validate", tmp_path)
    assert outcome.code == 2 and place[-1] in outcome.err + outcome.out, outcome


@pytest.mark.parametrize("form", ["ztp", "containerlab", "ansible", "cabling"])
@pytest.mark.parametrize("rows", [7, [], {"Ethernet0": 7}, {"Ethernet0": {"lanes": 7, "alias": None}}, {"": {}}])
def test_handoffs_of_malformed_rows(rows: object, form: str, cli: Cli, fabric: Path, tmp_path: Path) -> None:
    config = fabric / "bundle" / "sonic" / "leaf1" / "config_db.json"
    before = config.read_bytes()
    try:
        for table in ("PORT", "DEVICE_METADATA", "MGMT_INTERFACE"):
            config.write_text(json.dumps({**json.loads(before), table: rows}))
            outcome = cli("handoff", form, fabric / "bundle", "-o", tmp_path / "out")
            assert outcome.code in (0, 1, 2) and "bug" not in outcome.err, (table, outcome.err)
    finally:
        config.write_bytes(before)


def test_large_yaml_devices_and_pipes_stay_within_limits(tmp_path: Path) -> None:
    lines = "".join(f"key{number}-X: [1, 2, 3]\n" for number in range(15_000))
    with (tmp_path / "large.yaml").open("w") as stream:
        stream.writelines(lines.replace("X", str(number)) for number in range(100))
    assert (tmp_path / "large.yaml").stat().st_size > 30 * MIB
    os.mkfifo(tmp_path / "pipe.yaml")
    for path in ("large.yaml", "pipe.yaml", "/dev/zero"):
        outcome = limited("render", path, "-o", "out", folder=tmp_path)
        assert outcome.returncode == 2 and "bug" not in outcome.stderr, (path, outcome)


def test_an_empty_dump_needs_no_memory(tmp_path: Path) -> None:
    """The limit of dumps is 8 GiB: it is not the size of a buffer."""
    (tmp_path / "empty.dump").touch()
    code = "from pathlib import Path; from fabricgen.inputs import *; read_bytes(Path('empty.dump'), DUMP_BYTES)"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1024 * MIB, 1024 * MIB))

    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, preexec_fn=limit, check=False).returncode == 0


def test_capacity_as_json(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("capacity", write(tmp_path / "inventory", explicit()), "--format", "json")
    assert outcome.code == 0 and json.loads(outcome.out)["capacity"]["planes"][0]["switches"]["leaf"] == 2
