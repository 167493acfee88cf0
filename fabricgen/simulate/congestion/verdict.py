"""The verdict on flows with fixed paths: which flows wait, for how long, and behind which ports."""

from dataclasses import dataclass

import numpy as np

from fabricgen.results import CongestionModel, CongestionTree, VictimLabel
from fabricgen.simulate.congestion.cascade import cascade
from fabricgen.simulate.congestion.packet_order import packets_of
from fabricgen.simulate.congestion.resolution import undecided, undecided_words
from fabricgen.simulate.congestion.stage import (
    VICTIM,
    StageTimes,
    follow,
    followed_flows,
    ideal_times_ns,
    is_victim,
    offered_load,
)
from fabricgen.simulate.max_min import max_min_times_ns
from fabricgen.simulate.plane.ports import Flags, Floats, Flows, Ports, latency_ns

__all__ = ["VICTIM", "CongestionVerdict", "judge", "offered_load"]


@dataclass(frozen=True)
class CongestionVerdict:
    """Per flow: `time_ns` (NaN if it does not complete within the horizon), `ideal_ns`, and the label of a victim.
    `roots` counts those of all rounds, `unexplained` the victims without a root after the last round. `stage` is the
    run of all flows that can wait, which `followed` selects; None if no flow can wait."""

    model: CongestionModel
    time_ns: Floats
    ideal_ns: Floats
    label: tuple[VictimLabel, ...]
    trees: tuple[CongestionTree, ...] = ()
    roots: int = 0
    paused: int = 0
    unsettled: int = 0
    unexplained: int = 0
    undecided: str = ""  # in words: the flows of a few packets near the limit
    stage: StageTimes | None = None
    followed: Flags | None = None

    @property
    def hol_factor(self) -> Floats:
        """Completion time over the ideal one."""
        factor: Floats = self.time_ns / self.ideal_ns
        return factor

    @property
    def victims(self) -> Flags:
        """Flows above VICTIM, and those that do not complete."""
        return is_victim(self.hol_factor)


def judge(ports: Ports, flows: Flows, *, finite: bool) -> CongestionVerdict:
    """The verdict on finite flows by their completion, or else by the rates that flows settle at."""
    affected = followed_flows(ports, flows, finite=finite)
    calm, label = ~affected, [VictimLabel.NONE] * len(flows)
    ideal = ideal_times_ns(ports, flows, finite=finite or not affected.any())
    time = np.zeros(len(flows))
    if calm.any():
        time[calm] = max_min_times_ns(ports, flows.only(calm)) + latency_ns(ports, flows)[calm]
    if not finite:
        ideal[calm] = time[calm]
    if not affected.any():
        return CongestionVerdict(CongestionModel.IDLE, time, ideal, tuple(label))
    stage = follow(ports, flows.only(affected), ideal[affected], finite=finite)
    time[affected] = stage.time_ns
    for index, its in zip(np.flatnonzero(affected), stage.labels(), strict=True):
        label[index] = its
    found, packets = cascade(ports, flows, stage, finite=finite), packets_of(ports, flows)
    near = undecided(time / ideal, packets) & (finite and not stage.is_ordered)
    return CongestionVerdict(
        CongestionModel.FINITE if finite else CongestionModel.STEADY, time, ideal, tuple(label), tuple(found.trees),
        found.roots, int(stage.found.paused.sum()), stage.unsettled, found.left, undecided_words(near, packets),
        stage, affected,
    )  # fmt: skip
