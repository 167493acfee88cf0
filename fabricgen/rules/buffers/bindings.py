"""The rule on groups and queues in use: each has a row that binds a profile."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import QosTables
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.sonic.port_qos import MAP_TABLES

_TABLES = ("BUFFER_PG", "BUFFER_QUEUE")


@rule("FG573", Severity.ERROR, "A priority group or queue in use has no profile", breaks=Breaks.LOSSLESS)
def unbound(fabric: Fabric) -> Iterator[Defect]:
    """What: On wired ports with rows in BUFFER_PG and BUFFER_QUEUE, each priority group and queue that a lossy class in
    use maps to has a row with a profile. FG514 and FG515 cover lossless ones.

    Why: Without a profile the group or queue has no guaranteed buffer and no share of the pool. Best effort, BGP and
    CNPs drop as soon as the port is busy.

    Example: All lossy classes map to group 0, and BUFFER_PG has rows for group 3 only.

    Fix: Add BUFFER_PG|<port>|0 with ingress_lossy_profile, or map the class to a group that has a profile.

    Source: sonic-buildimage files/build_templates/buffers_config.j2 (group 0 and queues of each active port).
    """
    reported = set()
    known = _bound_anywhere(fabric)
    for ports in port_classes(fabric):
        tcs = set(ports.dscp_to_tc.values()) - ports.lossless
        for table, field, what, taken in (
            ("BUFFER_PG", "tc_to_pg_map", "priority group", set(map(ports.group_of, ports.lossless))),
            ("BUFFER_QUEUE", "tc_to_queue_map", "queue", set(map(ports.queue_of, ports.lossless))),
        ):
            rows = ports.profiles(table)
            bound = {number for number, (_, name) in rows.items() if name}
            users = {tc: number for tc, number in ports.entries(field).items() if tc in tcs and number not in taken}
            lacking = {number: tc for tc, number in sorted(users.items(), reverse=True) if number not in bound}
            for number, tc in sorted(lacking.items()) if ports.is_wired and rows else ():
                name = ports.map_name(field)
                is_known = number in rows or number in known[ports.qos, table]
                if is_known or not any(other in bound for other in users.values()):
                    has_row = number in rows
                    rest = rows[number][0] if has_row else known[ports.qos, table].get(number, str(number))
                    message = f"{what} {number} carries lossy classes and has no profile"
                    hint = "bind the lossy profile to it"
                    yield from ports.defects(table, rest, "profile" if has_row else "", message, hint)
                elif (ports.qos, table, tc) not in reported:
                    reported.add((ports.qos, table, tc))
                    message = f"TC {tc} maps to {what} {number}, which has no row in {table}"
                    hint = f"map {tc} to a {what} with a profile, or add the row"
                    yield from ports.qos.defects(MAP_TABLES[field], name, str(tc), message, hint)


def _bound_anywhere(fabric: Fabric) -> dict[tuple[QosTables, str], dict[int, str]]:
    """Definitions and table -> the groups or queues that have a profile on some port, and its row's key."""
    found: dict[tuple[QosTables, str], dict[int, str]] = {}
    for ports in port_classes(fabric):
        for table in _TABLES:
            bound = {number: rest for number, (rest, name) in ports.profiles(table).items() if name}
            found.setdefault((ports.qos, table), {}).update(bound)
    return found
