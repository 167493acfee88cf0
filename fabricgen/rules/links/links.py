"""Both ends of each cable, and what each end believes of the other."""

import re
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric, far_end, number
from fabricgen.units import format_speed

# IPv4 20, UDP 8, BTH 12, RETH 16 and ICRC 4 bytes around an RDMA payload; SONiC counts PORT.mtu without Ethernet.
_ROCE_HEADER_BYTES = 60
_WHOLE_NAME = r"(?<![\w./-]){}(?![\w/-])"
# What an absent field means; SONiC's portmgrd and the YANG model.
_PORT_DEFAULTS = {"mtu": "9100", "autoneg": "off", "link_training": "off", "fec": ""}


@rule("FG241", Severity.ERROR, "A wired port does not run at the speed of its link")
def link_speed(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT.speed of a wired port is the speed of the link; without fabric.json, that of the far end.

    Why: ends of unlike speed give no link. Where they do, headroom and ECN thresholds were made for another speed.

    Example: the link is 400G, leaf1 has speed 400000 and spine1 has 100000.

    Fix: set both ends to the link's speed, with headroom profiles to match.

    Source: sonic-buildimage sonic-port.yang; sonic-swss cfgmgr/buffermgr.cpp (profile by speed).
    """
    for end in fabric.ends:
        planned = end.link.speed_mbps
        if end.port in end.switch.device.table("PORT") and planned and end.text("speed") != str(planned):
            message = f"speed is {end.text('speed') or 'missing'}, the link is {format_speed(planned)}"
            yield Defect(end.place("PORT", "speed"), message, f"set speed to {planned}", far_end(end, "PORT", "speed"))
    yield from _disagreements(fabric, "speed", only_unplanned=True)


@rule("FG242", Severity.ERROR, "FEC or negotiation differ at the two ends of a link")
def link_fec(fabric: Fabric) -> Iterator[Defect]:
    """What: fec, autoneg and link_training are the same at both ends.

    Why: an end that sends FEC code words to one that expects none sees no link.

    Example: leaf1 has fec rs, spine1 has fec none.

    Fix: set both ends alike; rs on PAM4 links.

    Source: IEEE 802.3; sonic-buildimage sonic-port.yang.
    """
    for field in ("fec", "autoneg", "link_training"):
        yield from _disagreements(fabric, field)


@rule("FG243", Severity.ERROR, "The MTU differs at the two ends of a link")
def link_mtu(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT.mtu is the same at both ends of a link between switches.

    Why: the end with the smaller MTU drops larger packets that the other one sends, and RDMA has no fragmentation:
    connections stall with retries while small packets and BGP work.

    Example: leaf1 has mtu 9100, spine1 has 1500.

    Fix: one MTU everywhere; 9100 is SONiC's default.

    Source: sonic-buildimage sonic-port.yang; SONiC facts on RoCE path MTU.
    """
    yield from _disagreements(fabric, "mtu")


@rule("FG244", Severity.ERROR, "The MTU is too small for RoCE")
def roce_mtu(fabric: Fabric) -> Iterator[Defect]:
    """What: PORT.mtu of every wired port holds the plane's RoCE payload with its headers.

    Why: an RDMA packet that does not fit is dropped, on every retry again.

    Example: RoCE MTU 4096 needs 4156 bytes, the port has mtu 1500.

    Fix: raise mtu (9100), or lower the NICs' RoCE MTU.

    Source: InfiniBand Architecture annex 17 (RoCEv2 header sizes).
    """
    for end in fabric.ends:
        plane = fabric.planes.get(end.switch.plane)
        mtu = number(end.text("mtu"))
        if plane and plane.roce_mtu and mtu is not None and mtu < plane.roce_mtu + _ROCE_HEADER_BYTES:
            needed = plane.roce_mtu + _ROCE_HEADER_BYTES
            if end.far and number(end.far.text("mtu")) != mtu:
                continue  # FG243 names it
            message = f"mtu is {mtu}, RoCE packets of {plane.roce_mtu} bytes need {needed}"
            related = far_end(end, "PORT", "mtu")
            yield Defect(end.place("PORT", "mtu"), message, f"set mtu to at least {needed}", related)


@rule("FG245", Severity.ERROR, "DEVICE_NEIGHBOR is not what the cable leads to")
def neighbor_row(fabric: Fabric) -> Iterator[Defect]:
    """What: each wired port has a DEVICE_NEIGHBOR row with the far device's name and port.

    Why: SONiC takes the ports in this table for the active ones: its own templates give QoS and buffers only to them,
    `pfcwd start_default` arms only them. A wrong name hides mis-cabling from every LLDP check.

    Example: Ethernet0 leads to spine1 port Ethernet8, the row says spine2.

    Fix: write the far end of the cable plan.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (PORT_ACTIVE); sonic-utilities pfcwd/main.py.
    """
    if fabric.bundle.links_from == "DEVICE_NEIGHBOR":
        return  # the links were read from this very table
    for end in fabric.ends:
        row = end.switch.device.row("DEVICE_NEIGHBOR", end.port)
        if end.port not in end.switch.device.table("DEVICE_NEIGHBOR"):
            message = f"a wired port has no DEVICE_NEIGHBOR row; its cable leads to {end.far_name} {end.far_port}"
            related = far_end(end, "DEVICE_NEIGHBOR")
            yield Defect(end.place("DEVICE_NEIGHBOR"), message, "add the row with name and port", related)
            continue
        for field, expected in (("name", end.far_name), ("port", end.far_port)):
            if row.get(field) != expected:
                message = f"{field} is {row.get(field)}, the cable leads to {end.far_name} {end.far_port}"
                place, related = end.place("DEVICE_NEIGHBOR", field), far_end(end, "DEVICE_NEIGHBOR")
                yield Defect(place, message, f"set {field} to {expected}", related)


@rule("FG246", Severity.ERROR, "DEVICE_NEIGHBOR_METADATA is not what the neighbour says of itself")
def neighbor_metadata(fabric: Fabric) -> Iterator[Defect]:
    """What: type and hwsku of a neighbouring switch are those of its own DEVICE_METADATA, addresses are ones it holds.
    Known neighbours have a type (else a warning).

    Why: the neighbour's type selects the default cable length, and with it the headroom, in SONiC's own templates.

    Example: leaf1 says that spine1 is of type SpineRouter, spine1 says LeafRouter.

    Fix: copy the neighbour's own values.

    Source: sonic-buildimage files/build_templates/buffers_config.j2 (cable_length macro, ports2cable).
    """
    for switch in fabric.switches.values():
        for name, row in switch.device.table("DEVICE_NEIGHBOR_METADATA").items():
            far = fabric.switches.get(name)
            if "type" not in row and (far or name in fabric.hosts):
                place = switch.place("DEVICE_NEIGHBOR_METADATA", name, "type")
                yield Defect(place, f"the type of {name} is missing", "", (), Severity.WARNING)
            if not far:
                continue
            for field in ("type", "hwsku"):
                own = far.device.text_of("DEVICE_METADATA", "localhost", field)
                if field in row and row[field] != own:
                    related = ((f"{name} itself", far.place("DEVICE_METADATA", "localhost", field)),)
                    message = f"{field} of {name} is {row[field]}, {name} says {own or 'nothing'}"
                    yield Defect(switch.place("DEVICE_NEIGHBOR_METADATA", name, field), message, "", related)
            for field, table in (("lo_addr", "LOOPBACK_INTERFACE"), ("mgmt_addr", "MGMT_INTERFACE")):
                held = {key.partition("|")[2].partition("/")[0] for key in far.device.table(table)}
                if field in row and str(row[field]).partition("/")[0] not in held:
                    message = f"{field} of {name} is {row[field]}, which {name} does not hold"
                    yield Defect(switch.place("DEVICE_NEIGHBOR_METADATA", name, field), message)
        rows = switch.device.table("DEVICE_NEIGHBOR_METADATA")
        lists_hosts = not rows.keys().isdisjoint(fabric.hosts)
        ends = fabric.ends_of[switch.name].values() if rows else ()
        for name in dict.fromkeys(end.far_name for end in ends if end.far or lists_hosts):
            if name not in rows:
                message = f"neighbour {name} has no DEVICE_NEIGHBOR_METADATA row"
                yield Defect(switch.place("DEVICE_NEIGHBOR_METADATA", name), message, "", (), Severity.WARNING)


@rule("FG247", Severity.WARNING, "A port without a cable has a neighbour")
def stray_neighbor(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_NEIGHBOR has rows only for ports that the cable plan knows.

    Why: a stray row arms QoS and watchdog on a port that leads nowhere, and often stands for a row that is missing
    elsewhere.

    Example: DEVICE_NEIGHBOR|Ethernet504 names spine4, the plan has no cable in Ethernet504.

    Fix: remove the row, or add the cable to the inventory.

    Source: sonic-buildimage files/build_templates/qos_config.j2 (PORT_ACTIVE).
    """
    if not fabric.bundle.wiring:
        return
    for switch in fabric.switches.values():
        for port in switch.device.table("DEVICE_NEIGHBOR").keys() - fabric.ends_of[switch.name].keys():
            yield Defect(switch.place("DEVICE_NEIGHBOR", port), "a port without a cable has a DEVICE_NEIGHBOR row")


@rule("FG248", Severity.ERROR, "A cable ends in a port that the switch does not have")
def wired_port_exists(fabric: Fabric) -> Iterator[Defect]:
    """What: every switch port that the cable plan names has a PORT row.

    Why: the link cannot come up, and rows of other tables for this port are retried for ever.

    Example: fabric.json has a cable in leaf1 Ethernet516, PORT ends at Ethernet512.

    Fix: correct the plan, or the layout of the switch.

    Source: sonic-swss orchagent/portsorch.cpp. Where the SKU is known, FG231 reports ports that it should have.
    """
    for end in fabric.ends:
        known = end.switch.layout.port_by_name if end.switch.layout else {}
        if end.port not in end.switch.device.table("PORT") and end.port not in known:
            message = f"the cable to {end.far_name} ends in {end.port}, which does not exist"
            yield Defect(end.place("PORT"), message, "", far_end(end, "PORT"))


@rule("FG250", Severity.WARNING, "The description names another far end")
def wrong_description(fabric: Fabric) -> Iterator[Defect]:
    """What: where most wired ports of a switch have the name of the far device and its port in their description, all
    have, and they are the right ones.

    Why: people and maps of the network believe descriptions. The cable that is pulled after a wrong one was a good one.

    Example: the description is "spine1:Ethernet8", the cable leads to spine2 Ethernet8.

    Fix: name what the cable leads to.

    Source: derived from the bundle itself.
    """
    for switch in fabric.switches.values():
        ends = [end for end in fabric.ends_of[switch.name].values() if end.port in switch.device.table("PORT")]
        wrong = [end for end in ends if not _is_named(end)]
        for end in wrong if 2 * len(wrong) < len(ends) else ():
            found = "says otherwise" if end.text("description") else "is missing"
            message = f"the cable leads to {end.far_name} {end.far_port}, the description {found}"
            yield Defect(end.place("PORT", "description"), message, "name the far end", far_end(end, "PORT"))


def _is_named(end: End) -> bool:
    """Whether the description has both names as whole words."""
    text = end.text("description")
    return all(re.search(_WHOLE_NAME.format(re.escape(name)), text) for name in (end.far_name, end.far_port))


def _disagreements(fabric: Fabric, field: str, only_unplanned: bool = False) -> Iterator[Defect]:
    """Links whose ends differ in a PORT field, told at the end whose value is unusual."""

    def value(end: End) -> str:
        return end.text(field) or _PORT_DEFAULTS.get(field, "")

    for pair in fabric.pairs:
        if value(pair[0]) != value(pair[1]) and not (only_unplanned and pair[0].link.speed_mbps):
            near, far = fabric.blamed(pair, value)
            message = f"{field} is {value(near) or 'missing'}, the far end has {value(far) or 'none'}"
            place, related = near.place("PORT", field), far_end(near, "PORT", field)
            yield Defect(place, message, f"set {field} alike at both ends", related)
