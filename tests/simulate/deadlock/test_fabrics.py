"""Verdicts on fabrics whose answer is known, from files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricgen.errors import UsageError
from fabricgen.findings import Severity
from fabricgen.simulate.deadlock import PlaneDeadlock, analyse_deadlock, deadlock_findings
from tests.bgp_fabric import ConfigDbs, Fabric, open_configs
from tests.examples import examples


def hosts_at(switches: list[str]) -> dict[str, str]:
    return {f"10.{number // 250}.{number % 250}.0/24": name for number, name in enumerate(switches)}


def ring(size: int, step: int) -> Fabric:
    names = [f"r{number}" for number in range(size)]
    links = [(names[i], names[(i + 1) % size]) for i in range(size)]
    return Fabric({name: 65000 + step * index for index, name in enumerate(names)}, links, hosts_at(names))


def clos(leaves: int, spines: int, spine_asn: Callable[[int], int] = lambda _: 65000) -> Fabric:
    low, high = [f"l{i}" for i in range(leaves)], [f"s{i}" for i in range(spines)]
    asn = {**{name: 65100 + i for i, name in enumerate(low)}, **{name: spine_asn(i) for i, name in enumerate(high)}}
    return Fabric(asn, [(leaf, spine) for leaf in low for spine in high], hosts_at(low))


def pods(count: int, leaves: int, aggs: int, cores: int) -> Fabric:
    """Three tiers, RFC 7938 ASNs: one per leaf, one per pod's middle tier, one for the cores."""
    asn: dict[str, int] = {f"c{i}": 64999 for i in range(cores)}
    links: list[tuple[str, str]] = []
    low = []
    for pod in range(count):
        middle = [f"a{pod}-{i}" for i in range(aggs)]
        bottom = [f"l{pod}-{i}" for i in range(leaves)]
        asn |= dict.fromkeys(middle, 65000 + pod) | {name: 66000 + 100 * pod + i for i, name in enumerate(bottom)}
        links += [(leaf, agg) for leaf in bottom for agg in middle]
        links += [(agg, f"c{i}") for agg in middle for i in range(cores)]
        low += bottom
    return Fabric(asn, links, hosts_at(low))


def verdict(configs: ConfigDbs, folder: Path) -> PlaneDeadlock:
    folder.mkdir(parents=True, exist_ok=True)
    [result] = analyse_deadlock(open_configs(configs, folder))
    return result


def test_ring_of_three_is_free_and_ring_of_five_is_cyclic(tmp_path: Path) -> None:
    """In a ring of three all switches are neighbors, so none carries transit; in a longer ring they do."""
    assert verdict(ring(3, 1).configs(), tmp_path / "3").verdict == "free"
    result = verdict(ring(5, 1).configs(), tmp_path / "5")
    assert result.verdict == "cyclic"
    assert len(result.cycles[0].hops) == 5
    assert result.priorities == (3, 4)
    assert result.channels == 20


def test_ring_finding_leads_to_the_lines(tmp_path: Path) -> None:
    bundle = open_configs(ring(5, 1).configs(), tmp_path)
    results = analyse_deadlock(bundle)
    finding, mitigation = deadlock_findings(bundle, results)
    assert (finding.code, mitigation.code) == ("FG601", "FG628")
    assert finding.severity is Severity.ERROR
    assert "priorities 3, 4" in finding.message
    hops = [related for related in finding.related if " sends " in related.message]
    assert len(hops) == 5
    for related in hops:
        line = Path(related.location.file).read_text().splitlines()[related.location.line - 1]
        assert '"172.16.' in line
    assert finding.hint


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(2, 6), st.integers(1, 4))
def test_any_leaf_spine_is_free(tmp_path: Path, leaves: int, spines: int) -> None:
    result = verdict(clos(leaves, spines).configs(), tmp_path / f"{leaves}-{spines}")
    assert (result.verdict, result.claim) == ("free", "proved")
    assert result.failures.unreachable_sets == 0


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_any_three_tier_clos_is_free(tmp_path: Path, count: int, leaves: int, aggs: int, cores: int) -> None:
    result = verdict(pods(count, leaves, aggs, cores).configs(), tmp_path / f"{count}-{leaves}-{aggs}-{cores}")
    assert result.verdict == "free"
    assert result.evidence.orders is not None
    [order] = result.evidence.orders
    assert order.stands_for == result.priorities
    assert len(order.links) * len(order.stands_for) == result.channels


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(4, 6), st.integers(2, 4))
def test_a_bounce_that_closes_a_cycle_is_found(tmp_path: Path, leaves: int, spines: int) -> None:
    """l0 loses all spines but the last, l1 the last: with an ASN per spine, leaves carry transit both ways."""
    fabric = clos(leaves, spines, lambda spine: 64000 + spine)
    lost = {("l0", f"s{i}") for i in range(spines - 1)} | {("l1", f"s{spines - 1}")}
    fabric.links = [link for link in fabric.links if tuple(link) not in lost]
    folder = tmp_path / f"{leaves}-{spines}"
    folder.mkdir(exist_ok=True)
    bundle = open_configs(fabric.configs(), folder)
    [result] = analyse_deadlock(bundle)
    assert result.verdict == "cyclic"
    [finding] = [one for one in deadlock_findings(bundle, [result]) if one.code == "FG601"]
    assert "one ASN (RFC 7938)" in finding.hint


def test_allowas_in_above_the_leaves_is_named_as_the_cause(tmp_path: Path) -> None:
    fabric = clos(4, 2)
    fabric.kinds = dict.fromkeys(fabric.asn, "ToRRouter")
    fabric.links = [link for link in fabric.links if tuple(link) not in {("l0", "s0"), ("l1", "s1")}]
    bundle = open_configs(fabric.configs(), tmp_path)
    results = analyse_deadlock(bundle)
    [finding] = [one for one in deadlock_findings(bundle, results) if one.code == "FG601"]
    assert "s0 (ToRRouter)" in finding.hint


def cyclic_configs() -> ConfigDbs:
    return ring(5, 1).configs()


def test_pfc_off_at_one_end_cuts_the_cycle(tmp_path: Path) -> None:
    configs = cyclic_configs()
    configs["r0"]["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3"
    result = verdict(configs, tmp_path)
    assert {cycle.priority for cycle in result.cycles} == {3}
    assert result.channels == 18
    for port in ("Ethernet0", "Ethernet4"):
        configs["r0"]["PORT_QOS_MAP"][port]["pfc_enable"] = ""
    assert verdict(configs, tmp_path / "off").verdict == "free"


def test_no_pfc_at_all_is_reported(tmp_path: Path) -> None:
    configs = cyclic_configs()
    for config in configs.values():
        del config["PORT_QOS_MAP"]
    bundle = open_configs(configs, tmp_path)
    results = analyse_deadlock(bundle)
    assert (results[0].verdict, results[0].priorities, results[0].channels) == ("free", (), 0)
    assert [finding.code for finding in deadlock_findings(bundle, results)] == ["FG604"]


def test_queues_that_cross_join_the_priorities(tmp_path: Path) -> None:
    """r0 sends what came in on priority 3 from queue 4 and the other way round: one cycle, twice around the ring."""
    configs = cyclic_configs()
    crossed = {str(tc): {3: "4", 4: "3"}.get(tc, str(tc)) for tc in range(8)}
    configs["r0"]["TC_TO_QUEUE_MAP"] = {"AZURE": crossed}
    result = verdict(configs, tmp_path)
    assert result.verdict == "cyclic"
    assert result.channels == 20
    assert [len(cycle.hops) for cycle in result.cycles] == [10]


def test_a_priority_raised_once_around_breaks_the_cycle(tmp_path: Path) -> None:
    """r0 raises priority 3 to 4 and lets 4 go lossy, as Tagger does: no packet returns to its first priority."""
    configs = cyclic_configs()
    configs["r0"]["TC_TO_QUEUE_MAP"] = {"AZURE": {str(tc): {3: "4", 4: "0"}.get(tc, str(tc)) for tc in range(8)}}
    result = verdict(configs, tmp_path)
    assert (result.verdict, result.claim) == ("free", "proved")


def test_classes_named_differently_on_one_switch_stay_apart(tmp_path: Path) -> None:
    """Swapping DSCPs at r0 moves no buffer: each priority group still waits for its own priority."""
    configs = cyclic_configs()
    swapped = {str(dscp): {26: "4", 34: "3"}.get(dscp, "0") for dscp in range(64)}
    configs["r0"]["DSCP_TO_TC_MAP"] = {"AZURE": swapped}
    assert [len(cycle.hops) for cycle in verdict(configs, tmp_path).cycles] == [5, 5]


def test_traffic_that_turns_lossy_ends_the_cycle(tmp_path: Path) -> None:
    """r0 sends nothing into a lossless class: packets that cross it hold no lossless buffer there."""
    configs = cyclic_configs()
    configs["r0"]["DSCP_TO_TC_MAP"] = {"AZURE": {str(dscp): "0" for dscp in range(64)}}
    assert verdict(configs, tmp_path).verdict == "free"


def break_asn(configs: ConfigDbs) -> None:
    next(iter(configs["r0"]["BGP_NEIGHBOR"].values()))["asn"] = "64999"


def break_type(configs: ConfigDbs) -> None:
    del configs["r0"]["DEVICE_METADATA"]["localhost"]["type"]


def break_local_address(configs: ConfigDbs) -> None:
    next(iter(configs["r0"]["BGP_NEIGHBOR"].values()))["local_addr"] = "192.0.2.1"


def break_base_row(configs: ConfigDbs) -> None:
    del configs["r0"]["INTERFACE"]["Ethernet0"]


def break_loopback(configs: ConfigDbs) -> None:
    del configs["r0"]["LOOPBACK_INTERFACE"]["Loopback0"]


def shut_neighbor(configs: ConfigDbs) -> None:
    next(iter(configs["r0"]["BGP_NEIGHBOR"].values()))["admin_status"] = "down"


def shut_port(configs: ConfigDbs) -> None:
    configs["r0"]["PORT"] = {"Ethernet0": {"admin_status": "down"}}


def same_router_id(configs: ConfigDbs) -> None:
    for name in ("r0", "r1"):
        configs[name]["DEVICE_METADATA"]["localhost"]["bgp_router_id"] = "10.9.9.9"


@pytest.mark.parametrize(
    ("mistake", "word"),
    [
        (break_asn, "64999"), (break_type, "no type"), (break_local_address, "192.0.2.1"), (break_base_row, "base row"),
        (break_loopback, "Loopback0"), (shut_neighbor, "shut down"), (shut_port, "shut down"),
        (same_router_id, "router id"),
    ],
)  # fmt: skip
def test_a_session_that_cannot_come_up_is_left_out_and_reported(tmp_path: Path, mistake: Any, word: str) -> None:
    configs = cyclic_configs()
    mistake(configs)
    bundle = open_configs(configs, tmp_path)
    results = analyse_deadlock(bundle)
    is_down = mistake is shut_port  # a link that is down carries nothing, so the verdict covers all links
    assert results[0].verdict == ("free" if is_down else "unknown")
    assert results[0].covers
    assert results[0].covers.left_out
    assert results[0].covers.without_routes == (0 if is_down else results[0].covers.left_out)
    everything = deadlock_findings(bundle, results)
    assert [finding.severity for finding in everything if finding.code == "FG610"] == (
        [] if is_down else [Severity.ERROR]
    )
    findings = [finding for finding in everything if finding.code == "FG602"]
    assert any(word in finding.message and finding.device == "r0" for finding in findings)
    assert all(finding.location and finding.severity is Severity.WARNING for finding in findings)


def test_a_neighbor_outside_the_files_is_a_note(tmp_path: Path) -> None:
    configs = clos(2, 1).configs()
    del configs["s0"]
    bundle = open_configs(configs, tmp_path)
    findings = deadlock_findings(bundle, analyse_deadlock(bundle))
    assert {(f.code, f.severity) for f in findings} == {("FG602", Severity.NOTE), ("FG614", Severity.ERROR)}


def test_hosts_on_announced_aggregates_count_and_spine_loopbacks_do_not(tmp_path: Path) -> None:
    """Routed host ports: the static aggregate that covers them is the destination."""
    configs = clos(2, 1).configs()
    for number, name in enumerate(("l0", "l1")):
        configs[name]["VLAN_INTERFACE"] = {}
        configs[name]["INTERFACE"] |= {"Ethernet96": {}, f"Ethernet96|10.7.{number}.0/31": {}}
        configs[name]["STATIC_ROUTE"] = {f"default|10.7.{number}.0/24": {"blackhole": "true"}}
    result = verdict(configs, tmp_path)
    assert result.evidence.traffic.witness == ("10.7.0.0/24", "10.7.1.0/24")
    assert result.failures.unreachable_sets == 0
    configs["l1"]["STATIC_ROUTE"]["default|10.7.1.0/24"]["advertise"] = "false"
    assert verdict(configs, tmp_path / "hidden").failures.unreachable_sets == 1


def without_common_spines(default_at: tuple[str, ...]) -> ConfigDbs:
    """l0 has lost s0 and l1 has lost s1: under a shared spine ASN they cannot reach each other."""
    fabric = clos(4, 2)
    fabric.links = [link for link in fabric.links if tuple(link) not in {("l0", "s0"), ("l1", "s1")}]
    configs = fabric.configs()
    for name in default_at:
        configs[name]["STATIC_ROUTE"] = {"default|0.0.0.0/0": {"blackhole": "true"}}
    return configs


def test_packets_that_fall_back_to_a_default_route_count(tmp_path: Path) -> None:
    """With default routes at two leaves, packets between the cut-off leaves bounce there: valleys, and a cycle."""
    assert verdict(without_common_spines(()), tmp_path / "none").verdict == "free"
    assert verdict(without_common_spines(("l2",)), tmp_path / "one").verdict == "free"
    both = verdict(without_common_spines(("l2", "l3")), tmp_path / "both")
    assert both.verdict == "cyclic"
    assert len(both.cycles[0].hops) == 4


def test_an_unknown_plane_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="storage"):
        analyse_deadlock(open_configs(clos(2, 1).configs(), tmp_path), "storage")


@pytest.mark.parametrize("wrong", [None, [], "text", 7, {"row": None}, {"row": []}, {"Ethernet0": "x", "|": {}}])
def test_wrong_shapes_still_get_a_verdict(tmp_path: Path, wrong: object) -> None:
    """Table by table: a value of the wrong type counts as absent; the schema check reports it."""
    for number, table in enumerate(cyclic_configs()["r0"]):
        configs = cyclic_configs()
        configs["r0"][table] = wrong
        folder = tmp_path / str(number)
        folder.mkdir()
        bundle = open_configs(configs, folder)
        for finding in deadlock_findings(bundle, analyse_deadlock(bundle)):
            assert finding.location is not None


def test_a_cable_without_a_session_makes_no_hosts(tmp_path: Path) -> None:
    """A link between two switches whose BGP rows are missing is not a place of hosts."""
    configs = clos(2, 2).configs()
    for name in ("l0", "s0"):
        configs[name]["BGP_NEIGHBOR"].pop("172.16.0.1" if name == "l0" else "172.16.0.0")
    sources = verdict(configs, tmp_path).evidence.traffic.sources
    assert sources.tolist() == [True, True, False, False]
