"""The lossless plan of the report: headroom, pools, thresholds and watchdog of each distinct configuration."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.page.configurations import Configuration
from fabricgen.physics import dynamic_threshold_bytes
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.dynamic_buffers import buffers_of
from fabricgen.sonic.dynamic_buffers.headroom import PredictedHeadroom
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL, PREDICTED, DynamicBuffers
from fabricgen.sonic.image import metadata, rows, text
from fabricgen.sonic.port_qos import PortQos, SwitchQos
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.tables import Row
from fabricgen.units import whole_number

# Speed of the port, cable length as in the file, name of the profile, what the switch computes in its place.
Group = tuple[int | None, str, str, PredictedHeadroom | None]


def plan_object(one: Configuration) -> dict[str, Any]:
    """What makes the ports of these switches lossless, in bytes and ms; null where the file does not say."""
    qos, computed = SwitchQos(one.config), buffers_of(one.device)
    ports = {name: qos.port(name) for name in rows(one.config, "PORT") if qos.port(name).pfc}
    headroom = list(_headroom(one, ports, computed))
    return {
        "role": one.device.wired.role if one.device.wired else "",
        "hwsku": text(metadata(one.config), "hwsku"),
        "buffer_model": text(metadata(one.config), "buffer_model"),
        "switches": len(one.devices),
        "example": one.devices[0],
        "lossless_ports": len(ports),
        "priorities": sorted({priority for port in ports.values() for priority in port.pfc}),
        "headroom": headroom,
        "headroom_bytes": sum((row["xoff_bytes"] or 0) * row["groups"] for row in headroom),
        "pools": list(_pools(one, computed)),
        "thresholds": list(_thresholds(one, headroom)),
        "watchdog": list(_watchdog(one)),
    }


def _headroom(
    one: Configuration, ports: Mapping[str, PortQos], computed: DynamicBuffers | None
) -> Iterator[dict[str, Any]]:
    """Lossless priority groups by speed, cable length and profile, beside the row of the SKU's own table. What the
    switch computes is predicted."""
    lengths = {port: length for row in rows(one.config, "CABLE_LENGTH").values() for port, length in row.items()}
    speeds, profiles = rows(one.config, "PORT"), rows(one.config, "BUFFER_PROFILE")
    counts: Counter[Group] = Counter()
    for name, port in ports.items():
        bound = port.profiles("BUFFER_PG")
        for group in {port.pfc_to_pg.get(priority, priority) for priority in port.pfc}:
            speed = whole_number(text(speeds.get(name, {}), "speed"))
            profile = bound.get(group, ("", ""))[1]
            predicted = computed.headroom(name) if computed and computed.is_computed(profile) else None
            counts[speed, str(lengths.get(name, "")), profile, predicted] += 1
    known = layout_by_hwsku(text(metadata(one.config), "hwsku"))
    table = (
        {(row.speed_mbps, row.cable_m): row.xoff_bytes for row in known[1].at(one.device.release).headroom}
        if known
        else {}
    )
    for (speed, length, profile, predicted), groups in sorted(counts.items(), key=str):
        row = profiles.get(profile, {})
        metres = whole_number(length.removesuffix("m"))
        yield {
            "speed_mbps": speed,
            "cable_m": metres,
            "profile": profile,
            "groups": groups,
            "xoff_bytes": predicted.xoff_bytes if predicted else whole_number(text(row, "xoff")),
            "size_bytes": predicted.size_bytes if predicted else whole_number(text(row, "size")),
            "source": PREDICTED if predicted else "",
            "alpha_exponent": _signed(text(row, "dynamic_th")),
            "sku_xoff_bytes": table.get((speed or 0, metres or 0)),
        }


def _pools(one: Configuration, computed: DynamicBuffers | None) -> Iterator[dict[str, Any]]:
    for name, row in rows(one.config, "BUFFER_POOL").items():
        size, xoff = (whole_number(text(row, field)) for field in ("size", "xoff"))
        is_predicted = computed is not None and size is None
        if computed and is_predicted:
            size = computed.sizes.bytes[name]
            xoff = xoff or (computed.sizes.headroom_bytes if name == LOSSLESS_POOL else 0) or None
        source = PREDICTED if is_predicted else ""
        yield {"name": name, "type": text(row, "type"), "size_bytes": size, "xoff_bytes": xoff, "source": source}


def _thresholds(one: Configuration, headroom: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """ECN marks from Kmin to Kmax; one full queue is paused at `xoff_at_bytes`; the pool ends at `full_bytes`."""
    pools, profiles = rows(one.config, "BUFFER_POOL"), rows(one.config, "BUFFER_PROFILE")
    used = next((row for row in headroom if row["profile"] in profiles), None)
    pool: Row = pools.get(reference_name(text(profiles[used["profile"]], "pool")), {}) if used else {}
    full = whole_number(text(pool, "size"))
    exponent = used["alpha_exponent"] if used else None
    paused = None if full is None or exponent is None else round(dynamic_threshold_bytes(full, exponent))
    for name, row in rows(one.config, "WRED_PROFILE").items():
        kmin, kmax, pmax = (
            whole_number(text(row, f"green_{field}"))
            for field in ("min_threshold", "max_threshold", "drop_probability")
        )
        yield {"profile": name, "kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_percent": pmax,
               "xoff_at_bytes": paused, "full_bytes": full}  # fmt: skip


def _watchdog(one: Configuration) -> Iterator[dict[str, Any]]:
    times = ("action", "detection_time", "restoration_time")
    found = Counter(
        tuple(text(row, field) for field in times)
        for key, row in rows(one.config, "PFC_WD").items()
        if key.upper() != "GLOBAL"
    )
    for (action, detection, restoration), ports in found.items():
        yield {"action": action, "detection_ms": whole_number(detection), "restoration_ms": whole_number(restoration),
               "ports": ports}  # fmt: skip


def _signed(given: str) -> int | None:
    number = whole_number(given.removeprefix("-"))
    return None if number is None else -number if given.startswith("-") else number
