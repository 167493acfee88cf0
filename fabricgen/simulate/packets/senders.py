"""What RoCE adapters do: the sizes of their packets, and the parameters of DCQCN."""

from dataclasses import replace

from fabricgen.physics import PFC_FRAME_BYTES, ROCE_V2_WIRE_BYTES
from fabricgen.simulate.scenario import CongestionControl, Dcqcn, Transport

DCQCN_SPEED_GBPS = 100.0
# ConnectX adapters at that speed: HPCC's "mlx" settings, which its authors have from NVIDIA. Steps grow with the speed.
_DCQCN = Dcqcn(
    g=1 / 256, alpha_timer_ns=1000, rate_decrease_interval_ns=4000, increase_timer_ns=300_000, fast_recovery_times=1,
    rate_ai_mbps=20, rate_hai_mbps=200, min_rate_mbps=100, cnp_interval_ns=4000,
)  # fmt: skip


def roce_transport(payload_bytes: int, dcqcn_gbps: float | None = None) -> Transport:
    """The transport of RoCE adapters: with DCQCN for adapters of a speed, or without it."""
    dcqcn = None
    if dcqcn_gbps is not None:
        steps = (rate * dcqcn_gbps / DCQCN_SPEED_GBPS for rate in (_DCQCN.rate_ai_mbps, _DCQCN.rate_hai_mbps))
        rate_ai, rate_hai = steps
        dcqcn = replace(_DCQCN, rate_ai_mbps=rate_ai, rate_hai_mbps=rate_hai)
    return Transport(
        payload_bytes=payload_bytes,
        header_bytes=ROCE_V2_WIRE_BYTES,
        ack_bytes=PFC_FRAME_BYTES,  # the smallest frame, as a pause frame
        pfc_frame_bytes=PFC_FRAME_BYTES,
        ack_lossless=True,  # in the class of their queue pair
        congestion_control=CongestionControl.DCQCN if dcqcn else CongestionControl.NONE,
        dcqcn=dcqcn,
    )
