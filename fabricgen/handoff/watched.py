"""What to watch on a switch, with the thresholds of its file."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricgen.physics import full_pause_frames_per_second
from fabricgen.same import Same
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import parse_priorities, split_key
from fabricgen.units import whole_number

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice

PAUSED_SHARE = 0.05  # of the time: more pauses than bursts cause
HEADROOM_SHARE = 0.8  # of xoff

Numbers = tuple[int, ...]
Ports = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pauses:
    """Ports with PFC, and the rate of pause frames that is too high."""

    ports: Ports
    priorities: Numbers
    speed_mbps: int

    @property
    def frames_per_second(self) -> int:
        """PAUSED_SHARE of the rate that holds the priority permanently."""
        return round(PAUSED_SHARE * full_pause_frames_per_second(self.speed_mbps))


@dataclass(frozen=True, slots=True)
class HeadroomPorts:
    """Ports with lossless priority groups of equal headroom. `source` is PREDICTED where the switch computes it."""

    ports: Ports
    groups: Numbers
    xoff_bytes: int
    source: str = ""

    @property
    def watermark_bytes(self) -> int:
        """HEADROOM_SHARE of xoff, rounded up."""
        return -(-self.xoff_bytes * round(HEADROOM_SHARE * 100) // 100)


@dataclass(frozen=True, slots=True)
class Marking:
    """Ports and queues with ECN marking from one threshold."""

    ports: Ports
    queues: Numbers
    kmin_bytes: int


@dataclass(frozen=True, slots=True)
class GuardedPorts:
    """Ports that the watchdog guards."""

    ports: Ports
    detection_ms: int
    action: str


@dataclass(frozen=True, slots=True)
class Watched:
    """All of one switch. `blind` lists what no rule can detect, and why. Switches with equal contents share rules."""

    pauses: tuple[Pauses, ...]
    headrooms: tuple[HeadroomPorts, ...]
    markings: tuple[Marking, ...]
    watchdogs: tuple[GuardedPorts, ...]
    blind: tuple[str, ...]

    @property
    def ports(self) -> Ports:
        """Every watched port, in natural order."""
        groups: tuple[Pauses | HeadroomPorts | Marking | GuardedPorts, ...]
        groups = (*self.pauses, *self.headrooms, *self.markings, *self.watchdogs)
        found = (port for group in groups for port in group.ports)
        return tuple(sorted(set(found), key=natural_key))


# Nothing that is watched depends on them, and they differ from switch to switch.
_OWN_TABLES = frozenset({
    "BGP_NEIGHBOR", "DEVICE_NEIGHBOR", "DEVICE_NEIGHBOR_METADATA", "INTERFACE", "LOOPBACK_INTERFACE", "MGMT_INTERFACE",
    "STATIC_ROUTE",
})  # fmt: skip
_OWN_FIELDS = frozenset({"description", "hostname", "mac", "bgp_asn", "bgp_router_id"})
_WITH_OWN_FIELDS = ("DEVICE_METADATA", "PORT")


class Watches:
    """What to watch on switches. Thousands of them have few kinds of tables, and each kind is read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Watched] = {}

    def of(self, device: "ObservedDevice") -> Watched:
        """What to watch on a switch."""
        key = tuple(_key(name, table) for name, table in device.config.items() if name not in _OWN_TABLES)
        if key not in self._known:
            self._known[key] = watched(device)
        return self._known[key]


def _key(name: str, table: Any) -> tuple[object, ...]:
    """A key of a table, equal only for tables from which the same follows."""
    if name not in _WITH_OWN_FIELDS:
        return name, Same(table)
    return name, *((key, tuple((field, str(value)) for field, value in row.items() if field not in _OWN_FIELDS))
                   for key, row in table.items())  # fmt: skip


def watched(device: "ObservedDevice") -> Watched:
    """What to watch on a switch, without the ports that the configuration shuts down."""
    up = [port for port, row in device.table("PORT").items() if row.get("admin_status") == "up"]
    pauses, blind = _pauses(device, up), []
    headrooms, unknown = _headrooms(device, up, pauses)
    if unknown:
        blind.append(f"headroom of {unknown} lossless groups: no xoff in the file, and none that can be predicted")
    if headrooms and not _counted(device, "PG_WATERMARK"):
        blind.append("headroom: FLEX_COUNTER_TABLE|PG_WATERMARK is disabled")
        headrooms = ()
    markings = _markings(device, up)
    if markings and not _counted(device, "WRED_ECN_QUEUE", by_default=False):
        blind.append("ECN marks: FLEX_COUNTER_TABLE|WRED_ECN_QUEUE is not enabled")
        markings = ()
    return Watched(pauses, headrooms, markings, _watchdogs(device, up), tuple(blind))


def _pauses(device: "ObservedDevice", up: list[str]) -> tuple[Pauses, ...]:
    found: dict[tuple[Numbers, int], list[str]] = {}
    for port in up:
        priorities = _numbers(device.text_of("PORT_QOS_MAP", port, "pfc_enable"))
        speed_mbps = whole_number(device.text_of("PORT", port, "speed"))
        if priorities and speed_mbps is not None:
            found.setdefault((priorities, speed_mbps), []).append(port)
    return tuple(Pauses(_ports(ports), *key) for key, ports in sorted(found.items()))


def _headrooms(
    device: "ObservedDevice", up: list[str], pauses: tuple[Pauses, ...]
) -> tuple[tuple[HeadroomPorts, ...], int]:
    """The headrooms in the file, or predicted, and the number of lossless groups without one."""
    # The catalog of platforms takes a third of the time of a completion.
    from fabricgen.platforms.dynamic_buffers import buffers_of
    from fabricgen.sonic.dynamic_buffers.prediction import PREDICTED

    computed = buffers_of(device)
    lossless = {port: set(part.priorities) for part in pauses for port in part.ports}
    found: dict[tuple[Numbers, int, str], list[str]] = {}
    unknown = 0
    for port, part, row in _by_port(device, "BUFFER_PG", up):
        xoff_bytes = whole_number(device.text_of("BUFFER_PROFILE", str(row.get("profile")), "xoff"))
        predicted = computed.headroom(port) if computed and computed.is_computed(str(row.get("profile"))) else None
        if xoff_bytes is not None:
            found.setdefault((_numbers(part), xoff_bytes, ""), []).append(port)
        elif predicted:
            found.setdefault((_numbers(part), predicted.xoff_bytes, PREDICTED), []).append(port)
        elif lossless.get(port, set()) & set(_numbers(part)):
            unknown += 1
    return tuple(HeadroomPorts(_ports(ports), *key) for key, ports in sorted(found.items())), unknown


def _markings(device: "ObservedDevice", up: list[str]) -> tuple[Marking, ...]:
    marked: dict[tuple[str, int], set[int]] = {}
    for port, part, row in _by_port(device, "QUEUE", up):
        wred = str(row.get("wred_profile", ""))
        kmin_bytes = whole_number(device.text_of("WRED_PROFILE", wred, "green_min_threshold"))
        if kmin_bytes is not None and device.text_of("WRED_PROFILE", wred, "ecn") not in ("", "ecn_none"):
            marked.setdefault((port, kmin_bytes), set()).update(_numbers(part))
    found: dict[tuple[Numbers, int], list[str]] = {}
    for (port, threshold), queues in marked.items():
        found.setdefault((tuple(sorted(queues)), threshold), []).append(port)
    return tuple(Marking(_ports(ports), *key) for key, ports in sorted(found.items()))


def _watchdogs(device: "ObservedDevice", up: list[str]) -> tuple[GuardedPorts, ...]:
    found: dict[tuple[int, str], list[str]] = {}
    for port in up:
        row = device.row("PFC_WD", port)
        if (detection_ms := whole_number(row.get("detection_time"))) is not None:
            found.setdefault((detection_ms, str(row.get("action", "drop"))), []).append(port)
    return tuple(GuardedPorts(_ports(ports), *key) for key, ports in sorted(found.items()))


def _by_port(device: "ObservedDevice", table: str, up: Iterable[str]) -> list[tuple[str, str, dict[str, object]]]:
    """(port, rest of the key, row) of the rows of ports that are up."""
    wanted = set(up)
    found = ((split_key(key), row) for key, row in device.table(table).items())
    return [(parts[0], parts[1], dict(row)) for parts, row in found if len(parts) == 2 and parts[0] in wanted]


def _counted(device: "ObservedDevice", group: str, by_default: bool = True) -> bool:
    """Whether a group of counters is polled; init_cfg.json enables all except those of WRED."""
    status = device.text_of("FLEX_COUNTER_TABLE", group, "FLEX_COUNTER_STATUS")
    return status == "enable" if status else by_default


def _numbers(text: str) -> Numbers:
    return tuple(sorted(parse_priorities(text)))


def _ports(ports: Iterable[str]) -> Ports:
    return tuple(sorted(set(ports), key=natural_key))
