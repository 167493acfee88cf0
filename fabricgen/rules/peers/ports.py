"""Rules that compare ports, sessions and interfaces of one kind."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import orjson

from fabricgen.bundle.link_sources import NEIGHBORS
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.cable_texts import cable_texts
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.peers import (
    NO_FIELDS,
    OWN_FIELDS,
    PeerDeviation,
    deviating_fields,
    deviating_rows,
    deviation_defects,
    groups,
    plural,
)
from fabricgen.rules.view.qos import PortClass, port_place
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import Switch
from fabricgen.rules.view.usual_names import UsualNames, usual_names
from fabricgen.sonic.device_types import DEVICE_TYPES, OUTSIDE_ROLE
from fabricgen.sonic.port_qos import PORT_TABLES
from fabricgen.sonic.tables import Row

# Rows whose keys belong to one switch: only their fields are compared.
_POPULATIONS = (
    "DEVICE_NEIGHBOR_METADATA",
    "BGP_NEIGHBOR",
    "BGP_NEIGHBOR_AF",
    "STATIC_ROUTE",
    "INTERFACE",
    "LOOPBACK_INTERFACE",
    "MGMT_INTERFACE",
)


@rule("FG593", Severity.WARNING, "The configuration of a port differs from its peers", Basis.PEERS)
def port_deviation(fabric: Fabric) -> Iterator[Defect]:
    """What: Wired ports of one kind (plane, role, hwsku, speed, length of cable and role of the far end) have the same
    MTU, FEC, cable length, QoS maps, buffers, schedulers and watchdog; more than half of at least three must agree.
    Unused ports of a switch model and speed are compared, too.

    Why: An unplanned difference is usually a mistake, and the flows that use the port are slow.

    Example: All uplinks have QUEUE|…|3 with scheduler.1, leaf2's Ethernet260 has scheduler.0.

    Fix: Use the same configuration, or suppress the finding with the reason.

    Source: Derived from the bundle itself.
    """
    by_kind: dict[tuple[object, ...], list[tuple[PortClass, End]]] = defaultdict(list)
    for ports in port_classes(fabric):
        for _, _, end in ports.members:
            if end:
                by_kind[end.kind].append((ports, end))
    cordoned, texts, names = fabric.bundle.cordoned, cable_texts(fabric), usual_names(fabric)
    for kind, members in by_kind.items():
        peers = f"most ports from {plural(str(kind[1]))} to {plural(str(kind[3]))}"
        yield from _qos_deviations(members, names, peers)
        ends = [end for _, end in members]
        ports_alone = [(end.switch, end.port) for end in ends]
        rows = [end.row for end in ends]
        if cordoned:  # compared as if they were up; FG237 judges their admin_status
            rows = [{**row, "admin_status": "up"} if (end.switch.name, end.port) in cordoned else row
                    for end, row in zip(ends, rows, strict=True)]  # fmt: skip
        yield from _own_row_deviations(ports_alone, "PORT", rows, peers)
        lengths = [texts[switch].get(port, "") for switch, port in ports_alone]
        if len({*lengths}) > 1:
            rows = [{"length": text} for text in lengths]
            yield from _own_row_deviations(ports_alone, "CABLE_LENGTH", rows, peers)
    unused: dict[tuple[object, ...], list[tuple[Switch, str]]] = defaultdict(list)
    # Only plans and DEVICE_NEIGHBOR say which ports are unused: other sources of links do not have hosts.
    are_known = fabric.bundle.wiring or NEIGHBORS in fabric.bundle.links_from.split(", ")
    for switch in fabric.switches.values() if are_known else ():
        wired, known = fabric.ends_of[switch.name], switch.layout.port_by_name if switch.layout else {}
        for port in (name for name in switch.device.table("PORT") if name not in wired):
            row = switch.device.row("PORT", port)
            kind_of_row = f"{row.get('speed')} on {str(row.get('lanes')).count(',') + 1} lanes"
            use = kind_of_row  # for an unknown SKU, the row itself
            if port in known:
                use = f"{known[port].kind} {known[port].breakout_mode} {known[port].speed_mbps} {known[port].fec}"
            unused[switch.network, switch.role, switch.hwsku, use].append((switch, port))
    for idle in unused.values():
        rows = [switch.device.row("PORT", port) for switch, port in idle]
        yield from _own_row_deviations(idle, "PORT", rows, "most unused ports")


def _qos_deviations(
    members: Sequence[tuple[PortClass, End]], names: Mapping[str, UsualNames], peers: str
) -> Iterator[Defect]:
    """QoS rows that differ among the ports of one kind: distinct contents are compared, each counted by its ports."""
    classes = dict.fromkeys(ports for ports, _ in members)
    rows = {ports: names[ports.qos.switches[0].name].rows(ports.rows) for ports in classes}
    contents = {ports: orjson.dumps(rows[ports]) for ports in classes}
    counts = Counter(contents[ports] for ports, _ in members)
    most, count = counts.most_common(1)[0]
    if len(counts) == 1 or 2 * count <= len(members) or len(members) < 3:
        return
    usual, example = next(one for one in members if contents[one[0]] == most)
    found = []
    for ports, end in members:
        for table in PORT_TABLES if contents[ports] != most else ():
            mine, theirs = rows[ports][table], rows[usual][table]
            if mine != theirs:
                for index, odd in deviating_rows((mine, theirs, theirs), NO_FIELDS, 3):
                    if index == 0:
                        at = (end, example)
                        places = (port_place(one.switch, table, one.port, odd.key, odd.field) for one in at)
                        found.append(PeerDeviation(end.switch, odd, *places))
    yield from deviation_defects(found, dict.fromkeys(end.switch for _, end in members), peers)


def _own_row_deviations(
    members: Sequence[tuple[Switch, str]], table: str, rows: Sequence[Row], peers: str
) -> Iterator[Defect]:
    """Fields that differ in the ports' rows of PORT, or in CABLE_LENGTH, which has a field for each port."""
    skip = OWN_FIELDS.get(table, NO_FIELDS)
    found = []
    for index, odd in deviating_fields("", rows, skip, 3):
        switch, port = members[index]
        place = switch.place(table, *((port, odd.field) if table == "PORT" else (switch.cable_row(port), port)))
        same = (n for n, row in enumerate(rows) if row.get(odd.field) == odd.usual)
        other, other_port = members[next(same)]
        example = other.place(table, other_port if table == "PORT" else other.cable_row(other_port), odd.field)
        found.append(PeerDeviation(switch, odd, place, example))
    if found:
        yield from deviation_defects(found, dict.fromkeys(switch for switch, _ in members), peers)


@rule("FG594", Severity.WARNING, "A session, route or interface has unusual options", Basis.PEERS)
def row_deviation(fabric: Fabric) -> Iterator[Defect]:
    """What: The rows of BGP_NEIGHBOR, BGP_NEIGHBOR_AF, DEVICE_NEIGHBOR_METADATA, STATIC_ROUTE, INTERFACE,
    LOOPBACK_INTERFACE and MGMT_INTERFACE of switches of one plane and role have the same options, apart from names,
    numbers and addresses; all have a management address if most have one, and unnumbered sessions the same families.

    Why: One session with other timers, or one interface in another VRF, fails while its peers work.

    Example: All sessions have holdtime 9, but leaf1's session with spine2 has 180.

    Fix: Use the same configuration, or suppress the finding with the reason.

    Source: Derived from the bundle itself.
    """
    for (_, role), switches in groups(fabric, lambda switch: (switch.network, switch.role)):
        for table in _POPULATIONS:
            skip = OWN_FIELDS.get(table, NO_FIELDS)
            tables = [switch.device.table(table) for switch in switches]
            if all(map(skip.issuperset, chain.from_iterable(rows.values() for rows in tables))):
                continue
            by_form: dict[object, list[tuple[Switch, str, Row]]] = defaultdict(list)
            shared = Counter(chain.from_iterable(tables)) if table == "STATIC_ROUTE" else Counter[str]()
            for switch in switches:
                for key, row in switch.device.table(table).items():
                    if isinstance(row, dict):
                        by_form[_form(fabric, switch, table, key, shared[key] > 1)].append((switch, key, row))
            peers = f"most {table} rows of {plural(role)}"
            for members in by_form.values():
                yield from _population_deviations(members, table, skip, peers)
        yield from _missing_families(switches, plural(role))
        managed = [bool(switch.device.table("MGMT_INTERFACE")) for switch in switches]
        if len(switches) >= 3 and 2 * sum(managed) > len(switches):
            for switch, has_address in zip(switches, managed, strict=True):
                if not has_address:
                    message = "the switch has no management address, but its peers have one"
                    yield Defect(switch.place("MGMT_INTERFACE"), message, "add the address")


def _form(fabric: Fabric, switch: Switch, table: str, key: str, shared: bool) -> object:
    """Rows of one form are comparable. The form is the number of key parts and: for neighbors and ports their role, for
    ports of hosts the VRF of their tenant, for sessions how they identify the far end, for routes whether other
    switches have them and whether they have a next hop."""
    parts = key.count("|")
    if table == "DEVICE_NEIGHBOR_METADATA":
        return fabric.switches[key].role if key in fabric.switches else switch.declared_role(key) == OUTSIDE_ROLE
    if table == "BGP_NEIGHBOR":
        return parts, parse_interface(key.rpartition("|")[2]) is None
    if table == "BGP_NEIGHBOR_AF":
        _, _, rest = key.partition("|")
        peer, _, family = rest.rpartition("|")
        return parts, parse_interface(peer) is None, family
    if table == "INTERFACE":
        far_role = end.far_role if (end := fabric.ends_of[switch.name].get(key)) else ""
        is_of_tenant = far_role not in DEVICE_TYPES and key in switch.device.table(table)
        return parts, far_role, switch.address_space(key)[0] if is_of_tenant else ""
    if table == "STATIC_ROUTE":
        return parts, shared, "nexthop" in switch.device.row(table, key)
    return parts


def _missing_families(switches: Sequence[Switch], peers: str) -> Iterator[Defect]:
    """Unnumbered sessions without the row of an address family that most sessions have."""
    sessions = [
        (switch, key)
        for switch in switches
        for key in switch.device.table("BGP_NEIGHBOR")
        if "|" in key and parse_interface(key.rpartition("|")[2]) is None
    ]
    families = {key.rpartition("|")[2] for switch in switches for key in switch.device.table("BGP_NEIGHBOR_AF")}
    for family in sorted(families) if len(sessions) >= 3 else ():
        without = [(one, key) for one, key in sessions if f"{key}|{family}" not in one.device.table("BGP_NEIGHBOR_AF")]
        for switch, key in without if 2 * len(without) < len(sessions) else ():
            message = f"the row is missing, but most sessions of {peers} have one for {family}"
            yield Defect(switch.place("BGP_NEIGHBOR_AF", f"{key}|{family}"), message, "add the row")


def _population_deviations(
    members: Sequence[tuple[Switch, str, Row]], table: str, skip: frozenset[str], peers: str
) -> Iterator[Defect]:
    rows = [row for _, _, row in members]
    if not any(row.keys() - skip for row in rows):
        return
    found = []
    for index, odd in deviating_fields("", rows, skip, 3):
        switch, key, _ = members[index]
        same = next(n for n, row in enumerate(rows) if row.get(odd.field) == odd.usual)
        example = members[same][0].place(table, members[same][1], odd.field)
        found.append(PeerDeviation(switch, odd, switch.place(table, key, odd.field), example))
    yield from deviation_defects(found, dict.fromkeys(switch for switch, _, _ in members), peers)
