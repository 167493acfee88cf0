"""The service levels (SLs) of applications that request no path record, such as NCCL, and the routes on these SLs.

NCCL sends all packets with NCCL_IB_SL, or with SL 0 (NVIDIA/nccl, src/transport/net_ib). So an engine that breaks
credit loops by the SLs of path records does not protect its traffic.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.bundle.hosts import ObservedHosts
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Location
from fabricgen.observed.opensm_dumps import Dumps
from fabricgen.observed.path_sls import NO_PATH
from fabricgen.routing.infiniband import LANES
from fabricgen.units import whole_number
from fabricgen.vocabulary import Purpose, Technology

SETTING = "NCCL_IB_SL"


@dataclass(frozen=True, slots=True)
class JobLevels:
    """The SLs that collectives use on a plane. `groups` are the hosts of compute planes with a file of NCCL or RCCL;
    `place` is the setting of the first group, or its file."""

    levels: tuple[int, ...] = (0,)
    groups: tuple[str, ...] = ()
    place: Location | None = None


NO_JOBS = JobLevels()


def job_levels(bundle: Bundle) -> Mapping[str, JobLevels]:
    """The SLs of collectives by compute plane, as the files of hosts set them."""
    wiring = bundle.wiring
    if wiring is None:
        return {}
    found: dict[str, JobLevels] = {}
    for plane in wiring.planes:
        if plane.technology == Technology.INFINIBAND and plane.purpose == Purpose.COMPUTE:
            on_plane = {host.group for host in wiring.hosts for nic in host.nics if nic.plane == plane.name}
            groups = [bundle.hosts[name] for name in bundle.hosts if name in on_plane]
            groups = [group for group in groups if group.nccl_file in group.files]
            if groups:
                levels = tuple(sorted({_level(group) for group in groups}))
                place = groups[0].locate(groups[0].nccl_file, SETTING)
                found[plane.name] = JobLevels(levels, tuple(group.group for group in groups), place)
    return found


def _level(group: ObservedHosts) -> int:
    """The SL of a group; NCCL takes -1, a missing and a wrong value for 0."""
    level = whole_number(group.settings(group.nccl_file).get(SETTING, "0"))
    return level if level is not None and 0 <= level < LANES else 0


def on_levels(dumps: Dumps, levels: tuple[int, ...]) -> Dumps:
    """The same routes with the packets of every path on each of the SLs. A pair without a path record has no path:
    its ports share no P_Key, so that switches drop their packets."""
    ports, lids = len(dumps.subnet.adapters), len(dumps.destinations)
    if dumps.path_sl is None:
        has_path = np.ones((ports, lids), bool)
    else:
        has_path = (dumps.path_sl != NO_PATH).reshape(-1, ports, lids).any(axis=0)
    rows = [np.where(has_path, np.uint8(level), np.uint8(NO_PATH)) for level in levels]
    return replace(dumps, path_sl=np.concatenate(rows))
