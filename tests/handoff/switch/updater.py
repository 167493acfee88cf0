"""The generic config updater as far as these tests need it: what it refuses, and how far from atomic it is.

Source: sonic-utilities @691b1bbc generic_config_updater. The code is independent of the product.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.handoff.switch.config_db import Redis, Tables, dump, set_row

KNOWN_ASICS = ("Arista-7060X6-64PE", "SN5600")
PORT_TABLES = (
    "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST", "PORT_QOS_MAP",
    "QUEUE",
)  # fmt: skip
SESSION_FIELDS = ("holdtime", "keepalive", "name", "asn", "local_addr", "nhopself", "rrclient")
NOT_COMPARED = ("BUFFER_PG", "BUFFER_PROFILE", "FLEX_COUNTER_TABLE")  # after the run

Step = tuple[str, str, dict[str, Any] | None]


class RefusedError(Exception):
    """A change that the updater does not take."""


def update(redis: Redis, target: Tables, yang: set[str], pause: Callable[[str], None], lost: str = "") -> None:
    """Go to the target row by row, with a pause after each. `lost` is a table whose writes get lost."""
    current = dump(redis)
    for problem in _problems(current, target, yang):
        raise RefusedError(problem)
    for table, key, row in _steps(current, target):
        if table != lost:
            set_row(redis, table, key, row)
        pause(f"{table}|{key}")
    left = dump(redis)
    for table in left.keys() | target.keys():
        if table not in NOT_COMPARED and left.get(table) != target.get(table):
            raise RefusedError(f"After applying patch to config, there are still some parts not updated: {table}")


def _problems(current: Tables, target: Tables, yang: set[str]) -> Iterator[str]:
    if empty := [table for table, rows in target.items() if not rows]:
        yield f"EmptyTableError: {empty}"
    changed = {table for table in current.keys() | target.keys() if current.get(table) != target.get(table)}
    if strangers := sorted((target.keys() | changed) - yang):
        yield f"tables without YANG models: {strangers}"
    if "BUFFER_POOL" in changed:
        yield "Modification of BUFFER_POOL is illegal- validating function rdma_config_update_validator returned False"
    hwsku = current.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", "")
    guarded = sorted(changed & {"PFC_WD", "BUFFER_PROFILE"})
    if guarded and not any(name in hwsku for name in KNOWN_ASICS):
        yield f"Modification of {guarded} is illegal: unknown ASIC"
    watched = [config.get("PFC_WD", {}) for config in (current, target)]
    if watched[0] != watched[1] and (
        not watched[0] or (watched[1] and ("GLOBAL" in watched[0]) != ("GLOBAL" in watched[1]))
    ):
        yield "Modification of PFC_WD is illegal"
    if "BUFFER_PROFILE" in changed and not ("BUFFER_PROFILE" in current and "BUFFER_PROFILE" in target):
        yield "Modification of BUFFER_PROFILE is illegal"
    for key, row in current.get("BUFFER_PROFILE", {}).items():
        after = target.get("BUFFER_PROFILE", {}).get(key, row)
        fields = {field for field in row.keys() | after.keys() if row.get(field) != after.get(field)}
        if fields - {"dynamic_th", "xoff", "packet_discard_action"}:
            yield f"Modification of BUFFER_PROFILE {key} {sorted(fields)} is illegal"
    gone = current.get("LOOPBACK_INTERFACE", {}).keys() - target.get("LOOPBACK_INTERFACE", {}).keys()
    if "Loopback0" in gone:
        yield "removing Loopback0 is illegal"


def _steps(current: Tables, target: Tables) -> Iterator[Step]:
    """The rows that change; ports that are up go down first and come up last."""
    rows: list[Step] = []
    for table in sorted(current.keys() | target.keys()):
        before, after = current.get(table, {}), target.get(table, {})
        for key in sorted(before.keys() | after.keys()):
            row = after.get(key)
            if before.get(key) == row:
                continue
            if table == "BGP_NEIGHBOR" and row and key in before and _differ(before[key], row, SESSION_FIELDS):
                rows.append((table, key, None))
            rows.append((table, key, row))
    rows.sort(key=lambda step: step[2] is not None)  # rows that go, first
    ports = sorted({key.partition("|")[0] for table, key, _ in rows if table in PORT_TABLES})
    up = [port for port in ports if current.get("PORT", {}).get(port, {}).get("admin_status") == "up"]
    yield from (("PORT", port, {**current["PORT"][port], "admin_status": "down"}) for port in up)
    yield from rows
    yield from (("PORT", port, target["PORT"][port]) for port in up)


def _differ(one: dict[str, Any], other: dict[str, Any], fields: tuple[str, ...]) -> bool:
    return any(one.get(field) != other.get(field) for field in fields)
