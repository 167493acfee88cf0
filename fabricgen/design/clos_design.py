"""From a plane to a Clos: parts, sockets, seats, counts and wiring, for every design of the family."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabricgen.design.clos import ClosIntent, ClosPlan, DoesNotFitError, plan_clos, plan_columns, uplinks_for
from fabricgen.design.clos_wiring import ClosWiring
from fabricgen.design.model import Host, PlaneDesign
from fabricgen.design.parts import PartsList, TierParts
from fabricgen.design.sockets import Sockets
from fabricgen.design.units import Seating, seat_hosts
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.topology import Tier
from fabricgen.vocabulary import Role

SocketRule = Callable[[Plane, Sequence[Host], Sequence[Host], PartsList], Sockets | None]


@dataclass(frozen=True)
class ClosDesign:
    """The differences between designs of the family.

    `joined`: spines connect the leaves of different columns. `column` is the word for a leaf of a unit in messages.
    """

    sockets: SocketRule
    pods_by_column: bool
    column: str
    joined: bool = True

    def __call__(self, plane: Plane, parts: PartsList) -> PlaneDesign | None:
        """The plane as a Clos; None, with findings, when it cannot be laid out."""
        hosts = parts.hosts(plane, plane.hosts)
        tiers = {role: parts.tier(plane, role) for role in plane.tiers}
        if plane.unit is None or plane.speed_mbps is None or not hosts or None in tiers.values():
            return None  # a finding exists for what is missing
        used = {role: tier for role, tier in tiers.items() if tier is not None}
        if Role.LEAF not in used or (self.joined and Role.SPINE not in used):
            return None
        sockets = self.sockets(plane, hosts, parts.hosts(plane, plane.unit.appliances), parts)
        seating = seat_hosts(plane, plane.unit, hosts, parts) if sockets else None
        if sockets is None or seating is None:
            return None
        try:
            plan = self._plan(plane, used, sockets, seating)
        except DoesNotFitError as problem:
            at = problem.part or (plane.tiers[problem.role] if problem.role else plane)
            key, hint = problem.key, problem.hint
            if isinstance(at, Tier) and at.ports and key == "platform":
                key, hint = "ports", f"give more cages of `ports` a mode with these ports; or {hint}"
            parts.findings.append(error("FG201", problem.reason, at, key, hint=hint.removesuffix("; or ")))
            return None
        if Role.SPINE in used and not _newer_fit(plane, plan, used[Role.SPINE], len(sockets.columns), parts):
            return None
        copies = [ClosWiring(plane, plan, used, sockets, seating, number) for number in range(sockets.subplanes)]
        return PlaneDesign(
            plane,
            tuple(switch for copy in copies for switch in copy.switches),
            tuple(link for copy in copies for link in (*copy.host_links(), *copy.leaf_links(), *copy.spine_links())),
            tuple(seating.places),
            _planned(plan, sockets, seating),
            seating.units,
        )

    def _plan(self, plane: Plane, tiers: dict[Role, TierParts], sockets: Sockets, seating: Seating) -> ClosPlan:
        assert plane.unit and plane.speed_mbps
        host_ports, spine, core = plane.unit.hosts * sockets.ports_per_host, tiers.get(Role.SPINE), tiers.get(Role.CORE)
        if spine is None or (not self.joined and seating.planned == 1):
            _check_leaf(plane, tiers[Role.LEAF], host_ports, 0)
            if seating.planned > 1:
                reason = f"{seating.planned} units without spines: the leaves of a rail cannot reach each other"
                raise DoesNotFitError(Role.LEAF, reason, "add a `spine:` tier, or one unit with all hosts")
            if spine is not None:
                reason = "1 unit has 1 leaf for each rail, so spines connect nothing"
                raise DoesNotFitError(Role.SPINE, reason, "remove `spine:`, or plan more units")
            return ClosPlan(0, 0, 0, 1, 1)
        uplinks = uplinks_for(host_ports, plane.speed_mbps, plane.uplink_mbps, plane.oversubscription[Role.LEAF])
        _check_leaf(plane, tiers[Role.LEAF], host_ports, uplinks)
        for role, tier in tiers.items():
            if role != Role.LEAF and tier.radix(plane.uplink_mbps) < 1:
                ports = len(tier.layout.ports_at(plane.uplink_mbps))
                reason = f"{tier.tier.spare_ports} spare ports leave none of the {ports} ports of a {role}"
                raise DoesNotFitError(role, reason, "reduce `spare_ports`", "spare_ports")
        intent = ClosIntent(
            columns=len(sockets.columns),
            units=seating.planned,
            uplinks=uplinks,
            spine_radix=spine.radix(plane.uplink_mbps),
            core_radix=core.radix(plane.uplink_mbps) if core else None,
            spine_oversubscription=plane.oversubscription[Role.SPINE],
            spines=spine.tier.count,
            cores=core.tier.count if core else None,
            tiers=plane.tier_count,
            pod_units=plane.pod_units,
            pods_by_column=self.pods_by_column and all(column.side is None for column in sockets.columns),
            column=self.column,
        )
        return plan_clos(intent) if self.joined else plan_columns(intent)


def _newer_fit(plane: Plane, plan: ClosPlan, spine: TierParts, columns: int, parts: PartsList) -> bool:
    """Whether the spines of later units have the ports of the layout, so that no earlier spine changes."""
    below = plan.units_per_pod * plan.leaf_spine_parallel * (1 if plan.pods_by_column else columns)
    for newer in spine.newer:
        if plan.tiers < 3:
            message = "the spines of two tiers serve all units, so none belongs to a later unit"
            parts.findings.append(error("FG201", message, newer.tier, "from_unit", hint="remove `newer`"))
            return False
        spare, ports = newer.tier.spare_ports, len(newer.layout.ports_at(plane.uplink_mbps))
        needed = below + plan.spine_uplinks + spare
        if needed > ports:
            counted = f"{below} below + {plan.spine_uplinks} uplinks" + (f" + {spare} spare" if spare else "")
            message = f"a spine needs {needed} ports ({counted}), the newer platform has {ports}"
            parts.findings.append(
                error("FG201", message, newer.tier, "platform", hint="choose a `platform` with that many ports")
            )
            return False
    return True


def _check_leaf(plane: Plane, leaf: TierParts, host_ports: int, uplinks: int) -> None:
    """Checks that every leaf platform has the ports. Raises DoesNotFitError."""
    assert plane.unit and plane.speed_mbps
    for tier in leaf.all():
        spare = tier.tier.spare_ports
        each = host_ports // plane.unit.hosts
        hosts = f"{plane.unit.hosts} hosts" + (f" x {each} ports" if each > 1 else "")
        parts = [hosts, f"{uplinks} uplinks" if uplinks else "", f"{spare} spare" if spare else ""]
        counted = " + ".join(part for part in parts if part)
        hint = "reduce `scalable_unit.hosts`, or increase `oversubscription.leaf`"
        of_hosts = len(tier.layout.ports_at(plane.speed_mbps))
        if plane.uplink_mbps == plane.speed_mbps:
            needed = host_ports + uplinks + spare
            if needed > of_hosts:
                reason = f"a leaf needs {needed} ports ({counted}), its platform has {of_hosts}"
                raise DoesNotFitError(Role.LEAF, reason, hint, part=tier.tier)
            continue
        of_uplinks = len(tier.layout.ports_at(plane.uplink_mbps))
        if host_ports + spare > of_hosts or uplinks > of_uplinks:
            reason = f"a leaf needs {host_ports + spare} ports for hosts and {uplinks} for uplinks ({counted}), "
            reason += f"its platform has {of_hosts} and {of_uplinks}"
            raise DoesNotFitError(Role.LEAF, reason, hint, part=tier.tier)


def _planned(plan: ClosPlan, sockets: Sockets, seating: Seating) -> dict[Role, int]:
    spines = plan.pods * plan.spines_per_pod
    cores = plan.cores_per_group * plan.spines_per_pod
    counts = {Role.LEAF: seating.planned * len(sockets.columns), Role.SPINE: spines, Role.CORE: cores}
    return {role: count * sockets.subplanes for role, count in counts.items()}
