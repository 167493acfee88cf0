"""The tables of CONFIG_DB whose rows can drop, redirect or hold back packets, or withdraw routes, and who reads them.

Source: sonic-swss orchagent/ and cfgmgr/ @05131216cf08, sonic-buildimage src/sonic-bgpcfgd and
src/sonic-frr-mgmt-framework @086b03bd70f9: what the handler of each table programs.
"""

from collections.abc import Mapping

_BY_READER = {
    "aclorch": "ACL_TABLE ACL_RULE ACL_TABLE_TYPE",
    "coppmgrd": "COPP_GROUP COPP_TRAP",
    "mirrororch": "MIRROR_SESSION",
    "policerorch": "POLICER PORT_STORM_CONTROL",
    "pbhorch": "PBH_HASH PBH_HASH_FIELD PBH_RULE PBH_TABLE",
    "natmgrd": "NAT_BINDINGS NAT_GLOBAL NAT_POOL STATIC_NAPT STATIC_NAT",
    "macsecmgrd": "MACSEC_PROFILE",
    "stpmgrd": "STP STP_MST STP_MST_INST STP_MST_PORT STP_PORT STP_VLAN STP_VLAN_PORT",
    "vrfmgrd": "VRF VNET VNET_ROUTE VNET_ROUTE_TUNNEL",
    "vxlanmgrd": "VXLAN_TUNNEL VXLAN_TUNNEL_MAP VXLAN_EVPN_NVO NVGRE_TUNNEL NVGRE_TUNNEL_MAP SAG",
    "tunnelmgrd": "TUNNEL SUBNET_DECAP PEER_SWITCH",
    "linkmgrd": "MUX_CABLE MUX_LINKMGR",
    "iccpd": "MCLAG_DOMAIN MCLAG_INTERFACE MCLAG_UNIQUE_IP EVPN_ETHERNET_SEGMENT EVPN_MH_GLOBAL",
    "nbrmgrd": "NEIGH",
    "intfmgrd": "VLAN_SUB_INTERFACE",
    "fgnhgorch": "FG_NHG FG_NHG_MEMBER FG_NHG_PREFIX",
    "srv6orch": "SRV6_MY_LOCATORS SRV6_MY_SIDS",
    "fdborch": "MAC_MOVE_GUARD",
    "fabricportsorch": "FABRIC_MONITOR FABRIC_PORT SYSTEM_PORT VOQ_INBAND_INTERFACE",
    "bgpcfgd": "BGP_AGGREGATE_ADDRESS BGP_ALLOWED_PREFIXES BGP_BBR BGP_DEVICE_GLOBAL BGP_INTERNAL_NEIGHBOR "
    "BGP_PEER_RANGE BGP_SENTINELS BGP_VOQ_CHASSIS_NEIGHBOR PREFIX_LIST",
    "frrcfgd": "AS_PATH_SET BGP_GLOBALS_AF_AGGREGATE_ADDR BGP_GLOBALS_LISTEN_PREFIX COMMUNITY_SET "
    "EXTENDED_COMMUNITY_SET PREFIX PREFIX_SET ROUTE_MAP ROUTE_REDISTRIBUTE",
    "featured": "FEATURE",
    "kubelet": "KUBERNETES_MASTER",
}  # fmt: skip
TRAFFIC_TABLES: Mapping[str, str] = {table: reader for reader, tables in _BY_READER.items() for table in tables.split()}
