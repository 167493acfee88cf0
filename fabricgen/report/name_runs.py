"""Short lists of names: a run of names that differ in one number is written as its first and last name."""

import re
from collections.abc import Sequence

from fabricgen.sonic.canonical import natural_key

MOST_NAMES = 4  # names or runs of names in a message
_NUMBER = re.compile(r"\d+")
_SHORTEST_RUN = 3  # two names are shorter as they are


def names_in_short(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """'leaf1..leaf96, spine1' for names in natural order; a long list ends with the number of the other names.

    Numbers of a run are consecutive, so a run contains no name that is not in the list.
    """
    parts = [(text, len(run) // len(_text(run))) for run in _runs(names, widest_step=1) for text in _text(run)]
    shown = parts if len(parts) <= most else parts[: most - 1]
    left = len(names) - sum(count for _, count in shown)
    return ", ".join(text for text, _ in shown) + (f" and {left} more" if left else "")


def name_runs(keys: Sequence[str]) -> list[str]:
    """['Ethernet0..Ethernet504']: keys or fields that differ in one number with equal steps."""
    return [text for run in _runs(sorted(keys, key=natural_key)) for text in _text(run)]


def device_runs(names: Sequence[str], devices: Sequence[str]) -> list[str]:
    """['leaf1..leaf96', 'spine3']: runs of consecutive devices whose names differ only in their numbers."""
    place = {name: number for number, name in enumerate(devices)}
    runs: list[list[str]] = []
    for name in names:
        if runs and place[name] == place[runs[-1][-1]] + 1 and _shape(name) == _shape(runs[-1][-1]):
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text for run in runs for text in _text(run)]


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
    """(which number grows, by how much) from one key to the other; None if they differ in another way."""
    if _shape(one) != _shape(other):
        return None
    numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    steps = [(at, int(b) - int(a)) for at, (a, b) in enumerate(numbers) if a != b]
    return steps[0] if len(steps) == 1 else None


def _shape(name: str) -> str:
    return _NUMBER.sub("#", name)


def _text(run: Sequence[str]) -> list[str]:
    return [f"{run[0]}..{run[-1]}"] if len(run) >= _SHORTEST_RUN else list(run)
