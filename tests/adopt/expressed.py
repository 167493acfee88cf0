"""A rendered bundle in the words of other tools: Arista AVD, Hedgehog, minigraph. For round trips."""

from collections import defaultdict
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import yaml

from fabricgen.bundle.read import Bundle
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.model import PlatformPort

Files = dict[str, str]
_TYPES = {"leaf": "l3leaf", "spine": "spine", "core": "super_spine"}


def panel(bundle: Bundle, name: str, port: str) -> PlatformPort:
    wired = bundle.devices[name].wired
    assert wired
    platform = switch_platform(wired.platform)
    assert platform
    return next(each for layout in platform.layouts if layout.name == wired.layout for each in layout.ports
                if each.name == port)  # fmt: skip


def addresses(bundle: Bundle, name: str, port: str) -> list[str]:
    found = [key.partition("|") for key in bundle.devices[name].table("INTERFACE")]
    return [address for interface, _, address in found if interface == port and address]


def facts(bundle: Bundle, name: str) -> dict[str, Any]:
    device = bundle.devices[name]
    management = [key.partition("|")[2] for key in device.table("MGMT_INTERFACE")]
    return {
        "asn": device.text_of("DEVICE_METADATA", "localhost", "bgp_asn"),
        "hwsku": device.text_of("DEVICE_METADATA", "localhost", "hwsku"),
        "type": device.text_of("DEVICE_METADATA", "localhost", "type"),
        "loopback": next(key.partition("|")[2] for key in device.table("LOOPBACK_INTERFACE") if "|" in key),
        "management": management[0] if management else "",
        "gateway": device.text_of("MGMT_INTERFACE", f"eth0|{management[0]}", "gwaddr") if management else "",
        "role": device.wired.role if device.wired else "",
    }


def as_avd(bundle: Bundle) -> Files:
    """Structured configurations: AVD 5 writes lists with `name`."""

    def eos(name: str, port: str) -> str:
        at = panel(bundle, name, port)
        return f"Ethernet{at.index}/{(at.subport - 1) * len(at.lanes) + 1 if at.subport else 1}"

    files: dict[str, Any] = {}
    for name in bundle.devices:
        known = facts(bundle, name)
        files[name] = {
            "hostname": name,
            "metadata": {"platform": "7060X6-64PE"},
            "router_bgp": {"as": known["asn"], "router_id": known["loopback"].split("/")[0]},
            "loopback_interfaces": [
                {"name": "Loopback0", "ip_address": known["loopback"]},
                {"name": "Loopback1", "description": "VTEP", "ip_address": "192.0.2.1/32"},
            ],
            "management_interfaces": [
                {"name": "Management1", "ip_address": known["management"], "gateway": known["gateway"]}
            ],
            "vlans": [{"id": 11, "name": "storage"}],
            "ethernet_interfaces": [],
        }
    for link in bundle.links:
        for (name, port), (far, far_port) in ((link.a, link.b), (link.b, link.a)):
            if name not in files:
                continue
            is_switch = far in files
            own = addresses(bundle, name, port) if is_switch else []
            files[name]["ethernet_interfaces"].append(
                {
                    "name": eos(name, port),
                    "peer": far,
                    "peer_interface": eos(far, far_port) if is_switch else far_port,
                    "peer_type": _TYPES[facts(bundle, far)["role"]] if is_switch else "server",
                    "speed": "forced 400gfull",
                    **({"ip_address": own[0]} if own else {}),
                }
            )
    return {f"{name}.yml": yaml.safe_dump(tree, sort_keys=False) for name, tree in files.items()}


def as_hhfab(bundle: Bundle, profile: str) -> Files:
    """One wiring.yaml."""
    objects: list[dict[str, Any]] = []

    def add(kind: str, name: str, spec: dict[str, Any]) -> None:
        objects.append({"apiVersion": "wiring.githedgehog.com/v1beta1", "kind": kind,
                        "metadata": {"name": name, "namespace": "default"}, "spec": spec})  # fmt: skip

    def at(name: str, port: str) -> str:
        place = panel(bundle, name, port)
        return f"{name}/E1/{place.index}" + (f"/{place.subport}" if place.subport else "")

    cages: dict[str, dict[str, str]] = defaultdict(dict)
    for link in bundle.links:
        for name, port in (link.a, link.b):
            if name in bundle.devices and (place := panel(bundle, name, port)).subport:
                cages[name][f"E1/{place.index}"] = "2x400G"
    add("VLANNamespace", "default", {"ranges": [{"from": 1000, "to": 2999}]})
    for name in bundle.devices:
        known = facts(bundle, name)
        add("Switch", name, {
            "role": {"leaf": "server-leaf"}.get(known["role"], "spine"), "profile": profile, "asn": int(known["asn"]),
            "protocolIP": known["loopback"], "vtepIP": "192.0.2.1/32", "ip": known["management"], "roce": True,
            "boot": {"serial": f"SN-{name}"}, "portBreakouts": cages[name],
        })  # fmt: skip
    for number, link in enumerate(bundle.links):
        (near, port), (far, far_port) = link.a, link.b
        if near in bundle.devices:
            leaf, spine = ({"port": at(*end), "ip": addresses(bundle, *end)[0]} for end in (link.a, link.b))
            add("Connection", f"c{number}--fabric", {"fabric": {"links": [{"leaf": leaf, "spine": spine}]}})
            continue
        ends = {"server": {"port": f"{near}/{port}"}, "switch": {"port": at(far, far_port)}}
        add("Connection", f"c{number}--unbundled", {"unbundled": {"link": ends}})
    for host in dict.fromkeys(link.a[0] for link in bundle.host_links):
        add("Server", host, {})
    return {"wiring.yaml": yaml.safe_dump_all(objects, sort_keys=False)}


_MINIGRAPH = """\
<DeviceMiniGraph xmlns="Microsoft.Search.Autopilot.Evolution" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"
  xmlns:a="http://schemas.datacontract.org/2004/07/Microsoft.Search.Autopilot.Evolution">
  <CpgDec><PeeringSessions/><Routers><a:BGPRouterDeclaration>
    <a:ASN>{asn}</a:ASN><a:Hostname>{name}</a:Hostname></a:BGPRouterDeclaration></Routers></CpgDec>
  <DpgDec><DeviceDataPlaneInfo>
    <LoopbackIPInterfaces><a:LoopbackIPInterface><Name>HostIP</Name><AttachTo>Loopback0</AttachTo>
      <a:PrefixStr>{loopback}</a:PrefixStr></a:LoopbackIPInterface></LoopbackIPInterfaces>
    <ManagementIPInterfaces><a:ManagementIPInterface><Name>HostIP</Name><AttachTo>eth0</AttachTo>
      <a:PrefixStr>{management}</a:PrefixStr></a:ManagementIPInterface></ManagementIPInterfaces>
    <IPInterfaces>{interfaces}</IPInterfaces>
    <PortChannelInterfaces><PortChannel><Name>PortChannel1</Name></PortChannel></PortChannelInterfaces>
  </DeviceDataPlaneInfo></DpgDec>
  <PngDec>
    <DeviceInterfaceLinks>{links}</DeviceInterfaceLinks>
    <Devices>{devices}</Devices>
  </PngDec>
  <Hostname>{name}</Hostname><HwSku>{hwsku}</HwSku>
</DeviceMiniGraph>
"""


def as_minigraphs(bundle: Bundle) -> Files:
    """A file for each switch, with its links and the devices at their ends; ports by alias."""

    def alias(name: str, port: str) -> str:
        return bundle.devices[name].text_of("PORT", port, "alias") if name in bundle.devices else port

    files: Files = {}
    for name in bundle.devices:
        known = facts(bundle, name)
        links, interfaces, devices = [], [], {name: known["type"]}
        for link in bundle.links:
            ends = (link.a, link.b) if link.a[0] == name else (link.b, link.a)
            (here, port), (far, far_port) = ends
            if here != name:
                continue
            devices[far] = facts(bundle, far)["type"] if far in bundle.devices else "Server"
            links.append(
                '<DeviceLinkBase i:type="DeviceInterfaceLink"><Bandwidth>400000</Bandwidth>'
                f"<StartDevice>{name}</StartDevice><StartPort>{escape(alias(name, port))}</StartPort>"
                f"<EndDevice>{far}</EndDevice><EndPort>{escape(alias(far, far_port))}</EndPort></DeviceLinkBase>\n"
            )
            interfaces += [
                f"<IPInterface><AttachTo>{alias(name, port)}</AttachTo><Prefix>{address}</Prefix></IPInterface>\n"
                for address in addresses(bundle, name, port) if far in bundle.devices
            ]  # fmt: skip
        listed = (f'<Device i:type="{kind}"><Hostname>{host}</Hostname></Device>' for host, kind in devices.items())
        files[f"{name}.xml"] = _MINIGRAPH.format(
            **known, name=name, links="".join(links), interfaces="".join(interfaces), devices="".join(listed)
        )
    return files


def write(files: Files, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder
