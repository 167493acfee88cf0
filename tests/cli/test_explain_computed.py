"""`explain` shows what a dynamic switch computes, and says which memory it assumes."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.platforms import catalog
from tests.conftest import Cli
from tests.inventories import NVIDIA, rail_optimized, write


def rendered(cli: Cli, folder: Path, tree: Any) -> Path:
    given = write(folder / "given", tree)
    assert cli("-q", "render", str(given), "--output", str(folder / "bundle")).code == 0
    return folder / "bundle"


@pytest.fixture
def dynamic(cli: Cli, tmp_path: Path) -> Path:
    """Eight hosts on switches that compute their buffers."""
    return rendered(cli, tmp_path, rail_optimized(platform=NVIDIA))


LEAF = "compute-su00-r0-leaf"


def test_a_pool_that_the_switch_computes(cli: Cli, dynamic: Path) -> None:
    run = cli("explain", str(dynamic), f"{LEAF}:BUFFER_POOL|ingress_lossless_pool|size")
    assert run.code == 0
    value, place, fact, memory, reserved = run.out.splitlines()
    assert value.startswith(f"{LEAF}  BUFFER_POOL|ingress_lossless_pool|size = 7")
    assert "the switch computes it" in place and "buffer_pool_mellanox.lua" in fact
    assert memory.endswith("the memory is 158229504 bytes (assumed: the size of egress_lossless_pool)")
    size, taken = int(value.split(" = ")[1]), int(reserved.split("reserve ")[1].split()[0])
    assert size == -(-(158_229_504 - taken) // 2)  # two ingress pools


def test_the_profile_of_a_port(cli: Cli, dynamic: Path) -> None:
    run = cli("explain", str(dynamic), f"{LEAF}:BUFFER_PG|Ethernet0|3-4|profile")
    assert (
        "  computed  pg_lossless_400000_5m_profile: xon 19456, xoff 86016, size 105472 bytes (predicted, by" in run.out
    )
    lossy = cli("explain", str(dynamic), f"{LEAF}:BUFFER_PG|Ethernet0|0|profile")
    assert "computed" not in lossy.out


def test_what_is_not_computed_is_an_error(cli: Cli, dynamic: Path) -> None:
    run = cli("explain", str(dynamic), f"{LEAF}:BUFFER_POOL|ingress_lossless_pool|xoff")
    assert run.code == 2
    assert "has no value" in run.err


def test_the_memory_of_the_platform_replaces_the_assumption(cli: Cli, dynamic: Path, tmp_path: Path) -> None:
    """A platform file of the inventory states the memory. fabric.json has it, and the pools follow."""
    entry = Path(catalog.__file__).with_name("catalog").joinpath("switches", f"{NVIDIA}.yaml").read_text()
    own = entry.replace(f"name: {NVIDIA}", "name: measured").replace("mmu_bytes: null", "mmu_bytes: 150000000")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "measured.yaml").write_text(own)
    tree = {**rail_optimized(platform="measured"), "platforms": ["../measured.yaml"]}
    measured = rendered(cli, tmp_path / "own", tree)
    assert {row.get("mmu_bytes") for row in json.loads((dynamic / "fabric.json").read_text())["devices"]} == {None}
    assert {row["mmu_bytes"] for row in json.loads((measured / "fabric.json").read_text())["devices"]} == {150_000_000}
    value = f"{LEAF}:BUFFER_POOL|ingress_lossless_pool|size"
    assumed, known = (cli("explain", str(bundle), value).out for bundle in (dynamic, measured))
    assert "the memory is 150000000 bytes (the platform's mmu_bytes)" in known
    sizes = [int(text.splitlines()[0].split(" = ")[1]) for text in (assumed, known)]
    assert sizes[0] - sizes[1] == (158_229_504 - 150_000_000) // 2
