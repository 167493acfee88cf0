"""Rules on rows that SONiC's YANG models accept, but its daemons refuse or resolve by chance."""

from collections.abc import Iterator, Mapping
from itertools import combinations

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import number
from fabricgen.sonic.tables import format_ranges, parse_priorities

# sonic-swss orchagent/qosorch.cpp: fields of a YANG model that the handler of the table does not know.
_UNKNOWN_TO_DAEMON: Mapping[str, tuple[str, ...]] = {"SCHEDULER": ("priority",)}
# The same file: read by stoi, which has 32 bits with a sign.
_STOI = tuple(f"{colour}_{end}_threshold" for colour in ("green", "yellow", "red") for end in ("min", "max"))
_READ_BY_STOI: Mapping[str, tuple[str, ...]] = {"WRED_PROFILE": _STOI}
_MOST = 2**31 - 1


@rule("FG412", Severity.ERROR, "The daemon refuses a row that the YANG model accepts", Basis.SCHEMA)
def refused_rows(fabric: Fabric) -> Iterator[Defect]:
    """What: rows have no field that orchagent does not know, and no number that it cannot read: SCHEDULER has no
    priority, and thresholds of WRED_PROFILE are below 2147483648 bytes.

    Why: the YANG models allow both. orchagent refuses the whole row, and each queue that names it loses its scheduler
    and its WRED profile, on all ports: lossless queues are neither scheduled nor marked.

    Example: SCHEDULER|scheduler.1 has priority 3; green_max_threshold is 4294967296.

    Fix: remove the field, or lower the number.

    Source: measured with sonic-swss 6079a435 ("Unknown field:priority", "error=stoi"); orchagent/qosorch.cpp.
    """
    for switch in fabric.switches.values():
        for table, fields in _UNKNOWN_TO_DAEMON.items():
            for key, row in switch.device.table(table).items():
                for field in (field for field in fields if field in row):
                    message = f"orchagent does not know the field {field} and refuses the row"
                    yield Defect(switch.place(table, key, field), message, f"remove {field}")
        for table, fields in _READ_BY_STOI.items():
            for key, row in switch.device.table(table).items():
                for field in fields:
                    if (number(row.get(field)) or 0) > _MOST:
                        message = f"{field} is {row[field]}: orchagent reads at most {_MOST} and refuses the row"
                        yield Defect(switch.place(table, key, field), message, f"set {field} to at most {_MOST}")


@rule("FG413", Severity.ERROR, "Two rows configure the same priority group or queue", Basis.SCHEMA)
def overlapping_rows(fabric: Fabric) -> Iterator[Defect]:
    """What: each priority group and queue of a port is in one row of BUFFER_PG, BUFFER_QUEUE and QUEUE.

    Why: with different rows the order in which the daemon reads them decides, and it differs from port to port: a
    lossless group becomes lossy on some ports. buffermgrd of the dynamic model also counts the headroom of each row,
    so that two equal lossless rows take memory from the pool. Other equal rows are a warning: they have no effect.

    Example: BUFFER_PG has Ethernet0|3 with ingress_lossy_profile and Ethernet0|3-4 with NULL.

    Fix: keep one row for each group and queue.

    Source: measured with sonic-swss 6079a435; cfgmgr/buffermgrdyn.cpp, orchagent/bufferorch.cpp.
    """
    for ports in port_classes(fabric):
        for table, what in (("BUFFER_PG", "priority group"), ("BUFFER_QUEUE", "queue"), ("QUEUE", "queue")):
            rows = ports.rows[table]
            covered = {rest: parse_priorities(rest) for rest in rows}
            for one, other in combinations(rows, 2):
                shared = covered[one] & covered[other]
                if not shared:
                    continue
                narrow, wide = (one, other) if len(covered[one]) < len(covered[other]) else (other, one)
                is_equal = rows[one] == rows[other]
                message = f"{what} {','.join(format_ranges(shared))} is also in the row {wide}"
                message += ", which is equal" if is_equal else ", which differs"
                severity = Severity.WARNING if is_equal and not _counted_twice(ports, table, narrow) else None
                yield from ports.defects(table, narrow, "", message, "keep one of the two rows", (), severity)


def _counted_twice(ports: PortClass, table: str, rest: str) -> bool:
    """Whether buffermgrd reserves the headroom of a group for each of its rows."""
    profile = str(ports.rows[table][rest].get("profile"))
    return table == "BUFFER_PG" and ports.qos.is_dynamic and ports.qos.is_lossless_pg_profile(profile)
