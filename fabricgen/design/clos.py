"""How many switches a Clos needs: the rules that reproduce the published designs, for every design of the family.

1. A scalable unit (SU) has `columns` leaves, one for each rail (or group of rails, or side of its hosts). A leaf has
   a port for each host port of a full SU, and uplinks of the same bandwidth, divided by its oversubscription. Missing
   hosts reduce neither.
2. Two tiers: the spines are the smallest divisor d of a leaf's uplinks with d x radix >= leaves x uplinks; every leaf
   has uplinks / d links to each. (Three SUs of the DGX H100 SuperPOD thus need 16 spines and not 12.)
3. Three tiers once the leaves outnumber a spine's ports. A pod is the leaves of one column (so that each rail has
   its own spines), or all leaves of its units; with separate spines by rule 2 over the ports that their
   oversubscription leaves for below: half the radix at 1:1, 7 of 8 ports at 7:1. Spine i of every pod meets in core
   group i, whose size is rule 2 once more.

Sources: NVIDIA DGX SuperPOD reference architectures H100 and B200, network fabrics, tables of 1 to 64 SUs; at 1:1 with
whole units to a pod, rule 3 is the k-ary fat tree of Al-Fares et al. (SIGCOMM 2008).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil

from fabricgen.errors import FabricgenError
from fabricgen.inventory.part import Part
from fabricgen.vocabulary import Role


class DoesNotFitError(FabricgenError):
    """The intent needs more ports than the switches have.

    `reason` has the arithmetic, `role` the tier that is too small. `key` is the key to change: of that
    tier, of `part` (a newer platform of the tier), or of the plane without a role.
    """

    def __init__(
        self, role: Role | None, reason: str, hint: str = "", key: str = "platform", part: Part | None = None
    ) -> None:
        super().__init__(reason)
        self.role, self.reason, self.hint, self.key, self.part = role, reason, hint, key, part


@dataclass(frozen=True, slots=True)
class ClosIntent:
    """The requirements of one subplane. Radixes count fabric ports.

    `spines` (of a pod) and `cores` (of the subplane) force a count. `column` is the word for a leaf of a unit.
    """

    columns: int
    units: int  # that the layout is made for
    uplinks: int  # of a leaf
    spine_radix: int
    core_radix: int | None = None
    spine_oversubscription: float = 1.0
    spines: int | None = None
    cores: int | None = None
    tiers: int | None = None  # None: as few as can connect the leaves
    pod_units: int | None = None  # units of a pod; None: as many as fit
    pods_by_column: bool = True  # a pod is the leaves of one column; else all leaves of its units
    column: str = "rails"


@dataclass(frozen=True, slots=True)
class ClosPlan:
    """Counts for the full layout. Two tiers are one pod without cores. Without spines nothing connects the leaves."""

    uplinks: int  # of a leaf
    spines_per_pod: int
    leaf_spine_parallel: int
    units_per_pod: int
    pods: int
    pods_by_column: bool = False
    cores_per_group: int = 0
    spine_uplinks: int = 0
    spine_core_parallel: int = 0

    @property
    def tiers(self) -> int:
        """1, 2 or 3."""
        return 3 if self.cores_per_group else 2 if self.spines_per_pod else 1


def uplinks_for(host_ports: int, host_mbps: int, uplink_mbps: int, oversubscription: float) -> int:
    """Uplinks with the bandwidth of the host ports, divided by the oversubscription; at least one."""
    return max(1, ceil(Fraction(host_ports * host_mbps, uplink_mbps) / exact_ratio(oversubscription)))


def plan_clos(intent: ClosIntent) -> ClosPlan:
    """The plan with the fewest switches. Raises DoesNotFitError."""
    leaves = intent.columns * intent.units
    three = intent.tiers == 3 or (intent.pod_units is not None and intent.tiers is None)
    if leaves <= intent.spine_radix and not three:
        if intent.cores is not None:
            reason = f"`count` sets {intent.cores} cores, and two tiers connect the {leaves} leaves without cores"
            raise DoesNotFitError(Role.CORE, reason, "set `tiers: 3`, or remove `count`", "count")
        spines = _spread(Role.SPINE, intent.uplinks, leaves, intent.spine_radix, intent.spines, "leaves")
        return ClosPlan(intent.uplinks, spines, intent.uplinks // spines, intent.units, 1)
    if intent.tiers == 2 or (intent.core_radix is None and leaves > intent.spine_radix):
        raise DoesNotFitError(
            Role.SPINE,
            f"{intent.units} units x {intent.columns} {intent.column} = {leaves} leaves, more than the "
            f"{intent.spine_radix} ports of a spine: two tiers cannot connect them",
            "add a `core:` tier" if intent.tiers is None else "set `tiers: 3` and add a `core:` tier",
        )
    if intent.core_radix is None:
        key = "tiers" if intent.tiers == 3 else "pod"
        raise DoesNotFitError(
            None, "three tiers are required, and the plane has no core tier", "add a `core:` tier", key
        )
    return _three_tiers(intent, intent.core_radix)


def plan_columns(intent: ClosIntent) -> ClosPlan:
    """Every column alone: two tiers that connect the leaves of a column, and nothing above. Raises DoesNotFitError."""
    if intent.units > intent.spine_radix:
        reason = f"{intent.units} leaves of a rail, more than the {intent.spine_radix} ports of a spine"
        raise DoesNotFitError(
            Role.SPINE,
            reason,
            "use fewer and larger units (`scalable_unit.hosts`), or `design: rail-optimized` with a `core:` tier",
        )
    spines = _spread(Role.SPINE, intent.uplinks, intent.units, intent.spine_radix, intent.spines, "leaves of a rail")
    return ClosPlan(intent.uplinks, spines, intent.uplinks // spines, intent.units, intent.columns, pods_by_column=True)


def _three_tiers(intent: ClosIntent, core_radix: int) -> ClosPlan:
    ratio = exact_ratio(intent.spine_oversubscription)
    down = ports_below(intent.spine_radix, intent.spine_oversubscription)
    width = 1 if intent.pods_by_column else intent.columns  # leaves that a unit gives to a pod
    units_per_pod = min(intent.units, intent.pod_units or max(1, down // width))
    leaves = units_per_pod * width
    if leaves > down:
        reason = (
            f"{units_per_pod} units x {width} leaves = {leaves} leaves of a pod, more than the {down} of a spine's "
            f"{intent.spine_radix} ports that {intent.spine_oversubscription:g}:1 leaves for links below"
        )
        role, key = (None, "pod") if intent.pod_units else (Role.SPINE, "platform")
        raise DoesNotFitError(role, reason, "reduce `pod.units`, or use a spine `platform` with more ports", key)
    spines = _spread(Role.SPINE, intent.uplinks, leaves, down, intent.spines, "leaves of a pod")
    parallel = intent.uplinks // spines
    spine_uplinks = ceil(leaves * parallel / ratio)
    per_column = ceil(intent.units / units_per_pod)
    pods = per_column * (intent.columns if intent.pods_by_column else 1)
    if pods > core_radix:
        made = f"{intent.units} units, {units_per_pod} in a pod, make {pods} pods"
        if intent.pods_by_column:
            made = f"{intent.columns} {intent.column} x {per_column} pods = {pods} pods"
        reason = f"{made}, more than the {core_radix} ports of a core"
        raise DoesNotFitError(
            Role.CORE, reason, "reduce `scalable_unit.planned`, or use a core `platform` with more ports"
        )
    forced = None
    if intent.cores is not None:
        if intent.cores % spines:
            reason = f"{intent.cores} cores cannot be divided over the {spines} spines of a pod"
            raise DoesNotFitError(Role.CORE, reason, f"set `core.count` to a multiple of {spines}", "count")
        forced = intent.cores // spines
    group = _spread(Role.CORE, spine_uplinks, pods, core_radix, forced, "pods")
    return ClosPlan(
        intent.uplinks, spines, parallel, units_per_pod, pods, intent.pods_by_column, group, spine_uplinks,
        spine_uplinks // group,
    )  # fmt: skip


@cache
def ports_below(spine_radix: int, oversubscription: float) -> int:
    """The ports of a spine of three tiers that its oversubscription leaves for links below."""
    ratio = exact_ratio(oversubscription)
    return max(ports for ports in range(spine_radix) if ports + ceil(ports / ratio) <= spine_radix)


@cache
def exact_ratio(oversubscription: float) -> Fraction:
    """The ratio of the inventory: 1.5 is exactly 3/2."""
    return Fraction(str(oversubscription))


def _spread(role: Role, uplinks: int, below: int, radix: int, forced: int | None, what: str) -> int:
    """The smallest divisor of `uplinks` that gives `below` switches enough ports above, or `forced` if it does so."""
    least = ceil(below * uplinks / radix)
    fitting = [count for count in range(least, uplinks + 1) if uplinks % count == 0]
    if forced is not None:
        if forced not in fitting:
            allowed = ", ".join(map(str, fitting)) or "none"
            raise DoesNotFitError(
                role,
                f"{forced} {role} switches cannot take {below} {what} x {uplinks} uplinks: the count must divide "
                f"{uplinks} and be at least {below} x {uplinks} / {radix} ports = {least}",
                f"set `{role}.count` to one of: {allowed}",
                "count",
            )
        return forced
    if not fitting:
        raise DoesNotFitError(
            role, f"{below} {what} x {uplinks} uplinks need {least} {role} switches, more than a switch has uplinks"
        )
    return fitting[0]
