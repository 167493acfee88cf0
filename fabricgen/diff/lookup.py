"""What the catalog of platforms has of a SKU in a release: the headroom profiles that buffermgrd takes from
pg_profile_lookup.ini, and the pools and profiles of buffers_defaults."""

from collections.abc import Mapping, Sequence
from functools import cache

from fabricgen.diff.buffermgrd import POOL, Lookup
from fabricgen.platforms.catalog import layout_by_hwsku
from fabricgen.platforms.model import Layout
from fabricgen.sonic.device_types import ROLES
from fabricgen.sonic.releases import BRANCHES, MASTER
from fabricgen.sonic.tables import ConfigDb, Row


def profiles(config: ConfigDb, release: int = MASTER) -> Lookup:
    """Name -> row, for the HwSKU of a configuration in a release; empty for one that is not in the catalog."""
    hwsku = config.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", "")
    mode = config.get("BUFFER_POOL", {}).get(POOL, {}).get("mode", "dynamic")
    return _profiles(hwsku, mode, release) if isinstance(hwsku, str) and isinstance(mode, str) else {}


def at_release(config: ConfigDb, release: int) -> ConfigDb:
    """A configuration with the SKU's pools and profiles of a release, where it has those of any other release; rows
    that somebody changed stay."""
    metadata = config.get("DEVICE_METADATA", {}).get("localhost", {})
    hwsku, kind = str(metadata.get("hwsku", "")), str(metadata.get("type", ""))
    found = layout_by_hwsku(hwsku) if hwsku else None
    wanted = _tables(config, found[1], release, kind) if found else {}
    others = [_tables(config, found[1], one, kind) for one in (*BRANCHES, MASTER)] if found else []
    changed = {
        table: {key: _row(row, wanted[table].get(key), [one[table].get(key) for one in others])
                for key, row in config[table].items()}
        for table in wanted if table in config
    }  # fmt: skip
    return {**config, **changed}


def _row(row: Row, wanted: Row | None, others: Sequence[Row | None]) -> Row:
    return wanted if wanted is not None and row in others else row


def _tables(config: ConfigDb, layout: Layout, release: int, device_type: str) -> Mapping[str, Mapping[str, Row]]:
    """The SKU's rows of BUFFER_POOL and BUFFER_PROFILE in a release."""
    defaults = layout.at(release).buffers.get(ROLES.get(device_type, ""))
    pools, own = (defaults.pools, defaults.profiles) if defaults else ({}, {})
    return {"BUFFER_POOL": pools, "BUFFER_PROFILE": {**own, **profiles(config, release)}}


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
