"""Rows and fields of CONFIG_DB that a switch creates itself: a running configuration has them, its file does not.

At boot, after `config reload` and after an upgrade, SONiC merges init_cfg.json below the file, and db_migrator.py
completes old rows. Source: sonic-buildimage @086b03bd files/build_templates/init_cfg.json.j2 and dockers/docker-snmp/
snmp_yml_to_configdb.py, sonic-utilities @691b1bbc scripts/db_migrator.py, sonic-swss @e6b0c5b5 cfgmgr/buffermgr.cpp.
"""

import re
from collections.abc import Mapping

INIT_CFG = "init_cfg.json"
MIGRATOR = "db_migrator"

# Table -> what creates its rows.
TABLES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "AUTO_TECHSUPPORT", "AUTO_TECHSUPPORT_FEATURE", "BANNER_MESSAGE", "BGP_DEVICE_GLOBAL", "CRM", "FEATURE",
            "FLEX_COUNTER_TABLE", "KDUMP", "NTP", "PASSW_HARDENING", "SYSLOG_CONFIG", "SYSLOG_CONFIG_FEATURE",
            "SYSTEM_DEFAULTS",
        ),
        INIT_CFG,
    ),
    "SNMP": "snmp.yml of the SNMP container",
    "VERSIONS": MIGRATOR,
}  # fmt: skip

METADATA_FIELDS: Mapping[str, str] = {  # of DEVICE_METADATA|localhost
    **dict.fromkeys(
        ("buffer_model", "default_bgp_status", "default_pfcwd_status", "synchronous_mode", "timezone"), INIT_CFG
    ),
    "mac": "`config reload`",
    "platform": "`config reload`",
}

INTERFACE_TABLES = frozenset({"INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE"})
_PROFILE = re.compile(r"pg_lossless_\d+_\d+m(_\w+)?_profile")  # the names that buffermgrd creates


def maker(table: str, key: str, field: str | None, value: object) -> str:
    """What creates a row (`field` None, `value` its fields) or a field on the switch; "" when nothing does."""
    if table in TABLES:
        return TABLES[table]
    if table == "DEVICE_METADATA" and key == "localhost" and field is not None:
        return METADATA_FIELDS.get(field, "")
    if field is not None or not isinstance(value, dict):
        return ""
    if table in INTERFACE_TABLES and "|" not in key and not value:
        return MIGRATOR
    if table == "PORT_QOS_MAP" and key == "global" and value.keys() == {"dscp_to_tc_map"}:
        return MIGRATOR
    profile = key if table == "BUFFER_PROFILE" else value.get("profile") if table == "BUFFER_PG" else None
    return "buffermgrd" if isinstance(profile, str) and _PROFILE.fullmatch(profile) else ""
