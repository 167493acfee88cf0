"""The UDP source port of RoCE: what the driver of a NIC derives from the two queue pair numbers of a connection."""

# Drivers of Linux that send with the port of `source_port`. bnxt_en leaves it to the firmware, which is not published.
# Source: Linux include/rdma/ib_verbs.h, rdma_calc_flow_label and rdma_flow_label_to_udp_sport.
LABEL_DRIVERS = frozenset({"mlx5_core", "hns3", "ice", "irdma", "mana", "ionic"})

FIRST_PORT, PORTS = 0xC000, 1 << 14
LABELS = 1 << 20


def flow_label(local: int, remote: int) -> int:
    """The flow label, of 20 bits, of a connection between two queue pairs. It is the same for both directions."""
    product = local * remote
    product ^= product >> 20
    product ^= product >> 40
    return product & (LABELS - 1)


def source_port(label: int) -> int:
    """The UDP source port for a flow label, from 49152 to 65535."""
    return FIRST_PORT | ((label & (PORTS - 1)) ^ (label >> 14))
