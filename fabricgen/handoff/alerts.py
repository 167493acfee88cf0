"""Alerts with the thresholds of the rendered files: rules for Prometheus, and a gNMI subscription.

The subscription names each port, because sonic-gnmi (5ec1c20b, sonic_data_client/virtual_db.go) answers a wildcard with
aliases. gnmic (5977503) collects the counters and exports them under the names that the rules use.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricgen.handoff import ONLY_SWITCHES, Handoff
from fabricgen.handoff.chosen import chosen_devices
from fabricgen.handoff.management import management_addresses
from fabricgen.handoff.templates import filled, yaml_bytes
from fabricgen.handoff.watched import HEADROOM_SHARE, PAUSED_SHARE, Watches
from fabricgen.sonic import gnmi
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.control_acl import translate
from fabricgen.sonic.gnmi import GnmiTransport
from fabricgen.units import format_speed

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice
    from fabricgen.handoff.watched import Ports, Watched

# What gnmic needs to talk to a server that has no certificate which it can verify.
_TARGET_OPTIONS: Mapping[GnmiTransport, dict[str, bool]] = {
    GnmiTransport.CLEAR_TEXT: {"insecure": True},
    GnmiTransport.TEST_CERTIFICATE: {"skip-verify": True},
}
_DIRECTIONS = {
    "rx": ("PfcPausedByNeighbor", "is paused by its neighbour"),
    "tx": ("PfcPausesNeighbor", "pauses its neighbour"),
}
Rule = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Alert:
    """The text of one rule. `threshold` is the value of the rendered files that it uses, with its unit."""

    name: str
    threshold: str
    severity: str
    summary: str
    description: str
    lasting: str = ""  # the time before the alert fires


Clause = tuple[Alert, str]  # with the expression for equal switches


@dataclass(frozen=True)
class AlertTier:
    """The switches of a rail, or above the rails of a role."""

    labels: dict[str, str]
    devices: tuple[str, ...]

    @property
    def title(self) -> str:
        """'plane compute rail 3'."""
        return " ".join(f"{name} {value}" for name, value in self.labels.items())


def alerts_files(bundle: "Bundle", only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes): rules.yml for Prometheus, gnmic.yml and its script, blind.txt with the gaps."""
    devices = {device.name: device for device in chosen_devices(bundle, only)}
    watches = Watches()
    plans = {name: watches.of(device) for name, device in devices.items()}
    stages = list(_stages(devices.values()))
    groups = [{"name": stage.title, "rules": list(_rules(stage, plans))} for stage in stages]
    yield "rules.yml", yaml_bytes({"groups": [group for group in groups if group["rules"]]})
    yield "gnmic.yml", yaml_bytes(_gnmic(devices, plans, stages))
    yield "measured.star", filled("alerts", "measured.star")
    notes: dict[str, list[str]] = {}
    for name, plan in plans.items():
        for text in (*plan.blind, *_silent(devices[name])):
            notes.setdefault(text, []).append(name)
    lines = [f"{', '.join(names)}: {text}" for text, names in notes.items()]
    yield "blind.txt", "".join(f"{line}\n" for line in lines).encode()


def _stages(devices: Iterable["ObservedDevice"]) -> Iterator[AlertTier]:
    found: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for device in devices:
        found.setdefault(tuple(_labels(device).items()), []).append(device.name)
    for labels in sorted(found, key=lambda labels: [(name, natural_key(value)) for name, value in labels]):
        yield AlertTier(dict(labels), tuple(found[labels]))


def _labels(device: "ObservedDevice") -> dict[str, str]:
    wired = device.wired
    if wired is None:
        return {"plane": "unknown"}
    labels = {"plane": wired.plane}
    if wired.subplane is not None:
        labels["subplane"] = str(wired.subplane)
    return {**labels, "rail": str(wired.rail)} if wired.rail is not None else {**labels, "role": wired.role}


def _rules(stage: AlertTier, plans: Mapping[str, "Watched"]) -> Iterator[Rule]:
    """One rule for each alert and threshold; equal switches share an expression."""
    alike: dict[Watched, list[str]] = {}
    for name in stage.devices:
        alike.setdefault(plans[name], []).append(name)
    found: dict[Alert, list[str]] = {}
    for plan, names in alike.items():
        for part in (_pauses, _headrooms, _markings, _watchdogs):
            for alert, expr in part(plan, names):
                found.setdefault(alert, []).append(expr)
    guarded = [name for name in stage.devices if plans[name].watchdogs]
    if len(guarded) > 1:
        storms = f"increase(sonic_pfcwd_storms_total{{{_match(device=guarded)}}}[10m])"
        alert = Alert(
            "PfcStormsSpread",
            "2 switches",
            "critical",
            f"the watchdog stopped storms on several switches of {stage.title}",
            "pauses spread; look for the port that does not drain, and for a cycle with fabricgen simulate deadlock",
        )
        found[alert] = [f"count(sum by (device) ({storms}) > 0) >= 2"]
    for alert, exprs in found.items():
        rule: Rule = {"alert": alert.name, "expr": " or ".join(exprs)}
        if alert.lasting:
            rule["for"] = alert.lasting
        rule["labels"] = {"severity": alert.severity, "threshold": alert.threshold, **stage.labels}
        yield {**rule, "annotations": {"summary": alert.summary, "description": alert.description}}


def _pauses(plan: "Watched", names: list[str]) -> Iterator[Clause]:
    for part in plan.pauses:
        where = _match(device=names, interface=part.ports, priority=part.priorities)
        rate = part.frames_per_second
        for direction, (name, event) in _DIRECTIONS.items():
            alert = Alert(
                name,
                f"{rate} frames/s",
                "warning",
                f"{{{{ $labels.device }}}} {{{{ $labels.interface }}}} {event} on priority {{{{ $labels.priority }}}}",
                f"{rate} pause frames/s can hold {format_speed(part.speed_mbps)} {PAUSED_SHARE:.0%} of the time",
                "2m",
            )
            yield alert, f"rate(sonic_pfc_{direction}_frames_total{{{where}}}[2m]) >= {rate}"


def _headrooms(plan: "Watched", names: list[str]) -> Iterator[Clause]:
    for part in plan.headrooms:
        where = _match(device=names, interface=part.ports, pg=part.groups)
        source = f" ({part.source})" if part.source else ""
        alert = Alert(
            "HeadroomNearlyUsed",
            f"{part.watermark_bytes} bytes",
            "critical",
            "{{ $labels.device }} {{ $labels.interface }} used {{ $value }} bytes of PG {{ $labels.pg }}'s headroom",
            f"{HEADROOM_SHARE:.0%} of xoff {part.xoff_bytes}{source}: frames are lost beyond it; check whether the "
            "cable is longer than in CABLE_LENGTH and whether the far end reacts late",
        )
        yield alert, f"max_over_time(sonic_pg_headroom_watermark_bytes{{{where}}}[5m]) >= {part.watermark_bytes}"


def _markings(plan: "Watched", names: list[str]) -> Iterator[Clause]:
    """ECN marks should come before pauses: alerts for marks without pauses, and for pauses without marks."""
    for part in plan.markings:
        where = _match(device=names, interface=part.ports, queue=part.queues)
        marks = f"sum by (device) (rate(sonic_queue_ecn_marked_packets_total{{{where}}}[10m]))"
        pauses = f"sum by (device) (rate(sonic_pfc_tx_frames_total{{{_match(device=names)}}}[10m]))"
        kmin = f"{part.kmin_bytes} bytes"
        held = Alert(
            "EcnMarksWithoutPfc",
            kmin,
            "info",
            "{{ $labels.device }} marks packets and sends no pauses: ECN controls the congestion",
            f"marking starts at {kmin}; if it lasts, check the traffic, not the switch",
            "10m",
        )
        yield held, f"({marks} > 0 unless on (device) {pauses} > 0)"
        unmarked = Alert(
            "PfcWithoutEcnMarks",
            kmin,
            "warning",
            "{{ $labels.device }} pauses its neighbours and marks no packet",
            f"marking should start at {kmin}, before a pause; check that hosts send ECN-capable packets (ToS) and that "
            "their DSCP maps to the lossless queue",
            "10m",
        )
        yield unmarked, f"({pauses} > 0 and on (device) {marks} == 0)"


def _watchdogs(plan: "Watched", names: list[str]) -> Iterator[Clause]:
    for part in plan.watchdogs:
        alert = Alert(
            "PfcStorm",
            f"{part.detection_ms} ms",
            "critical",
            "the watchdog stopped a storm on {{ $labels.device }} {{ $labels.interface }} queue {{ $labels.queue }}",
            f"the queue was paused for at least {part.detection_ms} ms; action {part.action}",
        )
        where = _match(device=names, interface=part.ports)
        yield alert, f"increase(sonic_pfcwd_storms_total{{{where}}}[10m]) > 0"


def _match(**labels: Iterable[object]) -> str:
    """Label matchers for lists of values. A dot is the only special character that names contain."""
    found = []
    for name, values in labels.items():
        texts = [str(value) for value in values]
        pattern = "|".join(text.replace(".", "[.]") for text in texts)
        found.append(f'{name}="{texts[0]}"' if len(texts) == 1 else f'{name}=~"{pattern}"')
    return ",".join(found)


def _gnmic(
    devices: Mapping[str, "ObservedDevice"], plans: Mapping[str, "Watched"], stages: list[AlertTier]
) -> dict[str, Any]:
    subscriptions: dict[Ports, str] = {}
    targets = {}
    labels = {name: stage.labels for stage in stages for name in stage.devices}
    for name, device in devices.items():
        if ports := plans[name].ports:
            subscription = subscriptions.setdefault(ports, f"counters-{len(subscriptions) + 1}")
            tags = {"device": name, **labels[name]}
            options = _TARGET_OPTIONS.get(gnmi.transport(device.config, device.release), {})
            where = {"address": _address(device), **options}
            targets[name] = {**where, "subscriptions": [subscription], "event-tags": tags}
    return {
        "encoding": "json_ietf",
        "targets": targets,
        "subscriptions": {name: _subscription(ports) for ports, name in subscriptions.items()},
        "processors": {"measured": {"event-starlark": {"script": "measured.star"}}},
        "outputs": {
            "prometheus": {
                "type": "prometheus",
                "listen": ":9804",
                "expiration": "60s",
                "event-processors": ["measured"],
            }
        },
    }


def _address(device: "ObservedDevice") -> str:
    """Where its gNMI server listens; the device name if the file has no address of eth0."""
    number = gnmi.port(device.config)
    for address, _ in management_addresses(device):
        return f"{address.ip}:{number}" if address.version == 4 else f"[{address.ip}]:{number}"
    return f"{device.name}:{number}"


def _silent(device: "ObservedDevice") -> Iterator[str]:
    """Why no collector reaches the gNMI server of a switch."""
    if gnmi.transport(device.config, device.release) is GnmiTransport.LOOPBACK:
        yield "all counters: without a certificate the gNMI server listens on 127.0.0.1 only (FG304)"
    acl, number = translate(device.config, device.release), gnmi.port(device.config)
    if not any(acl.sources(family, "tcp", number) for family in (4, 6)):
        yield f"all counters: the control-plane ACLs drop all packets to gNMI, port {number} (FG302)"


def _subscription(ports: "Ports") -> dict[str, Any]:
    forms = ("COUNTERS/{}", "COUNTERS/{}/Queues", "COUNTERS/{}/Pfcwd", "PERIODIC_WATERMARKS/{}/PriorityGroups")
    return {
        "target": "COUNTERS_DB",
        "paths": [form.format(port) for form in forms for port in ports],
        "mode": "stream",
        "stream-mode": "sample",
        "sample-interval": "10s",
    }


def _notes(files: Mapping[str, bytes]) -> Iterator[str]:
    if files["blind.txt"]:
        yield "blind.txt lists what no alert can detect, and why"


HANDOFF = Handoff(
    "alerts",
    "Write alerts: Prometheus rules with thresholds from the rendered files, and the gnmic subscription for them.",
    alerts_files,
    (ONLY_SWITCHES,),
    "promtool check rules {output}/rules.yml; gnmic --config gnmic.yml sub",
    _notes,
    examples=("", "--only '*-leaf'"),
)
