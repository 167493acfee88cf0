"""The headroom profiles of a switch's own SKU, which buffermgrd writes (traditional buffer model)."""

from pathlib import Path

from ..diff.buffermgrd import POOL, Lookup
from ..sonic.tables import ConfigDb

_DEVICES = Path("/usr/share/sonic/device")  # of the image
_FIELDS = ("size", "xon", "xoff", "threshold", "xon_offset")  # the columns after speed and cable


def profiles(config: ConfigDb, devices: Path = _DEVICES) -> Lookup:
    """Name of a profile -> its row, from pg_profile_lookup.ini; empty if the image has none for the HwSKU."""
    metadata = config.get("DEVICE_METADATA", {}).get("localhost", {})
    file = devices / str(metadata.get("platform", "")) / str(metadata.get("hwsku", "")) / "pg_profile_lookup.ini"
    if not file.is_file():
        return {}
    mode = config.get("BUFFER_POOL", {}).get(POOL, {}).get("mode", "dynamic")
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if len(words) < 6 or not words[0].isdecimal():
            continue
        row = dict(zip(_FIELDS, words[2:], strict=False))
        row[f"{mode}_th"] = row.pop("threshold")
        found[f"pg_lossless_{words[0]}_{words[1]}_profile"] = row | {"pool": POOL}
    return found
