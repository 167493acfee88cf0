"""External peers and static routes, from the inventory to the rows and through every judge."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricgen.bundle.read import open_bundle
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.resources import resource
from fabricgen.rules.run import run
from tests.conftest import Cli
from tests.examples import examples
from tests.inventories import ARISTA, DUAL_STACK, NVIDIA, Tree, explicit, write

BORDER = resource("inventories", "border")
DISCARD = {"advertise": "false", "blackhole": "true", "distance": "250"}
WAN = {
    "name": "wan1", "asn": 64900, "switch": "leaf1", "port": "Ethernet320", "peer_port": "xe-0/0/1",
    "address": ["192.0.2.1/31", "2001:db8::1/127"], "in": ["0.0.0.0/0", "10.0.0.0/8"], "out": ["10.64.0.0/10"],
}  # fmt: skip


def tree(platform: str = ARISTA, **plane: Any) -> Tree:
    return explicit(platform, **{"bgp": "unnumbered", "addressing": DUAL_STACK, **plane})


def render(folder: Path, inventory: Tree) -> dict[str, bytes]:
    plans = make_plans(write(folder, inventory))
    assert plans.findings == [], plans.findings
    return dict(BundleContent(plans).files())


def config(files: dict[str, bytes], name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(files[f"sonic/{name}/config_db.json"])
    return found


def codes(folder: Path, files: dict[str, bytes]) -> set[str]:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return {f"{one.code} {one.severity}" for one in run(open_bundle([folder]))}


def test_the_example_passes_every_check(cli: Cli) -> None:
    outcome = cli("check", BORDER, "--fail-on", "warning")
    assert outcome.code == 0 and "0 errors, 0 warnings" in outcome.out, outcome.out


def test_sessions_have_policies_of_their_own(tmp_path: Path) -> None:
    leaf = config(render(tmp_path, tree(external=[WAN])), "leaf1")
    names = {way: f"wan1-Ethernet320-{way}-ipv4" for way in ("in", "out")}
    assert leaf["BGP_NEIGHBOR"]["default|192.0.2.0"] == {"asn": "64900", "name": "wan1"}
    assert leaf["BGP_NEIGHBOR_AF"]["default|192.0.2.0|ipv4_unicast"] == {
        "admin_status": "up", "route_map_in": [names["in"]], "route_map_out": [names["out"]],
    }  # fmt: skip
    assert {key for key in leaf["BGP_NEIGHBOR_AF"] if "192.0.2.0" in key} == {"default|192.0.2.0|ipv4_unicast"}
    prefixes = {key: row for key, row in leaf["PREFIX"].items() if "ipv4" in key}
    assert sorted(prefixes) == [
        f"{names['in']}-own|10.0.0.0/16|16..32",
        f"{names['in']}-own|10.128.0.0/10|10..32",
        f"{names['in']}-own|10.64.0.0/10|10..32",
        f"{names['in']}|0.0.0.0/0|exact",
        f"{names['in']}|10.0.0.0/8|8..32",
        f"{names['out']}|10.64.0.0/10|10..32",
    ]
    assert {key: row for key, row in leaf["ROUTE_MAP"].items() if key.startswith(names["in"])} == {
        f"{names['in']}|10": {"match_prefix_set": f"{names['in']}-own", "route_operation": "deny"},
        f"{names['in']}|20": {"match_prefix_set": names["in"], "route_operation": "permit"},
    }


def test_a_family_without_a_prefix_passes_nothing(tmp_path: Path) -> None:
    leaf = config(render(tmp_path, tree(external=[WAN])), "leaf1")
    assert leaf["BGP_NEIGHBOR_AF"]["default|2001:db8::|ipv6_unicast"]["route_map_in"] == ["wan1-Ethernet320-in-ipv6"]
    assert leaf["ROUTE_MAP"]["wan1-Ethernet320-in-ipv6|20"] == {"route_operation": "deny"}
    assert not [key for key in leaf["PREFIX_SET"] if key.endswith("ipv6")]


def test_all_takes_everything_but_our_own(tmp_path: Path) -> None:
    wan = {**WAN, "in": "all", "out": "all", "address": "192.0.2.1/31"}
    files = render(tmp_path / "in", tree(external=[wan]))
    name = "wan1-Ethernet320-in-ipv4"
    prefixes = config(files, "leaf1")["PREFIX"]
    assert f"{name}|0.0.0.0/0|0..32" in prefixes and f"{name}-own|10.64.0.0/10|10..32" in prefixes
    assert codes(tmp_path / "bundle", files) == {"FG391 warning"}


def test_bgpcfgd_has_a_session_and_no_policy(tmp_path: Path) -> None:
    wan = {**WAN, "in": "all", "out": "all", "address": "192.0.2.1/31"}
    files = render(tmp_path / "in", tree(external=[wan], bgp="numbered"))
    leaf = config(files, "leaf1")
    assert leaf["BGP_NEIGHBOR"]["192.0.2.0"] == {"asn": "64900", "local_addr": "192.0.2.1", "name": "wan1"}
    assert not {"PREFIX", "PREFIX_SET", "ROUTE_MAP", "BGP_NEIGHBOR_AF"} & leaf.keys()
    assert codes(tmp_path / "bundle", files) == {"FG391 warning"}


@pytest.mark.parametrize(("platform", "port"), [(ARISTA, "Ethernet320"), (NVIDIA, "Ethernet320")])
def test_the_way_out_is_not_lossless(platform: str, port: str, tmp_path: Path) -> None:
    files = render(tmp_path / "in", tree(platform, external=[{**WAN, "port": port}]))
    leaf = config(files, "leaf1")
    assert leaf["PORT_QOS_MAP"][port].keys() == {"dscp_to_tc_map", "tc_to_pg_map", "tc_to_queue_map"}
    assert port not in leaf["PFC_WD"] and leaf["CABLE_LENGTH"]["AZURE"][port] == "0m"
    for table in ("BUFFER_PG", "BUFFER_QUEUE"):
        profiles = {row["profile"] for key, row in leaf[table].items() if key.startswith(f"{port}|")}
        assert len(profiles) == 1 and "lossy" in profiles.pop()
    assert {len(row) for key, row in leaf["QUEUE"].items() if key.startswith(f"{port}|")} == {1}
    assert leaf["PORT"][port]["admin_status"] == "up"
    assert codes(tmp_path / "bundle", files) == set()


def test_judges_know_the_far_end(tmp_path: Path) -> None:
    files = render(tmp_path, tree(external=[{**WAN, "cable": "100m"}]))
    wiring = json.loads(files["fabric.json"])
    far = {"name": "wan1", "port": "xe-0/0/1", "plane": "compute", "asn": 64900}
    assert wiring["externals"] == [{**far, "addresses": ["192.0.2.0/31", "2001:db8::/127"]}]
    link = wiring["links"][-1]
    assert (link["kind"], link["a"], link["b"]) == ("external", ["wan1", "xe-0/0/1"], ["leaf1", "Ethernet320"])
    assert wiring["cables"][-1]["length_m"] == 100
    assert files["cabling.csv"].splitlines()[-1].endswith(b"wan1,xe-0/0/1,,,leaf1,Ethernet320,,,100m,smf,400G")


def test_static_hosts_are_routed_over_their_nic_and_announced(tmp_path: Path) -> None:
    routes = [{"prefix": ["192.168.7.0/24", "fd07::/64"], "via": "gpu/0:rail0"}]
    leaf = config(render(tmp_path, tree(static=routes)), "leaf1")
    assert leaf["STATIC_ROUTE"]["default|192.168.7.0/24"] == {
        "advertise": "true", "ifname": "Ethernet0", "nexthop": "10.64.0.1",
    }  # fmt: skip
    assert leaf["STATIC_ROUTE"]["default|fd07::/64"]["nexthop"] == "fd00:0:0:2::1"
    assert {"default|ipv4_unicast|192.168.7.0/24", "default|ipv6_unicast|fd07::/64"} <= leaf[
        "BGP_GLOBALS_AF_NETWORK"
    ].keys()
    assert "discards" not in leaf and "default|10.64.0.0/10" not in leaf["STATIC_ROUTE"]


def test_next_hops_of_one_prefix_stand_in_one_row(tmp_path: Path) -> None:
    device = {"switch": "leaf1", "prefix": "192.168.7.0/24"}
    routes = [
        {**device, "name": "nas1", "port": "Ethernet320", "address": "192.0.2.1/31"},
        {**device, "name": "nas2", "port": "Ethernet328", "address": "192.0.2.9/29", "next_hop": "192.0.2.12"},
    ]
    files = render(tmp_path / "in", tree(static=routes))
    assert config(files, "leaf1")["STATIC_ROUTE"]["default|192.168.7.0/24"] == {
        "advertise": "true,true", "ifname": "Ethernet320,Ethernet328", "nexthop": "192.0.2.0,192.0.2.12",
    }  # fmt: skip
    assert codes(tmp_path / "bundle", files) == set()


@pytest.mark.parametrize("bgp", ["numbered", "unnumbered"])
def test_a_static_default_route_brings_discard_routes(bgp: str, tmp_path: Path) -> None:
    route = {
        "prefix": "0.0.0.0/0", "name": "gw", "switch": "leaf1", "port": "Ethernet320", "address": "192.0.2.1/31",
    }  # fmt: skip
    files = render(tmp_path / "in", tree(static=[route], bgp=bgp))
    for name in ("leaf1", "leaf2", "spine1", "spine2"):
        assert config(files, name)["STATIC_ROUTE"]["default|10.64.0.0/10"] == DISCARD
    assert codes(tmp_path / "bundle", files) == set()
    without = json.loads(files["sonic/leaf2/config_db.json"])
    del without["STATIC_ROUTE"]["default|10.64.0.0/10"]
    files["sonic/leaf2/config_db.json"] = json.dumps(without).encode()
    assert "FG389 error" in codes(tmp_path / "open", files)


@pytest.mark.parametrize("taken", [["10.0.0.0/8"], ["0.0.0.0/0", "10.0.0.0/8"]])
def test_a_route_that_may_cover_the_hosts_counts_as_a_default_route(taken: list[str], tmp_path: Path) -> None:
    files = render(tmp_path / "in", tree(external=[{**WAN, "in": taken}]))
    assert codes(tmp_path / "bundle", files) == set()
    without = json.loads(files["sonic/leaf2/config_db.json"])
    row = without["STATIC_ROUTE"].pop("default|10.64.0.0/10")
    files["sonic/leaf2/config_db.json"] = json.dumps(without).encode()
    assert "FG389 error" in codes(tmp_path / "open", files)
    without["STATIC_ROUTE"]["default|10.0.0.0/8"] = row  # no longer than the route itself
    files["sonic/leaf2/config_db.json"] = json.dumps(without).encode()
    assert "FG389 error" in codes(tmp_path / "short", files)


def test_a_lone_file_of_a_border_leaf_is_judged(tmp_path: Path) -> None:
    files = render(tmp_path, tree(external=[WAN]))
    (tmp_path / "leaf1.json").write_bytes(files["sonic/leaf1/config_db.json"])
    assert [str(one) for one in run(open_bundle([tmp_path / "leaf1.json"])) if str(one.severity) != "note"] == []


@pytest.fixture(scope="module")
def border(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The example, rendered."""
    return dict(BundleContent(make_plans(BORDER)).files())


def changed(border: dict[str, bytes], folder: Path, name: str, change: Callable[[dict[str, Any]], object]) -> list[str]:
    """The findings after a change of one switch: code, device and message."""
    files, path = dict(border), f"sonic/{name}/config_db.json"
    content = json.loads(files[path])
    change(content)
    files[path] = json.dumps(content).encode()
    codes(folder, files)
    return [f"{one.code} {one.device} {one.message}" for one in run(open_bundle([folder]))]


@pytest.mark.parametrize(
    ("leaf", "fate"),
    [("r2", "and go to compute-su00-r4-leaf, which can send them up again"), ("r0", "and leave the fabric")],
)
def test_a_finding_of_a_missing_discard_route_says_where_packets_go(
    border: dict[str, bytes], leaf: str, fate: str, tmp_path: Path
) -> None:
    name = f"compute-su00-{leaf}-leaf"
    (found,) = changed(border, tmp_path, name, lambda config: config["STATIC_ROUTE"].pop("default|10.64.0.0/10"))
    assert found.startswith(f"FG389 {name} no discard route covers 7 host prefixes, for example 10.64.0.")
    assert found.endswith(fate)


def test_a_session_with_the_policy_of_the_fabric_accepts_all_prefixes(border: dict[str, bytes], tmp_path: Path) -> None:
    def share(config: dict[str, Any]) -> None:
        row = config["BGP_NEIGHBOR_AF"]["default|192.0.2.0|ipv4_unicast"]
        config["ROUTE_MAP_SET"].pop(row["route_map_in"][0])
        config["ROUTE_MAP"].pop(f"{row['route_map_in'][0]}|20")
        row["route_map_in"] = ["PASS"]

    found = changed(border, tmp_path, "compute-su00-r0-leaf", share)
    assert found == ["FG391 compute-su00-r0-leaf the session accepts every prefix that wan1 announces"]


SWITCHES = ["leaf1", "leaf2"]
PREFIXES = ["0.0.0.0/0", "::/0", "10.0.0.0/8", "172.16.0.0/12", "fd00::/16"]


@settings(max_examples=examples(25))
@given(
    border=st.sampled_from(SWITCHES),
    accepts=st.one_of(st.just("all"), st.lists(st.sampled_from(PREFIXES), min_size=1, unique=True)),
    family=st.sampled_from(["192.0.2.1/31", "2001:db8::1/127"]),
    bgp=st.sampled_from(["unnumbered", "numbered"]),
)
def test_a_way_out_changes_nothing_elsewhere_but_discard_routes(
    border: str, accepts: Any, family: str, bgp: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("outside")
    if bgp == "numbered":
        accepts = "all"
    wan = {**WAN, "switch": border, "address": family, "in": accepts, "out": "all"}
    before = render(folder / "a", tree(bgp=bgp))
    after = render(folder / "b", tree(bgp=bgp, external=[wan]))
    assert before[f"sonic/{border}/config_db.json"] != after[f"sonic/{border}/config_db.json"]
    for name in {"leaf1", "leaf2", "spine1", "spine2"} - {border}:
        old, new = config(before, name), config(after, name)
        routes = new.get("STATIC_ROUTE", {})
        new["STATIC_ROUTE"] = {key: row for key, row in routes.items() if row != DISCARD}
        old.setdefault("STATIC_ROUTE", {})
        assert new == old
