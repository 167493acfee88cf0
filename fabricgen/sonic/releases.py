"""SONiC releases: that of a switch, and the first one with a table, row or field of CONFIG_DB."""

import re
from collections.abc import Mapping

from .tables import ConfigDb

OLDEST = 202305
DEFAULT = 202505  # of an inventory and of a file that do not name one

# Path -> first release, for what rendered files may contain and OLDEST does not support.
SINCE: Mapping[str, int] = {
    "FLEX_COUNTER_TABLE|WRED_ECN_PORT": 202505,  # sonic-net/SONiC issue 1222: merged for 202505
    "FLEX_COUNTER_TABLE|WRED_ECN_QUEUE": 202505,
}
_VERSION = re.compile(r"version_(20\d{4})_\d+")


def first_release(table: str, key: str = "", field: str = "") -> int:
    """The first release with a table, row or field; OLDEST for those of all releases."""
    paths = (table, f"{table}|{key}", f"{table}|{key}|{field}")
    return max(SINCE.get(path, OLDEST) for path in paths)


def release_of(running: ConfigDb) -> int | None:
    """The release of a switch, from what db_migrator writes into its running configuration; None if it is missing.

    Source: sonic-utilities @691b1bbc scripts/db_migrator.py (VERSIONS|DATABASE, such as version_202505_01).
    """
    version = running.get("VERSIONS", {}).get("DATABASE", {}).get("VERSION", "")
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    return int(found[1]) if found else None
