"""Which fields the programs of an image follow while they run, and which need a restart of the services.

`config apply-patch` writes CONFIG_DB and restarts hardly any service. A change that no daemon follows is without effect
until `config reload`, so its cost is that of a reload. Each price names its source and the releases that were read.

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ..releases import MASTER
from ..statements import Statement

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
_HOSTCFGD = "sonic-host-services scripts/hostcfgd DeviceMetaCfg"


class LivePrice(NamedTuple):
    """Whether a change is followed, and the statement that says so. Where the statement does not hold, it is not."""

    is_live: bool
    statement: Statement


def _live(text: str, source: str, since: int = 0) -> LivePrice:
    return LivePrice(True, Statement(text, source, _READ, since))


def _at_start(text: str, source: str) -> LivePrice:
    return LivePrice(False, Statement(text, source, _READ))


_UNREAD = _live(
    "no program of the image reads it",
    "no match in sonic-buildimage, sonic-swss, sonic-utilities and sonic-host-services, without tests and minigraph",
)
_ON_BOOT = _at_start("read when the services start", "the readers of DEVICE_METADATA: orchagent/main.cpp, docker-*")
_SNMP = _live(
    "the SNMP agent reads it when its container starts: `systemctl restart snmp`",
    "sonic-buildimage dockers/docker-snmp/snmpd.conf.j2, start.sh",
)
_GNMI = _live(
    "the gNMI server reads it when its container starts: `systemctl restart gnmi`",
    "sonic-buildimage dockers/docker-sonic-gnmi/gnmi-native.sh, files/build_templates/telemetry_vars.j2",
)

# (table, field) -> price. Fields of the tables below that are not listed have the price of their table.
FIELDS: Mapping[tuple[str, str], LivePrice] = {
    ("DEVICE_METADATA", "hostname"): _live(
        "hostcfgd sets the name of the host, and lldpmgrd announces it", f"{_HOSTCFGD}.hostname_update"
    ),
    ("DEVICE_METADATA", "timezone"): _live(
        "hostcfgd sets the time zone and restarts rsyslog", f"{_HOSTCFGD}.timezone_update"
    ),
    ("DEVICE_METADATA", "syslog_with_osversion"): _live(
        "hostcfgd restarts rsyslog-config", f"{_HOSTCFGD}.rsyslog_config", since=202505
    ),
    ("DEVICE_METADATA", "default_pfcwd_status"): _live(
        "only `config load_minigraph` and `pfcwd start_default` read it",
        "sonic-utilities config/main.py load_minigraph, pfcwd/main.py start_default",
    ),
    ("DEVICE_METADATA", "resource_type"): _live(
        "only `config qos reload` reads it", "sonic-buildimage files/build_templates/qos_config.j2"
    ),
    ("DEVICE_METADATA", "yang_config_validation"): _live(
        "the command `config` reads it each time",
        "sonic-buildimage src/sonic-py-common/sonic_py_common/device_info.py is_yang_config_validation_enabled",
    ),
    **{
        ("DEVICE_METADATA", field): _UNREAD
        for field in (
            "cloudtype", "cluster", "downstream_subrole", "location_type", "mgmt_type", "rack_mgmt_map", "region",
            "slice_type",
        )
    },
    ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "over_subscribe_ratio"): _live(
        "buffermgrd computes the shared headroom and the pools again",
        "sonic-swss cfgmgr/buffermgrdyn.cpp handleDefaultLossLessBufferParam; measured on 202505: as after a cold boot",
    ),
}  # fmt: skip

TABLES: Mapping[str, LivePrice] = {
    "BREAKOUT_CFG": _live(
        "only `config interface breakout` reads it; ports change by their rows of PORT",
        "sonic-utilities config/main.py breakout; no match in sonic-swss",
    ),
    "BUFFER_POOL": _at_start(
        "the pools of a switch add up only together",
        "sonic-swss orchagent/bufferorch.cpp processBufferPool: one pool after the other",
    ),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": _at_start(
        "buffermgrd keeps default_dynamic_th for the profiles that exist",
        "sonic-swss cfgmgr/buffermgrdyn.cpp handleDefaultLossLessBufferParam; measured on 202505",
    ),
    "DEVICE_METADATA": _ON_BOOT,
    "LOSSLESS_TRAFFIC_PATTERN": _at_start(
        "no daemon follows it: the headroom script reads it when a profile is computed",
        "sonic-swss cfgmgr/buffer_headroom_mellanox.lua; measured on 202505",
    ),
    "GNMI": _GNMI,
    "SNMP": _SNMP,
    "SNMP_AGENT_ADDRESS_CONFIG": _SNMP,
    "SNMP_COMMUNITY": _SNMP,
    "SNMP_USER": _SNMP,
    "TELEMETRY": _GNMI,
}


def price_of(table: str, field: str | None, release: int) -> LivePrice | None:
    """The price of a change of a field, or of a row (None); None for tables that daemons follow."""
    found = FIELDS.get((table, field)) if field is not None else None
    if found is not None and found.statement.holds(release):
        return found
    return TABLES.get(table)
