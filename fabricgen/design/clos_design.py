"""From a plane to a Clos: parts, sockets, seats, counts and wiring, for every design of the family."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabricgen.design.clos import ClosIntent, ClosPlan, DoesNotFitError, plan_clos, plan_columns, uplinks_for
from fabricgen.design.clos_wiring import ClosWiring
from fabricgen.design.model import Host, PlaneDesign
from fabricgen.design.parts import PartsList, TierParts
from fabricgen.design.sockets import Sockets
from fabricgen.design.units import Seating, seat_hosts
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.references import error

SocketRule = Callable[[Plane, Sequence[Host], Sequence[Host], PartsList], Sockets | None]


@dataclass(frozen=True)
class ClosDesign:
    """What sets a design of the family apart. `joined`: the leaves of different columns meet at all; `column` is the
    word for a leaf of a unit.
    """

    sockets: SocketRule
    pods_by_column: bool
    column: str
    joined: bool = True

    def __call__(self, plane: Plane, parts: PartsList) -> PlaneDesign | None:
        """The plane laid out; None, with findings, when it cannot be."""
        hosts = parts.hosts(plane, plane.hosts)
        tiers = {role: parts.tier(plane, role) for role in plane.tiers}
        if plane.unit is None or plane.speed_mbps is None or not hosts or None in tiers.values():
            return None  # reported where it is missing
        used = {role: tier for role, tier in tiers.items() if tier is not None}
        if "leaf" not in used or (self.joined and "spine" not in used):
            return None
        sockets = self.sockets(plane, hosts, parts.hosts(plane, plane.unit.appliances), parts)
        seating = seat_hosts(plane, plane.unit, hosts, parts) if sockets else None
        if sockets is None or seating is None:
            return None
        try:
            plan = self._plan(plane, used, sockets, seating)
        except DoesNotFitError as problem:
            tier = plane.tiers.get(problem.role, plane)
            parts.findings.append(error("FG201", problem.reason, tier, "platform", hint=problem.hint))
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

    def _plan(self, plane: Plane, tiers: dict[str, TierParts], sockets: Sockets, seating: Seating) -> ClosPlan:
        assert plane.unit and plane.speed_mbps
        host_ports, spine, core = plane.unit.hosts * sockets.ports_per_host, tiers.get("spine"), tiers.get("core")
        if spine is None or (not self.joined and seating.planned == 1):
            _check_leaf(plane, tiers["leaf"], host_ports, 0)
            if seating.planned > 1:
                reason = f"{seating.planned} units and no spines: the leaves of a rail could not reach each other"
                raise DoesNotFitError("leaf", reason, "add a `spine:` tier, or one unit with all hosts")
            return ClosPlan(0, 0, 0, 1, 1)
        uplinks = uplinks_for(host_ports, plane.speed_mbps, plane.uplink_mbps, plane.oversubscription["leaf"])
        _check_leaf(plane, tiers["leaf"], host_ports, uplinks)
        intent = ClosIntent(
            columns=len(sockets.columns),
            units=seating.planned,
            uplinks=uplinks,
            spine_radix=spine.radix(plane.uplink_mbps),
            core_radix=core.radix(plane.uplink_mbps) if core else None,
            spine_oversubscription=plane.oversubscription["spine"],
            spines=spine.tier.count,
            cores=core.tier.count if core else None,
            tiers=plane.tier_count,
            pod_units=plane.pod_units,
            pods_by_column=self.pods_by_column and all(column.side is None for column in sockets.columns),
            column=self.column,
        )
        return plan_clos(intent) if self.joined else plan_columns(intent)


def _check_leaf(plane: Plane, leaf: TierParts, host_ports: int, uplinks: int) -> None:
    """Every leaf platform has the ports. Raises DoesNotFitError."""
    assert plane.unit and plane.speed_mbps
    for tier in leaf.all():
        spare = tier.tier.spare_ports
        each = host_ports // plane.unit.hosts
        hosts = f"{plane.unit.hosts} hosts" + (f" x {each} ports" if each > 1 else "")
        parts = [hosts, f"{uplinks} uplinks" if uplinks else "", f"{spare} spare" if spare else ""]
        told = " + ".join(part for part in parts if part)
        hint = "fewer hosts in a scalable unit, or more oversubscription"
        of_hosts = len(tier.layout.ports_at(plane.speed_mbps))
        if plane.uplink_mbps == plane.speed_mbps:
            needed = host_ports + uplinks + spare
            if needed > of_hosts:
                reason = f"a leaf needs {needed} ports ({told}), its platform has {of_hosts}"
                raise DoesNotFitError("leaf", reason, hint)
            continue
        of_uplinks = len(tier.layout.ports_at(plane.uplink_mbps))
        if host_ports + spare > of_hosts or uplinks > of_uplinks:
            reason = f"a leaf needs {host_ports + spare} ports for hosts and {uplinks} for uplinks ({told}), "
            reason += f"its platform has {of_hosts} and {of_uplinks}"
            raise DoesNotFitError("leaf", reason, hint)


def _planned(plan: ClosPlan, sockets: Sockets, seating: Seating) -> dict[str, int]:
    spines = plan.pods * plan.spines_per_pod
    cores = plan.cores_per_group * plan.spines_per_pod
    counts = {"leaf": seating.planned * len(sockets.columns), "spine": spines, "core": cores}
    return {role: count * sockets.subplanes for role, count in counts.items()}
