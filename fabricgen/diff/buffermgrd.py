"""The rows that buffermgrd writes by itself, with the traditional buffer model, by release.

buffermgrd creates the profile pg_lossless_<speed>_<cable>_profile from the SKU's pg_profile_lookup.ini if it is
missing, and sets it on the priority groups of pfc_enable. It does so when the row of the port or its pfc_enable
changes; when the cable length alone changes only since release 202511. A patch with these rows takes the ports down, so
a plan leaves them to buffermgrd where it writes what the file has.

Source: sonic-swss cfgmgr/buffermgr.cpp, at the commits of SWSS_COMMITS. NVIDIA's images with the traditional model are
left out: there buffermgrd also removes the groups of ports that are down.

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..sonic.releases import MASTER
from ..sonic.statements import ProgramStatement
from ..sonic.tables import ConfigDb, Row
from ..sonic.updater.verdicts import PORT_FLAP_TABLES
from .changes import Change, Op

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
WRITES_ON_PORT = ProgramStatement(
    "a change of PORT, or of pfc_enable, makes buffermgrd write the profile and the priority groups of the port",
    "sonic-swss cfgmgr/buffermgr.cpp doTask, doPortQosTableTask, doSpeedUpdateTask",
    _READ,
)
WRITES_ON_CABLE = ProgramStatement(
    "a change of CABLE_LENGTH makes buffermgrd write them; before, it only stores the length",
    "sonic-swss cfgmgr/buffermgr.cpp doCableTask (#4004)",
    _READ,
    since=202511,
)
FORGETS = ProgramStatement(
    "buffermgrd drops the priorities of a port whose row of PORT_QOS_MAP is removed; before, it writes its priority "
    "groups back with the next change of the port, until the services restart",
    "sonic-swss cfgmgr/buffermgr.cpp doPortQosTableTask",
    _READ,
    since=202605,
)

POOL = "ingress_lossless_pool"  # of all headroom profiles
Lookup = Mapping[str, Row]  # name of a profile -> the row that buffermgrd writes


def written_rows(
    changes: Sequence[Change], old: ConfigDb, new: ConfigDb, lookup: Lookup, release: int
) -> tuple[list[Change], list[Change]]:
    """The changes of CABLE_LENGTH that make buffermgrd write rows, and the changes of these rows.

    Before release 202511 only those of ports that are up before and after: they have to go down and up.
    """
    if is_dynamic(new):
        return [], []
    by_port: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.table in PORT_FLAP_TABLES:
            by_port[change.key.partition("|")[0]].append(change)
    cables: list[Change] = []
    made: list[Change] = []
    used: set[str] = set()
    for change in changes:
        if change.table != "CABLE_LENGTH" or change.field is None or change.op is Op.REMOVE:
            continue
        if not WRITES_ON_CABLE.holds(release) and not all(_is_up(side, change.field) for side in (old, new)):
            continue
        profile = _profile(change.field, str(change.new), old, new)
        groups = by_port.get(change.field, [])
        if profile in lookup and groups and all(_is_written(group, profile, new) for group in groups):
            cables.append(change)
            made += groups
            used.add(profile)
    made += _new_profiles(changes, used, lookup)
    missing = used - old.get("BUFFER_PROFILE", {}).keys() - {change.key for change in made}
    return ([], []) if missing else (cables, made)  # buffermgrd writes other values than the file has


def written_back(changes: Iterable[Change], old: ConfigDb, new: ConfigDb, release: int) -> list[Change]:
    """The removals of priority groups that buffermgrd writes back with the next change of their port: those of ports
    that have PFC in `old` and not in `new`."""
    if FORGETS.holds(release) or is_dynamic(new):
        return []
    before, after = (config.get("PORT_QOS_MAP", {}) for config in (old, new))
    found = []
    for change in changes:
        port, _, numbers = change.key.partition("|")
        if change.table == "BUFFER_PG" and change.field is None and change.op is Op.REMOVE:
            enabled = before.get(port, {}).get("pfc_enable", "")
            is_remembered = isinstance(enabled, str) and numbers in ranges(enabled)
            if is_remembered and "pfc_enable" not in after.get(port, {}):
                found.append(change)
    return found


def is_dynamic(config: ConfigDb) -> bool:
    """Whether buffermgrd computes the buffers (dynamic model)."""
    return config.get("DEVICE_METADATA", {}).get("localhost", {}).get("buffer_model") == "dynamic"


def _is_up(config: ConfigDb, port: str) -> bool:
    return config.get("PORT", {}).get(port, {}).get("admin_status") == "up"


def _profile(port: str, cable: str, old: ConfigDb, new: ConfigDb) -> str:
    """The name of the profile of a port whose speed does not change; "" otherwise."""
    before, after = (config.get("PORT", {}).get(port, {}) for config in (old, new))
    if before.get("speed") != after.get("speed") or cable in ("", "0m", "None"):
        return ""
    return f"pg_lossless_{after.get('speed')}_{cable}_profile"


def _is_written(change: Change, profile: str, new: ConfigDb) -> bool:
    """Whether buffermgrd makes the change of a priority group."""
    if (change.table, change.field, change.new) != ("BUFFER_PG", "profile", profile):
        return False
    port, _, groups = change.key.partition("|")
    enabled = new.get("PORT_QOS_MAP", {}).get(port, {}).get("pfc_enable", "")
    return isinstance(enabled, str) and groups in ranges(enabled)


def ranges(priorities: str) -> list[str]:
    """The priority groups that buffermgrd writes: ['3-4', '6'] for '3,4,6'."""
    found: list[list[int]] = []
    for number in sorted({int(word) for word in priorities.split(",") if word.strip().isdecimal()}):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found]


def _new_profiles(changes: Iterable[Change], used: set[str], lookup: Lookup) -> Iterator[Change]:
    for change in changes:
        is_new = change.table == "BUFFER_PROFILE" and change.field is None and change.op is Op.ADD
        if is_new and change.key in used and change.new == lookup[change.key]:
            yield change
