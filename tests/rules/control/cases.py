"""Bad cases of the rules in fabricgen/rules/control."""

from typing import Any

from tests.rules.access import BONDS, LEAF0, LEAF1, Row, both_rows
from tests.rules.case import ERROR, NOTE, WARNING, Case
from tests.rules.changes import Several, both, put

_DROPPED = {"trap_action": "drop", "meter_type": "packets", "mode": "sr_tcm"}


def _table(name: str, service: str) -> Any:
    return put({"type": "CTRLPLANE", "policy_desc": name, "services": [service]}, "leaf1", "ACL_TABLE", name)


def _accepts(name: str, **fields: str) -> Any:
    row = {"PACKET_ACTION": "ACCEPT", "PRIORITY": "9999", **fields}
    return put(row, "leaf1", "ACL_RULE", f"{name}|RULE_1")


def _acl(name: str, service: str, **fields: str) -> Several:
    return both(_table(name, service), _accepts(name, **fields))


_SSH = _acl("SSH_ONLY", "SSH", SRC_IP="10.0.0.0/8")

CASES = [
    Case(
        "FG300",
        put(_DROPPED, "leaf1", "COPP_GROUP", "queue4_group1"),
        "leaf1:COPP_GROUP|queue4_group1|trap_action",
        ERROR,
        "BGP does not reach the processor: trap_action is drop",
        "remove the row: the image's own row then holds",
        also=("FG409", "FG592"),
    ),
    Case(
        "FG300",
        both(
            put(_DROPPED, "leaf1", "COPP_GROUP", "queue4_group1"),
            put({"admin_status": "up", "min_links": "1"}, "leaf1", "PORTCHANNEL", "PortChannel1"),
            put({}, "leaf1", "PORTCHANNEL_MEMBER", "PortChannel1|Ethernet500"),
        ),
        "leaf1:COPP_GROUP|queue4_group1|trap_action",
        ERROR,
        "BGP and LACP does not reach the processor: trap_action is drop",
        "remove the row: the image's own row then holds",
        lenient=True,
    ),
    Case(
        "FG300",
        put({"cir": "0", "cbs": "0", "trap_action": "copy"}, "leaf1", "COPP_GROUP", "queue4_group2"),
        "leaf1:COPP_GROUP|queue4_group2|cir",
        ERROR,
        "ARP and neighbor discovery does not reach the processor: cir is 0 and red_action drops the rest",
        "remove the row: the image's own row then holds",
        lenient=True,
    ),
    Case(
        "FG300",
        put({"cir": "10", "cbs": "10", "trap_action": "trap"}, "leaf1", "COPP_GROUP", "queue4_group1"),
        "leaf1:COPP_GROUP|queue4_group1|cir",
        WARNING,
        "BGP may lose packets: at most 10 packets per second of its group pass",
        "remove the row: the image's own row then holds",
        lenient=True,
    ),
    Case(
        "FG300",
        put({"trap_ids": "bgp,bgpv6", "trap_group": "quiet"}, "leaf1", "COPP_TRAP", "bgp"),
        "leaf1:COPP_GROUP|quiet",
        ERROR,
        "BGP does not reach the processor: the group quiet does not exist",
        "remove the row: the image's own row then holds",
        lenient=True,
    ),
    Case(
        "FG300",
        put(
            {"trap_ids": "arp_req,arp_resp,neigh_discovery", "trap_group": "queue4_group2", "always_enabled": "false"},
            "leaf1",
            "COPP_TRAP",
            "arp",
        ),
        "leaf1:COPP_TRAP|arp|always_enabled",
        ERROR,
        "ARP and neighbor discovery does not reach the processor: always_enabled is not true and no feature has the name arp",
        "remove the row: the image's own row then holds",
        lenient=True,
    ),
    Case(
        "FG301",
        _acl("SNMP_ONLY", "SNMP", SRC_IP="10.0.0.0/8"),
        "leaf1:ACL_TABLE",
        ERROR,
        "the control-plane ACLs drop all new connections to SSH over IPv4, the only family of the management port",
        "add a table with the service SSH and a rule that accepts your addresses, for each family",
        also=("FG592",),
    ),
    Case(  # the address of the management port has the other family
        "FG301",
        _acl("SSH_ONLY", "SSH", SRC_IPV6="fc00::/7"),
        "leaf1:ACL_TABLE",
        ERROR,
        "the control-plane ACLs drop all new connections to SSH over IPv4, the only family of the management port",
        "add a table with the service SSH and a rule that accepts your addresses, for each family",
        also=("FG592",),
    ),
    Case(
        "FG302",
        both(_SSH, put({"TYPE": "RO"}, "leaf1", "SNMP_COMMUNITY", "${secret:snmp}")),
        "leaf1:ACL_TABLE",
        WARNING,
        "the control-plane ACLs drop all packets to SNMP over IPv4, the only family of the management port",
        "add a table with the service SNMP",
        also=("FG592",),
    ),
    Case(
        "FG302",
        both(
            _SSH,
            put({"port": "50051"}, "leaf1", "GNMI", "gnmi"),
            put({"server_crt": "/etc/sonic/a.cer", "server_key": "/etc/sonic/a.key"}, "leaf1", "GNMI", "certs"),
        ),
        "leaf1:ACL_TABLE",
        WARNING,
        "the control-plane ACLs drop all new connections to gNMI, port 50051 over IPv4, the only family of the management port",
        "add a table with the service EXTERNAL_CLIENT whose rules have L4_DST_PORT 50051",
        also=("FG592",),
    ),
    Case(
        "FG303",
        both(
            _SSH,
            put(
                {"PACKET_ACTION": "ACCEPT", "PRIORITY": "9998", "SRC_IPV6": "fc00::/7"},
                "leaf1",
                "ACL_RULE",
                "SSH_ONLY|RULE_2",
            ),
        ),
        "leaf1:ACL_RULE|SSH_ONLY|RULE_2|SRC_IPV6",
        ERROR,
        "caclmgrd reads the table as IPv4 by its first rule, and ignores this rule",
        "give each family a separate table",
        also=("FG592",),
    ),
    Case(
        "FG303",
        both(
            _SSH,
            put(
                {"PACKET_ACTION": "ACCEPT", "PRIORITY": "9999", "SRC_IP": "192.0.2.0/24"},
                "leaf1",
                "ACL_RULE",
                "SSH_ONLY|RULE_2",
            ),
        ),
        "leaf1:ACL_RULE|SSH_ONLY|RULE_1|PRIORITY",
        ERROR,
        "RULE_2 has the same PRIORITY 9999 and replaces it",
        "give each rule of a table its own PRIORITY",
        also=("FG592",),
    ),
    Case(
        "FG304",
        put({"port": "8080"}, "leaf1", "GNMI", "gnmi"),
        "leaf1:GNMI|certs",
        NOTE,
        "server_crt and server_key are not both set: the server listens on 127.0.0.1 only, so no collector reaches it",
        "set management.gnmi.certificates to the files on the switch",
        also=("FG592",),
    ),
    Case(
        "FG287",
        both(put({}, "leaf1", "VRF", "Vrf-a"), put({"vrf": "Vrf-a"}, "leaf1", "SYSLOG_SERVER", "10.255.0.3")),
        "leaf1:SYSLOG_SERVER|10.255.0.3|vrf",
        WARNING,
        "10.255.0.3 cannot be reached: VRF Vrf-a has no subnet and no static route for it",
        "set `vrf` to the VRF of the server",
        lenient=True,
    ),
    Case(
        "FG287",
        put({"mgmtVrfEnabled": "true"}, "leaf1", "MGMT_VRF_CONFIG", "vrf_global"),
        "leaf1:NTP_SERVER|10.255.0.2",
        WARNING,
        "10.255.0.2 cannot be reached: mgmtVrfEnabled is true, and the default VRF has no route to it",
        "set `vrf` of NTP|global to the VRF of the server",
        lenient=True,
    ),
    Case(
        "FG291",
        put({"nexthop": "10.255.0.1"}, "leaf1", "STATIC_ROUTE", "Vrf-a|192.0.2.0/24"),
        "leaf1:STATIC_ROUTE|Vrf-a|192.0.2.0/24",
        WARNING,
        "the switch has no VRF Vrf-a",
        "add VRF|Vrf-a, or name another VRF",
        lenient=True,
    ),
    Case(
        "FG291",
        put({}, "leaf1", "SNMP_AGENT_ADDRESS_CONFIG", "10.255.0.9|161|mgmt"),
        "leaf1:SNMP_AGENT_ADDRESS_CONFIG|10.255.0.9|161|mgmt",
        WARNING,
        "the management VRF is off",
        "set MGMT_VRF_CONFIG|vrf_global|mgmtVrfEnabled to true, or name another VRF",
        lenient=True,
    ),
    Case(
        "FG426",
        put({"login": "radius"}, "leaf1", "AAA", "authentication"),
        "leaf1:AAA|authentication|login",
        ERROR,
        "login has radius, and RADIUS_SERVER has no row: no user can log in",
        "add RADIUS_SERVER, or remove radius",
        lenient=True,
    ),
    Case(
        "FG426",
        put({"login": "radius,local"}, "leaf1", "AAA", "authentication"),
        "leaf1:AAA|authentication|login",
        WARNING,
        "login has radius, and RADIUS_SERVER has no row",
        "add RADIUS_SERVER, or remove radius",
        lenient=True,
    ),
    Case(
        "FG427",
        put({}, "leaf1", "SNMP_AGENT_ADDRESS_CONFIG", "192.0.2.44|161|"),
        "leaf1:SNMP_AGENT_ADDRESS_CONFIG|192.0.2.44|161|",
        WARNING,
        "no interface of the switch has 192.0.2.44: the SNMP agent cannot bind it",
        "use an address of the switch",
        lenient=True,
    ),
]

CASES += [
    Case(
        "FG297",
        Row(LEAF1, "FEATURE", "dhcp_relay", {"state": "disabled"}),
        f"{LEAF1}:VLAN|Vlan110|dhcp_servers",
        ERROR,
        "requests in Vlan110 are not relayed: FEATURE|dhcp_relay is disabled",
        "set its state to enabled",
        clean=BONDS,
        lenient=True,
    ),
    Case(
        "FG297",
        Row(LEAF1, "DEVICE_METADATA", "localhost", "LeafRouter", "type"),
        f"{LEAF1}:VLAN|Vlan110|dhcp_servers",
        ERROR,
        "requests in Vlan110 are not relayed: the image enables FEATURE|dhcp_relay on a ToRRouter, and this is a LeafRouter",
        "add the row FEATURE|dhcp_relay with state enabled",
        clean=BONDS,
        lenient=True,
    ),
    Case(
        "FG297",
        Row(LEAF0, "VLAN_INTERFACE", "Vlan110|10.224.0.1/29", None),
        f"{LEAF0}:VLAN|Vlan110|dhcp_servers",
        ERROR,
        "requests in Vlan110 are not relayed: Vlan110 has no IPv4 address",
        "add a row VLAN_INTERFACE|Vlan110 with an IPv4 address",
        clean=BONDS,
        lenient=True,
    ),
    Case(
        "FG297",
        Row(LEAF0, "VLAN", "Vlan110", ["10.91.0.5"], "dhcp_servers"),
        f"{LEAF0}:VLAN|Vlan110|dhcp_servers",
        ERROR,
        "10.91.0.5 cannot be reached: no switch of the plane has a subnet or a route with this address",
        "correct the address, or connect its network with `external` or `static` of the plane",
        clean=BONDS,
    ),
    Case(
        "FG297",
        both_rows(
            *(
                Row(LEAF0, "INTERFACE", f"Ethernet{port}|{address}", None)
                for port, address in ((504, "10.192.0.0/31"), (508, "10.192.0.2/31"), (384, "192.0.2.0/31"))
            )
        ),
        f"{LEAF0}:VLAN|Vlan110|dhcp_servers",
        ERROR,
        "10.90.0.5 cannot be reached: no other interface of the switch has an IPv4 address, so the relay listens for no answer",
        "correct the address, or connect its network with `external` or `static` of the plane",
        clean=BONDS,
        lenient=True,
    ),
]
