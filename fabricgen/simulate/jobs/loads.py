"""The loads of the jobs on the ports of a plane: of one draw of hashes, or spread evenly."""

from dataclasses import replace

import numpy as np

from fabricgen.simulate.bandwidth.times import EvenLoad
from fabricgen.simulate.jobs.sharing import JobLoads
from fabricgen.simulate.plane.hashing import Hashed, hashed_flows
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_PORT, Floats, Flows, Ints, Ports, latency_ns
from fabricgen.simulate.workload import Mix


def hashed_mix(plane: HostNetwork, mix: Mix, seed: int) -> Hashed:
    """The flows of all jobs on their paths in one draw. `mix` is split over queue pairs already."""
    sent = mix.messages
    return hashed_flows(plane, sent.source, sent.target, sent.bytes * plane.wire_share, sent.start_ns, seed)


def drawn_loads(plane: HostNetwork, mix: Mix, seed: int) -> JobLoads:
    """The loads of one draw; where packets of a message take all paths, those of evenly spread load."""
    found = hashed_mix(plane, mix, seed)
    loads = loads_of(plane.ports, found.flows, mix.owner[found.arrived], mix)
    return replace(loads, needed=even_loads(plane, mix).needed) if plane.is_sprayed else loads


def loads_of(ports: Ports, flows: Flows, owner: Ints, mix: Mix) -> JobLoads:
    """The loads of flows; `owner` is the job of each."""
    jobs = len(mix.jobs)
    flow, hop = (flows.path != NO_PORT).nonzero()
    cell = flows.path[flow, hop].astype(np.int64) * jobs + owner[flow]
    table = np.bincount(cell, weights=flows.bytes[flow], minlength=len(ports) * jobs).reshape(-1, jobs)
    latency = np.zeros(jobs)
    np.maximum.at(latency, owner, latency_ns(ports, flows))
    return JobLoads(table / ports.bytes_per_ns[:, None], _mean_bytes(flows.bytes, owner, jobs), latency, starts(mix))


def even_loads(plane: HostNetwork, mix: Mix) -> JobLoads:
    """The loads if every switch spreads evenly over its next hops, without latency. Messages without a path are left
    out."""
    even, jobs = EvenLoad(plane), len(mix.jobs)
    columns = np.zeros((len(plane.ports), jobs))
    kept = even.has_path(mix.messages)
    for job in range(jobs):
        sent = mix.messages.only(kept & (mix.owner == job))
        if len(sent):
            columns[:, job] = even.needed_ns(sent)
    size = mix.messages.bytes[kept] * plane.wire_share
    return JobLoads(columns, _mean_bytes(size, mix.owner[kept], jobs), np.zeros(jobs), starts(mix))


def line_ns(plane: HostNetwork, mix: Mix) -> Floats:
    """The time that each job needs at the line rate of its NICs: that of the NIC with the most bytes."""
    sent, jobs, adapters = mix.messages, len(mix.jobs), len(plane.adapters)
    found = np.zeros(jobs)
    for ends in (sent.source, sent.target):
        cell = mix.owner * adapters + ends
        load = np.bincount(cell, weights=sent.bytes * plane.wire_share, minlength=jobs * adapters)
        found = np.maximum(found, (load.reshape(jobs, adapters) / plane.line_rate).max(axis=1, initial=0.0))
    return found


def starts(mix: Mix) -> Floats:
    """The start of each job in ns."""
    return np.array([one.request.start_ns for one in mix.jobs])


def _mean_bytes(size: Floats, owner: Ints, jobs: int) -> Floats:
    count = np.bincount(owner, minlength=jobs)
    found: Floats = np.bincount(owner, weights=size, minlength=jobs) / np.maximum(count, 1)
    return found
