"""Our next hops against the routing table of a real FRR, fed with rendered files: prefix by prefix, link by link.

Needs FRR, root and network namespaces; skipped in a line where they are not, which in CI is a failure. FRR_FAILURES=all
tries every single failure of every plan, not of the small ones alone; that takes minutes.
"""

import copy
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.routing import bits
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.deadlock import analyse_deadlock
from tests.conftest import Cli
from tests.routing.frr.fabrics import leaf_spine, rendered, three_tiers, with_own_asns
from tests.routing.frr.lab import Lab, Link, Table, links_of, require_lab
from tests.routing.frr.sonic_frr import Config

DUAL_STACK = {
    "loopbacks": ["10.0.0.0/24", "fd00::/64"],
    "links": ["10.0.1.0/24", "fd00:0:0:1::/64"],
    "hosts": ["10.0.2.0/24", "fd00:0:0:2::/64"],
}


@pytest.fixture(scope="module", autouse=True)
def _real_frr() -> None:
    require_lab()


@dataclass(frozen=True)
class Plan:
    """A fabric, the switches that get separate ASNs, and the sets of links that fail; None for each by itself."""

    inventory: dict[str, Any]
    own_asns: Sequence[str] = ()
    failures: Sequence[Sequence[tuple[str, str]]] | None = None
    edit: Callable[[dict[str, Config]], None] | None = None


def _everywhere(table: str, key: str, row: dict[str, str]) -> Callable[[dict[str, Config]], None]:
    def edit(configs: dict[str, Config]) -> None:
        for config in configs.values():
            config.setdefault(table, {})[key] = row

    return edit


def _at(names: Sequence[str], table: str, key: str, row: dict[str, str]) -> Callable[[dict[str, Config]], None]:
    def edit(configs: dict[str, Config]) -> None:
        for name in names:
            configs[name].setdefault(table, {}).setdefault(key, {}).update(row)

    return edit


_BOUNCE = [[("l1", "s1"), ("l2", "s2")]]
_SPREAD = [[("l1", "s1")], [("l1", "s1"), ("l1", "s2"), ("l2", "s3"), ("l2", "s4")]]
_AGGS = ["a1", "a2", "a3", "a4"]
_DISCARD = {"blackhole": "true", "advertise": "false", "distance": "250"}
PLANS = {
    "4x2 shared": Plan(leaf_spine(4, 2)),
    "4x2 distinct": Plan(leaf_spine(4, 2), ["s1", "s2"]),
    "4x2 shared, two failures": Plan(leaf_spine(4, 2), [], _BOUNCE),
    "4x2 distinct, two failures": Plan(leaf_spine(4, 2), ["s1", "s2"], _BOUNCE),
    "4x2 unnumbered": Plan(leaf_spine(4, 2, bgp="unnumbered"), [], [[("l1", "s1")], *_BOUNCE]),
    "4x2 unnumbered distinct": Plan(leaf_spine(4, 2, bgp="unnumbered"), ["s1", "s2"], [[("l1", "s1")], *_BOUNCE]),
    "4x2 dual stack": Plan(leaf_spine(4, 2, addressing=DUAL_STACK), ["s1", "s2"], _BOUNCE),
    "4x2 lenient spines": Plan(
        leaf_spine(4, 2), [], _BOUNCE, _at(["s1", "s2"], "BGP_BBR", "all", {"status": "enabled"})
    ),
    "4x2 discard": Plan(leaf_spine(4, 2), [], _BOUNCE, _everywhere("STATIC_ROUTE", "default|10.0.0.0/8", _DISCARD)),
    "4x2 isolated spine": Plan(
        leaf_spine(4, 2), [], [[("l1", "s2")]], _at(["s1"], "BGP_DEVICE_GLOBAL", "STATE", {"tsa_enabled": "true"})
    ),
    "8x4 shared": Plan(leaf_spine(8, 4), [], _SPREAD),
    "8x4 distinct": Plan(leaf_spine(8, 4), ["s1", "s2", "s3", "s4"], _SPREAD),
    "three tiers shared": Plan(three_tiers(), [], [[("l1", "a1")], [("a1", "c1")], [("l1", "a1"), ("l2", "a2")]]),
    "three tiers distinct": Plan(three_tiers(), _AGGS, [[("l1", "a1")], [("a1", "c1")], [("l1", "a1"), ("l2", "a2")]]),
}


@pytest.mark.parametrize("name", PLANS)
def test_next_hops_equal_frr(cli: Cli, tmp_path: Path, name: str) -> None:
    plan = PLANS[name]
    configs = rendered(cli, plan.inventory, tmp_path)
    with_own_asns(configs, plan.own_asns)
    if plan.edit:
        plan.edit(configs)
    links = links_of(configs)
    by_ends: dict[tuple[str, str], Link] = {(one[0], one[2]): one for one in links}
    singles = [[one] for one in by_ends]
    chosen = singles if plan.failures is None else plan.failures
    failures = [*chosen, *singles] if os.environ.get("FRR_FAILURES") == "all" else chosen
    with Lab(configs) as lab:
        whole = judged(configs, tmp_path / "judged")
        assert whole.covers_all_switches()
        for number, ends in enumerate(failures):
            broken = [by_ends[min(pair), max(pair)] for pair in ends]
            ours = judged(without(configs, broken), tmp_path / f"judged-{number}")
            # Every failure starts from the whole fabric: sessions over the cables before are up again.
            assert lab.settled(whole.differences) == [], f"before {ends}"
            lab.fail(*broken)
            if lab.settled(ours.differences):  # bgpd has lost a withdrawal, which happens, or the model is wrong
                with Lab(configs) as fresh:
                    assert fresh.settled(whole.differences) == [], f"before {ends}"
                    fresh.fail(*broken)
                    assert fresh.settled(ours.differences) == [], ends
            lab.restore(*broken)


@dataclass(frozen=True)
class Model:
    """What the routing model says: next hops, and the (switch, prefix) of which it knows all that history may bring."""

    next_hops: Table
    unsure: frozenset[tuple[str, str]]

    def differences(self, frr: Table) -> list[str]:
        """Where FRR forwards otherwise."""
        found = []
        for name, rows in self.next_hops.items():
            for prefix in rows.keys() | frr[name].keys():
                ours, theirs = rows.get(prefix, []), frr[name].get(prefix, [])
                agrees = set(theirs) <= set(ours) if (name, prefix) in self.unsure else theirs == ours
                if not agrees:
                    found.append(f"{name} {prefix}: {ours} here, {theirs} in FRR")
        return sorted(found)

    def covers_all_switches(self) -> bool:
        """Whether every switch has a route to all announcements of the others, except loopbacks of the same tier."""
        announcers = sum(any(prefix.endswith("/31") for prefix in rows) for rows in self.next_hops.values())
        return announcers == len(self.next_hops) and all(len(rows) > 1 for rows in self.next_hops.values())


def judged(configs: dict[str, Config], folder: Path) -> Model:
    """The model of these files."""
    folder.mkdir()
    for name, config in configs.items():
        (folder / f"{name}.json").write_text(json.dumps(config))
    bundle = open_bundle([folder])
    fabric = read_fabric(bundle, list(bundle.devices))
    routes = fabric.routes()
    unsure = {
        (fabric.names[switch], prefix)
        for switch in range(fabric.network.switches)
        for column in bits.columns_of(routes.ambiguous[switch])
        for prefix in routes.destinations[column].prefixes
    }
    return Model(routes.by_switch(fabric.network, fabric.names), frozenset(unsure))


def without(configs: dict[str, Config], broken: Sequence[Link]) -> dict[str, Config]:
    """The same fabric with both ports of these links shut."""
    found = copy.deepcopy(configs)
    for a, p, b, q in broken:
        for switch, port in ((a, p), (b, q)):
            found[switch]["PORT"][port]["admin_status"] = "down"
    return found


def test_verdict_on_what_frr_forwards(cli: Cli, tmp_path: Path) -> None:
    """Distinct spine ASNs and two failures: FRR's own table holds the bounces that the cycle is made of."""
    configs = rendered(cli, leaf_spine(4, 2), tmp_path)
    with_own_asns(configs, ["s1", "s2"])
    by_ends = {(one[0], one[2]): one for one in links_of(configs)}
    broken = [by_ends["l1", "s1"], by_ends["l2", "s2"]]
    failed = without(configs, broken)
    judged(failed, tmp_path / "judged")
    [result] = analyse_deadlock(open_bundle([tmp_path / "judged"]))
    assert result.verdict == "cyclic"
    with Lab(configs) as lab:
        ours = judged(failed, tmp_path / "again")
        lab.fail(*broken)
        assert lab.settled(ours.differences) == []
        found = lab.table()
    for cycle in result.cycles:
        switches = [switch for switch, _ in cycle.hops]
        for index, prefix in enumerate(cycle.witnesses):
            here, middle, beyond = (switches[(index + step) % len(switches)] for step in range(3))
            assert middle in found[here][prefix]
            assert beyond in found[middle][prefix]
