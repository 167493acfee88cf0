"""Rules on the rows that bind profiles to groups and queues: the right direction, and a row for every group in use."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos_classes import port_classes

_DIRECTIONS = {"BUFFER_PG": ("ingress", "egress"), "BUFFER_QUEUE": ("egress", "ingress")}


@rule("FG572", Severity.ERROR, "A group or queue uses a profile of the other direction")
def other_direction(fabric: Fabric) -> Iterator[Defect]:
    """What: profiles in BUFFER_PG belong to pools of type ingress, those in BUFFER_QUEUE to pools of type egress. Pools
    of type both fit everywhere.

    Why: a priority group stores packets at ingress, a queue at egress. In the dynamic model orchagent rejects the row,
    and no port comes up. In the traditional model the chip gets the row, and counts the packets in the wrong pool.

    Example: BUFFER_PG|Ethernet0|0 with egress_lossy_profile.

    Fix: bind the profile of the direction.

    Source: sonic-swss orchagent/bufferorch.cpp; cfgmgr/buffermgrdyn.cpp ("Egress buffer profile configured on PG").
    """
    for ports in port_classes(fabric):
        for table, (direction, other) in _DIRECTIONS.items():
            for rest, name in sorted(set(ports.profiles(table).values())):
                pool = str(ports.qos.row("BUFFER_PROFILE", name).get("pool"))
                if ports.qos.row("BUFFER_POOL", pool).get("type") == other:
                    message = f"{name} belongs to {pool}, a pool of type {other}"
                    related = (("its pool", "BUFFER_POOL", pool),)
                    hint = f"bind a profile of an {direction} pool"
                    yield from ports.defects(table, rest, "profile", message, hint, related)


@rule("FG573", Severity.WARNING, "A priority group in use has no profile")
def unbound_group(fabric: Fabric) -> Iterator[Defect]:
    """What: on wired ports with rows in BUFFER_PG, each priority group that a lossy class in use maps to has a row.
    FG514 covers lossless groups.

    Why: without a profile the group has no guaranteed buffer and no share of the pool. Best effort, BGP and CNPs drop
    as soon as the port is busy.

    Example: all lossy classes map to group 0, and BUFFER_PG has rows for group 3 only.

    Fix: add BUFFER_PG|<port>|0 with ingress_lossy_profile.

    Source: sonic-buildimage files/build_templates/buffers_config.j2 (group 0 of each active port).
    """
    for ports in port_classes(fabric):
        bound = ports.profiles("BUFFER_PG")
        tcs = set(ports.dscp_to_tc.values()) - ports.lossless
        groups = {ports.tc_to_pg[tc] for tc in tcs if tc in ports.tc_to_pg}
        lossless = {ports.group_of(priority) for priority in ports.lossless}
        for group in sorted(groups - bound.keys() - lossless) if ports.is_wired and bound else ():
            message = f"priority group {group} carries lossy classes and has no BUFFER_PG row"
            yield from ports.defects("BUFFER_PG", str(group), "", message, "bind ingress_lossy_profile to it")
