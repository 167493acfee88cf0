"""Packet trimming on a plane without PFC: a full bulk queue cuts a packet to its headers instead of dropping it.

The receiver gets the headers and asks for the packet again at once. The headers travel with a separate DSCP in the
strict queue below network control, at the switch that trims and at every later one. The queues that trim need a buffer
profile that no list of a port has: orchagent refuses such a list (sonic-swss orchagent/bufferorch.cpp).

Tomahawk 5 trims to one size and puts the packets into a queue that no DSCP selects at the next switch, so a plane of
it cannot keep trimmed packets in one queue. Other chips have no public source.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.inventory.traffic import TrimmingSpec
from fabricgen.lossless.classes import TRAFFIC_CLASSES, Classes
from fabricgen.origin import Value, value
from fabricgen.platforms.model import BufferDefaults, SwitchPlatform
from fabricgen.sonic.release_models import absence
from fabricgen.sonic.tables import format_ranges

PROFILE = "trimming_profile"
# Chip -> sizes in bytes that a trimmed packet may have. Cumulus Linux 5.14 documents Spectrum-4; sonic-mgmt@31255b46
# tests/packet_trimming/packet_trimming_config.py tests a wider range, which only newer SDKs have.
SIZES_BYTES: Mapping[str, range] = {"Spectrum-4": range(256, 1025, 4)}


def trim_sizes_bytes(platform: SwitchPlatform) -> range:
    """The sizes to which the platform can trim; empty if it cannot trim, or no source says so."""
    return SIZES_BYTES.get(platform.asic or "", range(0))


@dataclass(frozen=True, slots=True)
class Trimming:
    """The trimming of a switch. Rows are CONFIG_DB rows."""

    settings: Mapping[str, Value]  # the row SWITCH_TRIMMING|GLOBAL
    profile: Value
    profile_row: Mapping[str, Value]
    queue_ranges: tuple[str, ...]  # the queues that trim: '0-5'


def trimming_queues(classes: Classes) -> frozenset[int]:
    """The queues that trim: all that share the bandwidth. Strict queues carry what must not be cut."""
    return frozenset(TRAFFIC_CLASSES) - frozenset(classes.strict)


def trimming_problem(
    spec: TrimmingSpec, platform: SwitchPlatform, defaults: BufferDefaults, release: int
) -> tuple[str, str] | None:
    """Why a switch cannot trim as the inventory asks, and what to do about it; None if it can."""
    sizes = trim_sizes_bytes(platform)
    if not sizes:
        chips = " or ".join(SIZES_BYTES)
        chip = f" ({platform.asic})" if platform.asic else ""
        message = f"{platform.name}{chip} cannot be set to trim into a queue that later switches use, too"
        return message, f"use a platform with {chips}, or remove `trimming`"
    if spec.size_bytes not in sizes:
        message = f"{platform.asic} does not trim to {spec.size_bytes} bytes"
        return message, f"set `size` to {sizes[0]} to {sizes[-1]}, in steps of {sizes.step}"
    if absence(release, "SWITCH_TRIMMING", "GLOBAL"):
        return f"SONiC {release} has no SWITCH_TRIMMING", "set `sonic: {release: 202505}` or a later one"
    if defaults.lossy_queue_profile not in defaults.profiles:
        message = f"{platform.name} has no buffer facts, so no profile can trim"
        return message, "import the SKU's folder, or remove `trimming`"
    return None


def plan_trimming(spec: TrimmingSpec, classes: Classes, defaults: BufferDefaults, source: str) -> Trimming:
    """The trimming that the inventory asks for. The profile has the thresholds of the SKU's lossy queue profile.

    `source` is the file that the SKU's buffer defaults were read from.
    """
    queue = classes.dscp_to_tc[str(spec.dscp)]
    lossy = defaults.profiles[defaults.lossy_queue_profile]
    return Trimming(
        settings={
            "size": value(spec.size_bytes, "a trimmed packet", inventory=spec.source("size")),
            "dscp_value": value(spec.dscp, "the DSCP of trimmed packets", inventory=spec.source("dscp")),
            "queue_index": value(
                queue, f"the queue of DSCP {spec.dscp} at every switch", inventory=spec.source("dscp")
            ),
        },
        profile=value(PROFILE, "the profile of queues that trim", inventory=spec.source()),
        profile_row={
            **{
                name: value(text, f"as {defaults.lossy_queue_profile}", platform=source) for name, text in lossy.items()
            },
            "packet_discard_action": value("trim", "cut what does not fit", inventory=spec.source()),
        },
        queue_ranges=tuple(format_ranges(trimming_queues(classes))),
    )
