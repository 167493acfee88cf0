"""Faults of one switch's tables that were run on SONiC's own daemons, and how bad the outcome was.

Each is one change of a file that works. The outcomes were measured with syncd (virtual SAI), portsyncd, orchagent,
portmgrd and buffermgrd of sonic-swss 6079a435 on an Arista 7060X6 (traditional buffers) and an SN5600 (dynamic).
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Config = dict[str, dict[str, dict[str, Any]]]
Ports = list[str]
Change = Callable[[Config, Ports], object]


class Outcome(enum.StrEnum):
    """What the daemons do with the file, compared with the file without the fault."""

    DEAD = "DEAD"  # ports stay down, or the initialization of the ports never ends
    LOST = "LOST"  # a part is lost: maps, PFC, headroom, scheduler, WRED, watchdog, pool
    OTHER = "OTHER"  # programmed, but with a value that is wrong or that a chip may refuse
    KEPT = "KEPT"  # the daemon writes its own value back over that of the file
    VALID = "VALID"  # programmed as written, and a value that an operator can mean
    NONE = "NONE"  # no difference on the chip
    NOT_LEGAL = "NOT_LEGAL"  # no difference on the chip, but the YANG models refuse it, or a daemon reports an error
    ELSEWHERE = "ELSEWHERE"  # no difference to these daemons; other programs or hosts depend on the value

    @property
    def needs_error(self) -> bool:
        """Whether the fault must be an error."""
        return self in (Outcome.DEAD, Outcome.LOST, Outcome.OTHER, Outcome.NOT_LEGAL)

    @property
    def forbids_error(self) -> bool:
        """Whether an error would be a false alarm."""
        return self in (Outcome.VALID, Outcome.NONE)


DEAD, LOST, OTHER, KEPT, VALID, NONE, NOT_LEGAL, ELSEWHERE = Outcome


@dataclass(frozen=True)
class Fault:
    """A fault with its outcome in each buffer model; None for a model in which it was not run."""

    kind: str
    change: Change
    traditional: Outcome | None
    dynamic: Outcome | None

    def outcome(self, model: str) -> Outcome | None:
        """The outcome in a buffer model."""
        return self.dynamic if model == "dynamic" else self.traditional


def set_value(table: str, key: str, field: str, value: Any) -> Change:
    """Set a field. `{P}` in the key or the field is each port; names of rows are those of the file."""

    def change(config: Config, ports: Ports) -> None:
        for port in ports if "{P}" in key + field else ports[:1]:
            row = config.setdefault(table, {}).setdefault(_name(config, key, port), {})
            row[field.replace("{P}", port)] = value.replace("{P}", port) if isinstance(value, str) else value

    return change


def removed(table: str, key: str = "", field: str = "") -> Change:
    """Remove a field, a row, or a table."""

    def change(config: Config, ports: Ports) -> None:
        for port in ports if "{P}" in key + field else ports[:1]:
            if not key:
                del config[table]
            elif field:
                del config[table][_name(config, key, port)][field.replace("{P}", port)]
            else:
                del config[table][_name(config, key, port)]

    return change


def added_row(table: str, key: str, row: dict[str, Any]) -> Change:
    """Add or replace a row."""

    def change(config: Config, ports: Ports) -> None:
        for port in ports if "{P}" in key else ports[:1]:
            config.setdefault(table, {})[_name(config, key, port)] = dict(row)

    return change


def row_like(table: str, key: str, like: str) -> Change:
    """A row with the fields of another."""

    def change(config: Config, ports: Ports) -> None:
        for port in ports:
            config[table][key.replace("{P}", port)] = dict(config[table][like.replace("{P}", port)])

    return change


def rekeyed(table: str, old: str, new: str) -> Change:
    def change(config: Config, ports: Ports) -> None:
        for port in ports:
            row = config[table].pop(old.replace("{P}", port))
            config[table][new.replace("{P}", port).replace("{p}", port.lower())] = row

    return change


def both(*changes: Change) -> Change:
    def change(config: Config, ports: Ports) -> None:
        for one in changes:
            one(config, ports)

    return change


def _name(config: Config, key: str, port: str) -> str:
    """A key with the names that the file's own rows use for lossless and lossy traffic."""
    if "{" not in key:
        return key
    queue = next(row for name, row in config["QUEUE"].items() if name.endswith("|3"))
    buffers = config["BUFFER_QUEUE"]
    names = {
        "{P}": port,
        "{SCHEDULER}": str(queue.get("scheduler")),
        "{WRED}": str(queue.get("wred_profile")),
        "{LOSSY}": str(next(row for name, row in buffers.items() if name.endswith("|0-2")).get("profile")),
        "{CABLES}": next(iter(config["CABLE_LENGTH"])),
    }
    for mark, name in names.items():
        key = key.replace(mark, name)
    return key


def _bracketed(table: str, key: str, *fields: tuple[str, str]) -> Change:
    def change(config: Config, ports: Ports) -> None:
        for port in ports if "{P}" in key else ports[:1]:
            row = config[table][_name(config, key, port)]
            for field, of in fields:
                row[field] = f"[{of}|{row[field]}]"

    return change


def _own(**fields: str | None) -> Change:
    """A separate profile on the lossless groups; None removes a field."""
    sane = {"pool": "ingress_lossless_pool", "xon": "19456", "xoff": "90112", "size": "109568", "dynamic_th": "0"}
    row = {name: value for name, value in (sane | fields).items() if value is not None}
    return both(added_row("BUFFER_PROFILE", "own", row), set_value("BUFFER_PG", "{P}|3-4", "profile", "own"))


def _mixed(action: str) -> Change:
    """One port with another action of the watchdog; for all ports, every other port."""

    def change(config: Config, ports: Ports) -> None:
        for port in ports[::2]:
            config["PFC_WD"][port]["action"] = action

    return change


def _all_alert(config: Config, _: Ports) -> None:
    for port in config["PFC_WD"].keys() - {"GLOBAL"}:
        config["PFC_WD"][port]["action"] = "alert"


def _no_action(config: Config, ports: Ports) -> None:
    for port in ports[::2]:
        del config["PFC_WD"][port]["action"]


def _longer_by_1m(config: Config, ports: Ports) -> None:
    """Lengths that the table of no SKU has."""
    (row,) = config["CABLE_LENGTH"].values()
    row.update({port: f"{int(row[port].removesuffix('m')) + 1}m" for port in ports})


def _next_port(field: str) -> Change:
    """The value of the next port of the file."""

    def change(config: Config, ports: Ports) -> None:
        names = list(config["PORT"])
        values = {port: config["PORT"][names[names.index(port) + 1]][field] for port in ports}
        for port, value in values.items():
            config["PORT"][port][field] = value

    return change


def _list_key(config: Config, ports: Ports) -> None:
    """One row of PORT_QOS_MAP for two ports."""
    users = [port for port in config["PORT_QOS_MAP"] if port != "global"]
    for one, other in zip(users[::2][: len(ports)], users[1::2], strict=False):
        row = config["PORT_QOS_MAP"].pop(one)
        config["PORT_QOS_MAP"].pop(other)
        config["PORT_QOS_MAP"][f"{one},{other}"] = row


def _global_only(config: Config, _: Ports) -> None:
    config["PORT_QOS_MAP"] = {"global": {"dscp_to_tc_map": "AZURE"}}


def _free(config: Config) -> Ports:
    return [port for port, row in config["PORT"].items() if row.get("admin_status") == "down"]


def _unused_up(config: Config, ports: Ports) -> None:
    for port in _free(config)[: len(ports)]:
        config["PORT"][port]["admin_status"] = "up"


def _pfc_unused(config: Config, ports: Ports) -> None:
    row = config["PORT_QOS_MAP"][ports[0]]
    for port in _free(config)[: len(ports)]:
        config["PORT_QOS_MAP"][port] = dict(row)


def _all_queues(config: Config, _: Ports) -> None:
    for row in config["BUFFER_QUEUE"].values():
        row["profile"] = "nope"


def _numbers(config: Config, ports: Ports) -> None:
    for port in ports:
        row = config["PORT"][port]
        row.update({"mtu": int(row["mtu"]), "speed": int(row["speed"])})


def _all_lossy(config: Config, _: Ports) -> None:
    added_row("BUFFER_PG", "{P}|3", {"profile": "ingress_lossy_profile"})(config, list(config["PFC_WD"])[1:])


def _capital(config: Config, ports: Ports) -> None:
    for port in ports:
        row = config["BUFFER_QUEUE"][f"{port}|0-2"]
        row["profile"] = row["profile"].capitalize()


def _sku_profile(**fields: str | None) -> Change:
    """Other fields in a headroom profile of the SKU; None removes a field."""

    def change(config: Config, _: Ports) -> None:
        row = next(row for name, row in config["BUFFER_PROFILE"].items() if name.startswith("pg_lossless_"))
        for field, value in fields.items():
            row.pop(field, None)
            if value is not None:
                row[field] = value

    return change


def _sku_absent(config: Config, _: Ports) -> None:
    del config["BUFFER_PROFILE"][next(name for name in config["BUFFER_PROFILE"] if name.startswith("pg_lossless_"))]


def _missing_pool(config: Config, _: Ports) -> None:
    dynamic = config["DEVICE_METADATA"]["localhost"].get("buffer_model") == "dynamic"
    del config["BUFFER_POOL"]["ingress_lossy_pool" if dynamic else "egress_lossless_pool"]


def _other_model(config: Config, _: Ports) -> None:
    row = config["DEVICE_METADATA"]["localhost"]
    row["buffer_model"] = {"dynamic": "traditional", "traditional": "dynamic"}[row["buffer_model"]]


_PG, _QUEUE, _POOL, _PROFILE = "BUFFER_PG", "BUFFER_QUEUE", "BUFFER_POOL", "BUFFER_PROFILE"
_LOSSY_PG, _LOSSY_QUEUE = "ingress_lossy_profile", "{LOSSY}"
_OUT, _IN = "egress_lossless_pool", "ingress_lossless_pool"
_MAP, _DSCP, _LISTS = "PORT_QOS_MAP", "DSCP_TO_TC_MAP", "BUFFER_PORT_INGRESS_PROFILE_LIST"
_CABLE, _DEFAULT, _PATTERN = "CABLE_LENGTH", "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LOSSLESS_TRAFFIC_PATTERN"
_METADATA = ("DEVICE_METADATA", "localhost")

FAULTS = (
    # Schedulers, WRED and maps.
    Fault("sched_priority", set_value("SCHEDULER", "{SCHEDULER}", "priority", "3"), LOST, LOST),
    Fault("sched_type", set_value("SCHEDULER", "{SCHEDULER}", "type", "DRR"), LOST, LOST),
    Fault("sched_type_lower", set_value("SCHEDULER", "{SCHEDULER}", "type", "dwrr"), LOST, LOST),
    Fault("sched_notype", removed("SCHEDULER", "{SCHEDULER}", "type"), OTHER, OTHER),
    Fault("weight0", set_value("SCHEDULER", "{SCHEDULER}", "weight", "0"), OTHER, OTHER),
    Fault("weight101", set_value("SCHEDULER", "{SCHEDULER}", "weight", "101"), OTHER, OTHER),
    Fault("weight300", set_value("SCHEDULER", "{SCHEDULER}", "weight", "300"), OTHER, OTHER),
    Fault("wred_2e31", set_value("WRED_PROFILE", "{WRED}", "green_max_threshold", "2147483648"), LOST, LOST),
    Fault("wred_2e32", set_value("WRED_PROFILE", "{WRED}", "green_max_threshold", "4294967296"), LOST, LOST),
    Fault(
        "wred_minmax",
        both(
            set_value("WRED_PROFILE", "{WRED}", "green_min_threshold", "500000"),
            set_value("WRED_PROFILE", "{WRED}", "green_max_threshold", "400000"),
        ),
        LOST,
        LOST,
    ),
    Fault("wred_prob150", set_value("WRED_PROFILE", "{WRED}", "green_drop_probability", "150"), OTHER, OTHER),
    Fault("wred_ecn", set_value("WRED_PROFILE", "{WRED}", "ecn", "ecn_blue"), LOST, LOST),
    Fault("wred_True", set_value("WRED_PROFILE", "{WRED}", "wred_green_enable", "True"), LOST, LOST),
    Fault("bool_values", set_value("WRED_PROFILE", "{WRED}", "wred_green_enable", True), LOST, LOST),
    Fault("int_values", _numbers, NONE, NONE),
    Fault("queue_unknown_wred", set_value("QUEUE", "{P}|3", "wred_profile", "nope"), LOST, LOST),
    Fault("queue_unknown_sched", set_value("QUEUE", "{P}|3", "scheduler", "nope"), LOST, LOST),
    Fault("queue_range_dup", row_like("QUEUE", "{P}|3-4", "{P}|3"), NONE, NONE),
    Fault("qos_global_only", _global_only, LOST, LOST),
    Fault("map_unknown", set_value(_MAP, "{P}", "dscp_to_tc_map", "NOPE"), LOST, LOST),
    Fault("tcq_missing", removed(_MAP, "{P}", "tc_to_queue_map"), LOST, LOST),
    Fault("tcq_table_missing", removed("TC_TO_QUEUE_MAP"), LOST, LOST),
    Fault("tc8", set_value(_DSCP, "AZURE", "26", "8"), OTHER, OTHER),
    Fault("tcq_tc8", set_value("TC_TO_QUEUE_MAP", "AZURE", "8", "3"), OTHER, OTHER),
    Fault("dscp64", set_value(_DSCP, "AZURE", "64", "1"), OTHER, OTHER),
    Fault("dscp_text", set_value(_DSCP, "AZURE", "26", "three"), LOST, LOST),
    Fault("dscp_missing", removed(_DSCP, "AZURE", "26"), LOST, LOST),
    Fault("tcpg_missing", removed("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3"), LOST, LOST),
    Fault("tcpg_8", set_value("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3", "8"), OTHER, OTHER),
    Fault("qosmap_listkey", _list_key, NOT_LEGAL, NOT_LEGAL),
    Fault("qosmap_unknown_port", added_row(_MAP, "Ethernet999", {"pfc_enable": "3,4"}), NOT_LEGAL, NOT_LEGAL),
    # PFC and its watchdog.
    Fault("pfc_missing", removed(_MAP, "{P}", "pfc_enable"), LOST, LOST),
    Fault("pfcwd_sw_missing", removed(_MAP, "{P}", "pfcwd_sw_enable"), LOST, LOST),
    Fault("pfc_space", set_value(_MAP, "{P}", "pfc_enable", "3, 4"), NOT_LEGAL, NOT_LEGAL),
    Fault("pfc_8", set_value(_MAP, "{P}", "pfc_enable", "3,8"), LOST, LOST),
    Fault("pfc_semicolon", set_value(_MAP, "{P}", "pfc_enable", "3;4"), LOST, LOST),
    Fault("pfc_no_pg", removed(_PG, "{P}|3-4"), KEPT, LOST),
    Fault("pfc_unused", _pfc_unused, NONE, NONE),
    Fault("unused_up", _unused_up, NONE, VALID),
    Fault("wd_mixed", _mixed("forward"), LOST, VALID),
    Fault("wd_alert", _mixed("alert"), LOST, VALID),
    Fault("wd_alert_all", _all_alert, VALID, VALID),
    Fault("wd_det_below_poll", set_value("PFC_WD", "{P}", "detection_time", "500"), NOT_LEGAL, NOT_LEGAL),
    Fault("wd_det_99", set_value("PFC_WD", "{P}", "detection_time", "99"), LOST, LOST),
    Fault("wd_norest", removed("PFC_WD", "{P}", "restoration_time"), LOST, LOST),
    Fault("wd_nodet", removed("PFC_WD", "{P}", "detection_time"), LOST, LOST),
    Fault("wd_noaction", _no_action, LOST, NONE),
    Fault("wd_field", set_value("PFC_WD", "{P}", "poll", "5"), LOST, LOST),
    Fault("wd_noglobal", removed("PFC_WD", "GLOBAL"), OTHER, OTHER),
    Fault("wd_poll_text", set_value("PFC_WD", "GLOBAL", "POLL_INTERVAL", "1s"), OTHER, OTHER),
    Fault("wd_brs", set_value("PFC_WD", "GLOBAL", "BIG_RED_SWITCH", "enable"), NOT_LEGAL, LOST),
    Fault("flex_nopfcwd", removed("FLEX_COUNTER_TABLE", "PFCWD"), NONE, NONE),
    Fault("flex_pfcwd_off", set_value("FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS", "disable"), LOST, LOST),
    Fault("flex_absent", removed("FLEX_COUNTER_TABLE"), NONE, NONE),
    # References in the old form.
    Fault("ref_pg", _bracketed(_PG, "{P}|0", ("profile", _PROFILE)), DEAD, DEAD),
    Fault("ref_pool", _bracketed(_PROFILE, "egress_lossy_profile", ("pool", _POOL)), DEAD, LOST),
    Fault("ref_map", _bracketed(_MAP, "{P}", ("dscp_to_tc_map", _DSCP)), LOST, LOST),
    Fault(
        "ref_queue",
        _bracketed("QUEUE", "{P}|3", ("scheduler", "SCHEDULER"), ("wred_profile", "WRED_PROFILE")),
        LOST,
        LOST,
    ),
    # Priority groups and queues.
    Fault("pg0_egress", set_value(_PG, "{P}|0", "profile", "egress_lossy_profile"), OTHER, DEAD),
    Fault("pg_unknown_profile", set_value(_PG, "{P}|0", "profile", "nope"), DEAD, DEAD),
    Fault("pg_index8", added_row(_PG, "{P}|8", {"profile": _LOSSY_PG}), DEAD, DEAD),
    Fault("pg3_lossy_beside", added_row(_PG, "{P}|3", {"profile": _LOSSY_PG}), OTHER, LOST),
    Fault("pg3_dup", row_like(_PG, "{P}|3", "{P}|3-4"), NONE, LOST),
    Fault("pg34_lossy", set_value(_PG, "{P}|3-4", "profile", _LOSSY_PG), KEPT, LOST),
    Fault("all_pg_dup", _all_lossy, OTHER, LOST),
    Fault("case_key", rekeyed(_PG, "{P}|3-4", "{p}|3-4"), KEPT, LOST),
    Fault("case_null", set_value(_PG, "{P}|3-4", "profile", "null"), None, LOST),
    Fault("space_profile", set_value(_PG, "{P}|0", "profile", f"{_LOSSY_PG} "), DEAD, DEAD),
    Fault("space_key", rekeyed(_PG, "{P}|3-4", "{P}| 3-4"), KEPT, LOST),
    Fault("range_comma", rekeyed(_PG, "{P}|3-4", "{P}|3,4"), KEPT, LOST),
    Fault("range_rev", rekeyed(_QUEUE, "{P}|3-4", "{P}|4-3"), DEAD, DEAD),
    Fault("queue3_dup", row_like(_QUEUE, "{P}|3", "{P}|0-2"), OTHER, OTHER),
    Fault("queue_ingress", set_value(_QUEUE, "{P}|3-4", "profile", _LOSSY_PG), OTHER, LOST),
    Fault("queue_noprofile", removed(_QUEUE, "{P}|3-4", "profile"), LOST, LOST),
    Fault("queue_unknown_profile", set_value(_QUEUE, "{P}|3-4", "profile", "nope"), LOST, LOST),
    Fault("queue_index40", row_like(_QUEUE, "{P}|40", "{P}|0-2"), DEAD, DEAD),
    Fault("queue_all_lossy", _all_queues, DEAD, DEAD),
    Fault("case_profile", _capital, DEAD, DEAD),
    Fault("list_egress", set_value(_LISTS, "{P}", "profile_list", "egress_lossless_profile"), OTHER, LOST),
    Fault("list_one", set_value(_LISTS, "{P}", "profile_list", _LOSSY_PG), OTHER, OTHER),
    Fault("list_missing", removed(_LISTS, "{P}"), None, LOST),
    Fault(
        "list_space",
        set_value(_LISTS, "{P}", "profile_list", "ingress_lossless_profile, ingress_lossy_profile"),
        None,
        LOST,
    ),
    # Pools and profiles.
    Fault("profile_unknown_pool", set_value(_PROFILE, _LOSSY_QUEUE, "pool", "nope"), DEAD, DEAD),
    Fault("profile_both_th", set_value(_PROFILE, _LOSSY_QUEUE, "static_th", "1000"), DEAD, DEAD),
    Fault("profile_no_th", removed(_PROFILE, _LOSSY_QUEUE, "dynamic_th"), DEAD, DEAD),
    Fault("profile_size_text", set_value(_PROFILE, _LOSSY_QUEUE, "size", "9k"), OTHER, OTHER),
    Fault("profile_pool_ingress", set_value(_PROFILE, _LOSSY_QUEUE, "pool", _IN), OTHER, DEAD),
    Fault("pool_no_type", removed(_POOL, _OUT, "type"), DEAD, LOST),
    Fault("pool_no_mode", removed(_POOL, _OUT, "mode"), NOT_LEGAL, LOST),
    Fault("pool_no_size", removed(_POOL, _OUT, "size"), DEAD, OTHER),
    Fault("pool_type_both", set_value(_POOL, _OUT, "type", "both"), OTHER, OTHER),
    Fault("pool_xoff_gt_size", set_value(_POOL, _IN, "xoff", "999999999"), OTHER, LOST),
    Fault("pool_missing", _missing_pool, DEAD, DEAD),
    Fault("no_xoff_pool", removed(_POOL, _IN, "xoff"), OTHER, None),
    Fault(
        "pool_static_xoff",
        both(set_value(_POOL, _IN, "xoff", "1000000"), set_value(_DEFAULT, "AZURE", "over_subscribe_ratio", "2")),
        None,
        OTHER,
    ),
    Fault("ingress_size", set_value(_POOL, _IN, "size", "1000000"), None, OTHER),
    Fault("dynth_8", set_value(_PROFILE, _LOSSY_QUEUE, "dynamic_th", "8"), OTHER, OTHER),
    Fault("dynth_m8", set_value(_PROFILE, _LOSSY_QUEUE, "dynamic_th", "-8"), OTHER, OTHER),
    Fault("dynth_7", set_value(_PROFILE, _LOSSY_QUEUE, "dynamic_th", "7"), OTHER, OTHER),
    Fault("dynth_m9", set_value(_PROFILE, _LOSSY_QUEUE, "dynamic_th", "-9"), OTHER, OTHER),
    Fault("dynth_99", set_value(_PROFILE, _LOSSY_QUEUE, "dynamic_th", "99"), OTHER, OTHER),
    Fault("th8_ingress", set_value(_PROFILE, _LOSSY_PG, "dynamic_th", "8"), OTHER, OTHER),
    Fault("trim_queue", set_value(_PROFILE, _LOSSY_QUEUE, "packet_discard_action", "trim"), OTHER, OTHER),
    Fault("trim_pg", set_value(_PROFILE, _LOSSY_PG, "packet_discard_action", "trim"), DEAD, DEAD),
    Fault("trim_value", set_value(_PROFILE, _LOSSY_QUEUE, "packet_discard_action", "shrink"), DEAD, DEAD),
    Fault(
        "trim_switch",
        added_row("SWITCH_TRIMMING", "GLOBAL", {"size": "200", "dscp_value": "46", "queue_index": "9"}),
        ELSEWHERE,  # the chip has one size, and later hops classify by the DSCP
        ELSEWHERE,
    ),
    Fault("own_static", _own(), KEPT, VALID),
    Fault("xon_gt_xoff", _own(xon="100000"), KEPT, LOST),
    Fault("size_lt_xoff", _own(size="1024"), KEPT, LOST),
    Fault("own_noxon", _own(xon=None), KEPT, DEAD),
    Fault("own_noxoff", _own(xoff=None), KEPT, LOST),
    Fault("own_nosize", _own(size=None), KEPT, DEAD),
    Fault(
        "own_hrdyn",
        both(_own(xon=None, xoff=None, size=None), set_value(_PROFILE, "own", "headroom_type", "dynamic")),
        KEPT,
        DEAD,
    ),
    Fault("sku_xoff", _sku_profile(xoff="100000"), OTHER, None),
    Fault("sku_xon", _sku_profile(xon="700000"), OTHER, None),
    Fault("sku_th8", _sku_profile(dynamic_th="8"), OTHER, None),
    Fault("sku_nosize", _sku_profile(size=None), LOST, None),
    Fault("sku_absent", _sku_absent, KEPT, None),
    # Parameters of the dynamic model, and the model.
    Fault("no_default_lossless", removed(_DEFAULT), None, DEAD),
    Fault("default_th_missing", removed(_DEFAULT, "AZURE", "default_dynamic_th"), None, DEAD),
    Fault("default_th8", set_value(_DEFAULT, "AZURE", "default_dynamic_th", "8"), None, OTHER),
    Fault("ratio_text", set_value(_DEFAULT, "AZURE", "over_subscribe_ratio", "two"), None, NOT_LEGAL),
    Fault("ratio_half", set_value(_DEFAULT, "AZURE", "over_subscribe_ratio", "0.5"), None, OTHER),
    Fault("ratio_neg", set_value(_DEFAULT, "AZURE", "over_subscribe_ratio", "-1"), None, OTHER),
    Fault("two_defaults", added_row(_DEFAULT, "OTHER", {"default_dynamic_th": "3"}), None, NONE),
    Fault("no_traffic_pattern", removed(_PATTERN), None, LOST),
    Fault("pattern_101", set_value(_PATTERN, "AZURE", "small_packet_percentage", "101"), None, OTHER),
    Fault("pattern_nomtu", removed(_PATTERN, "AZURE", "mtu"), None, LOST),
    Fault("model_swapped", _other_model, NOT_LEGAL, NOT_LEGAL),
    Fault("model_missing", removed(*_METADATA, "buffer_model"), NONE, NOT_LEGAL),
    Fault("platform_missing", removed(*_METADATA, "platform"), None, NOT_LEGAL),
    # Cables.
    Fault("two_cable_rows", set_value(_CABLE, "AZURE2", "{P}", "40m"), OTHER, LOST),
    Fault("cable_missing", removed(_CABLE, "{CABLES}", "{P}"), NOT_LEGAL, LOST),
    Fault("cable_0m", set_value(_CABLE, "{CABLES}", "{P}", "0m"), NOT_LEGAL, LOST),
    Fault("cable_4m", _longer_by_1m, NOT_LEGAL, NONE),
    Fault("cable_half", set_value(_CABLE, "{CABLES}", "{P}", "0.5m"), NOT_LEGAL, OTHER),
    Fault("cable_nounit", set_value(_CABLE, "{CABLES}", "{P}", "5"), NOT_LEGAL, DEAD),
    Fault("cable_space", set_value(_CABLE, "{CABLES}", "{P}", "5 m"), NOT_LEGAL, OTHER),
    Fault("cable_40km", set_value(_CABLE, "{CABLES}", "{P}", "40km"), NOT_LEGAL, DEAD),
    Fault("cable_2000", set_value(_CABLE, "{CABLES}", "{P}", "2000m"), NOT_LEGAL, VALID),
    # Ports.
    Fault("mtu20000", set_value("PORT", "{P}", "mtu", "20000"), DEAD, DEAD),
    Fault("mtu60", set_value("PORT", "{P}", "mtu", "60"), DEAD, DEAD),
    Fault("mtu_1500", set_value("PORT", "{P}", "mtu", "1500"), ELSEWHERE, ELSEWHERE),
    Fault("mtu_missing", removed("PORT", "{P}", "mtu"), NONE, NONE),
    Fault("lanes_doubled", _next_port("lanes"), DEAD, DEAD),
    Fault("lanes_unknown", set_value("PORT", "{P}", "lanes", "9001,9002,9003,9004"), LOST, LOST),
    Fault("lanes_missing", removed("PORT", "{P}", "lanes"), DEAD, DEAD),
    Fault("speed123", set_value("PORT", "{P}", "speed", "123"), OTHER, OTHER),
    Fault("speed800", set_value("PORT", "{P}", "speed", "800000"), OTHER, OTHER),
    Fault("speed850", set_value("PORT", "{P}", "speed", "850000"), OTHER, OTHER),
    Fault("speed_text", set_value("PORT", "{P}", "speed", "400G"), DEAD, DEAD),
    Fault("speed_missing", removed("PORT", "{P}", "speed"), DEAD, DEAD),
    Fault("fec_unknown", set_value("PORT", "{P}", "fec", "turbo"), DEAD, DEAD),
    Fault("fec_missing", removed("PORT", "{P}", "fec"), LOST, LOST),
    Fault("alias_dup", _next_port("alias"), ELSEWHERE, ELSEWHERE),
    Fault("admin_missing", removed("PORT", "{P}", "admin_status"), LOST, LOST),
    Fault("admin_UP", set_value("PORT", "{P}", "admin_status", "UP"), DEAD, DEAD),
    Fault("autoneg_true", set_value("PORT", "{P}", "autoneg", "true"), DEAD, DEAD),
    Fault("port_field", set_value("PORT", "{P}", "foo", "1"), NOT_LEGAL, NOT_LEGAL),
    # The switch.
    Fault("type_leaf", set_value(*_METADATA, "type", "LeafRouter"), ELSEWHERE, ELSEWHERE),
    Fault("type_spine", set_value(*_METADATA, "type", "SpineRouter"), ELSEWHERE, ELSEWHERE),
    Fault("type_bad", set_value(*_METADATA, "type", "Leaf"), NOT_LEGAL, NOT_LEGAL),
    Fault("hash_field", set_value("SWITCH_HASH", "GLOBAL", "ecmp_hash", ["DST_IP", "FOO"]), NOT_LEGAL, LOST),
    Fault("hash_algo", set_value("SWITCH_HASH", "GLOBAL", "ecmp_hash_algorithm", "MD5"), NOT_LEGAL, LOST),
    Fault("hash_ok", set_value("SWITCH_HASH", "GLOBAL", "ecmp_hash", ["DST_IP", "SRC_IP"]), ELSEWHERE, ELSEWHERE),
)
# Not faults of a file: what the SAI reports about the chip.
OF_THE_CHIP = {"maxhr_small", "maxhr_ok", "no_mmu"}
