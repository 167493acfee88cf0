"""CPU time of a deadlock verdict on a rendered fabric by stage, with networkx and rustworkx on the same graph.

    python -m benchmarks.deadlock BUNDLE [--peers] [--distinct-asns]

Prints CPU seconds and the largest resident set. With --distinct-asns all switches above the hosts have different ASNs.
The peers search the same dependency graph for strongly connected components. They need most of their time to build
their graphs, so use --peers with some hundred switches only.
"""

import argparse
import gc
import resource
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

from fabricgen.bundle.read import open_bundle
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.deadlock import Failures
from fabricgen.simulate.deadlock.analysis import ground_of
from fabricgen.simulate.deadlock.core.dependencies import ChannelGraph
from fabricgen.simulate.deadlock.failures.failure_sets import links_that_fail
from fabricgen.simulate.deadlock.failures.judge import FailureJudge
from fabricgen.simulate.plane.hosts import host_traffic
from fabricgen.simulate.plane.lossless import lossless_links
from fabricgen.simulate.plane.names import planes
from fabricgen.vocabulary import Repair


def main() -> None:
    """Measure the first plane of a bundle."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--distinct-asns", action="store_true")
    options = parser.parse_args()
    gc.disable()  # as the command line does
    lap = _Lap()
    bundle = open_bundle([options.bundle])
    lap("fabric.json, list of files")
    name, switches = planes(bundle)[0]
    fabric = read_fabric(bundle, switches)
    read_s = lap("config_db files to sessions")
    print(f"  {read_s / len(switches) * 1000:.2f} ms for each of {len(switches)} switches")
    traffic, lossless = host_traffic(bundle, fabric), lossless_links(fabric)
    ground_s = lap("hosts, lossless classes")
    ground = ground_of(fabric, traffic, lossless)
    if options.distinct_asns:
        own = np.where(ground.sources, ground.policy.asn, (1 << 32) + np.arange(len(switches)))
        ground = replace(ground, policy=replace(ground.policy, asn=own))
    base = ground.converged()
    print(f"  {'cyclic' if base.buffers.is_cyclic else 'free'}: {len(base.buffers.links.successors)} dependencies")
    base_s = ground_s + lap("routes, dependencies, order")
    print(f"  {base_s:.2f} s for the verdict on plane {name!r} once its files are read")
    failures = links_that_fail(bundle, fabric)
    for what, scope in (("", Failures(3)), ("local repair: ", Failures(2, repair=Repair.LOCAL))):
        judge = FailureJudge(base, scope)
        for depth in range(1, scope.depth + 1):
            verdict = judge.of_depth(failures, depth)
            lap(f"{what}{verdict.summary.sets} sets of {depth}, by {verdict.how}")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    if options.peers:
        _peers(base.buffers.links, lap)


class _Lap:
    """CPU seconds since the previous lap."""

    def __init__(self) -> None:
        self.last = process_time()

    def __call__(self, what: str) -> float:
        now = process_time()
        spent, self.last = now - self.last, now
        print(f"{what:50} {spent:8.2f} s")
        return spent


def _peers(graph: ChannelGraph, lap: _Lap) -> None:
    import networkx
    import rustworkx

    edges = list(zip(graph.tails().tolist(), graph.successors.tolist(), strict=True))
    lap("edges as pairs, for the peers")
    other = networkx.DiGraph()
    other.add_nodes_from(range(graph.channels))
    other.add_edges_from(edges)
    count = sum(1 for _ in networkx.strongly_connected_components(other))
    lap(f"networkx: {count} components")
    third = rustworkx.PyDiGraph()
    third.add_nodes_from(range(graph.channels))
    third.add_edges_from_no_data(edges)
    lap(f"rustworkx: {len(rustworkx.strongly_connected_components(third))} components")


if __name__ == "__main__":
    main()
