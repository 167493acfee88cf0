"""Each level against libyang and SONiC's own YANG models.

The repository does not contain SONiC's models, and tests do not download them. With a clone of sonic-buildimage,
libyang validates each file with the models of its release, and refuses planted faults:

    SONIC_BUILDIMAGE=/path/to/sonic-buildimage pytest tests/isolation/test_yang.py [--update-golden]

`--update-golden` records a digest of the accepted rows of tenants in yang_accepted.json. Without a clone, rendered rows
are compared with it, so rows that libyang has not accepted never pass.
"""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api import render
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.yang import Models, check, load_models
from scripts.make_release_models import COMMITS
from scripts.sonic_clone import make_models
from tests.components import package
from tests.conftest import Cli
from tests.inventories import write
from tests.isolation.test_releases import LEVELS

RELEASES = (202411, 202505, 202511, 202605)
ACCEPTED = Path(__file__).with_name("yang_accepted.json")
TABLES = (
    *("ACL_TABLE", "ACL_RULE", "VRF", "INTERFACE", "STATIC_ROUTE", "VLAN", "VLAN_INTERFACE"),
    *("VXLAN_TUNNEL", "VXLAN_TUNNEL_MAP", "VXLAN_EVPN_NVO", "LOOPBACK_INTERFACE"),
    *("BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_NEIGHBOR_AF", "ROUTE_REDISTRIBUTE"),
)
EVPN = "Vrf_blue|l2vpn_evpn"
# name -> level, releases whose models refuse it, and (table, key, fields to add, or None to remove the row)
FAULTS: dict[str, tuple[str, tuple[int, ...], tuple[str, str, dict[str, Any] | None]]] = {
    "a VRF that does not exist": ("vrf", RELEASES, ("INTERFACE", "Ethernet0", {"vrf_name": "Vrf_x"})),
    "a name of a VRF": ("vrf", RELEASES, ("VRF", "blue", {})),
    "an action of a rule": ("acl", RELEASES, ("ACL_RULE", "TENANT_BLUE|DROP_1", {"PACKET_ACTION": "DENY"})),
    "a table without a row": ("acl", RELEASES, ("ACL_TABLE", "TENANT_BLUE", None)),
    "a VNI that is too large": ("evpn", RELEASES, ("VRF", "Vrf_blue", {"vni": "16777216"})),
    "a VLAN of a map": ("evpn", RELEASES, ("VLAN", "Vlan3001", None)),
    "routes of a VRF in EVPN": ("evpn", RELEASES, ("BGP_GLOBALS_AF", EVPN, {"advertise-ipv4-unicast": "true"})),
    "all VNIs": ("evpn", RELEASES[:1], ("BGP_GLOBALS_AF", EVPN, {"advertise-all-vni": "true"})),
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A bundle of each level and release, rendered once."""
    known: dict[tuple[str, int], Path] = {}

    def of(level: str, release: int) -> Path:
        if (level, release) not in known:
            folder = tmp_path_factory.mktemp(f"{level}-{release}")
            render(write(folder / "inventory", {**LEVELS[level](), "sonic": {"release": release}}), folder / "bundle")
            known[level, release] = folder / "bundle"
        return known[level, release]

    return of


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The models of a release, from the clone."""
    known: dict[int, Models] = {}

    def of(release: int) -> Models:
        clone = os.environ.get("SONIC_BUILDIMAGE")
        if not clone:
            pytest.skip("SONIC_BUILDIMAGE is not a clone of sonic-buildimage; recorded answers are compared")
        package("libyang", "yang")
        if release not in known:
            folder = tmp_path_factory.mktemp(str(release))
            known[release] = load_models(make_models(Path(clone), COMMITS[release], folder))
        return known[release]

    return of


def digest(bundle: Bundle) -> str:
    """A digest of the rows of tenants on all switches."""
    tables = {
        name: {table: device.config[table] for table in TABLES if table in device.config}
        for name, device in bundle.devices.items()
    }
    return sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def planted(bundle: Bundle, change: tuple[str, str, dict[str, Any] | None]) -> dict[str, Any]:
    """The tables of a leaf with a fault."""
    table, key, fields = change
    config: dict[str, Any] = json.loads(json.dumps(bundle.devices["compute-su00-r0-leaf"].config))
    if fields is None:
        del config[table][key]
    else:
        config[table].setdefault(key, {}).update(fields)
    return config


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("level", LEVELS)
def test_libyang_accepts_every_file(rendered: Any, models: Any, update: bool, level: str, release: int) -> None:
    own, bundle = models(release), open_bundle([rendered(level, release)])
    assert {device.name: found for device in bundle.devices.values() if (found := check(own, device.config))} == {}
    if update:
        accepted = json.loads(ACCEPTED.read_text()) if ACCEPTED.exists() else {}
        accepted.setdefault(level, {})[str(release)] = digest(bundle)
        ACCEPTED.write_text(json.dumps(accepted, indent=2, sort_keys=True) + "\n")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("level", LEVELS)
def test_rows_are_those_that_libyang_accepted(rendered: Any, level: str, release: int) -> None:
    accepted = json.loads(ACCEPTED.read_text())[level][str(release)]
    new = f"libyang has not seen these rows of {level} with the models of {release_name(release)}: see this file's head"
    assert digest(open_bundle([rendered(level, release)])) == accepted, new


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("fault", FAULTS)
def test_libyang_refuses_a_fault(rendered: Any, models: Any, fault: str, release: int) -> None:
    level, releases, change = FAULTS[fault]
    found = check(models(release), planted(open_bundle([rendered(level, release)]), change))
    assert bool(found) == (release in releases), found


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("fault", FAULTS)
def test_validate_refuses_what_libyang_refuses(
    rendered: Any, cli: Cli, tmp_path: Path, fault: str, release: int
) -> None:
    """The built-in schema gives a reason for each, without models."""
    level, releases, change = FAULTS[fault]
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps(planted(open_bundle([rendered(level, release)]), change)))
    found = cli("validate", file, "--release", release, "--select", "FG40,FG450", "--fail-on", "warning")
    assert found.code == (release in releases), found.out
