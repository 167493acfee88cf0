"""Rules between rows and fields that SONiC's YANG states as `must`: buffers, ECN, schedulers, watchdog, CRM."""

from collections.abc import Iterator

from fabricgen.sonic.schema.rows import Config, number_of, row_of, rows_of
from fabricgen.sonic.schema.violations import Violation

_PORT_FIELDS = {"action", "detection_time", "restoration_time", "pfc_stat_history"}


def wred_order(config: Config, table: str) -> Iterator[Violation]:
    """sonic-wred-profile.yang: min <= max for each colour, and no max without min."""
    for key, row in rows_of(config, table):
        for colour in ("green", "yellow", "red"):
            least, most = number_of(row, f"{colour}_min_threshold"), number_of(row, f"{colour}_max_threshold")
            if most is not None and (least is None or most < least):
                problem = "there is no min" if least is None else f"it is below the min {least}"
                yield Violation("must", table, key, f"{colour}_max_threshold", f"max {most}: {problem}")


def watchdog_times(config: Config, table: str) -> Iterator[Violation]:
    """sonic-pfcwd.yang: GLOBAL alone has POLL_INTERVAL, and no time is shorter than it."""
    poll_ms = number_of(row_of(config, table, "GLOBAL"), "POLL_INTERVAL")
    has_global = any(key == "GLOBAL" for key, _ in rows_of(config, table))
    for key, row in rows_of(config, table):
        for field in row:
            if key == "GLOBAL" and field in _PORT_FIELDS:
                yield Violation("must", table, key, field, f"{field} belongs to ports only")
            elif key != "GLOBAL" and field == "POLL_INTERVAL":
                yield Violation("must", table, key, field, f"{field} belongs to the row GLOBAL only")
        for field in ("detection_time", "restoration_time") if key != "GLOBAL" and has_global else ():
            time_ms = number_of(row, field)
            if time_ms is not None and (poll_ms is None or time_ms < poll_ms):
                poll = "is missing" if poll_ms is None else f"is {poll_ms} ms"
                yield Violation("must", table, key, field, f"{time_ms} ms, and GLOBAL's POLL_INTERVAL {poll}")


def pool_percentage(config: Config, table: str) -> Iterator[Violation]:
    """sonic-buffer-pool.yang: a percentage excludes a size, and needs the dynamic buffer model."""
    model = row_of(config, "DEVICE_METADATA", "localhost").get("buffer_model")
    for key, row in rows_of(config, table):
        if "percentage" in row and ("size" in row or model != "dynamic"):
            problem = "excludes size" if "size" in row else "needs the dynamic buffer model"
            yield Violation("must", table, key, "percentage", f"percentage {problem}")


def rates(config: Config, table: str) -> Iterator[Violation]:
    """sonic-scheduler.yang: a peak rate or burst needs the committed one, and is not below it."""
    for key, row in rows_of(config, table):
        for field, needs, floor in (("pir", "cir", "cir"), ("cbs", "cir", ""), ("pbs", "pir", "cbs")):
            value, least = number_of(row, field), number_of(row, floor)
            if value is not None and not number_of(row, needs):
                yield Violation("must", table, key, field, f"{field} needs {needs} above 0")
            elif value is not None and least is not None and value < least:
                yield Violation("must", table, key, field, f"{field} {value} is below {floor} {least}")


def thresholds(config: Config, table: str) -> Iterator[Violation]:
    """sonic-crm.yang: high above low, and both below 100 where they are percentages."""
    for key, row in rows_of(config, table):
        for field in row:
            resource, mark, end = field.partition("_threshold")
            resource, _, side = resource.rpartition("_") if mark and not end else (resource, "", "type")
            low, high = number_of(row, f"{resource}_low_threshold"), number_of(row, f"{resource}_high_threshold")
            if side == "high" and high is not None and (low is None or high <= low):
                yield Violation("must", table, key, field, f"{high} must be above the low threshold")
            elif end == "_type" and str(row[field]).lower() == "percentage" and not _percentages(low, high):
                yield Violation("must", table, key, field, "percentages need a high and a low threshold below 100")


def _percentages(*bounds: int | None) -> bool:
    return all(bound is not None and bound < 100 for bound in bounds)
