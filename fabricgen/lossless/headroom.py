"""Headroom by lookup: the SKU's own row for a speed and a cable, never a formula (no universal one exists)."""

from dataclasses import dataclass
from math import ceil

from fabricgen.platforms.model import HeadroomRow, Layout


@dataclass(frozen=True, slots=True)
class TableHeadroom:
    """The row of the SKU's table for a cable. CABLE_LENGTH must have the length of the row."""

    row: HeadroomRow
    true_length_m: float

    @property
    def rounded(self) -> bool:
        """Whether the row is for a longer cable than the one in use."""
        return self.row.cable_m != self.true_length_m

    @property
    def profile(self) -> str:
        """The name of the profile, exactly as buffermgrd generates it."""
        return f"pg_lossless_{self.row.speed_mbps}_{self.row.cable_m}m_profile"


def find_headroom(layout: Layout, speed_mbps: int, length_m: float) -> TableHeadroom | None:
    """The row of the shortest cable that is at least as long; None if the table has no such row for the speed."""
    rows = [row for row in layout.headroom if row.speed_mbps == speed_mbps and row.cable_m >= length_m]
    return TableHeadroom(min(rows, key=lambda row: row.cable_m), length_m) if rows else None


def whole_metres(length_m: float) -> int:
    """The length rounded up to whole metres: CABLE_LENGTH has no fractions."""
    return ceil(length_m)
