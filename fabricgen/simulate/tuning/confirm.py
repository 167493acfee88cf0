"""The best setting against the present one on draws that the search did not see."""

from collections.abc import Sequence

from fabricgen.results import Confirmed, Gain, Setting
from fabricgen.simulate.packets.ensemble import interval
from fabricgen.simulate.tuning.measure import Measured
from fabricgen.simulate.tuning.race import trial_of
from fabricgen.vocabulary import Goal

LEAST_GAIN = 0.01  # a smaller one is not worth a change of all switches
_PER_UNIT = 1_000_000_000  # intervals are of whole numbers


def confirmed(
    name: str, setting: Setting, runs: Sequence[Measured], present: Sequence[Measured], goal: Goal, rate_bytes: float
) -> Confirmed:
    """A setting with its gain over the present one; both have the runs of the same seeds, in their order."""
    costs = [_cost(one, goal) for one in present]
    scale = abs(sum(costs) / len(costs)) or 1.0
    gains = [(before - _cost(after, goal)) / scale for before, after in zip(costs, runs, strict=True)]
    found = interval("gain", [round(gain * _PER_UNIT) for gain in gains])
    median, low, high = (value / _PER_UNIT for value in (found.median_ns, found.low_ns, found.high_ns))
    return Confirmed(name, trial_of(setting, runs, rate_bytes), Gain(median, low, high, found.confidence))


def is_worth_it(best: Confirmed, present_faults: int) -> bool:
    """Whether a setting is better than the present one beyond chance and by enough, without more faults."""
    return best.gain.low > 0 and best.gain.median >= LEAST_GAIN and best.trial.faults <= present_faults


def _cost(one: Measured, goal: Goal) -> float:
    """A number that is smaller for a better run."""
    if goal is Goal.BUSBW:
        return -1 / one.time_ns
    return float(one.p99_ns if goal is Goal.P99 else one.pauses)
