"""Findings of a tuning: FG770 to FG774."""

from collections.abc import Iterator

from fabricgen.findings import Confidence, Finding, Severity
from fabricgen.results import TuningResult


def tuning_findings(result: TuningResult) -> list[Finding]:
    """The verdict, and what it does not cover."""
    return list(_findings(result))


def _findings(result: TuningResult) -> Iterator[Finding]:
    best, base = result.best, result.present
    where = f"plane {result.plane}, {result.pattern}" if result.plane else result.pattern
    if best is not None and result.is_better:
        message = f"{where}: other settings are better on draws that the search did not see: {result.shown_gain(best)}"
        yield _note("FG770", result, message, "add the printed block to the inventory, and run `fabricgen check`")
        if result.limits:
            message = f"{where}: {', '.join(result.limits)} refuses settings next to the best one"
            yield _note("FG773", result, message, "run `fabricgen explain` with the code: it states the limit")
    else:
        message = f"{where}: no other setting is better for {result.goal} beyond chance and by at least 1 %"
        yield _note("FG771", result, message)
    if base.faults:
        message = f"{where}: lost packets, unfinished flows or freezes with the present setting: {base.faults}"
        hint = "run `fabricgen simulate packets` with this pattern: it reports where"
        yield Finding("FG772", Severity.WARNING, message, hint=hint, confidence=Confidence.OBSERVED)
    if result.reason:
        hint = "raise --budget if a slice of the hosts ran; for flows without a route run `fabricgen validate`"
        yield _note("FG774", result, f"{where}: the runs do not include everything: {result.reason}", hint)


def _note(code: str, result: TuningResult, message: str, hint: str = "") -> Finding:
    path = f"planes.{result.plane}.lossless" if result.plane else ""
    return Finding(code, Severity.NOTE, message, path=path, hint=hint, confidence=Confidence.OBSERVED)
