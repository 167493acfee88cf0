"""Successive halving: all settings run a few draws, the better third runs more of them, and so on.

In each round the steps around the leader are added, so the search also climbs. Every decision compares means over the
same draws, so it does not depend on the order in which the runs end.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from fabricgen.results import Setting, Trial
from fabricgen.simulate.tuning.measure import Item, MeasuredRun
from fabricgen.simulate.tuning.space import Space
from fabricgen.vocabulary import Goal

ROUNDS = (2, 4, 8)  # draws of each setting at the end of a round
_KEPT = 3  # one in so many goes on
_CLIMBS = 4  # at most, in each round
_ALIKE = 0.01  # settings within this share of the best one count as equally good
_MOST_FRONT = 8

Evaluate = Callable[[Sequence[Item]], Iterable[MeasuredRun]]


@dataclass
class Race:
    """A search. `rate_bytes` are the bytes whose rate is the bandwidth."""

    space: Space
    goal: Goal
    evaluate: Evaluate
    first_seed: int
    rate_bytes: float
    measured: dict[Setting, list[MeasuredRun]] = field(default_factory=dict)
    runs: int = 0
    hops: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the search."""
        return tuple(range(self.first_seed, self.first_seed + ROUNDS[-1]))

    @property
    def can_improve(self) -> bool:
        """Whether the runs of the present setting so far leave anything to improve."""
        now = self.trial(self.space.present)
        return bool(self.goal is not Goal.NO_PAUSE or now.pauses or now.faults)

    def search(self, settings: Sequence[Setting]) -> tuple[Setting, list[Trial]]:
        """The best setting of the last round, and the front of that round, which includes the present setting if no
        other one is better in every respect."""
        group = list(dict.fromkeys([self.space.present, *settings]))
        for draws in ROUNDS if settings else ():
            self.run(group, draws)
            group += self._climb(group, draws)
            if draws < ROUNDS[-1]:
                group = self._survivors(group)
        if not settings:
            self.run(group, ROUNDS[-1])
        parts = [one for _, one in self.space.with_parts_of_present(self._ranked(group)[0]) if one not in group]
        self.run(parts, ROUNDS[-1])
        group += parts
        return self._simplest(group), self._front(group)

    def run(self, settings: Sequence[Setting], draws: int) -> None:
        """Run the draws that settings do not have yet."""
        items = [
            (one, self.first_seed + draw)
            for one in settings
            for draw in range(len(self.measured.get(one, ())), draws)
        ]  # fmt: skip
        for (setting, _), found in zip(items, self.evaluate(items), strict=True):
            self.measured.setdefault(setting, []).append(found)
            self.hops += found.hops
        self.runs += len(items)

    def trial(self, setting: Setting) -> Trial:
        """The mean of the runs of a setting."""
        return trial_of(setting, self.measured[setting], self.rate_bytes)

    def _climb(self, group: list[Setting], draws: int) -> list[Setting]:
        """The steps from the best setting upwards, until none is better."""
        found: list[Setting] = []
        leader = self._ranked(group)[0]
        for _ in range(_CLIMBS):
            steps = [one for one in self.space.neighbors(leader) if one not in self.measured]
            self.run(steps, draws)
            found += steps
            best = self._ranked([leader, *steps])[0]
            if best == leader:
                break
            leader = best
        return found

    def _ranked(self, group: Sequence[Setting]) -> list[Setting]:
        return sorted(group, key=lambda one: (*cost(self.trial(one), self.goal), one))

    def _survivors(self, group: Sequence[Setting]) -> list[Setting]:
        """A third: the best ones, and as many of the front. The present setting always goes on."""
        ranked, room = self._ranked(group), -(-len(group) // _KEPT)
        kept = ranked[: -(-room // 2)]
        kept += [one.setting for one in self._front(group)][: room - len(kept)]
        return list(dict.fromkeys([self.space.present, *kept]))

    def _front(self, group: Sequence[Setting]) -> list[Trial]:
        """The front; of settings with equal results, the one with the fewest changed parts."""
        simple = sorted(group, key=lambda one: (len(one.changed(self.space.present)), one))
        return front([self.trial(one) for one in simple])

    def _simplest(self, group: Sequence[Setting]) -> Setting:
        """Of the settings that are about as good as the best one: that with the fewest changed parts, then with the
        shortest queue."""
        trials = [self.trial(one) for one in self._ranked(group)]
        faults, least, *_ = cost(trials[0], self.goal)
        room = abs(least) * _ALIKE
        alike = [one for one in trials if one.faults <= faults and cost(one, self.goal)[1] <= least + room]
        changed = {one.setting: one.setting.changed(self.space.present) for one in alike}
        best = min(alike, key=lambda one: (len(changed[one.setting]), one.queue_ns, cost(one, self.goal), one.setting))
        return best.setting


def trial_of(setting: Setting, runs: Sequence[MeasuredRun], rate_bytes: float) -> Trial:
    """The mean of some runs of a setting."""
    return Trial(
        setting=setting,
        draws=len(runs),
        p99_ns=fmean(one.p99_ns for one in runs),
        gbytes=fmean(rate_bytes / one.time_ns for one in runs),
        pauses=fmean(one.pauses for one in runs),
        queue_ns=fmean(one.queue_ns for one in runs),
        faults=sum(one.faults for one in runs),
    )


def cost(trial: Trial, goal: Goal) -> tuple[int, float, float, float]:
    """Numbers that are smaller for a better trial: faults, the goal, and then the others."""
    goals = {Goal.P99: trial.p99_ns, Goal.BUSBW: -trial.gbytes, Goal.NO_PAUSE: trial.pauses}
    return trial.faults, goals[goal], trial.p99_ns, trial.queue_ns


def front(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that no other one exceeds in every respect, by their queues; of many, those that are spread evenly,
    and of equal ones the first."""
    distinct = list({_respects(one): one for one in reversed(trials)}.values())
    found = [one for one in distinct if not any(_exceeds(other, one) for other in distinct)]
    found.sort(key=lambda one: (one.queue_ns, one.p99_ns, one.setting))
    if len(found) <= _MOST_FRONT:
        return found
    places = [index * (len(found) - 1) // (_MOST_FRONT - 1) for index in range(_MOST_FRONT)]
    return [found[place] for place in places]


def _exceeds(one: Trial, other: Trial) -> bool:
    """Whether a trial is at least as good in every respect, and better in one."""
    values, others = _respects(one), _respects(other)
    return values != others and all(own <= its for own, its in zip(values, others, strict=True))


def _respects(one: Trial) -> tuple[float, ...]:
    return one.faults, one.p99_ns, -one.gbytes, one.pauses, one.queue_ns
