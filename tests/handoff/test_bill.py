"""The bill has each cage and each cable once, in lengths that are sold, with spares."""

import csv
import json
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.errors import UsageError
from fabricgen.handoff.bill import bill_files, optics
from fabricgen.platforms.catalog import host_model, nic_cage, nic_connector
from tests.conftest import Cli
from tests.handoff.rendered import placed, render
from tests.handoff.test_cabling import sheets
from tests.inventories import QUICKSTART, rail_optimized


def bill(bundle: Path, **options: str) -> dict[str, list[dict[str, str]]]:
    files = dict(bill_files(open_bundle([bundle]), **options))
    assert b"# Bill of " in files["bill.md"]
    return {name: list(csv.DictReader(StringIO(files[name].decode()))) for name in ("bill.csv", "racks.csv")}


def total(rows: list[dict[str, str]], item: str) -> int:
    return sum(int(row["needed"]) for row in rows if row["item"] == item)


def test_transceivers_are_the_cages_with_fibre_and_cables_those_of_the_sheets(cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["planes"]["compute"]["cables"] = {"host-leaf": {"length": "5m", "medium": "mmf"}}
    bundle = render(cli, tmp_path, tree)
    found, opened = bill(bundle)["bill.csv"], open_bundle([bundle])
    assert opened.wiring is not None
    cages = set()
    for link in opened.wiring.links:
        for name, port in (link.a, link.b):
            device = opened.devices.get(name)
            model = host_model("dgx-h100")
            assert model is not None
            cages.add((name, device.text_of("PORT", port, "index") if device else nic_cage(model, port)))
    assert total(found, "transceiver") == len(cages)
    order = csv.DictReader(StringIO(sheets(bundle)["order.csv"].decode()))
    counts: Counter[str] = Counter()
    for row in order:
        counts[row["item"]] += int(row["count"])
    assert {item: total(found, item) for item in counts} == counts
    assert total(found, "switch") == len(opened.wiring.devices)


def test_copper_with_legs_is_a_breakout_cable_and_lengths_are_those_sold(cli: Cli, tmp_path: Path) -> None:
    tree = placed(cables={"host-leaf": {"length": "2.2m", "medium": "dac"}, "leaf-spine": {"length": "31m"}})
    bundle = render(cli, tmp_path, tree)
    found = bill(bundle, spares="10")["bill.csv"]
    by_kind = {(row["item"], row["kind"]): row for row in found}
    assert {row["length"] for row in found if row["kind"] == "dac"} == {"2.5m"}
    assert by_kind["cable", "mmf"]["length"] == "40m"
    for row in found:
        needed, spares = int(row["needed"]), int(row["spares"])
        assert spares == (0 if row["item"] == "switch" else -(-needed * 10 // 100))
        assert int(row["to buy"]) == needed + spares
    assert {row["length"] for row in bill(bundle, lengths="3m, 50m")["bill.csv"] if row["item"] == "cable"} <= {
        "3m", "50m"
    }  # fmt: skip


def test_racks_add_up_to_the_bill(cli: Cli, tmp_path: Path) -> None:
    found = bill(render(cli, tmp_path, placed()))
    assert {row["rack"] for row in found["racks.csv"]} == {"R0", "R1", ""}
    for item in ("switch", "cable", "breakout cable", "transceiver"):
        assert total(found["racks.csv"], item) == total(found["bill.csv"], item)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"spares": "many"}, "--spares many: not a whole number of percent"),
        ({"lengths": "1m,long"}, "--lengths 1m,long"),
        ({"lengths": "1m"}, "the longest that is sold 1m"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, tmp_path: Path, options: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        bill(render(cli, tmp_path, placed()), **options)


def test_the_command_writes_three_files(cli: Cli, tmp_path: Path) -> None:
    assert cli("render", QUICKSTART, "--output", tmp_path / "bundle", "-q").code == 0
    assert cli("handoff", "bill", tmp_path / "bundle", "--output", tmp_path / "bill").code == 0
    assert sorted(one.name for one in (tmp_path / "bill").glob("[a-z]*")) == ["bill.csv", "bill.md", "racks.csv"]


@pytest.mark.parametrize("name", ["nvl72", "dual-homed", "superpod", "explicit", "border"])
def test_the_bill_fills_each_cage_once(cli: Cli, tmp_path: Path, name: str) -> None:
    """Counted from fabric.json and config_db.json: peer links, external links, copper with legs, RJ45."""
    bundle = tmp_path / "bundle"
    assert cli("render", QUICKSTART.parent / name, "--output", bundle, "-q").code == 0
    fabric = json.loads((bundle / "fabric.json").read_text())
    media = {cable["id"]: cable["medium"] for cable in fabric["cables"]}
    models = {host["name"]: host_model(host["model"]) for host in fabric["hosts"]}
    opened = open_bundle([bundle])
    kinds: dict[tuple[str, str], set[str]] = {}
    for link in fabric["links"]:
        for device, port in (link["a"], link["b"]):
            model, switch = models.get(device), opened.devices.get(device)
            cage = switch.text_of("PORT", port, "index") if switch else nic_cage(model, port) if model else port
            kinds.setdefault((device, str(cage)), set()).add(media[link["cable"]])
    cages = Counter(medium for (medium,) in kinds.values())  # a cage with two media cannot be built
    rows = bill(bundle)["bill.csv"]

    def count(items: tuple[str, ...], weight: bool, *only: str) -> int:
        """Lines of these items and media, each as many as the links that it carries if `weight`."""
        return sum(
            int(row["needed"]) * (int(row["speed"].partition("x")[0]) if weight and "x" in row["speed"] else 1)
            for row in rows
            if row["item"] in items and (not only or row["kind"] in only)
        )

    assert count(("cable", "breakout cable"), True) == len(fabric["links"])
    for fibre in ("mmf", "smf"):
        assert count(("transceiver",), False, fibre) == cages[fibre]
        links = sum(media[link["cable"]] == fibre for link in fabric["links"])
        assert count(("transceiver",), True, fibre) == 2 * links
    copper = [cable for cable in fabric["cables"] if cable["medium"] not in ("mmf", "smf")]
    assert count(("cable", "breakout cable"), False, "dac", "aec", "aoc", "utp") == len(copper)
    plugs = sum(1 + len(cable.get("legs") or [cable["links"]]) for cable in copper)
    assert plugs == sum(cages.values()) - cages["mmf"] - cages["smf"]


@pytest.mark.parametrize("name", ["nvl72", "dual-homed", "superpod", "explicit", "border"])
def test_optics_and_splitters_are_those_of_the_files(cli: Cli, tmp_path: Path, name: str) -> None:
    """Counted from fabric.json, and lanes and BREAKOUT_CFG of config_db.json."""
    bundle = tmp_path / "bundle"
    assert cli("render", QUICKSTART.parent / name, "--output", bundle, "-q").code == 0
    fabric = json.loads((bundle / "fabric.json").read_text())
    tables = {file.parent.name: json.loads(file.read_text()) for file in bundle.glob("sonic/*/config_db.json")}
    models = {host["name"]: host_model(host["model"]) for host in fabric["hosts"]}
    cables = {cable["id"]: cable for cable in fabric["cables"] if cable["medium"] in ("mmf", "smf")}
    arms = {one: (key, number) for key, cable in cables.items()
            for number, arm in enumerate(cable.get("legs") or [cable["links"]]) for one in arm}  # fmt: skip

    def connector(device: str, port: str) -> str:
        if device not in tables:
            model = models.get(device)
            return nic_connector(model, port) if model else port
        split = [key for key in tables[device].get("BREAKOUT_CFG", {}) if number_of(key) <= number_of(port)]
        return max(split, key=number_of, default=port)

    at: dict[tuple[str, str], set[tuple[str, int]]] = {}
    kinds: dict[tuple[str, str], Counter[str]] = {}
    for link in fabric["links"]:
        if link["cable"] not in cables:
            continue
        ends = [tuple(link[side]) for side in "ab"]
        lane_counts = [tables[name]["PORT"][port]["lanes"].count(",") + 1 for name, port in ends if name in tables]
        cable = cables[link["cable"]]
        letters = "SR" if cable["medium"] == "mmf" else "DR"
        for name, port in ends:
            at.setdefault((name, connector(name, port)), set()).add(arms[link["id"]])
            model = models.get(name)
            cage = tables[name]["PORT"][port]["index"] if name in tables else nic_cage(model, port) if model else port
            kinds.setdefault((name, cage), Counter())[f"{letters}{min(lane_counts)}"] += 1
    rows = bill(bundle)["bill.csv"]
    splitters = sum(len(cables_there) > 1 for cables_there in at.values())
    assert total(rows, "fibre splitter") == splitters
    ordered = [row for row in csv.DictReader(StringIO(sheets(bundle)["order.csv"].decode())) if "split" in row["item"]]
    assert sum(int(row["count"]) for row in ordered) == splitters
    assert {row["length"] for row in ordered} <= {""}
    expected = Counter("+".join(f"{n}x{kind}" if n > 1 else kind for kind, n in own.items()) for own in kinds.values())
    found: Counter[str] = Counter()
    for row in rows:
        if row["item"] == "transceiver":
            found[row["optics"]] += int(row["needed"])
        else:
            assert not row["optics"]
    assert found == expected


def number_of(port: str) -> int:
    return int(port.removeprefix("Ethernet"))


@pytest.mark.parametrize(
    ("medium", "length_m", "speed", "lanes", "name"),
    [
        ("mmf", 30, 400, 4, "SR4"), ("mmf", 30, 800, 8, "SR8"), ("mmf", 30, 25, 1, "SR"), ("mmf", 30, 400, 0, "SR"),
        ("smf", 500, 400, 4, "DR4"), ("smf", 501, 400, 4, "FR4"), ("smf", 2001, 400, 4, "LR4"),
        ("smf", 9, 100, 1, "DR"),
        ("smf", 30, 100, 4, "PSM4"), ("smf", 600, 100, 4, "LR4"), ("smf", 30, 25, 1, "LR"), ("smf", 30, 400, 0, "DR"),
    ],
)  # fmt: skip
def test_optics_have_the_names_of_ieee(medium: str, length_m: float, speed: int, lanes: int, name: str) -> None:
    assert optics(medium, length_m, speed * 1000, lanes) == name


def test_the_notes_have_the_speeds_in_use(cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized()
    for plane in tree["planes"].values():
        plane["cables"] = {"leaf-spine": {"length": "5m", "medium": "smf"}}
    text = dict(bill_files(open_bundle([render(cli, tmp_path, tree)])))["bill.md"].decode()
    speeds = {line.split("|")[4].strip() for line in text.splitlines() if line.startswith("| cable | smf")}
    trunks = {speed for speed in speeds if "x" in speed}
    assert trunks and all(f"A fibre of {speed} is a trunk" in text for speed in trunks)
    assert all(f"buy {speed.replace('x', ' of ')} in its place" in text for speed in trunks)
