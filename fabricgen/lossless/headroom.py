"""Headroom by lookup: the SKU's own row for a speed and a cable, never a formula (there is no universal one)."""

from dataclasses import dataclass
from math import ceil

from fabricgen.platforms.model import HeadroomRow, Layout


@dataclass(frozen=True, slots=True)
class Headroom:
    """The row for a cable, and the length that CABLE_LENGTH must therefore say."""

    row: HeadroomRow
    true_length_m: float

    @property
    def rounded(self) -> bool:
        """Whether the row is for a longer cable than the one in place."""
        return self.row.cable_m != self.true_length_m

    @property
    def profile(self) -> str:
        """The profile's name, exactly as buffermgrd would make it."""
        return f"pg_lossless_{self.row.speed_mbps}_{self.row.cable_m}m_profile"


def find_headroom(layout: Layout, speed_mbps: int, length_m: float) -> Headroom | None:
    """The row of the next cable length up; None where the table has none for the speed, or only shorter ones."""
    rows = [row for row in layout.headroom if row.speed_mbps == speed_mbps and row.cable_m >= length_m]
    return Headroom(min(rows, key=lambda row: row.cable_m), length_m) if rows else None


def whole_metres(length_m: float) -> int:
    """CABLE_LENGTH takes whole metres only; what the dynamic model is told is rounded up."""
    return ceil(length_m)
