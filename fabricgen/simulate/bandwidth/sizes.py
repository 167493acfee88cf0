"""Bandwidth by message size, as nccl-tests measures it.

The bytes take the time of the port with the most bytes for its speed. To them the longest chain of messages that wait
for each other is added, each with the time of a packet over the slowest path: propagation in the cables of the files,
and storing at each switch. What the files do not contain is left out: the launch of kernels, the NICs, PCIe and NVLink.
So the time of a small message is a lower bound.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricgen.bundle.read import Bundle
from fabricgen.results import SizeRow, SizeTable
from fabricgen.routing.fabric import read_fabric
from fabricgen.simulate.bandwidth.analysis import MOST_MESSAGES, gpus_of_node
from fabricgen.simulate.bandwidth.bus import bus_bytes
from fabricgen.simulate.bandwidth.times import EvenLoad, drawn, spread_of
from fabricgen.simulate.patterns import Everyone, Job, Pattern, Placement, make_job, make_traffic, uses_storage
from fabricgen.simulate.patterns.job import ABSENT, Order
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.names import infiniband_planes, planes_for
from fabricgen.simulate.plane.reading import network_of
from fabricgen.simulate.plane.subnet_plane import STATIC, Forwarding, subnet_plane
from fabricgen.vocabulary import BalanceMode, HashModel

COLLECTIVES = (Pattern.RING_ALL_REDUCE, Pattern.TREE_ALL_REDUCE, Pattern.REDUCE_SCATTER, Pattern.ALL_GATHER,
               Pattern.ALL_TO_ALL, Pattern.PIPELINE)  # fmt: skip
_UNIT_BYTES = float(1 << 30)  # times of bytes are proportional to the size


@dataclass(frozen=True)
class SizesOptions:
    """`sizes` are buffers of a rank in bytes. `draws` hashes are drawn, from `seed` on."""

    sizes: Sequence[int]
    patterns: Sequence[str] = COLLECTIVES
    placement: Order = Placement.ALIGNED
    queue_pairs: int | None = None
    hash_model: HashModel = HashModel.DEPLOYED
    seed: int = 0
    draws: int = 1
    balance: BalanceMode | None = None  # None: as fabric.json says


def analyse_sizes(
    bundle: Bundle,
    options: SizesOptions,
    plane: str | None = None,
    subnets: Forwarding = STATIC,
) -> list[SizeTable]:
    """The tables of each plane by pattern: of the job, then of each rail. Raises UsageError for an unknown plane."""
    storage = any(map(uses_storage, options.patterns))
    found: list[SizeTable] = []
    for name, switches in planes_for(bundle, plane, to_storage=storage):
        fabric = read_fabric(bundle, switches)
        network = network_of(bundle, fabric, name, options.hash_model, options.queue_pairs, options.balance)
        found += _tables(bundle, network, options)
    for name in infiniband_planes(bundle, plane, to_storage=storage):
        assert bundle.wiring is not None
        if subnet := subnet_plane(bundle.wiring, name, subnets):
            found += _tables(bundle, subnet, options)
    return found


def _tables(bundle: Bundle, plane: HostNetwork, options: SizesOptions) -> Iterator[SizeTable]:
    if not plane.adapters or plane.unjudged:
        return
    job = make_job(plane.adapters, options.placement, options.seed)
    whole = gpus_of_node(bundle, plane, job)
    rails = _by_rail(plane, job)
    for pattern in options.patterns:
        yield _table(plane, pattern, job, whole, None, options)
        for rail, (part, gpus) in rails.items():
            yield _table(plane, pattern, part, gpus, rail, options)


def _by_rail(plane: HostNetwork, job: Job) -> dict[int, tuple[Job, int]]:
    """The job of one GPU of each host on each rail, and the GPUs of its nodes."""
    channels: dict[int, list[int]] = {}
    for channel, column in enumerate(job.members.T):
        rail = plane.adapters[int(column[column != ABSENT][0])].rail
        if rail is not None:
            channels.setdefault(rail, []).append(channel)
    found = {}
    for rail, own in sorted(channels.items()):
        members = job.members[:, own]
        hosts = {plane.adapters[number].host for number in members[0].tolist() if number != ABSENT}
        found[rail] = Job(members, job.targets, job.stand_in), max(1, len(hosts))
    return found


def _table(plane: HostNetwork, pattern: str, job: Job, gpus: int, rail: int | None, options: SizesOptions) -> SizeTable:
    traffic = make_traffic(pattern, job, plane.adapters, _UNIT_BYTES, options.seed)
    steps = _steps(pattern, job.nodes)
    rates = np.where(job.members == ABSENT, 0.0, plane.line_rate[job.members]).sum(axis=1)
    table = SizeTable(plane.name, pattern, rail, job.nodes * gpus, steps, float(rates.min()))
    if not len(traffic):
        return replace(table, reason="no traffic over the network")
    if len(traffic) > MOST_MESSAGES:
        return replace(table, reason=f"{len(traffic)} messages are too many, the most are {MOST_MESSAGES}")
    messages = traffic.messages() if isinstance(traffic, Everyone) else traffic
    draws = [drawn(plane, messages, seed) for seed in range(options.seed, options.seed + options.draws)]
    even = EvenLoad(plane)
    even_ns = even.time_ns(messages.only(even.has_path(messages)))
    way_ns = max(one.way_ns for one in draws)
    bus = bus_bytes(pattern, job, _UNIT_BYTES, gpus)
    rows = []
    for size in options.sizes:
        part = size / _UNIT_BYTES
        times = [part * one.bytes_ns + steps * one.way_ns for one in draws]
        smooth = part * even_ns + steps * way_ns
        rows.append(
            SizeRow(
                size_bytes=size,
                time_ns=spread_of(times),
                alg_gbytes=spread_of([size / time if time else 0.0 for time in times]),
                bus_gbytes=None if bus is None else spread_of([bus * part / time if time else 0.0 for time in times]),
                even_bus_gbytes=None if bus is None or not smooth else round(bus * part / smooth, 3),
            )
        )
    return replace(table, way_ns=round(way_ns, 1), rows=tuple(rows))


def _steps(pattern: str, nodes: int) -> int:
    """The messages between nodes that wait for each other, one after the other: around a ring once to reduce and once
    to gather, up and down a binary tree, else one."""
    if pattern == Pattern.RING_ALL_REDUCE:
        return 2 * (nodes - 1)
    if pattern in (Pattern.REDUCE_SCATTER, Pattern.ALL_GATHER):
        return nodes - 1
    return 2 * (nodes - 1).bit_length() if pattern == Pattern.TREE_ALL_REDUCE else 1
