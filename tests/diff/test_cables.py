"""Planned cables and the cables in LLDP dumps."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli, Golden
from tests.inventories import explicit, write

GOLDEN = Path(__file__).parent / "golden"
Seen = dict[str, dict[str, tuple[str, str]]]  # device -> port -> (far device, far port as SONiC announces it)


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert cli("render", write(Path("inventory"), explicit()), "-o", "build", "-q").code == 0
    return Path("build")


def as_planned(bundle: Path) -> Seen:
    """The LLDP neighbours of each switch with correct cabling, by the alias of the far end."""
    wiring = json.loads((bundle / "fabric.json").read_bytes())
    aliases = {
        (file.parent.name, port): row["alias"]
        for file in bundle.glob("sonic/*/config_db.json")
        for port, row in json.loads(file.read_bytes())["PORT"].items()
    }
    seen: Seen = {}
    for link in wiring["links"]:
        for near, far in ((link["a"], link["b"]), (link["b"], link["a"])):
            if tuple(near) in aliases and tuple(far) in aliases:
                seen.setdefault(near[0], {})[near[1]] = (far[0], aliases[tuple(far)])
    return seen


def dump(seen: Seen, folder: str = "lldp") -> Path:
    """DEVICE.json each, in the form of `lldpctl -f json0`."""
    Path(folder).mkdir()
    for device, ports in seen.items():
        interfaces: list[dict[str, Any]] = [
            {
                "name": port,
                "chassis": [{"name": [{"value": far}]}],
                "port": [{"id": [{"type": "local", "value": far_port}]}],
            }
            for port, (far, far_port) in ports.items()
        ]
        Path(folder, f"{device}.json").write_text(json.dumps({"lldp": [{"interface": interfaces}]}))
    return Path(folder)


def test_correct_cabling(bundle: Path, cli: Cli) -> None:
    outcome = cli("diff", bundle, dump(as_planned(bundle)), "--exit-code")
    assert outcome.code == 0, outcome.out
    assert outcome.out == "No miscabling.\n4 cables as planned, 0 missing, 0 extra, 0 misplaced, 0 swapped.\n"


def test_swapped_missing_extra_and_misplaced(bundle: Path, cli: Cli, golden: Golden) -> None:
    seen = as_planned(bundle)
    one, two = seen["leaf1"]["Ethernet256"], seen["leaf1"]["Ethernet264"]
    seen["leaf1"] |= {"Ethernet256": two, "Ethernet264": one}  # two cables change places
    seen["spine1"]["Ethernet0"], seen["spine2"]["Ethernet0"] = seen["spine2"]["Ethernet0"], seen["spine1"]["Ethernet0"]
    del seen["leaf2"]["Ethernet256"], seen["spine1"]["Ethernet8"]  # one is missing
    seen["leaf2"]["Ethernet8"] = ("stranger", "etp1")  # one is extra
    seen["leaf2"]["Ethernet272"] = seen["leaf2"].pop("Ethernet264")  # one in the wrong port
    seen["spine2"]["Ethernet8"] = ("leaf2", "Ethernet272")
    folder = dump(seen)
    for fmt, suffix in (("text", "text"), ("markdown", "md"), ("json", "json")):
        outcome = cli("diff", bundle, folder, "--format", fmt, "--exit-code", "--as", "lldp")
        assert outcome.code == 4
        golden(GOLDEN / f"cables.{suffix}", outcome.out.replace(_version(outcome.out), "…").encode())


def test_the_work_order_names_ends_labels_and_cages(bundle: Path, cli: Cli) -> None:
    """Two swapped cables of one switch change places there, in one order; one that is not seen is another."""
    seen = as_planned(bundle)
    one, two = seen["leaf1"]["Ethernet256"], seen["leaf1"]["Ethernet264"]
    seen["leaf1"] |= {"Ethernet256": two, "Ethernet264": one}
    seen["spine1"]["Ethernet0"], seen["spine2"]["Ethernet0"] = seen["spine2"]["Ethernet0"], seen["spine1"]["Ethernet0"]
    del seen["leaf2"]["Ethernet256"], seen["spine1"]["Ethernet8"]
    folder = dump(seen)
    assert cli("diff", bundle, folder, "--work-order", "order.csv").code == 0
    rows = list(csv.DictReader(Path("order.csv").read_text().splitlines()))
    assert [(row["order"], row["action"]) for row in rows] == [
        ("A", "Swap two cables"), ("A", "Swap two cables"), ("B", "Plug or replace a cable"),
    ]  # fmt: skip
    swapped = [
        tuple(row[f"{end}_{what}"] for end in ("fixed", "now", "planned") for what in ("device", "ports"))
        for row in rows[:2]
    ]
    assert swapped == [
        ("spine2", "Ethernet0", "leaf1", "Ethernet256", "leaf1", "Ethernet264"),
        ("spine1", "Ethernet0", "leaf1", "Ethernet264", "leaf1", "Ethernet256"),
    ]
    aliases = json.loads((bundle / "sonic/leaf1/config_db.json").read_text())["PORT"]
    assert rows[0]["now_labels"] == aliases["Ethernet256"]["alias"]
    assert rows[0]["now_cage"] == aliases["Ethernet256"]["index"]
    assert (rows[2]["now_device"], rows[2]["length"]) == ("", rows[0]["length"])
    assert {rows[2]["fixed_device"], rows[2]["planned_device"]} == {"leaf2", "spine1"}
    assert cli("diff", bundle, folder, "--work-order", "order.txt").code == 0
    text = Path("order.txt").read_text()
    assert "A  Swap two cables\n" in text and text.count("[ ]") == 3
    wrong = cli("diff", bundle, bundle, "--work-order", "order.txt")
    assert wrong.code == 2 and "--work-order is for cables" in wrong.err


def test_no_order_for_correct_cables(bundle: Path, cli: Cli) -> None:
    assert cli("diff", bundle, dump(as_planned(bundle)), "--work-order", "order.txt").code == 0
    assert Path("order.txt").read_text() == "No cable to correct."


def _version(text: str) -> str:
    return str(json.loads(text)["tool"]["version"]) if text.startswith("{") else "…"


def test_a_switch_without_a_dump_is_no_difference(bundle: Path, cli: Cli) -> None:
    seen = as_planned(bundle)
    outcome = cli("diff", bundle, dump({"leaf1": seen["leaf1"]}), "--exit-code")
    assert outcome.code == 0 and "2 cables as planned" in outcome.out
    assert "3 switches without a dump: leaf2, spine1, spine2" in outcome.out


def test_a_dump_of_another_fabric(bundle: Path, cli: Cli) -> None:
    outcome = cli("diff", bundle, dump({"tor7": {"Ethernet0": ("tor8", "etp1")}}))
    assert outcome.code == 2 and "no dump belongs to a switch of the bundle" in outcome.err


def lldpctl(ports: Mapping[str, tuple[str, str]]) -> Any:
    """`-f json`: names are keys, and a single item is not in a list."""
    items = [
        {
            port: {
                "via": "LLDP",
                "chassis": {far: {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}},
                "port": {"id": {"type": "local", "value": far_port}, "descr": "leaf7:Ethernet99"},
            }
        }
        for port, (far, far_port) in ports.items()
    ]
    return {"lldp": {"interface": items if len(items) > 1 else items[0]}}


def lldpctl_one_object(ports: Mapping[str, tuple[str, str]]) -> Any:
    """Older versions have all interfaces in one object."""
    items: Any = lldpctl({**ports, "eth0": ("oob", "1")})["lldp"]["interface"]
    return {"lldp": {"interface": {port: seen for item in items for port, seen in item.items()}}}


def lldpctl_nameless(ports: Mapping[str, tuple[str, str]]) -> Any:
    """Neighbours without a name: the chassis has a MAC address only."""
    return {"lldp": {"interface": [
        {port: {"chassis": {"id": {"type": "mac", "value": mac_of(far).upper()}},
                "port": {"id": {"type": "local", "value": far_port}}}}
        for port, (far, far_port) in ports.items()
    ]}}  # fmt: skip


def lldpctl_json0(ports: Mapping[str, tuple[str, str]]) -> Any:
    return {"lldp": [{"interface": [
        {"name": port,
         "chassis": [{"id": [{"type": "mac", "value": "02::"}], "name": [{"value": f"{far}.example.net"}]}],
         "port": [{"id": [{"type": "local", "value": far_port}], "descr": [{"value": "uplink"}]}]}
        for port, (far, far_port) in ports.items()
    ]}]}  # fmt: skip


def mac_of(device: str) -> str:
    return f"02:00:00:00:00:{sum(map(ord, device)) % 256:02x}"


@pytest.mark.parametrize("form", [lldpctl, lldpctl_one_object, lldpctl_nameless, lldpctl_json0])
@pytest.mark.parametrize("together", [False, True])
def test_swapped_cables_in_each_form_of_dump(
    form: Callable[[Mapping[str, tuple[str, str]]], Any], together: bool, bundle: Path, cli: Cli, tmp_path: Path
) -> None:
    for file in bundle.glob("sonic/*/config_db.json"):
        config = json.loads(file.read_bytes())
        config["DEVICE_METADATA"]["localhost"]["mac"] = mac_of(file.parent.name)
        file.write_text(json.dumps(config))
    seen = as_planned(bundle)
    one, two = seen["leaf1"]["Ethernet256"], seen["leaf1"]["Ethernet264"]
    seen["leaf1"] |= {"Ethernet256": two, "Ethernet264": one}
    seen["spine1"]["Ethernet0"], seen["spine2"]["Ethernet0"] = seen["spine2"]["Ethernet0"], seen["spine1"]["Ethernet0"]
    texts = {device: form(ports) for device, ports in seen.items()}
    if together:
        where = tmp_path / "lldp.json"
        where.write_text(json.dumps(texts))
    else:
        where = tmp_path / "lldp"
        for device, text in texts.items():
            (where / device).mkdir(parents=True)
            (where / device / "lldp.json").write_text(json.dumps(text))
    outcome = cli("diff", bundle, where, "--exit-code")
    assert outcome.code == 4
    assert (
        "swapped (two ports of leaf1): leaf1:Ethernet256 – spine2:Ethernet0, leaf1:Ethernet264 – spine1:Ethernet0"
        in outcome.out
    )
    assert "2 cables as planned, 0 missing, 0 extra, 0 misplaced, 1 swapped" in outcome.out


def test_a_switch_without_neighbours(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    seen = as_planned(bundle)
    for empty in ({"lldp": {}}, {"lldp": [{}]}):
        texts = {**{device: lldpctl(ports) for device, ports in seen.items()}, "leaf1": empty}
        (tmp_path / "lldp.json").write_text(json.dumps(texts))
        outcome = cli("diff", bundle, tmp_path / "lldp.json", "--exit-code")
        assert outcome.code == 0, "its neighbours still see it"


def test_a_host_may_use_its_own_name_of_a_nic(bundle: Path, cli: Cli) -> None:
    seen = as_planned(bundle)
    host = next(link["a"][0] for link in json.loads((bundle / "fabric.json").read_bytes())["links"])
    seen["leaf1"]["Ethernet0"] = (f"{host}.example.net", "b8:ce:f6:00:00:01")
    seen["leaf2"]["Ethernet0"] = (host, "ens8np0")
    outcome = cli("diff", bundle, dump(seen), "--exit-code")
    assert outcome.code == 0 and "6 cables as planned" in outcome.out
    seen["leaf2"]["Ethernet8"] = seen["leaf2"].pop("Ethernet0")
    seen["leaf1"]["Ethernet0"] = ("gpu-999", "ens8np0")
    outcome = cli("diff", bundle, dump(seen, "wrong"), "--exit-code")
    assert outcome.code == 4
    assert f"misplaced (another port): {host}:rail1 – leaf2:Ethernet8" in outcome.out
    assert "misplaced (another device): gpu-999:ens8np0 – leaf1:Ethernet0" in outcome.out
