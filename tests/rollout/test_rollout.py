"""Roll-outs: the fabric at each step against the same fabric read from files, and the order of the switches."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fabricgen.api.comparison import diff
from fabricgen.bundle.read import open_bundle
from fabricgen.diff.difference import Difference
from fabricgen.diff.step import applied
from fabricgen.handoff.ansible_groups import stages_of
from fabricgen.rollout import order as order_module
from fabricgen.rollout.findings import CODES, rollout_findings
from fabricgen.rollout.order import Rollout, roll_out
from fabricgen.simulate.deadlock import analyse_deadlock
from tests.bgp_fabric import ConfigDbs, open_configs
from tests.conftest import Cli
from tests.diff import measured
from tests.diff.fabrics import edited
from tests.examples import examples
from tests.simulate.deadlock.test_fabrics import clos, pods
from tests.simulate.deadlock.test_failures import distinct

Config = dict[str, Any]


def written(configs: ConfigDbs, folder: Path) -> Path:
    folder.mkdir(parents=True)
    open_configs(configs, folder)
    return folder


def compared(old: ConfigDbs, new: ConfigDbs, folder: Path) -> Difference:
    found = diff(written(old, folder / "old"), written(new, folder / "new"))
    assert isinstance(found, Difference)
    return found


def with_ports(configs: ConfigDbs) -> ConfigDbs:
    """All ports of the sessions are up."""
    found = copy.deepcopy(configs)
    for config in found.values():
        config["PORT"] = {port: {"admin_status": "up"} for port in config["INTERFACE"] if "|" not in port}
    return found


def shut(configs: ConfigDbs, *ends: tuple[str, str]) -> ConfigDbs:
    found = copy.deepcopy(configs)
    for switch, port in ends:
        found[switch]["PORT"][port]["admin_status"] = "down"
    return found


def order(rollout: Rollout) -> list[str]:
    return [name for stage in rollout.stages for name in stage.devices]


def states(configs: ConfigDbs) -> tuple[bool, bool]:
    """(cyclic, a route is lost) as the files say."""
    with TemporaryDirectory() as folder:
        [result] = analyse_deadlock(open_configs(configs, Path(folder)))
    return bool(result.cycles), bool(result.failures.unreachable_sets)


DISTINCT = with_ports(clos(4, 2, distinct).configs())
CROSSED = (("l0", "Ethernet0"), ("l1", "Ethernet4"))  # l0-s0 and l1-s1: without both, valleys close a cycle


def test_an_order_without_a_cycle_is_found(tmp_path: Path) -> None:
    found = compared(shut(DISTINCT, CROSSED[1]), shut(DISTINCT, CROSSED[0]), tmp_path)
    rollout = roll_out(found)
    assert order(rollout) == ["l0", "l1"] and [one.cyclic for one in rollout.between["l0"]] == [True]
    safe = roll_out(found, safe=True)
    assert order(safe) == ["l1", "l0"] and not safe.blocked
    assert {one.cyclic for steps in safe.between.values() for one in steps} == {False}


def test_no_order_is_safe_if_the_end_has_a_cycle(tmp_path: Path) -> None:
    found = compared(DISTINCT, shut(DISTINCT, *CROSSED), tmp_path)
    rollout = roll_out(found, safe=True)
    assert order(rollout) == ["l0", "l1"] and rollout.blocked == ("l1",)
    (finding,) = rollout_findings(found, rollout)
    assert (finding.code, finding.device) == ("FG949", "l1")
    assert finding.message.startswith("patch 1 (other rows) makes a cyclic buffer dependency")
    back = compared(shut(DISTINCT, *CROSSED), shut(DISTINCT, CROSSED[0]), tmp_path / "back")
    assert not roll_out(back, safe=True).blocked  # the cycle exists before: no step makes it


def test_lossy_links_do_not_make_a_cycle(tmp_path: Path) -> None:
    lossy = copy.deepcopy(DISTINCT)
    for config in lossy.values():
        config["PORT_QOS_MAP"] = {}
    found = compared(shut(lossy, CROSSED[1]), shut(lossy, CROSSED[0]), tmp_path)
    assert [one.cyclic for one in roll_out(found).between["l0"]] == [False]


def test_an_asn_that_only_one_end_knows(tmp_path: Path) -> None:
    """Spines get another ASN one after the other, each with its leaves: the other spine carries the traffic."""

    def renumbered(*spines: str) -> ConfigDbs:
        configs = copy.deepcopy(DISTINCT)
        for name, config in configs.items():
            if name in spines:
                config["DEVICE_METADATA"]["localhost"]["bgp_asn"] += "9"
            for row in config["BGP_NEIGHBOR"].values():
                row["asn"] += "9" if row["name"] in spines else ""
        return configs

    one = compared(DISTINCT, renumbered("s0"), tmp_path / "one")
    assert not roll_out(one, safe=True).blocked
    both = compared(DISTINCT, renumbered("s0", "s1"), tmp_path / "both")
    rollout = roll_out(both, safe=True)
    assert not rollout.blocked and [asn.switch for asn in rollout.renumberings] == ["s0", "s1"]
    assert {len(asn.steps) for asn in rollout.renumberings} == {5}  # the spine, and each of four leaves
    assert set(rollout.between) == set(DISTINCT) and not order(rollout)


def test_too_many_states_are_not_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_module, "MOST", 11)
    found = compared(shut(DISTINCT, CROSSED[1]), shut(DISTINCT, CROSSED[0]), tmp_path)
    rollout = roll_out(found)
    assert [one.is_judged for name in ("l0", "l1") for one in rollout.between[name]] == [False, False]
    monkeypatch.setattr(order_module, "MOST", 12)  # two steps in a fabric of six switches
    assert all(one.is_judged for steps in roll_out(found).between.values() for one in steps)
    monkeypatch.setattr(order_module, "MOST_SAFE", 11)
    rollout = roll_out(found, safe=True)
    assert {finding.code for finding in rollout_findings(found, rollout)} == {"FG951"}


def test_timers_of_sessions_change_no_routes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order_module, "MOST", 0)
    new = copy.deepcopy(DISTINCT)
    for row in new["l0"]["BGP_NEIGHBOR"].values():
        row["holdtime"] = "9"
    rollout = roll_out(compared(DISTINCT, new, tmp_path))
    assert [(one.uplink_share, one.lost, one.cyclic) for one in rollout.between["l0"]] == [(0.5, (), False)] * 2


def test_the_only_uplink_of_a_switch(tmp_path: Path) -> None:
    """Its port goes down for a change of PFC, so no order helps; the switch loses all routes."""
    old = with_ports(clos(3, 1).configs())
    new = copy.deepcopy(old)
    new["l0"]["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3"
    found = compared(old, new, tmp_path)
    rollout = roll_out(found, safe=True)
    findings = {finding.code: finding for finding in rollout_findings(found, rollout)}
    assert findings.keys() == {"FG948", "FG950"} and {one.count for one in findings.values()} == {4}
    assert "leaves 0% of the bandwidth to other switches, less than 50%" in findings["FG950"].message
    assert "loses routes to hosts on 3 switches (l0, l1, l2)" in findings["FG948"].message


FABRICS = [with_ports(fabric.configs()) for fabric in (clos(4, 2, distinct), clos(3, 3), pods(2, 2, 2, 2))]


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow], phases=[Phase.generate])
@given(number=st.integers(0, len(FABRICS) - 1), chance=st.randoms(use_true_random=False))
def test_the_fabric_in_between_is_that_of_its_files(number: int, chance: Any) -> None:
    """Random ports go down or come up, and random priorities change, on some switches."""
    base = FABRICS[number]

    def some(configs: ConfigDbs) -> ConfigDbs:
        found = copy.deepcopy(configs)
        for name in chance.sample(sorted(found), 3):
            port = chance.choice(sorted(found[name]["PORT"]))
            if chance.random() < 0.6:
                found[name]["PORT"][port]["admin_status"] = "down"
            else:
                found[name]["PORT_QOS_MAP"][port]["pfc_enable"] = chance.choice(["3", "4"])
        return found

    old, new = some(base), some(base)
    with TemporaryDirectory() as folder:
        found = compared(old, new, Path(folder))
        rollout = roll_out(found)
        plans = {device.name: device.work.plan for device in found.changed}
    now = copy.deepcopy(old)
    ends = states(old)[1] or states(new)[1]
    for name in order(rollout):
        before: set[str] = set()
        for place, between in enumerate(rollout.between[name]):
            plan = plans[name]
            down = set(plan.steps[place].down)
            during = shut(now, *((name, port) for port in before | down))
            now = now | {name: applied(now[name], plan.steps[place].changes)}
            found_states = [states(during), states(shut(now, *((name, port) for port in down)))]
            assert between.cyclic == any(cyclic for cyclic, _ in found_states)
            if not ends:
                assert bool(between.lost) == any(lost for _, lost in found_states)
            before = down
            now[name]["PORT"] = now[name]["PORT"] | {port: {"admin_status": "up"} for port in down}


def test_the_order_is_that_of_the_play(bundle: Path) -> None:
    new = edited(bundle, "new", lambda name, config: measured.every("PORT_QOS_MAP", pfc_enable="3")(config))
    found = diff(bundle, new)
    assert isinstance(found, Difference)
    rollout = roll_out(found, safe=True)
    stages = stages_of(list(open_bundle([new]).devices.values()))
    assert [stage.title for stage in rollout.stages] == [stage.title for stage in stages]
    assert rollout.stages[0].devices == ["compute-su00-r0-leaf", "compute-su01-r0-leaf"]
    for steps in rollout.between.values():
        assert {(one.uplink_share, one.cut_off, one.lost, one.cyclic) for one in steps} == {(0.5, (), (), False)}


def reload(config: Config) -> None:
    config["BUFFER_POOL"]["egress_lossless_pool"]["size"] = "1"


def sessions_down(config: Config) -> None:
    for row in config["BGP_NEIGHBOR"].values():
        row["admin_status"] = "down"


CHANGES: list[tuple[Callable[[str, Config], Any], Callable[[str, Config], Any], set[str]]] = [
    # the other spines are down already: a reload of the last one loses all routes of the rails
    (lambda name, config: sessions_down(config) if "spine" in name and "spine-00" not in name else None,
     lambda name, config: reload(config) if "spine-00" in name else None, {"FG947", "FG948"}),
    (lambda name, config: None, lambda name, config: reload(config) if "spine" in name else None, set()),
    (lambda name, config: None, lambda name, config: reload(config) if "leaf" in name else None, set()),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_reloads(number: int, bundle: Path) -> None:
    before, change, codes = CHANGES[number]
    old = edited(bundle, "before", before)
    new = edited(old, "after", change)
    found = diff(old, new)
    assert isinstance(found, Difference)
    rollout = roll_out(found, safe=True)
    assert {finding.code for finding in rollout_findings(found, rollout)} == codes
    assert bool(rollout.blocked) is bool(codes)


def only_one_rail(name: str, config: Config) -> None:
    """The ports of one host are down on all rails but the first."""
    if "leaf" in name and "r0" not in name:
        for port, row in config["DEVICE_NEIGHBOR"].items():
            if row["name"] == "gpu-000":
                config["PORT"][port]["admin_status"] = "down"


def test_the_command(bundle: Path, tmp_path: Path, cli: Cli) -> None:
    old = edited(bundle, "before", only_one_rail)
    new = edited(
        old,
        "after",
        lambda name, config: measured.every("PORT_QOS_MAP", pfc_enable="3")(config) if "r0-leaf" in name else None,
    )
    outcome = cli("diff", old, new, "--format", "plan", "--safe")
    assert outcome.code == 1
    assert "error FG947 compute-su00-r0-leaf patch 1 (ports down) cuts off 1 host (gpu-000)" in outcome.err
    found = json.loads(outcome.out)
    assert {finding["code"] for finding in found["findings"]} == {"FG947"} < CODES
    assert found["rollout"][0]["stage"] == "plane compute rail 0"
    leaf = found["devices"]["compute-su00-r0-leaf"]
    assert leaf["between"] == {
        "uplink_share": 0.5, "hosts_cut_off": ["gpu-000"], "routes_lost": [], "deadlock": "free", "tenants_joined": []
    }  # fmt: skip
    assert [step["between"]["hosts_cut_off"] for step in leaf["steps"]] == [["gpu-000"]] * 4 + [[]] * 4
    without = cli("diff", old, new, "--format", "plan")
    assert without.code == 0 and json.loads(without.out)["findings"] == []
    assert "cuts off 1 host" in without.err and "in between: 1 host cut off, all routes stay" in without.err
    assert cli("diff", old, new, "--safe").code == 2
    assert cli("diff", old, old, "--format", "plan", "--safe").code == 0
    single = cli(
        "diff", *(side / "sonic/compute-su00-r0-leaf/config_db.json" for side in (old, new)), "--format", "plan"
    )
    assert json.loads(single.out)["devices"]["compute-su00-r0-leaf"]["between"]["hosts_cut_off"] is None
