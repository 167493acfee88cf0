"""The requests of the simulators: each has one, which extends one of these."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fabricgen.api.subnets import DEFAULT_SUBNETS, SubnetOptions
from fabricgen.findings import Finding, Severity
from fabricgen.units import counted
from fabricgen.vocabulary import BalanceMode, HashModel

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.simulate.plane.queue_pairs import Connections


@dataclass(frozen=True, kw_only=True)
class SimulationRequest:
    """The files to judge, as for `validate`, and one `plane` of them or all. `svg` is a folder for pictures of what is
    found."""

    paths: Sequence[Path]
    links: Path | None = None
    lldp: Path | None = None
    neighbors: Path | None = None
    inventory: Path | None = None
    plane: str | None = None
    svg: Path | None = None


@dataclass(frozen=True, kw_only=True)
class TrafficRequest(SimulationRequest):
    """A traffic pattern, or the jobs of a file.

    `pattern` is a name of `fabricgen.simulate.patterns`, by default ring-all-reduce. `size_bytes` is the buffer of one
    rank; None: as much as is usual for the verb. `jobs_file` has jobs that run at the same time; `pattern` and
    `size_bytes` are those of jobs without their own.
    `queue_pairs` is their number per connection, each of which is hashed; None: that of the files of the hosts. With a
    version of `nccl`, two NICs have as many connections as channels of that version.
    `hash_model` is what switches compute, `balance` how those of RoCE planes spread packets (None: as fabric.json
    says). `seed` is that of hashes and everything else that is drawn, `draws` how often it is. `subnets` are the
    options of InfiniBand planes.
    """

    pattern: str | None = None
    size_bytes: int | None = None
    jobs_file: Path | None = None
    queue_pairs: int | None = None
    nccl: str | None = None
    hash_model: HashModel = HashModel.DEPLOYED
    balance: BalanceMode | None = None
    seed: int = 0
    draws: int = 1
    subnets: SubnetOptions = DEFAULT_SUBNETS


Requested = TypeVar("Requested", bound=TrafficRequest)


def with_connections(request: Requested, bundle: "Bundle") -> tuple[Requested, list[Finding]]:
    """The request with the queue pairs of two NICs if it names a version of NCCL, and a note of what they are.

    Raises UsageError for an unknown version, and if no host with GPUs is on the plane.
    """
    if request.nccl is None:
        return request, []
    from fabricgen.simulate.plane.queue_pairs import nccl_connections

    found = nccl_connections(bundle, request.nccl, request.plane, request.queue_pairs)
    return replace(request, queue_pairs=found.flows, nccl=None), [connections_finding(found)]


def connections_finding(found: "Connections") -> Finding:
    """The note on the connections of two NICs."""
    text = (
        f"{found.library} {found.version}: {counted(found.channels, 'channel')} of each NIC with "
        f"{counted(found.queue_pairs, 'queue pair')}, so {counted(found.flows, 'flow')} of two NICs"
        f"{f'; {found.assumed}' if found.assumed else ''}"
    )
    return Finding("FG720", Severity.NOTE, text)
