"""Kinds of faults of classes, queues, buffers and the watchdog: see faults.py."""

from collections.abc import Callable

from benchmarks.fault_changes import (
    Change,
    Scene,
    Tables,
    Where,
    both,
    drop,
    has,
    if_has,
    kinds,
    named,
    put,
    rows,
    scale,
    swap,
    with_field,
)

_WRED = "WRED_PROFILE"
_GREEN = ("green_min_threshold", "green_max_threshold")
_IS_WRED = with_field("green_max_threshold")


def _thresholds(least: str, most: str) -> Change:
    colors = ("green", "yellow", "red")
    values = {f"{color}_{name}_threshold": text for color in colors for name, text in (("min", least), ("max", most))}

    def change(_: Scene, tables: Tables) -> None:
        for _key, row in rows(tables, _WRED):
            row.update({name: text for name, text in values.items() if name in row})

    return change


def _of_queues(numbers: Callable[[Scene], tuple[int, ...]], change: Callable[[dict[str, str]], object]) -> Change:
    def changed(scene: Scene, tables: Tables) -> None:
        wanted = {str(number) for number in numbers(scene)}
        for key, row in rows(tables, "QUEUE"):
            if key.rpartition("|")[2] in wanted:
                change(row)

    return changed


def _lossless_queues(scene: Scene) -> tuple[int, ...]:
    return scene.lossless


def _map(table: str, wanted: Callable[[Scene], dict[str, str]]) -> Change:
    def change(scene: Scene, tables: Tables) -> None:
        for _key, row in rows(tables, table):
            row.update({key: value for key, value in wanted(scene).items() if key in row})

    return change


def _roce_dscps(value: str) -> Callable[[Scene], dict[str, str]]:
    return lambda scene: {
        str(dscp): value for dscps in ((scene.plane and scene.plane.roce_dscp) or {}).values() for dscp in dscps
    }


def _first(value: str) -> Callable[[Scene], dict[str, str]]:
    return lambda scene: {str(scene.lossless[0]): value} if scene.lossless else {}


def _cnp(value: str) -> Callable[[Scene], dict[str, str]]:
    return lambda scene: {str(scene.plane.cnp_dscp): value} if scene.plane and scene.plane.cnp_dscp else {}


def _shifted(_: Scene, tables: Tables) -> None:
    """Each DSCP gets the class of the next one."""
    for _key, row in rows(tables, "DSCP_TO_TC_MAP"):
        row.update({dscp: tables["DSCP_TO_TC_MAP"][_key][str((int(dscp) + 1) % 64)] for dscp in dict(row)})


def _azure(_: Scene, tables: Tables) -> None:
    """SONiC's own default map, with other DSCP values for the lossless classes."""
    own = {3: "3", 4: "4", 5: "2", 8: "0", 46: "5", 48: "6"}
    for _key, row in rows(tables, "DSCP_TO_TC_MAP"):
        row.update({dscp: own.get(int(dscp), "1") for dscp in row})


def _rewriting(scene: Scene, tables: Tables) -> None:
    if scene.lossless:
        tables["TC_TO_DSCP_MAP"] = {"AZURE": {str(tc): str(tc * 8 + 1) for tc in range(8)}}
        put("PORT_QOS_MAP", lambda key, _: key != "global", tc_to_dscp_map="AZURE")(scene, tables)


def _swapped_weights(_: Scene, tables: Tables) -> None:
    weighted = sorted(
        (row for _key, row in rows(tables, "SCHEDULER", with_field("weight"))), key=lambda row: int(row["weight"])
    )
    if len(weighted) > 1:
        weighted[0]["weight"], weighted[-1]["weight"] = weighted[-1]["weight"], weighted[0]["weight"]


def _starved(scene: Scene, tables: Tables) -> None:
    names = {row.get("scheduler") for key, row in rows(tables, "QUEUE") if int(key[-1]) in scene.lossless}
    for key, row in rows(tables, "SCHEDULER", with_field("weight")):
        row["weight"] = "1" if key in names else "100"


def _second(table: str, profile: str) -> Change:
    """A lossy row for one lossless class beside the row that covers it."""

    def change(scene: Scene, tables: Tables) -> None:
        for key, row in rows(tables, table):
            port, _, rest = key.partition("|")
            first, _, last = rest.partition("-")
            if last and int(first) in scene.lossless and int(last) in scene.lossless:
                tables[table][f"{port}|{first}"] = {**row, "profile": profile}

    return change


def _second_queue(scene: Scene, tables: Tables) -> None:
    for key, _row in rows(tables, "QUEUE"):
        port, _, rest = key.partition("|")
        if rest.isdecimal() and scene.lossless[:1] == (int(rest),):
            tables["QUEUE"][f"{port}|{rest}-{int(rest) + 1}"] = {"scheduler": "LOSSY"}


def _second_cable_row(_: Scene, tables: Tables) -> None:
    for _key, row in rows(tables, "CABLE_LENGTH"):
        tables["CABLE_LENGTH"]["OTHER"] = dict.fromkeys(row, "5m" if "40m" in row.values() else "40m")


def _profile_for(old: str, new: str) -> Change:
    def change(_: Scene, tables: Tables) -> None:
        for _key, row in rows(tables, "BUFFER_PG"):
            if str(row.get("profile")).startswith("pg_lossless"):
                row["profile"] = str(row["profile"]).replace(old, new)

    return change


def _only_lossy_list(_: Scene, tables: Tables) -> None:
    for table in ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"):
        for _key, row in rows(tables, table):
            row["profile_list"] = ",".join(one for one in row["profile_list"].split(",") if "lossless" not in one)


def _is_lossless_group(scene: Scene) -> Where:
    return lambda key, _: any(str(priority) in key.partition("|")[2] for priority in scene.lossless)


def _lossy_groups(scene: Scene, tables: Tables) -> None:
    put("BUFFER_PG", _is_lossless_group(scene), profile="ingress_lossy_profile")(scene, tables)


def _without(table: str) -> Change:
    def change(scene: Scene, tables: Tables) -> None:
        drop(table, where=_is_lossless_group(scene))(scene, tables)

    return change


def _lossless(scene: Scene) -> object:
    return scene.lossless


KINDS = [
    *kinds(
        _WRED,
        _lossless,
        wred_0_0=_thresholds("0", "0"),
        wred_1_2_bytes=_thresholds("1", "2"),
        wred_one_packet=_thresholds("1500", "3000"),
        wred_in_kilobytes=scale(_WRED, 1 / 1024, *_GREEN),
        wred_by_100=scale(_WRED, 1 / 100, *_GREEN),
        wred_times_100=scale(_WRED, 100, *_GREEN),
        wred_times_1000=scale(_WRED, 1000, *_GREEN),
        wred_max_times_100=scale(_WRED, 100, "green_max_threshold"),
        wred_swapped=swap(_WRED, *_GREEN),
        wred_probability_0=put(_WRED, _IS_WRED, green_drop_probability="0"),
        wred_ecn_none=put(_WRED, _IS_WRED, ecn="ecn_none"),
        wred_ecn_red=put(_WRED, _IS_WRED, ecn="ecn_red"),
        wred_green_off=put(_WRED, _IS_WRED, wred_green_enable="false"),
        wred_without_ecn=drop(_WRED, "ecn"),
        wred_without_thresholds=drop(_WRED, *_GREEN),
    ),
    *kinds(
        "QUEUE WRED_PROFILE",
        _lossless,
        queue_without_wred=_of_queues(_lossless_queues, lambda row: row.pop("wred_profile", "")),
        wred_on_lossy_queues=_of_queues(
            lambda scene: tuple(n for n in range(8) if n not in scene.lossless),
            lambda row: row.update(wred_profile="LOSSLESS_400G"),
        ),
    ),
    *kinds(
        "SCHEDULER QUEUE",
        _lossless,
        weights_swapped=_swapped_weights,
        weights_1_to_100=_starved,
        weights_0=put("SCHEDULER", with_field("weight"), weight="0"),
        scheduler_lossless_strict=put("SCHEDULER", named("LOSSLESS"), type="STRICT"),
        scheduler_all_strict=put("SCHEDULER", type="STRICT"),
        scheduler_cnp_by_weight=put("SCHEDULER", named("STRICT"), type="DWRR", weight="5"),
        scheduler_by_packets=put("SCHEDULER", with_field("weight"), meter_type="packets"),
        scheduler_rate_in_mbps=put("SCHEDULER", named("LOSSLESS"), cir="400000", pir="400000", meter_type="bytes"),
        scheduler_rate_of_lossless=put(
            "SCHEDULER", named("LOSSLESS"), cir="1250000000", pir="1250000000", meter_type="bytes"
        ),
        scheduler_rate_of_cnps=put("SCHEDULER", named("STRICT"), cir="1000", pir="1000", meter_type="bytes"),
        queues_swapped=_of_queues(_lossless_queues, lambda row: row.update(scheduler="LOSSY")),
        cnps_in_lossy_scheduler=_of_queues(lambda _: (6,), lambda row: row.update(scheduler="LOSSY")),
        queue_rows_missing=drop("QUEUE"),
        second_queue_row=_second_queue,
    ),
    *kinds(
        "DSCP_TO_TC_MAP PORT_QOS_MAP",
        _lossless,
        roce_to_best_effort=_map("DSCP_TO_TC_MAP", _roce_dscps("0")),
        roce_to_cnp_class=_map("DSCP_TO_TC_MAP", _roce_dscps("6")),
        dscp_off_by_one=_shifted,
        dscp_of_sonics_default=_azure,
        cnp_to_lossless=_map("DSCP_TO_TC_MAP", lambda scene: dict.fromkeys(_cnp("")(scene), str(scene.lossless[0]))),
        cnp_to_best_effort=_map("DSCP_TO_TC_MAP", _cnp("0")),
        all_dscp_lossless=lambda scene, tables: _map(
            "DSCP_TO_TC_MAP", lambda scene: {str(dscp): str(scene.lossless[0]) for dscp in range(64)}
        )(scene, tables),
        ports_without_dscp_map=drop("PORT_QOS_MAP", "dscp_to_tc_map"),
    ),
    *kinds(
        "PORT_QOS_MAP TC_TO_DSCP_MAP",
        _lossless,
        roce_dscp_rewritten=_rewriting,
        dot1p_trust=put("PORT_QOS_MAP", lambda key, _: key != "global", dot1p_to_tc_map="AZURE"),
        pfc_on_another_class=put("PORT_QOS_MAP", with_field("pfc_enable"), pfc_enable="2", pfcwd_sw_enable="2"),
        pfc_on_all_classes=put("PORT_QOS_MAP", with_field("pfc_enable"), pfc_enable="0,1,2,3,4,5,6,7"),
        pfc_off=drop("PORT_QOS_MAP", "pfc_enable"),
        watchdog_mask_missing=drop("PORT_QOS_MAP", "pfcwd_sw_enable"),
        watchdog_mask_of_another_class=put("PORT_QOS_MAP", with_field("pfc_enable"), pfcwd_sw_enable="2"),
        ports_without_maps=drop("PORT_QOS_MAP"),
    ),
    *kinds("TC_TO_QUEUE_MAP", _lossless, class_in_another_queue=_map("TC_TO_QUEUE_MAP", _first("2"))),
    *kinds("TC_TO_PRIORITY_GROUP_MAP", _lossless, class_in_lossy_group=_map("TC_TO_PRIORITY_GROUP_MAP", _first("0"))),
    *kinds(
        "TC_TO_PRIORITY_GROUP_MAP",
        _lossless,
        all_classes_in_lossless_group=lambda scene, tables: put(
            "TC_TO_PRIORITY_GROUP_MAP", None, **dict.fromkeys(map(str, range(8)), str(scene.lossless[0]))
        )(scene, tables),
    ),
    *kinds(
        "MAP_PFC_PRIORITY_TO_QUEUE", _lossless, pfc_stops_another_queue=_map("MAP_PFC_PRIORITY_TO_QUEUE", _first("2"))
    ),
    *kinds(
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
        _lossless,
        pfc_of_another_group=_map("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", _first("2")),
    ),
    *kinds(
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
        _lossless,
        alpha_minus_8=put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", default_dynamic_th="-8"),
        alpha_minus_6=put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", default_dynamic_th="-6"),
        oversubscription_8=put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", over_subscribe_ratio="8"),
        oversubscription_100=put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", over_subscribe_ratio="100"),
        lossless_parameter_missing=drop("DEFAULT_LOSSLESS_BUFFER_PARAMETER"),
    ),
    *kinds(
        "LOSSLESS_TRAFFIC_PATTERN",
        _lossless,
        lossless_mtu_64=put("LOSSLESS_TRAFFIC_PATTERN", mtu="64"),
        lossless_mtu_1024=put("LOSSLESS_TRAFFIC_PATTERN", mtu="1024"),
        traffic_pattern_missing=drop("LOSSLESS_TRAFFIC_PATTERN"),
    ),
    *kinds(
        "BUFFER_POOL",
        _lossless,
        pool_in_kilobytes=scale("BUFFER_POOL", 1 / 1024, "size"),
        pool_times_10=scale("BUFFER_POOL", 10, "size"),
        pool_xoff_by_100=scale("BUFFER_POOL", 1 / 100, "xoff"),
        pool_without_xoff=drop("BUFFER_POOL", "xoff"),
        pool_static=put("BUFFER_POOL", has(mode="dynamic"), mode="static"),
        pool_egress=put("BUFFER_POOL", has(type="ingress"), type="egress"),
    ),
    *kinds(
        "BUFFER_PROFILE BUFFER_PG",
        _lossless,
        headroom_by_10=scale("BUFFER_PROFILE", 0.1, "xoff"),
        headroom_in_kilobytes=scale("BUFFER_PROFILE", 1 / 1024, "xoff", "xon"),
        xon_times_100=scale("BUFFER_PROFILE", 100, "xon"),
        alpha_of_groups_minus_8=put("BUFFER_PROFILE", named("pg_lossless", "ingress_lossless"), dynamic_th="-8"),
        alpha_of_all_3=put("BUFFER_PROFILE", with_field("dynamic_th"), dynamic_th="3"),
        egress_limit_by_100=scale("BUFFER_PROFILE", 1 / 100, "static_th"),
        egress_alpha_minus_8=put("BUFFER_PROFILE", named("egress_lossless"), dynamic_th="-8"),
        lossy_profile_in_lossless_pool=put(
            "BUFFER_PROFILE", named("egress_lossy", "q_lossy"), pool="ingress_lossless_pool"
        ),
        trimming_of_lossless=put("BUFFER_PROFILE", named("egress_lossless"), packet_discard_action="trim"),
        trimming_everywhere=put("BUFFER_PROFILE", packet_discard_action="trim"),
    ),
    *kinds(
        "BUFFER_PG BUFFER_PROFILE",
        _lossless,
        headroom_of_short_cable=_profile_for("_40m_", "_5m_"),
        headroom_of_slower_speed=_profile_for("_400000_", "_100000_"),
        lossless_groups_lossy=_lossy_groups,
        lossless_groups_missing=_without("BUFFER_PG"),
        all_groups_missing=drop("BUFFER_PG"),
        second_group_row=_second("BUFFER_PG", "ingress_lossy_profile"),
        groups_with_egress_profile=put("BUFFER_PG", lambda key, _: key.endswith("|0"), profile="egress_lossy_profile"),
        groups_static_null=if_has(
            "BUFFER_PG", put("BUFFER_PG", lambda _, row: str(row.get("profile")).startswith("pg_"), profile="NULL")
        ),
    ),
    *kinds(
        "BUFFER_QUEUE",
        _lossless,
        lossless_queues_lossy=put(
            "BUFFER_QUEUE", has(profile="egress_lossless_profile"), profile="egress_lossy_profile"
        ),
        lossy_queues_lossless=put("BUFFER_QUEUE", profile="egress_lossless_profile"),
        buffer_queues_missing=drop("BUFFER_QUEUE"),
        second_buffer_queue_row=_second("BUFFER_QUEUE", "egress_lossy_profile"),
        queues_with_ingress_profile=put("BUFFER_QUEUE", profile="ingress_lossy_profile"),
    ),
    *kinds(
        "BUFFER_PORT_INGRESS_PROFILE_LIST BUFFER_PORT_EGRESS_PROFILE_LIST",
        _lossless,
        profile_lists_lossy=_only_lossy_list,
        profile_lists_missing=both(drop("BUFFER_PORT_INGRESS_PROFILE_LIST"), drop("BUFFER_PORT_EGRESS_PROFILE_LIST")),
    ),
    *kinds(
        "CABLE_LENGTH",
        _lossless,
        cable_times_10=scale("CABLE_LENGTH", 10),
        cable_times_3=scale("CABLE_LENGTH", 3.28),
        cable_by_10=scale("CABLE_LENGTH", 0.1),
        cable_0m=scale("CABLE_LENGTH", 0),
        cable_rows_missing=drop("CABLE_LENGTH"),
        second_cable_row=_second_cable_row,
    ),
    *kinds(
        "PFC_WD",
        _lossless,
        watchdog_alert=put("PFC_WD", with_field("action"), action="alert"),
        watchdog_100_ms=put("PFC_WD", with_field("action"), detection_time="100", restoration_time="100"),
        watchdog_5000_ms=put("PFC_WD", with_field("action"), detection_time="5000", restoration_time="5000"),
        watchdog_restores_early=put("PFC_WD", with_field("action"), detection_time="2000", restoration_time="1000"),
        watchdog_restores_after_a_minute=put("PFC_WD", with_field("action"), restoration_time="60000"),
        watchdog_without_restoration=drop("PFC_WD", "restoration_time"),
        watchdog_poll_100_ms=put("PFC_WD", named("GLOBAL"), POLL_INTERVAL="100"),
        watchdog_poll_missing=drop("PFC_WD", where=named("GLOBAL")),
        watchdog_missing=drop("PFC_WD", where=with_field("action")),
    ),
    *kinds(
        "FLEX_COUNTER_TABLE",
        _lossless,
        counters_every_1_ms=put("FLEX_COUNTER_TABLE", POLL_INTERVAL="1"),
        counters_every_10_ms=put("FLEX_COUNTER_TABLE", named("QUEUE", "PORT"), POLL_INTERVAL="10"),
        counters_disabled=put("FLEX_COUNTER_TABLE", FLEX_COUNTER_STATUS="disable"),
        watchdog_counter_disabled=put("FLEX_COUNTER_TABLE", named("PFCWD"), FLEX_COUNTER_STATUS="disable"),
        counters_missing=drop("FLEX_COUNTER_TABLE"),
    ),
    *kinds(
        "DEVICE_METADATA",
        _lossless,
        other_buffer_model=lambda scene, tables: put(
            "DEVICE_METADATA",
            buffer_model="traditional"
            if tables["DEVICE_METADATA"]["localhost"]["buffer_model"] == "dynamic"
            else "dynamic",
        )(scene, tables),
        buffer_model_missing=drop("DEVICE_METADATA", "buffer_model", where=has(buffer_model="dynamic")),
    ),
]
