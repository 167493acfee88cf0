"""The settings that a search tries, as steps along the axes of its parameters."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product

import numpy as np

from fabricgen.results.tuning import MARKS, PARTS, Setting
from fabricgen.simulate.plane.mixing import GOLDEN, mixed

# Thresholds of a 400G port, from two RoCE packets of 4 KiB at 100G to 200 us: FG547 reports what is outside.
_THRESHOLDS = tuple(1 << bits for bits in range(15, 24))
_PROBABILITIES = (1, 2, 5, 10, 20, 50, 100)
_EXPONENTS = range(-3, 4)  # of alpha: steps from the present one
FIELDS = tuple(field.name for field in fields(Setting))
_LEAST_EXPONENT, _MOST_EXPONENT = -8, 7  # SAI, as sonic-buffer-profile.yang


@dataclass(frozen=True)
class Space:
    """The values of each parameter, in order. `refusals` are the codes of rules that refuse a setting."""

    present: Setting
    axes: dict[str, tuple[int, ...]]
    refusals: Callable[[Setting], tuple[str, ...]]

    def sample(self, count: int, seed: int) -> list[Setting]:
        """Up to `count` allowed settings, drawn by `seed`; they do not depend on the version of a library."""
        values = product(*(self.axes[name] or (None,) for name in FIELDS))
        every = [Setting(*each) for each in values]  # type: ignore[arg-type]  # only alpha may be None
        every = [one for one in every if one.kmin_bytes < one.kmax_bytes]
        keys = mixed((np.arange(len(every), dtype=np.uint64) + np.uint64(seed) * np.uint64(len(every))) * GOLDEN)
        found: list[Setting] = []
        for index in np.argsort(keys, kind="stable").tolist():
            if len(found) == count:
                break
            if every[index] != self.present and not self.refusals(every[index]):
                found.append(every[index])
        return found

    def neighbors(self, setting: Setting) -> list[Setting]:
        """The allowed settings one step away: along one axis, or with both thresholds."""
        return [one for one in self._steps(setting) if not self.refusals(one)]

    def limits(self, setting: Setting) -> list[str]:
        """The codes that refuse a setting one step away."""
        return sorted({code for one in self._steps(setting) for code in self.refusals(one)})

    def _steps(self, setting: Setting) -> Iterator[Setting]:
        moves = [{name: step} for name in FIELDS for step in (-1, 1)]
        moves += [dict.fromkeys(MARKS[:2], step) for step in (-1, 1)]
        for move in moves:
            values = {name: self._moved(name, getattr(setting, name), step) for name, step in move.items()}
            if None not in values.values():
                moved = replace(setting, **values)  # type: ignore[arg-type]
                if moved.kmin_bytes < moved.kmax_bytes:
                    yield moved

    def _moved(self, name: str, value: int | None, step: int) -> int | None:
        axis = self.axes[name]
        place = axis.index(value) + step if value in axis else -1
        return axis[place] if 0 <= place < len(axis) else None

    def with_parts_of_present(self, setting: Setting) -> list[tuple[str, Setting]]:
        """The setting with some of its changed parts as at present, each with the names of these parts; not with
        all of them."""
        changed = setting.changed(self.present)
        found = []
        for count in range(1, len(changed)):
            for parts in combinations(changed, count):
                own = {name: getattr(self.present, name) for part in parts for name in PARTS[part]}
                mixed_one = replace(setting, **own)
                if not self.refusals(mixed_one):
                    found.append((" and ".join(parts), mixed_one))
        return found


def space_around(
    present: Setting, queue_pairs: Sequence[int], refusals: Callable[[Setting], tuple[str, ...]]
) -> tuple[Space, dict[str, str]]:
    """The space around the present setting, and the parameters that it does not vary, with the reason. Alpha varies
    where the rules allow another one."""
    exponents: list[int] = []
    fixed: dict[str, str] = {}
    if present.dynamic_th is None:
        fixed["alpha"] = "the lossless groups have a static threshold"
    else:
        steps = [present.dynamic_th + step for step in _EXPONENTS]
        steps = [one for one in steps if _LEAST_EXPONENT <= one <= _MOST_EXPONENT]
        why = {one: refusals(replace(present, dynamic_th=one)) for one in steps}
        exponents = [one for one in steps if not why[one]]
        if len(exponents) == 1:
            fixed["alpha"] = f"refused by {', '.join(sorted({code for codes in why.values() for code in codes}))}"
    if set(queue_pairs) == {present.queue_pairs}:
        fixed["queue pairs"] = "no other number is given"
    axes = {
        "kmin_bytes": _axis(_THRESHOLDS, present.kmin_bytes),
        "kmax_bytes": _axis(_THRESHOLDS, present.kmax_bytes),
        "pmax_percent": _axis(_PROBABILITIES, present.pmax_percent),
        "dynamic_th": tuple(exponents),
        "queue_pairs": _axis(queue_pairs, present.queue_pairs),
    }
    return Space(present, axes, refusals), fixed


def _axis(values: Sequence[int], present: int) -> tuple[int, ...]:
    return tuple(sorted({*values, present}))
