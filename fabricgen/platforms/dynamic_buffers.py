"""The buffers that a switch computes, with the facts of its platform in the catalog."""

from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.sonic.dynamic_buffers.prediction import DynamicBuffers, predict
from fabricgen.sonic.tables import ConfigDb


def computed_buffers(
    config: ConfigDb, platform: SwitchPlatform | None, mmu_bytes: int | None = None
) -> DynamicBuffers | None:
    """What the switch of a file computes; None if it computes nothing, or if its ASIC or a parameter is unknown.

    `mmu_bytes` is the memory that fabric.json has for the switch, from the platform file of its inventory.
    """
    known = mmu_bytes or (platform.mmu_bytes if platform else None)
    return predict(config, platform.onie_platform if platform else "", known)


def known_platform(hwsku: str) -> SwitchPlatform | None:
    """The platform of a hwsku in the catalog."""
    found = layout_by_hwsku(hwsku)
    return found[0] if found else None
