"""A job: the adapters of its nodes, and the order in which ranks are placed on them."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.platforms.catalog import host_model
from fabricgen.simulate.plane.adapters import Adapter

Ints = NDArray[np.int64]

ABSENT = -1
_HOSTS_PER_TARGET = 16  # without storage hosts, one host in 16 serves as storage


class Placement(enum.StrEnum):
    """The order of a job's nodes: that of the hosts in the files, which follows scalable units, or shuffled with the
    rails kept."""

    ALIGNED = "aligned"
    FRAGMENTED = "fragmented"


Order = Placement | tuple[str, ...]  # or the names of the hosts in rank order


@dataclass(frozen=True)
class Job:
    """`members` (nodes x channels) are the numbers of adapters in the order of ranks, ABSENT where a node does not have
    the channel. A node is one NVLink domain. A channel connects the adapters at the same place of their nodes, so its
    traffic stays on one rail. `targets` are the adapters of storage; with `stand_in` they belong to hosts that are not
    storage hosts."""

    members: Ints
    targets: Ints
    stand_in: bool = False

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.members)

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self.members.shape[1])


def read_order(placement: str | Sequence[str]) -> Order:
    """The order of a placement's name, or of hosts in rank order. Raises UsageError for an unknown name."""
    if not isinstance(placement, str):
        return tuple(placement)
    if placement not in list(Placement):
        raise UsageError(f"unknown placement {placement!r}; the placements are {', '.join(Placement)}")
    return Placement(placement)


def make_job(adapters: Sequence[Adapter], placement: Order = Placement.ALIGNED, seed: int = 0) -> Job:
    """The job of all compute hosts. Raises UsageError if `placement` names an unknown host."""
    computing, storing = _split(adapters)
    by_host: dict[str, list[int]] = {}
    for number in computing:
        by_host.setdefault(adapters[number].host, []).append(number)
    nodes = _nodes(adapters, by_host, placement)
    if placement is Placement.FRAGMENTED:
        order = np.random.default_rng(seed).permutation(len(nodes))
        nodes = [nodes[index] for index in order]
    labels = [[(place, adapters[number].nic) for place, host in enumerate(node) for number in by_host[host]]
              for node in nodes]  # fmt: skip
    channel = {label: index for index, label in enumerate(dict.fromkeys(label for row in labels for label in row))}
    members = np.full((len(nodes), len(channel)), ABSENT, np.int64)
    for row, (node, names) in enumerate(zip(nodes, labels, strict=True)):
        numbers = [number for host in node for number in by_host[host]]
        members[row, [channel[name] for name in names]] = numbers
    if storing:
        return Job(members, np.array(storing, np.int64))
    stand_ins = members[::-1][: max(1, len(members) // _HOSTS_PER_TARGET)]
    return Job(members, stand_ins[stand_ins != ABSENT], stand_in=True)


def job_of_each_tenant(job: Job, adapters: Sequence[Adapter]) -> list[Job]:
    """The part of a job that each tenant has, in the order of its first adapters. Idle adapters are in no part."""
    names = list(dict.fromkeys(adapter.tenant for adapter in adapters if adapter.tenant))
    number = {name: index for index, name in enumerate(names)}
    owner = np.array([number.get(adapter.tenant or "", ABSENT) for adapter in adapters] + [ABSENT], np.int64)
    of_member = owner[job.members]  # an absent member has the last owner
    found = []
    for index in range(len(names)):
        own = np.where(of_member == index, job.members, ABSENT)
        own = own[(own != ABSENT).any(axis=1)]
        if len(own):
            found.append(replace(job, members=own))
    return found


def computing_hosts(adapters: Sequence[Adapter]) -> list[str]:
    """The compute hosts, in the order of their adapters."""
    return list(dict.fromkeys(adapters[number].host for number in _split(adapters)[0]))


def _split(adapters: Sequence[Adapter]) -> tuple[list[int], list[int]]:
    """(adapters of compute hosts, of storage hosts): by rails, else by GPUs, else all hosts compute."""
    hosts = {adapter.host: adapter for adapter in adapters}
    railed = {adapter.host for adapter in adapters if adapter.rail is not None}
    with_gpus = {name for name, one in hosts.items() if (model := host_model(one.model)) is None or model.gpus}
    computing = (railed & with_gpus) or railed or with_gpus or set(hosts)
    split: tuple[list[int], list[int]] = ([], [])
    for number, adapter in enumerate(adapters):
        split[adapter.host not in computing].append(number)
    return split


def _nodes(adapters: Sequence[Adapter], by_host: dict[str, list[int]], placement: Order) -> list[list[str]]:
    """The hosts of each NVLink domain. Raises UsageError for an unknown host."""
    hosts = list(by_host)
    if not isinstance(placement, Placement):
        if unknown := [name for name in placement if name not in by_host]:
            raise UsageError(f"host {unknown[0]!r} has no adapter on this plane")
        hosts = list(dict.fromkeys(placement))
    domain = nvlink_domains(adapters)
    nodes: list[list[str]] = []
    for host in hosts:
        if nodes and domain[host] == domain[nodes[-1][-1]]:
            nodes[-1].append(host)
        else:
            nodes.append([host])
    return nodes


def nvlink_domains(adapters: Sequence[Adapter]) -> dict[str, tuple[str, int]]:
    """The NVLink domain of each host: the group, and the number of the domain in it. Hosts of a group fill one domain
    after the other, in the order of the files."""
    found: dict[str, tuple[str, int]] = {}
    count: dict[str, int] = {}
    for adapter in adapters:
        if adapter.host not in found:
            model = host_model(adapter.model)
            place = count.get(adapter.group, 0)
            found[adapter.host] = adapter.group, place // (model.hosts_per_domain if model else 1)
            count[adapter.group] = place + 1
    return found
