"""The buffers that a switch computes, with the facts of its platform in the catalog."""

from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.sonic.dynamic_buffers.prediction import DynamicBuffers, predict
from fabricgen.sonic.image import metadata, text
from fabricgen.sonic.tables import ConfigDb


def computed_buffers(config: ConfigDb, platform: SwitchPlatform | None) -> DynamicBuffers | None:
    """What the switch of a file computes; None if it computes nothing, or if its ASIC or a parameter is unknown."""
    if platform is None:
        return predict(config)
    return predict(config, platform.onie_platform, platform.mmu_bytes)


def known_platform(hwsku: str) -> SwitchPlatform | None:
    """The platform of a hwsku in the catalog."""
    found = layout_by_hwsku(hwsku)
    return found[0] if found else None


def computed_from_file(config: ConfigDb) -> DynamicBuffers | None:
    """`computed_buffers` with the platform that the hwsku of the file names."""
    return computed_buffers(config, known_platform(text(metadata(config), "hwsku")))
