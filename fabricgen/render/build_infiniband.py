"""Contexts of what a subnet manager reads: partitions, lists of GUIDs, names, routers."""

from collections.abc import Iterable, Mapping

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.managers import Manager
from fabricgen.control_plane.partitions import DEFAULT_PKEY, Partition, default_membership
from fabricgen.design.model import Host, Link
from fabricgen.design.subnets import SubnetDesign
from fabricgen.inventory.infiniband import Membership
from fabricgen.inventory.plane import Plane
from fabricgen.opensm.guids import PortGuid
from fabricgen.opensm.options import MTU_CODES, RATE_CODES
from fabricgen.render.build_topology import adapter_name
from fabricgen.render.contexts_infiniband import (
    LevelContext,
    LevelRule,
    ManagerContext,
    NamedGuid,
    PartitionContext,
    RouteContext,
)

_MEMBERS_IN_LINE = 4
_FULL_BIT = 0x8000


def manager_context(manager: Manager) -> ManagerContext:
    """`manager`."""
    return ManagerContext(manager.folder.replace("-", " ") or "master", manager.guid, manager.priority)


def partition_contexts(plane: Plane, partitions: Iterable[Partition]) -> dict[str, object]:
    """`partitions`, Default first."""
    found = list(partitions)
    everybody = default_membership(plane, has_tenants=len(found) > 1)
    return {"partitions": [_partition(partition, everybody) for partition in found]}


def _partition(partition: Partition, everybody: Membership) -> PartitionContext:
    members = [f"{guid}={membership}" for guid, membership in partition.members.items()]
    pkey = partition.pkey
    if pkey == DEFAULT_PKEY:
        # Everybody; switches, which are managed over it; the port of the manager itself, whichever that is.
        members = [f"ALL_CAS={everybody}", "ALL_SWITCHES=full", "SELF=full", *members]
    else:
        pkey |= _FULL_BIT
    lines = [", ".join(members[at : at + _MEMBERS_IN_LINE]) for at in range(0, len(members), _MEMBERS_IN_LINE)]
    sl = partition.level.sl if partition.level else 0
    return PartitionContext(partition.name, f"0x{pkey:04x}", partition.ipoib, partition.mtu, partition.rate, sl, lines)


def policy_context(plane: Plane, partitions: Iterable[Partition]) -> dict[str, object]:
    """`levels` and `rules` of qos-policy.conf."""
    levels = [
        LevelContext(
            one.name,
            one.sl,
            MTU_CODES[one.mtu_bytes] if one.mtu_bytes else None,
            RATE_CODES[one.rate_mbps] if one.rate_mbps else None,
        )
        for one in plane.infiniband.qos.levels
    ]
    rules = [LevelRule(one.name, f"0x{one.pkey | _FULL_BIT:04x}", one.level.name) for one in partitions if one.level]
    return {"levels": levels, "rules": rules}


def guid_lists(subnet: SubnetDesign, allocation: Allocation, *, tree: bool) -> Mapping[str, dict[str, object]]:
    """The lists of GUIDs by file name, without those that would be empty: OpenSM takes an empty list for a mistake."""
    links = subnet.host_links
    computing = [link for link in links if isinstance(link.a, Host) and link.a.model.gpus]
    others = [link for link in links if isinstance(link.a, Host) and not link.a.model.gpus]
    order = {switch.key: place for place, switch in enumerate(subnet.switches)}
    by_leaf = sorted(links, key=lambda link: (order[link.b.key], link.b.layout.port_numbers[link.b_port]))
    roots = [NamedGuid(allocation.guids.switches[switch.key], allocation.names[switch.key]) for switch in subnet.top]
    lists = {
        "root_guids": ("The switches of the highest tier, by node GUID.", roots if tree else []),
        "cn_guids": ("Ports of compute nodes, by port GUID.", _named(computing, allocation)),
        "io_guids": ("Ports of storage and other hosts without GPUs, by port GUID.", _named(others, allocation)),
        "guid_routing_order": (
            "Ports in the order of routing, leaf by leaf, by port GUID.",
            _named(by_leaf, allocation),
        ),
    }
    return {name: {"title": title, "guids": guids} for name, (title, guids) in lists.items() if guids}


def _named(links: Iterable[Link], allocation: Allocation) -> list[NamedGuid]:
    return [NamedGuid(port_guid(link, allocation), adapter_name(link, allocation)) for link in links]


def port_guid(link: Link, allocation: Allocation) -> PortGuid:
    """The port GUID of an endpoint."""
    return allocation.guids.adapters[link.a.key, link.a_port].port


def node_names(subnet: SubnetDesign, allocation: Allocation) -> dict[str, object]:
    """`nodes` of node-name-map: switches and adapters."""
    switches = [NamedGuid(allocation.guids.switches[one.key], allocation.names[one.key]) for one in subnet.switches]
    adapters = [
        NamedGuid(allocation.guids.adapters[link.a.key, link.a_port].node, adapter_name(link, allocation))
        for link in subnet.host_links
    ]
    return {"nodes": [*switches, *adapters]}


def prefix_routes(plane: Plane) -> dict[str, object]:
    """`routes` of prefix-routes.conf."""

    def text(number: int | None) -> str:
        return "*" if number is None else f"0x{number:016x}"

    return {"routes": [RouteContext(text(route.prefix), text(route.guid)) for route in plane.infiniband.prefix_routes]}
