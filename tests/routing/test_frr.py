"""Our next hops against what real FRR computed, configured as SONiC's bgpcfgd configures it."""

import json
from pathlib import Path

import pytest

from fabricgen.routing import bits
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.routing.routes import Routes
from tests.bgp_fabric import from_case, open_configs
from tests.frr_cases import CASES
from tests.shared_material import shared


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
