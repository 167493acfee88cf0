"""The headroom sheet of the cabling: what each lossless port reserves for its cable, in the file or by the switch."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fabricgen.platforms.dynamic_buffers import buffers_of
from fabricgen.same import Same
from fabricgen.sonic.dynamic_buffers.headroom import profile_name
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL, PREDICTED, DynamicBuffers
from fabricgen.sonic.port_qos import QOS_TABLES, SwitchQos
from fabricgen.units import format_length

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice
    from fabricgen.handoff.cable_ends import CableRun

HEADROOM_COLUMNS = ("device", "port", "groups", "cable", "length", "cable_length", "profile", "xon", "xoff", "size",
                    "pool", "source")  # fmt: skip
_TABLES_KEPT = 64  # sets of tables
_OF_FILE = "the file"


def headroom_rows(device: "ObservedDevice", runs: Mapping[str, "CableRun"]) -> Iterator[list[object]]:
    """A row for each profile of the lossless groups of a port with a cable, given the cables by port: the true length
    beside that of CABLE_LENGTH; bytes of the profile and of the ingress pool."""
    config = device.config
    lossless, computed = _lossless(*(Same(config.get(name)) for name in QOS_TABLES)), buffers_of(device)
    lengths = {port: text for row in device.table("CABLE_LENGTH").values() for port, text in row.items()}
    stated: dict[str, list[object]] = {}  # of profiles that the switch does not compute
    for port, run in runs.items():
        for groups, profile in lossless.of(port):
            head = [device.name, port, groups, run.id, format_length(run.length_m), lengths.get(port, "")]
            if computed and computed.is_computed(profile):
                yield [*head, *_values(device, computed, port, profile)]
                continue
            if profile not in stated:
                stated[profile] = _values(device, computed, port, profile)
            yield [*head, *stated[profile]]


class _Lossless:
    """The lossless groups of ports."""

    def __init__(self, qos: SwitchQos) -> None:
        self._qos = qos
        self._of: dict[str, list[tuple[str, str]]] = {}

    def of(self, port: str) -> list[tuple[str, str]]:
        """(groups, profile) of a port."""
        if port not in self._of:
            qos = self._qos.port(port)
            bound = qos.profiles("BUFFER_PG")
            by_profile: dict[str, list[int]] = {}
            for group in sorted({qos.pfc_to_pg.get(priority, priority) for priority in qos.pfc}):
                by_profile.setdefault(bound.get(group, ("", ""))[1], []).append(group)
            self._of[port] = [(" ".join(map(str, groups)), profile) for profile, groups in by_profile.items()]
        return self._of[port]


@lru_cache(_TABLES_KEPT)
def _lossless(*tables: Same[object]) -> _Lossless:
    """Those of switches that share the tables of QOS_TABLES."""
    found: Any = {name: one.of for name, one in zip(QOS_TABLES, tables, strict=True) if one.of is not None}
    return _Lossless(SwitchQos(found))


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
