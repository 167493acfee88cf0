"""Which rule of an ACL drops a packet, by hand."""

from typing import Any

import pytest

from fabricgen.sonic.acl import Packet, acl_tables, bgp_packets, dropped_bgp, interfaces, members
from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.admin import shut_interfaces

ROCE = Packet(4, 17, None, 4791, parse_address("10.1.0.1"), parse_address("10.2.0.1"))
ROCE_SIX = Packet(6, 17, None, 4791, parse_address("fd00::1"), parse_address("fd01::1"))
UNKNOWN = Packet(4, 17, None, 4791)


def config(*rules: dict[str, str], **table: Any) -> dict[str, Any]:
    """One table with rules of decreasing priority, unless a rule has one."""
    rows = {f"DATA|R{n}": {"PRIORITY": str(1000 - n), "PACKET_ACTION": "DROP"} | one for n, one in enumerate(rules)}
    return {"ACL_TABLE": {"DATA": {"type": "L3", "ports": ["Ethernet0"], **table}}, "ACL_RULE": rows}


def dropping(packet: Packet, *rules: dict[str, str]) -> str | None:
    [table] = acl_tables(config(*rules))
    return table.dropping(packet)


@pytest.mark.parametrize(
    ("condition", "drops"),
    [
        ({}, True),
        ({"IP_PROTOCOL": "17"}, True),
        ({"IP_PROTOCOL": "6"}, False),
        ({"IP_PROTOCOL": "0x11"}, True),
        ({"ETHER_TYPE": "0x0800"}, True),
        ({"ETHER_TYPE": "2048"}, True),
        ({"ETHER_TYPE": "0x86DD"}, False),
        ({"IP_TYPE": "ANY"}, True),
        ({"IP_TYPE": "ipv4any"}, True),
        ({"IP_TYPE": "IPV6ANY"}, False),
        ({"L4_DST_PORT": "4791"}, True),
        ({"L4_DST_PORT": "4790"}, False),
        ({"L4_SRC_PORT": "4791"}, False),
        ({"L4_DST_PORT_RANGE": "4791-4791"}, True),
        ({"L4_DST_PORT_RANGE": "4792-5000"}, False),
        ({"L4_DST_PORT_RANGE": "1-4790"}, False),
        ({"L4_SRC_PORT_RANGE": "0-65535"}, False),
        ({"SRC_IP": "10.1.0.0/24"}, True),
        ({"SRC_IP": "10.2.0.0/24"}, False),
        ({"DST_IP": "10.2.0.1/32"}, True),
        ({"DST_IPV6": "::/0"}, False),
        ({"TCP_FLAGS": "0x02/0x02"}, False),
    ],
    ids=str,
)
def test_conditions(condition: dict[str, str], drops: bool) -> None:
    """What is not known never drops: the source port, and fields that are not modelled."""
    assert dropping(ROCE, condition) == ("DATA|R0" if drops else None)


def test_what_is_not_known_matches_only_rules_that_forward() -> None:
    assert dropping(UNKNOWN, {"SRC_IP": "10.1.0.0/24"}) is None
    assert dropping(UNKNOWN, {"SRC_IP": "0.0.0.0/0"}) == "DATA|R0"
    assert dropping(UNKNOWN, {"SRC_IP": "10.1.0.0/24", "PACKET_ACTION": "FORWARD"}, {}) is None
    assert dropping(ROCE_SIX, {"SRC_IPV6": "fd00::/64"}) == "DATA|R0"
    assert dropping(ROCE_SIX, {"SRC_IP": "0.0.0.0/0"}) is None


def test_the_rule_with_the_highest_priority_decides() -> None:
    """Not the first one of the file; aclorch does not know `deny`."""
    forward = {"PACKET_ACTION": "FORWARD"}
    assert dropping(ROCE, forward, {}) is None
    assert dropping(ROCE, {}, forward) == "DATA|R0"
    assert dropping(ROCE, {"PRIORITY": "10"}, {"PRIORITY": "20", **forward}) is None
    assert dropping(ROCE, {"PRIORITY": "20", "PACKET_ACTION": "drop"}, {"PRIORITY": "10", **forward}) == "DATA|R0"
    assert dropping(ROCE, {"PACKET_ACTION": "deny"}) is None


@pytest.mark.parametrize("kind", ["MIRROR", "MIRRORV6", "ctrlplane", "PFCWD"])
def test_tables_that_drop_nothing(kind: str) -> None:
    assert list(acl_tables(config({}, type=kind))) == []


def test_stages_and_ports() -> None:
    tables = config({}, ports="Ethernet0,PortChannel1", stage="EGRESS")
    tables["PORTCHANNEL_MEMBER"] = {"PortChannel1|Ethernet8": {}, "PortChannel2|Ethernet12": {}}
    [table] = acl_tables(tables)
    assert (table.stage, table.ports) == ("egress", ("Ethernet0", "PortChannel1"))
    assert interfaces(table, members(tables)) == {"Ethernet0", "PortChannel1", "Ethernet8"}
    assert next(acl_tables(config({}))).stage == "ingress"


def test_packets_of_bgp() -> None:
    """TCP to and from port 179, in both families."""
    assert [(one.version, one.protocol, one.source_port, one.target_port) for one in bgp_packets()] == [
        (4, 6, None, 179), (4, 6, 179, None), (6, 6, None, 179), (6, 6, 179, None),
    ]  # fmt: skip
    found = dropped_bgp(config({"IP_PROTOCOL": "6", "L4_DST_PORT": "179", "ETHER_TYPE": "0x0800"}))
    assert found == {("Ethernet0", "ingress", 4, True): "DATA|R0"}
    assert dropped_bgp({"ACL_TABLE": {"DATA": {"type": "L3", "ports": ["Ethernet0"]}}}) == {}


def test_interfaces_that_are_shut_down() -> None:
    """A port channel is down with all its members, or by its own field; a missing status counts as up."""
    found = shut_interfaces(
        {
            "PORT": {
                "Ethernet0": {"admin_status": "down"}, "Ethernet4": {"admin_status": "down"},
                "Ethernet8": {"admin_status": "up"}, "Ethernet12": {},
            },
            "PORTCHANNEL_MEMBER": {
                "PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet4": {},
                "PortChannel2|Ethernet0": {}, "PortChannel2|Ethernet8": {},
            },
            "PORTCHANNEL": {"PortChannel1": {}, "PortChannel2": {}, "PortChannel3": {"admin_status": "down"}},
        }
    )  # fmt: skip
    assert found == {
        "Ethernet0": ("PORT", "Ethernet0", "admin_status"),
        "Ethernet4": ("PORT", "Ethernet4", "admin_status"),
        "PortChannel1": ("PORT", "Ethernet0", "admin_status"),
        "PortChannel3": ("PORTCHANNEL", "PortChannel3", "admin_status"),
    }


def test_rules_by_decreasing_priority_in_their_order() -> None:
    """Rules of a table need not be neighbors; a priority that is not a text is 0, as a missing one."""
    found: dict[str, dict[str, Any]] = {"ACL_TABLE": {"A": {"type": "L3"}, "B": {"type": "L3"}}, "ACL_RULE": {
        "A|one": {"PRIORITY": "7"}, "B|one": {"PRIORITY": "7"}, "A|low": {"PRIORITY": 9}, "A|two": {"PRIORITY": "9"},
        "A|same": {"PRIORITY": "0x7"}, "A|none": {}, "B|two": {"PRIORITY": ["9"]}, "AB|one": {"PRIORITY": "9"},
        "A|": {"PRIORITY": "9"}, "B|three": {"PRIORITY": "8"},
    }}  # fmt: skip
    order = {table.name: [key for key, _ in table.rules] for table in acl_tables(found)}
    assert order == {
        "A": ["A|two", "A|", "A|one", "A|same", "A|low", "A|none"],
        "B": ["B|three", "B|one", "B|two"],
    }
