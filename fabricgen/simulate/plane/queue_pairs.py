"""The queue pairs of flows, and the UDP source ports that they give.

Each adapter numbers its queue pairs one after another from a first number, which is drawn. A NIC whose firmware selects
ports has a drawn port for each flow.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.platforms.catalog import nic_model
from fabricgen.platforms.nccl import (
    HOPPER,
    RCCL_NICS,
    capability_of,
    channels_of_nic,
    counts_as,
    parse_version,
    rccl_channels_of_nic,
)
from fabricgen.platforms.source_ports import LABEL_DRIVERS, LABELS, flow_label
from fabricgen.simulate.plane.mixing import GOLDEN, mixed
from fabricgen.simulate.plane.ports import Flags, Ints
from fabricgen.vocabulary import Purpose

_NUMBERS = np.uint64((1 << 24) - 1)  # of queue pairs: 24 bits
_SETTING = "NCCL_IB_QPS_PER_CONNECTION"


def stated_queue_pairs(bundle: Bundle) -> int:
    """The queue pairs of a connection in the files of the hosts, the least of all groups; 1 is NCCL's default."""
    found = [one.nccl_number(_SETTING) for one in bundle.hosts.values()]
    return min((number for number in found if number and number > 0), default=1)


@dataclass(frozen=True, slots=True)
class Connections:
    """What joins two NICs: `channels` of a `version` of a `library`, each with `queue_pairs`. `assumed` says what the
    files do not have. `models` are the host models that take part, each with its library."""

    channels: int
    queue_pairs: int
    assumed: str
    library: str
    version: str
    models: tuple[tuple[str, str], ...]

    @property
    def flows(self) -> int:
        """The queue pairs of two NICs, each of which is hashed."""
        return self.channels * self.queue_pairs


def nccl_connections(bundle: Bundle, text: str, plane: str | None, queue_pairs: int | None) -> Connections:
    """The connections of rings and trees that a version of NCCL, or of RCCL with GPUs of AMD, makes on a plane, by
    default the first compute plane; the fewest of all host models with GPUs. `queue_pairs` of a connection are by
    default those of the files.

    Raises UsageError for an unknown version, if no host with GPUs has NICs there, and for hosts with GPUs of AMD and
    another number of NICs than RCCL has a model of.
    """
    wiring = bundle.wiring
    amd = {model.name for model in wiring.host_models if model.vendor == "amd"} if wiring else set()
    name = plane or next((one.name for one in wiring.planes if one.purpose == Purpose.COMPUTE), "") if wiring else ""
    gpus = {model.name: model.gpus for model in wiring.host_models} if wiring else {}
    found: dict[str, tuple[int, int]] = {}
    for host in wiring.hosts if wiring else ():
        speeds = [nic.speed_mbps for nic in host.nics if nic.plane == name]
        if speeds and gpus.get(host.model):
            found.setdefault(host.model, (len(speeds), min(speeds)))
    if not found:
        raise UsageError(f"--nccl: no host with GPUs has NICs on plane {name or '(none)'}")
    library_of = {model: "RCCL" if model in amd else "NCCL" for model in found}
    by_model = {}
    try:
        versions = {library: parse_version(text, library) for library in dict.fromkeys(library_of.values())}
        for model, (nics, speed_mbps) in found.items():
            version = versions[library_of[model]]
            if model not in amd:
                capability = capability_of(model)
                assumed = "" if capability else f"GPUs of {model} count as Hopper"
                by_model[model] = channels_of_nic(version, nics, speed_mbps / 1000, capability or HOPPER), assumed
            elif (gpus[model], nics) == (RCCL_NICS, RCCL_NICS):
                by_model[model] = rccl_channels_of_nic(version, model)
            else:
                reason = f"{model} has {nics} NICs for {gpus[model]} GPUs of AMD, and RCCL's model has 8 for 8"
                raise UsageError(f"--nccl: {reason}: use --queue-pairs with the product of channels and queue pairs")
    except ValueError as error:
        raise UsageError(f"--nccl: {error}") from error
    channels = min(count for count, _ in by_model.values())
    newer = (counts_as(version, library) for library, version in versions.items())
    assumptions = "; ".join(dict.fromkeys(filter(None, [*newer, *(assumed for _, assumed in by_model.values())])))
    pairs = queue_pairs or stated_queue_pairs(bundle)
    return Connections(channels, pairs, assumptions, " and ".join(versions), text, tuple(library_of.items()))


@cache
def ports_by_driver(nic: str) -> bool:
    """Whether the driver of a NIC model computes source ports from queue pair numbers. A NIC that the catalog does not
    have counts as one of the usual drivers."""
    model = nic_model(nic)
    return model is None or model.driver in LABEL_DRIVERS


def flow_labels(source: Ints, target: Ints, by_driver: Flags, seed: int) -> NDArray[np.uint64]:
    """One label per flow, each of which is one queue pair; `by_driver` is that of adapters. Source ports follow."""
    numbers = _queue_pairs(source, target, seed)
    labels: NDArray[np.uint64] = flow_label(*numbers)  # type: ignore[assignment]  # also of arrays
    drawn = ~by_driver[source]
    if drawn.any():
        own = mixed(numbers[0] + (source.astype(np.uint64) + np.uint64(1)) * GOLDEN)
        labels = np.where(drawn, own & np.uint64(LABELS - 1), labels)
    return labels


def _queue_pairs(source: Ints, target: Ints, seed: int) -> NDArray[np.uint64]:
    """[local or remote, flow]: the numbers of the queue pairs at both ends."""
    ends = np.stack([source, target], axis=1).ravel()
    order = np.argsort(ends, kind="stable")
    sorted_ends = ends[order]
    begins = np.concatenate(([True], sorted_ends[1:] != sorted_ends[:-1])) if len(ends) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(begins, np.arange(len(ends)), 0))
    place = np.empty(len(ends), np.uint64)
    place[order] = (np.arange(len(ends)) - first).astype(np.uint64)
    base = mixed(ends.astype(np.uint64) * GOLDEN + mixed(np.array([seed + 1], np.uint64) * GOLDEN))
    return ((base + place) & _NUMBERS).reshape(-1, 2).T
