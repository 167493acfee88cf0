"""What the findings about measurements share."""

from collections.abc import Sequence

from fabricgen.acceptance.measured import MeasuredTest
from fabricgen.acceptance.planned import Stage
from fabricgen.findings import Confidence, Finding, Location, Related, Severity

# Stages in which no other test uses the same links, so that a slow test is the fault of a part.
ALONE = (Stage.LOOPBACK, Stage.NEAR, Stage.BACK, Stage.FAR, Stage.FAILOVER, Stage.INCAST)


def compared(one: MeasuredTest) -> str:
    """'far/.../gpu-000_gpu-016 measured 180.2 Gb/s, expected 392.15, limit 372.54'."""
    test = one.test
    return f"{test.id} measured {one.value:.1f} {test.unit}, expected {test.expected}, limit {test.limit}"


def observed(
    code: str, device: str, message: str, hint: str, tests: Sequence[str] = (), file: str = "",
    severity: Severity = Severity.ERROR, path: str = "", related: tuple[Related, ...] = (), line: int = 0,
) -> Finding:  # fmt: skip
    """A finding of a run. Its path is the test if there is one."""
    place = path or (tests[0] if len(tests) == 1 else "")
    location = Location(file, line) if file else None
    return Finding(code, severity, message, device, place, location, related, hint, Confidence.OBSERVED)
