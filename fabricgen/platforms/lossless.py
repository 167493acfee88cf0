"""Which roles a layout serves on a lossless plane, and why not the others."""

from collections.abc import Mapping

from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.units import format_speed

ROLES = ("leaf", "spine", "core")
_UNKNOWN = "its source does not say why"


def lossy_roles(platform: SwitchPlatform, layout: Layout) -> Mapping[str, str]:
    """Role -> what its SKU's files lack for lossless planes. Empty if all roles are served."""
    if platform.buffer_model != "dynamic":
        if not layout.headroom:
            return dict.fromkeys(ROLES, _reason(layout, "headroom"))
        rows = {row.speed_mbps for row in layout.headroom}
        if without := [format_speed(speed) for speed in layout.speeds_mbps if speed not in rows]:
            return dict.fromkeys(ROLES, f"it has no headroom rows for {', '.join(without)}")
    missing = (role for role in ROLES if role not in layout.buffers)
    return {role: _reason(layout, f"buffers.{role}", "buffers") for role in missing}


def _reason(layout: Layout, *blocks: str) -> str:
    """The problem that the source of a block states after the file."""
    stated = (layout.sources[block].partition(": ")[2] for block in blocks if block in layout.sources)
    return next(stated, "") or _UNKNOWN
