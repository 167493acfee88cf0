"""What SONiC's generic config updater (`config apply-patch`) does with a change, which is the cost of the change.

Source: sonic-utilities, generic_config_updater/ at the commits in tables.py: validators.py and gu_common.py (refused
changes), patch_sorter.py (ports that go down, create-only fields; the same in all releases). Changes that no daemon
follows: live.py. The updater ignores the order of operations in a patch.
"""

import enum
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ..releases import DEFAULT, release_name, release_of
from ..tables import ConfigDb, Row
from ..yang_tables import YANG_TABLES
from .live import price_of
from .unparsed import why_unparsed
from .validators import UNKNOWN, asic_of, is_validated, refused_by


class Cost(enum.StrEnum):
    """What a change needs, from the least to the most."""

    CHEAP = "cheap"  # applied, and traffic continues
    PORT_FLAP = "port flap"  # applied, and the port goes down and up
    GUARDED = "guarded"  # a change of a buffer profile that this release accepts on this ASIC; others refuse it
    RELOAD = "reload"  # refused, or without effect: needs `config reload`, which stops the traffic
    REBOOT = "reboot"

    @property
    def rank(self) -> int:
        """The position in the order of costs, 0 for cheap."""
        return list(Cost).index(self)


class Verdict(NamedTuple):
    """A cost and the reason for it; the reason is "" for a table without special treatment.

    `refused_by` is the validator of the updater that refuses the change, "" if all accept it.
    """

    cost: Cost
    reason: str
    refused_by: str = ""


_CHEAP = Verdict(Cost.CHEAP, "")
_BY_ASIC = ("BUFFER_POOL", "BUFFER_PROFILE", "PFC_WD", "WRED_PROFILE")

# patch_sorter.py RequiredValueIdentifier: for these tables the updater takes the port of the row's key down.
PORT_FLAP_TABLES = frozenset({
    "BUFFER_PG", "BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_QUEUE", "PORT_QOS_MAP",
    "QUEUE",
})  # fmt: skip

REBOOT_FIELDS = frozenset({"hwsku", "platform"})  # of DEVICE_METADATA|localhost

PORT_FIELDS = frozenset({
    "adv_interface_types", "adv_speeds", "admin_status", "autoneg", "description", "fec", "interface_type",
    "link_training", "mtu", "pfc_asym", "speed", "tpid",
})  # fmt: skip
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
    """The updater of one switch, for the change from `old` to `new`.

    `release` is that of the bundle. The running configuration of a switch has its own, which is preferred.
    """

    def __init__(self, old: ConfigDb, new: ConfigDb, release: int | None = None) -> None:
        self._old, self._new = old, new
        self.release = release_of(old) or release or DEFAULT

    def verdict(self, op: str, table: str, key: str, field: str | None, value: object) -> Verdict:
        """The verdict on an add, remove or replace of a row (`field` None, `value` its fields) or of a field."""
        if table == "DEVICE_METADATA" and field in REBOOT_FIELDS:
            return Verdict(Cost.REBOOT, f"{field} selects the ports and the SAI profile at boot")
        if self._unparsed:
            return Verdict(Cost.RELOAD, self._unparsed)
        if table in PORT_FLAP_TABLES:
            return self._on_port(key.partition("|")[0])
        refused, reason = self._refusal(op, table, key, field, value)
        price = price_of(table, field, self.release)
        if price and not price.is_live:
            return Verdict(Cost.RELOAD, price.statement.text, refused)
        if refused:
            return Verdict(Cost.RELOAD, reason, refused)
        if price and table in YANG_TABLES:
            return Verdict(Cost.CHEAP, price.statement.text)
        if table == "PORT":
            return _of_port(field)
        if table == "PFC_WD":
            return self._of_watchdog(key, field, value)
        if table == "BUFFER_PROFILE":
            return self._of_profile(key, field)
        return self._of_other(table, key, field)

    def _refusal(self, op: str, table: str, key: str, field: str | None, value: object) -> tuple[str, str]:
        """The validator that refuses the operation in the updater's own comparison, and the reason; "" if none does."""
        path: tuple[str, ...] = (table, key) if field is None else (table, key, field)
        moved = ""
        if field is None and op == "add" and not self._old.get(table):
            path, value = (table,), self._new[table]
        elif field is None and op == "remove" and not self._new.get(table):
            path = (table,)
        elif op == "add" and is_validated(table, self.release) and _frozen(value) in self._removed:
            op, moved = "move", " together with the removal of an equal one"
        given = None if op in ("remove", "move") else value
        validator = refused_by(op, path, given, self.release, self._asic)
        if not validator:
            return "", ""
        if table in _BY_ASIC and self._asic == UNKNOWN:
            return validator, f"{self.name} does not know the ASIC of HwSKU {self._hwsku or '(none)'}"
        what = f"the whole table {table}" if len(path) == 1 else f"{table}|{key}" + (f" {field}" if field else "")
        on = f" on {self._asic}" if table in _BY_ASIC else ""
        return validator, f"{self.name} refuses to {'add' if moved else op} {what}{moved}{on} ({validator})"

    @property
    def name(self) -> str:
        """The updater and its release, for messages."""
        return f"the updater of {release_name(self.release)}"

    def _on_port(self, port: str) -> Verdict:
        """The sorter takes a port that is up down during the change."""
        if self._row("PORT", port).get("admin_status") == "up":
            return Verdict(Cost.PORT_FLAP, f"{port} goes down and up")
        return _CHEAP

    def _of_watchdog(self, key: str, field: str | None, value: object) -> Verdict:
        """With the traditional buffer model, orchagent keeps the first action and refuses rows with another one."""
        if key == "GLOBAL" or self._is_dynamic:
            return _CHEAP
        row = value if isinstance(value, dict) else {field: value}
        if (action := row.get("action")) and (others := self._actions - {action}):
            return Verdict(Cost.RELOAD, f"orchagent refuses action {action} while {min(others)} is set")
        return _CHEAP

    def _of_profile(self, key: str, field: str | None) -> Verdict:
        lists = _table(self._old, "BUFFER_PORT_EGRESS_PROFILE_LIST").values()
        if field == "packet_discard_action" and self._is_dynamic and any(_lists(row, key) for row in lists):
            return Verdict(Cost.RELOAD, f"orchagent refuses trimming for {key} while the egress list of a port has it")
        return Verdict(Cost.GUARDED, f"{self.name} accepts it on {self._asic}")

    def _of_other(self, table: str, key: str, field: str | None) -> Verdict:
        if table in ("ACL_TABLE", "ACL_RULE") and self._changes_acl_type(key.partition("|")[0]):
            return Verdict(Cost.RELOAD, "the updater refuses a change of an ACL's type together with its rules")
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
    def _unparsed(self) -> str:
        return why_unparsed(self._new, self.release) or why_unparsed(self._old, self.release)

    @cached_property
    def _hwsku(self) -> str:
        found = self._row("DEVICE_METADATA", "localhost").get("hwsku", "")
        return found if isinstance(found, str) else ""

    @cached_property
    def _asic(self) -> str:
        return asic_of(self._hwsku, self.release)

    @cached_property
    def _is_dynamic(self) -> bool:
        return self._row("DEVICE_METADATA", "localhost").get("buffer_model") == "dynamic"

    @cached_property
    def _actions(self) -> set[str]:
        """The watchdog actions in use."""
        rows = _table(self._old, "PFC_WD").values()
        return {action for row in rows if isinstance(action := row.get("action"), str)}

    @cached_property
    def _removed(self) -> frozenset[object]:
        """The rows and fields that the change removes.

        The updater's comparison (jsonpatch) writes the removal and the addition of the same value as one move, which no
        validator accepts.
        """
        return frozenset(map(_frozen, _removals(self._old, self._new)))

    def _row(self, table: str, key: str) -> Row:
        return _table(self._old, table).get(key, {})


def _of_port(field: str | None) -> Verdict:
    if field is None or field not in PORT_FIELDS:
        return Verdict(Cost.RELOAD, "ports are created and removed, and get their lanes, when the services start")
    if field == "speed":
        return Verdict(Cost.PORT_FLAP, "the link goes down and comes up at the new speed")
    return _CHEAP


def _removals(old: ConfigDb, new: ConfigDb) -> Iterator[object]:
    for table, before in old.items():
        after = new.get(table)
        if after is before:
            continue
        if not after:
            yield before
            continue
        for key, row in before.items():
            other = after.get(key)
            if other is None:
                yield row
            elif other != row:
                yield from (row[field] for field in row.keys() - other.keys())


def _frozen(value: object) -> object:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _lists(row: Row, profile: str) -> bool:
    names = row.get("profile_list", "")
    return profile in (names.split(",") if isinstance(names, str) else names)


def _table(config: ConfigDb, name: str) -> Mapping[str, Row]:
    return config.get(name, {})
