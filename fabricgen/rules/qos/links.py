"""Rules on QoS settings that the two ends of a link must share."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.qos import PortClass, QosTables, priorities
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.port_qos import MAP_TABLES
from fabricgen.sonic.references import reference_name

_THRESHOLDS = ("green_min_threshold", "green_max_threshold", "green_drop_probability")


@derived
def _by_end(fabric: Fabric) -> Mapping[End, PortClass]:
    return {end: ports for ports in port_classes(fabric) for _, _, end in ports.members if end}


@rule("FG516", Severity.ERROR, "PFC differs at the two ends of a link")
def pfc_of_link(fabric: Fabric) -> Iterator[Defect]:
    """What: The switches at the ends of a link have PFC on the same priorities. This rule reports links whose ends are
    each consistent; otherwise FG513 reports the wrong end.

    Why: An end without PFC on a priority ignores pauses for it, and the headroom of the other end overflows.

    Example: leaf1 has PFC on 3 and 4 on the link, spine1 only on 3.

    Fix: Use one set of priorities in the whole fabric.

    Source: IEEE 802.1Qbb.
    """
    if len({ports.pfc for ports in port_classes(fabric)}) < 2:
        return
    ports_at = _by_end(fabric)

    def pfc(end: End) -> object:
        return ports_at[end].pfc if end in ports_at else None

    for pair in fabric.pairs:
        one, other = (ports_at.get(end) for end in pair)
        if one is None or other is None or one is other or one.pfc == other.pfc:
            continue
        if one.pfc == one.lossless and other.pfc == other.lossless and one.port_map and other.port_map:
            near, far = fabric.blamed(pair, pfc)
            found, theirs = (priorities(ports_at[end].pfc) for end in (near, far))
            message = f"pfc_enable is {found}, but {theirs} at the far end"
            related = (("the far end", far.place("PORT_QOS_MAP", "pfc_enable")),)
            yield Defect(near.place("PORT_QOS_MAP", "pfc_enable"), message, "use one set of priorities", related)


@rule("FG545", Severity.WARNING, "ECN differs at the two ends of a link")
def ecn_of_link(fabric: Fabric) -> Iterator[Defect]:
    """What: Two switches of one hwsku at the ends of a link mark at the same thresholds and with the same probability
    in each lossless queue. FG592 reports a switch that differs from the others of its role.

    Why: Both ends have the same chip and speed, so they should mark at the same queue length. Otherwise flows through
    the end with the lower threshold slow down earlier and get less than their share.

    Example: leaves mark from 131072 bytes, spines of the same model from 1048576 bytes.

    Fix: Use one WRED profile for a speed.

    Source: Zhu et al., SIGCOMM 2015.
    """
    marks_of = {ports: tuple(_marks(ports, p) for p in sorted(ports.lossless)) for ports in port_classes(fabric)}
    if len({*marks_of.values()}) < 2:
        return
    ports_at = _by_end(fabric)

    def marks(end: End) -> tuple[tuple[object, ...], ...]:
        ports = ports_at.get(end)
        return marks_of[ports] if ports else ()

    compared = set()
    for pair in fabric.pairs:
        near, far = pair
        one, other = ports_at.get(near), ports_at.get(far)
        if one is None or other is None or (one, other) in compared or near.switch.hwsku != far.switch.hwsku:
            continue
        compared.add((one, other))
        ours, theirs = marks(near), marks(far)
        if ours == theirs or not (ours and theirs) or any(fabric.is_unusual(end, marks) for end in pair):
            continue
        queue, far_queue = one.queue_of(min(one.lossless)), other.queue_of(min(other.lossless))
        name, far_name = one.queue_text(queue, "wred_profile")[1], other.queue_text(far_queue, "wred_profile")[1]
        if name and far_name and all(_is_usual_of_tier(fabric, end) for end in pair):
            message = f"{name} and {far_name} of {far.switch.name} at the far end have different thresholds"
            related = (("the far end's profile", far.switch.place("WRED_PROFILE", far_name)),)
            for switch in one.qos.switches:
                yield Defect(switch.place("WRED_PROFILE", name), message, "use one profile for a speed", related)


def _marks(ports: PortClass, priority: int) -> tuple[object, ...]:
    name = ports.queue_text(ports.queue_of(priority), "wred_profile")[1]
    row = ports.qos.row("WRED_PROFILE", name or "")
    return tuple(row.get(field) for field in _THRESHOLDS)


def _is_usual_of_tier(fabric: Fabric, end: End) -> bool:
    """Whether all switches of the end's role and model have its WRED profiles."""
    switch = end.switch
    return len(_wred_of_tiers(fabric)[switch.network, switch.role, switch.hwsku]) == 1


@derived
def _wred_of_tiers(fabric: Fabric) -> Mapping[tuple[object, ...], set[str]]:
    """(network, role, hwsku) -> the distinct WRED_PROFILE tables, as text."""
    tiers: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for switch in fabric.switches.values():
        tiers[switch.network, switch.role, switch.hwsku].add(str(switch.device.table("WRED_PROFILE")))
    return tiers


@rule("FG509", Severity.WARNING, "A VLAN spans lossless links of the fabric")
def switched_fabric(fabric: Fabric) -> Iterator[Defect]:
    """What: Ports with PFC to another switch are routed ports and not members of a VLAN.

    Why: The switch floods a frame to an address that has aged out to every port of the VLAN. Flooded lossless frames go
    up and down, so that pauses can form a cycle.

    Example: VLAN_MEMBER has Vlan100|Ethernet256, which leads to spine1 and has pfc_enable.

    Fix: Remove the port from the VLAN and give it an address.

    Source: Guo et al., SIGCOMM 2016 (deadlock by flooding).
    """
    if not any(switch.vlans_of for switch in fabric.switches.values()):
        return
    for ports in port_classes(fabric):
        for switch, port, end in ports.members if ports.pfc else ():
            if end and end.far_role not in ("host", OUTSIDE_ROLE, ""):
                for vlan, _ in switch.vlans_of.get(port, ()):
                    message = f"the port to {end.far_name} has PFC and is a member of {vlan}"
                    place = switch.place("VLAN_MEMBER", f"{vlan}|{port}")
                    yield Defect(place, message, "remove the port from the VLAN and give it an address")


@rule(
    "FG518", Severity.ERROR, "A map, WRED profile or scheduler that most ports use is missing", breaks=Breaks.LOSSLESS
)
def missing_definition(fabric: Fabric) -> Iterator[Defect]:
    """What: The maps that PORT_QOS_MAP names, and the schedulers and WRED profiles that QUEUE names, exist.

    Why: orchagent waits for the row, and the ports have no QoS until it exists. FG408 reports each reference; this rule
    reports a row that more than half of the ports need.

    Example: 32 ports use the scheduler LOSSY, but SCHEDULER has only LOSSLESS and STRICT.

    Fix: Add the row under the name that the ports use.

    Source: sonic-swss orchagent/qosorch.cpp (need_retry).
    """
    users: dict[QosTables, Counter[tuple[str, str]]] = defaultdict(Counter)
    for ports in port_classes(fabric):
        named = {(table, ports.text(field)) for field, table in MAP_TABLES.items()}
        for row in ports.rows["QUEUE"].values():
            named |= {(table, str(row.get(field, ""))) for field, table in _QUEUE_TABLES.items()}
        users[ports.qos].update({name: len(ports.members) for name in named})
        users[ports.qos]["", ""] += len(ports.members)
    for qos, counts in users.items():
        for (table, text), count in counts.items():
            name = reference_name(text)
            if name and name not in qos.tables[table] and 2 * count > counts["", ""]:
                yield from qos.defects(table, name, "", f"{name} is missing, but most ports use it", "add the row")


_QUEUE_TABLES = {"scheduler": "SCHEDULER", "wred_profile": "WRED_PROFILE"}
