"""`fabricgen compare`: counts, times, failures and growth of fabrics side by side."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api.candidates import read_candidates, write_candidates
from fabricgen.errors import UsageError
from fabricgen.report.compare import compare_table, compare_text
from tests.conftest import Cli
from tests.design.exhaustive import least_switches
from tests.inventories import write
from tests.isolation import test_evpn, test_tenants, test_vrfs

SMALL = ("--gpus", 128, "--platform", "nvidia-sn4700")  # 32 ports, so that 16 hosts need two tiers
QUICK = ("--pattern", "ring-all-reduce", "--draws", 2, "--failure-sets", 4)


def compared(cli: Cli, *arguments: object) -> dict[str, Any]:
    outcome = cli("compare", *arguments, "--format", "json")
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out)["compare"]
    return found


def by_name(content: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {fabric["name"]: fabric for fabric in content["fabrics"]}


@pytest.fixture(scope="module")
def small() -> dict[str, Any]:
    """The candidates for 128 GPUs, with all patterns."""
    return candidates("--draws", "3")


@pytest.fixture(scope="module")
def rough() -> dict[str, Any]:
    """The same from fewer draws and failures, for tests of the form of a table."""
    return candidates("--draws", "1", "--failure-sets", "2")


def candidates(*options: str) -> dict[str, Any]:
    from click.testing import CliRunner

    from fabricgen.cli.main import main

    words = ["compare", "--designs", "all", *map(str, SMALL), *options, "--format", "json"]
    done = CliRunner().invoke(main, words, standalone_mode=False)
    found: dict[str, Any] = json.loads(done.stdout)["compare"]
    return found


@pytest.mark.parametrize(("gpus", "platform", "radix"), [(1024, "arista-7060x6-64pe", 128), (128, "nvidia-sn4700", 32)])
def test_candidates_have_the_switches_of_an_exhaustive_search(gpus: int, platform: str, radix: int, cli: Cli) -> None:
    words = ("--designs", "all", "--gpus", gpus, "--platform", platform)
    content = compared(cli, *words, "--pattern", "incast", "--draws", 1, "--failure-sets", 0, "--failures", 0)
    found = by_name(content)
    assert list(found) == ["rail-optimized", "rail-only", "fat-tree", "fat-tree:2", "dual-tor"]
    for one in read_candidates("all"):
        least = least_switches(
            one.design, gpus // 8, radix, oversubscription=int(one.oversubscription), two_ports=True
        )  # fmt: skip
        assert found[one.name]["switches"] == least, one.name
        assert (found[one.name]["gpus"], found[one.name]["host_models"]) == (gpus, ["dgx-b300"])
    assert content["unlike"] == []


def test_counts_are_those_of_capacity(cli: Cli, tmp_path: Path) -> None:
    names = []
    for design in ("rail-optimized", "fat-tree", "dual-tor"):
        names.append(str(tmp_path / design))
        assert cli("init", names[-1], "--design", design, "--hosts", 16, "--platform", "nvidia-sn4700").code == 0
    content = compared(cli, *names, *QUICK)
    for name, fabric in by_name(content).items():
        table = json.loads(cli("capacity", name, "--format", "json").out)["capacity"]
        (plane,), total = table["planes"], table["total"]
        assert fabric["switches_by_role"] == {role: count for role, count in plane["switches"].items() if count}
        for key in ("ports", "oversubscription", "bisection_gbps", "hosts", "gpus"):
            assert fabric[key] == plane[key], key
        for key in ("cables", "transceivers", "switches"):
            assert fabric[key] == total[key], key
    assert content["unlike"][0].startswith("the fabrics have different host models: ")


def test_a_bundle_and_its_inventory_have_equal_results(cli: Cli, tmp_path: Path) -> None:
    inventory, bundle = tmp_path / "i", tmp_path / "b"
    assert cli("init", inventory, "--hosts", 16, "--platform", "nvidia-sn4700").code == 0
    before = sorted(inventory.iterdir())
    assert cli("render", inventory, "-o", bundle).code == 0
    of_inventory, of_bundle = compared(cli, inventory, bundle, *QUICK)["fabrics"]
    growth = of_inventory.pop("growth"), of_bundle.pop("growth")
    assert {**of_inventory, "name": ""} == {**of_bundle, "name": ""}
    assert growth[0]["fits"] is False and "`planned` is" in growth[0]["reason"]
    assert growth[1]["fits"] is None and growth[1]["reason"].startswith("a bundle does not say how it grows")
    assert sorted(inventory.iterdir()) == before


def test_times_are_ordered_as_the_bandwidth_is(small: dict[str, Any]) -> None:
    """Traffic on one switch has the times of the NICs; half the uplinks take longer; no draw beats even load."""
    found = by_name(small)
    for fabric in found.values():
        for one in fabric["patterns"]:
            spread = one["time_ns"]
            assert one["even_ns"] <= spread["least"] <= spread["mean"] <= spread["highest"]
            assert one["lost"] == 0
    of = {name: {one["pattern"]: one for one in fabric["patterns"]} for name, fabric in found.items()}
    ring = of["rail-only"]["ring-all-reduce"]
    assert ring["switches"] == [1, 1.0, 1] and of["fat-tree"]["ring-all-reduce"]["switches"] == [1, 2.0, 3]
    # a host has 16 ports of 50 GB/s, less the headers of a packet of 4096 bytes
    assert ring["bus_gbytes"]["mean"] == pytest.approx(800, rel=0.03) and ring["bus_gbytes"]["mean"] < 800
    even = {name: patterns["all-to-all"]["even_ns"] for name, patterns in of.items()}
    assert even["fat-tree"] == pytest.approx(even["rail-only"]) and even["fat-tree:2"] > 1.5 * even["fat-tree"]


def test_failures_of_a_host_with_two_ports(small: dict[str, Any]) -> None:
    """The ports of a GPU are at two leaves: of two networks of equal form, or of one that a dual-tor separates."""
    rows = {name: {(one["kind"], one["depth"]): one for one in fabric["failures"]}
            for name, fabric in by_name(small).items()}  # fmt: skip
    for costs in rows.values():
        link = costs["host link", 1]
        assert (link["sets"], link["judged"], link["stopping"], link["cut_off_most"]) == (256, 64, 0, 0)
    switch = {name: costs["switch", 1] for name, costs in rows.items()}
    for costs in switch.values():
        assert costs["judged"] == costs["sets"]
        assert (costs["stopping"], costs["share_least"], costs["cut_off_most"]) == (0, 0.5, 0)
    assert rows["rail-only"]["link", 1]["sets"] == 0
    best = {one["metric"]: one["best"] for one in small["wins"]}
    assert best["fewest switches"] == ["rail-only"]
    assert best["most bandwidth with 1 failed switch"] == ["rail-optimized", "dual-tor"]


def test_growth_adds_what_capacity_counts_and_moves_nothing_with_room(cli: Cli, tmp_path: Path) -> None:
    words = ("--hosts", 8, "--planned-hosts", 32, "--platform", "nvidia-sn4700")
    assert cli("init", tmp_path / "room", *words).code == 0
    assert cli("init", tmp_path / "tight", "--hosts", 16, "--platform", "nvidia-sn4700").code == 0
    content = compared(cli, tmp_path / "room", tmp_path / "tight", "--grow-to", 256, *QUICK)
    growth = by_name(content)[str(tmp_path / "room")]["growth"]
    totals = []
    for hosts in (8, 32):
        shown = cli("capacity", tmp_path / "room", "--set", f"hosts.gpu.count={hosts}", "--format", "json")
        totals.append(json.loads(shown.out)["capacity"]["total"])
    assert growth["fits"] is True and growth["moved_cables"] == 0
    assert growth["added_switches"] == totals[1]["switches"] - totals[0]["switches"] > 0
    assert growth["added_cables"] == totals[1]["cables"] - totals[0]["cables"] > 0
    assert by_name(content)[str(tmp_path / "tight")]["growth"]["fits"] is False


def test_moved_cables_are_those_of_a_check(cli: Cli, tmp_path: Path) -> None:
    """Growth without `planned` spreads the uplinks anew."""
    inventory, bundle = tmp_path / "i", tmp_path / "b"
    assert cli("init", inventory, "--hosts", 16, "--platform", "nvidia-sn4700").code == 0
    file = inventory / "fabric.yaml"
    file.write_text(re.sub(r", planned: \d+", "", file.read_text()))
    assert cli("render", inventory, "-o", bundle).code == 0
    growth = by_name(compared(cli, inventory, bundle, "--grow-to", 256, *QUICK))[str(inventory)]["growth"]
    shown = cli("check", inventory, "--set", "hosts.gpu.count=32", "--against", bundle, "--format", "json")
    against = json.loads(shown.out)["against"]
    assert growth["fits"] and growth["moved_cables"] == len(against["cables"]["moved"]) > 0
    assert growth["added_cables"] == len(against["cables"]["new"])
    assert growth["added_switches"] == against["devices"]["added"]


def test_failures_that_are_not_judged_are_named_in_their_rows(rough: dict[str, Any]) -> None:
    """A torus has no model of its routes after a failure."""
    first, *others = rough["fabrics"]
    names, columns, rows = compare_table({**rough, "fabrics": [{**first, "failures": []}, *others]})
    costed = [row for row in rows if row.startswith(("1 failed", "2 failed"))]
    assert costed and all(columns[0][row] == "not judged" for row in costed)
    assert all(columns[place].get(row) != "not judged" for place in range(1, len(names)) for row in costed)


def test_text_and_markdown_have_the_numbers(cli: Cli, tmp_path: Path) -> None:
    words = ("--designs", "rail-only,fat-tree:2", *SMALL, *QUICK)
    text = cli("compare", *words).out
    assert next(line for line in text.splitlines() if line.startswith("switches ")).split() == ["switches", "4", "10"]
    assert "\nWhere each wins\n  rail-only: fewest switches (4, alone); " in text
    assert "\n  rail-only: growth: " in text and "mean of 2 draws of hashes from seed 0" in text
    file = tmp_path / "compare.md"
    done = cli("compare", *words, "--format", "markdown", "--output", file)
    assert (done.code, done.out) == (0, "")
    assert file.read_text().startswith("| | rail-only | fat-tree:2 |\n|---|---|---|\n| switches | 4 | 10 |\n")
    assert "\n**Equal in all**\n\n- GPUs 128; hosts 16 dgx-h100; " in file.read_text()
    cells = {cell.strip() for line in file.read_text().splitlines() for cell in line.split("|")}
    table = text.partition("\n\n")[0].splitlines()[1:]
    assert [line for line in table if not {part.strip() for part in re.split(r"  +", line)} <= cells] == []
    other = cli("compare", *words, "--seed", 9).out
    assert other != text


def test_all_designs_fit_a_hundred_columns_as_one_table(rough: dict[str, Any]) -> None:
    """With all patterns and failures, and with the numbers of a large fabric."""
    for gpus, content in ((128, rough), (100352, _enlarged(rough))):
        table, equal, *_ = compare_text(content, 100).split("\n\n")
        assert max(len(line) for line in table.splitlines()) <= 100, gpus
        shown = [re.split(r"  +", line.strip()) for line in table.splitlines()]
        assert len(content["fabrics"]) == 5 and all(len(set(row[1:])) > 1 or len(row) < 6 for row in shown)
        assert equal.startswith("Equal in all\n") and f"GPUs {gpus}; " in equal


def _enlarged(content: dict[str, Any]) -> dict[str, Any]:
    """The comparison with the counts of a fabric of 100,352 GPUs."""
    large = json.loads(json.dumps(content))
    for fabric in large["fabrics"]:
        fabric.update(gpus=100352, hosts=12544)
        for key in ("switches", "cables", "transceivers"):
            fabric[key] *= 784
        fabric["growth"]["gpus"] = 200704
        for one in fabric["failures"]:
            one["sets"] *= 784 if one["depth"] == 1 else 784**2
    return large


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "compare needs two fabrics or more"),
        (("--designs", "fat-tree", *SMALL), "compare needs two fabrics or more"),
        (("--designs", "all"), "--designs and --gpus belong together"),
        (("--gpus", 64), "--designs and --gpus belong together"),
        (("--platform", "nvidia-sn4700"), "--platform is for --designs"),
        (("--designs", "fat-tree,fat", *SMALL), "'fat' is not one of all, "),
        (("--designs", "torus", *SMALL), "'torus' is not one of all, "),  # RoCE on it can deadlock
        (("--designs", "fat-tree:two", *SMALL), "'two' is not a number, as in fat-tree:2"),
        (("--designs", "fat-tree:nan", *SMALL), "the oversubscription must be from 1 to 64"),
        (("--designs", "all", "--gpus", 64, "--platform", "x"), "unknown switch platform 'x'"),
        (("--designs", "all", *SMALL, "--pattern", "x"), "unknown pattern 'x'"),
        (("--designs", "all", *SMALL, "--pattern", "trace:a.json"), "a trace names the hosts of one fabric"),
        (("--designs", "all", *SMALL, "--size", "0"), "--size: expected at least one byte"),
        (("--designs", "all", *SMALL, "--draws", 0), "Invalid value for '--draws'"),
        (("--designs", "all", *SMALL, "--plane", "x"), "unknown plane 'x'"),
        (("missing", "gone"), "missing: no such file or folder"),
    ],
)
def test_wrong_options_are_refused(arguments: tuple[object, ...], message: str, cli: Cli) -> None:
    outcome = cli("compare", *arguments)
    assert (outcome.code, outcome.out) == (2, "") and message in " ".join(outcome.err.split())


def test_a_design_without_a_layout_is_named(tmp_path: Path) -> None:
    designs = read_candidates("rail-only,fat-tree")
    made, without = write_candidates(tmp_path, designs, 8192, "nvidia-sn4700")
    assert [one.name for one in made] == ["fat-tree"] and list(without) == ["rail-only"]
    assert without["rail-only"].startswith("no layout joins 1024 hosts")
    with pytest.raises(UsageError, match="no layout joins 1024 hosts"):
        write_candidates(tmp_path / "none", designs[:1], 8192, "nvidia-sn4700")


def test_an_inventory_with_errors_is_not_compared(cli: Cli, tmp_path: Path) -> None:
    for name in ("good", "wrong"):
        assert cli("init", tmp_path / name, "--hosts", 4).code == 0
    file = tmp_path / "wrong" / "fabric.yaml"
    file.write_text(file.read_text().replace("leaf: {platform: ", "leaf: {platform: no-such-"))
    outcome = cli("compare", tmp_path / "good", tmp_path / "wrong", *QUICK)
    assert outcome.code == 1 and "no switch platform is called" in outcome.out
    assert "wrong/fabric.yaml" in outcome.out


def test_files_without_cables_are_refused(cli: Cli, tmp_path: Path, rendered: Path) -> None:
    for name in ("a", "b"):
        folder = tmp_path / name / "leaf"
        folder.mkdir(parents=True)
        source = next(rendered.glob("sonic/*/config_db.json"))
        (folder / "config_db.json").write_bytes(source.read_bytes())
    outcome = cli("compare", tmp_path / "a", tmp_path / "b")
    assert outcome.code == 2 and "has no fabric.json" in outcome.err


def test_gpu_seconds_that_failures_cost(cli: Cli) -> None:
    """By hand from the costs of single failures: 64 GPUs, and the rates of the options."""
    rates = ("--rates", "host-link=0.02,switch=0.005", "--repair", "2h", "--restart", "5min")
    content = compared(
        cli, "--designs", "rail-only,dual-tor", "--gpus", 64, "--platform", "nvidia-sn4700", *QUICK, *rates
    )
    assert content["options"]["rates"] == {
        "per_month": {"host link": 0.02, "switch": 0.005}, "repair_s": 7200, "restart_s": 300,
    }  # fmt: skip
    for fabric in content["fabrics"]:
        single = {one["kind"]: one for one in fabric["failures"] if one["depth"] == 1}
        assert [one["kind"] for one in fabric["lost_time"]] == ["host link", "switch"]
        for one in fabric["lost_time"]:
            cost, rate = single[one["kind"]], 0.02 if one["kind"] == "host link" else 0.005
            stops = cost["stopping"] / cost["judged"]
            lost = 1 - stops - cost["share_mean"]
            expected = rate * cost["sets"] * (64 * (lost * 7200 + stops * 300) + cost["cut_off_mean"] * 7200)
            assert one["gpu_seconds"] == pytest.approx(expected)
            assert one["failures"] == pytest.approx(rate * cost["sets"])
    alone, twice = (sum(one["gpu_seconds"] for one in fabric["lost_time"]) for fabric in content["fabrics"])
    assert alone > twice  # a second leaf for each NIC keeps the job when a leaf fails
    text = compare_text(content)
    assert "lost in a month by switch" in text and "your rates for each part (host link 0.02, switch 0.005)" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rates", "cable=1"), "'cable=1' is not one of host-link, link, switch and a number"),
        (("--rates", "link=-1"), "'link=-1' is not one of"),
        (("--rates", "link=1", "--repair", "4"), "--repair: '4' is not a span of time, for example 10min or 4h"),
        (("--repair", "4h"), "--repair and --restart are for --rates"),
    ],
)
def test_wrong_rates(options: tuple[str, ...], message: str, cli: Cli) -> None:
    outcome = cli("compare", "--designs", "rail-only,dual-tor", "--gpus", 64, *options)
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err


def test_what_each_level_of_isolation_costs(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same hosts: ACL tables and rules, the MTU of hosts, and what VXLAN headers take of links between switches.
    The rows fit a hundred columns."""
    monkeypatch.chdir(tmp_path)
    levels = {"acl": test_tenants.rented(), "vrf": test_vrfs.rented(), "evpn": test_evpn.rented()}
    for name, tree in levels.items():
        write(tmp_path / name, tree)
    content = compared(cli, *levels, "--draws", 1, "--failure-sets", 1, "--pattern", "ring-all-reduce")
    costs = {name: one["tenants"] for name, one in by_name(content).items()}
    assert {name: (one["acl_tables"], one["acl_rules"], one["host_mtu"]) for name, one in costs.items()} == {
        "acl": (4, 84, 9100),  # no tenant has `addresses`: a rule for each run of subnets
        "vrf": (1, 1, 9100),
        "evpn": (1, 2, 9050),
    }
    packet = 4096 + 20 + 14 + 20 + 8 + 12 + 4 + 4
    assert [one["overhead"] for one in costs.values()] == [0, 0, pytest.approx(50 / (packet + 50))]
    assert all(one["acl_rules_of_platform"] is None for one in costs.values())
    text = compare_text(content, 100)
    table, equal, *_ = text.split("\n\n")
    assert max(len(line) for line in table.splitlines()) <= 100
    rows = [re.split(r"  +", line.strip()) for line in table.splitlines()]
    for row in (["lost to VXLAN", "0 %", "0 %", "1.2 %"], ["MTU of hosts", "9100", "9100", "9050"]):
        assert row in rows
    assert "tenants are apart, proved" in equal
    assert "no public source has the size of the TCAM" in text
