"""uSIDs of a plane: one for each link of a switch, those of others unchanged when the plane grows, and what is
refused."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.srv6 import first_usid
from tests.conftest import Cli
from tests.inventories import DUAL_STACK, Tree, rail_optimized, write

BLOCK = "fcbb:bb00::/32"


def sprayed(release: int | str = 202511, hosts: int = 4, **plane: Any) -> Tree:
    """Eight leaves for each unit of four hosts, and spines with several links to each leaf."""
    settings: Tree = {"addressing": DUAL_STACK, "srv6": BLOCK, **plane}
    tree = rail_optimized(hosts=hosts, unit=4, planned=2, **settings)
    tree["planes"]["compute"]["spine"] = {"platform": "arista-7060x6-64pe", "count": 2}
    tree["sonic"] = {"release": release}
    return tree


def configs(bundle: Path) -> dict[str, Any]:
    return {file.parent.name: json.loads(file.read_text()) for file in bundle.glob("sonic/*/config_db.json")}


def rendered(cli: Cli, folder: Path, tree: Tree) -> dict[str, Any]:
    outcome = cli("render", write(folder / "in", tree), "-o", folder / "build", "-q")
    assert outcome.code == 0, outcome.out + outcome.err
    return configs(folder / "build")


@pytest.mark.parametrize("release", [202511, 202605, "master"])
def test_rows_pass_on_each_release_that_reads_them(release: int | str, tmp_path: Path, cli: Cli) -> None:
    """Each uSID of a switch has a locator, a SID and, at one port of one neighbor, a route."""
    found = rendered(cli, tmp_path, sprayed(release))
    assert cli("validate", tmp_path / "build", "--fail-on", "warning").code == 0
    owners, routes = Counter[str](), Counter[str]()
    for config in found.values():
        sids = {key.partition("|")[2]: row for key, row in config["SRV6_MY_SIDS"].items()}
        assert {(row["action"], row["decap_dscp_mode"]) for row in sids.values()} == {("uN", "pipe")}
        locators = {f"{row['prefix']}/48" for row in config["SRV6_MY_LOCATORS"].values()}
        assert locators == {*sids}
        owners.update(sids.keys())
        for key, row in config["STATIC_ROUTE"].items():
            if "fcbb:" in key:
                assert row["advertise"] == "false" and "," not in row["nexthop"]
                routes[key.partition("|")[2]] += 1
        assert config["FLEX_COUNTER_TABLE"]["SRV6"]["FLEX_COUNTER_STATUS"] == "enable"
    assert set(owners.values()) == {1}
    local = {text for text in routes if (prefix := parse_address(text)) and first_usid(prefix) >= 0xE000}
    assert routes.keys() - local <= owners.keys()
    hosts = (tmp_path / "build" / "hosts" / "gpu" / "netplan" / "gpu-000.yaml").read_text()
    assert "mtu: 9060" in hosts and f'to: "{BLOCK}", via:' in hosts


def test_a_plane_that_grows_keeps_its_usids(tmp_path: Path, cli: Cli) -> None:
    before = rendered(cli, tmp_path, sprayed())
    after = rendered(cli, tmp_path, sprayed(hosts=8))
    assert len(after) > len(before)
    for name, config in before.items():
        assert after[name]["SRV6_MY_SIDS"] == config["SRV6_MY_SIDS"]
        if "leaf" in name:
            assert after[name]["STATIC_ROUTE"] == config["STATIC_ROUTE"]


def test_more_switches_or_more_links(tmp_path: Path, cli: Cli) -> None:
    """13 bits for the switch: 8,191 switches, such as those of 131,072 GPUs on 8 planes, and 7 links between two."""
    found = rendered(cli, tmp_path, sprayed(srv6={"block": BLOCK, "node_bits": 13}))
    sids = {key.partition("|")[2] for config in found.values() for key in config["SRV6_MY_SIDS"]}
    assert "fcbb:bb00:2001::/48" in sids and "fcbb:bb00:1001::/48" not in sids
    assert cli("simulate", "paths", tmp_path / "build").code == 0
    wide = sprayed(srv6={"block": BLOCK, "node_bits": 14})
    wide["planes"]["compute"]["spine"]["count"] = 1
    outcome = cli("render", write(tmp_path / "wide", wide), "-o", tmp_path / "other")
    assert (outcome.code, "and a switch has 3 uSIDs at most" in outcome.out) == (1, True), outcome.out
    far, pools = sprayed(), {"prefixes": "10.0.0.0/16", "reserve": ["10.0.0.0/20"]}
    far["planes"]["compute"]["addressing"] = {**DUAL_STACK, "loopbacks": pools}
    outcome = cli("render", write(tmp_path / "far", far), "-o", tmp_path / "other")
    assert (outcome.code, "the offset of its loopback in its pool, from 1 to 4095" in outcome.out) == (1, True)


def test_a_plane_without_srv6_has_no_such_row(tmp_path: Path, cli: Cli) -> None:
    tree = sprayed()
    del tree["planes"]["compute"]["srv6"]
    for config in rendered(cli, tmp_path, tree).values():
        assert not {"SRV6_MY_SIDS", "SRV6_MY_LOCATORS"} & {*config}
        assert "SRV6" not in config["FLEX_COUNTER_TABLE"]


IPV4 = {"loopbacks": "10.0.0.0/16", "links": "10.128.0.0/10", "hosts": "10.64.0.0/10"}
REFUSED = [
    ({"release": 202505}, "release 202505 has no interface sr0, to which FRR attaches static SIDs (issue 21857)"),
    ({"bgp": "unnumbered"}, "with unnumbered BGP frrcfgd writes locators without `behavior usid`"),
    ({"addressing": IPV4}, "the next hop of a uSID is an IPv6 address, and links have none"),
    ({"srv6": "fcbb:bb00::/40"}, "'fcbb:bb00::/40' is not an IPv6 prefix of 32 bits"),
    ({"srv6": "10.0.0.0/8"}, "'10.0.0.0/8' is not an IPv6 prefix of 32 bits"),
    ({"srv6": "fcbb:bb00::1/32"}, "is not an IPv6 prefix of 32 bits"),
    ({"srv6": "fd00::/32"}, "the block fd00::/32 overlaps fd00::/64 for loopbacks of plane compute"),
    ({"srv6": {"block": BLOCK, "decap_dscp_mode": "copy"}}, "pipe"),
    ({"srv6": {"counters": False}}, "block"),
    ({"isolation": "acl"}, "rules of tenants match the address of the host"),
    ({"access": "vlan"}, "is in a VLAN or a bond, and a uSID leads to a routed port"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED, ids=[str(change) for change, _ in REFUSED])
def test_what_is_refused(change: Tree, message: str, tmp_path: Path, cli: Cli) -> None:
    outcome = cli("render", write(tmp_path / "in", sprayed(**change)), "-o", tmp_path / "build")
    assert (outcome.code, message in outcome.out + outcome.err) == (1, True), outcome.out + outcome.err
    assert not (tmp_path / "build").exists()
