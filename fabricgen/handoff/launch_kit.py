"""The topology file of NVIDIA's Kubernetes launch kit (l8k): hosts, leaves, and the links between them.

Source: NVIDIA/k8s-launch-kit@5027cad7 pkg/networkoperatorplugin/spectrumx/addressing.go (topologyFile, hostLinks,
allocateIPv4HostLeaf); docs/user/spectrum-x.md.

l8k makes its own addresses from these numbers: 16 or the plane, the rail, the unit and the place of the host there.
"""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fabricgen.errors import UsageError
from fabricgen.handoff.chosen import refuse_node_names
from fabricgen.vocabulary import Purpose, Technology

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredDevice, WiredLink, Wiring

FILE = "l8k-topology.json"
_MOST = {"rail": 7, "plane": 3, "su": 63, "pod": 31}
_MOST_HOSTS = 128  # of a unit


def launch_kit_file(bundle: "Bundle") -> tuple[str, bytes]:
    """(path, bytes) of the topology. Raises UsageError if the fabric has no RoCE plane with rails, for names that
    Kubernetes does not allow, and for numbers that l8k has no room for."""
    wiring = bundle.wiring
    links = list(_links(wiring)) if wiring else []
    if wiring is None or not links:
        raise UsageError("the bundle has no hosts with rails on a RoCE plane: l8k has nothing to read")
    devices = {device.name: device for device in wiring.devices}
    planes = _planes(links, devices)
    ends = [_ends(link, devices[link.b[0]], planes[link.a]) for link in links]
    _refuse_numbers(ends)
    hosts = dict.fromkeys(link.a[0] for link in links)
    refuse_node_names(hosts)
    nodes = [{"name": name, "role": "host", "type": "default"} for name in hosts]
    nodes += [{"name": name, "role": "leaf", "type": "sonic"} for name in dict.fromkeys(link.b[0] for link in links)]
    return FILE, (json.dumps({"nodes": nodes, "links": ends}, indent=1) + "\n").encode()


def _links(wiring: "Wiring") -> "Iterator[WiredLink]":
    """The links of rails on compute planes with RoCE."""
    planes = {
        plane.name
        for plane in wiring.planes
        if plane.purpose == Purpose.COMPUTE and plane.technology == Technology.ROCE
    }
    hosts = {host.name for host in wiring.hosts}
    return (link for link in wiring.links if link.a[0] in hosts and link.rail is not None and link.plane in planes)


def _planes(links: "list[WiredLink]", devices: "dict[str, WiredDevice]") -> dict[tuple[str, str], int]:
    """(host, NIC) -> its plane for l8k: the copies of a plane, and separate planes, count together."""
    kinds = sorted({(link.plane, devices[link.b[0]].subplane or 0) for link in links})
    return {link.a: kinds.index((link.plane, devices[link.b[0]].subplane or 0)) for link in links}


def _ends(link: "WiredLink", leaf: "WiredDevice", plane: int) -> list[dict[str, Any]]:
    where = {"pod": leaf.pod or 0, "su": leaf.su or 0}
    at_leaf = {"role": "leaf", "plane": plane, **where, "rail_group": [link.rail]}
    at_host = {"role": "host", "rail": link.rail, **where}
    return [
        {"node": link.b[0], "interface": link.b[1], "attributes": at_leaf},
        {"node": link.a[0], "interface": f"eth_p{plane}_r{link.rail}", "attributes": at_host},
    ]


def _refuse_numbers(ends: list[list[dict[str, Any]]]) -> None:
    hosts: dict[tuple[int, int], set[str]] = {}
    for leaf, host in ends:
        for key, most in _MOST.items():
            number = {**leaf["attributes"], **host["attributes"]}[key]
            if number > most:
                raise UsageError(f"{host['node']} is on {key} {number}, but l8k has addresses up to {key} {most}")
        unit = host["attributes"]["pod"], host["attributes"]["su"]
        hosts.setdefault(unit, set()).add(host["node"])
    if crowded := next((unit for unit, names in hosts.items() if len(names) > _MOST_HOSTS), None):
        raise UsageError(
            f"scalable unit {crowded[1]} has more than {_MOST_HOSTS} hosts, which l8k has no addresses for"
        )
