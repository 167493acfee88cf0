"""SONiC releases: that of a switch, and rows whose services came later than their YANG models (release_models)."""

import re
from collections.abc import Mapping

from .tables import ConfigDb

OLDEST = 202305
MASTER = 209912  # the branch master, newer than every release
MASTER_WORD = "master"  # of MASTER, in options, inventories and manifests
BRANCHES = (202305, 202311, 202405, 202411, 202505, 202511, 202605)  # of sonic-buildimage
DEFAULT = 202505  # of an inventory and of a file that do not name one

# Path -> first release with the service, for rows that rendered files may contain.
SINCE: Mapping[str, int] = {
    "FLEX_COUNTER_TABLE|WRED_ECN_PORT": 202505,  # sonic-net/SONiC issue 1222: merged for 202505
    "FLEX_COUNTER_TABLE|WRED_ECN_QUEUE": 202505,
}
_VERSION = re.compile(r"version_(20\d{4})_\d+")


def release_name(release: int) -> str:
    """A release in a sentence: 'release 202505', or the master branch."""
    return "the master branch" if release == MASTER else f"release {release}"


def branch_of(release: int) -> int:
    """The branch of sonic-buildimage that a release is from: its own, the last one before it, or the oldest one."""
    return MASTER if release == MASTER else max((one for one in BRANCHES if one <= release), default=BRANCHES[0])


def release_of(running: ConfigDb) -> int | None:
    """The release of a switch, from what db_migrator writes into its running configuration; None if it is missing.

    Source: sonic-utilities @691b1bbc scripts/db_migrator.py (VERSIONS|DATABASE, such as version_202505_01).
    """
    version = running.get("VERSIONS", {}).get("DATABASE", {}).get("VERSION", "")
    found = _VERSION.fullmatch(version) if isinstance(version, str) else None
    return int(found[1]) if found else None
