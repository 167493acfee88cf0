"""Many names in short: a run of names that differ in one number is told by its first and its last."""

import re
from collections.abc import Sequence

from fabricgen.sonic.canonical import natural_key

MOST_NAMES = 4  # names or runs of names that a message tells
_NUMBER = re.compile(r"\d+")
_SHORTEST_RUN = 3  # two names are told faster by themselves


def names_in_short(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """'leaf1..leaf96, spine1' for names in natural order; what is too long ends in a number of names.

    A run goes up by one: a name that is not meant must not seem to lie within.
    """
    runs = _runs(names, widest_step=1)
    parts = [text for run in runs for text in _told(run)]
    if len(parts) <= most:
        return ", ".join(parts)
    shown = [", ".join(_told(run)) for run in runs[: most - 1]]
    told = sum(map(len, runs[: most - 1]))
    return f"{', '.join(shown)} and {len(names) - told} more"


def name_runs(keys: Sequence[str]) -> list[str]:
    """['Ethernet0..Ethernet504']: keys or fields that differ in one number, which grows in equal steps."""
    return [text for run in _runs(sorted(keys, key=natural_key)) for text in _told(run)]


def device_runs(names: Sequence[str], everyone: Sequence[str]) -> list[str]:
    """['leaf1..leaf96', 'spine3']: names in a row among all devices, alike but for their numbers, are told by the first
    and the last."""
    place = {name: number for number, name in enumerate(everyone)}
    runs: list[list[str]] = []
    for name in names:
        if runs and place[name] == place[runs[-1][-1]] + 1 and _shape(name) == _shape(runs[-1][-1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text for run in runs for text in _told(run)]


def _runs(names: Sequence[str], widest_step: int | None = None) -> list[list[str]]:
    runs: list[list[str]] = []
    for name in names:
        if runs and _continues(runs[-1], name, widest_step):
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _continues(run: Sequence[str], name: str, widest_step: int | None) -> bool:
    step = _step(run[-1], name)
    if step is None or (widest_step is not None and step[1] > widest_step):
        return False
    return len(run) < 2 or step == _step(run[-2], run[-1])


def _step(one: str, other: str) -> tuple[int, int] | None:
    """Which number grows from one key to the other and by how much; None where they differ otherwise."""
    if _shape(one) != _shape(other):
        return None
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    steps = [(at, int(b) - int(a)) for at, (a, b) in enumerate(numbers) if a != b]
    return steps[0] if len(steps) == 1 else None


def _shape(name: str) -> str:
    return _NUMBER.sub("#", name)


def _told(run: Sequence[str]) -> list[str]:
    return [f"{run[0]}..{run[-1]}"] if len(run) >= _SHORTEST_RUN else list(run)
