"""The buffers of InfiniBand as the groups of the fluid model.

A port that sends by credits stops when its packets in the cable and in the buffer at the far end fill that buffer. The
fluid model decides at the buffer and acts one reaction time later, so its threshold is the buffer without the bytes of
a reaction time, and at least a full packet. A buffer of few packets limits the speed of its link, too: they take a
round trip.
"""

from dataclasses import replace

import numpy as np

from fabricgen.physics import CREDIT_BLOCK_BYTES
from fabricgen.simulate.plane.ports import NO_POOL, Flags, Ports


def with_credits(ports: Ports, has_buffer: Flags, buffer_bytes: int, return_ns: float = 0) -> Ports:
    """The ports with a separate buffer at the far end of each of the ports that `has_buffer` selects."""
    count = len(ports)
    reacting = replace(ports, response_bytes=ports.bytes_per_ns * return_ns)
    threshold = np.maximum(buffer_bytes - reacting.reaction_bytes, ports.packet_bytes)
    in_blocks = -(-ports.packet_bytes // CREDIT_BLOCK_BYTES) * CREDIT_BLOCK_BYTES
    most = buffer_bytes // in_blocks * ports.packet_bytes  # bytes of the packets that the buffer holds
    most_per_ns = most / (reacting.reaction_bytes / ports.bytes_per_ns)
    return replace(
        reacting,
        bytes_per_ns=np.where(has_buffer, np.minimum(ports.bytes_per_ns, most_per_ns), ports.bytes_per_ns),
        unlimited_bytes_per_ns=ports.bytes_per_ns,
        pool=np.where(has_buffer, np.arange(count), NO_POOL),
        alpha=np.zeros(count),
        reserve_bytes=np.zeros(count),
        static_bytes=threshold,
        pool_bytes=np.full(count, float(buffer_bytes)),
        xon_offset_bytes=0.0,
    )
