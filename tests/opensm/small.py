"""Small bundles without a fault, rendered once: a tree with tenants and two managers, a torus, a mesh, a dragonfly."""

from pathlib import Path

from fabricgen.cli.main import run
from tests.inventories import Tree, grid, grouped, write
from tests.render.infiniband.test_files import QM9700, subnet_tree

TREE, TORUS, MESH, DRAGONFLY, UFM, LEVELS = "tree", "torus", "mesh", "dragonfly", "ufm", "levels"


def _tree() -> Tree:
    """Eight leaves, two spines; four hosts with GPUs and two that manage both subnets."""
    tree = subnet_tree(4)
    nics = [
        {"name": "rail{rail}", "model": "ConnectX-7", "speed": "400G", "plane": "compute", "rails": 8},
        {"name": "storage0", "model": "ConnectX-7", "speed": "400G", "plane": "storage"},
    ]
    tree["host_models"] = {"manager": {"gpus": 0, "nics": nics}}
    tree["hosts"] = {"gpu": {"model": "dgx-h100", "count": 4}, "sm": {"model": "manager", "count": 2}}
    compute = tree["planes"]["compute"]
    compute["spine"]["count"] = 2
    compute["scalable_unit"] = {"hosts": 6, "planned": 1, "appliances": ["sm"]}
    compute["infiniband"] = {"managers": ["sm/0", "sm/1"], "config_dir": "/etc/opensm/compute"}
    compute["partitions"] = [
        {"name": "blue", "pkey": 0x8001, "members": ["gpu/0-1"], "ipoib": True},
        {"name": "green", "pkey": 0x8002, "members": ["gpu/2-3"], "ipoib": True},
    ]
    tree["planes"]["storage"] = {
        "technology": "infiniband", "design": "fat-tree", "hosts": ["gpu"], "speed": "400G",
        "scalable_unit": {"hosts": 6, "appliances": ["sm"]},
        "leaf": {"platform": QM9700}, "spine": {"platform": QM9700},
        "infiniband": {"managers": ["sm/0", "sm/1"], "config_dir": "/etc/opensm/storage"},
    }  # fmt: skip
    return tree


def _ufm() -> Tree:
    """The tree with the files for UFM, too, and SHARP."""
    tree = _tree()
    tree["planes"]["compute"]["infiniband"]["mlnx_sm"] = {"sharp": True}
    return tree


def _levels() -> Tree:
    """The tree with one tenant on a QoS level."""
    tree = _tree()
    plane = tree["planes"]["compute"]
    plane["partitions"] = [{"name": "blue", "pkey": 0x8001, "members": ["gpu"], "ipoib": True, "qos_level": "fast"}]
    plane["infiniband"]["qos"] = {"high_limit": 4, "levels": [{"name": "fast", "sl": 2, "weight": 128, "high": True}]}
    return tree


def _bare(tree: Tree, engine: str = "") -> Tree:
    plane = tree["planes"]["compute"]
    if engine:
        plane["infiniband"] = {"engine": engine}
    plane["technology"] = "infiniband"
    plane.pop("addressing", None)
    tree.pop("management", None)
    return tree


_TREES = {
    TREE: _tree,
    UFM: _ufm,
    LEVELS: _levels,
    TORUS: lambda: _bare(grid("torus", [4, 3])),
    MESH: lambda: _bare(grid("mesh", [3, 3])),
    DRAGONFLY: lambda: _bare(grouped("dragonfly", {"switches": 2, "global_links": 1}, hosts=3), "dfsssp"),
}


def rendered(folder: Path, name: str) -> Path:
    """The bundle `name`, rendered into a separate folder."""
    try:
        run(["-q", "render", str(write(folder / f"{name}-inventory", _TREES[name]())), "-o", str(folder / name)])
    except SystemExit as done:
        assert done.code == 0, name
    return folder / name
