"""The peer of `render`: pyavd on an L3LS fabric whose leaves have 32 uplinks and 32 endpoints, by its public functions.

    python -m benchmarks.peer_avd SPINES LEAVES

Each device gets its own endpoints, as in a well-maintained AVD repository. It would be slower with those of the whole
fabric.
"""

import sys
from typing import Any

UPLINKS = 32
END_POINTS = 32


def inputs(spines: int, leaves: int) -> dict[str, dict[str, Any]]:
    """Inventory variables by device."""
    spine_names = [f"spine{number + 1}" for number in range(spines)]
    leaf_names = [f"leaf{number + 1}" for number in range(leaves)]
    per_spine = -(-UPLINKS // spines)
    common: dict[str, Any] = {
        "fabric_name": "FABRIC",
        "underlay_routing_protocol": "ebgp",
        "overlay_routing_protocol": "none",
        "mgmt_gateway": "10.255.0.1",
        "bgp_peer_groups": {"ipv4_underlay_peers": {"password": "none"}},
        "spine": {
            "defaults": {"platform": "7060X6", "loopback_ipv4_pool": "192.168.0.0/24", "bgp_as": "65100"},
            "nodes": [{"name": name, "id": number + 1} for number, name in enumerate(spine_names)],
        },
        "l3leaf": {
            "defaults": {
                "platform": "7060X6",
                "loopback_ipv4_pool": "192.168.16.0/20",
                "uplink_ipv4_pool": "172.16.0.0/14",
                "mlag": False,
                "vtep": False,
                "uplink_switches": [spine_names[index % spines] for index in range(UPLINKS)],
                "uplink_interfaces": [f"Ethernet{33 + index}" for index in range(UPLINKS)],
            },
            "nodes": [
                {
                    "name": name,
                    "id": number + 1,
                    "bgp_as": str(4_200_000_000 + number),
                    "uplink_switch_interfaces": [
                        f"Ethernet{1 + number * per_spine + index // spines}" for index in range(UPLINKS)
                    ],
                }
                for number, name in enumerate(leaf_names)
            ],
        },
    }
    devices = {name: {**common, "type": "spine", "servers": []} for name in spine_names}
    devices |= {name: {**common, "type": "l3leaf", "servers": _servers(name)} for name in leaf_names}
    return devices


def _servers(leaf: str) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{leaf}-host{index}",
            "adapters": [
                {
                    "switches": [leaf],
                    "switch_ports": [f"Ethernet{index + 1}"],
                    "endpoint_ports": ["nic0"],
                    "mode": "access",
                    "vlans": "10",
                }
            ],
        }
        for index in range(END_POINTS)
    ]


def main() -> int:
    """Validate, design and render every device."""
    import pyavd

    checked: dict[str, Any] = {}
    for name, variables in inputs(int(sys.argv[1]), int(sys.argv[2])).items():
        result = pyavd.validate_inputs({**variables, "inventory_hostname": name})
        if result.validated_data is None:
            print(result.validation_result, file=sys.stderr)
            return 1
        checked[name] = result.validated_data
    facts = pyavd.get_avd_facts(checked)
    size = 0
    for name in checked:
        structured = pyavd.get_device_structured_config(name, checked[name], facts)
        size += len(pyavd.get_device_config(structured))
    print(f"{len(checked)} devices, {size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
