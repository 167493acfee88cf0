"""Where each fabric of a comparison wins: the metrics in which it is the best, or as good as the best."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricgen.quantities import rate_text, time_text
from fabricgen.units import counted

AS_GOOD = 0.01  # of the best value
AS_GOOD_SAMPLE, FEW_GPUS = 0.05, 0.5  # of failures, which are samples
Fabric = Mapping[str, Any]


@dataclass(frozen=True)
class _Metric:
    """`best` is min or max; `shown` gives a value with its unit. A value within `share` of the best one, or within
    `slack`, is as good."""

    name: str
    best: Callable[[Sequence[float]], float]
    values: Sequence[float | None]
    shown: Callable[[float], str]
    share: float = AS_GOOD
    slack: float = 0.0


def wins(fabrics: Sequence[Fabric]) -> list[dict[str, Any]]:
    """For each metric that all fabrics have, and in which they differ: the best value and the fabrics that have it."""
    found = []
    for metric in _metrics(fabrics):
        values = [value for value in metric.values if value is not None]
        if len(values) < len(fabrics):
            continue
        best = metric.best(values)
        near = [abs(value - best) <= max(metric.share * abs(best), metric.slack) for value in values]
        if not all(near):
            names = [fabric["name"] for fabric, good in zip(fabrics, near, strict=True) if good]
            found.append({"metric": metric.name, "best": names, "value": best, "shown": metric.shown(best)})
    return found


def unlike(fabrics: Sequence[Fabric]) -> list[str]:
    """What makes the fabrics hard to compare: other numbers of GPUs, other hosts."""
    found = []
    for key, what in (("gpus", "numbers of GPUs"), ("host_models", "host models")):
        values = [fabric[key] for fabric in fabrics]
        if any(value != values[0] for value in values):
            shown = (", ".join(value) if isinstance(value, list) else str(value) for value in values)
            named = ", ".join(f"{fabric['name']} {text}" for fabric, text in zip(fabrics, shown, strict=True))
            found.append(f"the fabrics have different {what}: {named}")
    return found


def _metrics(fabrics: Sequence[Fabric]) -> Iterator[_Metric]:
    for key, name in (("switches", "fewest switches"), ("cables", "fewest cables"),
                      ("transceivers", "fewest transceivers"), ("networks", "fewest separate networks")):  # fmt: skip
        yield _Metric(name, min, [fabric[key] for fabric in fabrics], "{:.0f}".format)
    for pattern in dict.fromkeys(one["pattern"] for fabric in fabrics for one in fabric["patterns"]):
        of = [{one["pattern"]: one for one in fabric["patterns"]}.get(pattern) for fabric in fabrics]
        times = [one["time_ns"]["mean"] if one and not one["lost"] else None for one in of]
        yield _Metric(f"fastest {pattern}", min, times, time_text)
    yield from _failure_metrics(fabrics)
    if len({fabric["growth"]["gpus"] for fabric in fabrics}) == 1:
        name = f"fewest switches for {fabrics[0]['growth']['gpus']} GPUs"
        yield _Metric(name, min, [_grown(fabric) for fabric in fabrics], "{:.0f}".format)


def _failure_metrics(fabrics: Sequence[Fabric]) -> Iterator[_Metric]:
    by_kind = [{(one["kind"], one["depth"]): one for one in fabric["failures"]} for fabric in fabrics]
    for kind, depth in by_kind[0]:
        rows = [costs.get((kind, depth)) for costs in by_kind]
        what = counted(depth, f"failed {kind}")
        cut_off = [one["cut_off_mean"] if one else None for one in rows]
        delivered = [one["delivered_gbytes"] if one else None for one in rows]
        yield _Metric(f"fewest GPUs cut off by {what}", min, cut_off, "{:.1f} on average".format, slack=FEW_GPUS)
        yield _Metric(f"most bandwidth with {what}", max, delivered, rate_text, AS_GOOD_SAMPLE)


def _grown(fabric: Fabric) -> float | None:
    growth = fabric["growth"]
    if growth["new_layout_switches"] is not None:
        return float(growth["new_layout_switches"])
    return float(fabric["switches"] + growth["added_switches"]) if growth["fits"] else None
