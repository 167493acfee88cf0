"""The counts of a comparison: devices, rows and fields that differ, and the cost of the changes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.diff.difference import Difference
from fabricgen.diff.patch import Route, flapped_ports, totals

_KINDS = {("add", False): "rows_added", ("remove", False): "rows_removed", ("add", True): "fields_added",
          ("remove", True): "fields_removed", ("replace", True): "fields_changed"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """`changes` by kind (rows_added … fields_changed), `costs` of all changes, `routes` of the changed devices.

    `flaps` (ports that go down), `patch_seconds` (of the slowest device, lowest and highest) and `patch_megabytes` (the
    most) cover the patched devices only: a reload takes all ports down. `made` counts rows that switches add;
    `withheld` counts changes that a patch does not show.
    """

    devices: Mapping[str, int]
    changes: Mapping[str, int]
    costs: Mapping[str, int]
    routes: Mapping[str, int]
    flaps: int
    patch_seconds: tuple[int, int]
    patch_megabytes: int
    made: int
    secrets: int
    withheld: int


@dataclass(frozen=True, slots=True)
class PlanCounts:
    """What the plans of a comparison do. `routes` of the changed devices; `patches` of all devices, and the ports that
    they take down and up; `seconds` (lowest and highest) and `megabytes` of the slowest device; `kept_share` of the
    uplinks that each device keeps at least. Reloads take all ports of a device down and are not counted in these."""

    routes: Mapping[str, int]
    patches: int
    ports: int
    seconds: tuple[int, int]
    megabytes: int
    kept_share: float


def count_plans(difference: Difference) -> PlanCounts:
    """Count the plans of a comparison."""
    plans = [device.work.plan for device in difference.changed]
    routes = Counter(plan.route for plan in plans)
    patched = [plan for plan in plans if plan.steps]
    return PlanCounts(
        routes={name.value: routes[name] for name in Route if name is not Route.NONE},
        patches=sum(len(plan.steps) for plan in patched),
        ports=sum(len({port for step in plan.steps for port in step.down}) for plan in patched),
        seconds=max((plan.price.seconds for plan in patched), key=lambda range_s: range_s[1], default=(0, 0)),
        megabytes=max((plan.price.megabytes for plan in patched), default=0),
        kept_share=min((plan.kept_share for plan in patched), default=1.0),
    )


def count(difference: Difference) -> ChangeCounts:
    """Count a comparison."""
    changed = difference.changed
    kinds = Counter(_KINDS[change.op, change.field is not None] for device in changed for change in device.changes)
    routes = Counter(device.work.route for device in changed)
    patched = [device for device in changed if device.work.route is Route.APPLY_PATCH]
    prices = [device.work.price for device in patched]
    return ChangeCounts(
        devices={
            "added": len(difference.added),
            "removed": len(difference.removed),
            "changed": len(changed),
            "alike": difference.alike,
            "unseen": len(difference.unseen),
        },
        changes={kind: kinds[kind] for kind in _KINDS.values()},
        costs=totals(change.verdict.cost for device in changed for change in device.changes),
        routes={name.value: routes[name] for name in Route if name is not Route.NONE},
        flaps=sum(len(list(flapped_ports(device.changes))) for device in patched),
        patch_seconds=max(
            (device.work.price.seconds for device in patched), key=lambda range_s: range_s[1], default=(0, 0)
        ),
        patch_megabytes=max((price.megabytes for price in prices), default=0),
        made=sum(len(device.drift.made) for device in difference.devices),
        secrets=sum(device.drift.secrets for device in difference.devices),
        withheld=sum(device.work.withheld for device in changed),
    )
