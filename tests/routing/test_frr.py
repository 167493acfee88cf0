"""Our next hops against what real FRR computed, configured as SONiC's bgpcfgd configures it."""

import json
from pathlib import Path

import pytest

from fabricgen.routing import bits
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.routing.routes import Routes
from tests.bgp_fabric import from_case, open_configs
from tests.shared_material import shared

CASES = [
    "ls4x2_distinct__l1-s1",
    "ls4x2_distinct__l1-s1+l2-s1",
    "ls4x2_distinct__l1-s1+l2-s2",
    "ls4x2_distinct__none",
    "ls4x2_distinct_tsa__none",
    "ls4x2_leafleaf__l1-s1",
    "ls4x2_parallel__none",
    "ls4x2_rfc7938__l1-s1",
    "ls4x2_rfc7938__l1-s1+l2-s2",
    "ls4x2_rfc7938__none",
    "ls4x2_rfc7938_alltor__l1-s1+l2-s2",
    "ls4x2_rfc7938_bbr__l1-s1",
    "ls4x2_sharedleaf__l1-s1+l2-s2",
    "ls4x2_sharedleaf_distinctspine__l1-s1+l2-s2",
    "ls4x2_sharedleaf_noallow__none",
    "ls4x3_mixedspine_history__l1-s3",
    "ls8x4_distinct__l1-s1+l1-s2+l2-s3+l2-s4",
    "ls8x4_distinct__l1-s1+l2-s2",
    "ls8x4_distinct__none",
    "t3_distinct__a1-c1+a2-c1+a3-c2+a4-c2",
    "t3_distinct__l1-a1",
    "t3_distinct__l1-a1+l2-a2",
    "t3_rfc7938__l1-a1+l2-a2",
    "t3_rfc7938__none",
    "t3_sharedleaf__l1-a1+l2-a2",
    "t3p_distinct__a1-c1+a4-c2",
    "t3p_distinct__l1-a1+a2-c2",
    "t3p_rfc7938__a1-c1+a4-c2",
]


def ambiguous_pairs(fabric: RoutedFabric, routes: Routes) -> set[tuple[str, str]]:
    return {
        (fabric.names[switch], prefix)
        for switch in range(fabric.network.switches)
        for column in bits.columns_of(routes.ambiguous[switch])
        for prefix in routes.destinations[column].prefixes
    }


@pytest.mark.parametrize("name", CASES)
def test_next_hops_equal_frr(name: str, tmp_path: Path) -> None:
    case = json.loads(shared("data", "bgp", f"{name}.json").read_text())
    bundle = open_configs(from_case(case).configs(), tmp_path)
    fabric = read_fabric(bundle, list(bundle.devices))
    assert fabric.spoken.absent == ()
    routes = fabric.routes()
    found, unsure = routes.by_switch(fabric.network, fabric.names), ambiguous_pairs(fabric, routes)
    for switch, expected in case["expect"].items():
        for prefix, origin in case["prefixes"].items():
            if origin == switch:
                continue
            got, want = found[switch].get(prefix, []), sorted(expected.get(prefix, []))
            if (switch, prefix) in unsure:
                assert "expect_any_of" in case
                for state in case["expect_any_of"]:
                    assert set(state[switch].get(prefix, [])) <= set(got)
            else:
                assert got == want, (switch, prefix)
    histories = case.get("expect_any_of", [])
    differing = {
        (switch, prefix)
        for switch in case["asn"]
        for prefix in case["prefixes"]
        if len({tuple(sorted(state.get(switch, {}).get(prefix, []))) for state in histories}) > 1
    }
    assert differing <= unsure
    assert bool(unsure) == bool(histories)


@pytest.mark.parametrize("name", CASES)
def test_unreachable_hosts_equal_frr(name: str, tmp_path: Path) -> None:
    case = json.loads(shared("data", "bgp", f"{name}.json").read_text())
    bundle = open_configs(from_case(case).configs(), tmp_path)
    found = read_fabric(bundle, list(bundle.devices)).next_hops()
    hosts = {prefix: origin for prefix, origin in case["prefixes"].items() if prefix.endswith("/24")}
    lost = [(s, p) for s in case["hosts"] for p, origin in hosts.items() if origin != s and p not in found[s]]
    assert len(lost) == case["verdict"]["unreachable_hosts"]


def test_every_case_is_driven() -> None:
    assert sorted(CASES) == sorted(path.stem for path in shared("data", "bgp").glob("*.json"))
