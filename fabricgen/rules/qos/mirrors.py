"""Rules on mirror sessions: copies of packets take neither the lossless classes nor the links of the fabric."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import HeldAddress
from fabricgen.rules.view.fabric import Fabric, far_end
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.units import whole_number

_TABLE = "MIRROR_SESSION"
_DEFAULT_DSCP, _DEFAULT_QUEUE = "8", "0"  # sonic-swss orchagent/mirrororch.cpp (MirrorEntry)


@rule("FG559", Severity.WARNING, "Mirrored packets travel in a lossless class")
def lossless_copies(fabric: Fabric) -> Iterator[Defect]:
    """What: The dscp of a mirror session to an address maps to a lossy class that is not the one of CNPs, and its queue
    is a lossy queue, on the ports of its switch.

    Why: The switch sends the copies with this DSCP, so each hop puts them into the lossless queue. Copies of a full
    port fill it up to the collector, and their pauses stop the traffic that somebody wants to observe. In the class
    of CNPs, copies delay CNPs and go before all other traffic.

    Example: MIRROR_SESSION|everflow has dscp 26, the DSCP of RoCE.

    Fix: Set dscp to that of a lossy class, such as 0 or 8, and queue to 0.

    Source: sonic-swss orchagent/mirrororch.cpp (SAI_MIRROR_SESSION_ATTR_TOS and _TC); opencomputeproject SAI pull
    request 786; sonic-buildimage issue 20652.
    """
    classes, cnp_dscps = _lossless_classes(fabric), _cnp_dscps(fabric)
    for switch in fabric.switches.values():
        cnp = cnp_dscps.get(switch.device.wired.plane) if switch.device.wired else None
        for key, row in switch.device.table(_TABLE).items():
            if row.get("type") == "SPAN" or ("dst_ip" not in row and "type" not in row):
                continue
            dscp = whole_number(row.get("dscp", _DEFAULT_DSCP))
            tc = whole_number(row.get("queue", _DEFAULT_QUEUE))
            for ports in classes.get(switch, ()):
                found = ""
                if dscp is not None and ports.dscp_to_tc.get(dscp) in ports.lossless:
                    found, said = "dscp", f"dscp {dscp}, whose class {ports.dscp_to_tc[dscp]} is lossless"
                elif dscp is not None and cnp is not None and ports.dscp_to_tc.get(dscp) == _own_class(ports, cnp):
                    found, said = "dscp", f"dscp {dscp}, whose class {ports.dscp_to_tc[dscp]} is that of CNPs"
                elif tc is not None and ports.tc_to_queue.get(tc, tc) in {ports.queue_of(p) for p in ports.lossless}:
                    found, said = "queue", f"queue {tc}, which is lossless"
                if found:
                    message = f"the copies have {said}"
                    other = "another" if said.endswith("CNPs") else "a"
                    yield Defect(
                        switch.place(_TABLE, key, found), message, f"set {found} to one of {other} lossy class"
                    )
                    break


def _cnp_dscps(fabric: Fabric) -> dict[str, int]:
    """Plane -> DSCP of its CNPs."""
    planes = fabric.bundle.wiring.planes if fabric.bundle.wiring else ()
    return {plane.name: plane.cnp_dscp for plane in planes if plane.cnp_dscp is not None}


def _own_class(ports: PortClass, cnp_dscp: int) -> int:
    """The class of CNPs; -1 if other traffic without a DSCP shares it."""
    own = ports.dscp_to_tc.get(cnp_dscp, -1)
    return -1 if own == ports.dscp_to_tc.get(0) else own


@rule("FG560", Severity.ERROR, "A mirror session sends its copies to a port of the fabric")
def copies_to_fabric(fabric: Fabric) -> Iterator[Defect]:
    """What: dst_port of a mirror session is a port without a cable of the plan.

    Why: The copies keep the headers of the mirrored packets. A host or a switch at the port receives packets that are
    not for it, with their DSCP, so they fill lossless queues there, and a switch may forward them a second time.

    Example: MIRROR_SESSION|span has dst_port Ethernet256, an uplink.

    Fix: Set dst_port to the port of the collector, or use a session of type ERSPAN.

    Source: sonic-swss orchagent/mirrororch.cpp (SPAN: SAI_MIRROR_SESSION_ATTR_MONITOR_PORT).
    """
    for switch in fabric.switches.values():
        ends = fabric.ends_of[switch.name]
        for key, row in switch.device.table(_TABLE).items():
            end = ends.get(str(row.get("dst_port", "")))
            if end:
                message = f"dst_port {end.port} is the port of {end.far_name}"
                hint = "set dst_port to a port that only the collector uses"
                yield Defect(switch.place(_TABLE, key, "dst_port"), message, hint, far_end(end, "PORT"))


@rule("FG417", Severity.WARNING, "The copies of a mirror session do not reach their collector")
def lost_copies(fabric: Fabric) -> Iterator[Defect]:
    """What: The switch has a route to dst_ip of a session to an address, ttl is at least 2 if the address is not in a
    subnet of the switch, and src_ip is an address of the switch. Routes from devices outside the fabric are not known:
    with such devices, dst_ip is judged only inside the fabric. An address that no switch has is a note as source.

    Why: The session stays inactive without a route, and orchagent reports it only in STATE_DB. The first router drops
    copies with a TTL of 1. With the source of another switch, the collector takes the copies for those of that switch.

    Example: MIRROR_SESSION|everflow has ttl 1, and the collector is behind another leaf.

    Fix: Correct the field. src_ip is usually the address of Loopback0; without ttl orchagent sets 255.

    Source: sonic-swss orchagent/mirrororch.cpp (MirrorEntry, getNeighborInfo, updateSession).
    """
    for switch in fabric.switches.values():
        for key, row in switch.device.table(_TABLE).items():
            target, source = (parse_address(str(row.get(field, ""))) for field in ("dst_ip", "src_ip"))
            if target is None:
                continue
            is_near = any(_address(held).network.covers(target) for held in switch.addresses)
            if not is_near and not _has_route(fabric, switch, target):
                message = f"no switch has a route to the collector {row['dst_ip']}: the session stays inactive"
                yield Defect(switch.place(_TABLE, key, "dst_ip"), message, "set dst_ip to an address with a route")
            hops = whole_number(row.get("ttl", ""))
            if hops is not None and hops < (1 if is_near else 2):
                message = f"ttl is {hops}: the next router drops the copies"
                yield Defect(switch.place(_TABLE, key, "ttl"), message, "remove ttl: the default is 255")
            if source is not None and source.host not in _own(switch):
                owner = next((one.name for one in fabric.switches.values() if source.host in _own(one)), "")
                message = f"src_ip {row['src_ip']} is an address of {owner or 'no switch'}, not of {switch.name}"
                severity = None if owner else Severity.NOTE
                place = switch.place(_TABLE, key, "src_ip")
                yield Defect(place, message, "set src_ip to the address of Loopback0", severity=severity)


def _address(held: HeldAddress) -> Address:
    return Address(held.version, held.number, held.length)


def _own(switch: Switch) -> set[Address]:
    return {_address(held).host for held in switch.addresses}


def _has_route(fabric: Fabric, switch: Switch, target: Address) -> bool:
    """Whether a subnet of a switch covers the address, or a static route of this switch. With devices outside the
    fabric, whose routes are not known, an address that no host prefix covers may be theirs."""
    routes = []
    for one in fabric.switches.values():
        if any(_address(held).network.covers(target) for held in one.addresses):
            return True
        for key, row in one.device.table("STATIC_ROUTE").items():
            prefix = parse_address(key.rpartition("|")[2])
            if prefix and prefix.network.covers(target):
                routes.append((one is switch, row.get("blackhole") == "true"))
    if any(is_own and not is_blackhole for is_own, is_blackhole in routes):
        return True
    return bool(fabric.bundle.external_at) and not any(is_blackhole for _, is_blackhole in routes)


def _lossless_classes(fabric: Fabric) -> dict[Switch, list[PortClass]]:
    """Switch -> the distinct settings of its ports with lossless classes."""
    found: dict[Switch, list[PortClass]] = {}
    for ports in port_classes(fabric) if any(one.device.table(_TABLE) for one in fabric.switches.values()) else ():
        for switch in dict.fromkeys(switch for switch, _, _ in ports.members) if ports.lossless else ():
            found.setdefault(switch, []).append(ports)
    return found
