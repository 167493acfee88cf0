"""pg_profile_lookup.ini: the SKU's own headroom rows."""

import re
from pathlib import Path

from fabricgen.findings import Severity
from fabricgen.platforms.model import HeadroomRow
from fabricgen.platforms.sonic_device.tree import DeviceTree

FILE = "pg_profile_lookup.ini"
_ROW = re.compile(r"(\d{1,18})\s+(\d{1,18})m\s+(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})\s+(-?\d{1,18})(?:\s+(\d{1,18}))?")


def read_headroom(tree: DeviceTree, sku: Path) -> tuple[HeadroomRow, ...]:
    """The rows in the file's order; empty, with a finding, if the file has no rows."""
    file = sku / FILE
    found: dict[tuple[int, int], HeadroomRow] = {}
    for number, line in enumerate((tree.text(file) or "").splitlines(), 1):
        text = line.partition("#")[0].strip()
        match = _ROW.fullmatch(text)
        if match is None:
            if text:
                message = f"{text!r} is not speed, cable, size, xon, xoff, threshold and xon_offset: left out"
                tree.report("FG121", Severity.WARNING, message, file, number)
            continue
        speed, cable, size, xon, xoff, threshold = map(int, match.groups()[:-1])
        row = HeadroomRow(speed, cable, size, xon, xoff, threshold, int(match[7]) if match[7] else None)
        if found.setdefault((row.speed_mbps, row.cable_m), row) != row:
            message = f"a second row for {row.speed_mbps} and {row.cable_m}m with other values: the first one counts"
            tree.report("FG121", Severity.WARNING, message, file, number)
    return tuple(found.values())
