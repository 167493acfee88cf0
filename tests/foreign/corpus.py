"""Small files in the manner of those that other people publish. Each stands for one fact of the world.

They are written by us: SONiC VS labs, containerlab, AVD, Hedgehog, minigraph, sonic-cfggen, OpenSM, LLDP, FRR.
"""

# ruff: noqa: E501 (a line for each file is read faster)

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Config = dict[str, Any]
Files = dict[str, str]


@dataclass(frozen=True)
class Foreign:
    """`files` is path -> text; `commands` are tried, with DIR for the folder of the files."""

    name: str
    fact: str
    files: Files
    commands: tuple[str, ...] = ("validate DIR", "simulate deadlock DIR")


def _ports(count: int, **fields: str) -> Config:
    return {
        f"Ethernet{4 * n}": {
            "lanes": ",".join(str(4 * n + lane) for lane in range(1, 5)), "alias": f"fortyGigE0/{4 * n}",
            "speed": "100000", "admin_status": "up", "mtu": "9100", **fields,
        }
        for n in range(count)
    }  # fmt: skip


def _lab(name: str, count: int = 2, *, metadata: Config | None = None, **tables: Any) -> Config:
    """A switch of SONiC VS. Its number comes from its name."""
    number = sum(name.encode()) % 256
    loopback = {"LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|10.255.0.{number}/32": {}}}
    localhost = {
        "hostname": name, "hwsku": "Force10-S6000", "platform": "x86_64-kvm_x86_64-r0", "mac": f"02:00:00:00:00:{number:02x}",
        "type": "ToRRouter" if name.startswith("leaf") else "LeafRouter", "bgp_asn": "65001",
    }  # fmt: skip
    return {"DEVICE_METADATA": {"localhost": localhost | (metadata or {})}, "PORT": _ports(count)} | loopback | tables


def _routed(address: str, port: str = "Ethernet0") -> Config:
    return {port: {}, f"{port}|{address}": {}}


def _pair(leaf: Config | None = None, spine: Config | None = None, **extra: str) -> Files:
    """leaf1 and spine1, whose ports Ethernet0 share a /31."""
    switches = {
        "leaf1": _lab("leaf1", INTERFACE=_routed("10.0.0.0/31")) | (leaf or {}),
        "spine1": _lab("spine1", INTERFACE=_routed("10.0.0.1/31"), metadata={"bgp_asn": "65000"}) | (spine or {}),
    }
    return {f"{name}/config_db.json": json.dumps(one, indent=4) for name, one in switches.items()} | extra


def _sessions(asns: tuple[str, str] = ("65000", "65001")) -> tuple[Config, Config]:
    leaf = {"10.0.0.1": {"asn": asns[0], "local_addr": "10.0.0.0", "name": "spine1", "admin_status": "up"}}
    spine = {"10.0.0.0": {"asn": asns[1], "local_addr": "10.0.0.1", "name": "leaf1", "admin_status": "up"}}
    return {"BGP_NEIGHBOR": leaf}, {"BGP_NEIGHBOR": spine}


_PFC = {"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3,4"}, "Ethernet4": {"pfc_enable": "3,4"}}}
_LEAF, _SPINE = _sessions()
_SPLIT = {"docker_routing_config_mode": "split-unified"}


def _split(name: str, address: str, asn: str) -> Config:
    return _lab(name, INTERFACE=_routed(address), metadata=_SPLIT | {"bgp_asn": asn}) | _PFC


def _described(text: str) -> Config:
    ports = _ports(2)
    ports["Ethernet0"]["description"] = text
    return {"PORT": ports, "INTERFACE": {}}


def _lldp(far: str, port: str) -> str:
    return json.dumps({"lldp": {"interface": [{"Ethernet0": {
        "chassis": {far: {"id": {"type": "mac", "value": "02:00:00:00:00:09"}}},
        "port": {"id": {"type": "local", "value": port}},
    }}]}})  # fmt: skip


def _version(text: str) -> Config:
    return {"VERSIONS": {"DATABASE": {"VERSION": text}}}


_AVD = """\
hostname: {name}
metadata: {{platform: cEOS-LAB}}
router_bgp: {{as: "{asn}"}}
ethernet_interfaces:
- {{name: Ethernet1, ip_address: {address}, {open}peer: {far}, peer_interface: Ethernet1, peer_type: {kind}{close}}}
loopback_interfaces:
- {{name: Loopback0, ip_address: 10.255.0.{number}/32}}
"""


def _avd(*, is_six: bool) -> Files:
    braces = {"open": "metadata: {" if is_six else "", "close": "}" if is_six else ""}
    leaf = {"name": "leaf1", "asn": "65101", "address": "10.0.0.1/31", "far": "spine1", "kind": "spine", "number": 2}
    spine = {"name": "spine1", "asn": "65000", "address": "10.0.0.0/31", "far": "leaf1", "kind": "l3leaf", "number": 1}
    return {f"{one['name']}.yml": _AVD.format(**one, **braces) for one in (leaf, spine)}


_HEDGEHOG = """\
apiVersion: wiring.githedgehog.com/v1beta1
kind: Switch
metadata: {name: leaf-01}
spec: {role: server-leaf, profile: celestica-ds3000, asn: 65101, protocolIP: 172.30.8.2/32}
---
apiVersion: wiring.githedgehog.com/v1beta1
kind: Switch
metadata: {name: spine-01}
spec: {role: spine, profile: celestica-ds5000, asn: 65100, protocolIP: 172.30.8.1/32}
---
apiVersion: wiring.githedgehog.com/v1beta1
kind: Connection
metadata: {name: leaf-01--fabric--spine-01}
spec:
  fabric:
    links:
    - leaf: {ip: 172.30.128.1/31, port: leaf-01/E1/1}
      spine: {ip: 172.30.128.0/31, port: spine-01/E1/1}
"""
_FRR = "router bgp {asn}\n neighbor {peer} remote-as external\n"
_UNNUMBERED = "router bgp 65001\n neighbor Ethernet0 interface remote-as external\n"
_IMPORT = ("import {} DIR -o OUT", "check OUT")


def _dump(config: Config) -> Config:
    """TABLE|key -> fields, as redis-dump writes."""
    return {
        f"{table}|{key}": {"type": "hash", "value": row} for table, rows in config.items() for key, row in rows.items()
    }


def _changed(change: Callable[[Config], object]) -> Files:
    leaf = _lab("leaf1")
    change(leaf)
    return {"leaf1/config_db.json": json.dumps(leaf, indent=4)}


def _bare(sessions: Config) -> Config:
    """Sessions, and ports as SONiC VS completes them."""
    return sessions | {"PORT": {"Ethernet0": {"speed": "40000"}, "Ethernet4": {"alias": "fortyGigE0/4"}}}


_ADOPT = ("validate DIR", "import config-db DIR -o OUT", "check OUT")
CORPUS = (
    Foreign("vs-lab", "a lab of SONiC VS has sessions, and no DEVICE_NEIGHBOR and QoS", _pair(_LEAF, _SPINE)),
    Foreign("vs-lab-import", "Force10-S6000 has the ports of its file", _pair(_LEAF, _SPINE),
            tuple(text.format("config-db") for text in _IMPORT)),
    Foreign("no-hwsku", "sonic-cfggen writes files without a hwsku",
            _changed(lambda leaf: leaf["DEVICE_METADATA"]["localhost"].pop("hwsku")),
            tuple(text.format("config-db") for text in _IMPORT)),
    Foreign("lossless-without-links", "lossless ports and no word about cables: nothing is proved",
            {f"leaf{n}/config_db.json": json.dumps(_lab(f"leaf{n}") | _PFC) for n in (1, 2)}),
    Foreign("split-mode", "routes are in frr.conf: links are known, routes are not judged", {
        "leaf1/config_db.json": json.dumps(_split("leaf1", "10.0.0.0/29", "65001")),
        "spine1/config_db.json": json.dumps(_split("spine1", "10.0.0.1/29", "65000")),
        "leaf1/frr.conf": _FRR.format(asn=65001, peer="10.0.0.1"),
        "spine1/frr/bgpd.conf": _FRR.format(asn=65000, peer="10.0.0.0"),
    }, ("validate DIR", "simulate deadlock DIR", "import config-db DIR -o OUT", "check OUT")),
    Foreign("unnumbered-lldp", "an unnumbered session names its port only: LLDP has the cable", {
        "files/leaf1/config_db.json": json.dumps(_lab("leaf1", metadata=_SPLIT)),
        "files/leaf1/frr.conf": _UNNUMBERED,
        "files/spine1/config_db.json": json.dumps(_lab("spine1", metadata=_SPLIT | {"bgp_asn": "65000"})),
        "lldp/leaf1.json": _lldp("spine1", "fortyGigE0/4"),
    }, ("validate DIR/files --lldp DIR/lldp",)),
    Foreign("described-cables", "an owner describes ports as Device:Port", _pair(_described("[Spine1] Ethernet0"), {"INTERFACE": {}})),
    Foreign("contradiction", "a description that was not updated", _pair(
        {**_described("spine1:Ethernet4"), "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "spine1", "port": "Ethernet0"}}})),
    Foreign("static-routes", "a lab without BGP has next hops", _pair(
        {"INTERFACE": _routed("10.0.0.0/24"), "STATIC_ROUTE": {"10.9.0.0/16": {"nexthop": "10.0.0.1"}}},
        {"INTERFACE": _routed("10.0.0.1/24")})),
    Foreign("tenant-vrfs", "tenants have the same addresses in separate VRFs", _changed(lambda leaf: leaf.update(
        VRF={"Vrf1": {}, "Vrf2": {}},
        INTERFACE={"Ethernet0": {"vrf_name": "Vrf1"}, "Ethernet4": {"vrf_name": "Vrf2"},
                   "Ethernet0|10.1.0.1/24": {}, "Ethernet4|10.1.0.1/24": {}}))),
    Foreign("anycast-gateway", "each leaf has the gateway of a VLAN", {
        f"leaf{n}/config_db.json": json.dumps(_lab(f"leaf{n}", SAG={"GLOBAL": {"gateway_mac": "00:11:22:33:44:55"}},
            VLAN={"Vlan10": {"vlanid": "10"}},
            VLAN_INTERFACE={"Vlan10": {"static_anycast_gateway": "true"}, "Vlan10|10.1.0.1/24": {}}))
        for n in (1, 2)}),
    Foreign("separate-planes", "loose files of two planes share addresses", {
        f"plane{plane}-{role}/config_db.json": json.dumps(_lab(
            f"plane{plane}-{role}", INTERFACE=_routed(f"10.0.0.{n}/31"), metadata={"bgp_asn": f"6500{n}"},
            DEVICE_NEIGHBOR={"Ethernet0": {"name": f"plane{plane}-{far}", "port": "Ethernet0"}}))
        for plane in (1, 2) for n, (role, far) in enumerate((("leaf", "spine"), ("spine", "leaf")))}),
    Foreign("unknown-table-202411", "a vendor's table before 202505 is loaded", _changed(
        lambda leaf: leaf.update(VENDOR_THING={"a": {"b": "c"}}, **_version("version_202411_01")))),
    Foreign("unknown-table-202505", "the same file stops `config reload` of 202505", _changed(
        lambda leaf: leaf.update(VENDOR_THING={"a": {"b": "c"}}, **_version("version_202505_01")))),
    Foreign("loopback-in-interface", "orchestrators write Loopback0 into INTERFACE", _changed(lambda leaf: leaf.update(
        INTERFACE={"Loopback0": {}, "Loopback0|10.1.0.1/32": {}}, **_version("version_202411_01")))),
    Foreign("headroom-below-xon", "SONiC's own headroom rows can have xon above size", _changed(lambda leaf: leaf.update(
        BUFFER_POOL={"ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "10000000", "xoff": "200000"}},
        BUFFER_PROFILE={"pg_lossless_100000_40m_profile": {
            "pool": "ingress_lossless_pool", "size": "1248", "xon": "2288", "xoff": "66560", "dynamic_th": "-3"}},
        BUFFER_PG={"Ethernet0|3-4": {"profile": "pg_lossless_100000_40m_profile"}}, **_PFC))),
    Foreign("one-cause-on-many", "a generator writes one wrong word on all switches", {
        f"leaf{n}/config_db.json": json.dumps(_lab(f"leaf{n}", 8, PORT=_ports(8, fec="reed"))) for n in range(1, 13)}),
    Foreign("many-causes", "a file of 2018: more faults than a screen has lines", _changed(lambda leaf: leaf.update(
        {f"old_{n}": "x" for n in range(3)}, PORT={f"Ethernet{4 * n}": {"alias": f"e{n}"} for n in range(4)},
        VLAN={f"Vlan{n}": {"vlanid": n, "members": ["Ethernet0"], f"odd{n}": "x"} for n in range(10, 30)}))),
    Foreign("redis-dump", "a dump of Redis has keys, not tables", {"leaf1.json": json.dumps(_dump(_lab("leaf1")))}),
    Foreign("trailing-comma", "a file that a person edited", {"config_db.json": '{\n    "PORT": {\n        "Ethernet0": {},\n    }\n}\n'}),
    Foreign("numbers", "CONFIG_DB has text only: a number and its text are equal", _pair(leaf={}, spine={}) | {
        "new/leaf1/config_db.json": json.dumps(_lab("leaf1", INTERFACE=_routed("10.0.0.0/31"), metadata={"bgp_asn": 65001}))},
        ("diff DIR/leaf1 DIR/new/leaf1 --exit-code",)),
    Foreign("avd-5", "AVD 5 has the peer beside the port; cEOS is a lab", _avd(is_six=False), tuple(text.format("avd") for text in _IMPORT)),
    Foreign("avd-6", "AVD 6 has the peer in metadata", _avd(is_six=True), tuple(text.format("avd") for text in _IMPORT)),
    Foreign("hedgehog", "switch profiles of Hedgehog have ports and no headroom", {"wiring.yaml": _HEDGEHOG},
            tuple(text.format("hhfab") for text in _IMPORT)),
    Foreign("opensm-default", "`opensm -c` writes files that do not exist, and options that it does not read",
            {"opensm.conf": "routing_engine (null)\nqos FALSE\nqos_max_vls 0\nqos_policy_file /etc/opensm/qos-policy.conf\n"
             "partition_config_file /etc/opensm/partitions.conf\nsm_priority 0\nsubnet_prefix 0xfe80000000000000\n"},
            ("validate DIR",)),
    Foreign("ports-without-lanes", "docker-sonic-vs adds the lanes of its SKU at the start", _pair(_bare(_LEAF), _bare(_SPINE)), _ADOPT),
    Foreign("no-ports", "a file of services only, which `config load` adds to the running configuration", {
        "leaf1.json": json.dumps({"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}, "VLAN": {"Vlan7": {"vlanid": "7"}},
                                  "VLAN_MEMBER": {"Vlan7|Ethernet8": {"tagging_mode": "untagged"}}})}, _ADOPT),
    Foreign("no-hostname", "containerlab names the node; the file has neither hostname nor type", _changed(
        lambda leaf: [leaf["DEVICE_METADATA"]["localhost"].pop(name) for name in ("hostname", "type", "bgp_asn")]), _ADOPT),
    Foreign("file-of-containerlab", "the files of nodes are in config/ below the name of the node", {
        name.replace("/", "/config/"): text for name, text in _pair(_LEAF, _SPINE).items()}, ("validate DIR", "diff DIR DIR --exit-code")),
    Foreign("one-file-each", "a playbook has one file of any name for each switch, and frr.conf beside it", {
        **{name.replace("config_db", "startup"): text for name, text in _pair(_split("leaf1", "10.0.0.0/29", "65001"),
                                                                             _split("spine1", "10.0.0.1/29", "65000")).items()},
        "leaf1/frr.conf": _FRR.format(asn=65001, peer="10.0.0.1")}, ("simulate deadlock DIR",)),
    Foreign("repeated-planes", "planes of an AI fabric are copies of each other with the same addresses", {
        f"p{plane}-{role}/config_db.json": json.dumps(_lab(f"p{plane}-{role}", INTERFACE=_routed(f"10.0.0.{n}/31")))
        for plane in range(4) for n, role in enumerate(("leaf", "spine"))}, _ADOPT),
    Foreign("saved-by-202605", "a file with fields of a newer release than the default one", _changed(
        lambda leaf: leaf["DEVICE_METADATA"]["localhost"].update(has_sonic_dhcpv4_relay="True")), _ADOPT),
    Foreign("minigraph-era", "files of 2018 have members that are not tables, null, and no base rows", _changed(
        lambda leaf: leaf.update(platform="x86_64", LOOPBACK_INTERFACE={"Loopback0|10.1.0.1/32": {}},
                                 INTERFACE={"Ethernet0|10.0.0.0/31": {}}, DEVICE_NEIGHBOR={"Ethernet0": {"name": "ARISTA01T1", "port": "Ethernet1", "lo_addr": None}})), _ADOPT),
    Foreign("unknown-field-202411", "a release before 202505 ignores a field that it does not know", _changed(
        lambda leaf: leaf.update(**_version("version_202411_01"), NTP={"global": {"auth_enabled": "false"}}))),
    Foreign("unknown-field-202505", "202505 stops at the same field", _changed(
        lambda leaf: leaf.update(**_version("version_202505_01"), NTP={"global": {"auth_enabled": "false"}}))),
    Foreign("management-without-port", "labs have MGMT_INTERFACE and no MGMT_PORT", _changed(lambda leaf: leaf.update(
        MGMT_INTERFACE={"eth0|192.0.2.7/24": {"gwaddr": "192.0.2.1"}}, **_version("version_202411_01")))),
    Foreign("redistributed", "frrcfgd redistributes connected routes by a field that no model has", _changed(lambda leaf: (
        leaf["DEVICE_METADATA"]["localhost"].update(frr_mgmt_framework_config="true", docker_routing_config_mode="unified"),
        leaf.update(BGP_GLOBALS={"default": {"local_asn": "65001", "router_id": "10.255.0.201"}},
                    BGP_GLOBALS_AF={"default|ipv4_unicast": {"redistribute_connected": "true"}},
                    BGP_NEIGHBOR={"default|10.0.0.1": {"asn": "65000"}})))),
    Foreign("asn-of-frr", "with split, the ASN is that of frr.conf, and bgp_asn can be anything", _pair(
        _split("leaf1", "10.0.0.0/31", "65001"), _split("spine1", "10.0.0.1/31", "65001"),
        **{"leaf1/frr.conf": _FRR.format(asn=65011, peer="10.0.0.1"), "spine1/frr.conf": _FRR.format(asn=65010, peer="10.0.0.0")}),
        ("validate DIR",)),
    Foreign("no-sessions", "a switch without sessions needs no Loopback0", _changed(lambda leaf: leaf.pop("LOOPBACK_INTERFACE")),
            ("validate DIR",)),
    Foreign("name-twice", "an editor pasted a row a second time", {
        "config_db.json": '{\n    "VLAN": {\n        "Vlan7": {"vlanid": "7"},\n        "Vlan7": {"vlanid": "8"}\n    }\n}\n'}),
    Foreign("answer-of-gnmi", "a file by OpenConfig models has no table of CONFIG_DB", {
        "leaf1.json": json.dumps({"openconfig-interfaces:interfaces": {"interface": []}})}),
    Foreign("relay-of-frr", "with split, frr.conf can have the addresses and the route to the DHCP server", _pair(
        _split("leaf1", "10.0.0.0/31", "65001") | {
            "VLAN": {"Vlan10": {"vlanid": "10", "dhcp_servers": ["10.9.0.5"]}},
            "VLAN_INTERFACE": {"Vlan10": {}, "Vlan10|10.10.0.1/24": {}}},
        _split("spine1", "10.0.0.1/31", "65000")), ("validate DIR",)),
    Foreign("chassis", "line cards of a virtual chassis share an in-band port and have pools of each direction", {
        f"card{n}/config_db.json": json.dumps(_lab(f"card{n}", metadata={"switch_type": "voq", "switch_id": f"{n}"},
            VOQ_INBAND_INTERFACE={"Ethernet4": {"inband_type": "port"}, f"Ethernet4|10.3.0.{n + 1}/24": {}},
            DEVICE_NEIGHBOR={"Ethernet4": {"name": f"card{1 - n}", "port": "Ethernet4"}},
            BUFFER_POOL={"ingress_lossless_pool": {"mode": "dynamic", "size": "1000000", "type": "ingress"}}))
        for n in range(2)}, ("validate DIR",)),
    Foreign("ospf", "OSPF of frrcfgd makes the routes", _pair(*(
        {"OSPFV2_ROUTER": {"default": {"enable": "true"}}} for _ in range(2))), ("validate DIR",)),
    Foreign("yaml", "Ansible's variables have the tables as YAML", {"leaf1.json": "PORT:\n  Ethernet0:\n    lanes: '1'\n"}),
)  # fmt: skip
