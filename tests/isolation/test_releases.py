"""Each level on each release: rows that its image reads, and a proof.

test_yang.py has libyang and the models of SONiC. Those of NTP in 202305 do not have fields of the management that
fabricgen renders.
"""

import json
from pathlib import Path

import pytest

from fabricgen.api import render
from fabricgen.bundle.read import open_bundle
from fabricgen.sonic.release_models import unknown_paths
from fabricgen.sonic.releases import BRANCHES
from tests.conftest import Cli
from tests.inventories import write
from tests.isolation import test_evpn, test_tenants, test_vrfs

OLDEST_MODELS = 202405
RAILS = {"odd": {"hosts": ["gpu/0-7/rail1", "gpu/0-7/rail3"]}, "even": {"hosts": ["gpu/0-3/rail0"]}}
LEVELS = {"acl": test_tenants.rented, "vrf": test_vrfs.rented, "evpn": test_evpn.rented}


@pytest.mark.parametrize("release", BRANCHES)
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_on_every_release(cli: Cli, tmp_path: Path, level: str, release: int) -> None:
    tree = {**LEVELS[level](), "sonic": {"release": release}}
    render(write(tmp_path / "inventory", tree), tmp_path / "bundle")
    bundle = open_bundle([tmp_path / "bundle"])
    for device in bundle.devices.values():
        assert release < OLDEST_MODELS or not list(unknown_paths(device.config, release)), device.name
        static = device.table("STATIC_ROUTE")
        assert release >= 202505 or not any("advertise" in row for key, row in static.items() if "|" in key)
        if device.table("VXLAN_TUNNEL"):
            has_field = "advertise-all-vni" in device.row("BGP_GLOBALS_AF", "default|l2vpn_evpn")
            assert has_field == (release >= 202505) and "  advertise-all-vni\n" in (device.frr_conf or "")
    found = json.loads(cli("validate", tmp_path / "bundle", "--format", "json").out)
    assert found["isolation"]["verdict"] == "apart"
    assert not [one for one in found["findings"] if one["severity"] == "error"]


@pytest.mark.parametrize("level", LEVELS)
def test_leaves_differ_by_their_tenants(cli: Cli, tmp_path: Path, level: str) -> None:
    """Rails as tenants: no rule takes the leaf of a tenant for one that differs from its peers by mistake."""
    tree, vnis = LEVELS[level](), iter(range(5001, 5003))
    tree["tenants"] = {name: {**one, **({"vni": next(vnis)} if level == "evpn" else {})} for name, one in RAILS.items()}
    render(write(tmp_path / "inventory", tree), tmp_path / "bundle")
    found = json.loads(cli("validate", tmp_path / "bundle", "--format", "json").out)
    assert (found["isolation"]["verdict"], found["isolation"]["tenants"]) == ("apart", 2)
    assert {one["code"] for one in found["findings"]} <= {"FG285"}
