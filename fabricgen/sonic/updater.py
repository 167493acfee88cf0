"""What SONiC's generic config updater (`config apply-patch`) does with a change, and so what the change costs.

Read in sonic-utilities @691b1bbc, generic_config_updater/: gcu_field_operation_validators.conf.json,
field_operation_validators.py, gu_common.py (what is refused), patch_sorter.py (ports that go down, create-only fields).
What only a restart of the services takes over: sonic-swss orchagent/bufferorch.cpp @e6b0c5b5. The order of operations
in a patch means nothing to the updater; each step takes about a second.
"""

import enum
from collections.abc import Mapping
from functools import cache, cached_property
from typing import NamedTuple

from fabricgen.sonic.tables import ConfigDb, Row
from fabricgen.sonic.updater_asics import knows_asic

SECONDS_PER_STEP = 1  # change_applier.py sleeps after each


class Cost(enum.StrEnum):
    """What a change takes, least first."""

    CHEAP = "cheap"  # applied while traffic flows
    PORT_FLAP = "port flap"  # applied, and the port goes down and up
    GUARDED = "guarded"  # applied where the release knows the ASIC, else refused
    RELOAD = "reload"  # refused or not taken over: `config reload`, which stops the traffic
    REBOOT = "reboot"

    @property
    def rank(self) -> int:
        """0 for cheap."""
        return list(Cost).index(self)


class Verdict(NamedTuple):
    """A cost and why it is that; "" where nothing special is known of the table."""

    cost: Cost
    reason: str


_CHEAP = Verdict(Cost.CHEAP, "")

# patch_sorter.py RequiredValueIdentifier: the port of the row's key is taken down for these.
PORT_FLAP_TABLES = frozenset({
    "BUFFER_PG", "BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_QUEUE", "PORT_QOS_MAP",
    "QUEUE",
})  # fmt: skip

RELOAD_TABLES: Mapping[str, str] = {
    "BUFFER_POOL": "the updater refuses every change of a pool",
    "BREAKOUT_CFG": "ports are split and joined when the services start",
    "DEVICE_METADATA": "read when the services start",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": "read when buffermgrd starts",
    "LOSSLESS_TRAFFIC_PATTERN": "read when buffermgrd starts",
}
REBOOT_FIELDS = frozenset({"hwsku", "platform"})  # of DEVICE_METADATA|localhost

PORT_FIELDS = frozenset({
    "adv_interface_types", "adv_speeds", "admin_status", "autoneg", "description", "fec", "interface_type",
    "link_training", "mtu", "pfc_asym", "speed", "tpid",
})  # fmt: skip
WATCHDOG_FIELDS = frozenset({"restoration_time", "detection_time", "action", "pfc_stat_history"})
PROFILE_FIELDS: Mapping[str, frozenset[str]] = {  # field of BUFFER_PROFILE -> operations
    "dynamic_th": frozenset({"replace"}),
    "xoff": frozenset({"replace"}),
    "packet_discard_action": frozenset({"add", "replace"}),
}
_SESSION = ("holdtime", "keepalive", "name", "asn", "local_addr", "nhopself", "rrclient")
# patch_sorter.py CreateOnlyFilter, without PORT lanes: the row is removed and added again. None: every field.
CREATE_ONLY_FIELDS: Mapping[str, tuple[str, ...] | None] = {
    "BGP_NEIGHBOR": _SESSION,
    "BGP_MONITORS": _SESSION,
    "BGP_PEER_RANGE": None,
    "BGP_SENTINELS": None,
    "LOOPBACK_INTERFACE": ("vrf_name",),
    "MIRROR_SESSION": None,
}


class Updater:
    """The updater of one switch that is to go from `old` to `new`."""

    def __init__(self, old: ConfigDb, new: ConfigDb) -> None:
        self._old, self._new = old, new

    def verdict(self, op: str, table: str, key: str, field: str | None, value: object) -> Verdict:
        """What becomes of an add, remove or replace of a row (`field` None, `value` its fields) or of a field."""
        if table == "DEVICE_METADATA" and field in REBOOT_FIELDS:
            return Verdict(Cost.REBOOT, f"{field} picks the ports and the SAI profile at boot")
        if table in RELOAD_TABLES:
            return Verdict(Cost.RELOAD, RELOAD_TABLES[table])
        if table in PORT_FLAP_TABLES:
            return self._on_port(key.partition("|")[0])
        if table == "PORT":
            return _of_port(field)
        if table == "PFC_WD":
            return self._of_watchdog(op, key, field, value)
        if table == "BUFFER_PROFILE":
            return self._of_profile(op, field)
        return self._of_other(op, table, key, field)

    def _on_port(self, port: str) -> Verdict:
        """The sorter takes a port that is up down for the change."""
        if self._row("PORT", port).get("admin_status") == "up":
            return Verdict(Cost.PORT_FLAP, f"{port} goes down and up")
        return _CHEAP

    def _of_watchdog(self, op: str, key: str, field: str | None, value: object) -> Verdict:
        is_global = key == "GLOBAL"
        if not self._old.get("PFC_WD"):
            return Verdict(Cost.RELOAD, "the updater refuses to add the whole table PFC_WD")
        stays = bool(self._new.get("PFC_WD"))  # a table that goes as a whole passes
        if is_global and ((op == "add" and field is None) or (op == "remove" and stays)):
            return Verdict(Cost.RELOAD, "the updater refuses to add or remove PFC_WD|GLOBAL")
        fields = {field} if field is not None else set(value) if op == "add" and isinstance(value, dict) else set()
        if other := fields - ({"POLL_INTERVAL"} if is_global else WATCHDOG_FIELDS):
            return Verdict(Cost.RELOAD, f"the updater refuses PFC_WD field {', '.join(sorted(map(str, other)))}")
        return self._by_asic(Verdict(Cost.CHEAP, ""))

    def _of_profile(self, op: str, field: str | None) -> Verdict:
        if not (self._old.get("BUFFER_PROFILE") and self._new.get("BUFFER_PROFILE")):
            return Verdict(Cost.RELOAD, "the updater refuses to add or remove the whole table BUFFER_PROFILE")
        if field is None:
            return Verdict(Cost.GUARDED, "a whole profile passes; releases of 2024 and before refuse it")
        if op not in PROFILE_FIELDS.get(field, ()):
            return Verdict(Cost.RELOAD, f"the updater refuses to {op} BUFFER_PROFILE field {field}")
        return self._by_asic(Verdict(Cost.GUARDED, "passes on releases that know the ASIC"))

    def _by_asic(self, verdict: Verdict) -> Verdict:
        if self._knows_asic:
            return verdict
        return Verdict(Cost.RELOAD, f"the updater does not know the ASIC of HwSKU {self._hwsku or '(none)'}")

    def _of_other(self, op: str, table: str, key: str, field: str | None) -> Verdict:
        if table in ("ACL_TABLE", "ACL_RULE") and self._changes_acl_type(key.partition("|")[0]):
            return Verdict(Cost.RELOAD, "the updater refuses a new type of an ACL together with its rules")
        if (op, table, key, field) == ("remove", "LOOPBACK_INTERFACE", "Loopback0", None):
            return Verdict(Cost.RELOAD, "the updater refuses to remove Loopback0")
        if table not in _yang_tables():
            return Verdict(Cost.RELOAD, f"{table} has no YANG model: the updater refuses it")
        if field is not None and table in CREATE_ONLY_FIELDS and field in (CREATE_ONLY_FIELDS[table] or (field,)):
            return Verdict(Cost.CHEAP, f"{key} is removed and added again")
        return _CHEAP

    def _changes_acl_type(self, acl: str) -> bool:
        """gu_common.py illegal_dataacl_check: the type of a data ACL differs, and so do its rules."""
        types = [_table(config, "ACL_TABLE").get(acl, {}).get("type") for config in (self._old, self._new)]
        if types[0] == types[1] or not all(types) or "CTRLPLANE" in types:
            return False
        rules = [
            {key: row for key, row in _table(config, "ACL_RULE").items() if key.partition("|")[0] == acl}
            for config in (self._old, self._new)
        ]
        return rules[0] != rules[1]

    @cached_property
    def _hwsku(self) -> str:
        found = self._row("DEVICE_METADATA", "localhost").get("hwsku", "")
        return found if isinstance(found, str) else ""

    @cached_property
    def _knows_asic(self) -> bool:
        return knows_asic(self._hwsku)

    def _row(self, table: str, key: str) -> Row:
        return _table(self._old, table).get(key, {})


@cache
def _yang_tables() -> frozenset[str]:
    from fabricgen.sonic.schema import table_names  # takes longer to load than most comparisons take

    return table_names()


def _of_port(field: str | None) -> Verdict:
    if field is None or field not in PORT_FIELDS:
        return Verdict(Cost.RELOAD, "ports come, go and change lanes when the services start")
    if field == "speed":
        return Verdict(Cost.PORT_FLAP, "the link comes up anew at the other speed")
    return _CHEAP


def _table(config: ConfigDb, name: str) -> Mapping[str, Row]:
    return config.get(name, {})
