"""What SONiC's generic config updater (`config apply-patch`) does with a change, which is the cost of the change.

Source: sonic-utilities @691b1bbc, generic_config_updater/: gcu_field_operation_validators.conf.json,
field_operation_validators.py and gu_common.py (refused changes), patch_sorter.py (ports that go down, create-only
fields); sonic-swss @e6b0c5b5 orchagent/bufferorch.cpp (changes that need a restart of the services). The updater
ignores the order of operations in a patch. Each step takes about a second.
"""

import enum
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from .tables import ConfigDb, Row
from .updater_asics import knows_asic
from .yang_tables import YANG_TABLES

SECONDS_PER_STEP = 1  # change_applier.py sleeps after each


class Cost(enum.StrEnum):
    """What a change needs, from the least to the most."""

    CHEAP = "cheap"  # applied, and traffic continues
    PORT_FLAP = "port flap"  # applied, and the port goes down and up
    GUARDED = "guarded"  # applied if the release knows the ASIC, else refused
    RELOAD = "reload"  # refused, or without effect: needs `config reload`, which stops the traffic
    REBOOT = "reboot"

    @property
    def rank(self) -> int:
        """The position in the order of costs, 0 for cheap."""
        return list(Cost).index(self)


class Verdict(NamedTuple):
    """A cost and the reason for it; the reason is "" for a table without special treatment."""

    cost: Cost
    reason: str


_CHEAP = Verdict(Cost.CHEAP, "")

# patch_sorter.py RequiredValueIdentifier: for these tables the updater takes the port of the row's key down.
PORT_FLAP_TABLES = frozenset({
    "BUFFER_PG", "BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_QUEUE", "PORT_QOS_MAP",
    "QUEUE",
})  # fmt: skip

RELOAD_TABLES: Mapping[str, str] = {
    "BUFFER_POOL": "the updater refuses every change of a pool",
    "BREAKOUT_CFG": "read when the services start",
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
# patch_sorter.py CreateOnlyFilter, without PORT lanes: the updater removes the row and adds it again. None: each field.
CREATE_ONLY_FIELDS: Mapping[str, tuple[str, ...] | None] = {
    "BGP_NEIGHBOR": _SESSION,
    "BGP_MONITORS": _SESSION,
    "BGP_PEER_RANGE": None,
    "BGP_SENTINELS": None,
    "LOOPBACK_INTERFACE": ("vrf_name",),
    "MIRROR_SESSION": None,
}


class Updater:
    """The updater of one switch, for the change from `old` to `new`."""

    def __init__(self, old: ConfigDb, new: ConfigDb) -> None:
        self._old, self._new = old, new

    def verdict(self, op: str, table: str, key: str, field: str | None, value: object) -> Verdict:
        """The verdict on an add, remove or replace of a row (`field` None, `value` its fields) or of a field."""
        if table == "DEVICE_METADATA" and field in REBOOT_FIELDS:
            return Verdict(Cost.REBOOT, f"{field} selects the ports and the SAI profile at boot")
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
        """The sorter takes a port that is up down during the change."""
        if self._row("PORT", port).get("admin_status") == "up":
            return Verdict(Cost.PORT_FLAP, f"{port} goes down and up")
        return _CHEAP

    def _of_watchdog(self, op: str, key: str, field: str | None, value: object) -> Verdict:
        is_global = key == "GLOBAL"
        if not self._old.get("PFC_WD"):
            return Verdict(Cost.RELOAD, "the updater refuses to add the whole table PFC_WD")
        stays = bool(self._new.get("PFC_WD"))  # the updater accepts the removal of the whole table
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
            return Verdict(Cost.GUARDED, "a whole profile is accepted; releases until 2024 refuse it")
        if op not in PROFILE_FIELDS.get(field, ()):
            return Verdict(Cost.RELOAD, f"the updater refuses to {op} BUFFER_PROFILE field {field}")
        return self._by_asic(Verdict(Cost.GUARDED, "accepted by releases that know the ASIC"))

    def _by_asic(self, verdict: Verdict) -> Verdict:
        if self._knows_asic:
            return verdict
        return Verdict(Cost.RELOAD, f"the updater does not know the ASIC of HwSKU {self._hwsku or '(none)'}")

    def _of_other(self, op: str, table: str, key: str, field: str | None) -> Verdict:
        if table in ("ACL_TABLE", "ACL_RULE") and self._changes_acl_type(key.partition("|")[0]):
            return Verdict(Cost.RELOAD, "the updater refuses a change of an ACL's type together with its rules")
        if (op, table, key, field) == ("remove", "LOOPBACK_INTERFACE", "Loopback0", None):
            return Verdict(Cost.RELOAD, "the updater refuses to remove Loopback0")
        if table not in YANG_TABLES:
            return Verdict(Cost.RELOAD, f"{table} has no YANG model: the updater refuses it")
        if field is not None and table in CREATE_ONLY_FIELDS and field in (CREATE_ONLY_FIELDS[table] or (field,)):
            return Verdict(Cost.CHEAP, f"{key} is removed and added again")
        return _CHEAP

    def _changes_acl_type(self, acl: str) -> bool:
        """Whether the type of a data ACL and its rules change together (gu_common.py illegal_dataacl_check)."""
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


def _of_port(field: str | None) -> Verdict:
    if field is None or field not in PORT_FIELDS:
        return Verdict(Cost.RELOAD, "ports are created and removed, and get their lanes, when the services start")
    if field == "speed":
        return Verdict(Cost.PORT_FLAP, "the link goes down and comes up at the new speed")
    return _CHEAP


def _table(config: ConfigDb, name: str) -> Mapping[str, Row]:
    return config.get(name, {})
