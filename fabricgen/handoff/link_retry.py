"""Link layer retry (LLR) and credits (CBFC) for the links between switches, from their cables: planned only.

No release of SONiC reads LLR_PORT or LLR_PROFILE: the HLD is merged (sonic-net/SONiC pull request 2098, 2026-07-13),
the daemon and the YANG models are open (sonic-swss 4528, sonic-buildimage 27028), and CBFC has no HLD (SONiC issue
2017). So the values are a table for platforms that are configured in another way, and nothing is rendered. Fields and
limits are those of the HLD.
"""

import csv
import io
from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff
from fabricgen.physics import (
    DEFAULT_ROCE_MTU_BYTES,
    PROPAGATION_NS_PER_M,
    ROCE_V2_HEADER_BYTES,
    WIRE_GAP_BYTES,
    peer_response_bytes,
    retry_floor_bytes,
)
from fabricgen.units import format_length, format_speed
from fabricgen.vocabulary import LinkKind

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle

COLUMNS = (
    "device", "port", "far_device", "far_port", "speed", "length", "max_outstanding_bytes", "max_outstanding_frames",
    "replay_timer_ns", "pfc_headroom_bytes", "cbfc_credit_bytes", "status",
)  # fmt: skip
_STATUS = "planned only: no release of SONiC reads LLR or CBFC"
_LEAST_FRAME_BYTES = 64
_MOST_FRAMES, _MOST_TIMER_NS = 524_288, 65_535  # of the HLD
_KINDS = (LinkKind.LEAF_SPINE, LinkKind.SPINE_CORE)


def link_retry_files(bundle: "Bundle") -> Iterator[tuple[str, bytes]]:
    """(name, bytes): llr.csv with a row for each end of each link between switches.

    A sender may have outstanding what it sends in a round trip and in the reaction time of the far end. `pfc_headroom`
    are the bytes that a replay adds to the headroom of lossless groups, because it delays pause frames. `cbfc_credit`
    is the buffer whose credits fill the link. Raises UsageError if no link between switches has a known length and
    speed.
    """
    rows: list[list[object]] = []
    for link in bundle.links:
        length_m, response = bundle.cable_length_m.get(link.id), peer_response_bytes(link.speed_mbps)
        if link.kind not in _KINDS or not length_m or response is None:
            continue
        needed = retry_floor_bytes(link.speed_mbps, length_m) + response
        frames = min(_MOST_FRAMES, ceil(needed / (_LEAST_FRAME_BYTES + WIRE_GAP_BYTES)))
        response_ns = response * 8_000 / link.speed_mbps
        timer_ns = min(_MOST_TIMER_NS, ceil(2 * (2 * length_m * PROPAGATION_NS_PER_M + response_ns)))
        credit = needed + 2 * (_payload_bytes(bundle, link.plane) + ROCE_V2_HEADER_BYTES)
        values = [format_speed(link.speed_mbps), format_length(length_m), needed, frames, timer_ns, needed, credit]
        rows += [[*near, *far, *values, _STATUS] for near, far in ((link.a, link.b), (link.b, link.a))]
    if not rows:
        raise UsageError("the bundle has no link between switches with a known length and speed")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([COLUMNS, *rows])
    yield "llr.csv", text.getvalue().encode()


def _payload_bytes(bundle: "Bundle", plane: str) -> int:
    """The largest RoCE payload of a plane, in bytes."""
    planes = bundle.wiring.planes if bundle.wiring else ()
    return next((one.roce_mtu for one in planes if one.name == plane and one.roce_mtu), DEFAULT_ROCE_MTU_BYTES)


HANDOFF = Handoff(
    "link-retry",
    "Write the parameters of link layer retry and credits for each link between switches, by its cable: planned only.",
    link_retry_files,
    next_step="{output}/llr.csv is a plan: no release of SONiC reads LLR or CBFC from CONFIG_DB",
)
