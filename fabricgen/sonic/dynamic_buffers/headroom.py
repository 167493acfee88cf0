"""The headroom profile that a switch computes for a port: xon, xoff and size.

Source: sonic-swss @e6b0c5b5 cfgmgr/buffer_headroom_mellanox.lua, and its versions of the branches 202405 to 202605;
names: cfgmgr/buffermgrdyn.cpp getDynamicProfileName.
The order of the operations is that of the source, because they round.
"""

import re
from dataclasses import dataclass
from math import ceil

from fabricgen.physics import DEFAULT_MTU_BYTES, peer_response_bytes
from fabricgen.sonic.dynamic_buffers.asics import WIDE_LANES, Asic, asic_of
from fabricgen.sonic.releases import MASTER
from fabricgen.units import format_length

_KIB = 1024
_LIGHT_M_PER_S = 198_000_000
_SMALLEST_PACKET_BYTES = 64
_COMPENSATION_BYTES = 2 * _KIB  # added where the headroom stays more than this below the worst case
FIRST_RELEASE = 202405  # with this algorithm (sonic-swss pull request 3235)
_COMPENSATED_SINCE = 202605  # pull requests 4757 and 4797: the bytes above, and extra_xoff_bytes of the ASIC
_WIDE_SPEED_MBPS = {"4": 400_000, "5": 800_000}  # of a model's series: every port of this speed has 8 lanes


@dataclass(frozen=True, slots=True)
class TrafficPattern:
    """LOSSLESS_TRAFFIC_PATTERN: the largest lossless packet, and the share of small packets, 0 to 100."""

    mtu_bytes: int
    small_packet_percentage: int


@dataclass(frozen=True, slots=True)
class WiredPort:
    """What the headroom of a port depends on."""

    speed_mbps: int
    cable_m: float
    lanes: int
    mtu_bytes: int = DEFAULT_MTU_BYTES


@dataclass(frozen=True, slots=True)
class PredictedHeadroom:
    """The profile of a lossless group. `size_bytes` is reserved for it; with shared headroom it leaves xoff out."""

    xon_bytes: int
    xoff_bytes: int
    size_bytes: int


def computed_headroom(
    asic: Asic, port: WiredPort, pattern: TrafficPattern, *, shared: bool, release: int = MASTER
) -> PredictedHeadroom:
    """The profile of a port. `shared`: all groups share one headroom pool. `release` is FIRST_RELEASE or later."""
    is_wide = port.lanes == WIDE_LANES
    if asic.cell_bytes > 2 * _SMALLEST_PACKET_BYTES:
        worst = ceil(asic.cell_bytes / _SMALLEST_PACKET_BYTES)
    else:
        worst = ceil(2 * asic.cell_bytes / (1 + asic.cell_bytes))
    delay = _delay_bytes(asic, port)
    xoff = _kib(pattern.mtu_bytes + delay * _occupancy(pattern, worst))
    all_small = _kib(pattern.mtu_bytes + delay * worst)
    is_mixed = pattern.small_packet_percentage != 100
    is_compensated = release >= _COMPENSATED_SINCE
    xoff += asic.extra_xoff_bytes if is_compensated else 0
    if is_compensated and not shared and is_mixed and xoff + _COMPENSATION_BYTES < all_small:
        xoff += _COMPENSATION_BYTES
    xon = asic.pipeline_kib * _KIB * (2 if is_wide else 1)
    size = xon if shared else xoff + xon + (port.mtu_bytes if is_wide else 0)
    return PredictedHeadroom(xon, xoff, _kib(size))


def profile_name(platform: str, port: WiredPort) -> str:
    """The name of the profile in APPL_DB, for the default alpha."""
    mtu = "" if port.mtu_bytes == DEFAULT_MTU_BYTES else f"_mtu{port.mtu_bytes}"
    model = re.search(r"sn(\d+)\d{3}", platform)
    usual_mbps = _WIDE_SPEED_MBPS.get(model[1]) if model else None
    lanes = "_8lane" if port.lanes == WIDE_LANES and usual_mbps and port.speed_mbps != usual_mbps else ""
    asic = asic_of(platform)
    gearbox = f"_{asic.gearbox}" if asic and asic.gearbox else ""
    cable = format_length(port.cable_m).replace(" ", "")
    return f"pg_lossless_{port.speed_mbps}_{cable}{mtu}{gearbox}{lanes}_profile"


def _delay_bytes(asic: Asic, port: WiredPort) -> float:
    """Bytes that arrive after the decision to pause, in packets that fill their cells."""
    on_cable = 2 * port.cable_m * port.speed_mbps * 1_000_000_000 / _LIGHT_M_PER_S / (8 * 1000)
    known = peer_response_bytes(port.speed_mbps)
    response = asic.peer_response_kib * _KIB if known is None else known
    tile = port.speed_mbps / 1000 * asic.tile_bytes_per_gbps
    gearbox = port.speed_mbps * asic.gearbox_delay / (8 * 1024)
    return port.mtu_bytes + on_cable + 2 * gearbox + asic.mac_phy_kib * _KIB + response + tile


def _occupancy(pattern: TrafficPattern, worst: int) -> float:
    """Bytes of cells for each byte of the pattern's packets. A small packet takes `worst` times its size."""
    small = pattern.small_packet_percentage
    mean = (small * _SMALLEST_PACKET_BYTES + (100 - small) * pattern.mtu_bytes) / 100
    share = 100 * _SMALLEST_PACKET_BYTES / mean
    return (100 - share + share * worst) / 100


def _kib(size: float) -> int:
    """The next multiple of 1024."""
    return ceil(size / _KIB) * _KIB
