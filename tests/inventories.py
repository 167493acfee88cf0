"""Small inventories as plain mappings, and functions that write them."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from fabricgen.inventory.nodes import SecretReference
from fabricgen.resources import resource

Tree = dict[str, Any]

ARISTA, NVIDIA, DELL, GENERIC = "arista-7060x6-64pe", "nvidia-sn5600", "dell-z9664f", "generic-64x400g"
QUICKSTART = resource("inventories", "quickstart")
WITHOUT_COMPUTE = {"dual-homed", "trunks"}  # examples with an in-band network only
WITH_COMPUTE = sorted({folder.name for folder in resource("inventories").iterdir()} - WITHOUT_COMPUTE)
ADDRESSING = {"loopbacks": "10.0.0.0/16", "links": "10.128.0.0/10", "hosts": "10.64.0.0/10"}
DUAL_STACK = {
    "loopbacks": ["10.0.0.0/16", "fd00::/64"],
    "links": ["10.128.0.0/10", "fd00:0:0:1::/64"],
    "hosts": ["10.64.0.0/10", "fd00:0:0:2::/64"],
}
DELL_LINKS = [
    ["gpu/0:rail0", "leaf1:Ethernet0"],
    ["gpu/0:rail1", "leaf2:Ethernet0"],
    ["leaf1:Ethernet8", "spine1:Ethernet0"],
    ["leaf1:Ethernet16", "spine2:Ethernet0"],
    ["leaf2:Ethernet8", "spine1:Ethernet8"],
    ["leaf2:Ethernet16", "spine2:Ethernet8"],
]
MANAGEMENT = {
    "addresses": "10.255.0.0/20",
    "gateway": "10.255.0.1",
    "ntp": ["10.255.15.1"],
    "syslog": ["10.255.15.3"],
    "dns": ["10.255.15.4"],
    "snmp": {"community": SecretReference("snmp/read"), "location": "hall 1", "contact": "noc"},
}


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(SecretReference, lambda dumper, text: dumper.represent_scalar("!secret", str(text)))


def rail_optimized(
    hosts: int = 8, unit: int = 4, planned: int = 3, platform: str = ARISTA, model: str = "dgx-h100", **plane: Any
) -> Tree:
    """Eight rails and units of `unit` hosts; by default 16 leaves and 1 spine."""
    return {
        "fabricgen": 1,
        "fabric": "small",
        "hosts": {"gpu": {"model": model, "count": hosts}},
        "planes": {
            "compute": {
                "design": "rail-optimized",
                "hosts": ["gpu"],
                "scalable_unit": {"hosts": unit, "planned": planned},
                "leaf": {"platform": platform},
                "spine": {"platform": platform},
                "speed": "400G",
                "addressing": ADDRESSING,
                **plane,
            }
        },
        "management": deepcopy(MANAGEMENT),
    }


def two_rails(hosts: int = 8, unit: int = 4, planned: int = 4, spines: int = 2, platform: str = ARISTA) -> Tree:
    """Two rails and units of `unit` hosts; by default four leaves, two spines and two free units."""
    tree = rail_optimized(hosts, unit, planned, platform, "node")
    nics = {"name": "rail{rail}", "model": "ConnectX-7", "rails": 2, "speed": "400G", "plane": "compute"}
    tree["host_models"] = {"node": {"gpus": 2, "nics": [nics]}}
    tree["planes"]["compute"]["spine"] = {"platform": platform, "count": spines}
    return tree


def explicit(platform: str = ARISTA, **plane: Any) -> Tree:
    """Two leaves, each with a rail of one host, and two spines."""
    return {
        "fabricgen": 1,
        "fabric": "tiny",
        "hosts": {"gpu": {"model": "dgx-h100", "count": 1}},
        "planes": {
            "compute": {
                "design": "explicit",
                "hosts": ["gpu"],
                "leaf": {"platform": platform},
                "spine": {"platform": platform},
                "speed": "400G",
                "leaves": [{"name": "leaf1", "rail": 0}, {"name": "leaf2", "rail": 1}],
                "spines": [{"name": "spine1"}, {"name": "spine2"}],
                "links": [
                    ["gpu/0:rail0", "leaf1:Ethernet0"],
                    ["gpu/0:rail1", "leaf2:Ethernet0"],
                    ["leaf1:Ethernet256", "spine1:Ethernet0"],
                    ["leaf1:Ethernet264", "spine2:Ethernet0"],
                    ["leaf2:Ethernet256", "spine1:Ethernet8"],
                    ["leaf2:Ethernet264", "spine2:Ethernet8"],
                ],
                "addressing": ADDRESSING,
                **plane,
            }
        },
        "management": deepcopy(MANAGEMENT),
    }


def islands() -> Tree:
    """Two hosts, each with all NICs at a separate leaf."""
    tree = explicit()
    tree["hosts"]["gpu"]["count"] = 2
    tree["planes"]["compute"]["spines"] = []
    tree["planes"]["compute"]["links"] = [
        [f"gpu/{host}:rail{rail}", f"leaf{host + 1}:Ethernet{8 * rail}"] for host in (0, 1) for rail in range(8)
    ]
    return tree


def write(folder: Path, tree: Tree, name: str = "fabric.yaml") -> Path:
    """Write the inventory as one file. Returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text_of(tree))
    return folder


def text_of(tree: Tree) -> str:
    """The YAML of an inventory."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False)


def grouped(design: str, group: Tree, hosts: int = 4, unit: int = 1, planned: int | None = None, **plane: Any) -> Tree:
    """A dragonfly or dragonfly+ of hosts with eight NICs each."""
    tree = rail_optimized(hosts, unit, platform=GENERIC, design=design, dragonfly=group, **plane)
    tree["planes"]["compute"]["scalable_unit"] = {"hosts": unit, **({"planned": planned} if planned else {})}
    if design == "dragonfly":
        del tree["planes"]["compute"]["spine"]
    return tree


def grid(design: str, size: list[int], hosts: int = 1, unit: int = 1, links: Any = 1, **plane: Any) -> Tree:
    """A torus or mesh of hosts with eight NICs each."""
    torus = {"size": size, "links": links}
    tree = rail_optimized(hosts, unit, platform=GENERIC, design=design, torus=torus, **plane)
    tree["planes"]["compute"]["scalable_unit"] = {"hosts": unit}
    del tree["planes"]["compute"]["spine"]
    return tree


def planes_together(platform: str = ARISTA, small: str = DELL, hosts: int = 2) -> Tree:
    """Four planes with shared hosts: compute on rails, storage with RoCE, in-band and out-of-band without PFC.

    The small planes have two leaves, each with one NIC of every host, and a spine. The out-of-band plane has switches
    only.
    """
    tree = rail_optimized(hosts, 2, 2, platform, addressing=_pools(0))
    planes = tree["planes"]
    nics = {"storage": ("storage0", "storage1"), "in-band": ("inband0", "inband1"), "out-of-band": ()}
    for number, (name, plugged) in enumerate(nics.items(), 1):
        leaves = [f"{name}-leaf{side}" for side in (1, 2)]
        links = [[f"{name}-leaf{side}:Ethernet128", f"{name}-spine:Ethernet{8 * (side - 1)}"] for side in (1, 2)]
        links += [
            [f"gpu/{host}:{nic}", f"{leaf}:Ethernet{8 * host}"]
            for host in range(hosts)
            for nic, leaf in zip(plugged, leaves, strict=False)
        ]
        planes[name] = {
            "design": "explicit",
            "speed": "400G",
            "leaf": {"platform": small},
            "spine": {"platform": small},
            "leaves": [{"name": leaf} for leaf in leaves],
            "spines": [{"name": f"{name}-spine"}],
            "links": links,
            "addressing": _pools(number),
            **({"hosts": ["gpu"]} if plugged else {}),
        }
    return tree


def dual_homed_planes(hosts: int = 4, small: str = DELL) -> Tree:
    """Three Clos planes: compute on rails; on storage and in-band every host connects to both leaves of its unit."""
    tree = rail_optimized(hosts, 4, 2, NVIDIA, addressing=_pools(0))
    for number, name in enumerate(("storage", "in-band"), 1):
        tree["planes"][name] = {
            "design": "fat-tree",
            "hosts": ["gpu"],
            "scalable_unit": {"hosts": 4, "planned": 2},
            "leaves_per_unit": 2,
            "leaf": {"platform": small},
            "spine": {"platform": small},
            "speed": "400G",
            "addressing": _pools(number),
        }
    return tree


def _pools(number: int) -> Tree:
    return {"loopbacks": f"10.{number}.0.0/24", "links": f"10.{number}.16.0/20", "hosts": f"10.{number}.64.0/20"}
