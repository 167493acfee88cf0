"""What to fix first: the first line of a verdict names the fault that was planted, not what follows from it."""

import cProfile
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.cli.main import run
from fabricgen.findings import Finding, Place, Severity
from fabricgen.report.causes import with_causes
from fabricgen.report.pages import pages
from fabricgen.rules.breaks import EXPLAINED, Breaks
from tests.conftest import Cli
from tests.hostile.payloads import edit
from tests.inventories import explicit, rail_optimized, write

Config = dict[str, Any]
Edit = Callable[[Config], None]


def _port(config: Config, number: int) -> Config:
    """The row of a port that is up: the first (0) goes to a host, the last (-1) to another switch."""
    up = [name for name, row in config["PORT"].items() if row.get("admin_status") == "up"]
    row: Config = config["PORT"][sorted(up, key=lambda name: int(name.removeprefix("Ethernet")))[number]]
    return row


def _wrong_asn(config: Config) -> None:
    me = config["DEVICE_METADATA"]["localhost"]
    me["bgp_asn"] = str(int(me["bgp_asn"]) + 500)


def _wrong_peer_asn(config: Config) -> None:
    row = next(iter(config["BGP_NEIGHBOR"].values()))
    row["asn"] = str(int(row["asn"]) + 7)


def _other_subnet(config: Config) -> None:
    key = next(key for key in config["INTERFACE"] if "|" in key)
    config["INTERFACE"][f"{key.split('|')[0]}|10.99.0.1/31"] = config["INTERFACE"].pop(key)


def _shut(config: Config) -> None:
    _port(config, -1)["admin_status"] = "down"


def _small_mtu(config: Config) -> None:
    _port(config, 0)["mtu"] = "1500"


def _small_xoff(config: Config) -> None:
    next(row for key, row in config["BUFFER_PROFILE"].items() if "pg_lossless" in key)["xoff"] = "112140"


def _half_pfc(config: Config) -> None:
    next(row for key, row in config["PORT_QOS_MAP"].items() if key != "global")["pfc_enable"] = "3"


def _no_loopback(config: Config) -> None:
    config["LOOPBACK_INTERFACE"].clear()


def _slow_port(config: Config) -> None:
    _port(config, -1)["speed"] = "100000"


def _wrong_queue(config: Config) -> None:
    next(iter(config["TC_TO_QUEUE_MAP"].values()))["3"] = "0"


FAULTS: dict[str, tuple[str, int, Edit]] = {  # code -> kind and number of the switch, and the fault
    "FG331": ("spine", 0, _wrong_asn),
    "FG333": ("leaf", 1, _wrong_peer_asn),
    "FG312": ("spine", 0, _other_subnet),
    "FG237": ("leaf", 0, _shut),
    "FG244": ("leaf", 0, _small_mtu),
    "FG524": ("leaf", 1, _small_xoff),
    "FG513": ("leaf", 0, _half_pfc),
    "FG314": ("leaf", 1, _no_loopback),
    "FG241": ("leaf", 0, _slow_port),
    "FG505": ("spine", 0, _wrong_queue),
}
_CODES = [*FAULTS]
PAIRS = [*zip(_CODES, [*_CODES[1:], _CODES[0]], strict=True)]


@pytest.fixture(scope="module")
def fabrics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two bundles. Do not change them."""
    found = {}
    for name, tree in (("rails", rail_optimized()), ("explicit", explicit())):
        folder = tmp_path_factory.mktemp(name)
        with pytest.raises(SystemExit):
            run(["-q", "render", str(write(folder / "inventory", tree)), "--output", str(folder / "bundle")])
        found[name] = folder / "bundle"
    return found


@pytest.fixture
def planted(fabrics: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """A copy of a fabric with these faults."""

    def plant(fabric: str, *codes: str) -> Path:
        bundle = Path(shutil.copytree(fabrics[fabric], tmp_path / "bundle"))
        names = sorted(folder.name for folder in (bundle / "sonic").iterdir())
        for kind, number, change in (FAULTS[code] for code in codes):
            name = [one for one in names if kind in one][number]
            file = bundle / "sonic" / name / "config_db.json"
            config = json.loads(file.read_text())
            change(config)
            file.write_text(json.dumps(config, indent=4))
        return bundle

    return plant


def _causes(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.startswith("cause "))


@pytest.mark.parametrize("fabric", ["rails", "explicit"])
@pytest.mark.parametrize("code", FAULTS)
def test_the_first_line_names_the_fault(planted: Callable[..., Path], cli: Cli, fabric: str, code: str) -> None:
    bundle = planted(fabric, code)
    outcome = cli("validate", bundle)
    head, first = outcome.out.splitlines()[:2]
    assert outcome.code == 1 and head.startswith("failed: "), outcome.out
    assert first.startswith("cause 1: ") and f"({code}, " in first and "config_db.json:" in first, outcome.out


@pytest.mark.parametrize("fabric", ["rails", "explicit"])
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_first_line_names_one_of_two_faults(
    planted: Callable[..., Path], cli: Cli, fabric: str, pair: tuple[str, str]
) -> None:
    """And both are named before the findings. Where two leaves expect different ASNs, either can be right."""
    named = [*_causes(cli("validate", planted(fabric, *pair)).out)]
    assert any(f"({code}, " in named[0] for code in pair), named
    if (fabric, *pair) != ("explicit", "FG331", "FG333"):
        assert all(any(f"({code}, " in line for line in named) for code in pair), named


def test_all_formats_know_the_cause(planted: Callable[..., Path], cli: Cli, tmp_path: Path) -> None:
    """A wrong ASN: its session and routes are consequences in JSON, SARIF, annotations, and the page's headline."""
    bundle = planted("rails", "FG331")
    found = json.loads(cli("simulate", "deadlock", bundle, "--format", "json").out)["findings"]
    session = next(one for one in found if one["code"] == "FG602")
    assert all(one["caused_by"] for one in found if one["code"] == "FG610") and "caused_by" not in session

    found = json.loads(cli("validate", bundle, "--format", "json").out)["findings"]
    cause = next(one for one in found if one["code"] == "FG331")
    assert {one["code"] for one in found if one.get("caused_by") == [cause["fingerprint"]]} >= {"FG255", "FG360"}

    sarif = json.loads(cli("validate", bundle, "--format", "sarif").out)["runs"][0]["results"]
    results = {one["ruleId"]: one["properties"].get("caused_by") for one in sarif}
    assert results["FG360"] == [cause["fingerprint"]] and results["FG331"] is None

    assert "FG331" in cli("validate", bundle, "--format", "github").out.splitlines()[0]

    comment = tmp_path / "comment.md"
    cli("report", bundle, "--output", tmp_path / "page.html", "--headline", comment)
    assert "First: compute-spine-00: bgp_asn is" in comment.read_text().replace("\\", "")
    assert "FG331" in comment.read_text()


def test_consequences_are_below_their_cause(planted: Callable[..., Path], cli: Cli) -> None:
    bundle = planted("rails", "FG331")
    folded, expanded = cli("validate", bundle).out, cli("validate", bundle, "--expand").out
    assert "  error FG360  " not in folded and "explains 17 places: FG255 " in folded
    assert "  error FG360  " in expanded


def test_what_was_there_before_is_no_consequence(planted: Callable[..., Path], cli: Cli) -> None:
    """One spine is by design (FG285): a wrong MTU does not explain it."""
    found = json.loads(cli("validate", planted("rails", "FG244"), "--format", "json").out)["findings"]
    assert [one["code"] for one in found if "caused_by" in one] == ["FG255"]


def test_hosts_follow_most_switches_and_not_one(planted: Callable[..., Path], cli: Cli) -> None:
    """PFC off at all switches explains what hosts do not agree with; at one port of one switch it does not."""

    def host_causes(bundle: Path) -> set[bool]:
        found = json.loads(cli("validate", bundle, "--format", "json").out)["findings"]
        return {"caused_by" in one for one in found if one["code"] in ("FG903", "FG904")}

    bundle = planted("rails", "FG513")
    config = bundle / "hosts" / "gpu" / "nccl.conf"
    config.write_text(config.read_text().replace("NCCL_IB_TC=106", "NCCL_IB_TC=96"))
    assert host_causes(bundle) == {False}
    for file in bundle.glob("sonic/*/config_db.json"):
        edit(file, _without_pfc)
    assert host_causes(bundle) == {True}


def _without_pfc(config: Config) -> None:
    for row in config["PORT_QOS_MAP"].values():
        row.pop("pfc_enable", None)


def test_a_mistake_at_a_port_explains_no_session(planted: Callable[..., Path], cli: Cli) -> None:
    """16 wrong breakout modes on 4 leaves are one finding; the sessions of the spine with a wrong ASN do not follow."""
    bundle = planted("rails", "FG331")
    for file in sorted(bundle.glob("sonic/*leaf*/config_db.json"))[:4]:
        config = json.loads(file.read_text())
        for name in [*config["BREAKOUT_CFG"]][:16]:
            config["BREAKOUT_CFG"][name]["brkout_mode"] = "1x800G"
        file.write_text(json.dumps(config))
    page = bundle.parent / "page.json"
    cli("report", bundle, "--failures", "0", "--format", "json", "-o", page)
    found = json.loads(page.read_text())["findings"]
    codes = {one["fingerprint"]: one["code"] for one in found}
    causes = {one["code"]: {codes[cause] for cause in one.get("caused_by", ())} for one in found}
    assert causes["FG602"] == causes["FG610"] == causes["FG360"] == {"FG331"}
    first = json.loads(page.read_text())["report"]["causes"]["rows"][0]
    assert found[first["finding"]]["code"] == "FG331" and first["breaks"]


def test_a_far_fault_explains_no_lost_packet(planted: Callable[..., Path]) -> None:
    """A wrong ASN explains packets that are lost at its switch and at its neighbors, not those at another leaf."""
    bundle = open_bundle([planted("rails")])
    leaf, other = sorted({link.a[0] for link in bundle.switch_links})[:2]
    spine = next(link.b[0] for link in bundle.switch_links if link.a[0] == leaf)
    fault = Finding("FG331", Severity.ERROR, "bgp_asn is wrong", device=leaf)
    lost = [Finding("FG360", Severity.ERROR, f"lost at {name}", device=name) for name in (leaf, spine, other)]
    assert [bool(one.caused_by) for one in with_causes([fault, *lost], bundle)] == [False, True, True, False]


def test_a_fault_of_many_ports_explains_no_value_of_another_table(planted: Callable[..., Path]) -> None:
    """In files of SONiC's templates, 28 ports without pfcwd_sw_enable explained the FEC of two others."""
    bundle = open_bundle([planted("rails")])
    leaf, port = bundle.switch_links[0].a
    row = Place("PORT_QOS_MAP", port, "pfcwd_sw_enable")
    fault = Finding("FG512", Severity.ERROR, "pfcwd_sw_enable is 3", device=leaf, place=row, count=28)
    odd = [
        Finding("FG593", Severity.WARNING, f"{table} differs from most", device=leaf, place=Place(table, port), count=2)
        for table in ("PORT", "PORT_QOS_MAP")
    ]
    assert [bool(one.caused_by) for one in with_causes([fault, *odd], bundle)] == [False, False, True]


@pytest.mark.parametrize("sessions", [5, [], {"10.0.0.1": None}])
def test_sessions_that_are_not_rows_are_findings(planted: Callable[..., Path], cli: Cli, sessions: object) -> None:
    bundle = planted("rails")
    file = min(bundle.glob("sonic/*leaf*/config_db.json"))
    file.write_text(json.dumps({**json.loads(file.read_text()), "BGP_NEIGHBOR": sessions}))
    outcome = cli("validate", bundle)
    assert outcome.code == 1 and "BGP_NEIGHBOR" in outcome.out, outcome.err


def test_causes_are_found_by_their_places(planted: Callable[..., Path]) -> None:
    """8 times as many faults and consequences cost about 8 times as many calls, not 64 times."""
    bundle = open_bundle([planted("rails")])
    links = bundle.switch_links

    def calls(number: int) -> int:
        findings = [
            Finding(code, Severity.ERROR, f"{code} {link.b}", device=link.b[0], place=Place("PORT", link.b[1]))
            for link in links[:number]
            for code in ("FG237", "FG593")
        ]
        profile = cProfile.Profile()
        found = profile.runcall(with_causes, findings, bundle)
        assert [bool(one.caused_by) for one in found] == [False, True] * number
        return sum(entry.callcount for entry in profile.getstats())

    calls(1)  # what is made once
    few = len(links) // 8
    assert calls(8 * few) < 12 * calls(few)


def test_only_known_codes_are_explained() -> None:
    assert set(pages()) >= EXPLAINED
    assert all(each.value.words for each in Breaks)
