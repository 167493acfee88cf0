"""The content of the report: its numbers are those of the verbs, its answer follows from them, and names stay text."""

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.api import render
from fabricgen.bundle.read import open_bundle
from fabricgen.draw.topology import read_topology
from fabricgen.findings import Finding, Severity
from fabricgen.page.configurations import Configuration, configurations, rows_object
from fabricgen.page.graph import graph_object, runs
from fabricgen.page.html import content_json, html_page
from fabricgen.page.lossless import plan_object
from fabricgen.page.packets import joined, smooth
from fabricgen.page.traffic import percentile
from fabricgen.page.verdict import Answer, JudgedResults, answer, verdict_object
from fabricgen.platforms.dynamic_buffers import buffers_of
from fabricgen.report.summary import Counts
from fabricgen.results import Claim, DeadlockResult, FailureSummary, RoutesModel, Verdict
from tests.conftest import Cli
from tests.hostile.payloads import PAYLOAD, add_secrets, edit, poison_texts, shows_secret
from tests.inventories import NVIDIA, QUICKSTART, rail_optimized, write
from tests.observed.test_lldp import lldpctl
from tests.rules.access import FIRST, PAIRED, SECOND

COUNTS = Counts(devices=2, links=4, rules=200)


def shown(cli: Cli, folder: Path, *arguments: object) -> dict[str, Any]:
    file = folder / "report.json"
    cli("report", *arguments, "--format", "json", "-o", file)
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def verb(cli: Cli, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cli(*arguments, "--format", "json").out)
    return found


def test_numbers_are_those_of_the_verbs(rendered: Path, cli: Cli, tmp_path: Path) -> None:
    """100 elements, chosen at random, of the files and of the verbs' JSON."""
    whole = shown(cli, tmp_path, rendered, "--pattern", "permutation", "--failures", "1")
    report = whole["report"]
    draw = random.Random(7)
    wiring = json.loads((rendered / "fabric.json").read_text())
    links = {frozenset((tuple(link["a"]), tuple(link["b"]))): link for link in wiring["links"]}
    names = [row[0] for row in report["topology"]["switches"]]
    for a, b, count, speed, _, _, ports in draw.sample(report["topology"]["pairs"], 30):
        between = [link for ends, link in links.items() if {name for name, _ in ends} == {names[a], names[b]}]
        assert (len(between), {link["speed_mbps"] for link in between}) == (count, {speed})
        near, far = draw.choice(ports)
        assert frozenset(((names[a], near), (names[b], far))) in links
    configured = {name: row[-1] for name, row in zip(names, report["topology"]["switches"], strict=True)}
    for _ in range(40):
        name = draw.choice(names)
        tables = json.loads((rendered / f"sonic/{name}/config_db.json").read_text())
        row, field, value, _ = draw.choice(report["configurations"][configured[name]])
        table, _, key = row.partition(" and ")[0].partition("|")
        assert tables[table][key][field] == value, (name, row, field)
    loads = verb(cli, "simulate", "congestion", rendered, "--pattern", "permutation", "--failures", "1")["congestion"]
    (traffic,) = report["traffic"]
    assert traffic["loads"] == [list(one.values()) for one in loads["loads"]]
    assert (traffic["victims"], traffic["drawn_load"]) == (len(loads["victims"]), loads["drawn_load"])
    ((costs,), (expected,)) = traffic["failures"], loads["failures"]
    assert {**costs, "outcomes": 0} == {**expected, "outcomes": 0} and costs["sets"] == 256
    assert costs["outcomes"] == expected["outcomes"][: len(costs["outcomes"])] != []
    assert traffic["slowest_ns"] == max(flow["fct_ns"] for flow in loads["flows"])
    for flow in draw.sample(traffic["slowest"], min(5, len(traffic["slowest"]))):
        assert any(flow.items() >= {(key, one[key]) for key in ("src", "dst", "fct_ns", "hol_factor")}
                   for one in loads["flows"])  # fmt: skip
    deadlock = verb(cli, "simulate", "deadlock", rendered, "--failures", "1")["deadlock"]
    (plane,) = report["deadlock"]
    for key in ("verdict", "claim", "channels", "dependencies", "failures", "covers"):
        assert plane[key] == deadlock[key], key
    certificate = tmp_path / "certificate.json"
    cli("simulate", "deadlock", rendered, "--certificate", certificate)
    assert plane["certificate"] == json.loads(certificate.read_text())["planes"][0]["seal"]
    capacity = verb(cli, "capacity", QUICKSTART)["capacity"]
    bill, total = report["bill"], capacity["total"]
    assert {key: bill[key] for key in total if key in bill} == {key: total[key] for key in total if key in bill}
    assert [{key: row[key] for key in row if key != "plane"} for row in bill["optics"]] == capacity["planes"][0][
        "optics"
    ]
    assert bill["planes"][0]["ports"] == capacity["planes"][0]["ports"]
    validated = verb(cli, "validate", rendered)["summary"]
    assert {key: whole["summary"][key] for key in ("devices", "links", "rules", "errors")} == {
        key: validated[key] for key in ("devices", "links", "rules", "errors")
    }


def test_the_page_has_the_content_of_the_json(rendered: Path, cli: Cli, tmp_path: Path) -> None:
    """An inventory gives the same page twice, and without the path of the temporary folder."""
    first, second = tmp_path / "1.html", tmp_path / "2.html"
    for file in (first, second):
        assert cli("report", QUICKSTART, "-o", file).code == 0
    text = first.read_text()
    assert text == second.read_text() and str(tmp_path) not in text and "/tmp/" not in text
    found = re.search(r'<script type="application/json" id="content">(.*?)</script>', text, re.DOTALL)
    assert found
    content = json.loads(found[1])
    assert content.pop("tool")["name"] == "fabricgen" and content.pop("summary")["rules"] > 200
    assert content == shown(cli, tmp_path, QUICKSTART)["report"]
    assert len(text) < 200_000


def test_hostile_names_are_text(bundle: Path, cli: Cli, tmp_path: Path) -> None:
    """Payloads of files reach the page as text only, secrets not at all."""
    leaf = bundle / "sonic/compute-su00-r0-leaf/config_db.json"
    edit(leaf, poison_texts, add_secrets)
    edit(leaf, lambda tables: tables["BUFFER_PROFILE"].update({"</script><script>pwned()</script>": {"pool": PAYLOAD}}))
    page = tmp_path / "report.html"
    assert cli("report", bundle, "-o", page).code == 1
    text = page.read_text()
    assert text.count("<script") == 2 and text.count("</script") == 2 and text.count("</style") == 1
    assert "pwned()" in text and "<img" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028]", text)
    assert not shows_secret(text)


HOSTILE = "</script></style><img src=x onerror=pwned()>\"'\u202e"


@pytest.mark.parametrize("fmt", ["html", "json"])
@pytest.mark.parametrize("source", ["inventory", "lldp"])
def test_hostile_names_of_inventories_and_neighbors_are_text(
    source: str, fmt: str, bundle: Path, cli: Cli, tmp_path: Path
) -> None:
    """Values of an inventory and names that LLDP reports are foreign text, in the page and in the comment."""
    page, head = tmp_path / f"report.{fmt}", tmp_path / "comment.md"
    written = ("--format", fmt, "-o", page, "--headline", head)
    if source == "lldp":
        (tmp_path / "compute-su00-r0-leaf.json").write_text(lldpctl({"Ethernet0": (HOSTILE, HOSTILE)}))
        cli("report", bundle, "--lldp", tmp_path / "compute-su00-r0-leaf.json", *written)
    else:
        tree = rail_optimized()
        tree["planes"]["compute"]["leaf"] = {"platform": HOSTILE}
        assert cli("report", write(tmp_path / "inventory", tree), *written).code == 1
    text = page.read_text()
    assert "onerror" in text and "\u202e" not in text
    assert fmt == "json" or (text.count("<script") == 2 and text.count("</style") == 1 and "<img" not in text)
    assert "<img" not in head.read_text() and "\u202e" not in head.read_text()


def test_series_of_a_report(rendered: Path, cli: Cli, tmp_path: Path) -> None:
    """A folder without a run, and a file that is not one, are refused; nothing is written."""
    for content in (None, "[]", '{"name": "x", "times_ns": [1], "queues": [{"bytes": []}]}'):
        if content is not None:
            (tmp_path / "series.json").write_text(content)
        outcome = cli("report", rendered, "--series", tmp_path, "-o", tmp_path / "report.html")
        assert outcome.code == 2 and "series" in outcome.err and not (tmp_path / "report.html").exists()


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), max_size=900))
def test_joined_pauses_cover_all_pauses(steps: list[tuple[int, int]]) -> None:
    """Many short pauses become fewer; none is lost, and the first and the last moment stay."""
    spans, now = [], 0
    for gap, length in steps:
        spans.append((now + gap, now + gap + length))
        now += gap + length
    found = list(joined(spans))
    assert len(found) <= 401 and all(any(a <= start and end <= b for a, b in found) for start, end in spans)
    assert not spans or (found[0][0], found[-1][1]) == (spans[0][0], spans[-1][1])


@given(st.lists(st.tuples(st.integers(1, 50), st.floats(0, 400)), min_size=1, max_size=60), st.integers(0, 500))
def test_smooth_rates_carry_the_bytes_of_their_window(steps: list[tuple[int, float]], window_ns: int) -> None:
    """Each is the mean of all samples of the window that ends there."""
    times = [sum(step for step, _ in steps[: end + 1]) for end in range(len(steps))]
    rates = [rate for _, rate in steps]
    for index, found in enumerate(smooth(times, rates, range(len(times)), window_ns)):
        inside = [place for place in range(index + 1) if times[place] >= times[index] - window_ns]
        bits = sum(rates[place] * steps[place][0] for place in inside)
        assert found == pytest.approx(bits / sum(steps[place][0] for place in inside), abs=1e-3)


@given(
    st.recursive(st.text() | st.integers(-10, 10), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_content_cannot_leave_its_element(value: Any) -> None:
    text = content_json({"value": value})
    assert not re.search("[<>&\u2028\u2029\x00-\x1f]", text)
    assert "value" in json.loads(text)


def test_the_page_runs_its_own_script_only() -> None:
    """The policy has the digests of the style and of the script, and allows nothing else."""
    import base64
    import hashlib

    text = html_page({})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy and policy[1].startswith("default-src 'none'")
    for element in (r"<style>(.*?)</style>", r"<script>(.*?)</script>"):
        body = re.search(element, text, re.DOTALL)
        assert body
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", text) and "https://" not in text


def test_a_table_that_no_rule_reads_asks_for_a_review() -> None:
    unread = Finding("FG415", Severity.NOTE, "no rule judges it", device="leaf1", path="NAT_POOL")
    judged = JudgedResults([unread], counts=COUNTS, deadlock=[free()])
    assert answer(judged) is Answer.REVIEW
    page = verdict_object(judged, None)
    assert page["reasons"] == ["No rule reads NAT_POOL, whose rows can stop traffic."]
    assert page["not_judged"][0] == "NAT_POOL (tables that can stop traffic, which no rule reads)"


def free(**changes: Any) -> DeadlockResult:
    given: dict[str, Any] = {
        "verdict": Verdict.FREE, "claim": Claim.PROVED, "model": RoutesModel.BGP, "priorities": (3,), "channels": 8,
        "dependencies": 8, "failures": FailureSummary(1, 4),
    }  # fmt: skip
    return DeadlockResult(**(given | changes))


def finding(severity: Severity, code: str = "FG999") -> Finding:
    return Finding(code, severity, "the message", device="leaf1")


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (JudgedResults([], counts=COUNTS, deadlock=[free()]), Answer.SAFE),
        (JudgedResults([finding(Severity.NOTE)], counts=COUNTS, deadlock=[free()]), Answer.SAFE),
        (JudgedResults([finding(Severity.WARNING)], counts=COUNTS, deadlock=[free()]), Answer.REVIEW),
        (JudgedResults([finding(Severity.ERROR)], counts=COUNTS, deadlock=[free()]), Answer.UNSAFE),
        (JudgedResults([], counts=COUNTS, deadlock=[free(verdict=Verdict.CYCLIC)]), Answer.REVIEW),
        (JudgedResults([], counts=COUNTS, deadlock=[free(verdict=Verdict.UNKNOWN)]), Answer.UNJUDGED),
        (JudgedResults([], counts=COUNTS, deadlock=[free(fixed_sl=free(verdict=Verdict.UNKNOWN))]), Answer.UNJUDGED),
        (JudgedResults([], counts=COUNTS, deadlock=[free()], other_fabric="old"), Answer.REVIEW),
        (JudgedResults([], counts=COUNTS), Answer.UNJUDGED),
        (JudgedResults([], deadlock=[free()]), Answer.UNJUDGED),
        (JudgedResults([], counts=COUNTS, is_complete=False), Answer.UNJUDGED),
    ],
)
def test_the_answer(judged: JudgedResults, expected: Answer) -> None:
    """Only a complete judgement without errors, warnings and cycles is safe."""
    assert answer(judged) is expected
    found = verdict_object(judged, None)
    assert found["answer"] == expected.value and found["reasons"]


def evidence(*planes: DeadlockResult, **given: Any) -> dict[str, dict[str, str]]:
    found = verdict_object(JudgedResults([], counts=COUNTS, deadlock=planes, **given), None)["evidence"]
    return {cell["name"]: cell for cell in found}


def test_groups_of_hosts_are_no_switches() -> None:
    found = [finding(Severity.ERROR), Finding("FG999", Severity.ERROR, "the message", device="hosts/gpu")]
    reasons = verdict_object(JudgedResults(found, counts=COUNTS, deadlock=[free()]), None)["reasons"]
    assert reasons[0] == "2 errors of 1 kind on 1 switch and 1 group of hosts."


def test_differences_from_another_fabric_are_doubtful(rendered: Path, bundle: Path, cli: Cli, tmp_path: Path) -> None:
    wiring = json.loads((bundle / "fabric.json").read_text())
    plane = {**wiring["planes"][0], "load_balancing": {"mode": "adaptive", "per": "packet", "flowlet_gap_ns": None}}
    changed = {**wiring, "fabric": "old", "planes": [plane]}
    (bundle / "fabric.json").write_text(json.dumps(changed))
    outcome = cli("report", rendered, "--against", bundle, "--failures", "0", "-o", tmp_path / "report.html")
    assert outcome.out.startswith("Review before merging: The differences are from another fabric, old: ")
    (shown_plane,) = shown(cli, tmp_path, bundle, "--failures", "0")["report"]["fabric"]["planes"]
    assert shown_plane["load_balancing"] == plane["load_balancing"]


def test_a_sample_of_failures_is_not_called_a_proof() -> None:
    sampled = free(failures=FailureSummary(2, 1000, sampled=16, cyclic_bound=0.1, unreachable_bound=0.1))
    found = verdict_object(JudgedResults([], counts=COUNTS, deadlock=[sampled]), None)
    assert found["reasons"] == ["No errors and no warnings. No cyclic buffer dependency is possible."]
    assert "984 of 1,000 sets of failures" in found["not_judged"]
    whole = verdict_object(JudgedResults([], counts=COUNTS, deadlock=[free()]), None)
    assert whole["reasons"][0].endswith("possible, also with any one failure.")


def test_warnings_about_deadlock_narrow_it() -> None:
    judged = JudgedResults([finding(Severity.WARNING, "FG627")], counts=COUNTS, deadlock=[free()])
    cells = {one["name"]: one for one in verdict_object(judged, None)["evidence"]}
    assert (cells["Deadlock"]["level"], cells["Deadlock"]["value"]) == ("warning", "Free, proved")
    assert cells["Deadlock"]["detail"].endswith("; 1 warning")


@given(st.sets(st.integers(0, 200)))
def test_runs_name_the_same_numbers(numbers: set[int]) -> None:
    ordered = sorted(numbers)
    found = [first + turn * step for first, count, step in runs(ordered) for turn in range(count)]
    assert found == ordered


@given(st.lists(st.tuples(st.floats(0.1, 9), st.integers(1, 5)), min_size=1))
def test_percentiles_count_flows(timed: Sequence[tuple[float, int]]) -> None:
    ordered = sorted(timed)
    every = sorted(ratio for ratio, count in ordered for _ in range(count))
    assert percentile(ordered, 1.0) == round(every[-1], 4)
    assert percentile(ordered, 0.5) == round(every[-(-len(every) // 2) - 1], 4)


def test_configurations_are_of_equal_switches(bundle: Path) -> None:
    """An edited switch is a configuration by itself; each value has the inventory value that it comes from."""
    edit(bundle / "sonic/compute-su00-r3-leaf/config_db.json",
         lambda tables: tables["PORT"]["Ethernet0"].update(mtu="1500"))  # fmt: skip
    opened = open_bundle([bundle])
    found: list[Configuration] = configurations(opened)
    assert Counter(len(one.devices) for one in found) == {4: 1, 15: 1, 1: 1}
    rows = rows_object(opened, found[0])
    (found_at,) = (row[3] for row in rows if row[0].startswith("PFC_WD|") and row[1] == "detection_time")
    assert found_at.endswith("as pfcwd start_default")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing",), "missing: no such file or folder"),
        ((QUICKSTART, "--pattern", "ring"), "ring"),
        ((QUICKSTART, "--against", QUICKSTART), "is not a bundle: it has no fabric.json"),
        ((QUICKSTART, "--failures", "9"), "--failures"),
        ((QUICKSTART, "--headline", "missing/head.md"), "the folder missing does not exist"),
    ],
)
def test_wrong_arguments(arguments: tuple[object, ...], message: str, cli: Cli, tmp_path: Path) -> None:
    outcome = cli("report", *arguments, "-o", tmp_path / "report.html")
    assert outcome.code == 2 and message in outcome.err and "Traceback" not in outcome.err
    assert not (tmp_path / "report.html").exists()


def test_what_a_switch_computes_is_predicted_in_its_plan(cli: Cli, tmp_path: Path) -> None:
    tree = rail_optimized(platform=NVIDIA, hosts=4)
    assert cli("render", write(tmp_path / "in", tree), "-o", tmp_path / "bundle").code == 0
    bundle = open_bundle([tmp_path / "bundle"])
    for one in configurations(bundle):
        plan, computed = plan_object(one), buffers_of(one.device)
        assert computed and plan["headroom"]
        profiles = {headroom.xoff_bytes: headroom.size_bytes for headroom, _ in computed.profiles.values()}
        for row in plan["headroom"]:
            assert row["source"] == "predicted, by SONiC's own script"
            assert profiles[row["xoff_bytes"]] == row["size_bytes"]
        pools = {pool["name"]: pool for pool in plan["pools"] if pool["source"]}
        assert {name: pool["size_bytes"] for name, pool in pools.items()} == {
            name: size for name, size in computed.sizes.bytes.items() if name != "egress_lossless_pool"
        }


def test_host_links_have_their_bonds_vlans_and_pairs(tmp_path: Path) -> None:
    text = PAIRED.replace("vlan: 110", "bond: bond0, vlan: 110, tagged: [120]")
    (tmp_path / "fabric.yaml").write_text(text, encoding="utf-8")
    assert not render(tmp_path / "fabric.yaml", tmp_path / "bundle").has_errors
    opened = open_bundle([tmp_path / "bundle"])
    topology = read_topology(opened)
    found = graph_object(opened, topology, [None] * len(topology.switches))
    names = [row[0] for row in found["switches"]]
    shown = {(names[index], row[2]): (*row[:2], row[-1]) for index, rows in found["hosts"].items() for row in rows}
    for leaf in (FIRST, SECOND):
        assert shown[leaf, "Ethernet0"][0] == "gpu-000"
        assert shown[leaf, "Ethernet0"][-1] == "PortChannel0, VLAN 110, tagged 120, MCLAG 1"
