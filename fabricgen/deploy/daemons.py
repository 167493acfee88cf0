"""What the daemons of a switch hold, compared with CONFIG_DB: PFC, watched queues, buffer profiles, pools.

CONFIG_DB and APPL_DB can look right while orchagent has lost a profile or the watchdog a queue. ASIC_DB has what was
programmed, FLEX_COUNTER_DB the queues that the watchdog polls, and COUNTERS_DB the names of the objects of both.

Source: sonic-swss @6079a435 bufferorch.cpp, qosorch.cpp, pfcwdorch.cpp, flexcounterorch.cpp; runs with its virtual SAI.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..sonic.tables import ConfigDb, Row, parse_priorities
from .restore import Device, DeviceError

_ROWS = """
local found = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local row, flat = {}, redis.call('HGETALL', key)
  for place = 1, #flat, 2 do row[flat[place]] = flat[place + 1] end
  row['NULL'] = row['NULL'] or 'NULL'
  found[key] = row
end
return cjson.encode(found)
"""  # all rows that match a pattern, in one command; a row is never empty, which cjson would write as a list
_NONE = "oid:0x0"
_MOST_PROBLEMS = 8
_ATTRIBUTES = {
    "size": "SAI_BUFFER_PROFILE_ATTR_RESERVED_BUFFER_SIZE",
    "xoff": "SAI_BUFFER_PROFILE_ATTR_XOFF_TH",
    "xon": "SAI_BUFFER_PROFILE_ATTR_XON_TH",
    "dynamic_th": "SAI_BUFFER_PROFILE_ATTR_SHARED_DYNAMIC_TH",
}
_BOUND = (
    ("BUFFER_PG", "COUNTERS_PG_NAME_MAP", "INGRESS_PRIORITY_GROUP", "SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE"),
    ("BUFFER_QUEUE", "COUNTERS_QUEUE_NAME_MAP", "QUEUE", "SAI_QUEUE_ATTR_BUFFER_PROFILE_ID"),
)
_MAPS = ("COUNTERS_BUFFER_POOL_NAME_MAP", "COUNTERS_PG_NAME_MAP", "COUNTERS_PORT_NAME_MAP", "COUNTERS_QUEUE_NAME_MAP")
_TABLES = ("BUFFER_PG", "BUFFER_POOL", "BUFFER_QUEUE", "PFC_WD", "PORT_QOS_MAP")  # without them nothing is compared

Rows = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Held:
    """Objects of ASIC_DB by type and identifier, their identifiers by the name maps of COUNTERS_DB, and the
    identifiers of the watched queues."""

    objects: Mapping[str, Rows]
    names: Mapping[str, Mapping[str, str]]
    watched: frozenset[str]

    def of(self, kind: str, name_map: str, name: str) -> Mapping[str, str]:
        """The object of this type and name; empty if it does not exist."""
        return self.objects[kind].get(self.names[name_map].get(name, _NONE), {})


def read_held(device: Device) -> Held:
    """What the daemons hold now. Raises DeviceError when a command fails or does not print JSON."""
    kinds = ("BUFFER_POOL", "BUFFER_PROFILE", "INGRESS_PRIORITY_GROUP", "PORT", "QUEUE")
    objects = {}
    for kind in kinds:
        prefix = f"ASIC_STATE:SAI_OBJECT_TYPE_{kind}:"
        rows = database_rows(device, "ASIC_DB", f"{prefix}*")
        objects[kind] = {key.removeprefix(prefix): row for key, row in rows.items()}
    names = database_rows(device, "COUNTERS_DB", "COUNTERS_*_NAME_MAP")
    prefix = "FLEX_COUNTER_TABLE:PFC_WD:"
    watched = database_rows(device, "FLEX_COUNTER_DB", f"{prefix}*")
    identifiers = frozenset(key.removeprefix(prefix) for key in watched)
    return Held(objects, {name: names.get(name, {}) for name in _MAPS}, identifiers)


def database_rows(device: Device, database: str, pattern: str) -> dict[str, dict[str, str]]:
    """Key -> fields of the rows of a database whose keys match.

    Raises DeviceError when the command fails or does not print JSON.
    """
    text = device.run("sonic-db-cli", database, "EVAL", _ROWS, "0", pattern)
    try:
        found: dict[str, dict[str, str]] = json.loads(text)
    except ValueError as error:
        raise DeviceError(f"`sonic-db-cli {database} EVAL` did not print JSON: {text[:200]}") from error
    return found


def held_problems(device: Device, config: ConfigDb) -> list[str]:
    """What the daemons do not hold as `config` says, for ports that are up; nothing for files without buffers and QoS.

    Raises DeviceError when a command fails or does not print JSON.
    """
    if not any(config.get(table) for table in _TABLES):
        return []
    held = read_held(device)
    judged = (_pfc, _watched, _profiles, _left_behind, _pools)
    return sorted(problem for each in judged for problem in each(config, held))


def in_short(problems: Sequence[str]) -> list[str]:
    """The first problems, and the number of the others: one cause can strike every queue of a switch."""
    more = len(problems) - _MOST_PROBLEMS
    return [*problems[:_MOST_PROBLEMS], *([f"{more} more"] if more > 0 else [])]


def _up(config: ConfigDb) -> frozenset[str]:
    return frozenset(port for port, row in config.get("PORT", {}).items() if row.get("admin_status") == "up")


def _priorities(row: Row, field: str) -> frozenset[int]:
    return parse_priorities(str(row.get(field, "")))


def _pfc(config: ConfigDb, held: Held) -> Iterator[str]:
    for port in _up(config) & config.get("PORT_QOS_MAP", {}).keys():
        found = held.of("PORT", "COUNTERS_PORT_NAME_MAP", port)
        if found.get("SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL_MODE") == "SAI_PORT_PRIORITY_FLOW_CONTROL_MODE_SEPARATE":
            continue  # asymmetric PFC has its own attributes
        bits = int(found.get("SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", "0"))
        has = frozenset(number for number in range(8) if bits >> number & 1)
        wanted = _priorities(config["PORT_QOS_MAP"][port], "pfc_enable")
        if has != wanted:
            yield f"PFC of {port} is programmed for priorities {_list(has)}, expected {_list(wanted)}"


def _watched(config: ConfigDb, held: Held) -> Iterator[str]:
    queues: dict[str, set[int]] = {}
    for name, identifier in held.names["COUNTERS_QUEUE_NAME_MAP"].items():
        port, _, number = name.partition(":")
        if identifier in held.watched and number.isdecimal():
            queues.setdefault(port, set()).add(int(number))
    maps, watched = config.get("PORT_QOS_MAP", {}), config.get("PFC_WD", {}).keys()
    for port in _up(config):
        wanted = _priorities(maps.get(port, {}), "pfcwd_sw_enable") if port in watched else frozenset()
        has = queues.get(port, set())
        if has != wanted:
            yield f"the watchdog of {port} watches queues {_list(has)}, expected {_list(wanted)}"


def _profiles(config: ConfigDb, held: Held) -> Iterator[str]:
    up, profiles = _up(config), config.get("BUFFER_PROFILE", {})
    for table, name_map, kind, attribute in _BOUND:
        for key, row in config.get(table, {}).items():
            port, _, numbers = key.partition("|")
            name = str(row.get("profile", ""))
            for number in sorted(parse_priorities(numbers)) if port in up else ():
                bound = held.of(kind, name_map, f"{port}:{number}").get(attribute, _NONE)
                found = held.objects["BUFFER_PROFILE"].get(bound)
                if found is None:
                    yield f"{table} {port} {number} has no buffer profile, expected {name}"
                elif wrong := _wrong(profiles.get(name, {}), found):
                    yield f"{table} {port} {number} has another buffer profile than {name}: {wrong}"


def _left_behind(config: ConfigDb, held: Held) -> Iterator[str]:
    """Priority groups with headroom on which the port has no PFC."""
    table, name_map, kind, attribute = _BOUND[0]
    configured: dict[str, set[int]] = {}
    for key in config.get(table, {}):
        port, _, numbers = key.partition("|")
        configured.setdefault(port, set()).update(parse_priorities(numbers))
    for port in _up(config):
        lossless = _priorities(config.get("PORT_QOS_MAP", {}).get(port, {}), "pfc_enable")
        for number in sorted(set(range(8)) - configured.get(port, set()) - lossless):
            bound = held.of(kind, name_map, f"{port}:{number}").get(attribute, _NONE)
            if held.objects["BUFFER_PROFILE"].get(bound, {}).get(_ATTRIBUTES["xoff"], "0") != "0":
                yield f"{table} {port} {number} keeps headroom without PFC"


def _wrong(wanted: Row, found: Mapping[str, str]) -> str:
    """The fields that are programmed with other values."""
    pairs = ((field, wanted.get(field), found.get(name)) for field, name in _ATTRIBUTES.items())
    return ", ".join(
        f"{field} {has}, expected {value}" for field, value, has in pairs if value and has and str(value) != str(has)
    )


def _pools(config: ConfigDb, held: Held) -> Iterator[str]:
    for name, row in config.get("BUFFER_POOL", {}).items():
        found = held.of("BUFFER_POOL", "COUNTERS_BUFFER_POOL_NAME_MAP", name)
        for field, attribute in (("size", "SAI_BUFFER_POOL_ATTR_SIZE"), ("xoff", "SAI_BUFFER_POOL_ATTR_XOFF_SIZE")):
            has = str(found.get(attribute, "0"))
            wanted = str(row.get(field, ""))
            if (wanted and has != wanted) or (field == "size" and has == "0"):
                yield f"pool {name} has {field} {has}, expected {wanted or 'more than 0'}"


def _list(numbers: Collection[int]) -> str:
    return ",".join(map(str, sorted(numbers))) or "none"
