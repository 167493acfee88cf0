"""The options of an analysis of jobs."""

from dataclasses import dataclass

from fabricgen.vocabulary import BalanceMode, HashModel

MOST_MESSAGES = 2_000_000  # of all jobs: each has its path in every draw
MOST_FOLLOWED = 32_768  # flows whose pauses are followed; of more, times are those of fair sharing only
MOST_EVALUATED = 1500  # placements that a search compares


@dataclass(frozen=True)
class JobsOptions:
    """`draws` hashes are drawn, from `seed` on. `queue_pairs` is the number of queue pairs of a connection; None: as
    the files of the hosts say. `balance` is how switches spread packets; None: as fabric.json says. With `search` a
    better placement is proposed, of `most_evaluated` at most. `pauses`: follow the pauses of the first draw."""

    queue_pairs: int | None = None
    hash_model: HashModel = HashModel.DEPLOYED
    balance: BalanceMode | None = None
    seed: int = 0
    draws: int = 1
    search: bool = False
    most_evaluated: int = MOST_EVALUATED
    pauses: bool = True
    each_link: bool = True
