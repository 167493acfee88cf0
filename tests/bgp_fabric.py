"""Small fabrics as config_db.json files, for tests from files to verdicts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import Bundle, open_bundle

ConfigDbs = dict[str, dict[str, Any]]

QOS_MAPS = {
    "DSCP_TO_TC_MAP": {"AZURE": {str(dscp): {26: "3", 34: "4"}.get(dscp, "0") for dscp in range(64)}},
    "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": {str(tc): str(tc) if tc in (3, 4) else "0" for tc in range(8)}},
    "TC_TO_QUEUE_MAP": {"AZURE": {str(tc): str(tc) for tc in range(8)}},
    "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": {str(priority): str(priority) for priority in range(8)}},
}
PORT_QOS = {
    "tc_to_pg_map": "AZURE",
    "tc_to_queue_map": "AZURE",
    "pfc_to_queue_map": "AZURE",
    "dscp_to_tc_map": "AZURE",
    "pfc_enable": "3,4",
}


@dataclass
class Fabric:
    """Switches by name with ASN; links by name, repeated for parallel cables; prefixes with their switch."""

    asn: Mapping[str, int]
    links: Sequence[Sequence[str]]
    prefixes: Mapping[str, str]
    kinds: Mapping[str, str] = field(default_factory=dict)
    isolated: Sequence[str] = ()
    bbr: Sequence[str] = ()

    def configs(self) -> ConfigDbs:
        """One config_db per switch: /31 links with one eBGP session each, PFC on priorities 3 and 4 on all ports."""
        found: ConfigDbs = {name: self._base(number, name) for number, name in enumerate(self.asn)}
        ports = dict.fromkeys(self.asn, 0)
        for number, ends in enumerate(self.links):
            addresses = [str(IPv4Address("172.16.0.0") + 2 * number + side) for side in (0, 1)]
            names = []
            for switch in ends:
                names.append(f"Ethernet{4 * ports[switch]}")
                ports[switch] += 1
            for side in (0, 1):
                far, config = ends[1 - side], found[ends[side]]
                config["INTERFACE"].update({names[side]: {}, f"{names[side]}|{addresses[side]}/31": {}})
                config["BGP_NEIGHBOR"][addresses[1 - side]] = {
                    "asn": str(self.asn[far]),
                    "name": far,
                    "local_addr": addresses[side],
                }
                config["DEVICE_NEIGHBOR"][names[side]] = {"name": far, "port": names[1 - side]}
                config["PORT_QOS_MAP"][names[side]] = dict(PORT_QOS)
        return found

    def _base(self, number: int, name: str) -> dict[str, Any]:
        own = [prefix for prefix, switch in self.prefixes.items() if switch == name]
        loopback = next((prefix for prefix in own if prefix.endswith("/32")), None)
        router_id = f"10.254.{number // 256}.{number % 256}"
        config: dict[str, Any] = {
            "DEVICE_METADATA": {
                "localhost": {
                    "hostname": name,
                    "bgp_asn": str(self.asn[name]),
                    "type": self.kinds.get(name, "SpineRouter"),
                    "bgp_router_id": router_id,
                }
            },
            "LOOPBACK_INTERFACE": {"Loopback0": {}, **({f"Loopback0|{loopback}": {}} if loopback else {})},
            "VLAN_INTERFACE": {},
            "INTERFACE": {},
            "BGP_NEIGHBOR": {},
            "DEVICE_NEIGHBOR": {},
            "PORT_QOS_MAP": {},
            **QOS_MAPS,
        }
        for vlan, prefix in enumerate(prefix for prefix in own if prefix != loopback):
            config["VLAN_INTERFACE"].update({f"Vlan{vlan + 10}": {}, f"Vlan{vlan + 10}|{prefix}": {}})
        if name in self.isolated:
            config["BGP_DEVICE_GLOBAL"] = {"STATE": {"tsa_enabled": "true"}}
        if name in self.bbr:
            config["BGP_BBR"] = {"all": {"status": "enabled"}}
        return config


def add_ways_out(configs: ConfigDbs, borders: Sequence[str]) -> None:
    """Add a session with an external router at each border switch; bgpcfgd accepts all its routes."""
    for number, name in enumerate(borders):
        config, port = configs[name], "Ethernet400"
        near, far = (f"192.0.2.{2 * number + side}" for side in (0, 1))
        config["INTERFACE"].update({port: {}, f"{port}|{near}/31": {}})
        config["DEVICE_NEIGHBOR"][port] = {"name": "wan", "port": f"xe{number}"}
        config["DEVICE_NEIGHBOR_METADATA"] = {"wan": {"type": "RegionalHub"}}
        config["BGP_NEIGHBOR"][far] = {"asn": "64900", "name": "wan", "local_addr": near}


def add_discards(configs: ConfigDbs, prefix: str) -> None:
    """Add a discard route on every switch."""
    for config in configs.values():
        config["STATIC_ROUTE"] = {f"default|{prefix}": {"blackhole": "true", "advertise": "false", "distance": "250"}}


def open_configs(configs: ConfigDbs, folder: Path) -> Bundle:
    """Write the files and open them as loose config_db files."""
    for name, config in configs.items():
        (folder / f"{name}.json").write_text(json.dumps(config, indent=4))
    return open_bundle([folder])


def from_case(case: Mapping[str, Any]) -> Fabric:
    """The fabric of a case of shared/data/bgp without its failed links."""
    failed = [sorted(link) for link in case["failed"]]
    links = []
    for link in case["links"]:
        if sorted(link) in failed:
            failed.remove(sorted(link))
        else:
            links.append(link)
    bbr = [name for name in case["allowas_in"] if case["type"][name] == "LeafRouter"]
    return Fabric(case["asn"], links, case["prefixes"], case["type"], case.get("tsa", ()), bbr)
