"""Bundles that were rendered, with racks and serials."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conftest import Cli
from tests.inventories import explicit, rail_optimized, write


def placed(macs: Mapping[str, str] | None = None, **plane: Any) -> dict[str, Any]:
    """The explicit inventory with racks, units and serials, and MAC addresses by name."""
    tree = explicit(**plane)
    nodes = [*tree["planes"]["compute"]["leaves"], *tree["planes"]["compute"]["spines"]]
    tree["devices"] = [
        {"name": node["name"], "rack": f"R{number % 2}", "unit": str(40 - number), "serial": f"SN{number}"}
        for number, node in enumerate(nodes)
    ]
    for device in tree["devices"]:
        device |= {"mac": macs[device["name"]]} if macs and device["name"] in macs else {}
    return tree


def vteps() -> dict[str, Any]:
    """A fabric with a VTEP on each leaf, two tenants on each."""
    tree = rail_optimized(hosts=4, bgp="unnumbered", isolation="evpn")
    tree["tenants"] = {
        "blue": {"hosts": ["gpu/0-1"], "vni": 5001},
        "red": {"hosts": ["gpu/2-3"], "vni": 5002, "shared_with": ["blue"]},
    }
    tree["management"] = {"addresses": "10.255.0.0/24", "gateway": "10.255.0.1"}
    return tree


def render(cli: Cli, folder: Path, tree: dict[str, Any]) -> Path:
    """The bundle of an inventory."""
    outcome = cli("render", write(folder / "inventory", tree), "-o", folder / "bundle", "-q")
    assert outcome.code == 0, outcome.out + outcome.err
    return folder / "bundle"
