"""Files from before 202111: references such as [BUFFER_PROFILE|x] are followed by every rule, and reported once."""

from typing import Any

from tests.rules.clean import clean_fabric

FIELDS = {
    "BUFFER_PG": ("profile", "BUFFER_PROFILE"), "BUFFER_QUEUE": ("profile", "BUFFER_PROFILE"),
    "BUFFER_PROFILE": ("pool", "BUFFER_POOL"), "QUEUE": ("scheduler", "SCHEDULER"),
}  # fmt: skip
PORT_MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}


def in_old_form(config: dict[str, dict[str, dict[str, Any]]]) -> None:
    for table, (field, target) in FIELDS.items():
        for row in config.get(table, {}).values():
            if row.get(field, "NULL") != "NULL":
                row[field] = f"[{target}|{row[field]}]"
    for row in config.get("QUEUE", {}).values():
        if "wred_profile" in row:
            row["wred_profile"] = f"[WRED_PROFILE|{row['wred_profile']}]"
    for row in config["PORT_QOS_MAP"].values():
        for field, target in PORT_MAPS.items():
            if field in row:
                row[field] = f"[{target}|{row[field]}]"
    for side in ("INGRESS", "EGRESS"):
        for row in config.get(f"BUFFER_PORT_{side}_PROFILE_LIST", {}).values():
            row["profile_list"] = ",".join(f"[BUFFER_PROFILE|{name}]" for name in row["profile_list"].split(","))


def test_only_old_references_are_reported() -> None:
    for model in ("traditional", "dynamic"):
        fabric = clean_fabric(model)
        for config in fabric.configs.values():
            in_old_form(config)
        found = fabric.judge()
        assert {one.code for one in found} == {"FG411"} and {one.device for one in found} == set(fabric.configs)
        assert all(one.severity == "error" and "202111" in one.message for one in found)


def test_what_is_wrong_behind_an_old_reference_is_found() -> None:
    fabric = clean_fabric()
    config = fabric.configs["leaf1"]
    in_old_form(config)
    config["BUFFER_QUEUE"]["Ethernet0|3-4"]["profile"] = "[BUFFER_PROFILE|egress_lossy_profile]"
    config["BUFFER_PG"]["Ethernet0|3-4"]["profile"] = "[BUFFER_PROFILE|nowhere]"
    del config["QUEUE"]["Ethernet0|3"]["wred_profile"]
    codes = {one.code for one in fabric.judge() if one.path.split("|")[1:2] == ["Ethernet0"] or "Ethernet0" in one.path}
    assert {"FG408", "FG541"} <= codes and codes & {"FG514", "FG515", "FG516", "FG517"}
