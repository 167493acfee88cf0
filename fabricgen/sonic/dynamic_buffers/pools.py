"""The pools that a switch computes: its memory without what ports reserve.

Source: sonic-swss @e6b0c5b5 cfgmgr/buffer_pool_mellanox.lua.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import ceil

_MANAGEMENT_POOL_BYTES = 256 * 1024
_PRIVATE_HEADROOM_BYTES = 10 * 1024  # of each port with lossless groups, beside the shared headroom
_FORCED_HEADROOM_BYTES = 655_360  # where the ratio does not give one


@dataclass(frozen=True, slots=True)
class Reserved:
    """What the profiles of all ports that are up reserve, and what their lossless groups lack: xon and xoff beyond
    size. `ports_bytes` are the groups of management traffic and mirrors. `headroom_bytes` is the part of the profiles
    that lossless groups reserve."""

    profiles_bytes: int
    lacking_bytes: int
    ports_bytes: int
    lossless_ports: int
    lossless_groups: int
    headroom_bytes: int


@dataclass(frozen=True, slots=True)
class SharedHeadroom:
    """The configuration: over_subscribe_ratio (0: none) and the size of the headroom pool (0: computed)."""

    ratio: float = 0
    size_bytes: int = 0

    @property
    def is_on(self) -> bool:
        """Whether profiles share one headroom pool."""
        return bool(self.ratio or self.size_bytes)


@dataclass(frozen=True, slots=True)
class Pool:
    """A row of BUFFER_POOL: its direction; its size if the file has one, or its percentage of the free memory."""

    direction: str
    size_bytes: int | None = None
    percentage: int | None = None


@dataclass(frozen=True, slots=True)
class PoolSizes:
    """The size of each pool, of the shared headroom pool (0: none), and what is reserved."""

    bytes: Mapping[str, int]
    headroom_bytes: int
    reserved_bytes: int


def computed_pools(
    mmu_bytes: int, cell_bytes: int, descriptor_bytes: int, pools: Mapping[str, Pool], reserved: Reserved,
    shared: SharedHeadroom,
) -> PoolSizes:  # fmt: skip
    """The pools of a switch with `mmu_bytes` of memory."""
    occupied = reserved.profiles_bytes + reserved.ports_bytes + _MANAGEMENT_POOL_BYTES + descriptor_bytes
    headroom, lacking = shared.size_bytes, 0 if shared.size_bytes else reserved.lacking_bytes
    is_forced = lacking > 0 and not shared.is_on
    if is_forced:
        headroom = _FORCED_HEADROOM_BYTES
    if shared.is_on or is_forced:
        private = reserved.lossless_ports * _PRIVATE_HEADROOM_BYTES
        occupied += private
        if not headroom:
            headroom = ceil(max(0, lacking - private) / shared.ratio) or _FORCED_HEADROOM_BYTES
    free = mmu_bytes - occupied - headroom
    sizeless = [pool for pool in pools.values() if pool.size_bytes is None]
    ingress = sum(pool.direction == "ingress" for pool in sizeless)
    each = min(free if ingress == 1 else free / 2, mmu_bytes // cell_bytes * cell_bytes)
    sizes = {name: _size(pool, free, each) for name, pool in pools.items()}
    return PoolSizes(sizes, headroom, occupied + headroom)


def _size(pool: Pool, free: float, each: float) -> int:
    if pool.size_bytes is not None:
        return pool.size_bytes
    if pool.percentage is not None:
        return max(0, ceil(free * pool.percentage / 100))
    return max(0, ceil(each))


def total(parts: Mapping[Reserved, int]) -> Reserved:
    """What ports reserve together. `parts` has the number of ports for each part."""
    names = (field.name for field in fields(Reserved))
    return Reserved(*(sum(getattr(part, name) * count for part, count in parts.items()) for name in names))
