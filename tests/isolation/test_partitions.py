"""The verdict on tenants of InfiniBand subnets, from the P_Keys of their ports."""

import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest

from fabricgen.api import render
from fabricgen.bundle.read import open_bundle
from fabricgen.isolation import isolation
from fabricgen.observed.subnet_files import subnets_of
from fabricgen.resources import resource
from fabricgen.rules.view.pkey_tables import pkey_tables
from fabricgen.rules.view.subnet_managers import ManagedSubnet
from tests.conftest import Cli
from tests.isolation.test_tenants import isolation_of


@pytest.fixture(scope="module")
def _rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("subnets")
    shutil.copytree(resource("inventories", "infiniband"), folder / "inventory")
    render(folder / "inventory", folder / "bundle")
    return folder / "bundle"


@pytest.fixture
def bundle(_rendered: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(_rendered, tmp_path / "bundle"))


def change(bundle: Path, edit: Callable[[str], str]) -> None:
    file = bundle / "infiniband/compute/partitions.conf"
    file.write_text(edit(file.read_text()))


def passing(bundle: Path) -> set[tuple[int, int]]:
    """The pairs of ports of plane compute with a common P_Key, by trying all of them."""
    opened = open_bundle([bundle])
    subnet = next(
        ManagedSubnet(files, opened.wiring)
        for root in opened.subnet_roots
        for files in subnets_of(root)
        if files.name == "compute"
    )
    keys = {port: {key for key in own if key} for port, own in pkey_tables(subnet).items() if port in subnet.adapters}
    return {
        (a, b)
        for a, b in permutations(keys, 2)
        if any(one & 0x7FFF == other & 0x7FFF and (one | other) & 0x8000 for one in keys[a] for other in keys[b])
    }


def test_rendered_subnets_are_apart(cli: Cli, bundle: Path) -> None:
    verdict, findings = isolation_of(cli, bundle)
    assert (verdict["verdict"], findings) == ("apart", [])
    assert {plane["name"]: plane["tenants"] for plane in verdict["planes"]} == {"compute": 2, "storage": 2}
    assert "2 tenants, apart: proved" in cli("validate", bundle).out.splitlines()[0]
    compute = next(one for one in isolation(open_bundle([bundle])) if one.plane == "compute")
    assert compute.together == len(passing(bundle))


def test_full_members_of_default_leak(cli: Cli, bundle: Path) -> None:
    change(bundle, lambda text: text.replace("ALL_CAS=limited", "ALL_CAS=full"))
    verdict, findings = isolation_of(cli, bundle)
    assert verdict["verdict"] == "leaks"
    compute = next(one for one in isolation(open_bundle([bundle])) if one.plane == "compute")
    assert compute.leaks + compute.together == len(passing(bundle))
    assert {(one["code"], one["path"]) for one in findings} == {("FG647", "partitions.conf|0x7fff")}
    assert "both have P_Key 0xffff" in findings[0]["message"]


def test_a_file_that_opensm_rejects_leaks(cli: Cli, bundle: Path) -> None:
    change(
        bundle, lambda text: text.replace("blue=0x8001", "blue=0x8001 ipoib", 1).replace("0x02fab00200000001", "x", 1)
    )
    verdict, _ = isolation_of(cli, bundle)
    assert verdict["verdict"] == "leaks"
    assert "NOT APART on compute" in cli("validate", bundle).out
