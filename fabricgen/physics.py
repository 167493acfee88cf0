"""Formulas of the world, no policy: what a cable holds, what a pause costs, where a dynamic threshold settles."""

from math import ceil

# Light in fibre or copper: 5 ns per metre (IEEE 802.1Qbb planning figure; SONiC's own Lua uses 1.98e8 m/s).
PROPAGATION_NS_PER_M = 5.0

# One 802.1Qbb frame on the wire: 64 B plus 20 B of preamble and gap.
PFC_FRAME_BYTES = 84

# Peer response time in pause quanta of 512 bit times, IEEE 802.3 Annex 31B as used by sonic-swss
# cfgmgr/buffer_headroom_mellanox.lua.
_RESPONSE_QUANTA = {
    10_000: 67, 25_000: 80, 40_000: 118, 50_000: 147, 100_000: 394, 200_000: 453, 400_000: 905, 800_000: 905,
}  # fmt: skip


def bytes_in_flight(speed_mbps: int, cable_m: float) -> float:
    """Bytes that one direction of a cable holds."""
    return cable_m * PROPAGATION_NS_PER_M * speed_mbps / 8_000


def headroom_floor_bytes(speed_mbps: int, cable_m: float, mtu_bytes: int) -> int:
    """The least headroom that can be lossless: what still arrives after XOFF was decided.

    One round trip of the cable, one frame already started at each end, and the pause frame itself (802.1Qbb). Real
    hardware needs more (peer response, pipeline, cell rounding), so a smaller value is wrong on any switch.
    """
    return ceil(2 * bytes_in_flight(speed_mbps, cable_m) + 2 * mtu_bytes + PFC_FRAME_BYTES)


def peer_response_bytes(speed_mbps: int) -> int | None:
    """Bytes a peer may still send while it reacts to a pause; None for a speed without a published figure."""
    quanta = _RESPONSE_QUANTA.get(speed_mbps)
    return None if quanta is None else quanta * 64


def dynamic_threshold_bytes(pool_bytes: int, dynamic_th: int, saturated: int = 1) -> float:
    """Where `saturated` equal queues with alpha = 2**dynamic_th settle in an otherwise empty shared pool."""
    alpha: float = 2.0**dynamic_th
    return alpha * pool_bytes / (1 + alpha * saturated)


def full_pause_frames_per_second(speed_mbps: int) -> float:
    """How many pause frames a second hold a priority for good: each stops it for at most 65,535 quanta of 512 bit times
    (IEEE 802.1Qbb). A peer that resumes earlier sends more of them for the same pause."""
    return speed_mbps * 1_000_000 / (65_535 * 512)
