"""The ASICs of the dynamic buffer model, by the platform of DEVICE_METADATA. Sources: the head of asics.tsv."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Asic:
    """What the switch's formulas need to know of an ASIC. `mirror_bytes` are reserved per port."""

    asic: str
    cell_bytes: int
    pipeline_kib: int
    mac_phy_kib: float
    peer_response_kib: float
    tile_bytes_per_gbps: int
    extra_xoff_bytes: int
    mirror_bytes: int
    descriptor_bytes: int
    gearbox: str = ""  # between the ASIC and the ports; its delay is of the formula's own unit
    gearbox_delay: int = 0

    def lossy_group_bytes(self, lanes: int) -> int:
        """What a lossy priority group, and the group of the management traffic, reserve at a port."""
        return (2 * self.pipeline_kib - 1 if lanes == WIDE_LANES else self.pipeline_kib) * 1024


# sonic-buildimage @086b03bd70f9 platform/mellanox/peripheral_table.j2: platform -> gearbox, delay.
_GEARBOXES = {"x86_64-mlnx_msn3800-r0": ("MELLANOX-GEARBOX-3800", 400)}
WIDE_LANES = 8  # such a port has two pipelines


def asic_of(platform: str) -> Asic | None:
    """The ASIC of DEVICE_METADATA.platform; None for a platform without dynamic buffers that are known."""
    return _asics().get(platform)


@functools.cache
def _asics() -> Mapping[str, Asic]:
    text = Path(__file__).with_name("asics.tsv").read_text(encoding="ascii")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    found = {}
    for cells in lines[1:]:
        row = dict(zip(lines[0], cells, strict=True))
        platforms = row.pop("platforms").split()
        numbers = {name: float(text) if "." in text else int(text) for name, text in row.items() if name != "asic"}
        asic = Asic(asic=row["asic"], **cast(dict[str, Any], numbers))
        found.update(dict.fromkeys(platforms, asic))
    for platform, (gearbox, delay) in _GEARBOXES.items():
        found[platform] = replace(found[platform], gearbox=gearbox, gearbox_delay=delay)
    return found
