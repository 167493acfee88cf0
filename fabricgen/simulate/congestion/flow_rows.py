"""A verdict as the rows of a result."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fabricgen.results import CongestionResult, FlowTime
from fabricgen.simulate.congestion.verdict import CongestionVerdict


def with_verdict(
    result: CongestionResult, verdict: CongestionVerdict, ends: Sequence[tuple[str, str]]
) -> CongestionResult:
    """The result with the verdict on its flows; `ends` are their (source, target)."""
    rows = _rows(verdict, ends)
    return replace(
        result,
        model=verdict.model,
        trees=verdict.trees,
        flows=rows,
        roots=verdict.roots,
        paused=verdict.paused,
        unfinished=sum(row.fct_ns is None for row in rows),
        unsettled=verdict.unsettled,
        unexplained=verdict.unexplained,
        reason="; ".join(filter(None, [result.reason, verdict.undecided])),
    )


def _rows(verdict: CongestionVerdict, ends: Sequence[tuple[str, str]]) -> tuple[FlowTime, ...]:
    return tuple(
        FlowTime(
            src=src,
            dst=dst,
            fct_ns=None if np.isnan(time) else round(time),
            ideal_fct_ns=round(ideal),
            hol_factor=None if np.isnan(factor) else round(factor, 3),
            victim=victim,
            label=label,
        )
        for (src, dst), time, ideal, factor, victim, label in zip(
            ends,
            verdict.time_ns.tolist(),
            verdict.ideal_ns.tolist(),
            verdict.hol_factor.tolist(),
            verdict.victims.tolist(),
            verdict.label,
            strict=True,
        )
    )
