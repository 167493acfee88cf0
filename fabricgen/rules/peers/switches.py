"""Rules that compare switches of one kind and report those that differ from most others."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial

import orjson

from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.peers import (
    NO_FIELDS,
    OWN_FIELDS,
    PeerDeviation,
    deviating_rows,
    deviation_defects,
    differing_pair,
    groups,
    has_usual,
    plural,
)
from fabricgen.rules.view.switch import Switch
from fabricgen.rules.view.usual_names import NAMED_TABLES, UsualNames, usual_names
from fabricgen.sonic.acl import bound_ports
from fabricgen.sonic.port_qos import PORT_TABLES
from fabricgen.sonic.tables import Table

_MAPS = ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE")
# Rows that belong to one switch or one port. FG593 and FG594 compare what these have in common.
_OWN_TABLES = frozenset({
    "PORT", "INTERFACE", "LOOPBACK_INTERFACE", "VLAN_INTERFACE", "PORTCHANNEL_INTERFACE", "MGMT_INTERFACE",
    "BGP_NEIGHBOR", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "CABLE_LENGTH", "STATIC_ROUTE", "VLAN",
    "VLAN_MEMBER", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "BGP_GLOBALS_AF_NETWORK", "BGP_NEIGHBOR_AF", "PREFIX_SET",
    "PREFIX", "BGP_GLOBALS_LISTEN_PREFIX", "BGP_PEER_RANGE", "SRV6_MY_LOCATORS", "SRV6_MY_SIDS", *PORT_TABLES,
})  # fmt: skip

_OF_DRAINS = frozenset({"BGP_DEVICE_GLOBAL", "BGP_PEER_GROUP_AF", "ROUTE_MAP", "ROUTE_MAP_SET"})


@rule("FG591", Severity.ERROR, "QoS maps differ within a plane", Basis.PEERS, breaks=Breaks.LOSSLESS)
def plane_maps(fabric: Fabric) -> Iterator[Defect]:
    """What: DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP, TC_TO_PRIORITY_GROUP_MAP and MAP_PFC_PRIORITY_TO_QUEUE are the same on
    every switch of a plane, leaf or spine. An equal map under another name is the same.

    Why: Every hop classifies a packet again. One switch with another map makes a class lossy, or mixes it with others,
    for all traffic that crosses it.

    Example: All switches map DSCP 46 to TC 5, but spine2 maps it to TC 1.

    Fix: Use one set of maps.

    Source: sonic-buildimage issues 27310 and 8770.
    """
    names = usual_names(fabric)
    for ((plane, *_),), switches in groups(fabric, lambda switch: (switch.network,)):
        peers = f"most switches of plane {plane}" if plane else "most switches"
        for table in _MAPS:
            yield from _table_deviations(switches, table, peers, 2, partial(_by_usual_names, names, table))


@rule("FG592", Severity.WARNING, "The configuration of a switch differs from its peers", Basis.PEERS)
def switch_deviation(fabric: Fabric) -> Iterator[Defect]:
    """What: Switches of one plane, role and hwsku have the same tables, except for their own ports, addresses and
    sessions, and the VRFs and ACLs of tenants. At least three switches are compared, and more than half must agree. A
    difference that exactly the switches of a rail, an SU or a pod share is intended. If fabric.json has only two equal
    switches, differences are reported for both: it is unknown which one is right. The policies of a drained switch are
    its own.

    Why: An unplanned difference is a mistake or a remainder of an old configuration. It makes one rail slower than the
    others.

    Example: 15 leaves have green_max_threshold 2097152, but leaf7 has 20971520.

    Fix: Use the same value, or suppress the finding with the reason for the difference.

    Source: Derived from the bundle itself.
    """
    names = usual_names(fabric)
    rented = {name for name, plane in fabric.planes.items() if plane.isolation is not None}
    ends = {link.b for link in fabric.bundle.host_links if link.plane in rented} if rented else set()
    for ((plane, *_), role, hwsku, _), switches in groups(
        fabric, lambda switch: (switch.network, switch.role, switch.hwsku, switch.port_set)
    ):
        peers = " ".join(filter(None, ("most", plane, plural(role), "of", hwsku)))
        in_service = [switch for switch in switches if not switch.is_drained]
        for table in dict.fromkeys(name for switch in switches for name in switch.device.config):
            compared = in_service if table in _OF_DRAINS else switches
            if table == "BUFFER_PROFILE":
                yield from _table_deviations(switches, table, peers, 3, _shared_profiles)
            elif table in ("ROUTE_MAP", "ROUTE_MAP_SET"):
                yield from _table_deviations(compared, table, peers, 3, partial(_shared_maps, table))
            elif table in ("BGP_PEER_GROUP", "BGP_PEER_GROUP_AF"):
                yield from _table_deviations(compared, table, peers, 3, partial(_without_hosts, table))
            elif table == "VRF":
                yield from _table_deviations(switches, table, peers, 3, _vrfs_without_ports)
            elif table in NAMED_TABLES and table not in _MAPS:
                yield from _table_deviations(switches, table, peers, 3, partial(_by_usual_names, names, table))
            elif table not in _OWN_TABLES and table not in _MAPS:
                yield from _table_deviations(compared, table, peers, 3, partial(_without_tenants, ends, table))
        yield from _table_deviations(switches, "PFC_WD", peers, 3, lambda switch: _only(switch, "PFC_WD", "GLOBAL"))
        yield from _table_deviations(switches, "CABLE_LENGTH", peers, 3, _cable_rows)
        yield from _table_deviations(switches, "PORT_QOS_MAP", peers, 3, partial(_row_of_switch, names))


def _by_usual_names(names: Mapping[str, UsualNames], table: str, switch: Switch) -> Table:
    return names[switch.name].table(table, switch.device.table(table))


def _row_of_switch(names: Mapping[str, UsualNames], switch: Switch) -> Table:
    rows = _only(switch, "PORT_QOS_MAP", "global")
    return {key: names[switch.name].row(row) for key, row in rows.items()}


def _shared_profiles(switch: Switch) -> Table:
    """The profiles without headroom. Headroom profiles depend on the cables of a switch; FG524 checks them."""
    rows = switch.device.table("BUFFER_PROFILE")
    return {key: row for key, row in rows.items() if not key.startswith("pg_lossless_")}


def _vrfs_without_ports(switch: Switch) -> Table:
    """The VRFs without an interface. One with an interface belongs to a tenant, who is not on every switch."""
    used = _vrfs_with_ports(switch)
    return {key: row for key, row in switch.device.table("VRF").items() if key not in used}


def _vrfs_with_ports(switch: Switch) -> set[str]:
    return {switch.address_space(interface)[0] for interface in switch.addresses_of}


def _without_tenants(ends: Set[Endpoint], table: str, switch: Switch) -> Table:
    """The rows that are not of a tenant: of an ACL of ports of hosts on a plane that separates tenants (`ends`), or of
    a VRF with an interface. The verdict on tenants judges those."""
    rows = switch.device.table(table)
    if ends and table in ("ACL_TABLE", "ACL_RULE"):
        bound = {name: bound_ports(row) for name, row in switch.device.table("ACL_TABLE").items()}
        own = {name for name, ports in bound.items() if ports and all((switch.name, one) in ends for one in ports)}
    elif "VRF" in switch.device.config:
        own = _vrfs_with_ports(switch)
    else:
        return rows
    if table == "VXLAN_TUNNEL_MAP":
        vlans = switch.device.table("VLAN_INTERFACE")
        return {key: row for key, row in rows.items() if vlans.get(str(row.get("vlan")), {}).get("vrf_name") not in own}
    return {key: row for key, row in rows.items() if key.partition("|")[0] not in own}


def _cable_rows(switch: Switch) -> Table:
    """The name of the row, usually AZURE, without the lengths, which belong to the ports."""
    return {key: {} for key in switch.device.table("CABLE_LENGTH")}


def _shared_maps(table: str, switch: Switch) -> Table:
    """Route maps, except for those that only single neighbors use."""
    of_groups, fabric = switch.device.table("BGP_PEER_GROUP_AF"), _without_hosts("BGP_PEER_GROUP_AF", switch)
    those = {key: row for key, row in of_groups.items() if key not in fabric}
    shared, own = (
        {row.get(field) for row in rows for field in ("route_map_in", "route_map_out")}
        for rows in (fabric.values(), (*those.values(), *switch.device.table("BGP_NEIGHBOR_AF").values()))
    )
    own -= shared
    return {key: row for key, row in switch.device.table(table).items() if key.partition("|")[0] not in own}


def _without_hosts(table: str, switch: Switch) -> Table:
    """The peer groups without those of hosts, who are not on every switch: the groups of listened subnets."""
    listening = {
        f"{key.partition('|')[0]}|{row.get('peer_group', '')}"
        for key, row in switch.device.table("BGP_GLOBALS_LISTEN_PREFIX").items()
    }
    rows = switch.device.table(table).items()
    return {key: row for key, row in rows if "|".join(key.split("|")[:2]) not in listening}


def _only(switch: Switch, table: str, key: str) -> Table:
    rows = switch.device.table(table)
    return {key: rows[key]} if key in rows else {}


def _table_deviations(
    switches: Sequence[Switch], table: str, peers: str, least: int, rows_of: Callable[[Switch], Table] | None = None
) -> Iterator[Defect]:
    """Defects of one table over switches that should have the same rows."""
    tables = [rows_of(switch) if rows_of else switch.device.table(table) for switch in switches]
    if len({orjson.dumps(rows) for rows in tables}) <= 1:
        return
    skip = OWN_FIELDS.get(table, NO_FIELDS)
    is_pair = len(switches) == 2 and (least == 2 or all(switch.device.wired for switch in switches))
    found = []
    for index, odd in differing_pair(tables, skip) if is_pair else deviating_rows(tables, skip, least):
        switch = switches[index]
        if not _is_own_address(switch, odd.value):
            example = next(one for one, rows in zip(switches, tables, strict=True) if has_usual(rows, odd))
            places = (one.place(table, odd.key, odd.field) for one in (switch, example))
            found.append(PeerDeviation(switch, odd, *places))
    yield from deviation_defects(found, switches, peers.replace("most", "the other of the", 1) if is_pair else peers)


def _is_own_address(switch: Switch, value: object) -> bool:
    """Whether a value is an address of the switch itself, which differs on every switch (syslog source and others)."""
    tables = ("LOOPBACK_INTERFACE", "MGMT_INTERFACE")
    held = {key.partition("|")[2].partition("/")[0] for name in tables for key in switch.device.table(name)}
    return isinstance(value, str) and value in held
