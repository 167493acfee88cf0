"""Further kinds of faults of classes, buffers, the watchdog and of what stops a switch: see faults.py."""

from collections.abc import Callable

from benchmarks.fault_changes import (
    Change,
    Scene,
    Tables,
    Where,
    add,
    both,
    drop,
    has,
    if_has,
    kinds,
    named,
    put,
    rows,
    scale,
    with_field,
)

_GREEN = ("green_min_threshold", "green_max_threshold")
_COLORS = tuple(f"{color}_{end}_threshold" for color in ("green", "yellow", "red") for end in ("min", "max"))


def _lossless(scene: Scene) -> object:
    return scene.lossless


def _several(scene: Scene) -> object:
    return len(scene.lossless) > 1


def _moved_rows(table: str, by: int) -> Change:
    """The rows of lossless groups or queues are for classes next to them."""

    def change(scene: Scene, tables: Tables) -> None:
        for key, row in rows(tables, table):
            port, _, rest = key.partition("|")
            numbers = [int(number) for number in rest.split("-")]
            if set(numbers) <= set(scene.lossless):
                del tables[table][key]
                tables[table][f"{port}|{'-'.join(str(number + by) for number in numbers)}"] = row

    return change


def _narrowed(table: str) -> Change:
    """The rows of several lossless classes are for the first one only."""

    def change(_scene: Scene, tables: Tables) -> None:
        for key, row in rows(tables, table):
            port, _, rest = key.partition("|")
            if rest == "3-4":
                del tables[table][key]
                tables[table][f"{port}|3"] = row

    return change


def _widened(table: str) -> Change:
    """The rows of the lossless classes are for all classes."""

    def change(scene: Scene, tables: Tables) -> None:
        for key, row in rows(tables, table):
            port, _, rest = key.partition("|")
            if {int(number) for number in rest.split("-")} <= set(scene.lossless):
                tables[table] = {
                    name: value for name, value in tables[table].items() if not name.startswith(f"{port}|")
                } | {f"{port}|0-7": row}

    return change


def _of_ports(table: str, switches: bool, field: str = "") -> Change:
    """The rows (or a field of them) are missing at the ports to switches, or at those to hosts."""

    def change(scene: Scene, tables: Tables) -> None:
        for key, row in rows(tables, table):
            port = key.partition("|")[0]
            if port in scene.far and (port in scene.switch_ports) == switches:
                if field:
                    row.pop(field, None)
                else:
                    del tables[table][key]

    return change


def _cables(change_row: Callable[[Scene, dict[str, str]], object]) -> Change:
    def change(scene: Scene, tables: Tables) -> None:
        for _key, row in rows(tables, "CABLE_LENGTH"):
            change_row(scene, row)

    return change


def _swapped_cables(_: Scene, row: dict[str, str]) -> None:
    """The ports to switches and those to hosts have each other's length."""
    lengths = sorted(set(row.values()))
    if len(lengths) > 1:
        row.update({port: lengths[0] if text == lengths[-1] else lengths[-1] for port, text in dict(row).items()})


def _half_of_cables(_: Scene, row: dict[str, str]) -> None:
    for port in sorted(row)[::2]:
        del row[port]


def _shaped(_: Scene, tables: Tables) -> None:
    """Each port is limited to 1 Gbit/s."""
    tables.setdefault("SCHEDULER", {})["SHAPED"] = {"type": "DWRR", "weight": "1", "pir": "125000000"}
    put("PORT_QOS_MAP", with_field("pfc_enable"), scheduler="SHAPED")(_, tables)


def _rewritten_cnp(scene: Scene, tables: Tables) -> None:
    if scene.plane and scene.plane.cnp_dscp:
        dscps = {str(tc): str(tc * 8) for tc in range(8)}
        for priority, own in (scene.plane.roce_dscp or {}).items():
            dscps[priority] = str(own[0])
        tables["TC_TO_DSCP_MAP"] = {"AZURE": {**dscps, "6": "0"}}
        put("PORT_QOS_MAP", with_field("pfc_enable"), tc_to_dscp_map="AZURE")(scene, tables)


def _mixed(values: tuple[str, str], table: str, field: str) -> Change:
    """Every second row has the other value."""

    def change(_: Scene, tables: Tables) -> None:
        for number, (_key, row) in enumerate(rows(tables, table, with_field(field))):
            row[field] = values[number % 2]

    return change


def _no_entry(scene: Scene, tables: Tables) -> None:
    for _key, row in rows(tables, "DSCP_TO_TC_MAP"):
        for dscps in ((scene.plane and scene.plane.roce_dscp) or {}).values():
            for dscp in dscps:
                row.pop(str(dscp), None)


def _renamed(table: str) -> Change:
    def change(_: Scene, tables: Tables) -> None:
        for key, row in rows(tables, table):
            del tables[table][key]
            tables[table][f"{key}2"] = row

    return change


def _swapped_lists(_: Scene, tables: Tables) -> None:
    one, other = "BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"
    if tables.get(one) and tables.get(other):
        tables[one], tables[other] = tables[other], tables[one]


def _lossless_first(scene: Scene, **values: str) -> dict[str, str]:
    return {name: text.replace("{Q}", str(scene.lossless[0])) for name, text in values.items()}


def _trimming(**values: str) -> Change:
    def change(scene: Scene, tables: Tables) -> None:
        dscp = next(iter(((scene.plane and scene.plane.roce_dscp) or {}).values()), (26,))[0]
        row = {name: text.replace("{DSCP}", str(dscp)) for name, text in _lossless_first(scene, **values).items()}
        tables["SWITCH_TRIMMING"] = {"GLOBAL": row}

    return change


def _first_wired(change_row: Callable[[dict[str, str]], object]) -> Change:
    """One port with a cable is wrong on every switch."""

    def change(scene: Scene, tables: Tables) -> None:
        port = next((port for port in tables["PORT"] if port in scene.far), "")
        if port:
            change_row(tables["PORT"][port])

    return change


def _is_pg(scene: Scene) -> Where:
    return lambda key, _: any(str(number) in key.partition("|")[2] for number in scene.lossless)


KINDS = [
    *kinds(
        "WRED_PROFILE QUEUE",
        _lossless,
        wred_above_31_bits=put("WRED_PROFILE", None, **dict.fromkeys(_COLORS, "2147483648")),
        wred_min_0=put("WRED_PROFILE", green_min_threshold="0"),
        wred_above_the_pool=put("WRED_PROFILE", green_min_threshold="400000000", green_max_threshold="500000000"),
        wred_probability_101=put("WRED_PROFILE", green_drop_probability="101"),
        wred_row_renamed=_renamed("WRED_PROFILE"),
        wred_missing=both(
            drop("WRED_PROFILE"), lambda _, tables: [row.pop("wred_profile", "") for row in tables["QUEUE"].values()]
        ),
        wred_on_cnp_queue=put("QUEUE", lambda key, _: key.endswith("|6"), wred_profile="LOSSLESS_400G"),
    ),
    *kinds(
        "SCHEDULER QUEUE PORT_QOS_MAP",
        _lossless,
        weights_200=put("SCHEDULER", with_field("weight"), weight="200"),
        scheduler_with_priority=put("SCHEDULER", with_field("weight"), priority="5"),
        scheduler_drr=put("SCHEDULER", with_field("weight"), type="DRR"),
        ports_shaped=_shaped,
        scheduler_rows_renamed=_renamed("SCHEDULER"),
        queue_row_of_all_queues=lambda _, tables: [
            tables["QUEUE"].update({f"{port}|0-7": {"scheduler": "LOSSY"}})
            for port in {key.partition("|")[0] for key in tables["QUEUE"]}
        ],
        lossless_queue_rows_missing=lambda scene, tables: drop(
            "QUEUE", where=lambda key, _: key.endswith(f"|{scene.lossless[0]}")
        )(scene, tables),
        queues_of_switch_links_missing=_of_ports("QUEUE", True),
    ),
    *kinds(
        "DSCP_TO_TC_MAP PORT_QOS_MAP TC_TO_DSCP_MAP TC_TO_QUEUE_MAP",
        _lossless,
        roce_without_entry=_no_entry,
        dscp_map_renamed=_renamed("DSCP_TO_TC_MAP"),
        class_8=put("DSCP_TO_TC_MAP", None, **{"26": "8"}),
        cnp_dscp_rewritten=_rewritten_cnp,
        maps_of_host_ports_missing=_of_ports("PORT_QOS_MAP", False),
        maps_of_switch_links_missing=_of_ports("PORT_QOS_MAP", True),
        dscp_map_of_host_ports_missing=both(
            _of_ports("PORT_QOS_MAP", False, "dscp_to_tc_map"), drop("PORT_QOS_MAP", where=named("global"))
        ),
        queue_map_missing=drop("PORT_QOS_MAP", "tc_to_queue_map"),
        group_map_missing=drop("PORT_QOS_MAP", "tc_to_pg_map"),
        pfc_map_missing=drop("PORT_QOS_MAP", "pfc_to_queue_map"),
        pfc_also_of_cnps=put("PORT_QOS_MAP", with_field("pfc_enable"), pfc_enable="3,4,6", pfcwd_sw_enable="3,4,6"),
        pfc_of_host_ports_off=_of_ports("PORT_QOS_MAP", False, "pfc_enable"),
        pfc_of_switch_links_off=_of_ports("PORT_QOS_MAP", True, "pfc_enable"),
        pfc_of_class_0=put("PORT_QOS_MAP", with_field("pfc_enable"), pfc_enable="0", pfcwd_sw_enable="0"),
        queues_reversed=lambda _, tables: [
            row.update({tc: str(7 - int(tc)) for tc in dict(row)}) for row in tables["TC_TO_QUEUE_MAP"].values()
        ],
    ),
    *kinds(
        "PORT_QOS_MAP",
        _several,
        pfc_of_one_class_only=put("PORT_QOS_MAP", with_field("pfc_enable"), pfc_enable="3"),
        watchdog_of_one_class_only=put("PORT_QOS_MAP", with_field("pfc_enable"), pfcwd_sw_enable="3"),
    ),
    *kinds(
        "SWITCH_TRIMMING BUFFER_PROFILE",
        _lossless,
        trimming_to_lossless_queue=_trimming(size="256", dscp_value="48", queue_index="{Q}"),
        trimming_to_roce_dscp=_trimming(size="256", dscp_value="{DSCP}", queue_index="6"),
    ),
    *kinds(
        "PFC_WD",
        _lossless,
        watchdog_forward_and_drop=_mixed(("drop", "forward"), "PFC_WD", "action"),
        watchdog_alert_on_half=_mixed(("drop", "alert"), "PFC_WD", "action"),
        watchdog_times_0=put("PFC_WD", with_field("action"), detection_time="0", restoration_time="0"),
        watchdog_times_in_us=put("PFC_WD", with_field("action"), detection_time="200000", restoration_time="200000"),
        watchdog_poll_above_detection=put("PFC_WD", named("GLOBAL"), POLL_INTERVAL="3000"),
        watchdog_big_red_switch=put("PFC_WD", named("GLOBAL"), BIG_RED_SWITCH="enable"),
        watchdog_of_switch_links_missing=_of_ports("PFC_WD", True),
        watchdog_of_host_ports_missing=_of_ports("PFC_WD", False),
        watchdog_without_detection=drop("PFC_WD", "detection_time"),
    ),
    *kinds(
        "CABLE_LENGTH",
        _lossless,
        cables_without_unit=_cables(lambda _, row: row.update({port: text.rstrip("m") for port, text in row.items()})),
        cables_in_feet=_cables(lambda _, row: row.update({port: f"{text[:-1]}ft" for port, text in row.items()})),
        cables_in_km=_cables(lambda _, row: row.update({port: f"{text[:-1]}km" for port, text in row.items()})),
        cables_of_switches_and_hosts_swapped=_cables(_swapped_cables),
        cables_of_half_missing=_cables(_half_of_cables),
        cables_300m=_cables(lambda _, row: row.update(dict.fromkeys(row, "300m"))),
        cables_5m=_cables(lambda _, row: row.update(dict.fromkeys(row, "5m"))),
    ),
    *kinds(
        "LOSSLESS_TRAFFIC_PATTERN DEFAULT_LOSSLESS_BUFFER_PARAMETER",
        _lossless,
        small_packets_150=put("LOSSLESS_TRAFFIC_PATTERN", small_packet_percentage="150"),
        small_packets_0=put("LOSSLESS_TRAFFIC_PATTERN", small_packet_percentage="0"),
        small_packets_missing=drop("LOSSLESS_TRAFFIC_PATTERN", "small_packet_percentage"),
        alpha_9=put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", default_dynamic_th="9"),
        alpha_missing=drop("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "default_dynamic_th"),
        alpha_in_percent=put("DEFAULT_LOSSLESS_BUFFER_PARAMETER", default_dynamic_th="50"),
    ),
    *kinds(
        "BUFFER_PG BUFFER_QUEUE BUFFER_PROFILE",
        _lossless,
        groups_one_class_too_far=_moved_rows("BUFFER_PG", 1),
        groups_one_class_too_low=_moved_rows("BUFFER_PG", -1),
        buffer_queues_one_class_too_far=_moved_rows("BUFFER_QUEUE", 1),
        all_groups_lossless=_widened("BUFFER_PG"),
        all_buffer_queues_lossless=_widened("BUFFER_QUEUE"),
        groups_of_switch_links_missing=_of_ports("BUFFER_PG", True),
        groups_of_host_ports_missing=_of_ports("BUFFER_PG", False),
        groups_without_profile=lambda scene, tables: [
            row.pop("profile", "") for _key, row in rows(tables, "BUFFER_PG", _is_pg(scene))
        ],
        headroom_times_10=scale("BUFFER_PROFILE", 10, "xoff", "size"),
        headroom_0=put("BUFFER_PROFILE", with_field("xoff"), xoff="0"),
        egress_alpha_0=put(
            "BUFFER_PROFILE", lambda key, row: "egress_lossless" in key and "dynamic_th" in row, dynamic_th="0"
        ),
        both_thresholds=put("BUFFER_PROFILE", with_field("dynamic_th"), static_th="16777152"),
        profile_without_pool=drop("BUFFER_PROFILE", "pool"),
        profile_without_threshold=drop("BUFFER_PROFILE", "dynamic_th", "static_th"),
        lossy_reserves_much=put("BUFFER_PROFILE", named("egress_lossy", "q_lossy"), size="9216000"),
        old_references=lambda _, tables: [
            row.update(pool=f"[BUFFER_POOL|{row['pool']}]") for row in tables["BUFFER_PROFILE"].values()
        ],
    ),
    *kinds(
        "BUFFER_PG BUFFER_QUEUE",
        _several,
        groups_of_one_class_only=_narrowed("BUFFER_PG"),
        buffer_queues_of_one_class_only=_narrowed("BUFFER_QUEUE"),
    ),
    *kinds(
        "BUFFER_POOL BUFFER_PROFILE BUFFER_PORT_INGRESS_PROFILE_LIST BUFFER_PORT_EGRESS_PROFILE_LIST",
        _lossless,
        pool_size_0=put("BUFFER_POOL", with_field("size"), size="0"),
        pool_by_10=scale("BUFFER_POOL", 0.1, "size"),
        pool_xoff_above_size=put("BUFFER_POOL", with_field("xoff"), xoff="900000000"),
        pool_xoff_times_4=scale("BUFFER_POOL", 4, "xoff"),
        pools_missing=drop("BUFFER_POOL"),
        pool_without_type=drop("BUFFER_POOL", "type"),
        pool_of_both_directions=put("BUFFER_POOL", type="both"),
        profile_lists_swapped=_swapped_lists,
        profile_list_of_one_port_only=lambda scene, tables: [
            drop(table, where=lambda key, _: key not in list(tables["PORT"])[:1])(scene, tables)
            for table in ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")
        ],
    ),
    *kinds(
        "FLEX_COUNTER_TABLE",
        _lossless,
        counters_every_hour=put("FLEX_COUNTER_TABLE", POLL_INTERVAL="3600000"),
        counters_enabled_by_true=put("FLEX_COUNTER_TABLE", FLEX_COUNTER_STATUS="true"),
        watchdog_counters_every_60_s=put("FLEX_COUNTER_TABLE", named("PFCWD"), POLL_INTERVAL="60000"),
    ),
    *kinds(
        "PORT DEVICE_METADATA BREAKOUT_CFG",
        one_port_with_mtu_20000=_first_wired(lambda row: row.update(mtu="20000")),
        one_port_with_two_lanes_more=_first_wired(lambda row: row.update(lanes=f"{row['lanes']},900,901")),
        one_port_without_lanes=_first_wired(lambda row: row.pop("lanes")),
        one_port_without_speed=_first_wired(lambda row: row.pop("speed")),
        one_port_without_alias=_first_wired(lambda row: row.pop("alias")),
        one_port_down=_first_wired(lambda row: row.update(admin_status="down")),
        one_port_of_another_speed=_first_wired(lambda row: row.update(speed="100000")),
        lanes_reversed=lambda _, tables: [
            row.update(lanes=",".join(reversed(row["lanes"].split(",")))) for row in tables["PORT"].values()
        ],
        alias_of_all_equal=put("PORT", alias="etp1"),
        index_of_all_equal=put("PORT", index="1"),
        link_training_on_optics=put("PORT", link_training="on"),
        speed_above_the_lanes=put("PORT", speed="1600000"),
        unused_ports_missing=lambda scene, tables: drop("PORT", where=lambda key, _: key not in scene.far)(
            scene, tables
        ),
        hwsku_missing=drop("DEVICE_METADATA", "hwsku"),
        platform_missing=drop("DEVICE_METADATA", "platform"),
        hostname_missing=drop("DEVICE_METADATA", "hostname"),
        type_missing=drop("DEVICE_METADATA", "type"),
        metadata_missing=drop("DEVICE_METADATA"),
        switch_type_voq=put("DEVICE_METADATA", switch_type="voq"),
        switch_type_dpu=put("DEVICE_METADATA", switch_type="dpu"),
        device_type_unknown=put("DEVICE_METADATA", type="GpuLeaf"),
        mac_of_a_group=put("DEVICE_METADATA", mac="01:00:5e:00:00:01"),
    ),
    *kinds(
        "SWITCH_HASH",
        hash_of_one_field=if_has("SWITCH_HASH", add("SWITCH_HASH", "GLOBAL", ecmp_hash=["SRC_IP"])),
        hash_unknown_field=if_has("SWITCH_HASH", add("SWITCH_HASH", "GLOBAL", ecmp_hash=["SRC_IP", "QPN"])),
        hash_of_ports_only=if_has(
            "SWITCH_HASH", add("SWITCH_HASH", "GLOBAL", ecmp_hash=["L4_SRC_PORT", "L4_DST_PORT"])
        ),
    ),
    *kinds(
        "DEVICE_METADATA PFC_WD",
        _lossless,
        watchdog_by_default_and_missing_rows=both(
            put("DEVICE_METADATA", default_pfcwd_status="enable"), drop("PFC_WD", where=has(action="drop"))
        ),
    ),
]
