"""Which fields the programs of an image follow while they run, and which need a restart of the services.

`config apply-patch` writes CONFIG_DB and restarts hardly any service. A change that no daemon follows is without effect
until `config reload`, so its cost is that of a reload. Each price names its source and the releases that were read.

The Ansible role contains this module: only the standard library and relative imports.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ..releases import MASTER
from ..statements import ProgramStatement

_READ = (202305, 202311, 202405, 202411, 202505, 202511, 202605, MASTER)
_HOSTCFGD = "sonic-host-services scripts/hostcfgd DeviceMetaCfg"


class LivePrice(NamedTuple):
    """Whether a change is followed, and the statement that says so. Where the statement does not hold, it is not."""

    is_live: bool
    statement: ProgramStatement


def _live(text: str, source: str, since: int = 0) -> LivePrice:
    return LivePrice(True, ProgramStatement(text, source, _READ, since))


def _at_start(text: str, source: str) -> LivePrice:
    return LivePrice(False, ProgramStatement(text, source, _READ))


_UNREAD = _live(
    "no program of the image reads it",
    "no match in sonic-buildimage, sonic-swss, sonic-utilities and sonic-host-services, without tests and minigraph",
)
_ON_BOOT = _at_start("read when the services start", "the readers of DEVICE_METADATA: orchagent/main.cpp, docker-*")
_SNMP = _live(
    "the SNMP agent reads it when its container starts: `systemctl restart snmp`",
    "sonic-buildimage dockers/docker-snmp/snmpd.conf.j2, start.sh",
)
_RESTAPI = _live(
    "the REST server reads it when its container starts: `systemctl restart restapi`",
    "sonic-buildimage dockers/docker-sonic-restapi/restapi.sh",
)
_NEXT_BOOT = "sonic-host-services scripts/hostcfgd KdumpCfg; sonic-utilities scripts/sonic-kdump-config"
_WITH_THE_LAG = _at_start(
    "teammgrd reads it only when it creates the LAG",
    "sonic-swss cfgmgr/teammgr.cpp doLagTask (addLag)",
)
_WITH_THE_POLICER = _at_start(
    "orchagent changes only rates and burst sizes of a policer that exists",
    "sonic-swss orchagent/policerorch.cpp doTask (the branch of an existing policer)",
)
_WITH_MACSEC = _at_start(
    "macsecmgrd reads the profile when it enables MACsec on a port: ports that use it keep the old one",
    "sonic-swss cfgmgr/macsecmgr.cpp loadProfile (the hot update is a log message), enableMACsec",
)
_WITH_THE_TUNNEL = _at_start(
    "orchagent refuses a tunnel that exists", "sonic-swss orchagent/vxlanorch.cpp addOperation (already exists)"
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
    **{("MACSEC_PROFILE", field): _WITH_MACSEC for field in (
        "cipher_suite", "enable_replay_protect", "fallback_cak", "fallback_ckn", "policy", "primary_cak", "primary_ckn",
        "priority", "rekey_period", "replay_window", "send_sci",
    )},
    ("MGMT_PORT", "alias"): _live(
        "lldpd reads it when its container starts: `systemctl restart lldp`",
        "sonic-buildimage dockers/docker-lldp/lldpd.conf.j2",
    ),
    **{("PORTCHANNEL", field): _WITH_THE_LAG for field in ("fallback", "fast_rate", "lacp_key", "min_links")},
    **{("POLICER", field): _WITH_THE_POLICER for field in (
        "color", "green_packet_action", "meter_type", "mode", "red_packet_action", "yellow_packet_action",
    )},
    ("TUNNEL", "src_ip"): _at_start(
        "orchagent refuses another source of a tunnel that exists",
        "sonic-swss orchagent/tunneldecaporch.cpp doDecapTunnelTask",
    ),
    **{("VXLAN_TUNNEL", field): _WITH_THE_TUNNEL for field in ("dst_ip", "src_ip", "ttl_mode")},
    **{("VXLAN_TUNNEL_MAP", field): _WITH_THE_TUNNEL for field in ("vlan", "vni")},
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
    "DHCP_RELAY": _live(
        "the updater restarts dhcp_relay",
        "sonic-utilities generic_config_updater/gcu_services_validator.conf.json, services_validator.py dhcp_validator",
    ),
    "GNMI": _GNMI,
    "KDUMP": _live("memory is reserved at the next reboot", _NEXT_BOOT),
    "MGMT_PORT": _UNREAD,
    "RESTAPI": _RESTAPI,
    "SNMP": _SNMP,
    "SNMP_AGENT_ADDRESS_CONFIG": _SNMP,
    "SNMP_COMMUNITY": _SNMP,
    "SNMP_USER": _SNMP,
    "SYSTEM_DEFAULTS": _at_start(
        "read when the services start",
        "sonic-buildimage files/build_templates/swss_vars.j2, dockers/docker-orchagent/orchagent.sh, ipinip.json.j2, "
        "src/sonic-bgpcfgd/bgpcfgd/main.py",
    ),
    "TELEMETRY": _GNMI,
    "WARM_RESTART": _live(
        "the services read it at the next warm restart", "sonic-swss-common common/warm_restart.cpp checkWarmStart"
    ),
}

# Prices under one of the two programs that write the configuration of FRR.
ANNOUNCED_AT_START = _live(
    "FRR announces it when the BGP container starts: `systemctl restart bgp`",
    "sonic-buildimage dockers/docker-fpm-frr/frr/bgpd/bgpd.main.conf.j2 (network, router-id); "
    "src/sonic-bgpcfgd/bgpcfgd/main.py (InterfaceMgr only keeps the addresses)",
)
FRRCFGD_FIELDS: Mapping[tuple[str, str], LivePrice] = {
    ("BGP_GLOBALS", "local_asn"): _at_start(
        "frrcfgd refuses another local_asn",
        "sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py bgp_global_handler (could not be modified)",
    ),
    ("PREFIX_SET", "mode"): _at_start(
        "frrcfgd keeps the mode of a prefix set that exists",
        "sonic-buildimage src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py __update_bgp (PREFIX_SET)",
    ),
}


def price_of(table: str, key: str, field: str | None, release: int, *, framework: bool = False) -> LivePrice | None:
    """The price of a change of a field, or of a row (None); None for tables that daemons follow.

    With `framework`, frrcfgd configures FRR, otherwise bgpcfgd.
    """
    if field is not None:
        found = FIELDS.get((table, field)) or (FRRCFGD_FIELDS.get((table, field)) if framework else None)
        if found is not None and found.statement.holds(release):
            return found
    if not framework and "|" in key and (table == "VLAN_INTERFACE" or key.startswith("Loopback0|")):
        return ANNOUNCED_AT_START
    return TABLES.get(table)
