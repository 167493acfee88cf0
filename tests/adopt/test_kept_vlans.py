"""VLANs and port channels of other tools' files: the inventory renders their rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli

TABLES = ("VLAN", "VLAN_INTERFACE", "VLAN_MEMBER", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "PORTCHANNEL_INTERFACE")
TAGGED, UNTAGGED = {"tagging_mode": "tagged"}, {"tagging_mode": "untagged"}

# The keys of AVD 5: eos_cli_config_gen, ethernet_interfaces, port_channel_interfaces, vlan_interfaces.
AVD = """\
hostname: leaf1
metadata: {platform: DCS-7060X6-64PE}
router_bgp: {as: '65101'}
loopback_interfaces: [{name: Loopback0, ip_address: 10.255.0.3/32}]
vlans: [{id: 10, name: gpus}, {id: 20, name: bmc}]
vlan_interfaces: [{name: Vlan10, ip_address: 192.168.10.1/24}, {name: Vlan20, vrf: bmc, ip_address: 192.168.20.1/24}]
ethernet_interfaces:
- {name: Ethernet1/1, peer: gpu1, peer_interface: nic0, peer_type: server, channel_group: {id: 11, mode: active}}
- {name: Ethernet2/1, peer: gpu1, peer_interface: nic1, peer_type: server, channel_group: {id: 11, mode: active}}
- {name: Ethernet3/1, peer: gpu2, peer_interface: nic0, peer_type: server,
   switchport: {enabled: true, mode: trunk, trunk: {allowed_vlan: '10,20', native_vlan: 10}}}
port_channel_interfaces:
- {name: Port-Channel11, switchport: {enabled: true, mode: access, access_vlan: 10}}
"""
OLD_AVD = AVD.replace(
    "switchport: {enabled: true, mode: access, access_vlan: 10}", "type: switched, mode: access, vlans: '10'"
)
OLD_AVD = OLD_AVD.replace(
    "switchport: {enabled: true, mode: trunk, trunk: {allowed_vlan: '10,20', native_vlan: 10}}",
    "type: switched, mode: trunk, vlans: '10,20', native_vlan: 10",
)
# The keys of eos_designs.
DESIGN = """\
fabric_name: x
l3leaf:
  defaults: {platform: DCS-7060X6-64PE, loopback_ipv4_pool: 10.255.0.0/24}
  nodes: [{name: leaf1, id: 3, bgp_as: '65101'}]
servers:
- name: gpu1
  adapters:
  - {endpoint_ports: [nic0, nic1], switch_ports: [Ethernet1/1, Ethernet2/1], switches: [leaf1, leaf1], mode: access,
     vlans: '10', port_channel: {mode: active}}
- name: gpu2
  adapters:
  - {endpoint_ports: [nic0], switch_ports: [Ethernet3/1], switches: [leaf1], mode: trunk, vlans: '10,20',
     native_vlan: 10}
"""
# githedgehog/fabric 006069c api/wiring/v1beta1 and api/vpc/v1beta1.
HHFAB = """\
apiVersion: wiring.githedgehog.com/v1beta1
kind: Switch
metadata: {name: leaf1}
spec: {role: server-leaf, profile: edgecore-dcs501, asn: 65101, protocolIP: 10.255.0.3/32}
---
apiVersion: wiring.githedgehog.com/v1beta1
kind: Connection
metadata: {name: gpu1--bundled--leaf1}
spec: {bundled: {links: [
  {server: {port: gpu1/nic0}, switch: {port: leaf1/E1/1}}, {server: {port: gpu1/nic1}, switch: {port: leaf1/E1/2}}]}}
---
apiVersion: wiring.githedgehog.com/v1beta1
kind: Connection
metadata: {name: gpu2--unbundled--leaf1}
spec: {unbundled: {link: {server: {port: gpu2/nic0}, switch: {port: leaf1/E1/3}}}}
---
apiVersion: vpc.githedgehog.com/v1beta1
kind: VPC
metadata: {name: vpc-1}
spec: {subnets: {gpus: {subnet: 192.168.10.0/24, vlan: 10}, bmc: {subnet: 192.168.20.0/24, vlan: 20}}}
---
apiVersion: vpc.githedgehog.com/v1beta1
kind: VPCAttachment
metadata: {name: one}
spec: {connection: gpu1--bundled--leaf1, subnet: vpc-1/gpus, nativeVLAN: true}
---
apiVersion: vpc.githedgehog.com/v1beta1
kind: VPCAttachment
metadata: {name: two}
spec: {connection: gpu2--unbundled--leaf1, subnet: vpc-1/bmc}
"""
# As sonic-buildimage src/sonic-config-engine/tests/sample-mellanox-4600c-t0-minigraph.xml.
MINIGRAPH = """\
<DeviceMiniGraph>
  <CpgDec><Routers><BGPRouterDeclaration><ASN>65101</ASN><Hostname>leaf1</Hostname></BGPRouterDeclaration></Routers></CpgDec>
  <DpgDec><DeviceDataPlaneInfo>
    <LoopbackIPInterfaces><LoopbackIPInterface><AttachTo>Loopback0</AttachTo><Prefix><IPPrefix>10.255.0.3/32</IPPrefix></Prefix>
    </LoopbackIPInterface></LoopbackIPInterfaces>
    <PortChannelInterfaces>
      <PortChannel><Name>PortChannel101</Name><AttachTo>etp2</AttachTo></PortChannel>
    </PortChannelInterfaces>
    <VlanInterfaces>
      <VlanInterface><Name>Vlan10</Name><AttachTo>etp3;etp4</AttachTo><VlanID>10</VlanID><DhcpRelays>192.0.2.1;192.0.2.2</DhcpRelays>
      </VlanInterface>
      <VlanInterface><Name>Vlan20</Name><AttachTo>etp4</AttachTo><VlanID>20</VlanID><Type>Tagged</Type></VlanInterface>
    </VlanInterfaces>
    <IPInterfaces>
      <IPInterface><AttachTo>PortChannel101</AttachTo><Prefix>10.0.0.56/31</Prefix></IPInterface>
      <IPInterface><AttachTo>Vlan10</AttachTo><Prefix>192.168.10.1/24</Prefix></IPInterface>
    </IPInterfaces>
  </DeviceDataPlaneInfo></DpgDec>
  <PngDec><Devices>
    <Device type="ToRRouter"><Hostname>leaf1</Hostname><HwSku>Mellanox-SN4600C-C64</HwSku></Device>
  </Devices></PngDec>
  <DeviceInfos><DeviceInfo><EthernetInterfaces>
    <EthernetInterface><InterfaceName>etp2</InterfaceName><Speed>100000</Speed></EthernetInterface>
    <EthernetInterface><InterfaceName>etp3</InterfaceName><Speed>100000</Speed></EthernetInterface>
    <EthernetInterface><InterfaceName>etp4</InterfaceName><Speed>100000</Speed></EthernetInterface>
  </EthernetInterfaces></DeviceInfo></DeviceInfos>
  <Hostname>leaf1</Hostname><HwSku>Mellanox-SN4600C-C64</HwSku>
</DeviceMiniGraph>
"""
TRUNK = {"Vlan10|Ethernet16": UNTAGGED, "Vlan20|Ethernet16": TAGGED}


def taken(cli: Cli, folder: Path, kind: str, file: str, text: str) -> tuple[dict[str, Any], str]:
    (folder / file).write_text(text)
    outcome = cli("import", kind, folder / file, "--output", folder / "taken")
    assert outcome.code == 0, outcome.out + outcome.err
    assert cli("render", folder / "taken", "--output", folder / "out", "-q").code == 0
    config = json.loads((folder / "out" / "sonic" / "leaf1" / "config_db.json").read_text())
    return {table: config.get(table, {}) for table in (*TABLES, "INTERFACE")}, outcome.err


@pytest.mark.parametrize(
    ("text", "channel"), [(AVD, "PortChannel11"), (OLD_AVD, "PortChannel11"), (DESIGN, "PortChannel11")]
)
def test_avd(cli: Cli, tmp_path: Path, text: str, channel: str) -> None:
    found, notes = taken(cli, tmp_path, "avd", "leaf1.yml", text)
    assert found["VLAN_MEMBER"] == {f"Vlan10|{channel}": UNTAGGED, **TRUNK}
    assert list(found["PORTCHANNEL_MEMBER"]) == [f"{channel}|Ethernet0", f"{channel}|Ethernet8"]
    assert {row["vlanid"] for row in found["VLAN"].values()} == {"10", "20"}
    if text is not DESIGN:
        assert list(found["VLAN_INTERFACE"]) == ["Vlan10", "Vlan10|192.168.10.1/24"]
        assert "the address of a VLAN in a VRF" in notes
    assert not found["INTERFACE"] and "ports of hosts are in VLANs" in notes


def test_hhfab(cli: Cli, tmp_path: Path) -> None:
    found, notes = taken(cli, tmp_path, "hhfab", "wiring.yaml", HHFAB)
    (channel,) = found["PORTCHANNEL"]
    assert len(found["PORTCHANNEL_MEMBER"]) == 2
    assert found["VLAN_MEMBER"].pop(f"Vlan10|{channel}") == UNTAGGED
    assert list(found["VLAN_MEMBER"].values()) == [TAGGED] and list(found["VLAN"]) == ["Vlan10", "Vlan20"]
    assert not found["VLAN_INTERFACE"] and "the gateway of a subnet of a VPC" in notes


def test_minigraph(cli: Cli, tmp_path: Path) -> None:
    found, _ = taken(cli, tmp_path, "minigraph", "minigraph.xml", MINIGRAPH)
    assert found["VLAN_MEMBER"] == {
        "Vlan10|Ethernet8": UNTAGGED,
        "Vlan10|Ethernet12": UNTAGGED,
        "Vlan20|Ethernet12": TAGGED,
    }
    assert found["VLAN"]["Vlan10"]["dhcp_servers"] == ["192.0.2.1", "192.0.2.2"]
    assert list(found["VLAN_INTERFACE"]) == ["Vlan10", "Vlan10|192.168.10.1/24"]
    assert list(found["PORTCHANNEL_MEMBER"]) == ["PortChannel101|Ethernet4"]
    assert list(found["PORTCHANNEL_INTERFACE"]) == ["PortChannel101", "PortChannel101|10.0.0.56/31"]
