"""Bad cases of the rules about hosts: one change of a file of a rendered bundle, and the place that must be named."""

from dataclasses import dataclass

from tests.render.hosts.rendered import STORAGE, inventory

DGX = inventory()
TWO_PLANES = inventory(more=STORAGE.format(name="storage"))
IN_BAND = inventory(more=STORAGE.format(name="in-band"))
RAIL_ONLY = inventory(design="rail-only")
ROCE, NCCL, UCX, SYSCTL = "roce/compute.conf", "nccl.conf", "ucx.conf", "sysctl.conf"
NETPLAN, RAIL0 = "netplan/gpu-000.yaml", "ethernets.rail0"


@dataclass(frozen=True)
class HostCase:
    """`old` becomes `new` in a file of hosts/gpu (first occurrence); the finding's path is the file and `key`.

    `switch` is what the related place of the switch's file must be about, "" where there is none.
    """

    code: str
    file: str
    old: str
    new: str
    key: str
    switch: str = ""
    text: str = DGX
    severity: str = "error"
    also: tuple[str, ...] = ()


MAP = "DSCP_TO_TC_MAP|AZURE|"
HOST_CASES = [
    HostCase("FG900", ROCE, "PFC=", "PCF=", "PFC"),
    HostCase("FG900", ROCE, "TOS=106", "", "TOS", also=("FG904",)),
    HostCase("FG900", ROCE, "CABLE_M=5", "CABLE_M=5m", "CABLE_M"),
    HostCase("FG901", ROCE, "rail6 rail7", "rail6", "INTERFACES"),
    HostCase("FG901", ROCE, "rail6 rail7", "rail6 storage0", "INTERFACES"),
    HostCase("FG901", NCCL, "NCCL_IB_HCA==mlx5_0,mlx5_3", "NCCL_IB_HCA==mlx5_0,mlx5_1", "NCCL_IB_HCA"),
    HostCase("FG901", NCCL, "NCCL_IB_HCA==", "NCCL_IB_HCA=", "NCCL_IB_HCA"),
    HostCase("FG901", UCX, "mlx5_11:1", "mlx5_1:1", "UCX_NET_DEVICES"),
    HostCase(
        "FG901", NCCL, "NCCL_SOCKET_IFNAME==inband0", "NCCL_SOCKET_IFNAME==rail0", "NCCL_SOCKET_IFNAME", text=IN_BAND
    ),
    HostCase("FG902", ROCE, "TRUST=dscp", "TRUST=pcp", "TRUST", "PORT_QOS_MAP|Ethernet0|dscp_to_tc_map"),
    HostCase("FG902", ROCE, "26:3", "26:4", "DSCP_PRIORITY", MAP + "26"),
    HostCase("FG902", ROCE, "34:4", "34:5", "DSCP_PRIORITY", MAP + "34"),
    HostCase("FG902", ROCE, "48:6", "48:3", "DSCP_PRIORITY", MAP + "48"),
    HostCase("FG902", ROCE, "26:3", "3:3", "DSCP_PRIORITY", MAP + "3"),
    HostCase("FG902", ROCE, "26:3", "26-3", "DSCP_PRIORITY"),
    HostCase("FG903", ROCE, "PFC=0,0,0,1,1", "PFC=0,0,0,1,0", "PFC", "PORT_QOS_MAP|Ethernet0|pfc_enable"),
    HostCase("FG903", ROCE, "PFC=0,0,0,1,1,0,0,0", "PFC=3,4", "PFC"),
    HostCase("FG904", ROCE, "TOS=106", "TOS=26", "TOS", MAP + "6", also=("FG904",)),
    HostCase("FG904", ROCE, "TOS=106", "TOS=107", "TOS", also=("FG904",)),
    HostCase("FG904", ROCE, "TOS=106", "TOS=104", "TOS", severity="warning", also=("FG904",)),
    HostCase("FG904", NCCL, "NCCL_IB_TC=106", "NCCL_IB_TC=26", "NCCL_IB_TC", MAP + "6"),
    HostCase("FG904", NCCL, "NCCL_IB_TC=106", "NCCL_IB_TC=138", "NCCL_IB_TC", also=("FG910",)),
    HostCase("FG904", NCCL, "NCCL_IB_TC=106", "", "NCCL_IB_TC"),
    HostCase("FG904", UCX, "=106", "=98", "UCX_IB_TRAFFIC_CLASS", MAP + "24"),
    HostCase("FG905", ROCE, "CNP_DSCP=48", "CNP_DSCP=26", "CNP_DSCP", MAP + "26"),
    HostCase("FG905", ROCE, "CNP_DSCP=48", "CNP_DSCP=0", "CNP_DSCP", MAP + "0"),
    HostCase("FG905", ROCE, "CNP_DSCP=48", "CNP_DSCP=56", "CNP_DSCP", MAP + "48", also=("FG905",)),
    HostCase("FG905", ROCE, "CNP_PRIORITY=6", "CNP_PRIORITY=7", "CNP_PRIORITY", MAP + "48"),
    HostCase("FG906", NETPLAN, "mtu: 9100", "mtu: 4096", f"{RAIL0}.mtu", "PORT|Ethernet0|mtu"),
    HostCase("FG906", NETPLAN, "mtu: 9100", "mtu: 9216", f"{RAIL0}.mtu", "PORT|Ethernet0|mtu"),
    HostCase("FG906", NETPLAN, "mtu: 9100", "mtu: 5000", f"{RAIL0}.mtu", "PORT|Ethernet0|mtu"),
    HostCase("FG906", NETPLAN, "      mtu: 9100\n", "", f"{RAIL0}.mtu", "PORT|Ethernet0|mtu"),
    HostCase(
        "FG907",
        ROCE,
        "STALL_MS=100",
        "STALL_MS=4000",
        "STALL_MS",
        "PFC_WD|Ethernet0|detection_time",
        severity="warning",
    ),
    HostCase("FG907", ROCE, "STALL_MS=100", "", "STALL_MS", "PFC_WD|Ethernet0|detection_time", severity="warning"),
    HostCase("FG907", ROCE, "STALL_MS=100", "STALL_MS=10", "STALL_MS", severity="warning"),
    HostCase(
        "FG908",
        NETPLAN,
        '- "10.64.0.1/31"',
        '- "10.64.0.3/31"',
        f"{RAIL0}.addresses",
        "INTERFACE|Ethernet0|10.64.0.0/31",
        also=("FG909",),
    ),
    HostCase(
        "FG908",
        NETPLAN,
        '- "10.64.0.1/31"',
        '- "10.64.0.1/24"',
        f"{RAIL0}.addresses",
        "INTERFACE|Ethernet0|10.64.0.0/31",
        also=("FG909",),
    ),
    HostCase(
        "FG908", NETPLAN, 'via: "10.64.0.0"', 'via: "10.64.0.2"', f"{RAIL0}.routes", "INTERFACE|Ethernet0|10.64.0.0/31"
    ),
    HostCase("FG908", NETPLAN, '"rail0":', '"rail9":', "ethernets.rail9"),
    HostCase("FG908", NCCL, "10.64.0.0/10", "10.64.1.0/24", "NCCL_IB_ADDR_RANGE"),
    HostCase("FG908", NCCL, "10.64.0.0/10", "10.64.0.1/10", "NCCL_IB_ADDR_RANGE"),
    HostCase("FG908", NCCL, "NCCL_IB_ADDR_RANGE", "NCCL_IB_ADR_RANGE", "NCCL_IB_ADDR_RANGE"),
    HostCase("FG909", NETPLAN, '/32", table: 100', '/32", table: 101', f"{RAIL0}.routing-policy"),
    HostCase("FG909", NETPLAN, 'from: "10.64.0.1/32"', 'from: "10.64.0.3/32"', f"{RAIL0}.routing-policy"),
    HostCase("FG909", NETPLAN, 'from: "10.64.0.1/32"', 'from: "10.64.0.1/24"', f"{RAIL0}.routing-policy"),
    HostCase("FG909", NETPLAN, "priority: 100", "priority: 32767", f"{RAIL0}.routing-policy"),
    HostCase("FG909", NETPLAN, "priority: 101", "priority: 100", "ethernets.rail1.routing-policy"),
    HostCase("FG909", NETPLAN, 'via: "10.64.0.0", table: 100', 'via: "10.64.0.0", table: 101', f"{RAIL0}.routes"),
    HostCase("FG909", NETPLAN, '"10.64.0.0/10"', '"10.64.0.0/12"', f"{RAIL0}.routes"),
    HostCase("FG909", NETPLAN, ', via: "10.64.0.0"', "", f"{RAIL0}.routes"),
    HostCase("FG909", NETPLAN, "scope: link, ", "", f"{RAIL0}.routes"),
    HostCase("FG909", NETPLAN, "metric: 109", "metric: 108", "ethernets.storage1.routes", text=TWO_PLANES),
    HostCase("FG910", NCCL, "NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=2", "NCCL_CROSS_NIC", text=RAIL_ONLY),
    HostCase("FG910", NCCL, "NCCL_PXN_DISABLE=0", "", "NCCL_PXN_DISABLE", text=RAIL_ONLY),
    HostCase("FG910", NCCL, "NCCL_IB_SL=3", "NCCL_IB_SL=4", "NCCL_IB_SL", MAP + "26"),
    HostCase("FG910", NCCL, "NCCL_IB_SL=3", "", "NCCL_IB_SL", MAP + "26"),
    HostCase(
        "FG910", NCCL, "NCCL_IB_SL=3", "NCCL_IB_SL=3\nNCCL_IB_GID_INDEX=3", "NCCL_IB_GID_INDEX", severity="warning"
    ),
    HostCase("FG911", SYSCTL, "rail0/rp_filter = 2", "rail0/rp_filter = 1", "net/ipv4/conf/rail0/rp_filter"),
    HostCase("FG911", SYSCTL, "rail3/arp_ignore = 1", "rail3/arp_ignore = 0", "net/ipv4/conf/rail3/arp_ignore"),
    HostCase("FG911", SYSCTL, "net/ipv4/conf/rail7/arp_announce = 2", "", "net/ipv4/conf/rail7/arp_announce"),
    HostCase("FG911", NETPLAN, "accept-ra: false", "accept-ra: true", f"{RAIL0}.accept-ra"),
    HostCase("FG912", ROCE, "CABLE_M=5", "CABLE_M=2", "CABLE_M", "CABLE_LENGTH|AZURE|Ethernet0"),
    HostCase("FG912", ROCE, "CABLE_M=5", "CABLE_M=50", "CABLE_M", "CABLE_LENGTH|AZURE|Ethernet0", severity="warning"),
    HostCase("FG913", "links/10-rail0.link", "0000:18:00.0", "0000:40:00.0", "Path"),
    HostCase("FG913", "links/10-rail0.link", "Name=rail0", "Name=rail1", "Name"),
]
