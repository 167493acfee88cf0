"""The headroom profiles that buffermgrd takes from the SKU's pg_profile_lookup.ini, by the catalog of platforms."""

from functools import cache

from fabricgen.diff.buffermgrd import POOL, Lookup
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater.tables import MASTER


def profiles(config: ConfigDb, release: int = MASTER) -> Lookup:
    """Name -> row, for the HwSKU of a configuration in a release; empty for one that is not in the catalog."""
    hwsku = config.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", "")
    mode = config.get("BUFFER_POOL", {}).get(POOL, {}).get("mode", "dynamic")
    return _profiles(hwsku, mode, release) if isinstance(hwsku, str) and isinstance(mode, str) else {}


@cache
def _profiles(hwsku: str, mode: str, release: int) -> Lookup:
    found = layout_by_hwsku(hwsku) if hwsku else None
    if found is None:
        return {}
    rows = {}
    for row in found[1].at(release).headroom:
        fields = {
            f"{mode}_th": str(row.dynamic_th),
            "pool": POOL,
            "size": str(row.size_bytes),
            "xoff": str(row.xoff_bytes),
            "xon": str(row.xon_bytes),
        }
        if row.xon_offset_bytes is not None:
            fields["xon_offset"] = str(row.xon_offset_bytes)
        rows[f"pg_lossless_{row.speed_mbps}_{row.cable_m}m_profile"] = fields
    return rows
