"""What the simulators are asked: each has one request, which extends one of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricgen.api.subnets import DEFAULT_SUBNETS, SubnetOptions
from fabricgen.vocabulary import BalanceMode, HashModel


@dataclass(frozen=True, kw_only=True)
class SimulationRequest:
    """The files to judge, as for `validate`, and one `plane` of them or all. `svg` is a folder for pictures of what is
    found."""

    paths: Sequence[Path]
    links: Path | None = None
    lldp: Path | None = None
    inventory: Path | None = None
    plane: str | None = None
    svg: Path | None = None


@dataclass(frozen=True, kw_only=True)
class TrafficRequest(SimulationRequest):
    """A traffic pattern, or the jobs of a file.

    `pattern` is a name of `fabricgen.simulate.patterns`, by default ring-all-reduce. `size_bytes` is the buffer of one
    rank; None: as much as is usual for the verb. `jobs_file` has jobs that run at the same time; `pattern` and
    `size_bytes` are those of jobs without their own.
    `queue_pairs` is their number per connection, each of which is hashed; None: that of the files of the hosts.
    `hash_model` is what switches compute, `balance` how those of RoCE planes spread packets (None: as fabric.json
    says). `seed` is that of hashes and everything else that is drawn, `draws` how often it is. `subnets` are the
    options of InfiniBand planes.
    """

    pattern: str | None = None
    size_bytes: int | None = None
    jobs_file: Path | None = None
    queue_pairs: int | None = None
    hash_model: HashModel = HashModel.DEPLOYED
    balance: BalanceMode | None = None
    seed: int = 0
    draws: int = 1
    subnets: SubnetOptions = DEFAULT_SUBNETS
