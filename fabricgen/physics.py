"""Formulas of physics and protocols, no policy: bytes in a cable, pauses, dynamic thresholds, header sizes."""

from math import ceil

# Light in fibre or copper: 5 ns per metre (IEEE 802.1Qbb planning figure; SONiC's own Lua uses 1.98e8 m/s).
PROPAGATION_NS_PER_M = 5.0

# An Ethernet frame on the wire takes 8 bytes of preamble and 12 bytes of gap beside itself (IEEE 802.3 clause 4.4.2).
WIRE_GAP_BYTES = 20
# Header and checksum of an untagged Ethernet frame. The `mtu` of a SONiC port does not count them.
ETHERNET_HEADER_BYTES = 14
ETHERNET_FCS_BYTES = 4

# One 802.1Qbb frame on the wire: 64 bytes with the gap.
PFC_FRAME_BYTES = 64 + WIRE_GAP_BYTES

IPV4_HEADER_BYTES = 20
IPV6_HEADER_BYTES = 40
UDP_HEADER_BYTES = 8
# InfiniBand Architecture Specification, volume 1, chapter 9 and annex A17 (RoCEv2).
BTH_BYTES = 12  # base transport header
XRCETH_BYTES = 4  # extended reliable connection
ATOMICETH_BYTES = 28  # atomic operation
ICRC_BYTES = 4  # invariant checksum

LRH_BYTES = 8  # local route header
AETH_BYTES = 4  # of an acknowledgement
VCRC_BYTES = 2  # variant checksum

# Bytes on the wire of an InfiniBand packet within a subnet, beside its payload, and of an acknowledgement.
INFINIBAND_WIRE_BYTES = LRH_BYTES + BTH_BYTES + ICRC_BYTES + VCRC_BYTES
INFINIBAND_ACK_BYTES = INFINIBAND_WIRE_BYTES + AETH_BYTES

# Flow control of InfiniBand counts blocks, and its 12-bit limit grants at most 2048 of them (the same volume, 7.9.4).
CREDIT_BLOCK_BYTES = 64
MOST_CREDIT_BYTES = 2048 * CREDIT_BLOCK_BYTES

# The most bytes that a RoCEv2 packet has beside its payload within an Ethernet frame: IPv6 and the longest transport
# headers. An MTU of the link that is the RoCE MTU plus this carries every packet. linux include/rdma/ib_addr.h,
# iboe_get_mtu, subtracts the same sum.
ROCE_V2_HEADER_BYTES = IPV6_HEADER_BYTES + UDP_HEADER_BYTES + BTH_BYTES + XRCETH_BYTES + ATOMICETH_BYTES + ICRC_BYTES


def link_mtu_for_roce(roce_mtu_bytes: int) -> int:
    """The least MTU of a link, in bytes, that carries every RoCEv2 packet with so much payload."""
    return roce_mtu_bytes + ROCE_V2_HEADER_BYTES


# Bytes on the wire of a RoCEv2 packet in the middle of a message, beside its payload: IPv4, no VLAN tag.
ROCE_V2_WIRE_BYTES = (
    WIRE_GAP_BYTES
    + ETHERNET_HEADER_BYTES
    + IPV4_HEADER_BYTES
    + UDP_HEADER_BYTES
    + BTH_BYTES
    + ICRC_BYTES
    + ETHERNET_FCS_BYTES
)

DEFAULT_MTU_BYTES = 9100  # of a SONiC port without `mtu` (sonic-swss portsorch, DEFAULT_MTU)
DEFAULT_ROCE_MTU_BYTES = 4096  # of a plane without `roce_mtu`: the largest path MTU of the specification

# Peer response time in pause quanta of 512 bit times, IEEE 802.3 Annex 31B as used by sonic-swss
# cfgmgr/buffer_headroom_mellanox.lua.
_RESPONSE_QUANTA = {
    100: 1, 1_000: 2, 10_000: 67, 25_000: 80, 40_000: 118, 50_000: 147, 100_000: 394, 200_000: 453, 400_000: 905,
    800_000: 905,
}  # fmt: skip
QUANTUM_BITS = 512
MOST_QUANTA = 65_535  # of one pause frame


def bytes_in_flight(speed_mbps: int, cable_m: float) -> float:
    """Bytes that one direction of a cable holds."""
    return cable_m * PROPAGATION_NS_PER_M * speed_mbps / 8_000


def headroom_floor_bytes(speed_mbps: int, cable_m: float, mtu_bytes: int) -> int:
    """The least headroom that can be lossless: the bytes that still arrive after the decision to pause.

    One round trip of the cable, one frame that each end has already started, and the pause frame itself (802.1Qbb).
    Real hardware needs more (peer response, pipeline, cell rounding), so a smaller value is wrong on every switch.
    """
    return ceil(2 * bytes_in_flight(speed_mbps, cable_m) + 2 * mtu_bytes + PFC_FRAME_BYTES)


def peer_response_bytes(speed_mbps: int) -> int | None:
    """Bytes that a peer may still send while it reacts to a pause; None for a speed without a published figure."""
    quanta = _RESPONSE_QUANTA.get(speed_mbps)
    return None if quanta is None else quanta * QUANTUM_BITS // 8


def retry_floor_bytes(speed_mbps: int, cable_m: float) -> int:
    """The least bytes that a sender with link layer retry may have outstanding without a pause: what it sends until an
    acknowledgement can be back, one round trip of the cable. Processing at both ends needs more."""
    return ceil(2 * bytes_in_flight(speed_mbps, cable_m))


def rdma_goodput_gbps(speed_mbps: int, mtu_bytes: int, *, infiniband: bool = False, ipv6: bool = False) -> float:
    """The payload in Gb/s that long RDMA messages carry at most over a link, with packets of `mtu_bytes` of payload."""
    header_bytes = ROCE_V2_WIRE_BYTES + (IPV6_HEADER_BYTES - IPV4_HEADER_BYTES if ipv6 else 0)
    header_bytes = INFINIBAND_WIRE_BYTES if infiniband else header_bytes
    return speed_mbps / 1000 * mtu_bytes / (mtu_bytes + header_bytes)


def held_bytes(wire_bytes: int, cell_bytes: int) -> int:
    """The bytes of a buffer that a packet of `wire_bytes` on the wire takes: whole cells, without its gap on the wire.
    Cells of 0 bytes: its bytes on the wire."""
    if cell_bytes == 0:
        return wire_bytes
    return (wire_bytes - WIRE_GAP_BYTES + cell_bytes - 1) // cell_bytes * cell_bytes


_MOST_BITS = 64  # of alpha


def dynamic_threshold_bytes(pool_bytes: int, dynamic_th: int, saturated: int = 1) -> float:
    """Bytes of each of `saturated` equal queues with alpha = 2**dynamic_th in a shared pool that only they use.

    Any whole number is taken: beyond 2**±64, alpha makes no difference to a number of bytes.
    """
    alpha: float = 2.0 ** max(-_MOST_BITS, min(_MOST_BITS, dynamic_th))
    return alpha * pool_bytes / (1 + alpha * saturated)


def full_pause_frames_per_second(speed_mbps: int) -> float:
    """Pause frames per second that stop a priority for good (IEEE 802.1Qbb).

    Each frame stops it for at most 65,535 quanta. A peer that resumes earlier sends more frames for the same pause.
    """
    return speed_mbps * 1_000_000 / (MOST_QUANTA * QUANTUM_BITS)
