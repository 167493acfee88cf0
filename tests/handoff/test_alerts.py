"""Alerts: promtool takes the rules, they fire from the rendered figures on, and the subscription feeds them."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.read import open_bundle
from fabricgen.handoff.alerts import alerts_files
from fabricgen.platforms.dynamic_buffers import buffers_of
from tests.components import tool
from tests.conftest import Cli
from tests.handoff.rendered import placed, render
from tests.inventories import MANAGEMENT, NVIDIA


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    return render(cli, tmp_path, placed())


def made(bundle: Path, only: str | None = None) -> dict[str, bytes]:
    return dict(alerts_files(open_bundle([bundle]), only))


def rules(files: dict[str, bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    for group in yaml.safe_load(files["rules.yml"])["groups"]:
        for rule in group["rules"]:
            yield group["name"], rule


def check(folder: Path, files: dict[str, bytes], tests: list[dict[str, Any]]) -> subprocess.CompletedProcess[str]:
    """What promtool says of the rules and of unit tests of them."""
    promtool = tool("promtool", "prometheus")
    (folder / "rules.yml").write_bytes(files["rules.yml"])
    checked = subprocess.run(
        [promtool, "check", "rules", folder / "rules.yml"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    suite = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    (folder / "tests.yml").write_text(yaml.safe_dump(suite))
    return subprocess.run(
        [promtool, "test", "rules", folder / "tests.yml"], capture_output=True, text=True, check=False
    )


def case(series: dict[str, str], fires: dict[str, int], minute: str = "30m") -> dict[str, Any]:
    """A unit test: series by name, and how often each alert of a rail fires; promtool wants every label, so the test
    asks Prometheus' own ALERTS instead."""
    expressions = [
        {"expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}}) or vector(0)', "eval_time": minute,
         "exp_samples": [{"labels": "{}", "value": count}]}
        for name, count in fires.items()
    ]  # fmt: skip
    inputs = [{"series": name, "values": values} for name, values in series.items()]
    return {"interval": "1m", "input_series": inputs, "promql_expr_test": expressions}


def test_rules_fire_from_the_rendered_figures_on(bundle: Path, tmp_path: Path) -> None:
    config = json.loads((bundle / "sonic/leaf1/config_db.json").read_text())
    port = "Ethernet256"
    xoff = int(config["BUFFER_PROFILE"][config["BUFFER_PG"][f"{port}|3-4"]["profile"]]["xoff"])
    rate = 0.05 * int(config["PORT"][port]["speed"]) * 1_000_000 / (65_535 * 512)
    end = f'device="leaf1",interface="{port}"'
    pause = f'sonic_pfc_rx_frames_total{{{end},priority="3"}}'
    sent = f'sonic_pfc_tx_frames_total{{{end},priority="3"}}'
    room = f'sonic_pg_headroom_watermark_bytes{{{end},pg="3"}}'
    marks = f'sonic_queue_ecn_marked_packets_total{{{end},queue="3"}}'
    storm = 'sonic_pfcwd_storms_total{{device="{}",interface="Ethernet0",queue="3"}}'
    low, high = f"0+{int(rate * 60 * 0.98)}x40", f"0+{int(rate * 60 * 1.02)}x40"
    outcome = check(tmp_path, made(bundle), [
        case({pause: low, sent: low}, {"PfcPausedByNeighbor": 0, "PfcPausesNeighbor": 0}),
        case({pause: high}, {"PfcPausedByNeighbor": 1, "PfcPausesNeighbor": 0}),
        case({pause.replace('"3"', '"5"'): high, pause.replace(port, "Ethernet500"): high}, {"PfcPausedByNeighbor": 0}),
        case({room: f"{int(xoff * 0.8) - 1}x40"}, {"HeadroomNearlyUsed": 0}),
        case({room: f"{-(-xoff * 4 // 5)}x40"}, {"HeadroomNearlyUsed": 1}),
        case({marks: "0+10x40", sent: "0x40"}, {"EcnMarksWithoutPfc": 1, "PfcWithoutEcnMarks": 0}),
        case({marks: "0+10x40", sent: "0+10x40"}, {"EcnMarksWithoutPfc": 0, "PfcWithoutEcnMarks": 0}),
        case({marks: "0x40", sent: "0+10x40"}, {"EcnMarksWithoutPfc": 0, "PfcWithoutEcnMarks": 1}),
        case({sent: "0+10x40"}, {"PfcWithoutEcnMarks": 0}),  # the switch does not count marks
        case({storm.format("leaf1"): "0x25 1x15"}, {"PfcStorm": 1, "PfcStormsSpread": 0}),
        case({storm.format("spine1"): "0x25 1x15", storm.format("spine2"): "0x25 1x15"},
             {"PfcStorm": 2, "PfcStormsSpread": 1}),
    ])  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_a_unit_test_can_fail(bundle: Path, tmp_path: Path) -> None:
    assert check(tmp_path, made(bundle), [case({}, {"PfcStorm": 1})]).returncode != 0


def test_rules_are_by_rail_and_count_every_lossless_port(bundle: Path) -> None:
    files = made(bundle)
    assert {name for name, _ in rules(files)} == {
        "plane compute rail 0", "plane compute rail 1", "plane compute role spine"
    }  # fmt: skip
    for device in open_bundle([bundle]).devices.values():
        lossless = {port for port, row in device.table("PORT_QOS_MAP").items() if row.get("pfc_enable")}
        for name in ("PfcPausedByNeighbor", "PfcPausesNeighbor", "HeadroomNearlyUsed", "PfcStorm"):
            expressions = [
                rule["expr"] for _, rule in rules(files) if rule["alert"] == name and device.name in rule["expr"]
            ]
            assert {port for expr in expressions for port in re.findall(r"Ethernet\d+", expr)} >= lossless > set()


def test_a_headroom_that_the_switch_computes_is_predicted(cli: Cli, tmp_path: Path) -> None:
    bundle = render(cli, tmp_path, placed(platform=NVIDIA))
    found = [rule for _, rule in rules(made(bundle)) if rule["alert"] == "HeadroomNearlyUsed"]
    computed = buffers_of(open_bundle([bundle]).devices["leaf1"])
    headroom = computed.headroom("Ethernet0") if computed else None
    assert headroom
    words = f"80% of xoff {headroom.xoff_bytes} (predicted, by SONiC's own script): frames are lost"
    assert [rule for rule in found if words in rule["annotations"]["description"] and '"leaf1"' in rule["expr"]]
    assert not made(bundle)["blind.txt"]


def test_a_headroom_that_cannot_be_predicted_is_reported(cli: Cli, tmp_path: Path) -> None:
    bundle = render(cli, tmp_path, placed(platform=NVIDIA) | {"sonic": {"release": 202305}})
    assert not [rule for _, rule in rules(made(bundle)) if rule["alert"] == "HeadroomNearlyUsed"]
    assert "leaf1" in made(bundle)["blind.txt"].decode() and "can be predicted" in made(bundle)["blind.txt"].decode()


def test_a_switch_that_counts_no_marks_has_no_alert_for_marks(bundle: Path) -> None:
    file = bundle / "sonic/leaf1/config_db.json"
    config = json.loads(file.read_text())
    config["FLEX_COUNTER_TABLE"]["WRED_ECN_QUEUE"]["FLEX_COUNTER_STATUS"] = "disable"
    file.write_text(json.dumps(config))
    files = made(bundle)
    expressions = [rule["expr"] for _, rule in rules(files) if "Ecn" in rule["alert"]]
    assert expressions and not [expr for expr in expressions if "leaf1" in expr]
    assert "leaf1: ECN marks: FLEX_COUNTER_TABLE|WRED_ECN_QUEUE is not enabled" in files["blind.txt"].decode()


def test_gnmic_reaches_every_switch_and_asks_for_every_port(bundle: Path) -> None:
    config = yaml.safe_load(made(bundle)["gnmic.yml"])
    devices = open_bundle([bundle]).devices
    assert set(config["targets"]) == set(devices)
    for name, target in config["targets"].items():
        wired = devices[name].wired
        assert wired and target["address"] == f"{wired.management[0].partition('/')[0]}:8080"
        assert target["event-tags"]["device"] == name
        paths = config["subscriptions"][target["subscriptions"][0]]["paths"]
        for port, row in devices[name].table("PORT_QOS_MAP").items():
            if row.get("pfc_enable"):
                assert f"PERIODIC_WATERMARKS/{port}/PriorityGroups" in paths and f"COUNTERS/{port}" in paths


def test_gnmic_knows_how_the_server_listens(cli: Cli, tmp_path: Path, bundle: Path) -> None:
    """FG304: without a certificate in clear text up to 202605, later on 127.0.0.1 only."""
    targets = yaml.safe_load(made(bundle)["gnmic.yml"])["targets"].values()
    assert {target.get("insecure") for target in targets} == {True}
    certificates = {"server_crt": "/etc/sonic/gnmi.cer", "server_key": "/etc/sonic/gnmi.key"}
    management = {**MANAGEMENT, "allow": ["10.255.0.0/20"], "gnmi": {"port": 50051, "certificates": certificates}}
    secure = made(render(cli, tmp_path / "secure", placed() | {"management": management}))
    targets = yaml.safe_load(secure["gnmic.yml"])["targets"].values()
    assert {target.get("insecure") for target in targets} == {None} and not secure["blind.txt"]
    assert {target["address"].rpartition(":")[2] for target in targets} == {"50051"}
    master = made(render(cli, tmp_path / "master", placed() | {"sonic": {"release": "master"}}))
    assert "listens on 127.0.0.1 only (FG304)" in master["blind.txt"].decode()


def test_a_server_that_no_address_may_reach_is_reported(bundle: Path) -> None:
    file = bundle / "sonic/leaf1/config_db.json"
    config = json.loads(file.read_text())
    config["ACL_TABLE"] = {"SSH_V4": {"type": "CTRLPLANE", "policy_desc": "x", "services": ["SSH"]}}
    config["ACL_RULE"] = {"SSH_V4|R1": {"PRIORITY": "1", "PACKET_ACTION": "ACCEPT", "SRC_IP": "10.0.0.0/8"}}
    file.write_text(json.dumps(config))
    assert "leaf1: all counters: the control-plane ACLs drop all packets to gNMI" in made(bundle)["blind.txt"].decode()


@dataclass
class Event:
    """gnmic's, as its Starlark programs see it."""

    name: str
    timestamp: int = 0
    tags: dict[str, str] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)


def test_the_script_makes_the_rules_metrics_of_sonic_s_counters(bundle: Path) -> None:
    """Starlark is a subset of Python: no import, class, while or f-string in it, so Python runs it."""
    files = made(bundle)
    program = files["measured.star"].decode()
    assert not re.search(r"^\s*(import|class|while|try|with|from)\b|\bf\"", program, re.MULTILINE)
    names: dict[str, Any] = {"Event": Event}
    exec(program, names)
    counters = "/COUNTERS/Ethernet0"
    found = names["apply"](Event("x", 7, {"device": "leaf1"}, {
        f"{counters}/SAI_PORT_STAT_PFC_3_RX_PKTS": "12",
        f"{counters}/SAI_PORT_STAT_PFC_4_TX_PKTS": "5",
        f"{counters}/SAI_PORT_STAT_PFC_3_ON2OFF_RX_PKTS": "9",
        f"{counters}/SAI_PORT_STAT_IF_IN_OCTETS": "1",
        f"{counters}/Queues/Ethernet0:3/SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS": "8",
        f"{counters}/Queues/Ethernet0:3:periodic/SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES": "4",
        f"{counters}/Pfcwd/Ethernet0:4/PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED": "2",
        f"{counters}/Pfcwd/Ethernet0:4/PFC_WD_STATUS": "operational",
        "/PERIODIC_WATERMARKS/Ethernet0/PriorityGroups/Ethernet0:3/"
        "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES": "600",
    }))  # fmt: skip
    port = {"device": "leaf1", "interface": "Ethernet0"}
    assert [(one.tags, one.values, one.timestamp) for one in found] == [
        ({**port, "priority": "3"}, {"sonic_pfc_rx_frames_total": 12.0}, 7),
        ({**port, "priority": "4"}, {"sonic_pfc_tx_frames_total": 5.0}, 7),
        ({**port, "queue": "3"}, {"sonic_queue_ecn_marked_packets_total": 8.0}, 7),
        ({**port, "queue": "4"}, {"sonic_pfcwd_storms_total": 2.0}, 7),
        ({**port, "pg": "3"}, {"sonic_pg_headroom_watermark_bytes": 600.0}, 7),
    ]
    asked = {name for _, rule in rules(files) for name in re.findall(r"\bsonic_\w+", rule["expr"])}
    assert asked == {name for one in found for name in one.values}


def test_the_command(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("handoff", "alerts", bundle, "-o", tmp_path / "out", "--only", "leaf*")
    assert outcome.code == 0 and "4 files" in outcome.out
    assert "spine" not in (tmp_path / "out" / "rules.yml").read_text()


def test_switches_with_equal_tables_share_what_is_watched(rendered: Path) -> None:
    """And it is what each of them has: names, addresses and descriptions do not matter."""
    from fabricgen.bundle.read import open_bundle
    from fabricgen.handoff.watched import Watches, watched

    watches = Watches()
    found = {name: watches.of(device) for name, device in open_bundle([rendered]).devices.items()}
    again = {name: watched(device) for name, device in open_bundle([rendered]).devices.items()}
    assert found == again and len({id(each) for each in found.values()}) < len(found)
