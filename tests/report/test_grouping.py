"""One defect on many switches is one finding; fingerprints outlive what changes around a defect."""

import json
from dataclasses import replace
from pathlib import Path

from fabricgen.findings import Finding, Location, Place, Severity
from fabricgen.report.formats.text import text_report
from fabricgen.report.grouping import alike, grouped, numbered
from fabricgen.report.outcome import Reporter
from fabricgen.report.summary import Counts
from tests.conftest import Cli
from tests.inventories import rail_optimized, write
from tests.report.test_formats import found


def leaf(number: int, message: str = "no watchdog", path: str = "PFC_WD|Ethernet0") -> Finding:
    name = f"leaf{number}"
    return Finding("FG541", Severity.ERROR, message, name, path, Location(f"{name}.json", number, 1), count=2)


def test_the_same_on_many_switches_is_one_finding() -> None:
    (one,) = grouped(leaf(n) for n in (10, 9, 2))
    assert (one.device, one.count, one.message) == ("leaf2", 6, "no watchdog; on leaf2, leaf9, leaf10")
    assert one.devices == ("leaf2", "leaf9", "leaf10") and one.location == Location("leaf2.json", 2, 1)


def test_what_differs_stays_apart() -> None:
    others = [leaf(2, "another"), leaf(3, path="PORT|Ethernet0"), replace(leaf(4), severity=Severity.NOTE)]
    assert len(grouped([leaf(1), *others])) == 4
    places = [Finding("FG101", Severity.ERROR, "unknown key", location=Location("f.yaml", n)) for n in (1, 2)]
    assert len(grouped(places)) == 2


def row(device: int, port: int, mode: str = "1x800G") -> Finding:
    name = f"Ethernet{8 * port}"
    message = f"breakout mode of {name} is {mode}, but its ports are 2x400G"
    place = Place("BREAKOUT_CFG", name, "brkout_mode")
    return Finding("FG236", Severity.ERROR, message, f"leaf{device}", place=place, hint=f"correct {name}")


def test_one_mistake_on_120_ports_of_240_switches_is_one_finding() -> None:
    (one,) = grouped(row(device, port) for device in range(240) for port in range(120))
    assert one.message == (
        "breakout mode of Ethernet0 is 1x800G, but its ports are 2x400G; on 120 ports of leaf0..leaf239"
    )
    assert (one.count, len(one.devices), one.path) == (28_800, 240, "BREAKOUT_CFG|Ethernet0|brkout_mode")
    assert one.hint == "correct Ethernet0"


def test_few_rows_and_other_mistakes_stay_apart() -> None:
    """Each of a few rows is marked at its line; another value is another mistake."""
    assert len(grouped(row(1, port) for port in range(7))) == 7
    found = grouped([*(row(1, port) for port in range(9)), *(row(1, port, "4x200G") for port in range(9, 18))])
    assert [(one.count, one.devices) for one in found] == [(9, ()), (9, ())]


def test_a_mistake_of_a_template_is_one_finding_of_each_format(bundle: Path, cli: Cli) -> None:
    """16 breakout modes on each of 20 switches; --expand has each."""
    for file in bundle.glob("sonic/*/config_db.json"):
        config = json.loads(file.read_text())
        for name in [*config["BREAKOUT_CFG"]][:16]:
            config["BREAKOUT_CFG"][name]["brkout_mode"] = "1x800G"
        file.write_text(json.dumps(config))
    for options, number in (((), 1), (("--expand",), 320)):
        listed = json.loads(cli("validate", bundle, "--select", "FG236", *options, "--format", "json").out)["findings"]
        assert len(listed) == number and sum(one["count"] for one in listed) == 320
    results = json.loads(cli("validate", bundle, "--select", "FG236", "--format", "sarif").out)["runs"][0]["results"]
    assert len(results) == 1


def test_one_fault_at_many_places_is_read_once() -> None:
    """Messages that differ in names and numbers only; two of a kind stay single, and so does another field."""
    many = [leaf(n, f"neighbor spine{n} 10.0.0.{n} is down", f"PFC_WD|Ethernet{n}|action") for n in range(1, 6)]
    two = [leaf(n, f"timer {n} is wrong") for n in (1, 2)]
    other = [replace(one, path=one.path.replace("action", "detection_time")) for one in many[:1]]
    folded = alike([*many, *two, *other])
    assert [(one.message, len(rest)) for one, rest in folded] == [
        ("neighbor spine1 10.0.0.1 is down", 4), ("timer 1 is wrong", 0), ("timer 2 is wrong", 0),
        ("neighbor spine1 10.0.0.1 is down", 0),
    ]  # fmt: skip


def test_text_has_a_line_for_those_alike_and_expand_has_all() -> None:
    many = [leaf(n, f"neighbor spine{n} is down") for n in range(1, 7)]
    text = text_report(many, Counts())
    assert text.count("neighbor spine") == 1 and "6 errors" in text
    assert "5 more like this: leaf2 PFC_WD|Ethernet0, leaf3 PFC_WD|Ethernet0, leaf4 PFC_WD|Ethernet0 and 2 more" in text
    assert text_report(many, Counts(), expand=True).count("neighbor spine") == 6


def test_text_fits_on_a_screen() -> None:
    """Two lines for each finding, else one, else the most severe; the rest is counted."""
    several = [leaf(n, f"fault {'x' * n}", f"T{'x' * n}|row") for n in range(1, 90)]
    kinds = [
        replace(one, hint="mend it", severity=Severity.NOTE if n % 2 else Severity.ERROR)
        for n, one in enumerate(several)
    ]
    for count, expected in (
        (16, "related places: --expand"),
        (30, "places and hints: --expand"),
        (89, "12 errors, 44 notes"),
    ):
        lines = text_report(kinds[:count], Counts(), above=4).splitlines()
        assert len(lines) <= 36 and expected in "\n".join(lines), lines[-3:]
        assert ("   help: mend it" in lines) == (count == 16)
    assert all(line.count("note") == 0 for line in lines[:-3])
    assert len(text_report(kinds, Counts(), expand=True).splitlines()) > 89


def test_expand_reports_each_device() -> None:
    findings = [leaf(n) for n in range(1, 97)]
    assert len(Reporter().outcome(findings).findings) == 1
    each = Reporter(expand=True).outcome(findings).findings
    assert len({one.device for one in each}) == len(each) == 96 and {one.count for one in each} == {2}


def test_fingerprints_outlive_what_changes_around_a_defect() -> None:
    (alone,) = Reporter().outcome([leaf(1)]).findings
    many = Reporter().outcome([leaf(n) for n in range(1, 9)]).findings
    moved = replace(leaf(1, "no watchdog on this port"), location=Location("elsewhere/leaf1.json", 99, 5))
    assert {alone.fingerprint} == {one.fingerprint for one in many} == {moved.fingerprint}
    assert len({leaf(1).fingerprint, leaf(2).fingerprint, leaf(1, path="PFC_WD|Ethernet4").fingerprint}) == 3
    here, there = (
        Finding("FG101", Severity.ERROR, "m", path="a.b", location=Location(f"{at}f.yaml", 1)) for at in ("", "/x/")
    )
    assert here.fingerprint == there.fingerprint  # fmt: skip


def test_two_findings_of_one_place_have_two_fingerprints() -> None:
    twins = [leaf(1, "first"), leaf(1, "second")]
    assert len({one.fingerprint for one in numbered(twins)}) == 2
    assert [one.fingerprint for one in numbered(twins)] == [one.fingerprint for one in numbered(reversed(twins))]


def test_a_fabric_reports_a_defect_once(cli: Cli, tmp_path: Path) -> None:
    bundle = tmp_path / "b"
    assert cli("render", write(tmp_path / "i", rail_optimized()), "-o", bundle, "-q").code == 0
    leaves = sorted(bundle.glob("sonic/*leaf/config_db.json"))
    for file in leaves:
        file.write_text(file.read_text().replace('"pfc_enable": "3,4"', '"pfc_enable": "3"'))
    (one,) = found(cli, bundle, "--select", "FG513")
    assert len(one["devices"]) == len(leaves) == 16 and one["count"] % 16 == 0
    assert one["device"] == one["devices"][0] and ".." in one["message"]
    each = found(cli, bundle, "--select", "FG513", "--expand")
    assert [other["device"] for other in each] == one["devices"]
    assert each[0]["fingerprint"] == one["fingerprint"]
    leaves[0].write_text("\n\n" + leaves[0].read_text())
    (again,) = found(cli, bundle, "--select", "FG513")
    assert again["fingerprint"] == one["fingerprint"] and again["location"]["line"] == one["location"]["line"] + 2
