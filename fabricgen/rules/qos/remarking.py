"""Rules on DSCP values that a switch writes into packets: the next hop must find the same class."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import map_users

_TABLE = "TC_TO_DSCP_MAP"


@rule("FG548", Severity.ERROR, "A switch rewrites the DSCP of RoCE or of CNPs")
def rewritten_dscp(fabric: Fabric) -> Iterator[Defect]:
    """What: If a port has tc_to_dscp_map, the map gives each lossless class and the class of CNPs a DSCP that
    dscp_to_tc_map maps back to this class. With fabric.json it is a DSCP that the plane uses for the class.

    Why: With this map the port writes a DSCP into every packet that leaves. The next switch, or the NIC, then puts RoCE
    into another class, which is lossy there.

    Example: tc_to_dscp_map writes 24 for TC 3, but RoCE uses 26, and 24 is best effort.

    Fix: Remove tc_to_dscp_map from the port, or write the DSCP of the class.

    Source: sonic-swss orchagent/qosorch.cpp (SAI_PORT_ATTR_QOS_TC_AND_COLOR_TO_DSCP_MAP).
    """
    for ports in map_users(fabric):
        name, entries = ports.map_name("tc_to_dscp_map"), ports.entries("tc_to_dscp_map")
        for tc, allowed in sorted(_classes(ports).items()):
            dscp = entries.get(tc)
            if dscp is not None and dscp not in allowed:
                back = ports.dscp_to_tc.get(dscp)
                lands = f"TC {back}" if back is not None else "no class"
                message = f"packets of TC {tc} leave with DSCP {dscp}, which belongs to {lands}"
                wanted = ", ".join(map(str, sorted(allowed)))
                hint = f"map {tc} to {wanted}" if wanted else f"remove the entry for {tc}"
                yield from ports.qos.defects(_TABLE, name, str(tc), message, hint)


def _classes(ports: PortClass) -> dict[int, set[int]]:
    """Each lossless class and that of CNPs -> the DSCP values that mean it."""
    plane = ports.qos.plane
    found = {tc: {dscp for dscp, own in ports.dscp_to_tc.items() if own == tc} for tc in ports.lossless}
    if plane and plane.roce_dscp:
        found |= {int(tc): set(values) for tc, values in plane.roce_dscp.items()}
    if plane and plane.cnp_dscp is not None and (tc := ports.dscp_to_tc.get(plane.cnp_dscp)) is not None:
        found[tc] = {dscp for dscp, own in ports.dscp_to_tc.items() if own == tc}
        if tc not in ports.lossless:
            found[tc] = {plane.cnp_dscp}
    return found
