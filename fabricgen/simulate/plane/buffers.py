"""Buffer profiles and pools of one switch: the one reader of BUFFER_PROFILE, BUFFER_POOL and the dynamic model's rows.

A priority group whose profile is NULL or missing follows the dynamic model: the switch computes the profile itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricgen.bundle.read import ObservedDevice
from fabricgen.platforms.dynamic_buffers import computed_buffers, known_platform
from fabricgen.simulate.plane.interfaces import InterfaceQos
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.tables import Row
from fabricgen.units import signed_number, whole_number

_DEFAULT_POOL_BYTES = 32 << 20  # without a pool in the file and without a platform: the smallest in the catalog
_LEAST_EXPONENT, _LARGEST_EXPONENT = -8, 7  # of alpha in SAI; the schema check reports others


@dataclass(frozen=True, slots=True)
class Profile:
    """A row of BUFFER_PROFILE in bytes. The threshold is `alpha` of the free pool, or `static_bytes` where that is not
    None. `is_dynamic`: the row has a dynamic_th."""

    name: str
    pool: str
    reserve_bytes: int
    alpha: float
    static_bytes: int | None
    is_dynamic: bool
    headroom_bytes: int
    xon_bytes: int
    xon_offset_bytes: int


class SwitchBufferTables:
    """The buffer tables of one switch, whose QoS is `qos`."""

    def __init__(self, device: ObservedDevice, qos: InterfaceQos) -> None:
        self._config, self._qos = device.config, qos
        self._platform = known_platform(device.text_of("DEVICE_METADATA", "localhost", "hwsku"))
        self._profiles: dict[str, Profile | None] = {}
        self.groups_configured = bool(rows(self._config, "BUFFER_PG"))
        self.computed = computed_buffers(self._config, self._platform, device.mmu_bytes, device.release)
        self.cell_bytes = (self._platform.cell_bytes if self._platform else None) or 0

    @cached_property
    def headroom_pool_bytes(self) -> int:
        """The headroom that all groups of the switch share; 0 if each group has its own."""
        if self.computed:
            return self.computed.sizes.headroom_bytes
        return sum(number(row, "xoff") for row in rows(self._config, "BUFFER_POOL").values())

    def profile(self, name: str) -> Profile | None:
        """The profile of a name; None if the file does not define it."""
        if name not in self._profiles:
            row = self._row("BUFFER_PROFILE", name)
            self._profiles[name] = self._profile(name, row) if row else None
        return self._profiles[name]

    def pool_bytes(self, name: str) -> int:
        """The size of a pool: BUFFER_POOL.size, or what the switch computes; 0 if neither is known."""
        if self.computed:
            return self.computed.sizes.bytes.get(name, 0)
        return number(self._row("BUFFER_POOL", name), "size")

    def shared_bytes(self, name: str) -> int:
        """What the groups or queues of a pool share: its size without what it reserves for all of them; 0 if its size
        is unknown, else at least 1.

        The sizes of NVIDIA's pools, computed or in the SKU's templates, are without the reserved parts.
        """
        size = self.pool_bytes(name)
        is_net = self.computed or (self._platform and self._platform.asic_vendor == "nvidia")
        return size if is_net or not size else max(1, size - self._reserved_by_pool.get(name, 0))

    @cached_property
    def lossless_pool(self) -> str:
        """The pool of groups without a profile of the file: the lossless ingress pool, or the only pool."""
        pools = rows(self._config, "BUFFER_POOL")
        named = next((name for name in (LOSSLESS_POOL, "egress_lossless_pool") if self.pool_bytes(name)), None)
        return named or next(iter(pools), LOSSLESS_POOL)

    def memory_without(self, headroom_bytes: int) -> int:
        """The memory of the ASIC without `headroom_bytes`."""
        memory = (self._platform.mmu_bytes if self._platform else None) or _DEFAULT_POOL_BYTES
        return max(memory - headroom_bytes, _DEFAULT_POOL_BYTES // 4)

    @cached_property
    def default_alpha(self) -> float:
        """The alpha of profiles that the switch computes: DEFAULT_LOSSLESS_BUFFER_PARAMETER.default_dynamic_th."""
        for row in rows(self._config, "DEFAULT_LOSSLESS_BUFFER_PARAMETER").values():
            return _alpha(row, "default_dynamic_th")
        return 1.0

    @cached_property
    def _reserved_by_pool(self) -> Mapping[str, int]:
        """Pool -> the bytes that all ports reserve in it. On a switch without a headroom pool they include the headroom
        of the groups."""
        found: dict[str, int] = {}
        for name, count in self._qos.groups_and_queues.items():
            if profile := self.profile(name):
                own_headroom = 0 if self.headroom_pool_bytes else profile.headroom_bytes
                reserved = count * (profile.reserve_bytes + own_headroom)
                found[profile.pool] = found.get(profile.pool, 0) + reserved
        return found

    def _profile(self, name: str, row: Row) -> Profile:
        """Without a headroom pool the size of a profile contains xoff, if it is large enough to."""
        is_dynamic = "dynamic_th" in row
        size, headroom = number(row, "size"), number(row, "xoff")
        contains = not self.headroom_pool_bytes and size >= headroom
        return Profile(
            name=name,
            pool=reference_name(text(row, "pool")),
            reserve_bytes=size - headroom if contains else size,
            alpha=_alpha(row, "dynamic_th"),
            static_bytes=number(row, "static_th") if "static_th" in row and not is_dynamic else None,
            is_dynamic=is_dynamic,
            headroom_bytes=headroom,
            xon_bytes=number(row, "xon"),
            xon_offset_bytes=number(row, "xon_offset"),
        )

    def _row(self, table: str, key: str) -> Row:
        return rows(self._config, table).get(key, {})


def number(row: Row, field: str) -> int:
    """A field with a number; 0 if it is missing or not a number, which the rules report."""
    return whole_number(text(row, field)) or 0


def _alpha(row: Row, field: str) -> float:
    """2 to the power of a field; 1 if it is missing or not a number."""
    exponent = signed_number(text(row, field)) or 0
    return 2.0 ** max(_LEAST_EXPONENT, min(_LARGEST_EXPONENT, exponent))
