"""The options of a congestion analysis."""

from dataclasses import dataclass

from fabricgen.simulate.patterns import DEFAULT_BYTES, DEFAULT_PATTERN, Placement
from fabricgen.simulate.patterns.job import Order
from fabricgen.vocabulary import BalanceMode, HashModel

MOST_FINITE = 4096  # flows that are followed to their completion; more are judged by steady rates, or as dense demand
MOST_FINITE_AT_GATE = 1024


@dataclass(frozen=True)
class CongestionOptions:
    """`pattern` is a name or trace:FILE. `size_bytes` is the buffer of one rank. `queue_pairs` is the number of queue
    pairs of a connection, each hashed separately; None: as the files of the hosts say. `draws` is the number of draws
    of queue pair numbers for the distribution of loads; the first draw (`seed`) is judged. `hash_model` is what
    switches compute, `balance` how they spread packets; None: as fabric.json says. `most_finite`: see MOST_FINITE. With
    `each_link` the result has the load of each port. Without `follow` hashed flows are not followed to their
    completion: the result has only loads and how evenly they spread."""

    pattern: str = DEFAULT_PATTERN
    size_bytes: float = DEFAULT_BYTES
    placement: Order = Placement.ALIGNED
    queue_pairs: int | None = None
    seed: int = 0
    draws: int = 1
    most_finite: int = MOST_FINITE
    hash_model: HashModel = HashModel.DEPLOYED
    each_link: bool = False
    balance: BalanceMode | None = None
    follow: bool = True
