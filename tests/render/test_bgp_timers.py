"""Settings of BGP sessions: from the inventory to the row of every session, and to the rules that judge it."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.inventory.load import load_inventory
from fabricgen.inventory.nodes import SecretReference
from tests.inventories import ARISTA, DUAL_STACK, explicit, rail_optimized, write
from tests.render.test_outside import WAN, codes, config, render

TIMERS = {"keepalive_s": 3, "hold_s": 9}
ROW = {"holdtime": "9", "keepalive": "3"}


def sessions(folder: Path, bgp: str, timers: dict[str, int] | None) -> dict[str, dict[str, Any]]:
    """'switch TABLE|key' -> the row of a session or peer group, on all switches of a small fabric."""
    given = {"bgp_timers": timers} if timers else {}
    wan = WAN if bgp == "unnumbered" else {**WAN, "in": "all", "out": "all"}
    files = render(folder, explicit(ARISTA, bgp=bgp, addressing=DUAL_STACK, external=[wan], **given))
    return {
        f"{name} {table}|{key}": row
        for name in ("leaf1", "leaf2", "spine1", "spine2")
        for table in ("BGP_NEIGHBOR", "BGP_PEER_GROUP")
        for key, row in config(files, name).get(table, {}).items()
    }


@pytest.mark.parametrize("bgp", ["numbered", "unnumbered"])
def test_every_session_has_both_timers_and_nothing_else_changes(tmp_path: Path, bgp: str) -> None:
    without, given = (sessions(tmp_path / str(len(str(timers))), bgp, timers) for timers in (None, TIMERS))
    own = {key for key, row in given.items() if row.get("peer_group_name") != "FABRIC"}
    assert given == {key: row | (ROW if key in own else {}) for key, row in without.items()}
    groups = {key for key in own if "PEER_GROUP" in key}
    # with unnumbered BGP the sessions of the fabric have the timers of their peer group, the two others their own
    assert len(groups) == (4 if bgp == "unnumbered" else 0) and len(own - groups) == (2 if groups else 18)


def test_timers_that_fit_pass_and_others_are_reported(tmp_path: Path) -> None:
    for name, hold_s, expected in (("good", 9, set()), ("short", 8, {"FG355 warning"})):
        tree = explicit(
            ARISTA, bgp="unnumbered", addressing=DUAL_STACK, bgp_timers={"keepalive_s": 3, "hold_s": hold_s}
        )
        found = codes(tmp_path / f"{name}-bundle", render(tmp_path / name, tree))
        assert found & {"FG355 warning", "FG355 error"} == expected


def test_one_timer_alone_and_timers_without_bgp_are_refused(tmp_path: Path) -> None:
    _, alone = load_inventory(write(tmp_path / "alone", explicit(bgp_timers={"hold_s": 9})))
    _, none = load_inventory(
        write(tmp_path / "none", rail_optimized(technology="infiniband", bgp_timers=TIMERS)), needs_addresses=False
    )
    assert [(one.code, one.message) for one in alone] == [
        ("FG106", "'keepalive_s' is missing in planes.compute.bgp_timers")
    ]
    assert [(one.code, one.path) for one in none] == [("FG105", "planes.compute.bgp_timers")]


def test_bfd_is_in_the_peer_group_and_refused_where_no_daemon_reads_it(tmp_path: Path) -> None:
    tree = explicit(ARISTA, bgp="unnumbered", addressing=DUAL_STACK, bfd=True)
    files = render(tmp_path / "unnumbered", tree)
    groups = [config(files, name)["BGP_PEER_GROUP"]["default|FABRIC"] for name in ("leaf1", "spine2")]
    assert [group["bfd"] for group in groups] == ["true", "true"]
    assert codes(tmp_path / "bundle", files) == codes(
        tmp_path / "without", render(tmp_path / "plain", explicit(ARISTA, bgp="unnumbered", addressing=DUAL_STACK))
    )
    _, found = load_inventory(write(tmp_path / "numbered", explicit(bfd=True)))
    assert [(one.code, one.path) for one in found] == [("FG151", "planes.compute.bfd")]
    _, none = load_inventory(write(tmp_path / "off", explicit(bfd=False)))
    assert none == []


SESSIONS = {
    "bgp_password": SecretReference("bgp/compute"),
    "max_prefixes": {"limit": 500, "restart_min": 5},
    "graceful_restart": {"restart_s": 90},
}


def test_password_limits_and_restart_are_those_of_the_fabric(tmp_path: Path) -> None:
    tree = explicit(ARISTA, bgp="unnumbered", addressing=DUAL_STACK, external=[WAN], **SESSIONS)
    files = render(tmp_path / "given", tree)
    for name in ("leaf1", "spine2"):
        tables = config(files, name)
        assert tables["BGP_PEER_GROUP"]["default|FABRIC"]["auth_password"] == "${secret:bgp/compute}"
        family = tables["BGP_PEER_GROUP_AF"]["default|FABRIC|ipv6_unicast"]
        assert (family["max_prefix_limit"], family["max_prefix_restart_interval"]) == ("500", "5")
        assert family["max_prefix_warning_threshold"] == "80"
        globals_row = tables["BGP_GLOBALS"]["default"]
        assert (globals_row["graceful_restart_enable"], globals_row["gr_restart_time"]) == ("true", "90")
        rows = (row for key, row in tables["BGP_NEIGHBOR"].items() if row.get("peer_group_name") != "FABRIC")
        assert all("auth_password" not in row for row in rows), "routers outside have their own"
    without = render(tmp_path / "plain", explicit(ARISTA, bgp="unnumbered", addressing=DUAL_STACK, external=[WAN]))
    assert codes(tmp_path / "bundle", files) == codes(tmp_path / "without", without)
    small = explicit(ARISTA, bgp="unnumbered", addressing=DUAL_STACK, max_prefixes=2)
    assert "FG420 error" in codes(tmp_path / "small-bundle", render(tmp_path / "small", small))


def test_numbered_bgp_refuses_what_bgpcfgd_does_not_read(tmp_path: Path) -> None:
    _, found = load_inventory(write(tmp_path, explicit(**SESSIONS)))
    assert [(one.code, one.path) for one in found] == [("FG151", f"planes.compute.{key}") for key in SESSIONS]


def three_tiers(folder: Path, bgp: str, tiers: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Switch -> tables, of two leaves, two spines and a core."""
    tree = explicit(ARISTA, bgp=bgp, addressing=DUAL_STACK, bgp_tiers=tiers)
    plane = tree["planes"]["compute"]
    plane |= {"core": plane["spine"], "cores": [{"name": "core1"}]}
    plane["links"] += [[f"spine{one}:Ethernet256", f"core1:Ethernet{8 * one}"] for one in (1, 2)]
    files = render(folder, tree)
    return {name: config(files, name) for name in ("leaf1", "spine1", "core1")}


TIERS = {
    "leaf": {"graceful_restart": {"restart_s": 60}},
    "spine": {"bfd": True, "max_prefixes": 2000},
    "core": {"bgp_timers": TIMERS, "bgp_password": SecretReference("bgp/core"), "max_prefixes": 20000},
}


def test_a_tier_has_its_own_sessions_at_both_ends(tmp_path: Path) -> None:
    tables = three_tiers(tmp_path, "unnumbered", TIERS)
    for name, groups in (("leaf1", {"SPINE"}), ("spine1", {"SPINE", "CORE"}), ("core1", {"CORE"})):
        rows = tables[name]["BGP_PEER_GROUP"]
        assert rows.keys() == {f"default|FABRIC_{group}" for group in groups}
        used = {row["peer_group_name"] for row in tables[name]["BGP_NEIGHBOR"].values()}
        assert used == {f"FABRIC_{group}" for group in groups}
    low, high = (tables["spine1"]["BGP_PEER_GROUP"][f"default|FABRIC_{one}"] for one in ("SPINE", "CORE"))
    assert low["bfd"] == "true" and "auth_password" not in low and "holdtime" not in low
    assert "bfd" not in high and high["auth_password"] == "${secret:bgp/core}" and high | ROW == high
    family = tables["core1"]["BGP_PEER_GROUP_AF"]["default|FABRIC_CORE|ipv4_unicast"]
    assert (family["max_prefix_limit"], family["route_map_in"]) == ("20000", ["PASS"])
    assert tables["leaf1"]["BGP_GLOBALS"]["default"]["gr_restart_time"] == "60"
    assert "gr_restart_time" not in tables["spine1"]["BGP_GLOBALS"]["default"]


def test_timers_of_a_tier_with_numbered_sessions(tmp_path: Path) -> None:
    tables = three_tiers(tmp_path, "numbered", {"core": {"bgp_timers": TIMERS}})
    rows = list(tables["spine1"]["BGP_NEIGHBOR"].values())
    assert {row["name"] for row in rows if row.get("holdtime") == "9"} == {"core1"}
    assert all("holdtime" not in row for row in tables["leaf1"]["BGP_NEIGHBOR"].values())


def test_what_a_tier_cannot_have_is_refused(tmp_path: Path) -> None:
    tiers = {"leaf": {"bfd": True}, "spine": {"bfd": True, "max_prefixes": 9}, "core": {"bgp_timers": TIMERS}}
    _, found = load_inventory(write(tmp_path / "numbered", explicit(bgp_tiers=tiers)))
    path = "planes.compute.bgp_tiers"
    assert {(one.code, one.path) for one in found} == {
        ("FG151", f"{path}.leaf.bfd"), ("FG151", f"{path}.spine.bfd"), ("FG151", f"{path}.spine.max_prefixes"),
        ("FG105", f"{path}.leaf.bfd"), ("FG105", f"{path}.core"),
    }  # fmt: skip
    _, none = load_inventory(
        write(tmp_path / "ib", rail_optimized(technology="infiniband", bgp_tiers={"spine": {"bgp_timers": TIMERS}})),
        needs_addresses=False,
    )
    assert [(one.code, one.path) for one in none] == [("FG105", path)]
