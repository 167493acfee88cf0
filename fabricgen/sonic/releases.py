"""The first SONiC release with a table, row or field of CONFIG_DB, when it is newer than the oldest release."""

from collections.abc import Mapping

OLDEST = 202305

# Path -> first release, for what rendered files may contain and OLDEST does not support.
SINCE: Mapping[str, int] = {
    "FLEX_COUNTER_TABLE|WRED_ECN_PORT": 202505,  # sonic-net/SONiC issue 1222: merged for 202505
    "FLEX_COUNTER_TABLE|WRED_ECN_QUEUE": 202505,
}


def first_release(table: str, key: str = "", field: str = "") -> int:
    """The first release with a table, row or field; OLDEST for those of all releases."""
    paths = (table, f"{table}|{key}", f"{table}|{key}|{field}")
    return max(SINCE.get(path, OLDEST) for path in paths)
