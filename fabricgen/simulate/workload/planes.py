"""The planes that jobs send on, as networks with their hosts, and the hosts of each job."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding
from fabricgen.routing.fabric import RoutedFabric, read_fabric
from fabricgen.simulate.patterns import uses_storage
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.names import infiniband_planes, planes_for
from fabricgen.simulate.plane.reading import network_of
from fabricgen.simulate.plane.subnet_plane import STATIC, Forwarding, subnet_plane
from fabricgen.simulate.workload.model import JobRequest, JobsFile, PlacedJob
from fabricgen.simulate.workload.placing import place_jobs
from fabricgen.simulate.workload.sites import PlaneSite, site_of
from fabricgen.vocabulary import BalanceMode, HashModel


@dataclass(frozen=True)
class JobPlanes:
    """The networks and sites of planes, the fabric of those with BGP, the placed jobs, and all mistakes: of the file
    and of the placement. `skipped` are the planes without paths or hosts, with the reason."""

    networks: Mapping[str, HostNetwork]
    fabrics: Mapping[str, RoutedFabric]
    sites: Mapping[str, PlaneSite]
    placed: tuple[PlacedJob, ...]
    mistakes: tuple[Finding, ...]
    skipped: Mapping[str, str]

    def on(self, plane: str) -> tuple[PlacedJob, ...]:
        """The jobs that send on a plane."""
        return tuple(one for one in self.placed if plane in one.planes)


def jobs_on_planes(
    bundle: Bundle,
    file: JobsFile,
    seed: int,
    plane: str | None = None,
    forwarding: Forwarding = STATIC,
    model: HashModel = HashModel.DEPLOYED,
    queue_pairs: int | None = None,
    balance: BalanceMode | None = None,
) -> JobPlanes:
    """Read the planes of the jobs, and give each job its hosts. A collective runs on compute planes, storage traffic on
    the storage plane if there is one. Raises UsageError for an unknown plane."""
    wanted = {storage: _names(bundle, plane, storage) for storage in dict.fromkeys(map(_stores, file.jobs))}
    networks, fabrics, skipped = dict[str, HostNetwork](), dict[str, RoutedFabric](), dict[str, str]()
    for name, switches in dict(one for names in wanted.values() for one in names).items():
        if switches is None:
            assert bundle.wiring is not None
            network = subnet_plane(bundle.wiring, name, forwarding)
            if network is not None and queue_pairs is not None:
                network = replace(network, queue_pairs=queue_pairs)
        else:
            fabrics[name] = read_fabric(bundle, switches)
            network = network_of(bundle, fabrics[name], name, model, queue_pairs, balance)
        if network is None:
            skipped[name] = forwarding.why_not(name)
        elif not network.adapters or network.unjudged:
            skipped[name] = network.unjudged or "the files contain no hosts"
        else:
            networks[name] = network
    sites = {name: site_of(bundle, network) for name, network in networks.items()}
    planes = {one.name: [name for name, _ in wanted[_stores(one)] if name in networks] for one in file.jobs}
    placed, mistakes = place_jobs(file.jobs, planes, sites, seed)
    if file.mistakes:  # a job that is not read takes no hosts, so others seem to have room
        mistakes = [one for one in mistakes if not one.path.endswith((".count", ".unit"))]
    return JobPlanes(networks, fabrics, sites, tuple(placed), (*file.mistakes, *mistakes), skipped)


def _stores(one: JobRequest) -> bool:
    return uses_storage(one.pattern)


def _names(bundle: Bundle, plane: str | None, storage: bool) -> list[tuple[str, list[str] | None]]:
    """The planes with their switches; None for InfiniBand."""
    ethernet: list[tuple[str, list[str] | None]] = [*planes_for(bundle, plane, to_storage=storage)]
    return ethernet + [(name, None) for name in infiniband_planes(bundle, plane, to_storage=storage)]
