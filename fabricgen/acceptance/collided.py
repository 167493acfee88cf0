"""The share of a collective's ceiling that hash collisions leave, by the model of `simulate congestion`."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from fabricgen.acceptance.planned import Planned
from fabricgen.bundle.read import Bundle

if TYPE_CHECKING:
    from fabricgen.results import CongestionResult

_PATTERNS = {
    "all_reduce": "ring-all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "alltoall": "all-to-all",
    "alltoallv": "all-to-all",
}


def predictor(bundle: Bundle) -> Callable[[Planned], float]:
    """A function that returns the share of a test, 1 where no paths collide or the pattern has no model."""

    @cache
    def results(pattern: str) -> dict[str, "CongestionResult"]:
        from fabricgen.simulate.congestion.analysis import Options, analyse_congestion  # loads numpy

        found = analyse_congestion(bundle, Options(pattern))
        return {one.name: one for one in found}

    def share(test: Planned) -> float:
        pattern = _PATTERNS.get(test.collective)
        result = results(pattern).get(test.plane) if pattern else None
        return 1 / max(1.0, result.drawn_load or 1.0) if result else 1.0

    return share
