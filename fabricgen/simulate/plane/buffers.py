"""Buffer profiles and pools of one switch: the one reader of BUFFER_PROFILE, BUFFER_POOL and the dynamic model's rows.

A priority group whose profile is NULL or missing follows the dynamic model: the switch computes the profile itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from fabricgen.bundle.read import ObservedDevice
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.references import reference_name
from fabricgen.sonic.tables import Row, parse_priorities
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
    """The buffer tables of one switch."""

    def __init__(self, device: ObservedDevice) -> None:
        self._config = device.config
        self._hwsku = device.text_of("DEVICE_METADATA", "localhost", "hwsku")
        self._profiles: dict[str, Profile | None] = {}
        self.groups_configured = bool(rows(self._config, "BUFFER_PG"))
        self.headroom_pool_bytes = number(self._row("BUFFER_POOL", "ingress_lossless_pool"), "xoff")

    def profile(self, name: str) -> Profile | None:
        """The profile of a name; None if the file does not define it."""
        if name not in self._profiles:
            row = self._row("BUFFER_PROFILE", name)
            self._profiles[name] = _profile(name, row) if row else None
        return self._profiles[name]

    def pool_bytes(self, name: str) -> int:
        """BUFFER_POOL.size; 0 if missing, as where the switch computes it."""
        return number(self._row("BUFFER_POOL", name), "size")

    @cached_property
    def lossless_pool_bytes(self) -> int:
        """The size of the pool of the lossless groups; 0 if the file does not define it."""
        return self.pool_bytes("ingress_lossless_pool") or self.pool_bytes("egress_lossless_pool")

    def memory_without(self, headroom_bytes: int) -> int:
        """The memory of the ASIC without `headroom_bytes`."""
        layout = layout_by_hwsku(self._hwsku)
        memory = (layout[0].mmu_bytes if layout else None) or _DEFAULT_POOL_BYTES
        return max(memory - headroom_bytes, _DEFAULT_POOL_BYTES // 4)

    @cached_property
    def default_alpha(self) -> float:
        """The alpha of profiles that the switch computes: DEFAULT_LOSSLESS_BUFFER_PARAMETER.default_dynamic_th."""
        for row in rows(self._config, "DEFAULT_LOSSLESS_BUFFER_PARAMETER").values():
            return _alpha(row, "default_dynamic_th")
        return 1.0

    def reserved_bytes(self) -> int:
        """What the pool reserves for all groups of the switch: their reserves, and their headroom where there is no
        headroom pool."""
        return sum(count * self._reserved_bytes(profile) for count, profile in self._group_profiles())

    def _reserved_bytes(self, profile: Profile) -> int:
        return profile.reserve_bytes + (0 if self.headroom_pool_bytes else profile.headroom_bytes)

    def _group_profiles(self) -> Iterator[tuple[int, Profile]]:
        """(number of groups, their profile) of each row of BUFFER_PG."""
        for key, row in rows(self._config, "BUFFER_PG").items():
            ports, _, groups = key.partition("|")
            if profile := self.profile(reference_name(text(row, "profile"))):
                yield len(ports.split(",")) * len(parse_priorities(groups)), profile

    def _row(self, table: str, key: str) -> Row:
        return rows(self._config, table).get(key, {})


def number(row: Row, field: str) -> int:
    """A field with a number; 0 if it is missing or not a number, which the rules report."""
    return whole_number(text(row, field)) or 0


def _profile(name: str, row: Row) -> Profile:
    is_dynamic = "dynamic_th" in row
    return Profile(
        name=name,
        pool=reference_name(text(row, "pool")),
        reserve_bytes=number(row, "size"),
        alpha=_alpha(row, "dynamic_th"),
        static_bytes=number(row, "static_th") if "static_th" in row and not is_dynamic else None,
        is_dynamic=is_dynamic,
        headroom_bytes=number(row, "xoff"),
        xon_bytes=number(row, "xon"),
        xon_offset_bytes=number(row, "xon_offset"),
    )


def _alpha(row: Row, field: str) -> float:
    """2 to the power of a field; 1 if it is missing or not a number."""
    exponent = signed_number(text(row, field)) or 0
    return 2.0 ** max(_LEAST_EXPONENT, min(_LARGEST_EXPONENT, exponent))
