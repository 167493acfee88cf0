"""Bad cases of the rules in fabricgen/rules/addresses/usids.py, on a small rendered fabric with SRv6."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fabricgen.bundle.manifest import Manifest
from fabricgen.findings import Severity
from fabricgen.sonic.releases import MASTER
from tests.rules.bgp.evpn_cases import Tables
from tests.rules.case import ERROR, WARNING, Case, GoodCase, HostFiles

SRV6 = """
fabricgen: 1
fabric: sprayed
sonic: {release: 202511}
hosts:
  gpu: {model: hgx-h100, count: 2}
planes:
  compute:
    design: explicit
    srv6: fcbb:bb00::/32
    hosts: [gpu]
    leaf: {platform: arista-7060x6-64pe}
    spine: {platform: arista-7060x6-64pe}
    speed: 400G
    leaves: [{name: leaf1, rail: 0}, {name: leaf2, rail: 0}]
    spines: [{name: spine1}, {name: spine2}]
    links:
      - [gpu/0:rail0, leaf1:Ethernet0]
      - [gpu/1:rail0, leaf2:Ethernet0]
      - [leaf1:Ethernet32, spine1:Ethernet0]
      - [leaf1:Ethernet40, spine2:Ethernet0]
      - [leaf2:Ethernet32, spine1:Ethernet4]
      - [leaf2:Ethernet40, spine2:Ethernet4]
    addressing:
      loopbacks: [10.0.0.0/16, "fd00::/64"]
      links: [10.128.0.0/10, "fd00:0:0:1::/64"]
      hosts: [10.64.0.0/10, "fd00:0:0:2::/64"]
management: {addresses: 10.255.0.0/20, gateway: 10.255.0.1}
"""
# spine1 has the uSID 3, spine2 has 4, leaf1 has 1, leaf2 has 2.
TO_SPINE1, TO_SPINE2, TO_HOST = (f"default|fcbb:bb00:{usid}::/48" for usid in ("3", "4", "e000"))


def _case(
    code: str, change: Callable[[Any], object], path: str, message: str, hint: str, severity: Severity = ERROR
) -> Case:
    return Case(code, change, path, severity, message, hint, clean=HostFiles(SRV6), lenient=True)


def _route(words: str, key: str, **fields: str) -> Tables:
    return Tables("leaf1", words, lambda c: c["STATIC_ROUTE"][key].update(fields))


def on_master(action: str) -> Callable[[Path], None]:
    """leaf1 of the master branch has the SID fcbb:bb00:f001::/48 with an action, which is outside of its locator."""

    def change(group: Path) -> None:
        root = group.parents[1]
        manifest = Manifest("sprayed", 1, "", {}, MASTER)
        (root / "manifest.json").write_bytes(manifest.dump())
        row = {"action": action, "decap_dscp_mode": "pipe", "interface": "Ethernet32"}
        Tables("leaf1", "", lambda c: c["SRV6_MY_SIDS"].update({"MAIN|fcbb:bb00:f001::/48": row}))(group)

    return change


def small_link(group: Path) -> None:
    """The ports of the link from leaf1 to spine1 have an mtu of 4200."""
    for switch, port in (("leaf1", "Ethernet32"), ("spine1", "Ethernet0")):
        Tables(switch, "", lambda c, port=port: c["PORT"][port].update(mtu="4200"))(group)  # type: ignore[misc]


CASES = [
    _case(
        "FG288",
        on_master("uN"),
        "leaf1:SRV6_MY_SIDS|MAIN|fcbb:bb00:f001::/48",
        "the SID is outside of locator MAIN, fcbb:bb00:1::/48",
        "take a SID inside of fcbb:bb00:1::/48",
    ),
    _case(
        "FG288",
        Tables(
            "leaf1", "the SID has 64 bits",
            lambda c: c["SRV6_MY_SIDS"].update({"MAIN|fcbb:bb00:1::/64": c["SRV6_MY_SIDS"].popitem()[1]}),
        ),
        "leaf1:SRV6_MY_SIDS|MAIN|fcbb:bb00:1::/64",
        "the SID has 64 bits, and its locator fcbb:bb00:1::/48 has 48",
        "use fcbb:bb00:1::/48",
    ),
    _case(
        "FG288",
        Tables("leaf1", "a local uSID", lambda c: c["SRV6_MY_LOCATORS"]["MAIN"].update(prefix="fcbb:bb00:e001::")),
        "leaf1:SRV6_MY_LOCATORS|MAIN|prefix",
        "the uSID of fcbb:bb00:e001::/48 is in the range of uSIDs that one switch has for itself",
        "use a uSID below 0xe000",
    ),
    _case(
        "FG747",
        _route("the route to spine1 leads to spine2", TO_SPINE1, nexthop="fd00:0:0:1::3", ifname="Ethernet40"),
        f"leaf1:STATIC_ROUTE|{TO_SPINE1}",
        "Ethernet40 leads to spine2, which drops the packet: spine1 has the SID fcbb:bb00:3::/48",
        "use the next hop of one link to spine1, and its port",
    ),
    _case(
        "FG747",
        _route("two next hops", TO_SPINE1, nexthop="fd00:0:0:1::1,fd00:0:0:1::3", ifname="Ethernet32,Ethernet40"),
        f"leaf1:STATIC_ROUTE|{TO_SPINE1}",
        "the route has 2 next hops, so the switch hashes",
        "use the next hop of one link to spine1, and its port",
        WARNING,
    ),
    _case(
        "FG747",
        _route("an unknown address", TO_SPINE1, nexthop="fd00:0:0:1::99"),
        f"leaf1:STATIC_ROUTE|{TO_SPINE1}",
        "fd00:0:0:1::99 is not an address of spine1 Ethernet0, to which Ethernet32 leads",
        "use the next hop of one link to spine1, and its port",
    ),
    _case(
        "FG747",
        Tables(
            "leaf1", "leaf2 over spine1, which has a route to it",
            lambda c: c["STATIC_ROUTE"].update(
                {
                    "default|fcbb:bb00:2::/48": {
                        "nexthop": "fd00:0:0:1::1", "ifname": "Ethernet32", "advertise": "false"
                    }
                }
            ),
        ),
        "leaf1:STATIC_ROUTE|default|fcbb:bb00:2::/48",
        "Ethernet32 leads to spine1, which sends the packet on, over links that the list does not name: leaf2 has the "
        "SID fcbb:bb00:2::/48",
        "use the next hop of one link to leaf2, and its port",
        WARNING,
    ),
    _case(
        "FG748",
        Tables("leaf1", "no advertise", lambda c: c["STATIC_ROUTE"][TO_SPINE1].pop("advertise")),
        f"leaf1:STATIC_ROUTE|{TO_SPINE1}|advertise",
        "BGP announces fcbb:bb00:3::/48, so neighbors have two ways to the uSID",
        'set advertise to "false"',
    ),
    _case(
        "FG748",
        Tables(
            "leaf1", "an address in the block",
            lambda c: c["LOOPBACK_INTERFACE"].update({"Loopback0|fcbb:bb00:3:9::1/128": {}}),
        ),
        "leaf1:LOOPBACK_INTERFACE|Loopback0|fcbb:bb00:3:9::1/128",
        "fcbb:bb00:3:9::1 is inside the block fcbb:bb00::/32 of uSIDs",
        "use an address outside of the block",
    ),
    _case(
        "FG935",
        Tables("spine1", "mtu of Ethernet0 is 9099", lambda c: c["PORT"]["Ethernet0"].update(mtu="9099")),
        "hosts/gpu:netplan/gpu-000.yaml|ethernets.rail0.mtu",
        "the MTU of the host and 40 bytes of SRv6 are 9100, but a port has 9099",
        "set mtu to 9059",
    ),
    _case(
        "FG935",
        small_link,
        "leaf1:PORT|Ethernet32|mtu",
        "RoCE packets and the outer header have 4232 bytes, but the port has 4200",
        "set mtu to 4232 or more, or use a smaller `roce_mtu`",
    ),
]  # fmt: skip

GOOD = [
    GoodCase("FG288", on_master("uA"), also=("FG254", "FG255", "FG256", "FG258"), clean=HostFiles(SRV6)),
    GoodCase(
        "FG747",
        Tables(
            "leaf1", "a discard route of the block",
            lambda c: c["STATIC_ROUTE"].update(
                {"default|fcbb:bb00::/32": {"blackhole": "true", "advertise": "false", "distance": "250"}}
            ),
        ),
        also=("FG255", "FG594"), clean=HostFiles(SRV6),
    ),
]  # fmt: skip
