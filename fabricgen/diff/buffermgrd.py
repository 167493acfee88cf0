"""The rows that buffermgrd writes when the cable length of a port changes, with the traditional buffer model.

buffermgrd creates the profile pg_lossless_<speed>_<cable>_profile from the SKU's pg_profile_lookup.ini if it is
missing, and sets it on the priority groups of pfc_enable. The ports stay up. A patch with these rows takes the ports
down, so a plan changes CABLE_LENGTH alone where buffermgrd writes what the file has.

Source: sonic-swss @e6b0c5b5 cfgmgr/buffermgr.cpp (doCableTask, doSpeedUpdateTask).

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..sonic.tables import ConfigDb, Row
from ..sonic.updater.verdicts import PORT_FLAP_TABLES
from .changes import Change, Op

POOL = "ingress_lossless_pool"  # of all headroom profiles
Lookup = Mapping[str, Row]  # name of a profile -> the row that buffermgrd writes


def written_rows(
    changes: Sequence[Change], old: ConfigDb, new: ConfigDb, lookup: Lookup
) -> tuple[list[Change], list[Change]]:
    """The changes of CABLE_LENGTH that make buffermgrd write rows, and the changes of these rows."""
    metadata = new.get("DEVICE_METADATA", {}).get("localhost", {})
    if metadata.get("buffer_model") == "dynamic":
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
        profile = _profile(change.field, str(change.new), old, new)
        groups = by_port.get(change.field, [])
        if profile in lookup and groups and all(_is_written(group, profile, new) for group in groups):
            cables.append(change)
            made += groups
            used.add(profile)
    made += _new_profiles(changes, used, lookup)
    missing = used - old.get("BUFFER_PROFILE", {}).keys() - {change.key for change in made}
    return ([], []) if missing else (cables, made)  # buffermgrd writes other values than the file has


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
