"""Bad cases of the rules in fabricgen/rules/bgp/evpn.py, on a small rendered fabric with EVPN."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.rules.case import ERROR, Case, HostFiles

EVPN = """
fabricgen: 1
fabric: rented
sonic: {release: 202511}
hosts:
  gpu: {model: hgx-h100, count: 4}
tenants:
  blue: {hosts: [gpu/0, gpu/2], vni: 5001}
  red: {hosts: [gpu/1, gpu/3], vni: 5002}
planes:
  compute:
    design: explicit
    isolation: evpn
    bgp: unnumbered
    hosts: [gpu]
    leaf: {platform: arista-7060x6-64pe}
    spine: {platform: arista-7060x6-64pe}
    speed: 400G
    leaves: [{name: leaf1, rail: 0}, {name: leaf2, rail: 0}]
    spines: [{name: spine1}]
    links:
      - [gpu/0:rail0, leaf1:Ethernet0]
      - [gpu/1:rail0, leaf1:Ethernet4]
      - [gpu/2:rail0, leaf2:Ethernet0]
      - [gpu/3:rail0, leaf2:Ethernet4]
      - [leaf1:Ethernet32, spine1:Ethernet0]
      - [leaf2:Ethernet32, spine1:Ethernet4]
    addressing: {loopbacks: 10.0.0.0/16, links: 10.128.0.0/10, hosts: 10.64.0.0/10}
management: {addresses: 10.255.0.0/20, gateway: 10.255.0.1}
"""


@dataclass(frozen=True)
class Tables:
    """Changes the tables of a switch; `words` say what it does."""

    switch: str
    words: str
    change: Callable[[Any], object]

    def __call__(self, group: Path) -> None:
        file = group.parents[1] / "sonic" / self.switch / "config_db.json"
        config = json.loads(file.read_text())
        self.change(config)
        file.write_text(json.dumps(config, indent=4))

    def __str__(self) -> str:
        return f"{self.switch}: {self.words}"


def without_frr_conf(group: Path) -> None:
    """leaf1 has no frr.conf."""
    (group.parents[1] / "sonic/leaf1/frr.conf").unlink()


def other_vni(group: Path) -> None:
    """frr.conf of leaf1 has the VNI 5002 for Vrf_blue."""
    file = group.parents[1] / "sonic/leaf1/frr.conf"
    file.write_text(file.read_text().replace("vni 5001", "vni 5002"))


def shorter(group: Path) -> None:
    """frr.conf of leaf1 ends early."""
    file = group.parents[1] / "sonic/leaf1/frr.conf"
    file.write_text("\n".join(file.read_text().splitlines()[:5]) + "\n")


def _case(code: str, change: Callable[[Any], object], path: str, message: str, hint: str) -> Case:
    return Case(code, change, path, ERROR, message, hint, clean=HostFiles(EVPN), lenient=True)


CASES = [
    _case(
        "FG656",
        without_frr_conf,
        "leaf1:DEVICE_METADATA|localhost|docker_routing_config_mode",
        "FRR reads frr.conf, and the folder of the switch has none",
        "render the bundle again, or copy the file of the switch beside config_db.json",
    ),
    _case(
        "FG656",
        other_vni,
        "leaf1:DEVICE_METADATA|localhost|docker_routing_config_mode",
        "line 6 of frr.conf is `vni 5002`, and the tables mean `vni 5001`",
        "change the tables, and write the file from them by `fabricgen render`",
    ),
    _case(
        "FG656",
        shorter,
        "leaf1:DEVICE_METADATA|localhost|docker_routing_config_mode",
        "line 6 of frr.conf is `the end of the file`, and the tables mean `vni 5001`",
        "change the tables, and write the file from them by `fabricgen render`",
    ),
    _case(
        "FG657",
        Tables(
            "leaf2",
            "src_ip of the tunnel is that of leaf1",
            lambda c: c["VXLAN_TUNNEL"]["vtep"].update(src_ip="10.0.0.1"),
        ),
        "leaf2:VXLAN_TUNNEL|vtep|src_ip",
        "src_ip 10.0.0.1 is that of leaf1, too",
        "set src_ip to the address of Loopback0",
    ),
    _case(
        "FG658",
        Tables("leaf1", "Vrf_red has vni 5001", lambda c: c["VRF"]["Vrf_red"].update(vni="5001")),
        "leaf1:VRF|Vrf_red|vni",
        "VNI 5001 is that of Vrf_blue, too",
        "give each VRF its own VNI",
    ),
    _case(
        "FG658",
        Tables("leaf1", "VXLAN_EVPN_NVO is missing", lambda c: c.pop("VXLAN_EVPN_NVO")),
        "leaf1:VRF|Vrf_blue|vni",
        "no tunnel with a source address is in VXLAN_EVPN_NVO",
        "add VXLAN_TUNNEL with src_ip, and VXLAN_EVPN_NVO with this source_vtep",
    ),
    _case(
        "FG658",
        Tables("leaf1", "VXLAN_TUNNEL_MAP is missing", lambda c: c.pop("VXLAN_TUNNEL_MAP")),
        "leaf1:VRF|Vrf_blue|vni",
        "VXLAN_TUNNEL_MAP does not map VNI 5001 to a VLAN of the switch",
        "add VXLAN_TUNNEL_MAP|vtep|map_5001_VlanN and the VLAN",
    ),
    _case(
        "FG658",
        Tables("leaf1", "Vlan3001 is in Vrf_red", lambda c: c["VLAN_INTERFACE"]["Vlan3001"].update(vrf_name="Vrf_red")),
        "leaf1:VLAN_INTERFACE|Vlan3001|vrf_name",
        "the VLAN of VNI 5001 is in Vrf_red, expected Vrf_blue",
        "set vrf_name to Vrf_blue",
    ),
    _case(
        "FG675",
        Tables("leaf1", "VLAN|Vlan3001 is missing", lambda c: c["VLAN"].pop("Vlan3001")),
        "leaf1:VXLAN_TUNNEL_MAP|vtep|map_5001_Vlan3001",
        "the switch has no Vlan3001",
        "add VLAN|Vlan3001",
    ),
    _case(
        "FG675",
        Tables(
            "leaf1",
            "a second row maps Vlan3001",
            lambda c: c["VXLAN_TUNNEL_MAP"].update({"vtep|map_7001_Vlan3001": {"vlan": "Vlan3001", "vni": "7001"}}),
        ),
        "leaf1:VXLAN_TUNNEL_MAP|vtep|map_7001_Vlan3001",
        "another row maps this VLAN, too",
        "remove one of the rows",
    ),
    _case(
        "FG675",
        Tables("leaf1", "Vrf_blue has no vni", lambda c: c["VRF"]["Vrf_blue"].pop("vni")),
        "leaf1:VRF|Vrf_blue",
        "Vlan3001 of VNI 5001 is in Vrf_blue, which has no vni",
        "set vni to 5001",
    ),
    _case(
        "FG676",
        Tables("leaf1", "a second tunnel", lambda c: c["VXLAN_TUNNEL"].update(vtep2=dict(c["VXLAN_TUNNEL"]["vtep"]))),
        "leaf1:VXLAN_TUNNEL|vtep2|src_ip",
        "src_ip 10.0.0.1 is that of VXLAN_TUNNEL|vtep, too",
        "remove the tunnel that VXLAN_EVPN_NVO does not name",
    ),
    _case(
        "FG660",
        Tables("leaf2", "Vrf_blue has vni 5009", lambda c: c["VRF"]["Vrf_blue"].update(vni="5009")),
        "leaf2:VRF|Vrf_blue|vni",
        "vni is 5009, and 5001 on most switches with this VRF",
        "set vni to 5001",
    ),
    _case(
        "FG659",
        Tables("spine1", "mtu of Ethernet0 is 9099", lambda c: c["PORT"]["Ethernet0"].update(mtu="9099")),
        "hosts/gpu:netplan/gpu-000.yaml|ethernets.rail0.mtu",
        "the MTU of the host and 50 bytes of VXLAN are 9100, but a port has 9099",
        "set mtu to 9049",
    ),
]
