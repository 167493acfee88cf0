"""What the rules on sessions of hosts accept, and when an address family is active."""

import json
from pathlib import Path

import pytest

from fabricgen.rules.run import run
from fabricgen.sonic.evpn import FAMILY, Overlay
from tests.rules.access import LEAF0, ROUTED_SPEAKERS, SPEAKERS, Row, both_rows
from tests.rules.case import GoodCase

GROUP = "default|HOSTS-Vlan110|ipv4_unicast"
PREFIXES, GROUP_ROW = "BGP_GLOBALS_LISTEN_PREFIX", {"peer_group": "HOSTS-Vlan110"}
WITHOUT_STATUS = Row(LEAF0, "BGP_PEER_GROUP_AF", GROUP, None, "admin_status")
BY_DEFAULT = Row(LEAF0, "BGP_GLOBALS", "default", "true", "default_ipv4_unicast")
OPEN = Row(LEAF0, "BGP_PEER_GROUP_AF", GROUP, ["PASS"], "route_map_in")

GOOD = [
    GoodCase("FG348", both_rows(WITHOUT_STATUS, BY_DEFAULT), SPEAKERS),
    GoodCase("FG695", both_rows(WITHOUT_STATUS, BY_DEFAULT), SPEAKERS),
    GoodCase("FG695", both_rows(WITHOUT_STATUS, OPEN), SPEAKERS),  # FRR accepts nothing in this family
    GoodCase("FG698", Row(LEAF0, PREFIXES, "default|10.224.0.0/30", GROUP_ROW), SPEAKERS),  # a part of the subnet
    GoodCase("FG698", Row(LEAF0, PREFIXES, "default|192.0.2.0/24", GROUP_ROW), SPEAKERS),  # machines of others
    GoodCase("FG698", lambda _: None, ROUTED_SPEAKERS),  # a subnet for each port, and one range for all of them
]


@pytest.mark.parametrize("case", GOOD, ids=[f"{number}-{case.code}" for number, case in enumerate(GOOD)])
def test_correct_sessions_have_no_finding(tmp_path: Path, case: GoodCase) -> None:
    assert run(case.clean.broken(case.change, tmp_path), [case.code]) == []


@pytest.mark.parametrize(
    ("code", "change", "text"),
    [
        ("FG348", WITHOUT_STATUS, "ipv4_unicast is not active"),
        ("FG695", both_rows(WITHOUT_STATUS, BY_DEFAULT, OPEN), "hosts can announce a default route"),
    ],
)
def test_ipv4_is_active_without_a_status_only_by_default_ipv4_unicast(
    tmp_path: Path, code: str, change: Row, text: str
) -> None:
    (found,) = run(SPEAKERS.broken(change, tmp_path), [code])
    assert text in found.message


def test_a_range_of_ports_is_not_wider_than_their_prefix(tmp_path: Path) -> None:
    wide = Row(LEAF0, PREFIXES, "default|10.224.0.0/24", {"peer_group": "HOSTS"})
    (found,) = run(ROUTED_SPEAKERS.broken(wide, tmp_path), ["FG698"])
    assert found.message == "the range 10.224.0.0/24 is wider than 10.224.0.0/30, the subnet of the hosts"


@pytest.mark.parametrize(
    ("family", "speaks"),
    [
        ({"admin_status": "true", "route_map_in": ["PASS"], "route_map_out": "PASS"}, True),
        ({"route_map_in": ["PASS"], "route_map_out": ["PASS"]}, False),  # the default is only for IPv4
        ({"admin_status": "up", "route_map_in": [""], "route_map_out": ["PASS"]}, False),
        ({"admin_status": "up", "prefix_list_in": "ALL", "route_map_out": ["PASS"]}, False),
    ],
    ids=json.dumps,
)
def test_sessions_of_evpn_are_read_as_those_of_other_families(family: dict[str, object], speaks: bool) -> None:
    config = {
        "BGP_GLOBALS": {"default": {"default_ipv4_unicast": "true"}},
        "BGP_NEIGHBOR": {"default|Ethernet0": {"peer_group_name": "FABRIC"}},
        "BGP_PEER_GROUP_AF": {f"default|FABRIC|{FAMILY}": family},
    }
    assert Overlay(config).speaks("Ethernet0") is speaks
