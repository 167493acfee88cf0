"""Since which SONiC release a table, row or field of CONFIG_DB exists, where that is newer than the oldest release."""

from collections.abc import Mapping

OLDEST = 202305

# Path -> first release. Only what a fabric of ours may use and OLDEST does not have.
SINCE: Mapping[str, int] = {
    "FLEX_COUNTER_TABLE|WRED_ECN_PORT": 202505,  # sonic-net/SONiC issue 1222: merged for 202505
    "FLEX_COUNTER_TABLE|WRED_ECN_QUEUE": 202505,
}


def first_release(table: str, key: str = "", field: str = "") -> int:
    """The release that a table, row or field came with; OLDEST for what has been there all the time."""
    paths = (table, f"{table}|{key}", f"{table}|{key}|{field}")
    return max(SINCE.get(path, OLDEST) for path in paths)
