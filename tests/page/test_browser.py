"""The report in a real browser: it draws, follows clicks, filters, changes its colours, prints, and loads nothing."""

import csv
import itertools
import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredDevice, WiredLink
from fabricgen.draw.topology import Topology
from fabricgen.page.graph import graph_object
from fabricgen.page.html import html_page
from fabricgen.page.report import report_object
from fabricgen.page.verdict import JudgedResults
from fabricgen.report.summary import Counts
from fabricgen.resources import resource
from fabricgen.vocabulary import LinkKind, Role
from tests.conftest import Cli
from tests.diff.test_cables import as_planned, dump
from tests.draw.test_draw import rails
from tests.hostile.payloads import edit
from tests.page.browser import opened
from tests.simulate.deadlock.test_certificate import _without
from tests.simulate.deadlock.test_fabrics import clos


def broken(bundle: Path) -> Path:
    """The quickstart with a wrong MTU, PFC on one priority, and too little headroom, on three switches."""

    def change(name: str, table: str, key: str, **fields: str) -> None:
        file = bundle / f"sonic/{name}/config_db.json"
        edit(file, lambda tables: tables[table][key].update(fields))

    change("compute-spine-02", "PORT", "Ethernet0", mtu="1500")
    change("compute-su01-r6-leaf", "PORT_QOS_MAP", "Ethernet448", pfc_enable="3")
    change("compute-su00-r3-leaf", "BUFFER_PROFILE", "pg_lossless_400000_40m_profile", xoff="1000")
    return bundle


def test_a_broken_bundle(bundle: Path, browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """The answer is read without scrolling; a finding leads to its line and its switch; filter, theme and print."""
    report = tmp_path / "report.html"
    patterns = ("--pattern", "permutation", "--pattern", "incast")
    outcome = cli("report", broken(bundle), *patterns, "-o", report)
    assert outcome.code == 1 and outcome.out.startswith("Do not merge: 3 errors of 3 kinds on 3")
    with opened(browser, report) as found:
        page = found.page
        answer = page.locator("h1")
        assert answer.inner_text() == "Do not merge"
        evidence = page.locator(".evidence").bounding_box()
        assert evidence and evidence["y"] + evidence["height"] < 640
        assert page.locator(".box.switch").count() == 20
        assert page.locator(".box.error").count() == 3
        assert found.faults() == []

        page.locator(".box.error").first.click()
        assert "compute-spine-02" in page.locator("#inspector h3").first.inner_text()
        assert page.locator(".box.near").count() == 16
        assert page.url.endswith("#switch=compute-spine-02")
        page.keyboard.press("Escape")
        assert page.locator(".box.near").count() == 0

        page.locator("#filter").fill("mtu")
        assert page.locator("#finding-count").inner_text().startswith("1 of")
        group = page.locator("details.code")
        assert "FG243" in group.locator("summary").inner_text()
        assert '"mtu": "1500"' in group.locator("pre .at").inner_text()
        group.get_by_text("show on the picture").click()
        assert page.locator("#inspector h3").first.inner_text() == "FG243"
        assert page.locator(".finding.on").count() == 1
        page.locator("#filter").fill("nothing like this")
        assert "No finding matches" in page.locator("#finding-list").inner_text()

        page.get_by_role("button", name="Congestion tree").click()
        assert page.locator(".over.tree").count() > 0
        page.get_by_role("button", name="Use dark colors").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 15, 17)"
        assert found.faults() == []
        page.reload()
        assert page.get_by_role("button", name="Use light colors").is_visible()
        page.set_viewport_size({"width": 688, "height": 900})  # A4 without its margins
        page.emulate_media(media="print")
        cut = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
        assert page.evaluate(cut) == 0, "paper cannot scroll"
        printed = page.pdf(format="A4")
        assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") <= 8


def test_causes_come_first(bundle: Path, browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """A wrong ASN is the first cause, with what it explains; consequences are folded and color no switch."""
    file = bundle / "sonic/compute-spine-02/config_db.json"
    edit(file, lambda tables: tables["DEVICE_METADATA"]["localhost"].update(bgp_asn="4200000500"))
    report = tmp_path / "report.html"
    assert cli("report", bundle, "--failures", "0", "-o", report).code == 1
    with opened(browser, report) as found:
        page = found.page
        first = page.get_by_role("list", name="Causes, worst first").locator("li").first
        text = first.inner_text()
        for part in (
            "Set bgp_asn to 4200000000",
            "FG331",
            "FG602",
            "compute-spine-02: bgp_asn is 4200000500",
            "breaks: ",
        ):
            assert part in text, part
        assert "First:" not in page.locator("#verdict").inner_text()
        colored = page.locator(".box.error, .box.warning")
        assert [one.get_attribute("aria-label").split(",")[0] for one in colored.all()] == ["compute-spine-02"]
        assert page.locator("#finding-list > details.code").count() == 1
        fold = page.locator("#finding-list > details.consequences")
        assert "of the causes above" in fold.locator("summary").first.inner_text()
        fold.locator("summary").first.click()
        fold.locator("details.code > summary").first.click()
        fold.get_by_text("FG331").first.click()
        assert page.locator("#inspector h3").first.inner_text() == "FG331"
        first.get_by_role("button").click()
        assert page.locator("#inspector h3").first.inner_text() == "FG331"
        assert found.faults() == []


def swapped(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """LLDP dumps of the quickstart with two swapped cables of two links each, and one that is not seen."""
    seen = as_planned(bundle)
    ends = (
        ("compute-su00-r3-leaf", 448, "compute-spine-00", 48),
        ("compute-su00-r4-leaf", 480, "compute-spine-02", 64),
    )
    (one, one_port, up, up_port), (two, two_port, other, other_port) = ends
    for lane in (0, 4):
        here, there = f"Ethernet{one_port + lane}", f"Ethernet{two_port + lane}"
        seen[one][here], seen[two][there] = seen[two][there], seen[one][here]
        here, there = f"Ethernet{up_port + lane}", f"Ethernet{other_port + lane}"
        seen[up][here], seen[other][there] = seen[other][there], seen[up][here]
        del seen["compute-su01-r6-leaf"][f"Ethernet{496 + lane}"], seen["compute-spine-03"][f"Ethernet{224 + lane}"]
    monkeypatch.chdir(bundle.parent)
    return dump(seen)


def test_from_the_headline_to_the_swapped_cable(
    bundle: Path, browser: Browser, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One click from the headline; the picture, the work order as text and CSV, and print name the same ends."""
    report = tmp_path / "report.html"
    assert cli("report", bundle, "--lldp", swapped(bundle, monkeypatch), "-o", report).code == 1
    with opened(browser, report) as found:
        page = found.page
        cell = page.get_by_role("link", name="Cables 3 to correct")
        assert "2 cables swapped, 1 not seen" in cell.inner_text()
        page.get_by_role("button", name="Links", exact=True).click()
        assert page.locator(".over").count() == 0
        cell.click()
        drawn = {
            kind: page.locator(f"#picture .over.{kind}").count()
            for kind in ("planned-cable", "seen-cable", "unseen-cable")
        }
        assert drawn == {"planned-cable": 2, "seen-cable": 2, "unseen-cable": 1}
        panel = page.locator("#inspector")
        assert panel.locator("h4").all_inner_texts() == ["A Swap two cables", "B Plug or replace a cable"]
        row = panel.get_by_role("table").first.locator("tbody tr").first.inner_text()
        for text in ("compute-su00-r4-leaf", "Ethernet480 Ethernet484", "etp61a", "cage 61", "compute-spine-02"):
            assert text in row
        assert found.faults() == []
        with page.expect_download() as saved:
            page.get_by_role("link", name="Save as CSV").click()
        rows = list(csv.DictReader(saved.value.path().read_text().splitlines()))
        assert [one["order"] for one in rows] == ["A", "A", "B"] and rows[0]["planned_device"] == "compute-spine-02"
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy as work order").click()
        page.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == "".join(
            f"{line}\n" for line in found.content()["cables"]["text"]
        )
        page.emulate_media(media="print")
        assert panel.is_visible() and panel.get_by_role("table").count() == 2
        page.emulate_media(media="screen")
        panel.get_by_role("button", name="compute-spine-02").first.click()
        assert panel.locator("h3").first.inner_text() == "compute-spine-02"


def test_the_quickstart_is_safe_and_shows_its_packets(
    rendered: Path, browser: Browser, cli: Cli, tmp_path: Path
) -> None:
    """The answer is read without scrolling; queues and pauses of a packet run are drawn where they were run."""
    report = tmp_path / "report.html"
    run = ("simulate", "packets", rendered, "--pattern", "incast", "--size", "1MB", "--series", tmp_path / "run")
    assert cli(*run).code == 0
    assert cli("report", rendered, "--series", tmp_path / "run", "-o", report).code == 0
    with opened(browser, report, width=390) as found:
        page = found.page
        assert page.locator("h1").inner_text() == "Safe to merge"
        assert page.locator(".box.switch").count() == 20
        series = json.loads((tmp_path / "run" / "series.json").read_text())
        run_shown = found.content()["packets"][0]
        assert (run_shown["name"], run_shown["end_ns"]) == (series["name"], series["times_ns"][-1])
        highest = {queue["name"]: max(queue["bytes"]) for queue in series["queues"]}
        assert {queue["name"]: max(queue["bytes"]) for queue in run_shown["queues"]} == highest
        packets = page.locator("#packets")
        for text in ("Kmin", "Kmax", *highest):
            assert packets.get_by_text(text).count() > 0
        assert packets.locator("path.series").count() >= len(highest)
        assert packets.get_by_text("logarithmic axis").count() == 1
        limits = [one.bounding_box() for one in packets.locator("figure").first.locator("path.limit").all()]
        apart = sorted(box["y"] for box in limits if box)
        assert all(later - earlier > 4 for earlier, later in itertools.pairwise(apart)), "thresholds are one line"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert found.faults() == []


def test_a_torus_has_arrows_and_true_words(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """A congestion tree has its root and an arrow for each wait; the panel says what the deadlock table says."""
    bundle, report = tmp_path / "bundle", tmp_path / "report.html"
    copy = Path(shutil.copytree(resource("inventories", "torus"), tmp_path / "torus"))
    file = copy / "fabric.yaml"
    file.write_text(file.read_text().replace("[4, 4, 4]", "[4, 4]").replace("count: 120", "count: 32"))
    assert cli("-q", "render", copy, "-o", bundle).code == 0
    cli("report", bundle, "--failures", "0", "--pattern", "incast", "-o", report)
    with opened(browser, report) as found:
        page = found.page
        statement = found.content()["deadlock"][0]["statement"]
        assert statement["text"] in page.locator("#inspector").inner_text()
        assert statement["covers"] in page.locator("#deadlock").inner_text()
        page.get_by_role("button", name="Congestion tree").click()
        waits = found.content()["traffic"][0]["trees"][0]["waits"]
        names = {row[0] for row in found.content()["topology"]["switches"]}
        between = {(a[0], b[0]) for a, b in waits if a[0] != b[0] and {a[0], b[0]} <= names}
        assert page.locator("path.over.tree").count() >= len(between) > 0
        assert page.locator("rect.over.tree").count() == 1
        assert found.faults() == []


def test_the_legend_is_true_of_all_lines(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """Not '16 x 400G 150 m' of the first line, where others have 2 links or 40 m."""
    bundle, report = tmp_path / "bundle", tmp_path / "report.html"
    copy = Path(shutil.copytree(resource("inventories", "dragonfly"), tmp_path / "dragonfly"))
    assert cli("-q", "render", copy, "-o", bundle).code == 0
    cli("report", bundle, "--failures", "0", "-o", report)
    with opened(browser, report) as found:
        pairs = found.content()["topology"]["pairs"]
        text = found.page.locator("#legend").inner_text()
        for column, unit in ((2, " ×"), (4, " m")):
            values = sorted({pair[column] for pair in pairs})
            assert f"{values[0]:g}{f' to {values[-1]:g}' if len(values) > 1 else ''}{unit}" in text
        assert len({pair[4] for pair in pairs}) > 1


def test_routers_outside_are_drawn(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    bundle, report = tmp_path / "bundle", tmp_path / "report.html"
    copy = shutil.copytree(resource("inventories", "border"), tmp_path / "border")
    assert cli("-q", "render", copy, "-o", bundle).code == 0
    cli("report", bundle, "--failures", "0", "-o", report)
    with opened(browser, report, theme="dark") as found:
        page = found.page
        assert page.locator(".box.outside").all_text_contents() == ["wan1wan1", "wan2wan2"]
        assert "8 hosts and 2 devices outside" in page.locator("#topology").inner_text()
        page.locator(".box.switch", has_text="r0").first.click()
        assert "wan1 by Ethernet384 400G" in page.locator("#inspector").inner_text()
        assert found.faults() == []


def test_infiniband(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """A plane of subnet managers: its switches have no configuration, and its routes are named as those of the design
    or of OpenSM."""
    copy = shutil.copytree(resource("inventories", "infiniband"), tmp_path / "infiniband")
    bundle, report = tmp_path / "bundle", tmp_path / "report.html"
    assert cli("-q", "render", copy, "-o", bundle).code == 0
    cli("report", bundle, "--failures", "0", "-o", report)
    with opened(browser, report, theme="dark") as found:
        page = found.page
        page.get_by_role("group", name="Plane").get_by_text("compute").click()
        assert page.locator(".box.switch").count() == 12
        if page.get_by_role("button", name="Congestion tree").count():
            page.get_by_role("button", name="Congestion tree").click()
            assert page.locator("path.over.tree").count() > 0 and page.locator("rect.over.tree").count() == 1
        page.locator(".box.switch").first.click()
        assert "nvidia-qm9700" in page.locator("#inspector").inner_text()
        assert "compute" in page.locator("#deadlock").inner_text()
        assert found.faults() == []


def test_a_comparison(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    page_file = tmp_path / "compare.html"
    options = ("--gpus", "32", "--platform", "nvidia-sn4700", "--pattern", "all-to-all", "--draws", "2")
    verb = ("compare", "--designs", "rail-only,fat-tree:2", *options, "--failure-sets", "2")
    assert cli(*verb, "--format", "html", "-o", page_file).code == 0
    compared = json.loads(cli(*verb, "--format", "json").out)["compare"]
    with opened(browser, page_file) as found:
        page = found.page
        assert page.locator("h1").inner_text() == "2 fabrics compared"
        for row, key in (("switches", "switches"), ("cables", "cables"), ("GPUs", "gpus")):
            line = page.locator("#compare tr", has=page.get_by_role("rowheader", name=row, exact=True))
            assert line.locator("td > div").evaluate_all(
                "cells => cells.map(cell => (cell.querySelector('b') || cell).firstChild.textContent)"
            ) == [str(one[key]) for one in compared["fabrics"]]
        bests = {one["metric"]: one["best"] for one in compared["wins"]}
        names = [one["name"] for one in compared["fabrics"]]
        for row, metric in (("switches", "fewest switches"), ("all-to-all: time", "fastest all-to-all")):
            line = page.locator("#compare tr", has=page.get_by_role("rowheader", name=row, exact=True))
            marked_cells = [
                name
                for name, cell in zip(names, line.locator("td").all(), strict=True)
                if cell.locator("b.best").count()
            ]
            assert marked_cells == bests.get(metric, [])
        alone = {name: sum(best == [name] for best in bests.values()) for name in names}
        counts = ", ".join(f"{name} {count}" for name, count in alone.items())
        assert f"Rows in which each alone is the best: {counts}." in page.locator("#verdict").inner_text()
        charts = {chart["title"].partition(":")[0]: chart["rows"] for chart in found.content()["compare"]["charts"]}
        marked = {title: [row["name"] for row in rows if row["best"]] for title, rows in charts.items()}
        winners = {one["metric"]: one["best"] for one in compared["wins"]}
        assert marked["all-to-all"] == winners["fastest all-to-all"] == ["rail-only"]
        one_link = "Bandwidth that 1 failed link leaves, and its share of that without"
        assert marked[one_link] == winners["most bandwidth with 1 failed link"]
        assert charts[one_link][0]["text"].endswith(", has no link")
        assert page.locator("#compare .chart").count() >= 2 and not page.locator("#search").is_visible()
        assert found.faults() == []


def test_6016_switches(browser: Browser, tmp_path: Path) -> None:
    """Pods with counts, then one pod; a selected switch has its peers. The page is below 6 MB."""
    topology = large_topology(pods=64, leaves=62, spines=31, cores=64)
    assert len(topology.switches) == 6016
    judged = JudgedResults([], counts=Counts(6016, len(topology.pairs), 1))
    content = report_object(judged, None, None, None, "large")
    content["topology"] = graph_object(Bundle({}, ()), topology, [None] * 6016)
    report = tmp_path / "report.html"
    tool = {"name": "fabricgen", "version": "0"}
    report.write_text(html_page({**content, "tool": tool, "summary": {}, "configurations": [], "lossless": []}))
    assert report.stat().st_size < 6_000_000
    with opened(browser, report) as found:
        page = found.page
        assert page.locator(".box.pod").count() == 65
        card = page.locator(".box.pod", has_text="pod 5").first
        assert "62 leaves" in card.text_content() and "1,922 links" in card.text_content()
        card.click()
        assert page.locator(".box.switch").count() == 62 + 31 + 64
        page.locator("#search").fill("p5-s3")
        page.locator("#search").press("Enter")
        inspector = page.locator("#inspector")
        assert inspector.locator("h3").first.inner_text() == "p5-s3"
        assert "Links to 126 switches\nc0\n1 × 400G" in inspector.inner_text()
        assert found.faults() == []


def test_a_matrix(browser: Browser, tmp_path: Path) -> None:
    """384 switches of two large tiers are cells without lines; a selected one has its lines, and its pair a panel."""
    topology = rails(units=32, spines=16)
    content = report_object(JudgedResults([], counts=Counts(384, len(topology.pairs), 1)), None, None, None, "rails")
    content["topology"] = graph_object(Bundle({}, ()), topology, [None] * len(topology.switches))
    report = tmp_path / "report.html"
    tool = {"name": "fabricgen", "version": "0"}
    report.write_text(html_page({**content, "tool": tool, "summary": {}, "configurations": [], "lossless": []}))
    assert report.stat().st_size < 1_000_000
    for width in (1280, 390):
        with opened(browser, report, width=width) as found:
            page = found.page
            assert page.locator(".box.switch").count() == 384 and page.locator("#picture .line").count() == 0
            assert page.get_by_text("row: rail · column: scalable unit").is_visible()
            assert page.locator(".box.band").count() == 8
            page.get_by_role("button", name="su12-r4, leaf", exact=True).click()
            assert page.locator("#picture .line.on").count() == 16
            assert page.locator("#inspector h3").first.inner_text() == "su12-r4"
            assert found.faults() == []


def test_pods_that_are_matrices(browser: Browser, tmp_path: Path) -> None:
    """A plane of more than 500 switches opens with its pods; a pod with a large tier is a matrix with its cores."""
    topology = large_topology(pods=4, leaves=96, spines=40, cores=8)
    judged = JudgedResults([], counts=Counts(552, len(topology.pairs), 1))
    content = report_object(judged, None, None, None, "pods")
    content["topology"] = graph_object(Bundle({}, ()), topology, [None] * 552)
    report = tmp_path / "report.html"
    tool = {"name": "fabricgen", "version": "0"}
    report.write_text(html_page({**content, "tool": tool, "summary": {}, "configurations": [], "lossless": []}))
    with opened(browser, report) as found:
        page = found.page
        assert page.locator("#picture [tabindex='0']").get_attribute("aria-label").startswith("pod 0")
        page.locator(".box.pod", has_text="pod 2").first.click()
        assert page.locator(".box.switch").count() == 96 + 40 + 8
        assert page.get_by_text("96 leaves").is_visible() and page.locator(".box.band").count() == 2
        page.get_by_role("button", name="p2-s3, spine", exact=True).click()
        assert page.locator("#picture .line.on").count() == 96 + 8
        assert found.faults() == []


def test_the_keyboard_reaches_every_finding(bundle: Path, browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """Tab and Enter alone open each group of findings and put the focus into each finding."""
    report = tmp_path / "report.html"
    cli("report", broken(bundle), "-o", report)
    with opened(browser, report) as found:
        page = found.page
        expected = {str(index) for index in range(len(found.content()["findings"]))}
        focus = """() => {
            const one = document.activeElement;
            const item = one.closest(".finding");
            const closed = one.tagName === "SUMMARY" && one.parentElement.matches("#finding-list details:not([open])");
            return [closed, item && item.dataset.index, one.id];
        }"""
        reached: set[str] = set()
        for _ in range(400):
            page.keyboard.press("Tab")
            closed, index, _name = page.evaluate(focus)
            if closed:
                page.keyboard.press("Enter")
            if index is not None:
                reached.add(index)
            if reached == expected:
                break
        assert reached == expected
        page.keyboard.press("Enter")
        assert page.locator("#inspector h3").count() == 1


def large_topology(*, pods: int, leaves: int, spines: int, cores: int) -> Topology:
    """Three tiers: all leaves of a pod to all its spines, all spines to all cores."""
    switches = [_switch(f"p{pod}-l{n}", Role.LEAF, pod) for pod in range(pods) for n in range(leaves)]
    switches += [_switch(f"p{pod}-s{n}", Role.SPINE, pod) for pod in range(pods) for n in range(spines)]
    switches += [_switch(f"c{n}", Role.CORE, None) for n in range(cores)]
    first_spine, first_core = pods * leaves, pods * (leaves + spines)
    pairs = {}
    for pod in range(pods):
        for spine in range(first_spine + pod * spines, first_spine + (pod + 1) * spines):
            for other in (*range(pod * leaves, (pod + 1) * leaves), *range(first_core, first_core + cores)):
                kind = LinkKind.SPINE_CORE if other >= first_core else LinkKind.LEAF_SPINE
                ends = (switches[other].name, f"Ethernet{spine}"), (switches[spine].name, f"Ethernet{other}")
                pairs[other, spine] = (WiredLink("", "compute", kind, *ends, 400_000, ""),)
    return Topology(tuple(switches), pairs, {})


def _switch(name: str, role: Role, pod: int | None) -> WiredDevice:
    return WiredDevice(name, name, "compute", role, platform="", layout="", hwsku="", pod=pod)


@pytest.mark.parametrize("width", [1280, 390])
def test_planes_and_the_phone(width: int, browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """Several planes are tabs; nothing is wider than a phone; arrow keys move between switches."""
    bundle, report = tmp_path / "bundle", tmp_path / "report.html"
    copy = shutil.copytree(resource("inventories", "superpod"), tmp_path / "superpod")
    assert cli("-q", "render", copy, "-o", bundle).code == 0
    assert cli("report", bundle, "-o", report).code == 0
    with opened(browser, report, width=width) as found:
        page = found.page
        assert page.locator("h1").inner_text() == "Safe to merge"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth).length"
        assert page.evaluate(wide) == 0
        assert page.get_by_role("table").count() == page.locator("table").count() > 0
        assert found.faults() == []
        page.get_by_role("group", name="Plane").get_by_text("storage").click()
        assert page.locator(".box.switch").count() == 4
        page.locator(".box.switch").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert page.locator(".box.on").count() == 1
        origins = page.locator("#inspector .value small")
        assert "superpod" in page.locator("#fabric").inner_text() and origins.count() > 10


def test_a_cycle_opens_itself(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    fabric = _without(clos(4, 2, lambda spine: 65000 + spine), ("l0", "s0"), ("l1", "s1"))
    for name, tables in fabric.configs().items():
        (tmp_path / "cyclic" / name).mkdir(parents=True)
        (tmp_path / "cyclic" / name / "config_db.json").write_text(json.dumps(tables))
    report = tmp_path / "report.html"
    outcome = cli("report", tmp_path / "cyclic", "-o", report)
    assert outcome.code == 1 and "Traffic can deadlock: 4 switches wait for each other in a cycle." in outcome.out
    with opened(browser, report) as found:
        page = found.page
        assert page.locator(".over.cycle").count() == 4
        assert {box.get_attribute("aria-label").split(",")[0] for box in page.locator(".box.touched").all()} == {
            "s0", "s1", "l2", "l3",
        }  # fmt: skip
        assert "Cycle 1 of 4 switches on priority 3" in page.locator("#deadlock").inner_text()
        assert found.faults() == []


def test_growth_in_colour(browser: Browser, rendered: Path, cli: Cli, tmp_path: Path) -> None:
    grown = Path(shutil.copytree(resource("inventories", "quickstart"), tmp_path / "fabric"))
    file = grown / "fabric.yaml"
    file.write_text(file.read_text().replace("count: 32", "count: 48"))
    report = tmp_path / "report.html"
    assert cli("report", grown, "--against", rendered, "-o", report).code == 0
    with opened(browser, report, theme="dark") as found:
        page = found.page
        assert page.locator(".box.added").count() == 8
        assert page.locator(".box.changed").count() == 4
        assert page.locator(".line.added").count() == 32
        text = page.locator("#differences").inner_text()
        assert "0 cables moved, 192 new, 0 removed, 384 unchanged." in text
        assert "8 new switches, 4 changed, 0 removed, 16 unchanged." in text
        assert found.faults() == []


def test_errors_of_an_inventory(browser: Browser, cli: Cli, tmp_path: Path) -> None:
    """Nothing is rendered, so the page has the verdict and the findings only."""
    wrong = Path(shutil.copytree(resource("inventories", "quickstart"), tmp_path / "fabric"))
    file = wrong / "fabric.yaml"
    file.write_text(file.read_text().replace("model: ", "model: no-"))
    report = tmp_path / "report.html"
    assert cli("report", wrong, "-o", report).code == 1
    with opened(browser, report) as found:
        page = found.page
        assert page.locator("h1").inner_text() == "Do not merge"
        assert page.locator("section").count() == 2
        assert "no-dgx" in page.locator(".finding pre .at").first.inner_text()
        assert found.faults() == []
