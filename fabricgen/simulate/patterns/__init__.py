"""Traffic patterns: what the adapters of a plane send."""

from fabricgen.simulate.patterns.choice import (
    DEFAULT_BYTES,
    DEFAULT_PATTERN,
    check_pattern,
    make_traffic,
    uses_storage,
)
from fabricgen.simulate.patterns.job import Job, Placement, make_job, read_order
from fabricgen.simulate.patterns.traffic import Everyone, Messages, Traffic
from fabricgen.simulate.plane.adapters import Adapter
from fabricgen.vocabulary import PATTERNS, TRACE, Pattern

__all__ = [
    "DEFAULT_BYTES", "DEFAULT_PATTERN", "PATTERNS", "TRACE", "Adapter", "Everyone", "Job", "Messages", "Pattern",
    "Placement", "Traffic", "check_pattern", "make_job", "make_traffic", "read_order", "uses_storage",
]  # fmt: skip
