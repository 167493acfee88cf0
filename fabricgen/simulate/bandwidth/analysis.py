"""The bandwidth of one plane of a bundle."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.results import BandwidthResult, FailureCost, FailureKind, PatternTime
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.bandwidth.failures import BandwidthJudge
from fabricgen.simulate.bandwidth.resweeps import MOST_SWEPT, resweeping
from fabricgen.simulate.bandwidth.times import demand_of, pattern_time
from fabricgen.simulate.patterns import DEFAULT_BYTES, Job, Pattern, Placement
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.names import infiniband_planes, planes_for
from fabricgen.simulate.plane.reading import network_of
from fabricgen.simulate.plane.rerouting import Reroute, converged
from fabricgen.simulate.plane.shortest_hops import by_destination, tiers_of, up_down_hops
from fabricgen.simulate.plane.subnet_plane import STATIC, Forwarding, subnet_plane

DEFAULT_PATTERNS = (Pattern.RING_ALL_REDUCE, Pattern.TREE_ALL_REDUCE, Pattern.ALL_TO_ALL, Pattern.PERMUTATION,
                    Pattern.PIPELINE, Pattern.INCAST)  # fmt: skip
MOST_MESSAGES = 4_000_000  # of a pattern: each has its path in every draw
DEPTHS = (1, 2)
_LISTS = "failures: not judged, because hosts choose among the lists of uSIDs that are left"
_MODELLED = "failures: shortest paths up and down that spread by destination, before a failure and after it"
_RESWEPT = (
    f"failures: OpenSM computes new routes for each set, of at most {MOST_SWEPT} sets of each kind; sets that take "
    "down the switch of the subnet manager are left out"
)
_UNKNOWN = (
    "failures are not judged: the plane is not a tree, so OpenSM must compute the routes after each of them; install "
    "opensm and ibsim"
)


@dataclass(frozen=True)
class BandwidthOptions:
    """`size_bytes` is the buffer of one rank. `draws` hashes are drawn, from `seed` on. `failure_sets` is the most sets
    that are judged of each kind and number of failures; 0: no failures."""

    patterns: Sequence[str] = DEFAULT_PATTERNS
    size_bytes: float = DEFAULT_BYTES
    placement: Placement = Placement.ALIGNED
    seed: int = 0
    draws: int = 8
    failure_sets: int = 64

    @property
    def failure_pattern(self) -> str:
        """The traffic of failures: all-to-all, which uses every link, if it is among the patterns."""
        return Pattern.ALL_TO_ALL if Pattern.ALL_TO_ALL in self.patterns else self.patterns[0]


def analyse_bandwidth(
    bundle: Bundle,
    options: BandwidthOptions,
    plane: str | None = None,
    subnets: Forwarding = STATIC,
) -> BandwidthResult:
    """The bandwidth of `plane`, by default of the first one that carries traffic of jobs.

    `subnets` is the forwarding of InfiniBand planes. Raises UsageError for an unknown plane, and for a pattern with
    more than MOST_MESSAGES.
    """
    for name, switches in planes_for(bundle, plane, to_storage=False):
        fabric = read_fabric(bundle, switches)
        network = network_of(bundle, fabric, name)
        if network.unjudged:
            return BandwidthResult(name, (), reason=network.unjudged)
        if network.lists:
            return _judge(bundle, network, options, None, _said("", options, _LISTS))
        return _judge(bundle, network, options, converged(bundle, fabric, network))
    for name in infiniband_planes(bundle, plane):
        assert bundle.wiring is not None
        found = subnet_plane(bundle.wiring, name, subnets)
        if found is None:
            return BandwidthResult(name, (), reason=subnets.why_not(name))
        assumed = subnets.assumption(name)
        if (model := routed_anew(found)) is not None:
            return _judge(bundle, found, options, model, _said(assumed, options, _MODELLED), _with_routes(found, model))
        if not options.failure_sets:
            return _judge(bundle, found, options, None, assumed)
        with resweeping(bundle, found) as reroute:
            said = _said(assumed, options, _UNKNOWN if reroute is None else _RESWEPT)
            return _judge(bundle, found, options, reroute, said, most_routed=MOST_SWEPT)
    return BandwidthResult(plane or "", (), reason="no plane carries the traffic of jobs")


def _judge(
    bundle: Bundle,
    plane: HostNetwork,
    options: BandwidthOptions,
    reroute: Reroute | None,
    reason: str = "",
    modelled: HostNetwork | None = None,
    most_routed: int | None = None,
) -> BandwidthResult:
    """`modelled` is the plane that failures are compared with, if its routes are not those of `plane`. `most_routed` is
    the most sets of each kind for which routes are computed."""
    if not plane.adapters:
        return BandwidthResult(plane.name, (), reason="the files contain no hosts")
    times: list[PatternTime] = []
    failures: list[FailureCost] = []
    for pattern in options.patterns:
        demand = demand_of(plane, pattern, options.size_bytes, options.placement, options.seed)
        if not len(demand.messages):
            continue  # one node: its traffic stays on NVLink
        if len(demand.messages) > MOST_MESSAGES:
            raise UsageError(
                f"{pattern} has {len(demand.messages)} messages, the most are {MOST_MESSAGES}: leave it out"
            )
        seeds = range(options.seed, options.seed + options.draws)
        times.append(pattern_time(plane, demand, options.size_bytes, gpus_of_node(bundle, plane, demand.job), seeds))
        if pattern == options.failure_pattern and reroute is not None and options.failure_sets:
            judge = BandwidthJudge(modelled or plane, demand.messages, reroute)
            failures = [
                judge.cost(kind, depth, _most_sets(kind, options.failure_sets, most_routed), options.seed)
                for kind in FailureKind
                for depth in DEPTHS
            ]
    return BandwidthResult(plane.name, tuple(times), options.failure_pattern, tuple(failures), reason)


def _most_sets(kind: FailureKind, wanted: int, most_routed: int | None) -> int:
    """A link of a host fails without new routes between switches."""
    return wanted if most_routed is None or kind is FailureKind.HOST_LINK else min(wanted, most_routed)


def _said(assumed: str, options: BandwidthOptions, how: str) -> str:
    return "; ".join(filter(None, [assumed, how if options.failure_sets else ""]))


def gpus_of_node(bundle: Bundle, plane: HostNetwork, job: Job) -> int:
    """The GPUs of a node, mean of the nodes that have any; where the files name no GPUs, one for each channel."""
    models = {model.name: model.gpus for model in (bundle.wiring.host_models if bundle.wiring else ())}
    of_nodes = []
    for row in job.members.tolist():
        hosts = {plane.adapters[number].host: plane.adapters[number].model for number in row if number >= 0}
        of_nodes.append(sum(models.get(model, 0) for model in hosts.values()))
    found = [gpus for gpus in of_nodes if gpus]
    return round(sum(found) / len(found)) if found else job.channels


def routed_anew(plane: HostNetwork) -> Reroute | None:
    """The next hops of an InfiniBand plane after its subnet manager has computed them without some links, as the
    engines for trees do; None if the plane is not a tree."""
    tier = tiers_of(plane.network, plane.leaf)
    if tier is None:
        return None

    def reroute(dead: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
        hops = up_down_hops(plane.network, tier, plane.leaf, dead)
        return hops if plane.adaptive else by_destination(plane.network, hops, plane.leaf)

    return reroute


def _with_routes(plane: HostNetwork, reroute: Reroute) -> HostNetwork:
    """The plane with the routes of this model, without a failure."""
    adapters = np.arange(len(plane.adapters))
    return replace(plane, hops=reroute(np.zeros(0, np.int64)), column=adapters, columns=len(adapters))
