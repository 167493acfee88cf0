"""How many switches a rail-optimized Clos needs: the three rules that reproduce the published designs.

1. One leaf per rail and scalable unit (SU). A leaf has a port for each host of a full SU, and as many uplinks as these
   divided by the oversubscription. Missing hosts shrink neither.
2. Two tiers: the spines are the smallest divisor d of a leaf's uplinks with d x radix >= leaves x uplinks; every leaf
   has uplinks / d links to each. (Three SUs of the DGX H100 SuperPOD thus need 16 spines and not 12.)
3. Three tiers once the leaves outnumber a spine's ports. A pod is the leaves of one rail, at most half a spine's radix
   of them, with spines of its own by rule 2 over half the radix; as many ports again go up. Spine i of every pod meets
   in core group i, whose size is rule 2 once more.

Sources: NVIDIA DGX SuperPOD reference architectures H100 and B200, network fabrics, tables of 1 to 64 SUs.
"""

from dataclasses import dataclass
from math import ceil


class DoesNotFitError(Exception):
    """The intent needs more ports than there are; `reason` has the arithmetic, `role` the tier that is too small."""

    def __init__(self, role: str, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.role, self.reason, self.hint = role, reason, hint


@dataclass(frozen=True, slots=True)
class ClosIntent:
    """What is asked for. Radixes are fabric ports; `spines` and `cores` force a count (of a pod, of the plane)."""

    rails: int
    units: int  # that the layout must have room for
    hosts_per_unit: int
    oversubscription: float
    leaf_radix: int
    spine_radix: int
    core_radix: int | None = None
    spines: int | None = None
    cores: int | None = None
    tiers: int | None = None  # None: as few as can join the leaves


@dataclass(frozen=True, slots=True)
class ClosPlan:
    """Counts for the full layout. A two-tier plan is one pod without cores."""

    uplinks: int  # of a leaf
    spines_per_pod: int
    leaf_spine_parallel: int
    units_per_pod: int
    pods_per_rail: int
    cores_per_group: int = 0
    spine_uplinks: int = 0
    spine_core_parallel: int = 0

    @property
    def tiers(self) -> int:
        """2 or 3."""
        return 3 if self.cores_per_group else 2


def plan_clos(intent: ClosIntent) -> ClosPlan:
    """The least switches for an intent. Raises DoesNotFitError."""
    uplinks = ceil(intent.hosts_per_unit / intent.oversubscription)
    needed = intent.hosts_per_unit + uplinks
    if needed > intent.leaf_radix:
        raise DoesNotFitError(
            "leaf",
            f"a leaf needs {needed} ports ({intent.hosts_per_unit} hosts + {uplinks} uplinks), "
            f"its platform has {intent.leaf_radix}",
            "fewer hosts in a scalable unit, or more oversubscription",
        )
    leaves = intent.rails * intent.units
    if leaves <= intent.spine_radix and intent.tiers != 3:
        spines = _spread("spine", uplinks, leaves, intent.spine_radix, intent.spines, "leaves")
        return ClosPlan(uplinks, spines, uplinks // spines, intent.units, 1)
    if intent.tiers == 2 or (intent.core_radix is None and leaves > intent.spine_radix):
        raise DoesNotFitError(
            "spine",
            f"{intent.units} units x {intent.rails} rails = {leaves} leaves, more than the {intent.spine_radix} ports "
            "of a spine: two tiers cannot join them",
            "add a `core:` tier" if intent.tiers is None else "`tiers: 3` and a `core:` tier",
        )
    if intent.core_radix is None:
        raise DoesNotFitError("spine", "three tiers are asked for, and there is no core tier", "add a `core:` tier")
    return _three_tiers(intent, uplinks, intent.core_radix)


def _three_tiers(intent: ClosIntent, uplinks: int, core_radix: int) -> ClosPlan:
    down = intent.spine_radix // 2
    units_per_pod = min(intent.units, down)
    pods_per_rail = ceil(intent.units / units_per_pod)
    spines = _spread("spine", uplinks, units_per_pod, down, intent.spines, "leaves of a pod")
    spine_uplinks = units_per_pod * (uplinks // spines)
    pods = intent.rails * pods_per_rail
    if pods > core_radix:
        reason = (
            f"{intent.rails} rails x {pods_per_rail} pods = {pods} pods, more than the {core_radix} ports of a core"
        )
        raise DoesNotFitError("core", reason, "fewer planned units")
    forced = None
    if intent.cores is not None:
        if intent.cores % spines:
            reason = f"{intent.cores} cores cannot be split over the {spines} spines of a pod"
            raise DoesNotFitError("core", reason, f"a multiple of {spines}")
        forced = intent.cores // spines
    group = _spread("core", spine_uplinks, pods, core_radix, forced, "pods")
    return ClosPlan(
        uplinks, spines, uplinks // spines, units_per_pod, pods_per_rail, group, spine_uplinks, spine_uplinks // group
    )


def _spread(role: str, uplinks: int, below: int, radix: int, forced: int | None, what: str) -> int:
    """The smallest divisor of `uplinks` that gives `below` switches enough ports above; or `forced`, if it does."""
    least = ceil(below * uplinks / radix)
    fitting = [count for count in range(least, uplinks + 1) if uplinks % count == 0]
    if forced is not None:
        if forced not in fitting:
            allowed = ", ".join(map(str, fitting)) or "none"
            raise DoesNotFitError(
                role,
                f"{forced} {role} switches cannot take {below} {what} x {uplinks} uplinks: the count must divide "
                f"{uplinks} and be at least {below} x {uplinks} / {radix} ports = {least}",
                f"possible: {allowed}",
            )
        return forced
    if not fitting:
        raise DoesNotFitError(
            role, f"{below} {what} x {uplinks} uplinks need {least} {role} switches, more than a switch has uplinks"
        )
    return fitting[0]
