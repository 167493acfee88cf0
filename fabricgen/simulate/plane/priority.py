"""The priority of a plane's RoCE traffic, and its DSCP."""

from collections.abc import Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.plane.names import wired_plane
from fabricgen.simulate.plane.queues import pfc_priorities

CNP_DSCP = 48  # CS6; NVIDIA, "RoCE configuration": cnp_dscp of ConnectX adapters


def judged_priority(bundle: Bundle, fabric: RoutedFabric, priorities: Sequence[int]) -> int | None:
    """The lossless priority that is simulated: the first of `priorities`, those that links carry; on a plane without
    links between switches, the first of any port. None without PFC."""
    if priorities:
        return priorities[0]
    if fabric.network.links:
        return None
    enabled = [priority for name in fabric.names for priority in pfc_priorities(bundle.devices[name])]
    return min(enabled, default=None)


def cnp_dscp(bundle: Bundle, plane: str) -> int:
    """The DSCP of congestion notifications, from fabric.json, else the default of NVIDIA's adapters."""
    wired = wired_plane(bundle, plane)
    return CNP_DSCP if wired is None or wired.cnp_dscp is None else wired.cnp_dscp


def roce_dscp(bundle: Bundle, plane: str, priority: int) -> int | None:
    """The DSCP that hosts give to RoCE packets of a priority, from fabric.json; None if unknown."""
    wired = wired_plane(bundle, plane)
    values = (wired.roce_dscp or {}).get(str(priority), ()) if wired else ()
    return values[0] if values else None
