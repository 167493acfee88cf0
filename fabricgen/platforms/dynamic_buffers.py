"""The buffers that a switch computes, with the facts of its platform in the catalog."""

from typing import Protocol

from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.sonic.dynamic_buffers.prediction import DynamicBuffers, predict
from fabricgen.sonic.image import metadata, text
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.tables import ConfigDb


def computed_buffers(
    config: ConfigDb, platform: SwitchPlatform | None, mmu_bytes: int | None = None, release: int = MASTER
) -> DynamicBuffers | None:
    """What the switch of a file computes; None if it computes nothing, or if its ASIC or a parameter is unknown.

    `release` is that of the switch. `mmu_bytes` is the memory that fabric.json has for it, from the platform file of
    its inventory.
    """
    known = mmu_bytes or (platform.mmu_bytes if platform else None)
    return predict(config, platform.onie_platform if platform else "", known, release)


def known_platform(hwsku: str) -> SwitchPlatform | None:
    """The platform of a hwsku in the catalog."""
    found = layout_by_hwsku(hwsku)
    return found[0] if found else None


class BufferedSwitch(Protocol):
    """A switch as its file describes it."""

    @property
    def config(self) -> ConfigDb:
        """Its tables."""

    @property
    def mmu_bytes(self) -> int | None:
        """The memory of its ASIC, if known."""

    @property
    def release(self) -> int:
        """Its SONiC release."""


def buffers_of(switch: BufferedSwitch) -> DynamicBuffers | None:
    """What a switch computes, by its file and the catalog; None as for `computed_buffers`."""
    platform = known_platform(text(metadata(switch.config), "hwsku"))
    return computed_buffers(switch.config, platform, switch.mmu_bytes, switch.release)
