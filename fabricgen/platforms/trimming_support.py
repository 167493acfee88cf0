"""Which chips can trim packets as the inventory asks: to any size of a range, into any queue.

Tomahawk 5 trims to one size and puts the packets into a queue that no DSCP selects at the next switch, so a plane of
it cannot keep trimmed packets in one queue. Other chips have no public source.
"""

from collections.abc import Mapping

from fabricgen.platforms.model import SwitchPlatform

# Chip -> sizes in bytes that a trimmed packet may have. Cumulus Linux 5.14 documents Spectrum-4; sonic-mgmt@31255b46
# tests/packet_trimming/packet_trimming_config.py tests a wider range, which only newer SDKs have.
SIZES_BYTES: Mapping[str, range] = {"Spectrum-4": range(256, 1025, 4)}


def trim_sizes_bytes(platform: SwitchPlatform) -> range:
    """The sizes to which the platform can trim; empty if it cannot trim, or no source says so."""
    return SIZES_BYTES.get(platform.asic or "", range(0))
