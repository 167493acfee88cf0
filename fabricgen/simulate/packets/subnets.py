"""The InfiniBand planes that a packet run takes, and the reasons why it leaves others out."""

from dataclasses import dataclass, field

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.observed.opensm_dumps import Dumps
from fabricgen.routing.infiniband import LANES, Hop, walk
from fabricgen.simulate.packets.from_bundle import PlaneScenario
from fabricgen.simulate.packets.from_subnet import subnet_scenario
from fabricgen.simulate.packets.slicing import TrafficChoice
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.names import infiniband_planes
from fabricgen.simulate.plane.service_levels import NO_JOBS, job_levels, on_levels
from fabricgen.simulate.plane.subnet_plane import Forwarding, subnet_plane
from fabricgen.simulate.scenario import Credits


@dataclass(frozen=True)
class SubnetPlane:
    """A plane, the virtual lane of its flows, and what its paths rest on."""

    network: HostNetwork
    buffers: Credits
    lane: int
    assumption: str

    def scenario(self, choice: TrafficChoice) -> PlaneScenario | None:
        """The scenario of a pattern; None if it sends no traffic over the plane."""
        return subnet_scenario(self.network, choice, self.buffers, self.lane, self.assumption)


@dataclass(frozen=True)
class SubnetPlanes:
    """The planes to run, and the reason for each plane that is left out, by name."""

    planes: tuple[SubnetPlane, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)


NO_SUBNETS = SubnetPlanes()


def choose_subnets(bundle: Bundle, plane: str | None, forwarding: Forwarding, *, to_storage: bool) -> SubnetPlanes:
    """The InfiniBand planes for traffic, or the one with the name `plane`."""
    found, left_out = list[SubnetPlane](), dict[str, str]()
    jobs = job_levels(bundle)
    for name in infiniband_planes(bundle, plane, to_storage=to_storage):
        assert bundle.wiring is not None
        network = subnet_plane(bundle.wiring, name, forwarding)
        level = jobs.get(name, NO_JOBS).levels[0]
        lanes = sorted({lane for dumps in forwarding.tables.get(name, ()) for lane in _lanes(dumps, level)}) or [level]
        if network is None or not network.adapters:
            left_out[name] = forwarding.why_not(name) if network is None else "the files contain no hosts"
        elif len(lanes) > 1:
            listed = ", ".join(map(str, lanes))
            left_out[name] = f"packets of SL {level} change between virtual lanes {listed}, and a run has one lane"
        else:
            buffers = Credits(forwarding.buffer_bytes)
            found.append(SubnetPlane(network, buffers, lanes[0], forwarding.assumption(name)))
    return SubnetPlanes(tuple(found), left_out)


def _lanes(dumps: Dumps, level: int) -> set[int]:
    """The virtual lanes of all packets of a service level."""
    if dumps.sl2vl is None:
        return {level}
    hops = (step.awaited for step in walk(on_levels(dumps, (level,))) if isinstance(step, Hop))
    return {lane for awaited in hops for lane in np.unique(awaited % LANES).tolist()}
