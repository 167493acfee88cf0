"""Facts about SHARP, by which InfiniBand switches add up the data of a collective: what each ASIC can do, and the
options of sharp_am, its aggregation manager. sharp_am runs beside NVIDIA's subnet manager; OpenSM 3.3 and the subnet
manager inside a switch do not have SHARP.

Sources: NVIDIA SHARP Rev 3.13.0, General Information (trees); Rev 3.12.0, Appendix A (algorithms); Rev 3.1.0 and 3.2.0
(roots); Rev 3.5.2 LTS, SHARP Application Awareness (reservation_mode). The lines are `name value`, as in the tests of
Mellanox/nccl-rdma-sharp-plugins, which also state sharp_enabled.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.opensm.options import BOOLEANS

CONFIG_NAME = "sharp_am.cfg"
ENABLED = 2  # of sharp_enabled in opensm.conf
FAT_TREE, OTHER_TREE = 0, 1  # dynamic_tree_algorithm; the second is for irregular trees and dragonfly+
TREES_BY_DEFAULT = 126  # max_trees_to_build; with more root switches it is their number
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "dynamic_tree_allocation": BOOLEANS,
    "dynamic_tree_algorithm": ("0", "1"),
    "max_trees_to_build": (),
    "reservation_mode": BOOLEANS,
}


@dataclass(frozen=True, slots=True)
class SharpLimits:
    """Aggregation trees of a subnet, and whether a switch is in one active streaming tree at a time, or each port."""

    low_latency_trees: int
    streaming_trees: int
    one_stream_per_switch: bool


# ASIC -> its limits; None where a source names the ASIC without limits.
AGGREGATING_ASICS: Mapping[str, SharpLimits | None] = {
    "Quantum": SharpLimits(63, 63, one_stream_per_switch=True),
    "Quantum-2": SharpLimits(511, 511, one_stream_per_switch=False),
    "Quantum-X800": None,
}


def option_problem(name: str, text: str) -> str | None:
    """What is wrong with a line of sharp_am.cfg that fabricgen knows; None if it is valid or of another option."""
    if not text:
        return f"{name} has no value"
    if name not in OPTIONS:
        return None
    if choices := OPTIONS[name]:
        return None if text in choices else f"{name} is {text}, expected {' or '.join(choices)}"
    return None if text.isdecimal() else f"{name} is {text}, expected a number"
