"""What SONiC's generic config updater (`config apply-patch`) does with a change, which is the cost of the change.

Each list below is written at the statement that says where it is from and for which releases it holds. What the
validators refuse: validators.py. Changes that no daemon follows: live.py. The updater ignores the order of operations
in a patch.
"""

import enum
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ..releases import DEFAULT, MASTER, release_name, release_of
from ..statements import ProgramStatement
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


class UpdateVerdict(NamedTuple):
    """A cost and the reason for it; the reason is "" for a table without special treatment.

    `refused_by` is the validator of the updater that refuses the change, "" if all accept it.
    """

    cost: Cost
    reason: str
    refused_by: str = ""


_CHEAP = UpdateVerdict(Cost.CHEAP, "")
_BY_ASIC = ("BUFFER_POOL", "BUFFER_PROFILE", "PFC_WD", "WRED_PROFILE")

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
_SORTER = "sonic-utilities generic_config_updater/patch_sorter.py"
DOWN_FOR_ROWS = ProgramStatement(
    "the updater changes the rows of a port in these tables only while the port is down, and takes it down",
    f"{_SORTER} RequiredValueIdentifier, RequiredValueMoveExtender",
    _READ,
)
PORT_FLAP_TABLES = frozenset({
    "BUFFER_PG", "BUFFER_PORT_EGRESS_PROFILE_LIST", "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_QUEUE", "PORT_QOS_MAP",
    "QUEUE",
})  # fmt: skip

READ_AT_BOOT = ProgramStatement(
    "selects the ports and the SAI profile at boot",
    "sonic-buildimage src/sonic-py-common/sonic_py_common/device_info.py get_path_to_hwsku_dir "
    "(the readers: docker-*, syncd_init_common.sh)",
    _READ,
)
REBOOT_FIELDS = frozenset({"hwsku", "platform"})  # of DEVICE_METADATA|localhost

CREATED_AT_START = ProgramStatement(
    "ports are created and removed, and get their lanes, when the services start",
    "sonic-swss orchagent/portsorch.cpp doPortTask (getPortConfigState); sonic-utilities config/main.py breakout has "
    "its own way (ConfigMgmtDPB.breakOutPort)",
    _READ,
)
FOLLOWED_PORT = ProgramStatement(
    "orchagent, lldpmgrd, xcvrd, macsecmgrd and linkmgrd follow these fields of a port that exists",
    "sonic-swss orchagent/portsorch.cpp doPortTask, cfgmgr/macsecmgr.cpp enableMACsec; sonic-buildimage "
    "dockers/docker-lldp/lldpmgrd; sonic-platform-daemons sonic-xcvrd (subport, laser_freq, tx_power, dom_polling)",
    _READ,
)
PORT_FIELDS = frozenset({
    "admin_status", "alias", "description", "dom_polling", "fast_linkup", "laser_freq", "link_training", "macsec",
    "mtu", "mux_cable", "pfc_asym", "subport", "tpid", "tx_power",
})  # fmt: skip
DOWN_FOR_FIELDS = ProgramStatement(
    "the link goes down and comes up: orchagent takes the port down to set it",
    "sonic-swss orchagent/portsorch.cpp doPortTask (setPortAdminStatus before the speed, FEC, autonegotiation, "
    "advertised speeds and interface types)",
    _READ,
)
PORT_DOWN_FIELDS = frozenset({"adv_interface_types", "adv_speeds", "autoneg", "fec", "interface_type", "speed"})
STOPS_SERVICE = ProgramStatement(
    "featured stops the container, and traffic or its protocol stops",
    "sonic-host-services scripts/featured FeatureHandler.update_feature_state",
    _READ,
)
_FORWARDING = frozenset({"bgp", "swss", "syncd", "teamd"})  # features
CREATE_ONLY = ProgramStatement(
    "the updater removes a row and adds it again where a field changes that its daemon reads with a new row only",
    f"{_SORTER} CreateOnlyFilter, RemoveCreateOnlyDependencyMoveGenerator",
    _READ,
)
CREATE_ONLY_SENTINELS = ProgramStatement(
    "so it does with the rows of BGP_SENTINELS", f"{_SORTER} CreateOnlyFilter", _READ, since=202311
)
_SESSION = frozenset({"holdtime", "keepalive", "name", "asn", "local_addr", "nhopself", "rrclient"})
_EACH: frozenset[str] = frozenset()  # all fields of the table
_CREATE_ONLY: Mapping[str, tuple[ProgramStatement, frozenset[str]]] = {
    "BGP_NEIGHBOR": (CREATE_ONLY, _SESSION),
    "BGP_MONITORS": (CREATE_ONLY, _SESSION),
    "BGP_PEER_RANGE": (CREATE_ONLY, _EACH),
    "BGP_SENTINELS": (CREATE_ONLY_SENTINELS, _EACH),
    "LOOPBACK_INTERFACE": (CREATE_ONLY, frozenset({"vrf_name"})),
    "MIRROR_SESSION": (CREATE_ONLY, _EACH),
    "PORT": (CREATE_ONLY, frozenset({"lanes"})),
}
REFUSES_ACL_TYPE = ProgramStatement(
    "the updater refuses a change of an ACL's type together with its rules",
    "sonic-utilities generic_config_updater/gu_common.py illegal_dataacl_check",
    _READ,
    since=202411,
)
NEEDS_MODEL = ProgramStatement(
    "the updater refuses a patch of a table without a YANG model",
    f"{_SORTER} StrictPatchSorter.sort (validate_config_db_patch_has_yang_models)",
    _READ,
)
ONE_ACTION = ProgramStatement(
    "on Broadcom's chips the first row of PFC_WD sets the action of the switch, and rows with another one are refused",
    "sonic-swss orchagent/pfcwdorch.cpp createEntry (checkPfcDlrInitEnable)",
    _READ,
)
REFUSES_TRIMMING = ProgramStatement(
    "orchagent refuses trimming for a profile while the list of a port has it",
    "sonic-swss orchagent/bufferorch.cpp processBufferProfile (isTrimmingProhibited)",
    _READ,
    since=202505,
)


def is_create_only(table: str, field: str | None, release: int) -> bool:
    """Whether the updater of a release removes a row and adds it again where the field changes."""
    if field is None or table not in _CREATE_ONLY:
        return False
    statement, fields = _CREATE_ONLY[table]
    return statement.holds(release) and (not fields or field in fields)


class Updater:
    """The updater of one switch, for the change from `old` to `new`.

    `release` is that of the bundle. The running configuration of a switch has its own, which is preferred.
    """

    def __init__(self, old: ConfigDb, new: ConfigDb, release: int | None = None) -> None:
        self._old, self._new = old, new
        self.release = release_of(old) or release or DEFAULT

    def verdict(self, op: str, table: str, key: str, field: str | None, value: object) -> UpdateVerdict:
        """The verdict on an add, remove or replace of a row (`field` None, `value` its fields) or of a field."""
        if table == "DEVICE_METADATA" and field in REBOOT_FIELDS:
            return UpdateVerdict(Cost.REBOOT, f"{field} {READ_AT_BOOT.text}")
        if self._unparsed:
            return UpdateVerdict(Cost.RELOAD, self._unparsed)
        if table in PORT_FLAP_TABLES:
            return self._on_port(key.partition("|")[0])
        refused, reason = self._refusal(op, table, key, field, value)
        price = price_of(table, key, field, self.release, framework=self._uses_framework)
        if price and not price.is_live:
            return UpdateVerdict(Cost.RELOAD, price.statement.text, refused)
        if refused:
            return UpdateVerdict(Cost.RELOAD, reason, refused)
        if price and table in YANG_TABLES:
            return UpdateVerdict(Cost.CHEAP, price.statement.text)
        if table == "PORT":
            return _of_port(field)
        if table == "PFC_WD":
            return self._of_watchdog(key, field, value)
        if table == "BUFFER_PROFILE":
            return self._of_profile(key, field)
        return self._of_other(table, key, field, value)

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

    def _on_port(self, port: str) -> UpdateVerdict:
        """The sorter takes a port that is up down during the change."""
        if self._row("PORT", port).get("admin_status") == "up":
            return UpdateVerdict(Cost.PORT_FLAP, f"{port} goes down and up")
        return _CHEAP

    def _of_watchdog(self, key: str, field: str | None, value: object) -> UpdateVerdict:
        """With the traditional buffer model, orchagent keeps the first action and refuses rows with another one."""
        if key == "GLOBAL" or self._is_dynamic or not ONE_ACTION.holds(self.release):
            return _CHEAP
        row = value if isinstance(value, dict) else {field: value}
        if (action := row.get("action")) and (others := self._actions - {action}):
            return UpdateVerdict(Cost.RELOAD, f"orchagent refuses action {action} while {min(others)} is set")
        return _CHEAP

    def _of_profile(self, key: str, field: str | None) -> UpdateVerdict:
        lists = _table(self._old, "BUFFER_PORT_EGRESS_PROFILE_LIST").values()
        is_trimming = field == "packet_discard_action" and REFUSES_TRIMMING.holds(self.release)
        if is_trimming and self._is_dynamic and any(_lists(row, key) for row in lists):
            return UpdateVerdict(
                Cost.RELOAD, f"orchagent refuses trimming for {key} while the egress list of a port has it"
            )
        return UpdateVerdict(Cost.GUARDED, f"{self.name} accepts it on {self._asic}")

    def _of_other(self, table: str, key: str, field: str | None, value: object) -> UpdateVerdict:
        if table == "FEATURE" and key in _FORWARDING and field == "state" and str(value).endswith("disabled"):
            return UpdateVerdict(Cost.RELOAD, STOPS_SERVICE.text)
        is_acl = table in ("ACL_TABLE", "ACL_RULE") and REFUSES_ACL_TYPE.holds(self.release)
        if is_acl and self._changes_acl_type(key.partition("|")[0]):
            return UpdateVerdict(Cost.RELOAD, REFUSES_ACL_TYPE.text)
        if table not in YANG_TABLES:
            return UpdateVerdict(Cost.RELOAD, f"{table} has no YANG model: the updater refuses it")
        if is_create_only(table, field, self.release):
            return UpdateVerdict(Cost.CHEAP, f"{key} is removed and added again")
        return _CHEAP

    def _changes_acl_type(self, acl: str) -> bool:
        """Whether the type of a data ACL and its rules change together."""
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
    def _uses_framework(self) -> bool:
        return self._row("DEVICE_METADATA", "localhost").get("frr_mgmt_framework_config") == "true"

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


def _of_port(field: str | None) -> UpdateVerdict:
    if field in PORT_DOWN_FIELDS:
        return UpdateVerdict(Cost.PORT_FLAP, DOWN_FOR_FIELDS.text)
    return _CHEAP if field in PORT_FIELDS else UpdateVerdict(Cost.RELOAD, CREATED_AT_START.text)


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
