"""Cabling sheets: every plug once, labels that agree with the far end, an order list that agrees with the plan."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

import pytest

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.bundle.wiring import WiredCable, WiredDevice, WiredLink, Wiring
from fabricgen.errors import UsageError
from fabricgen.handoff import Content
from fabricgen.handoff.cabling import cabling_files
from fabricgen.platforms.dynamic_buffers import buffers_of
from tests.conftest import Cli
from tests.handoff.rendered import placed, render
from tests.inventories import NVIDIA, QUICKSTART


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    return render(cli, tmp_path, placed())


def sheets(bundle: Path, only: str | None = None) -> dict[str, bytes]:
    return contents(cabling_files(open_bundle([bundle]), only))


def contents(files: Iterable[tuple[str, Content]]) -> dict[str, bytes]:
    return {path: one if isinstance(one, bytes) else b"".join(one) for path, one in files}


def rows(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(files[name].decode())))


def test_every_cable_has_two_labels_that_mirror_each_other(bundle: Path) -> None:
    files = sheets(bundle)
    cables = rows(files, "cables.csv")
    wiring = open_bundle([bundle]).wiring
    assert wiring is not None and [row["cable"] for row in cables] == [cable.id for cable in wiring.cables]
    pairs = {(row["cable"], row["end"]): (row["here"], row["there"]) for row in rows(files, "labels.csv")}
    for row in cables:
        here, there = pairs[row["cable"], "a"]
        assert pairs[row["cable"], "b"] == (there, here)
        assert row["a_device"] in here and row["b_labels"] in there
    uplink = next(row for row in cables if row["a_device"] == "leaf2")
    assert pairs[uplink["cable"], "a"][0].startswith("R1 U39 leaf2 etp")
    assert uplink["b_rack"] == "R0" and uplink["b_device"] == "spine1"


def test_a_page_for_each_rack_has_every_plug_in_it(bundle: Path) -> None:
    files = sheets(bundle)
    pages = {path: text.decode() for path, text in files.items() if path.startswith("racks/")}
    assert list(pages) == ["racks/R0.html", "racks/R1.html", "racks/no_rack.html"]
    plugs = Counter(rack for row in rows(files, "cables.csv") for rack in (row["a_rack"], row["b_rack"]))
    for rack, count in plugs.items():
        page = pages[f"racks/{rack or 'no_rack'}.html"]
        assert page.count('<td class="tick">') == count
        assert f"{count} plugs" in page and f'"racks/{rack or "no_rack"}.html"' in files["index.html"].decode()
    assert "leaf1" in pages["racks/R0.html"] and "etp33a" in pages["racks/R0.html"]


def test_names_are_escaped_and_pages_never_share_a_file() -> None:
    def made(*racks: str) -> dict[str, bytes]:
        devices = tuple(
            WiredDevice(f"<b>{number}", f"x/{number}", "x", "leaf", "p", "l", "h", rack=rack)
            for number, rack in enumerate(racks)
        )
        link = WiredLink("l", "x", "leaf-spine", ("<b>0", "Ethernet0"), ("<b>1", "Ethernet0"), 400_000, "c")
        wiring = Wiring("f", (), devices, (), (link,), (WiredCable("c", 3.0, "dac", ("l",)),))
        return contents(cabling_files(Bundle({}, wiring.links, None, wiring)))

    page = made("../etc", "R<1>")["racks/R_1_.html"].decode()
    assert "<b>" not in page and "&lt;b&gt;0" in page and "R&lt;1&gt;" in page
    with pytest.raises(UsageError, match="have the same page"):
        made("a b", "A/b")


def test_the_order_list_is_what_the_plan_counts(cli: Cli, tmp_path: Path) -> None:
    for inventory in map(QUICKSTART.with_name, ("border", "dual-tor")):
        folder = tmp_path / inventory.name
        assert cli("render", inventory, "-o", folder, "-q").code == 0
        ordered: Counter[tuple[str, str, str]] = Counter()
        for row in rows(sheets(folder, "*-leaf,gpu-*"), "order.csv"):
            ordered[row["item"].removeprefix("breakout "), row["medium"], row["length"]] += int(row["count"])
        wanted: Counter[tuple[str, str, str]] = Counter()
        plan = json.loads(cli("capacity", inventory, "--format", "json").out)
        for optic in (optic for plane in plan["capacity"]["planes"] for optic in plane["optics"]):
            place = optic["medium"], f"{optic['length_m']:g}m"
            wanted["cable", *place] += optic["cables"]
            wanted["transceiver", *place] += optic["transceivers"]
        outside = {key for key in ordered if key not in wanted}  # the plan counts the fabric alone
        assert {key: count for key, count in ordered.items() if key not in outside} == dict(+wanted)
        assert all(inventory.name == "border" for _ in outside)


def test_only_some_devices(bundle: Path) -> None:
    chosen = rows(sheets(bundle, "leaf1"), "cables.csv")
    assert chosen and all("leaf1" in (row["a_device"], row["b_device"]) for row in chosen)
    with pytest.raises(UsageError, match="no device at the end of a cable matches"):
        sheets(bundle, "x")
    with pytest.raises(UsageError, match=r"fabric\.json"):
        sheets(bundle / "sonic")


def test_the_command(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("handoff", "cabling", bundle, "-o", tmp_path / "out")
    assert outcome.code == 0 and "8 files" in outcome.out
    index = (tmp_path / "out" / "index.html").read_text()
    for link in re.findall(r'href="([^"]+)"', index):
        assert (tmp_path / "out" / link).is_file()


def test_the_headroom_of_each_end_is_that_of_the_file_or_predicted(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    for row in rows(sheets(bundle), "headroom.csv"):
        profile = open_bundle([bundle]).devices[row["device"]].row("BUFFER_PROFILE", row["profile"])
        assert (row["xoff"], row["size"], row["source"]) == (profile["xoff"], profile["size"], "the file")
    computed = render(cli, tmp_path / "dynamic", placed(platform=NVIDIA))
    device = open_bundle([computed]).devices["leaf1"]
    predicted = buffers_of(device)
    assert predicted
    found = [row for row in rows(sheets(computed), "headroom.csv") if row["device"] == "leaf1"]
    assert {row["port"] for row in found} == {port for port in device.table("PORT_QOS_MAP") if port != "global"}
    for row in found:
        headroom = predicted.headroom(row["port"])
        assert headroom and row["source"] == "predicted, by SONiC's own script"
        values = [headroom.xon_bytes, headroom.xoff_bytes, headroom.size_bytes]
        assert [int(row[name]) for name in ("xon", "xoff", "size")] == values
        assert (
            int(row["pool"]) == predicted.sizes.bytes["ingress_lossless_pool"] and row["length"] == row["cable_length"]
        )


def test_the_rack_of_a_host(tmp_path: Path, cli: Cli) -> None:
    tree = placed()
    tree["devices"].append({"name": "gpu-000", "rack": "G7", "unit": "3"})
    bundle = render(cli, tmp_path, tree)
    assert cli("validate", bundle).code == 0, "cabling.csv has the racks of fabric.json"
    cables = rows(sheets(bundle), "cables.csv")
    assert {(row["a_rack"], row["a_unit"]) for row in cables if row["a_device"] == "gpu-000"} == {("G7", "3")}
