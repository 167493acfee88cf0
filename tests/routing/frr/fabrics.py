"""Small fabrics rendered by fabricgen for the real FRR: leaf-spine and three tiers, switch by switch."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conftest import Cli
from tests.inventories import write
from tests.routing.frr.sonic_frr import Config

_PORTS = 4  # lanes, and so the step from one port to the next


def leaf_spine(leaves: int, spines: int, **plane: Any) -> dict[str, Any]:
    """Every leaf to every spine, one host below each leaf."""
    low, high = [f"l{i + 1}" for i in range(leaves)], [f"s{i + 1}" for i in range(spines)]
    pairs = [(leaf, spine) for leaf in low for spine in high]
    return _explicit(low, {"spines": [{"name": name} for name in high]}, pairs, plane)


def three_tiers(pods: int = 2, leaves: int = 2, cores: int = 2, **plane: Any) -> dict[str, Any]:
    """Pods of two leaves and two spines, every spine to every core."""
    low = [f"l{i + 1}" for i in range(pods * leaves)]
    middle = [{"name": f"a{i + 1}", "pod": i // 2} for i in range(pods * 2)]
    top = [f"c{i + 1}" for i in range(cores)]
    pairs = [
        (low[pod * leaves + i], middle[pod * 2 + j]["name"])
        for pod in range(pods)
        for i in range(leaves)
        for j in (0, 1)
    ]
    pairs += [(one["name"], core) for one in middle for core in top]
    pod_of = {name: i // leaves for i, name in enumerate(low)}
    return _explicit(low, {"spines": middle, "cores": [{"name": name} for name in top]}, pairs, plane, pod_of)


def rendered(cli: Cli, inventory: dict[str, Any], folder: Path) -> dict[str, Config]:
    """The files of each switch."""
    file = write(folder, inventory)
    outcome = cli("render", file, "--output", folder / "bundle", "-q")
    assert outcome.code == 0, outcome.err
    return {
        file.parent.name: json.loads(file.read_text())
        for file in (folder / "bundle" / "sonic").glob("*/config_db.json")
    }


def with_own_asns(configs: dict[str, Config], names: Sequence[str]) -> None:
    """Edit the files: each of these switches gets its own ASN."""
    asns = {name: str(4201000000 + number) for number, name in enumerate(names)}
    for name, config in configs.items():
        if name in asns:
            config["DEVICE_METADATA"]["localhost"]["bgp_asn"] = asns[name]
            if "BGP_GLOBALS" in config:
                config["BGP_GLOBALS"]["default"]["local_asn"] = asns[name]
        for row in config["BGP_NEIGHBOR"].values():
            if row.get("name") in asns and "asn" in row:
                row["asn"] = asns[row["name"]]


def _explicit(
    leaves: list[str], upper: dict[str, Any], pairs: list[tuple[str, str]], plane: dict[str, Any],
    pod_of: dict[str, int] | None = None,
) -> dict[str, Any]:  # fmt: skip
    used: dict[str, int] = {}

    def port(switch: str) -> str:
        number = used.get(switch, 0)
        used[switch] = number + 1
        return f"{switch}:Ethernet{_PORTS * number}"

    links = [[port(low), port(high)] for low, high in pairs]
    links += [[f"gpu/{number // 8}:rail{number % 8}", port(leaf)] for number, leaf in enumerate(leaves)]
    pods = {name: {"pod": pod} for name, pod in (pod_of or {}).items()}
    tier = {"platform": "arista-7060x6-64pe"}
    return {
        "fabricgen": 1,
        "fabric": "lab",
        "hosts": {"gpu": {"model": "hgx-h100", "count": 1}},
        "planes": {
            "compute": {
                "design": "explicit",
                "hosts": ["gpu"],
                "leaf": tier,
                "spine": tier,
                **({"core": tier} if "cores" in upper else {}),
                "speed": "400G",
                "leaves": [
                    {"name": name, "rail": number % 8, **pods.get(name, {})} for number, name in enumerate(leaves)
                ],
                **upper,
                "links": links,
                "addressing": {"loopbacks": "10.0.0.0/24", "links": "10.0.1.0/24", "hosts": "10.0.2.0/24"},
                **plane,
            }
        },
        "management": {"addresses": "10.255.0.0/20", "gateway": "10.255.0.1"},
    }
