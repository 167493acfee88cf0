"""Traffic patterns: from the adapters of a plane to what they send."""

from fabricgen.simulate.patterns.choice import (
    DEFAULT_BYTES,
    DEFAULT_PATTERN,
    PATTERNS,
    TRACE,
    check_pattern,
    make_traffic,
)
from fabricgen.simulate.patterns.job import Adapter, Job, make_job
from fabricgen.simulate.patterns.traffic import Everyone, Messages, Traffic

__all__ = [
    "DEFAULT_BYTES", "DEFAULT_PATTERN", "PATTERNS", "TRACE", "Adapter", "Everyone", "Job", "Messages", "Traffic",
    "check_pattern", "make_job", "make_traffic",
]  # fmt: skip
