"""High-frequency telemetry: rows that the models take, and alarms that are the values of the files."""

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.inventories import Tree, explicit, write


def rendered(cli: Cli, folder: Path, release: int = 202511) -> Path:
    tree: Tree = explicit()
    tree["sonic"] = {"release": release}
    assert cli("render", write(folder / "in", tree), "-o", folder / "build", "-q").code == 0
    return folder / "build"


def test_rows_pass_and_alarms_are_those_of_the_files(tmp_path: Path, cli: Cli) -> None:
    build = rendered(cli, tmp_path)
    options = ("--poll-interval", "10", "--endpoint", "10.255.15.9:4318")
    assert cli("handoff", "telemetry", build, "--output", tmp_path / "out", *options).code == 0
    before = {one["code"] for one in judged(cli, build)}
    for made in sorted((tmp_path / "out" / "hft").glob("*.json")):
        file = build / "sonic" / made.stem / "config_db.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | json.loads(made.read_text()), indent=4))
    config = json.loads((build / "sonic" / "leaf1" / "config_db.json").read_text())
    rows = json.loads((tmp_path / "out" / "hft" / "leaf1.json").read_text())
    assert {one["code"] for one in judged(cli, build)} - before <= {"FG255"}  # the files differ from the rendered ones
    alarms = list(csv.DictReader((tmp_path / "out" / "alarms.csv").read_text().splitlines()))
    own = {(one["group"], one["object"]): one for one in alarms if one["device"] == "leaf1"}
    xoff = {
        f"{port}|{number}": config["BUFFER_PROFILE"][row["profile"]]["xoff"]
        for key, row in config["BUFFER_PG"].items()
        for port, groups in [key.split("|")]
        for number in (range(int(groups[0]), int(groups[-1]) + 1))
        if "xoff" in config["BUFFER_PROFILE"][row["profile"]]
    }
    assert {name: one["alarm_bytes"] for (group, name), one in own.items() if group != "QUEUE"} == xoff
    kmin = {row["green_min_threshold"] for row in config["WRED_PROFILE"].values()}
    assert {one["alarm_bytes"] for (group, _), one in own.items() if group == "QUEUE"} <= kmin
    groups = rows["HIGH_FREQUENCY_TELEMETRY_GROUP"]
    assert set(groups["lossless|INGRESS_PRIORITY_GROUP"]["object_names"]) == set(xoff)


def test_the_models_refuse_other_rows(tmp_path: Path, cli: Cli) -> None:
    """The same file with a port that does not exist: the judge reads these rows."""
    build = rendered(cli, tmp_path)
    file = build / "sonic" / "leaf1" / "config_db.json"
    config = json.loads(file.read_text())
    config["HIGH_FREQUENCY_TELEMETRY_PROFILE"] = {"ai": {"stream_state": "enabled", "poll_interval": "10"}}
    config["HIGH_FREQUENCY_TELEMETRY_GROUP"] = {"ai|PORT": {"object_names": ["Ethernet999"], "object_counters": ["X"]}}
    file.write_text(json.dumps(config, indent=4))
    found = [one["path"] for one in judged(cli, build) if one["severity"] == "error"]
    assert any(path.startswith("HIGH_FREQUENCY_TELEMETRY_GROUP|ai|PORT") for path in found), found


@pytest.mark.parametrize(
    ("release", "options", "message"),
    [
        (202511, ("--poll-interval", "0"), "--poll-interval: '0' is not a number above 0"),
        (202511, ("--poll-interval", "x"), "in milliseconds and the design in microseconds"),
        (202411, (), "has no high-frequency telemetry"),
    ],
)
def test_what_is_refused(release: int, options: tuple[str, ...], message: str, tmp_path: Path, cli: Cli) -> None:
    build = rendered(cli, tmp_path, release)
    outcome = cli("handoff", "telemetry", build, "--output", tmp_path / "out", *options)
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err


def judged(cli: Cli, build: Path) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(cli("-q", "validate", build, "--format", "json").out)["findings"]
    return found
