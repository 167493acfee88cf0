"""Acceptance tests as text and as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import TYPE_CHECKING

from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.acceptance.causes.cause import Cause
    from fabricgen.acceptance.counters import SentFairness
    from fabricgen.acceptance.measured import MeasuredTest


def acceptance_json(
    measured: Sequence["MeasuredTest"],
    causes: Sequence["Cause"],
    fairness: Sequence["SentFairness"],
    unjudged: Sequence[str],
) -> Mapping[str, object]:
    """The key `acceptance`: the causes in words, the number of tests by verdict, and each test with its value."""
    written = [
        {
            "cause": cause.kind,
            "part": cause.part,
            "sentence": cause.sentence,
            "evidence": cause.evidence,
            "next": cause.next_command,
        }
        for cause in causes
    ]
    rows = [
        {
            "test": one.test.id,
            "a": one.test.a,
            "b": one.test.b,
            "rail": one.test.rail,
            "value": one.value,
            "unit": one.test.unit,
            "expected": one.test.expected,
            "limit": one.test.limit,
            "verdict": one.verdict or None,
        }
        for one in measured
    ]
    return {
        "acceptance": {
            "causes": written,
            "tests": len(rows),
            "verdicts": _verdicts(measured),
            "measurements": rows,
            "link_fairness": [asdict(one) for one in fairness],
            "unjudged": unjudged,
        }
    }


def acceptance_lines(measured: Sequence["MeasuredTest"], causes: Sequence["Cause"]) -> list[str]:
    """Each cause with its evidence and the next command, then a line for each stage: the number of tests, their
    verdicts, and the median."""
    lines = []
    for cause in causes:
        lines.append(f"cause: {cause.sentence}")
        lines += [f"  evidence: {text}" for text in cause.evidence]
        lines += [f"  next: {cause.next_command}"] if cause.next_command else []
    for stage in dict.fromkeys(one.test.stage for one in measured):
        tests = [one for one in measured if one.test.stage is stage]
        verdicts = ", ".join(f"{count} {name}" for name, count in _verdicts(tests).items())
        shares = [one.value / one.test.expected for one in tests if one.value is not None and one.test.expected]
        middle = f"; median {median(shares):.1%} of the expected value" if shares else ""
        lines.append(f"{stage}: {counted(len(tests), 'test')}" + (f", {verdicts}" if verdicts else "") + middle)
    return lines


def _verdicts(measured: Sequence["MeasuredTest"]) -> dict[str, int]:
    from fabricgen.acceptance.measured import Verdict

    found = Counter(one.verdict for one in measured)
    return {str(verdict): found[verdict] for verdict in Verdict if verdict and found[verdict]}
