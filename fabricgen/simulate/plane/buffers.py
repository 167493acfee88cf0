"""What a port's priority group may hold before it pauses its sender, from BUFFER_PG, BUFFER_PROFILE and BUFFER_POOL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fabricgen.bundle.read import ObservedDevice
from fabricgen.physics import headroom_floor_bytes
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.sonic.image import text
from fabricgen.sonic.tables import Row, parse_priorities
from fabricgen.units import parse_length_m

_DEFAULT_POOL_BYTES = 32 << 20  # of a switch whose files and platform say nothing: the smallest in the catalog
_DEFAULT_MTU_BYTES = 9100


@dataclass(frozen=True, slots=True)
class Group:
    """One lossless priority group: it pauses its sender at alpha of what the pool has left, above its own reserve, and
    lets it go on `xon_offset_bytes` below that."""

    alpha: float
    reserve_bytes: float
    xon_offset_bytes: float = 0.0


class SwitchGroups:
    """The groups of one switch for one priority."""

    def __init__(self, device: ObservedDevice, priority: int) -> None:
        self.device = device
        self.profile_of = _by_port(
            device.table("BUFFER_PG"), lambda key: priority in parse_priorities(key.partition("|")[2])
        )
        self.qos_of = _by_port(device.table("PORT_QOS_MAP"), lambda _: True)
        self.priority = priority
        self._known: dict[str, Group | None] = {}

    def group(self, port: str) -> Group | None:
        """The group of what comes in by a port; None where nothing pauses its sender."""
        enabled = parse_priorities(text(self.qos_of.get(port, {}), "pfc_enable"))
        row = self.profile_of.get(port)
        if self.priority not in enabled or row is None:
            return None
        name = text(row, "profile").strip("[]").removeprefix("BUFFER_PROFILE|")
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def speed_mbps(self, port: str) -> int:
        """PORT.speed; 0 where the file has none."""
        return _number(self.device.row("PORT", port), "speed") or 0

    def cable_m(self, port: str) -> float:
        """CABLE_LENGTH of a port; 0 where the file has none."""
        for row in self.device.table("CABLE_LENGTH").values():
            try:
                return parse_length_m(text(row, port)) if isinstance(row, Mapping) else 0.0
            except ValueError:
                return 0.0  # the rules report it
        return 0.0

    @property
    def pool_bytes(self) -> float:
        """What the lossless groups share: the pool's size, else the chip's memory without the headroom of its ports."""
        for pool in ("ingress_lossless_pool", "egress_lossless_pool"):
            if size := _number(self.device.row("BUFFER_POOL", pool), "size"):
                return float(size)
        found = layout_by_hwsku(self.device.text_of("DEVICE_METADATA", "localhost", "hwsku"))
        memory = found[0].mmu_bytes if found else None
        headroom = sum(
            headroom_floor_bytes(self.speed_mbps(port), self.cable_m(port), _DEFAULT_MTU_BYTES)
            for port in self.profile_of
        )
        return float(max((memory or _DEFAULT_POOL_BYTES) - headroom, _DEFAULT_POOL_BYTES // 4))

    def _read(self, name: str) -> Group:
        row = self.device.row("BUFFER_PROFILE", name)
        if name == "NULL" or not row:  # the dynamic model: the switch makes the profile itself
            defaults = self.device.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER").values()
            exponent = next((_number(one, "default_dynamic_th") for one in defaults), None)
            return Group(2.0 ** (exponent or 0), 0.0)
        static = _number(row, "static_th")
        reserve = float(_number(row, "size") or 0)
        exponent = _number(row, "dynamic_th")
        if exponent is None and static is not None:
            return Group(0.0, float(static))
        return Group(2.0 ** (exponent or 0), reserve, float(_number(row, "xon_offset") or 0))


def _by_port(table: Mapping[str, Row], wanted: Callable[[str], bool]) -> dict[str, Row]:
    """port -> row, for the wanted keys; old files name several ports in one key."""
    found: dict[str, Row] = {}
    for key, row in table.items():
        if isinstance(row, Mapping) and wanted(key):
            found.update(dict.fromkeys(key.partition("|")[0].split(","), row))
    return found


def _number(row: Row, field: str) -> int | None:
    digits = text(row, field)
    return int(digits) if digits.lstrip("-").isdecimal() else None
