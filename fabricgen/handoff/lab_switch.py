"""The configuration of a switch for SONiC's virtual switch: the same sessions and classes on the virtual ports.

docker-sonic-vs brings up a port only if its lanes are a line of the lane map. The map has a line for each of the 32
ports of the default SKU, Force10-S6000 (sonic-buildimage 086b03bd, platform/vs/docker-sonic-vs/start.sh).
Buffers, PFC, watchdog, breakout and management are left out, because chip, memory and eth0 differ from the real ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.tables import split_key

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice
    from fabricgen.bundle.wiring import Endpoint

HWSKU, PLATFORM = "Force10-S6000", "x86_64-kvm_x86_64-r0"
SPEED = "40000"
# The first of four lanes of Ethernet0, Ethernet4 … Ethernet124; the lane map has eth1, eth2 … in the same order.
FIRST_LANES = (25, 29, 33, 37, 45, 41, 1, 5, 13, 9, 17, 21, 53, 49, 57, 61,
               69, 65, 73, 77, 109, 105, 113, 117, 125, 121, 81, 85, 93, 89, 101, 97)  # fmt: skip
MOST_PORTS = len(FIRST_LANES)

_TABLES = (
    "DEVICE_METADATA", "PORT", "INTERFACE", "LOOPBACK_INTERFACE", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA",
    "STATIC_ROUTE", "VRF", "BGP_NEIGHBOR", "BGP_NEIGHBOR_AF", "BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_NETWORK",
    "BGP_PEER_GROUP", "BGP_PEER_GROUP_AF", "ROUTE_MAP", "ROUTE_MAP_SET", "PREFIX", "PREFIX_SET",
    "DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "PORT_QOS_MAP", "QUEUE", "SCHEDULER", "WRED_PROFILE",
)  # fmt: skip
_OVERLAY = ("VLAN", "VLAN_INTERFACE", "VXLAN_TUNNEL", "VXLAN_EVPN_NVO", "VXLAN_TUNNEL_MAP", "ROUTE_REDISTRIBUTE")
_METADATA = ("bgp_asn", "default_bgp_status", "docker_routing_config_mode", "frr_mgmt_framework_config", "hostname",
             "synchronous_mode", "type")  # fmt: skip
_PORT = ("admin_status", "description", "mtu")
_PFC = ("pfc_enable", "pfcwd_sw_enable")  # without buffers, PFC has no headroom


@dataclass(frozen=True, slots=True)
class LabPort:
    """A port of the virtual switch, and the interface of its container."""

    number: int  # from 0

    @property
    def name(self) -> str:
        """EthernetN."""
        return f"Ethernet{4 * self.number}"

    @property
    def interface(self) -> str:
        """ethN of the lane map."""
        return f"eth{self.number + 1}"

    @property
    def row(self) -> dict[str, str]:
        """The fields of PORT that the SKU sets."""
        first = FIRST_LANES[self.number]
        lanes = ",".join(str(lane) for lane in range(first, first + 4))
        index = str(self.number)
        return {"alias": f"fortyGigE0/{4 * self.number}", "index": index, "lanes": lanes, "speed": SPEED}


def lab_config(
    device: "ObservedDevice", ports: Mapping["Endpoint", LabPort], neighbors: Mapping[str, str]
) -> dict[str, Any]:
    """The tables on the virtual switch, without rows of ports outside the lab.

    `ports` are those of all switches of the lab; `neighbors` maps ports of this switch to far devices in the lab.
    """
    from fabricgen.sonic.secrets import without_secrets  # its expressions take 3 ms

    names = (*_TABLES, *_OVERLAY) if device.table("VXLAN_EVPN_NVO") else _TABLES
    tables = without_secrets({table: device.table(table) for table in names})
    known = tables.get("PORT", {})
    own = {port: ports[device.name, port].name for port in known if (device.name, port) in ports}
    found = {table: dict(_rows(tables, table, own)) for table in names}
    found["PORT"] = {
        own[port]: {**{name: text for name, text in row.items() if name in _PORT}, **ports[device.name, port].row}
        for port, row in known.items()
        if port in own
    }
    metadata = tables.get("DEVICE_METADATA", {}).get("localhost", {})
    kept = {name: value for name, value in metadata.items() if name in _METADATA}
    found["DEVICE_METADATA"] = {"localhost": {"hostname": device.name, **kept, "hwsku": HWSKU, "platform": PLATFORM}}
    for port, row in tables.get("DEVICE_NEIGHBOR", {}).items():
        far = (str(row.get("name")), str(row.get("port")))
        if port in own and far in ports:
            found["DEVICE_NEIGHBOR"][own[port]]["port"] = ports[far].name
            found["PORT"][own[port]]["description"] = f"{far[0]}:{ports[far].name}"
    for row in found["PORT_QOS_MAP"].values():
        for name in _PFC:
            row.pop(name, None)
    local = {parts[1].partition("/")[0] for key in found["INTERFACE"] if len(parts := split_key(key)) == 2}
    sessions = found["BGP_NEIGHBOR"]
    for key in [key for key in sessions if parse_address(key) and sessions[key].get("local_addr") not in local]:
        del sessions[key]
    near = set(neighbors.values())
    far_metadata = found["DEVICE_NEIGHBOR_METADATA"]
    found["DEVICE_NEIGHBOR_METADATA"] = {
        name: {**row, **({"hwsku": HWSKU} if "hwsku" in row else {})}
        for name, row in far_metadata.items()
        if name in near
    }
    return {table: rows for table, rows in found.items() if rows}


def _rows(tables: Mapping[str, Any], table: str, own: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table with the port names of the lab, without rows of other ports."""
    everything = tables.get("PORT", {})
    for key, row in tables.get(table, {}).items():
        parts = split_key(key)
        outside = [part for part in parts if part in everything and part not in own]
        through = str(row.get("ifname", "")).split(",") if table == "STATIC_ROUTE" else []
        if outside or any(port in everything and port not in own for port in through):
            continue
        fields = dict(row)
        if "ifname" in fields:
            fields["ifname"] = ",".join(own.get(port, port) for port in through)
        yield "|".join(own.get(part, part) for part in parts), fields
