"""The formulas with numbers that can be checked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.physics import (
    DEFAULT_MTU_BYTES,
    DEFAULT_ROCE_MTU_BYTES,
    PFC_FRAME_BYTES,
    ROCE_V2_HEADER_BYTES,
    ROCE_V2_WIRE_BYTES,
    bytes_in_flight,
    dynamic_threshold_bytes,
    full_pause_frames_per_second,
    headroom_floor_bytes,
    held_bytes,
    peer_response_bytes,
)


def test_overheads() -> None:
    """96: linux iboe_get_mtu. 82: 20 gap, 14 Ethernet, 20 IPv4, 8 UDP, 12 BTH, 4 ICRC, 4 FCS. 84: 64 and the gap."""
    assert (ROCE_V2_HEADER_BYTES, ROCE_V2_WIRE_BYTES, PFC_FRAME_BYTES) == (96, 82, 84)
    assert (DEFAULT_MTU_BYTES, DEFAULT_ROCE_MTU_BYTES) == (9100, 4096)


@pytest.mark.parametrize(
    ("speed_mbps", "cable_m", "in_flight", "floor"),
    [
        # 40 m take 200 ns; 400 Gb/s are 50 bytes per ns. The floor: twice that, two MTUs, one pause frame.
        (400_000, 40, 10_000, 2 * 10_000 + 2 * 9100 + 84),
        (100_000, 8, 500, 2 * 500 + 2 * 9100 + 84),
        (25_000, 0.3, 4.6875, 18_294),  # 18 293.375 rounded up
        (800_000, 0, 0, 18_284),
    ],
)
def test_bytes_of_a_cable(speed_mbps: int, cable_m: float, in_flight: float, floor: int) -> None:
    assert bytes_in_flight(speed_mbps, cable_m) == pytest.approx(in_flight)
    assert headroom_floor_bytes(speed_mbps, cable_m, 9100) == floor


def test_peer_response() -> None:
    """Quanta of 64 bytes; figures of sonic-swss buffer_headroom_mellanox.lua."""
    quanta = {1: 2, 10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
    assert {gbps: peer_response_bytes(gbps * 1000) for gbps in quanta} == {gbps: n * 64 for gbps, n in quanta.items()}
    assert peer_response_bytes(5_000) is None


@pytest.mark.parametrize(
    ("dynamic_th", "queues", "share"), [(0, 1, 1 / 2), (0, 3, 1 / 4), (1, 1, 2 / 3), (-2, 1, 1 / 5), (3, 2, 8 / 17)]
)
def test_dynamic_threshold(dynamic_th: int, queues: int, share: float) -> None:
    """A queue takes alpha of the rest: with alpha 1 two parts of the pool, one for it and one free."""
    assert dynamic_threshold_bytes(1_000_000, dynamic_th, queues) == pytest.approx(1_000_000 * share)
    assert dynamic_threshold_bytes(1_000_000, 0) == 500_000


@given(st.integers(-7, 7), st.integers(1, 100), st.integers(1, 10**9))
def test_queues_and_the_free_part_are_the_pool(dynamic_th: int, queues: int, pool: int) -> None:
    each = dynamic_threshold_bytes(pool, dynamic_th, queues)
    assert each == pytest.approx(2.0**dynamic_th * (pool - queues * each), rel=1e-6)


def test_frames_of_a_full_pause() -> None:
    """A frame stops for 65 535 x 512 bit times: 83.9 microseconds at 400 Gb/s."""
    assert (
        full_pause_frames_per_second(400_000) == pytest.approx(400e9 / (65_535 * 512)) == pytest.approx(11_921.1, 1e-4)
    )


@pytest.mark.parametrize(
    ("wire", "cell", "held"), [(4178, 0, 4178), (84, 254, 254), (4178, 254, 17 * 254), (148, 64, 128)]
)
def test_a_packet_takes_whole_cells_without_its_gap(wire: int, cell: int, held: int) -> None:
    assert held_bytes(wire, cell) == held
