"""Small planes for tests of jobs: leaves with hosts of one adapter below spines, without files."""

from dataclasses import replace

import numpy as np

from benchmarks.congestion_scale import synthetic_plane
from fabricgen.simulate.patterns import Adapter
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.workload import JobRequest, PlacedJob, PlaneSite, Unit

PLANE = "compute"


def small_plane(leaves: int, hosts: int, spines: int) -> HostNetwork:
    """One pod: `hosts` below each of `leaves`, and one link from each leaf to each of `spines`."""
    plane = synthetic_plane(pods=1, leaves=leaves, spines=spines, cores=1, hosts=hosts)
    ends = np.arange(len(plane.adapters))
    return replace(plane, name=PLANE, adapters=[Adapter(f"h{number}", "nic0", 0) for number in ends.tolist()])


def small_site(plane: HostNetwork) -> PlaneSite:
    """Each leaf is a unit."""
    return PlaneSite(
        plane.adapters,
        {
            adapter.host: Unit(0, leaf, f"su{leaf:02d}")
            for adapter, leaf in zip(plane.adapters, plane.leaf.tolist(), strict=True)
        },
    )


def placed(name: str, hosts: list[int], pattern: str = "ring-all-reduce", **keys: object) -> PlacedJob:
    """A job on hosts of a small plane."""
    request = JobRequest(name, hosts=("*",), pattern=pattern, **{"size_bytes": 1 << 20, **keys})  # type: ignore[arg-type]
    return PlacedJob(request, tuple(f"h{number}" for number in hosts), (PLANE,))
