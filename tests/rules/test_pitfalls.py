"""Each known pitfall breaks a clean fabric, and one of the codes that docs/pitfalls.md promises speaks of it."""

import re
from pathlib import Path

import pytest

from fabricgen.rules.registry import all_rules
from tests.rules.changes import ConfigChange as Change
from tests.rules.changes import both, drop, put
from tests.rules.clean import clean_fabric
from tests.rules.fabrics import NEAR, lossless_on, unknown_sku, without_wiring
from tests.rules.test_cases import CASES

PAGE = Path(__file__).parents[2] / "docs" / "pitfalls.md"
NOT_SHOWN = {32, 47, 50, 72}
META = ("DEVICE_METADATA", "localhost")
POOL, WRED = ("BUFFER_POOL", "ingress_lossless_pool"), ("WRED_PROFILE", "AZURE_LOSSLESS")
PORT_MAP, DSCP = ("PORT_QOS_MAP", "Ethernet0"), ("DSCP_TO_TC_MAP", "AZURE")
OTHER_PROFILE = "pg_lossless_100000_40m_profile"


def promised() -> dict[int, list[str]]:
    """Number of the pitfall -> codes, as the page has them."""
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE)
    return {int(number): re.findall(r"FG\d{3}", codes) for number, codes in rows}


def leaf1(table: str, key: str, field: str, value: str) -> Change:
    return put(value, "leaf1", table, key, field)


# number -> changes; each must be found by itself.
BROKEN: dict[int, list[Change]] = {
    1: [leaf1(*POOL, "size", "14MB")],
    2: [leaf1(*POOL, "size", "195538852")],
    3: [leaf1(*POOL, "size", "164075364")],
    4: [
        both(
            put(
                {"pool": "ingress_lossless_pool", "xoff": "1"},
                "leaf1",
                "BUFFER_PROFILE",
                "pg_lossless_400000_7m_profile",
            ),
            leaf1("BUFFER_PG", "Ethernet0|3-4", "profile", "pg_lossless_400000_7m_profile"),
            leaf1("CABLE_LENGTH", "AZURE", "Ethernet0", "7m"),
        )
    ],
    5: [drop("leaf1", "CABLE_LENGTH", "AZURE", "Ethernet0")],
    6: [leaf1("CABLE_LENGTH", "AZURE", "Ethernet0", "0m")],
    7: [leaf1("CABLE_LENGTH", "AZURE", "Ethernet256", "300m")],
    8: [
        leaf1("CABLE_LENGTH", "AZURE", "Ethernet256", "5m"),
        drop("leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1", "type"),
    ],
    9: [drop("leaf1", "BUFFER_PG", "Ethernet0|3-4")],
    10: [leaf1("BUFFER_PG", "Ethernet256|3-4", "profile", NEAR)],
    11: [
        both(
            leaf1("BUFFER_PG", "Ethernet256|3-4", "profile", OTHER_PROFILE),
            put({"pool": "ingress_lossless_pool", "xoff": "1"}, "leaf1", "BUFFER_PROFILE", OTHER_PROFILE),
        )
    ],
    12: [
        leaf1(*PORT_MAP, "pfc_enable", "3,4,5"),
        leaf1("BUFFER_PG", "Ethernet0|3-4", "profile", "ingress_lossy_profile"),
    ],
    13: [leaf1(*PORT_MAP, "pfc_enable", "3")],
    14: [leaf1("BUFFER_QUEUE", "Ethernet0|3-4", "profile", "egress_lossy_profile")],
    15: [leaf1("PORT_QOS_MAP", "Ethernet256", "pfc_enable", "3")],
    16: [leaf1(*DSCP, "4", "3"), leaf1(*DSCP, "4", "1")],
    17: [leaf1(*DSCP, "26", "1")],
    18: [leaf1(*DSCP, "48", "3"), leaf1(*DSCP, "48", "0"), leaf1("QUEUE", "Ethernet0|6", "scheduler", "scheduler.0")],
    19: [drop("leaf1", *DSCP, "63")],
    20: [leaf1("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "1", "3")],
    21: [leaf1("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE", "3", "4")],
    22: [
        both(
            leaf1(*PORT_MAP, "pfc_to_pg_map", "AZURE"),
            put({"3": "3", "4": "4"}, "leaf1", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "AZURE"),
        )
    ],
    23: [leaf1(*PORT_MAP, "tc_to_pg_map", "NOPE")],
    24: [drop("leaf1", *PORT_MAP)],
    25: [leaf1(*PORT_MAP, "pfc_watchdog_status", "3,4"), leaf1(*PORT_MAP, "pfc_wd_sw_enable", "3,4")],
    26: [leaf1(*PORT_MAP, "pfcwd_sw_enable", ""), drop("leaf1", *PORT_MAP, "pfcwd_sw_enable")],
    27: [drop("leaf1", "PFC_WD", "Ethernet0")],
    28: [leaf1("PFC_WD", "Ethernet0", "detection_time", "400")],
    29: [
        both(leaf1("PFC_WD", "Ethernet0", "detection_time", "200"), leaf1("PFC_WD", "GLOBAL", "POLL_INTERVAL", "100"))
    ],
    30: [leaf1("PFC_WD", "Ethernet0", "action", "forward")],
    31: [leaf1("PFC_WD", "Ethernet0", "detection_time", "1500")],
    33: [
        both(leaf1("CABLE_LENGTH", "AZURE", "Ethernet0", "0m"), drop("leaf1", "BUFFER_PG", "Ethernet0|3-4")),
    ],
    34: [leaf1(*WRED, "wred_green_enable", "false")],
    35: [leaf1(*WRED, "green_min_threshold", "9999999")],
    36: [leaf1(*WRED, "green_min_threshold", " 166912")],
    37: [drop("leaf1", "QUEUE", "Ethernet0|3", "wred_profile")],
    38: [leaf1(*WRED, "green_max_threshold", "120000000")],
    40: [leaf1("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th", "3")],
    41: [leaf1("BUFFER_PROFILE", "ingress_lossy_profile", "static_th", "1048576")],
    42: [leaf1("BUFFER_PROFILE", "egress_lossy_profile", "pool", "[BUFFER_POOL|egress_lossless_pool]")],
    43: [leaf1("BUFFER_PG", "Ethernet0|3-4", "profile", "NULL"), leaf1(*META, "buffer_model", "dynamic")],
    44: [leaf1(*META, "buffer_model", "dynamic")],
    51: [leaf1("PORT", "Ethernet256", "mtu", "9000"), leaf1("PORT", "Ethernet0", "mtu", "4100")],
    53: [drop("leaf1", "PORT", "Ethernet0", "fec"), leaf1("PORT", "Ethernet0", "fec", "fc")],
    54: [leaf1("PORT", "Ethernet256", "autoneg", "on"), leaf1("PORT", "Ethernet256", "speed", "200000")],
    55: [
        leaf1("PORT", "Ethernet8", "lanes", "1,2,3,5"),
        unknown_sku(leaf1("PORT", "Ethernet4", "lanes", "17,18,19,20")),
        leaf1("BREAKOUT_CFG", "Ethernet0", "brkout_mode", "1x800G"),
    ],
    56: [leaf1(*PORT_MAP, "pfc_enable", "5")],
    57: [both(leaf1(*PORT_MAP, "dot1p_to_tc_map", "AZURE"), put({"3": "3"}, "leaf1", "DOT1P_TO_TC_MAP", "AZURE"))],
    59: [
        put("ToRRouter", "spine1", *META, "type"),
        leaf1(*META, "bgp_asn", "4200000002"),
        put("4200000077", "spine1", *META, "bgp_asn"),
    ],
    60: [leaf1(*META, "type", "LeafRouter")],
    61: [put(["DST_IP", "SRC_IP"], "leaf1", "SWITCH_HASH", "GLOBAL", "ecmp_hash")],
    63: [leaf1(*PORT_MAP, "pfc_enable", "2,3,4,6"), leaf1("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "2", "3")],
    64: [
        leaf1("SCHEDULER", "scheduler.1", "type", "STRICT"),
        leaf1("QUEUE", "Ethernet0|3", "scheduler", "scheduler.2"),
        leaf1("SCHEDULER", "scheduler.1", "weight", "0"),
        drop("leaf1", "SCHEDULER", "scheduler.1", "weight"),
    ],
    65: [drop("leaf1", "QUEUE", "Ethernet0|6"), leaf1("TC_TO_QUEUE_MAP", "AZURE", "6", "3")],
    67: [
        leaf1("FLEX_COUNTER_TABLE", name, "FLEX_COUNTER_STATUS", "disable")
        for name in ("PFCWD", "QUEUE", "PG_WATERMARK")
    ],
    68: [drop("leaf1", "PORT", "Ethernet0", "admin_status")],
    69: [drop("leaf1", "INTERFACE", "Ethernet0")],
    70: [put({"asn": "4200000000"}, "leaf1", "BGP_NEIGHBOR", "default|10.128.0.13")],
    71: [leaf1(*PORT_MAP, "pfc_enable", "3,4,6"), leaf1(*PORT_MAP, "pfcwd_sw_enable", "3,4,6")],
}
# The same by the cases of the rules, which need another model or wiring.
BY_CASES = {
    22: ["FG507"], 39: ["FG546"], 45: ["FG535"], 46: ["FG536"], 48: ["FG537"], 49: ["FG538"], 40: ["FG528"],
    41: ["FG529"], 52: ["FG526"], 58: ["FG509"], 59: ["FG345"], 60: ["FG352"], 62: ["FG251", "FG252", "FG253", "FG346"],
    66: ["FG517"],
}  # fmt: skip


def test_the_page_names_all_pitfalls_and_only_codes_that_exist() -> None:
    found = promised()
    assert sorted({*found, *NOT_SHOWN}) == list(range(1, 73))
    rules = {rule.code for rule in all_rules()}
    assert {code for codes in found.values() for code in codes} - rules == {"FG601"}
    assert set(found) - NOT_SHOWN == {*BROKEN, *BY_CASES}


@pytest.mark.parametrize(("number", "change"), [(n, change) for n, changes in BROKEN.items() for change in changes])
def test_each_pitfall_is_found(number: int, change: Change) -> None:
    fabric = clean_fabric()
    change(fabric.configs)
    assert [one for one in fabric.judge(*promised()[number]) if one.severity != "note"]


@pytest.mark.parametrize(("number", "code"), [(n, code) for n, codes in BY_CASES.items() for code in codes])
def test_pitfalls_of_other_fabrics_are_cases_of_rules(number: int, code: str) -> None:
    assert code in promised()[number] and code in {case.code for case in CASES}


def test_pfc_that_differs_across_a_link_is_found_without_a_plan() -> None:
    fabric = clean_fabric()
    without_wiring(fabric)
    lossless_on("spine1", "3")(fabric.configs)
    assert {finding.code for finding in fabric.judge("FG51")} >= {"FG516"}
