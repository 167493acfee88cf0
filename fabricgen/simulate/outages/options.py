"""The options of an analysis of outages."""

from dataclasses import dataclass

from fabricgen.simulate.patterns import DEFAULT_BYTES, DEFAULT_PATTERN, Placement
from fabricgen.simulate.patterns.job import Order
from fabricgen.vocabulary import BalanceMode, HashModel

FEW_SETS = 64  # judged each by itself, without a search for symmetries
MOST_SETS = 1024  # judged one by one, or one of each orbit


@dataclass(frozen=True)
class OutageOptions:
    """Sets of `depth` links, and of switches too with `switches`. `size_bytes` is the buffer of one rank. `draws`
    hashes are drawn for the worst set, from `seed` on. `most_sets`: see MOST_SETS; of more sets, and too many orbits,
    it is the size of a sample. Without `symmetry` no orbits are searched."""

    pattern: str = DEFAULT_PATTERN
    depth: int = 1
    switches: bool = False
    size_bytes: float = DEFAULT_BYTES
    placement: Order = Placement.ALIGNED
    queue_pairs: int | None = None
    hash_model: HashModel = HashModel.DEPLOYED
    seed: int = 0
    draws: int = 1
    balance: BalanceMode | None = None  # None: as fabric.json says
    most_sets: int = MOST_SETS
    symmetry: bool = True
