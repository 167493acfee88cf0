"""The sum of the pools: refused with the arithmetic, and only where it does not add up."""

import dataclasses
from pathlib import Path

import pytest

from fabricgen.lossless.plan import LosslessPlan, PortBuffers
from fabricgen.lossless.pools import pool_problem
from fabricgen.render.plans import make_plans
from tests.inventories import ARISTA, NVIDIA, explicit, write


def planned(folder: Path, platform: str) -> tuple[LosslessPlan, list[PortBuffers]]:
    """The plan of a leaf with three wired ports, and the settings of those."""
    plans = make_plans(write(folder, explicit(platform)))
    leaf = plans.fabric.switches[0]
    plan = plans.planner.plan(leaf)
    ports = [plans.planner.port(leaf, end.link) for end in plans.control.ends[leaf.key].values()]
    assert plan and plans.findings == []
    return plan, [port for port in ports if port]


def with_pool(plan: LosslessPlan, **fields: int) -> LosslessPlan:
    row = {"type": "ingress", "mode": "dynamic", **{name: str(number) for name, number in fields.items()}}
    return dataclasses.replace(plan, pools={"ingress_lossless_pool": row})  # type: ignore[dict-item]


SIZE, XOFF, GROUPS = 18796, 612140, 6  # of a 400G row of the SKU; three ports, two classes


@pytest.mark.parametrize(
    ("pool", "mmu_bytes", "problem"),
    [
        ({"size": GROUPS * SIZE, "xoff": XOFF}, None, None),
        ({"size": GROUPS * SIZE - 1, "xoff": XOFF}, None, f"6 lossless groups reserve {GROUPS * SIZE} B"),
        ({"size": 10**8, "xoff": XOFF - 1}, None, f"one group may need {XOFF} B of headroom"),
        ({"size": GROUPS * (SIZE + XOFF)}, None, None),
        ({"size": GROUPS * (SIZE + XOFF) - 1}, None, f"need {GROUPS * XOFF} B of own headroom = 3785616 B"),
        ({"xoff": XOFF}, None, "ingress_lossless_pool of the platform has no size in bytes"),
        ({"size": 10**8, "xoff": 10**7}, 11 * 10**7, None),
        ({"size": 10**8, "xoff": 10**7 + 1}, 11 * 10**7, "= 110000001 B, the chip has 110000000 B"),
    ],
)
def test_sum(tmp_path: Path, pool: dict[str, int], mmu_bytes: int | None, problem: str | None) -> None:
    plan, ports = planned(tmp_path, ARISTA)
    found = pool_problem(with_pool(plan, **pool), ports, mmu_bytes)
    assert (found is None) if problem is None else (found is not None and problem in found)


def test_a_dynamic_switch_sizes_its_pools_itself(tmp_path: Path) -> None:
    plan, ports = planned(tmp_path, NVIDIA)
    assert pool_problem(with_pool(plan, size=0), ports, 1) is None
