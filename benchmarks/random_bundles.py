"""Random bundles: small RoCE fabrics of all designs, and a pattern that runs over each."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabricgen.api import render
from tests.inventories import ADDRESSING, Tree, write
from tests.simulate.packets.running import edit

PLATFORMS = {
    "100G": ("nvidia-sn4600c", "nvidia-sn4700", "dell-s5232f"),
    "200G": ("nvidia-sn4700", "nvidia-sn5600", "arista-7060x6-64pe"),
    "400G": ("arista-7060x6-64pe", "nvidia-sn5600", "nvidia-sn4700", "dell-z9664f"),
    "800G": ("nvidia-sn5600", "dell-z9864f", "nokia-ixr7220-h5-64d", "micas-w6940-64oc"),
}
PATTERNS = (
    "incast", "permutation", "all-to-all", "tree-all-reduce", "ring-all-reduce", "pipeline", "checkpoint",
    "storage-read",
)  # fmt: skip
DESIGNS = ("rail-optimized", "rail-only", "fat-tree", "dual-tor")


LONGEST_M = {"arista-7060x6-64pe": 40}  # of 100 m: the SKU has no headroom for longer cables at 200G


@dataclass(frozen=True)
class Case:
    """A bundle on disk, and the pattern with its size and seed. `text` describes it in one line."""

    bundle: Path
    pattern: str
    size_bytes: int
    seed: int
    ecn: bool
    text: str

    def ignore_marks(self) -> None:
        """Let no queue mark, so that senders keep their rate."""
        edit(self.bundle, "WRED_PROFILE", lambda _, row: row.update(ecn="ecn_none"))


def random_case(seed: int, folder: Path) -> Case:
    """The case of a seed, rendered below a folder. About half of the bundles have ECN."""
    draw = random.Random(seed)
    design, speed = draw.choice(DESIGNS), draw.choice(sorted(PLATFORMS))
    platform = draw.choice(PLATFORMS[speed])
    bundle = folder / "bundle"
    made = render(write(folder / "given", _inventory(draw, design, speed, platform)), bundle)
    assert made.is_written, (seed, design, speed, platform, made.findings)
    alpha, ecn = draw.choice(["-8", "-6", "-4", "-2", "0", ""]), draw.random() < 0.5
    if alpha:
        _set_alpha(bundle, alpha, computed=platform.startswith("nvidia"))
    pattern, size = draw.choice(PATTERNS), draw.choice([1 << 18, 1 << 20, 1 << 22])
    text = f"{design} {speed} {platform} alpha {alpha or 'as rendered'} {pattern} {size >> 10} KiB{' ECN' * ecn}"
    case = Case(bundle, pattern, size, draw.randrange(100), ecn, text)
    if not ecn:
        case.ignore_marks()
    return case


def _inventory(draw: random.Random, design: str, speed: str, platform: str) -> Tree:
    rails, unit, units = draw.choice([2, 4]), draw.choice([2, 4]), draw.choice([2, 3, 4])
    ports = 2 if design == "dual-tor" else 1
    nics = {"name": "rail{rail}", "model": "any", "speed": speed, "plane": "compute", "rails": rails, "ports": ports}
    most = LONGEST_M.get(platform, 100)
    plane: dict[str, Any] = {
        "design": design,
        "hosts": ["gpu"],
        "scalable_unit": {"hosts": unit, "planned": units},
        "leaf": {"platform": platform},
        "spine": {"platform": platform},
        "speed": speed,
        "oversubscription": draw.choice([1, 1, 2, 4]),
        "cables": {"host-leaf": draw.choice(["2m", "5m"]), "leaf-spine": draw.choice(["10m", "40m", f"{most}m"])},
        "lossless": draw.choice(["roce-lossless", "roce-lossless-two-class"]),
        "addressing": ADDRESSING,
    }
    return {
        "fabricgen": 1,
        "fabric": "random",
        "host_models": {"server": {"gpus": rails, "nics": [nics]}},
        "hosts": {"gpu": {"model": "server", "count": unit * units}},
        "planes": {"compute": plane},
    }


def _set_alpha(bundle: Path, alpha: str, *, computed: bool) -> None:
    """Set the exponent of alpha of all lossless groups, also of those whose profiles the switch computes."""

    def change(key: str, row: dict[str, Any]) -> None:
        if key.startswith("pg_lossless") and "dynamic_th" in row:
            row["dynamic_th"] = alpha

    edit(bundle, "BUFFER_PROFILE", change)
    if computed:
        edit(bundle, "DEFAULT_LOSSLESS_BUFFER_PARAMETER", lambda _, row: row.update(default_dynamic_th=alpha))
