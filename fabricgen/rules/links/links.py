"""Rules on the two ends of each cable, and on what each end has configured for the other."""

import re
from collections.abc import Iterator

from fabricgen.bundle.link_sources import DESCRIPTIONS, NEIGHBORS, ROUTES, SUBNETS
from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES, link_mtu_for_roce
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.device_types import DEVICE_TYPES, SERVER_TYPE
from fabricgen.sonic.tables import Row
from fabricgen.units import format_speed

_WHOLE_NAME = r"(?<![\w./-]){}(?![\w/-])"
_ONE_OF = {ROUTES: "a static route", SUBNETS: "a common subnet", DESCRIPTIONS: "the description"}
# The value of a missing field, by SONiC's portmgrd and the YANG model.
_PORT_DEFAULTS = {"mtu": str(DEFAULT_MTU_BYTES), "autoneg": "off", "link_training": "off", "fec": ""}


@rule("FG241", Severity.ERROR, "The speed of a port differs from that of its link", breaks=Breaks.LINK)
def link_speed(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT.speed of a wired port is the speed of the link; without fabric.json, that of the far end.

    Why: Ends with different speeds give no link. Headroom and ECN thresholds also depend on the speed.

    Example: The link is 400G, leaf1 has speed 400000 and spine1 has 100000.

    Fix: Set both ends to the link's speed, with the headroom profiles for it.

    Source: sonic-buildimage sonic-port.yang; sonic-swss cfgmgr/buffermgr.cpp (profile by speed).
    """
    for end in fabric.ends:
        planned = end.link.speed_mbps
        if planned and end.text("speed") != str(planned) and end.port in end.switch.device.table("PORT"):
            message = f"speed is {end.text('speed') or 'missing'}, but the link is {format_speed(planned)}"
            yield Defect(end.place("PORT", "speed"), message, f"set speed to {planned}", far_end(end, "PORT", "speed"))
    yield from _disagreements(fabric, "speed", only_unplanned=True)


@rule("FG242", Severity.ERROR, "FEC or negotiation differs at the two ends of a link", breaks=Breaks.SIGNAL)
def link_fec(fabric: Fabric) -> Iterator[Defect]:
    """What: fec, autoneg and link_training are the same at both ends.

    Why: An end with FEC and an end without FEC get no link.

    Example: leaf1 has fec rs, spine1 has fec none.

    Fix: Use the same values at both ends; rs on PAM4 links.

    Source: IEEE 802.3; sonic-buildimage sonic-port.yang.
    """
    for field in ("fec", "autoneg", "link_training"):
        yield from _disagreements(fabric, field)


@rule("FG243", Severity.ERROR, "The MTU differs at the two ends of a link")
def link_mtu(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT.mtu is the same at both ends of a link between switches.

    Why: The end with the smaller MTU drops larger packets of the other end, and RDMA has no fragmentation: connections
    stall with retries while small packets and BGP work.

    Example: leaf1 has mtu 9100, spine1 has 1500.

    Fix: Use one MTU everywhere; 9100 is SONiC's default.

    Source: sonic-buildimage sonic-port.yang; SONiC facts on RoCE path MTU.
    """
    yield from _disagreements(fabric, "mtu")


@rule("FG244", Severity.ERROR, "The MTU is too small for RoCE")
def roce_mtu(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT.mtu of every wired port is at least the plane's RoCE MTU plus the largest RoCEv2 headers (96 bytes).

    Why: An RDMA packet above the MTU is dropped, and so is every retry.

    Example: RoCE MTU 4096 needs 4192 bytes, the port has mtu 1500.

    Fix: Raise mtu (9100), or lower the NICs' RoCE MTU.

    Source: InfiniBand Architecture annex A17 (RoCEv2 headers); torvalds/linux include/rdma/ib_addr.h (iboe_get_mtu).
    """
    for end in fabric.ends:
        mtu, plane = number(end.text("mtu")), fabric.planes.get(end.switch.plane)
        needed = link_mtu_for_roce(plane.roce_mtu) if plane and plane.roce_mtu else 0
        if plane and mtu is not None and mtu < needed:
            if end.far and number(end.far.text("mtu")) != mtu:
                continue  # FG243 reports it
            message = f"mtu is {mtu} bytes, but RoCE packets of {plane.roce_mtu} bytes need {needed} bytes"
            related = far_end(end, "PORT", "mtu")
            yield Defect(end.place("PORT", "mtu"), message, f"set mtu to at least {needed}", related)


@rule("FG245", Severity.ERROR, "DEVICE_NEIGHBOR differs from the far end of the cable")
def neighbor_row(fabric: Fabric) -> Iterator[Defect]:
    """What: Each wired port has a DEVICE_NEIGHBOR row with the far device's name and port. A switch without any row is
    one finding, and a note in files without fabric.json or without any QoS: labs and other controllers do not write the
    table.

    Why: SONiC treats the ports in this table as active: its templates give QoS and buffers only to them, and
    `pfcwd start_default` starts only on them. A wrong name hides a wrong cable from LLDP checks.

    Example: The cable of Ethernet0 leads to Ethernet8 of spine1, the row has spine2.

    Fix: Set the far end of the cable.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (PORT_ACTIVE); sonic-utilities pfcwd/main.py.
    """
    if NEIGHBORS in fabric.bundle.links_from.split(", "):
        return  # the links come from this table
    tables = {switch: switch.device.table("DEVICE_NEIGHBOR") for switch in fabric.switches.values()}
    for switch, table in tables.items():
        if not table and (ports := len(fabric.ends_of[switch.name])):
            message = "the switch has no DEVICE_NEIGHBOR row, so SONiC's templates treat no port as active"
            hint = "add a row with name and port for each cable"
            severity = None if fabric.bundle.wiring and switch.has_qos else Severity.NOTE
            yield Defect(switch.place("DEVICE_NEIGHBOR"), message, hint, severity=severity, count=ports)
    for end in fabric.ends:
        if not tables[end.switch]:
            continue
        row = tables[end.switch].get(end.port)
        if row is None:
            message = f"the port has no DEVICE_NEIGHBOR row, but its cable leads to {end.far_name} {end.far_port}"
            related = far_end(end, "DEVICE_NEIGHBOR")
            yield Defect(end.place("DEVICE_NEIGHBOR"), message, "add the row with name and port", related)
            continue
        for field, expected in (("name", end.far_name), ("port", end.far_port)):
            if row.get(field) != expected:
                message = f"{field} is {row.get(field)}, but the cable leads to {end.far_name} {end.far_port}"
                place, related = end.place("DEVICE_NEIGHBOR", field), far_end(end, "DEVICE_NEIGHBOR")
                yield Defect(place, message, f"set {field} to {expected}", related)


@rule("FG246", Severity.ERROR, "DEVICE_NEIGHBOR_METADATA differs from the neighbor's own configuration")
def neighbor_metadata(fabric: Fabric) -> Iterator[Defect]:
    """What: type and hwsku of a neighbor switch are those in its DEVICE_METADATA, and the addresses are its own.
    Known neighbors have a type, and hosts do not have that of a switch (else a warning).

    Why: In SONiC's templates the neighbor's type selects the default cable length and thus the headroom.

    Example: leaf1 has type SpineRouter for spine1, spine1 itself has LeafRouter.

    Fix: Copy the neighbor's own values.

    Source: sonic-buildimage files/build_templates/buffers_config.j2 (cable_length macro, ports2cable).
    """
    for switch in fabric.switches.values():
        for name, row in switch.device.table("DEVICE_NEIGHBOR_METADATA").items():
            far = fabric.switches.get(name)
            if "type" not in row and (far or name in fabric.hosts):
                place = switch.place("DEVICE_NEIGHBOR_METADATA", name, "type")
                yield Defect(place, f"the type of {name} is missing", "add type", (), Severity.WARNING)
            if name in fabric.hosts and not far and row.get("type") in DEVICE_TYPES.values():
                place, hint = switch.place("DEVICE_NEIGHBOR_METADATA", name, "type"), f"set type to {SERVER_TYPE}"
                yield Defect(place, f"{name} is a host, but its type is {row['type']}", hint, (), Severity.WARNING)
            if not far:
                continue
            for field, own in (("type", far.type), ("hwsku", far.hwsku)):
                if field in row and row[field] != own:
                    hint = f"set {field} to {own}" if own else f"remove {field}"
                    related = ((f"{name} itself", far.place("DEVICE_METADATA", "localhost", field)),)
                    message = f"{field} of {name} is {row[field]}, but {name} itself has {own or 'none'}"
                    yield Defect(switch.place("DEVICE_NEIGHBOR_METADATA", name, field), message, hint, related)
            yield from _foreign_addresses(switch, far, row)
        rows = switch.device.table("DEVICE_NEIGHBOR_METADATA")
        lists_hosts = not rows.keys().isdisjoint(fabric.hosts.keys())
        ends = fabric.ends_of[switch.name].values() if rows else ()
        for name in dict.fromkeys(end.far_name for end in ends if end.far or lists_hosts):
            if name not in rows:
                message = f"the neighbor {name} has no DEVICE_NEIGHBOR_METADATA row"
                hint = "add the row"
                yield Defect(switch.place("DEVICE_NEIGHBOR_METADATA", name), message, hint, (), Severity.WARNING)


def _foreign_addresses(switch: Switch, far: Switch, row: Row) -> Iterator[Defect]:
    """The addresses in a row about a neighbor that the neighbor does not have."""
    for field, table in (("lo_addr", "LOOPBACK_INTERFACE"), ("mgmt_addr", "MGMT_INTERFACE")):
        if field not in row:
            continue
        held = {key.partition("|")[2].partition("/")[0] for key in far.device.table(table)}
        if str(row[field]).partition("/")[0] not in held:
            message = f"{field} of {far.name} is {row[field]}, but {far.name} does not have this address"
            yield Defect(switch.place("DEVICE_NEIGHBOR_METADATA", far.name, field), message, f"correct {field}")


@rule("FG247", Severity.WARNING, "A port without a cable has a neighbor")
def stray_neighbor(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_NEIGHBOR has rows only for ports with a cable in fabric.json.

    Why: The row enables QoS and watchdog on a port without a cable, and often another port lacks its row.

    Example: DEVICE_NEIGHBOR|Ethernet504 names spine4, but fabric.json has no cable at Ethernet504.

    Fix: Remove the row, or add the cable to the inventory.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (PORT_ACTIVE).
    """
    if not fabric.bundle.wiring:
        return
    for switch in fabric.switches.values():
        wired = fabric.ends_of[switch.name]
        for port in (name for name in switch.device.table("DEVICE_NEIGHBOR") if name not in wired):
            hint = "remove the row"
            hint = "a port without a cable has a DEVICE_NEIGHBOR row"
            yield Defect(switch.place("DEVICE_NEIGHBOR", port), hint, hint)


@rule("FG248", Severity.ERROR, "A cable ends at a port that does not exist", breaks=Breaks.CABLE)
def wired_port_exists(fabric: Fabric) -> Iterator[Defect]:
    """What: Every switch port with a cable in fabric.json has a PORT row.

    Why: The link cannot come up, and SONiC retries rows of other tables for this port for ever.

    Example: fabric.json has a cable at Ethernet516 of leaf1, but the last port in PORT is Ethernet512.

    Fix: Correct the inventory, or the layout of the switch.

    Source: sonic-swss orchagent/portsorch.cpp. If the SKU is known, FG231 reports missing ports.
    """
    for end in fabric.ends:
        known = end.switch.layout.port_by_name if end.switch.layout else {}
        if end.port not in end.switch.device.table("PORT") and end.port not in known:
            message = f"the cable to {end.far_name} ends at {end.port}, which does not exist"
            yield Defect(end.place("PORT"), message, "add the port, or move the cable", far_end(end, "PORT"))


@rule("FG250", Severity.WARNING, "The description names another far end")
def wrong_description(fabric: Fabric) -> Iterator[Defect]:
    """What: If most wired ports of a switch have the name of the far device and its port in their description, all
    ports have the correct ones.

    Why: People and network maps rely on descriptions. With a wrong one, somebody pulls the wrong cable.

    Example: The description is "spine1:Ethernet8", the cable leads to Ethernet8 of spine2.

    Fix: Set the name and port of the far end.

    Source: Derived from the bundle itself.
    """
    contradicted = {one.near for one in fabric.bundle.contradictions if one.source == DESCRIPTIONS}  # FG416 has them
    for switch in fabric.switches.values():
        ends = [end for end in fabric.ends_of[switch.name].values() if end.port in switch.device.table("PORT")]
        wrong = [end for end in ends if not _is_named(end) and (switch.name, end.port) not in contradicted]
        for end in wrong if 2 * len(wrong) < len(ends) else ():
            found = "differs" if end.text("description") else "is missing"
            message = f"the cable leads to {end.far_name} {end.far_port}, but the description {found}"
            yield Defect(
                end.place("PORT", "description"),
                message,
                f"set description to {end.far_name}:{end.far_port}",
                far_end(end, "PORT"),
            )


@rule("FG416", Severity.WARNING, "The sources of a link contradict each other")
def contradicting_sources(fabric: Fabric) -> Iterator[Defect]:
    """What: Without fabric.json, all that the files say about the far end of a port is the same: DEVICE_NEIGHBOR, the
    addresses of BGP sessions and static routes (of CONFIG_DB, and of frr.conf beside it), subnets for two ports, and
    descriptions of ports.

    Why: The link counts as the first of these sources says. If another one is right, the verdicts are those of another
    fabric.

    Example: DEVICE_NEIGHBOR connects leaf1 Ethernet0 with spine1 Ethernet4, the description of Ethernet0 is
    "spine2:Ethernet4".

    Fix: Correct the wrong source, or give the cables with --lldp or --links.

    Source: docs/brownfield.md, section "Links".
    """
    for one in fabric.bundle.contradictions:
        switch = fabric.switches[one.near[0]]
        one_end, other_end = (" ".join(end) for end in one.kept)
        kept = f"{_ONE_OF.get(one.kept_source, one.kept_source)} connects {one_end} with {other_end}"
        message = f"{_ONE_OF.get(one.source, one.source)} names {' '.join(one.far)} as the far end, but {kept}"
        hint = "correct the wrong one, or give the cables with --lldp or --links"
        field = ("description",) if one.source == DESCRIPTIONS else ()
        yield Defect(switch.place("PORT", one.near[1], *field), message, hint)


def _is_named(end: End) -> bool:
    """Whether the description contains both names as whole words."""
    text = end.text("description")
    if text == f"{end.far_name}:{end.far_port}":  # as `render` writes it
        return True
    return all(re.search(_WHOLE_NAME.format(re.escape(name)), text) for name in (end.far_name, end.far_port))


def _disagreements(fabric: Fabric, field: str, only_unplanned: bool = False) -> Iterator[Defect]:
    """Links whose ends differ in a PORT field, reported at the end whose value is unusual."""

    def value(end: End) -> str:
        return end.text(field) or _PORT_DEFAULTS.get(field, "")

    for pair, (row, far_row) in zip(fabric.pairs, fabric.pair_rows, strict=True):
        if row.get(field) == far_row.get(field) or (only_unplanned and pair[0].link.speed_mbps):
            continue
        if value(pair[0]) != value(pair[1]):
            near, far = fabric.blamed(pair, value)
            message = f"{field} is {value(near) or 'missing'}, but the far end has {value(far) or 'none'}"
            place, related = near.place("PORT", field), far_end(near, "PORT", field)
            yield Defect(place, message, f"set the same {field} at both ends", related)
