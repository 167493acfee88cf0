"""Rail-optimized leaf-spine, two or three tiers: NIC r of every host of a unit goes to the leaf of rail r.

Counts: `clos`. Ports: host n of a unit takes leaf port n, uplinks take a leaf's last ports; a spine gives each leaf the
ports of its place in the planned layout. So nothing moves when units are added. Parallel links stand side by side, so
that two links of a split cage share a cable.
"""

from collections.abc import Iterator, Sequence

from fabricgen.design.clos import ClosIntent, ClosPlan, DoesNotFitError, plan_clos
from fabricgen.design.model import Block, Host, Identity, Link, PlaneDesign, Switch
from fabricgen.design.parts import PartsList, TierParts, make_switch, plane_nics
from fabricgen.design.units import give_units, places
from fabricgen.inventory.model import Plane
from fabricgen.inventory.references import error
from fabricgen.units import format_speed


def design_rail_optimized(plane: Plane, parts: PartsList) -> PlaneDesign | None:
    """The plane laid out; None, with findings, when it cannot be."""
    hosts = parts.hosts(plane)
    tiers = {role: parts.tier(plane, role) for role in plane.tiers}
    leaf, spine = tiers.get("leaf"), tiers.get("spine")
    if plane.unit is None or plane.speed_mbps is None or not hosts or leaf is None or spine is None:
        return None  # reported where it is missing
    if "core" in tiers and tiers["core"] is None:
        return None
    core = tiers.get("core")
    rails = _rails(plane, hosts, parts)
    if rails is None:
        return None
    units = give_units(plane, plane.unit, hosts, parts)
    used = sorted(unit for given in units.values() for unit in given)
    if plane.unit.planned is not None and used[-1] >= plane.unit.planned:
        needed = used[-1] + 1
        made = f"{len(hosts)} hosts at {plane.unit.hosts} to a unit make {needed} units"
        hint = f"`planned: {needed}` or more; it changes the spines, so plan ahead"
        parts.findings.append(
            error("FG207", f"{made}, `planned` is {plane.unit.planned}", plane.unit, "planned", hint=hint)
        )
        return None
    intent = ClosIntent(
        rails=rails,
        units=plane.unit.planned or used[-1] + 1,
        hosts_per_unit=plane.unit.hosts,
        oversubscription=plane.oversubscription,
        leaf_radix=len(leaf.layout.fabric_ports),
        spine_radix=len(spine.layout.fabric_ports),
        core_radix=len(core.layout.fabric_ports) if core else None,
        spines=spine.tier.count,
        cores=core.tier.count if core else None,
        tiers=plane.tier_count,
    )
    try:
        plan = plan_clos(intent)
    except DoesNotFitError as problem:
        tier = plane.tiers.get(problem.role, plane)
        parts.findings.append(error("FG201", problem.reason, tier, "platform", hint=problem.hint))
        return None
    build = _Build(plane, plan, rails, used)
    build.add_leaves(leaf)
    build.add_spines(spine)
    if plan.tiers == 3 and core:
        build.add_cores(core)
    links = (*build.host_links(places(plane.unit, hosts, units)), *build.leaf_links(), *build.spine_links())
    pods = rails * plan.pods_per_rail if plan.tiers == 3 else 1
    planned = {
        "leaf": intent.units * rails,
        "spine": pods * plan.spines_per_pod,
        "core": plan.cores_per_group * plan.spines_per_pod,
    }
    return PlaneDesign(plane, build.switches, links, tuple(hosts), planned, units)


def _rails(plane: Plane, hosts: list[Host], parts: PartsList) -> int | None:
    """How many rails the hosts' NICs have; every model must have the same, at the plane's speed."""
    counts = set()
    for model in {host.model.name: host.model for host in hosts}.values():
        nics = [nic for nic in plane_nics(model, plane) if nic.rail is not None]
        counts.add(len({nic.rail for nic in nics}))
        wrong = sorted({nic.speed_mbps for nic in nics} - {plane.speed_mbps})
        if wrong or not nics:
            has = f"NICs of {format_speed(wrong[0])}" if wrong else "no NIC on a rail"
            message = f"{model.name} has {has}, plane {plane.name} runs at {format_speed(plane.speed_mbps or 0)}"
            hint = "set the plane's `speed` to that of the NICs, or give such hosts a plane of their own"
            parts.findings.append(error("FG209", message, plane, "hosts", hint=hint))
            return None
    if len(counts) > 1:
        message = f"the hosts of plane {plane.name} have {' and '.join(map(str, sorted(counts)))} rails"
        parts.findings.append(error("FG209", message, plane, "hosts", hint="one plane needs one rail count"))
        return None
    return counts.pop()


class _Build:
    """Switches and links of one plane, in the order of their identities."""

    def __init__(self, plane: Plane, plan: ClosPlan, rails: int, units: Sequence[int]) -> None:
        self.plane, self.plan, self.rails, self.units = plane, plan, rails, units
        self.leaves: dict[tuple[int, int], Switch] = {}  # (unit, rail)
        self.spines: dict[tuple[int, int, int], Switch] = {}  # (pod of the rail, rail, number); (0, 0, n) in two tiers
        self.cores: dict[int, Switch] = {}

    @property
    def switches(self) -> tuple[Switch, ...]:
        return (*self.leaves.values(), *self.spines.values(), *self.cores.values())

    def _pods(self) -> list[tuple[int, int]]:
        """(pod of the rail, rail) of the pods that have leaves already, in an order that growth only adds to."""
        if self.plan.tiers == 2:
            return [(0, 0)]
        built = self.units[-1] // self.plan.units_per_pod + 1
        return [(pod, rail) for pod in range(built) for rail in range(self.rails)]

    def add_leaves(self, tier: TierParts) -> None:
        for unit in self.units:
            for rail in range(self.rails):
                identity = Identity(self.plane.name, "leaf", su=unit, rail=rail)
                self.leaves[unit, rail] = make_switch(identity, tier)

    def add_spines(self, tier: TierParts) -> None:
        name = self.plane.name
        for pod, rail in self._pods():
            for number in range(self.plan.spines_per_pod):
                if self.plan.tiers == 2:
                    identity, owner = Identity(name, "spine", number), f"{name}/spine"
                else:
                    identity = Identity(name, "spine", number, pod=pod, rail=rail)
                    owner = f"{name}/pod{pod}/rail{rail}/spine"
                self.spines[pod, rail, number] = make_switch(identity, tier, owner)

    def add_cores(self, tier: TierParts) -> None:
        name = self.plane.name
        for number in range(self.plan.spines_per_pod * self.plan.cores_per_group):
            self.cores[number] = make_switch(Identity(name, "core", number), tier, f"{name}/core")

    def host_links(self, placed: dict[Host, tuple[int, int]]) -> Iterator[Link]:
        plane, cable = self.plane, self.plane.cables["host-leaf"]
        assert plane.unit
        blocks = {
            place: Block(f"{leaf.key}/hosts", plane.name, "hosts", plane.unit.hosts, leaf.key)
            for place, leaf in self.leaves.items()
        }
        for host, (unit, place) in placed.items():
            for nic in plane_nics(host.model, plane):
                if nic.rail is None:
                    continue
                leaf = self.leaves[unit, nic.rail]
                port = leaf.layout.fabric_ports[place].name
                yield Link(
                    f"{plane.name}/{host.key}/{nic.name}", plane.name, "host-leaf", host, nic.name, leaf, port,
                    nic.speed_mbps, cable, blocks[unit, nic.rail], place, nic.rail, nic,
                )  # fmt: skip

    def leaf_links(self) -> Iterator[Link]:
        plan = self.plan
        for (unit, rail), leaf in self.leaves.items():
            if plan.tiers == 2:
                pod, ordinal = (0, 0), unit * self.rails + rail
            else:
                pod, ordinal = (unit // plan.units_per_pod, rail), unit % plan.units_per_pod
            above = [self.spines[*pod, number] for number in range(plan.spines_per_pod)]
            yield from self._uplinks("leaf-spine", leaf, above, plan.leaf_spine_parallel, ordinal, rail)

    def spine_links(self) -> Iterator[Link]:
        plan = self.plan
        pods = {pod: ordinal for ordinal, pod in enumerate(self._pods())}
        for (pod, rail, number), spine in self.spines.items() if self.cores else ():
            first = number * plan.cores_per_group
            above = [self.cores[first + index] for index in range(plan.cores_per_group)]
            yield from self._uplinks("spine-core", spine, above, plan.spine_core_parallel, pods[pod, rail], rail)

    def _uplinks(
        self, kind: str, low: Switch, above: list[Switch], parallel: int, ordinal: int, rail: int
    ) -> Iterator[Link]:
        """All uplinks of one switch: `parallel` to each switch above, on that one's ports from ordinal * parallel."""
        count = len(above) * parallel
        block = Block(f"{low.key}/uplinks", self.plane.name, "links", count, low.key)
        ports = low.layout.fabric_ports[-count:]
        for slot in range(count):
            high = above[slot // parallel]
            far = high.layout.fabric_ports[ordinal * parallel + slot % parallel]
            yield Link(
                f"{low.key}/up{slot}", self.plane.name, kind, low, ports[slot].name, high, far.name,
                ports[slot].speed_mbps, self.plane.cables[kind], block, slot, rail,
            )  # fmt: skip
