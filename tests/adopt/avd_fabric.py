"""Two leaves, two spines and two hosts by pyavd: prints the structured configuration of each switch as JSON.

Runs in the environment of one release of pyavd, not in that of fabricgen.
"""

import json
import sys

import pyavd

SPINES, LEAVES = ("spine1", "spine2"), ("leaf1", "leaf2")
_SWITCH = {"platform": "7060X6-64PE", "loopback_ipv4_pool": "10.255.0.0/27"}
_UPLINKS = {
    "uplink_switches": list(SPINES),
    "uplink_interfaces": ["Ethernet33/1", "Ethernet34/1"],
    "uplink_ipv4_pool": "10.255.255.0/26",
}
FABRIC = {
    "fabric_name": "FABRIC",
    "underlay_routing_protocol": "ebgp",
    "overlay_routing_protocol": "none",
    "spine": {
        "defaults": {**_SWITCH, "bgp_as": "65000"},
        "nodes": [{"name": name, "id": number} for number, name in enumerate(SPINES, 1)],
    },
    "l3leaf": {
        "defaults": {**_SWITCH, **_UPLINKS, "loopback_ipv4_offset": 2, "vtep": False, "mlag": False},
        "nodes": [
            {"name": name, "id": number, "bgp_as": str(65100 + number),
             "uplink_switch_interfaces": [f"Ethernet{number}/1"] * 2}
            for number, name in enumerate(LEAVES, 1)
        ],
    },
    "servers": [
        {"name": f"gpu{number}", "adapters": [{
            "switches": [name], "switch_ports": ["Ethernet1/1"], "endpoint_ports": ["nic0"],
            "mode": "access", "vlans": "10",
        }]}
        for number, name in enumerate(LEAVES, 1)
    ],
}  # fmt: skip


def _structured() -> dict[str, object]:
    devices = {name: {**FABRIC, "type": "spine", "inventory_hostname": name} for name in SPINES}
    devices |= {name: {**FABRIC, "type": "l3leaf", "inventory_hostname": name} for name in LEAVES}
    for variables in devices.values():
        pyavd.validate_inputs(variables)  # pyavd 5 converts in place
    facts = pyavd.get_avd_facts(devices)
    made = {name: pyavd.get_device_structured_config(name, devices[name], facts) for name in devices}
    return {name: one if isinstance(one, dict) else one._as_dict() for name, one in made.items()}  # an object since 6


json.dump(_structured(), sys.stdout, default=str)
