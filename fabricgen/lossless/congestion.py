"""ECN marking (WRED) and the PFC watchdog."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.traffic import EcnSpec, WatchdogSpec
from fabricgen.origin import Value, value
from fabricgen.units import format_speed
from fabricgen.vocabulary import ECN_REFERENCE_MBPS

# Marking thresholds of a 400G port: sonic-buildimage@086b03bd70f9, Arista-7060X6-64PE-O128S2/qos.json.j2
# generate_wred_profiles. DCQCN's thresholds follow the bandwidth-delay product, so other speeds are scaled.
REFERENCE_MIN_BYTES = 131_072
REFERENCE_MAX_BYTES = 262_144
MARK_PROBABILITY_PERCENT = 5
SLOWEST_MBPS = 25_000  # below, two RoCE packets do not fit below the upper threshold (FG547): the defaults of 25G apply
_ECN_SOURCE = "sonic-buildimage@086b03bd70f9 Arista-7060X6-64PE-O128S2/qos.json.j2"

# sonic-utilities pfcwd/main.py start_default: 200 ms for each 32 ports or part of them, poll at most 1 s.
WATCHDOG_STEP_MS = 200
WATCHDOG_PORTS_PER_STEP = 32
WATCHDOG_MAX_POLL_MS = 1000
WATCHDOG_MAX_DETECTION_MS = 5000  # sonic-pfcwd.yang, detection_time


def wred_name(speed_mbps: int) -> str:
    """Name of the WRED profile of lossless queues at a speed."""
    return f"LOSSLESS_{format_speed(speed_mbps)}"


def wred_profile(spec: EcnSpec, speed_mbps: int) -> Mapping[str, Value]:
    """A WRED_PROFILE row that marks and never drops. All colours are equal, because RoCE traffic is green."""
    marks = {
        "min_threshold": _threshold(spec, "min", spec.min_bytes, REFERENCE_MIN_BYTES, speed_mbps),
        "max_threshold": _threshold(spec, "max", spec.max_bytes, REFERENCE_MAX_BYTES, speed_mbps),
        "drop_probability": _probability(spec),
    }
    row = {"ecn": value("ecn_all", "ECN-capable packets are marked where others would be dropped")}
    for colour in ("green", "yellow", "red"):
        row[f"wred_{colour}_enable"] = value("true", "ecn_all marks nothing without it (sonic-buildimage issue 4545)")
        row.update({f"{colour}_{name}": mark for name, mark in marks.items()})
    return row


def ecn_problems(planes: Iterable[Plane]) -> Iterator[Finding]:
    """Findings for planes whose lower threshold, given or default, is above the upper one."""
    for plane in planes:
        spec = plane.lossless.ecn
        given = {"min": spec.min_bytes, "max": spec.max_bytes}
        default = {"min": REFERENCE_MIN_BYTES, "max": REFERENCE_MAX_BYTES}
        marks = {key: default[key] if own is None else own for key, own in given.items()}
        if plane.lossless.classes and marks["min"] > marks["max"]:
            shown = (f"{marks[key]} bytes" + (" (the default)" if given[key] is None else "") for key in marks)
            message = f"packets are marked from `min`, {next(shown)}, to `max`, {next(shown)}: `min` is above `max`"
            key = "min" if spec.max_bytes is None else "max"
            yield error("FG105", message, spec, key, hint="set `ecn.min` below `ecn.max`")


def _threshold(spec: EcnSpec, key: str, own_bytes: int | None, reference_bytes: int, speed_mbps: int) -> Value:
    at_400g = reference_bytes if own_bytes is None else own_bytes
    used_mbps = max(speed_mbps, SLOWEST_MBPS) if own_bytes is None else speed_mbps
    scaled = at_400g * used_mbps // ECN_REFERENCE_MBPS
    step = f"{at_400g} B at 400G x {format_speed(used_mbps)} / 400G = {scaled} B"
    if used_mbps != speed_mbps:
        step += f", also at {format_speed(speed_mbps)}: two RoCE packets need it"
    if own_bytes is None:
        return value(scaled, step, platform=_ECN_SOURCE)
    return value(scaled, step, inventory=spec.source(key))


def _probability(spec: EcnSpec) -> Value:
    if spec.probability_percent is None:
        return value(MARK_PROBABILITY_PERCENT, "percent at the upper threshold", platform=_ECN_SOURCE)
    return value(spec.probability_percent, "percent at the upper threshold", inventory=spec.source("probability"))


@dataclass(frozen=True, slots=True)
class WatchdogRows:
    """Rows of PFC_WD: the row of every lossless port, and the poll interval of GLOBAL."""

    port: Mapping[str, Value]
    poll: Value


def plan_watchdog(spec: WatchdogSpec, ports: int) -> WatchdogRows:
    """Timers that scale with the number of ports as SONiC's own default; values of the inventory take precedence."""
    scale = max(1, (ports - 1) // WATCHDOG_PORTS_PER_STEP + 1)
    default_ms = min(WATCHDOG_STEP_MS * scale, WATCHDOG_MAX_DETECTION_MS)
    begun = f"{scale} times {WATCHDOG_PORTS_PER_STEP} ports begun with {ports} ports"
    limit = ", at most 5000 ms (sonic-pfcwd.yang)" if default_ms == WATCHDOG_MAX_DETECTION_MS else ""
    step = f"{WATCHDOG_STEP_MS} ms x {scale} ({begun}), as pfcwd start_default{limit}"
    poll_ms = min(default_ms, WATCHDOG_MAX_POLL_MS)

    def timer(key: str, own_ms: int | None, fallback_ms: int) -> Value:
        return value(fallback_ms, step) if own_ms is None else value(own_ms, inventory=spec.source(key))

    return WatchdogRows(
        port={
            "action": value(spec.action, inventory=spec.source("action"))
            if spec.action
            else value("drop", "orchagent's default"),
            "detection_time": timer("detection_ms", spec.detection_ms, default_ms),
            "restoration_time": timer("restoration_ms", spec.restoration_ms, default_ms),
        },
        poll=timer("poll_ms", spec.poll_ms, poll_ms),
    )
