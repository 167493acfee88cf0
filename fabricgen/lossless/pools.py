"""Whether the pools of a switch with traditional buffers are large enough for its lossless groups, with the sum.

A lossless priority group reserves `size` and may need `xoff` more while it pauses. The shared headroom pool (`xoff` of
the pool itself) provides the second part. In a pool without shared headroom the group reserves it as well. The sums are
compared with the SKU's own pools, because no public source states the memory of most chips.
"""

from collections.abc import Mapping, Sequence

from fabricgen.lossless.plan import LOSSLESS_POOL, LosslessPlan, PortBuffers
from fabricgen.units import whole_number


def pool_problem(plan: LosslessPlan, ports: Sequence[PortBuffers], mmu_bytes: int | None) -> str | None:
    """The reason why the pools are too small, with the sum; None if they suffice or the switch sizes them."""
    if plan.dynamic or LOSSLESS_POOL not in plan.pools or not plan.classes.lossless:
        return None
    pool = plan.pools[LOSSLESS_POOL]
    size, shared_headroom = whole_number(pool.get("size")), whole_number(pool.get("xoff", "0"))
    if size is None or shared_headroom is None:
        return f"{LOSSLESS_POOL} of the platform has no size in bytes, which a switch with traditional buffers needs"
    rows = [port.pg_profile_row for port in ports if port.pg_profile_row is not None]
    per_port = len(plan.classes.lossless)
    groups = per_port * len(rows)
    reserved = per_port * sum(int(row["size"]) for row in rows)
    if mmu_bytes is not None and size + shared_headroom > mmu_bytes:
        total = size + shared_headroom
        return f"pool {size} B + shared headroom {shared_headroom} B = {total} B, the chip has {mmu_bytes} B"
    if not shared_headroom:
        headroom = per_port * sum(_xoff(row) for row in rows)
        if reserved + headroom > size:
            return (
                f"{groups} lossless groups reserve {reserved} B and need {headroom} B of own headroom = "
                f"{reserved + headroom} B, {LOSSLESS_POOL} has {size} B"
            )
    if reserved > size:
        return f"{groups} lossless groups reserve {reserved} B, {LOSSLESS_POOL} has {size} B"
    largest = max((_xoff(row) for row in rows), default=0)
    if shared_headroom and largest > shared_headroom:
        return f"one group may need {largest} B of headroom, the shared headroom pool has {shared_headroom} B"
    return None


def _xoff(row: Mapping[str, str]) -> int:
    return int(row["xoff"])
