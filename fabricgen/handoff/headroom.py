"""The headroom sheet of the cabling: what each lossless port reserves for its cable, in the file or by the switch."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fabricgen.platforms.dynamic_buffers import buffers_of
from fabricgen.sonic.dynamic_buffers.headroom import profile_name
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL, PREDICTED, DynamicBuffers
from fabricgen.sonic.port_qos import SwitchQos
from fabricgen.units import format_length

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice
    from fabricgen.handoff.cable_ends import CableRun

HEADROOM_COLUMNS = ("device", "port", "groups", "cable", "length", "cable_length", "profile", "xon", "xoff", "size",
                    "pool", "source")  # fmt: skip
_OF_FILE = "the file"


def headroom_rows(bundle: "Bundle", runs: Iterable["CableRun"]) -> Iterator[list[object]]:
    """A row for each profile of the lossless groups of a port with a cable: the true length beside that of
    CABLE_LENGTH; bytes of the profile and of the ingress pool."""
    wired: dict[str, dict[str, CableRun]] = {}
    for run in runs:
        for end in (run.a, run.b):
            if end.device in bundle.devices:
                wired.setdefault(end.device, {}).update(dict.fromkeys(end.ports, run))
    for name, ports in wired.items():
        yield from _of_switch(bundle.devices[name], ports)


def _of_switch(device: "ObservedDevice", ports: "dict[str, CableRun]") -> Iterator[list[object]]:
    qos, computed = SwitchQos(device.config), buffers_of(device)
    lengths = {port: text for row in device.table("CABLE_LENGTH").values() for port, text in row.items()}
    for port, run in ports.items():
        resolved = qos.port(port)
        lossless = sorted({resolved.pfc_to_pg.get(priority, priority) for priority in resolved.pfc})
        bound = resolved.profiles("BUFFER_PG")
        by_profile: dict[str, list[int]] = {}
        for group in lossless:
            by_profile.setdefault(bound.get(group, ("", ""))[1], []).append(group)
        for profile, groups in by_profile.items():
            head = [
                device.name,
                port,
                " ".join(map(str, groups)),
                run.id,
                format_length(run.length_m),
                lengths.get(port, ""),
            ]
            yield [*head, *_values(device, computed, port, profile)]


def _values(device: "ObservedDevice", computed: DynamicBuffers | None, port: str, profile: str) -> list[object]:
    """Profile, xon, xoff, size, pool, source; empty where nothing states them."""
    pool: object = device.text_of("BUFFER_POOL", LOSSLESS_POOL, "size")
    if computed and not pool:
        pool = computed.sizes.bytes.get(LOSSLESS_POOL, "")
    if computed and computed.is_computed(profile):
        known, cable = computed.headroom(port), computed.wired_port(port)
        if known and cable:
            name = profile_name(computed.platform, cable)
            return [name, known.xon_bytes, known.xoff_bytes, known.size_bytes, pool, PREDICTED]
    figures = [device.text_of("BUFFER_PROFILE", profile, field) for field in ("xon", "xoff", "size")]
    return [profile, *figures, pool, _OF_FILE if any(figures) else ""]
