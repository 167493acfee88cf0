"""Peers that should be alike: the odd one out is named, with what most others have."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.fabric import Fabric, Switch
from fabricgen.rules.qos import PORT_TABLES, PortQos, port_classes, port_place
from fabricgen.rules.registry import Basis, rule
from fabricgen.sonic.secrets import is_secret
from fabricgen.sonic.tables import Row, Table

_MAPS = ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE")
# Rows that belong to one switch or one port; what they have in common is compared by FG592 and FG593.
_OWN_TABLES = frozenset({
    "PORT", "INTERFACE", "LOOPBACK_INTERFACE", "VLAN_INTERFACE", "PORTCHANNEL_INTERFACE", "MGMT_INTERFACE",
    "BGP_NEIGHBOR", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "CABLE_LENGTH", "STATIC_ROUTE", "VLAN",
    "VLAN_MEMBER", "PORTCHANNEL", "PORTCHANNEL_MEMBER", *PORT_TABLES,
})  # fmt: skip
_OWN_FIELDS = {
    "DEVICE_METADATA": frozenset({"hostname", "mac", "bgp_asn", "bgp_router_id", "chassis_serial_number"}),
    "SNMP": frozenset({"Location"}),
    "PORT": frozenset({"lanes", "alias", "index", "subport", "description", "speed"}),
    "BGP_NEIGHBOR": frozenset({"asn", "name", "local_addr"}),
    "DEVICE_NEIGHBOR_METADATA": frozenset({"lo_addr", "mgmt_addr", "hwsku", "deployment_id"}),
    "STATIC_ROUTE": frozenset({"nexthop", "ifname"}),
}
# Rows whose keys name a switch's own things: compared by their fields alone.
_POPULATIONS = (
    "DEVICE_NEIGHBOR_METADATA",
    "BGP_NEIGHBOR",
    "STATIC_ROUTE",
    "INTERFACE",
    "LOOPBACK_INTERFACE",
    "MGMT_INTERFACE",
)
_NO_FIELDS: frozenset[str] = frozenset()
_ABSENT = None


@dataclass(frozen=True, slots=True)
class _Odd:
    """A value that most peers have otherwise; `usual` None means that they do not have it."""

    key: str
    field: str
    value: object
    usual: object


def _usual(values: Iterable[object], least: int) -> tuple[bool, object]:
    """(True, the value) that more than half of at least `least` peers share; lists count by their content.

    With `least` 2 a difference is a fault whoever is right, so that the most frequent or first value will do.
    """
    counts = Counter(orjson.dumps(value) for value in values)
    top, count = counts.most_common(1)[0]
    total = counts.total()
    return total >= least and (2 * count > total or least == 2), orjson.loads(top)


def _odd_rows(tables: Sequence[Mapping[str, object]], skip: frozenset[str], least: int) -> Iterator[tuple[int, _Odd]]:
    """(index of the peer, its odd value) over peers that all should have the same rows."""
    for key in dict.fromkeys(key for table in tables for key in table):
        rows = [table.get(key) for table in tables]
        has_majority, usual_row = _usual([isinstance(row, dict) for row in rows], least)
        if not has_majority:
            continue
        for index, row in enumerate(rows):
            if isinstance(row, dict) is not usual_row:
                yield (
                    index,
                    _Odd(key, "", "present" if usual_row is False else _ABSENT, "present" if usual_row else _ABSENT),
                )
        if usual_row:
            yield from _odd_fields(key, rows, skip, least)


def _odd_fields(key: str, rows: Sequence[object], skip: frozenset[str], least: int) -> Iterator[tuple[int, _Odd]]:
    present = [(index, row) for index, row in enumerate(rows) if isinstance(row, dict)]
    for field in dict.fromkeys(field for _, row in present for field in row if field not in skip):
        has_majority, usual = _usual([row.get(field) for _, row in present], least)
        for index, row in present if has_majority else ():
            if row.get(field) != usual:
                yield index, _Odd(key, field, row.get(field), usual)


def _defect(place: Place, odd: _Odd, peers: str, example: Place) -> Defect:
    related = ((f"one of {peers}", example),)
    if not odd.field:
        message = (
            f"the row is missing, {peers} have it" if odd.value is _ABSENT else f"the row is one that {peers} lack"
        )
        return Defect(place, message, "", related)
    if is_secret(place.table, place.field):
        return Defect(place, f"{odd.field} differs from that of {peers} (the values may be secrets)", "", related)
    found, usual = (str("not set" if value is _ABSENT else value) for value in (odd.value, odd.usual))
    hint = f"remove {odd.field}" if odd.usual is _ABSENT else f"set {odd.field} to {usual}"
    return Defect(place, f"{odd.field} is {found}, {peers} have {usual}", hint, related)


def _odd_tables(
    switches: Sequence[Switch], table: str, peers: str, least: int, rows_of: Callable[[Switch], Table] | None = None
) -> Iterator[Defect]:
    """Defects of one table over switches that should have it alike."""
    tables = [rows_of(switch) if rows_of else switch.device.table(table) for switch in switches]
    if len({orjson.dumps(rows) for rows in tables}) <= 1:
        return
    for index, odd in _odd_rows(tables, _OWN_FIELDS.get(table, _NO_FIELDS), least):
        switch = switches[index]
        if _is_own_address(switch, odd.value):
            continue
        example = next(other for n, other in enumerate(switches) if n != index and _has(tables[n], odd))
        place, other = switch.place(table, odd.key, odd.field), example.place(table, odd.key, odd.field)
        yield _defect(place, odd, peers, other)


def _has(table: Mapping[str, object], odd: _Odd) -> bool:
    row = table.get(odd.key)
    if not odd.field:
        return isinstance(row, dict) == (odd.usual is not _ABSENT)
    return isinstance(row, dict) and row.get(odd.field) == odd.usual


def _is_own_address(switch: Switch, value: object) -> bool:
    """Whether a value is one of the switch's own addresses, which differ by nature (syslog source and the like)."""
    tables = ("LOOPBACK_INTERFACE", "MGMT_INTERFACE")
    held = {key.partition("|")[2].partition("/")[0] for name in tables for key in switch.device.table(name)}
    return isinstance(value, str) and value in held


@rule("FG591", Severity.ERROR, "QoS maps differ within a plane", Basis.PEERS)
def plane_maps(fabric: Fabric) -> Iterator[Defect]:
    """What: DSCP_TO_TC_MAP, TC_TO_QUEUE_MAP, TC_TO_PRIORITY_GROUP_MAP and MAP_PFC_PRIORITY_TO_QUEUE are the same on
    every switch of a plane, leaf or spine.

    Why: a packet is classified again on every hop. One switch with another map turns a class lossy, or mixes it with
    others, for everything that crosses it.

    Example: all switches send DSCP 46 to TC 5, spine2 to TC 1.

    Fix: use one set of maps.

    Source: sonic-buildimage issues 27310 and 8770.
    """
    for (plane,), switches in _groups(fabric, lambda switch: (switch.plane,)):
        for table in _MAPS:
            peers = f"most switches of plane {plane}" if plane else "most switches"
            yield from _odd_tables(switches, table, peers, 2)


@rule("FG592", Severity.WARNING, "A switch is configured unlike its peers", Basis.PEERS)
def odd_switch(fabric: Fabric) -> Iterator[Defect]:
    """What: switches of one plane, role and hwsku agree on every table that is not about their own ports, addresses and
    sessions; at least three switches, and more than half must agree before the rest is called odd.

    Why: a difference that nobody planned is a slip or a leftover. It shows as a rail that is slower than the others.

    Example: 15 leaves have WRED green_max_threshold 2097152, leaf7 has 20971520.

    Fix: make it equal, or suppress the finding with the reason for the difference.

    Source: derived from the bundle itself.
    """
    for (plane, role, hwsku), switches in _groups(fabric, lambda switch: (switch.plane, switch.role, switch.hwsku)):
        peers = " ".join(filter(None, ("most", plane, _plural(role), "of", hwsku)))
        for table in dict.fromkeys(name for switch in switches for name in switch.device.config):
            if table == "BUFFER_PROFILE":
                yield from _odd_tables(switches, table, peers, 3, _shared_profiles)
            elif table not in _OWN_TABLES and table not in _MAPS:
                yield from _odd_tables(switches, table, peers, 3)
        yield from _odd_tables(switches, "PFC_WD", peers, 3, lambda switch: _only(switch, "PFC_WD", "GLOBAL"))
        yield from _odd_tables(
            switches, "PORT_QOS_MAP", peers, 3, lambda switch: _only(switch, "PORT_QOS_MAP", "global")
        )


def _shared_profiles(switch: Switch) -> Table:
    """Headroom profiles follow the cables of a switch, and are judged by the SKU's table."""
    rows = switch.device.table("BUFFER_PROFILE")
    return {key: row for key, row in rows.items() if not key.startswith("pg_lossless_")}


def _only(switch: Switch, table: str, key: str) -> Table:
    rows = switch.device.table(table)
    return {key: rows[key]} if key in rows else {}


@rule("FG593", Severity.WARNING, "A port is configured unlike its peers", Basis.PEERS)
def odd_port(fabric: Fabric) -> Iterator[Defect]:
    """What: wired ports of one kind (plane, role, hwsku, speed, length of cable and role of the far end) have the same
    MTU, FEC, cable length, QoS maps, buffers, schedulers and watchdog; more than half of at least three must agree.
    Unused ports of a switch model are compared, too.

    Why: as with switches: an odd port is a slip, and the flows that hash onto it are the slow ones.

    Example: all uplinks have QUEUE|…|3 with scheduler.1, leaf2's Ethernet260 has scheduler.0.

    Fix: make it equal, or suppress the finding with the reason.

    Source: derived from the bundle itself.
    """
    by_kind: dict[tuple[object, ...], list[tuple[PortQos, Switch, str]]] = defaultdict(list)
    for ports in port_classes(fabric):
        for switch, port, end in ports.members:
            if end:
                by_kind[end.kind].append((ports, switch, port))
    for kind, members in by_kind.items():
        peers = f"most ports from {_plural(str(kind[1]))} to {_plural(str(kind[3]))}"
        yield from _odd_qos(members, peers)
        ports_alone = [(switch, port) for _, switch, port in members]
        for table in ("PORT", "CABLE_LENGTH"):
            yield from _odd_own_rows(ports_alone, table, peers)
    unused: dict[tuple[object, ...], list[tuple[Switch, str]]] = defaultdict(list)
    for switch in fabric.switches.values():
        wired, known = fabric.ends_of[switch.name], switch.layout.port_by_name if switch.layout else {}
        for port in switch.device.table("PORT").keys() - wired.keys():
            use = known[port].kind if port in known else ""
            unused[switch.plane, switch.role, switch.hwsku, use].append((switch, port))
    for idle in unused.values():
        yield from _odd_own_rows(idle, "PORT", "most unused ports")


def _odd_qos(members: Sequence[tuple[PortQos, Switch, str]], peers: str) -> Iterator[Defect]:
    """Odd rows among the QoS classes of one kind of port: classes are compared, each counted by its ports."""
    counts = Counter(ports for ports, _, _ in members)
    usual = max(counts, key=lambda ports: counts[ports])
    if len({id(ports.rows) for ports in counts}) <= 1 or 2 * counts[usual] <= len(members) or len(members) < 3:
        return
    example = next((switch, port) for ports, switch, port in members if ports is usual)
    for ports, switch, port in members:
        for table in PORT_TABLES if ports is not usual else ():
            if ports.rows[table] != usual.rows[table]:
                for index, odd in _odd_rows((ports.rows[table], usual.rows[table], usual.rows[table]), _NO_FIELDS, 3):
                    if index == 0:
                        place = port_place(switch, table, port, odd.key, odd.field)
                        other = port_place(example[0], table, example[1], odd.key, odd.field)
                        yield _defect(place, odd, peers, other)


def _odd_own_rows(members: Sequence[tuple[Switch, str]], table: str, peers: str) -> Iterator[Defect]:
    """Odd fields of the ports' rows in PORT, or odd values of CABLE_LENGTH, where a port is a field."""
    skip = _OWN_FIELDS.get(table, _NO_FIELDS)
    if table == "PORT":
        rows: list[Row] = [switch.device.row(table, port) for switch, port in members]
    else:
        rows = [{"length": switch.cable_text(port)} for switch, port in members]
    contents = {tuple((field, str(row[field])) for field in row if field not in skip) for row in rows}
    if len(contents) <= 1:
        return
    for index, odd in _odd_fields("", rows, skip, 3):
        switch, port = members[index]
        place = switch.place(table, *((port, odd.field) if table == "PORT" else (switch.cable_row, port)))
        same = (n for n, row in enumerate(rows) if row.get(odd.field) == odd.usual)
        other, other_port = members[next(same)]
        example = other.place(table, other_port if table == "PORT" else other.cable_row, odd.field)
        yield _defect(place, odd, peers, example)


@rule("FG594", Severity.WARNING, "A session, route or interface has unusual options", Basis.PEERS)
def odd_row(fabric: Fabric) -> Iterator[Defect]:
    """What: the rows of BGP_NEIGHBOR, DEVICE_NEIGHBOR_METADATA, STATIC_ROUTE, INTERFACE, LOOPBACK_INTERFACE and
    MGMT_INTERFACE of switches of one plane and role have the same options, apart from names, numbers and addresses; all
    have a management address if most have one.

    Why: one session with other timers, or one interface in another VRF, fails alone and at the worst time.

    Example: all sessions have holdtime 9, leaf1's session with spine2 has 180.

    Fix: make it equal, or suppress the finding with the reason.

    Source: derived from the bundle itself.
    """
    for (_, role), switches in _groups(fabric, lambda switch: (switch.plane, switch.role)):
        for table in _POPULATIONS:
            skip = _OWN_FIELDS.get(table, _NO_FIELDS)
            by_form: dict[object, list[tuple[Switch, str, Row]]] = defaultdict(list)
            for switch in switches:
                for key, row in switch.device.table(table).items():
                    if isinstance(row, dict):
                        by_form[_form(fabric, table, key)].append((switch, key, row))
            peers = f"most {table} rows of {_plural(role)}"
            for members in by_form.values():
                yield from _odd_population(members, table, skip, peers)
        managed = [bool(switch.device.table("MGMT_INTERFACE")) for switch in switches]
        if len(switches) >= 3 and 2 * sum(managed) > len(switches):
            for switch, has_address in zip(switches, managed, strict=True):
                if not has_address:
                    yield Defect(switch.place("MGMT_INTERFACE"), "the switch has no management address, its peers have")


def _form(fabric: Fabric, table: str, key: str) -> object:
    """Rows of one form are comparable: by number of key parts, neighbours by what they are."""
    if table == "DEVICE_NEIGHBOR_METADATA":
        return fabric.switches[key].role if key in fabric.switches else ""
    return key.count("|")


def _odd_population(
    members: Sequence[tuple[Switch, str, Row]], table: str, skip: frozenset[str], peers: str
) -> Iterator[Defect]:
    rows = [row for _, _, row in members]
    if not any(row.keys() - skip for row in rows):
        return
    for index, odd in _odd_fields("", rows, skip, 3):
        switch, key, _ = members[index]
        same = next(n for n, row in enumerate(rows) if row.get(odd.field) == odd.usual)
        example = members[same][0].place(table, members[same][1], odd.field)
        yield _defect(switch.place(table, key, odd.field), odd, peers, example)


def _plural(role: str) -> str:
    return {"leaf": "leaves", "": "switches"}.get(role, f"{role}s")


_Key = tuple[str, ...]


def _groups(fabric: Fabric, key: Callable[[Switch], _Key]) -> Iterator[tuple[_Key, list[Switch]]]:
    found: dict[_Key, list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        found[key(switch)].append(switch)
    return ((name, switches) for name, switches in found.items() if len(switches) > 1)
