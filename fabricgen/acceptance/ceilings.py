"""What a collective can reach at most across hosts: its bus bandwidth as nccl-tests prints it.

Bus bandwidth is the algorithm's bandwidth times a factor that makes it comparable with the speed of one link
(nccl-tests a0b82b2, doc/PERFORMANCE.md). These are bounds of the NICs: NVLink in the hosts does not limit them.
"""

from dataclasses import dataclass

BITS = 8
_RINGS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
_ALL_TO_ALL = ("alltoall", "alltoallv")
_PAIRS = ("sendrecv",)
COLLECTIVES = (*_RINGS, *_ALL_TO_ALL, *_PAIRS)

# Shares of the ceiling: a measurement from `passes` is good, below `fails` it is a defect, and between them it is
# repeated. Good systems reach 0.93 to 0.98 with rings and 0.79 to 0.95 with all-to-all (results that the operators of
# GB200, GB300 and H100 systems publish); tools' own gates are at 0.89 and 0.54 (ROCm/cvs, rccl_config.json).
_SHARES = {"ring": (0.9, 0.8), "alltoall": (0.75, 0.5), "sendrecv": (0.9, 0.8)}


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of the ceiling from which a measurement passes, and below which it fails."""

    passes: float
    fails: float


POINT_TO_POINT = Shares(0.95, 0.9)


def shares_of(collective: str) -> Shares:
    """The shares of a collective of COLLECTIVES."""
    kind = "ring" if collective in _RINGS else "alltoall" if collective in _ALL_TO_ALL else "sendrecv"
    return Shares(*_SHARES[kind])


def ceiling_gbytes(collective: str, nic_gbps: float, nics: int, ranks: int, ranks_of_host: int) -> float:
    """The ceiling in GB/s of `ranks` GPUs with `ranks_of_host` in each host, whose `nics` carry `nic_gbps` each.

    A ring enters a host by one NIC and leaves by another, so all its NICs add up. In an all-to-all each GPU has its
    share of the NICs for what leaves the host.
    """
    host = nic_gbps / BITS * nics
    if collective in _RINGS:
        return host
    rank = host / ranks_of_host
    return rank * (ranks - 1) / (ranks - ranks_of_host) if collective in _ALL_TO_ALL else rank
