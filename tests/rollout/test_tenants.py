"""Hosts that go from one tenant to another: no step of the roll-out joins two tenants, and what joins them is found."""

import json
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api import render
from fabricgen.api.comparison import diff, roll_out
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.bundle.wiring import Wiring
from fabricgen.diff.difference import Difference
from fabricgen.diff.step import applied
from fabricgen.isolation.verdict import passing_pairs
from fabricgen.rollout.moments import moments
from fabricgen.rollout.order import Rollout
from tests.conftest import Cli
from tests.inventories import write
from tests.isolation.test_kernel import MOVED, TENANTS, inventory

WITHOUT: dict[str, Any] = {**TENANTS, "blue": {"hosts": ["gpu/0"], "vni": 5001}}  # gpu/3 has no tenant


def bundles(level: str, folder: Path, *stages: dict[str, Any]) -> list[Path]:
    """The bundles of an inventory as its tenants change, with one lock file."""
    found = []
    for number, tenants in enumerate(stages):
        found.append(folder / f"{level}{number}")
        render(write(folder / level, inventory(level, tenants)), found[-1])
    return found


def changed(old: Path, new: Path, *, safe: bool = False) -> tuple[Difference, Rollout]:
    difference = diff(old, new)
    assert isinstance(difference, Difference)
    return difference, roll_out(difference, safe=safe)


def states(difference: Difference, rollout: Rollout) -> list[Bundle]:
    """The fabric after each step of each switch, in the order of the roll-out."""
    bundle, found = open_bundle([difference.old.path]), []
    works = {device.name: device.work for device in difference.changed}
    devices = dict(bundle.devices)
    for name in (name for stage in rollout.stages for name in stage.devices):
        start = devices[name]
        for moment in moments(works[name]):
            devices[name] = start.with_config(moment.after(start.config), b"")
            found.append(Bundle(dict(devices), bundle.links, wiring=bundle.wiring))
    return found


def joins(bundle: Bundle, old: Wiring, new: Wiring) -> bool:
    """Whether a host meets hosts that only its old tenant allows and hosts that only its new one allows, or two hosts
    reach each other that neither allows. Tried for each pair."""
    owners = [{host: tenant.name for tenant in one.tenants for host, _ in tenant.nics} for one in (old, new)]
    shared = [{(one.name, other) for one in each.tenants for other in one.shared_with} for each in (old, new)]
    passing = {(one.host, other.host) for one, other in passing_pairs(bundle, "compute")}

    def allowed(one: str, other: str, time: int) -> bool:
        first, last = owners[time].get(one, ""), owners[time].get(other, "")
        return bool(first) and (first == last or (first, last) in shared[time])

    meets: dict[str, set[int]] = {}
    for pair in permutations([host.name for host in old.hosts], 2):
        by = [time for time in (0, 1) if allowed(*pair, time)]
        if pair in passing and not by:
            return True
        if pair in passing and len(by) == 1:
            for host in pair:
                if owners[0].get(host) != owners[1].get(host) and owners[0].get(host) and owners[1].get(host):
                    meets.setdefault(host, set()).update(by)
    return any(len(times) == 2 for times in meets.values())


def opens(bundle: Bundle, old: Wiring, new: Wiring) -> bool:
    """Whether two hosts reach each other that are neither before nor after the change of one tenant, or of two that
    share."""
    owners = [{host: tenant.name for tenant in one.tenants for host, _ in tenant.nics} for one in (old, new)]
    shared = [{(one.name, other) for one in each.tenants for other in one.shared_with} for each in (old, new)]
    return any(
        not any(
            own.get(one.host, "")
            and (own[one.host] == own.get(other.host) or (own[one.host], own.get(other.host)) in both)
            for own, both in zip(owners, shared, strict=True)
        )
        for one, other in passing_pairs(bundle, "compute")
    )


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_port_is_never_without_an_acl(is_reversed: bool, tmp_path: Path) -> None:
    """The updater applies the changes of a patch one by one. A host that leaves its tenant, or goes to another one,
    meets no host that neither tenant allows after any of them, in both orders of the rows of a patch."""
    stages = bundles("acl", tmp_path, TENANTS, WITHOUT, MOVED, TENANTS)
    tried = 0
    for old, new in pairwise(stages):
        difference, _ = changed(old, new)
        wirings = [open_bundle([folder]).wiring for folder in (old, new)]
        assert wirings[0] and wirings[1]
        bundle = open_bundle([old])
        assert any("they have no ACL for some seconds" in device.work.problem for device in difference.changed)
        for device in difference.changed:
            config = bundle.devices[device.name].config
            for step in device.work.plan.steps:
                rows = sorted(step.changes, key=lambda change: change.table, reverse=is_reversed)
                if any(change.op == "add" for change in rows):
                    rows = sorted(rows, key=lambda change: change.table == "ACL_RULE")  # a rule refers to its table
                for change in rows:
                    config = applied(config, [change])
                    state = bundle.devices[device.name].with_config(config, b"")
                    partial = Bundle({**bundle.devices, device.name: state}, bundle.links, wiring=bundle.wiring)
                    assert not opens(partial, *wirings), (device.name, step.purpose, change)
                    tried += 1
    assert tried > 20


@pytest.mark.parametrize(
    ("level", "stages"),
    [("acl", (TENANTS, WITHOUT, MOVED)), ("vrf", (TENANTS, MOVED)), ("evpn", (TENANTS, MOVED))],
)
def test_no_step_joins_two_tenants(level: str, stages: tuple[dict[str, Any], ...], tmp_path: Path) -> None:
    """In the order that the plan advises: with ACLs in two changes, with VRFs in one."""
    folders = bundles(level, tmp_path, *stages)
    before, after = (open_bundle([folder]).wiring for folder in (folders[0], folders[-1]))
    assert before and after
    steps = 0
    for old, new in pairwise(folders):
        difference, rollout = changed(old, new)
        for state in states(difference, rollout):
            assert not joins(state, before, after)
            steps += 1
        assert all(between.joined == () for found in rollout.between.values() for between in found)
    assert steps >= (4 if level == "acl" else 1)


def test_acls_in_one_change_join_tenants(cli: Cli, tmp_path: Path) -> None:
    """Each leaf has hosts of both tenants, so each order joins them. The verdict of a step is that of trying pairs."""
    old, new = bundles("acl", tmp_path, TENANTS, MOVED)
    difference, rollout = changed(old, new)
    wirings = [open_bundle([folder]).wiring for folder in (old, new)]
    assert wirings[0] and wirings[1]
    tried = [joins(state, *wirings) for state in states(difference, rollout)]
    names = [name for stage in rollout.stages for name in stage.devices]
    assert [bool(between.joined) for name in names for between in rollout.between[name]] == tried
    assert any(tried) and not tried[-1]
    plan = json.loads(cli("diff", old, new, "--format", "plan").out)
    assert plan["summary"]["between"]["tenants_joined"] == ["blue and red"]
    assert plan["tenants_cost"]["switches"] == 2 and plan["tenants_cost"]["rows"]["ACL_RULE"] > 0
    safe = json.loads(cli("diff", old, new, "--format", "plan", "--safe").out)
    (finding,) = [one for one in safe["findings"] if one["device"] == "l1"]
    assert (finding["code"], finding["severity"]) == ("FG678", "error")
    assert "joins tenants blue and red through hosts that move: no order of the switches is safe" in finding["message"]
    assert "these moves change 2 switches, rows: " in cli("diff", old, new).out


def test_a_safe_order_closes_the_old_tenant_first(tmp_path: Path) -> None:
    """The tenants have different leaves: the leaf of blue closes before that of red opens, also against the usual
    order."""
    apart: dict[str, Any] = {"blue": {"hosts": ["gpu/0-2"]}, "red": {"hosts": ["gpu/3-5"]}}
    moved: dict[str, Any] = {"blue": {"hosts": ["gpu/1-2"]}, "red": {"hosts": ["gpu/0", "gpu/3-5"]}}
    for stages, usual, safe in (((apart, moved), (), ["l1", "l2"]), ((moved, apart), ("blue and red",), ["l2", "l1"])):
        folder = tmp_path / safe[0]
        folder.mkdir()
        old, new = bundles("acl", folder, *stages)
        _, first = changed(old, new)
        assert first.between["l1"][-1].joined == usual
        _, rollout = changed(old, new, safe=True)
        assert ([name for stage in rollout.stages for name in stage.devices], rollout.blocked) == (safe, ())
        assert all(between.joined == () for found in rollout.between.values() for between in found)
