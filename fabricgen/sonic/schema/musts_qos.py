"""The `must` rules of SONiC's YANG models between rows and fields: buffers, ECN, schedulers, watchdog, CRM."""

from collections.abc import Iterator

from fabricgen.sonic.schema.rows import Config, number_of, row_of, rows_of
from fabricgen.sonic.schema.violations import Violation, ViolationKind

_PORT_FIELDS = {"action", "detection_time", "restoration_time", "pfc_stat_history"}


def wred_order(config: Config, table: str) -> Iterator[Violation]:
    """sonic-wred-profile.yang: min <= max for each colour, and no max without min."""
    for key, row in rows_of(config, table):
        for colour in ("green", "yellow", "red"):
            least, most = number_of(row, f"{colour}_min_threshold"), number_of(row, f"{colour}_max_threshold")
            if most is not None and (least is None or most < least):
                problem = (
                    f"max is {most}, but min is missing" if least is None else f"max {most} is less than min {least}"
                )
                yield Violation(ViolationKind.MUST, table, key, f"{colour}_max_threshold", problem)


def watchdog_times(config: Config, table: str) -> Iterator[Violation]:
    """sonic-pfcwd.yang: only GLOBAL has POLL_INTERVAL, and no time is shorter than POLL_INTERVAL."""
    poll_ms = number_of(row_of(config, table, "GLOBAL"), "POLL_INTERVAL")
    has_global = any(key == "GLOBAL" for key, _ in rows_of(config, table))
    for key, row in rows_of(config, table):
        for field in row:
            if key == "GLOBAL" and field in _PORT_FIELDS:
                yield Violation(ViolationKind.MUST, table, key, field, f"{field} is only allowed in rows of ports")
            elif key != "GLOBAL" and field == "POLL_INTERVAL":
                yield Violation(ViolationKind.MUST, table, key, field, f"{field} is only allowed in the row GLOBAL")
        for field in ("detection_time", "restoration_time") if key != "GLOBAL" and has_global else ():
            time_ms = number_of(row, field)
            if time_ms is not None and (poll_ms is None or time_ms < poll_ms):
                poll = "is missing" if poll_ms is None else f"is {poll_ms} ms"
                yield Violation(
                    ViolationKind.MUST,
                    table,
                    key,
                    field,
                    f"{field} is {time_ms} ms, but POLL_INTERVAL of GLOBAL {poll}",
                )


def pool_percentage(config: Config, table: str) -> Iterator[Violation]:
    """sonic-buffer-pool.yang: a percentage excludes a size, and needs the dynamic buffer model."""
    model = row_of(config, "DEVICE_METADATA", "localhost").get("buffer_model")
    for key, row in rows_of(config, table):
        if "percentage" in row and ("size" in row or model != "dynamic"):
            problem = "excludes size" if "size" in row else "needs the dynamic buffer model"
            yield Violation(ViolationKind.MUST, table, key, "percentage", f"percentage {problem}")


def rates(config: Config, table: str) -> Iterator[Violation]:
    """sonic-scheduler.yang: a peak rate or burst needs a committed one, and is at least as large."""
    for key, row in rows_of(config, table):
        for field, needs, floor in (("pir", "cir", "cir"), ("cbs", "cir", ""), ("pbs", "pir", "cbs")):
            value, least = number_of(row, field), number_of(row, floor)
            if value is not None and not number_of(row, needs):
                yield Violation(ViolationKind.MUST, table, key, field, f"{field} needs {needs} above 0")
            elif value is not None and least is not None and value < least:
                yield Violation(ViolationKind.MUST, table, key, field, f"{field} {value} is less than {floor} {least}")


def thresholds(config: Config, table: str) -> Iterator[Violation]:
    """sonic-crm.yang: high is above low, and percentages are below 100."""
    for key, row in rows_of(config, table):
        for field in row:
            resource, mark, end = field.partition("_threshold")
            resource, _, side = resource.rpartition("_") if mark and not end else (resource, "", "type")
            low, high = number_of(row, f"{resource}_low_threshold"), number_of(row, f"{resource}_high_threshold")
            if side == "high" and high is not None and (low is None or high <= low):
                yield Violation(ViolationKind.MUST, table, key, field, f"{high} is not above the low threshold")
            elif end == "_type" and str(row[field]).lower() == "percentage" and not _percentages(low, high):
                yield Violation(
                    ViolationKind.MUST, table, key, field, "percentages need a high and a low threshold below 100"
                )


def _percentages(*bounds: int | None) -> bool:
    return all(bound is not None and bound < 100 for bound in bounds)
