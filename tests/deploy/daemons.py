"""The databases that the daemons of a stand-in write: objects of ASIC_DB, names of COUNTERS_DB, watched queues."""

import fnmatch
import json
from collections.abc import Iterator
from typing import Any

from fabricgen.diff.stand_in import StandIn

Database = dict[str, dict[str, str]]
FIELDS = {
    "size": "RESERVED_BUFFER_SIZE", "xoff": "XOFF_TH", "xon": "XON_TH", "dynamic_th": "SHARED_DYNAMIC_TH",
}  # fmt: skip
GROUP, QUEUE = "INGRESS_PRIORITY_GROUP", "QUEUE"


def databases(switch: StandIn) -> dict[str, Database]:
    """ASIC_DB, COUNTERS_DB and FLEX_COUNTER_DB after a boot and patches."""
    asic: Database = {}
    names: Database = {}
    flex: Database = {"FLEX_COUNTER_TABLE:PFC_WD:port": {"PORT_COUNTER_ID_LIST": "x"}}

    def add(kind: str, name: str, fields: dict[str, str], name_map: str = "") -> str:
        identifier = f"oid:{kind}:{name}"
        asic[f"ASIC_STATE:SAI_OBJECT_TYPE_{kind}:{identifier}"] = fields
        if name_map:
            names.setdefault(f"COUNTERS_{name_map}_NAME_MAP", {})[name] = identifier
        return identifier

    for name, row in switch.config.get("BUFFER_POOL", {}).items():
        fields = {"SAI_BUFFER_POOL_ATTR_SIZE": row.get("size", "1000")}
        add("BUFFER_POOL", name, fields | {"SAI_BUFFER_POOL_ATTR_XOFF_SIZE": row.get("xoff", "0")}, "BUFFER_POOL")
    for name, row in (*switch.config.get("BUFFER_PROFILE", {}).items(), ("NULL", {"xoff": "1"})):
        add("BUFFER_PROFILE", name, {f"SAI_BUFFER_PROFILE_ATTR_{FIELDS[field]}": value
                                     for field, value in row.items() if field in FIELDS})  # fmt: skip
    for port in switch.config.get("PORT", {}):
        bits = sum(1 << number for number in switch.daemons.pfc.get(port, ()))
        add("PORT", port, {"SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": str(bits)} if bits else {}, "PORT")
        for number in range(8):
            for kind, name_map, table, attribute in (
                (GROUP, "PG", "BUFFER_PG", "SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE"),
                (QUEUE, "QUEUE", "BUFFER_QUEUE", "SAI_QUEUE_ATTR_BUFFER_PROFILE_ID"),
            ):
                bound = switch.daemons.profiles.get((table, port, number))
                fields = {attribute: f"oid:BUFFER_PROFILE:{bound}" if bound else "oid:0x0"}
                identifier = add(kind, f"{port}:{number}", fields, name_map)
                if kind == QUEUE and number in switch.daemons.watched.get(port, ()):
                    flex[f"FLEX_COUNTER_TABLE:PFC_WD:{identifier}"] = {"QUEUE_COUNTER_ID_LIST": "x"}
    return {"ASIC_DB": asic, "COUNTERS_DB": names, "FLEX_COUNTER_DB": flex}


def answer(switch: StandIn, database: str, pattern: str) -> str:
    """What the query of the role prints."""
    rows = databases(switch)[database]
    return json.dumps({key: row | {"NULL": "NULL"} for key, row in rows.items() if fnmatch.fnmatch(key, pattern)})


def faults() -> Iterator[tuple[str, Any]]:
    """What a daemon loses while CONFIG_DB and APPL_DB look right: name and change of a booted stand-in."""
    yield "a queue without profile", lambda held: held.profiles.pop(("BUFFER_QUEUE", "Ethernet0", 3))
    yield "a group without profile", lambda held: held.profiles.pop(("BUFFER_PG", "Ethernet0", 3))
    yield "another profile", lambda held: held.profiles.update({("BUFFER_PG", "Ethernet0", 3): "ingress_lossy_profile"})
    yield "an unwatched queue", lambda held: held.watched.update(Ethernet0=frozenset({3}))
    yield "a queue that is still watched", lambda held: held.watched.update(Ethernet8=frozenset({3, 4, 5}))
    yield "no watchdog", lambda held: held.watched.pop("Ethernet0")
    yield "other PFC bits", lambda held: held.pfc.update(Ethernet0=frozenset({3}))
    yield (
        "headroom without PFC",
        lambda held: held.profiles.update({("BUFFER_PG", "Ethernet0", 5): "pg_lossless_400000_5m_profile"}),
    )
