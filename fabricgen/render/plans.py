"""From an inventory to everything that is decided before the first byte is rendered: the makers in their order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabricgen.allocation.allocate import Allocation, allocate
from fabricgen.allocation.growth import LockGrowth, counts_of, lock_growth
from fabricgen.allocation.guids import count_placeholders
from fabricgen.allocation.lock import Lock
from fabricgen.allocation.naming import name_hosts, name_switches, notes_by_identity
from fabricgen.allocation.read_lock import read_lock
from fabricgen.control_plane.bgp import ControlPlane, plan_control_plane
from fabricgen.control_plane.cordons import Cordons, plan_cordons
from fabricgen.control_plane.managers import check_folders, check_managers
from fabricgen.control_plane.mlnx_sm import check_dialect
from fabricgen.control_plane.opensm import SubnetPlan, plan_subnets
from fabricgen.control_plane.outside import plan_outside
from fabricgen.control_plane.partition_checks import check_partitions
from fabricgen.control_plane.sharp import check_sharp
from fabricgen.control_plane.srv6 import Srv6Switch, plan_srv6
from fabricgen.control_plane.tenant_settings import check_tenant_settings
from fabricgen.control_plane.tenants import TenantPlan, plan_tenants, with_tenant_blocks
from fabricgen.design.access import with_access
from fabricgen.design.capacity import capacity
from fabricgen.design.device_ports import with_device_ports
from fabricgen.design.exceptions import Named, with_cable_exceptions, with_device_platforms, with_moves
from fabricgen.design.expand import expand
from fabricgen.design.model import Fabric, Link, Switch
from fabricgen.design.parts import PartsList
from fabricgen.design.subnets import split_subnets
from fabricgen.errors import UsageError
from fabricgen.findings import Finding, Location, Severity, has_errors
from fabricgen.inventory.load import LOCK_NAME, InventorySource, inventory_root, load_inventory
from fabricgen.inventory.mistakes import error, note
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.read_files import inventory_layers, opened
from fabricgen.lossless.congestion import ecn_problems
from fabricgen.lossless.nics import nic_problems
from fabricgen.lossless.plan import LosslessPlanner
from fabricgen.lossless.pools import pool_problem
from fabricgen.render.build_management import management_problems
from fabricgen.render.hosts import host_problems
from fabricgen.render.overrides import check_overrides
from fabricgen.render.ownership import Ownership
from fabricgen.vocabulary import Technology

UNPLANNED = ("overrides", "suppressions", "checks")  # parts of an inventory that nothing in the plans depends on


@dataclass
class Plans:
    """Everything that is decided before the first byte is rendered. `lock` is the new lock file.

    `rendered` are the RoCE planes, whose switches have a config_db.json; `subnets` the choices for InfiniBand planes.
    """

    fabric: Fabric
    rendered: Fabric
    subnets: Mapping[str, SubnetPlan]
    allocation: Allocation
    control: ControlPlane
    tenants: TenantPlan
    planner: LosslessPlanner
    old_lock: Lock | None
    lock: Lock
    ownership: Ownership
    findings: list[Finding]
    templates: Path | None = None  # a folder whose templates replace those of fabricgen
    cordons: Cordons = field(default_factory=dict)
    srv6: Mapping[str, Srv6Switch] = field(default_factory=dict)
    settled: list[Finding] = field(default_factory=list)  # those that the parts in `UNPLANNED` do not cause

    @property
    def lock_changed(self) -> bool:
        """Whether the lock file changes."""
        return self.old_lock != self.lock

    @property
    def growth(self) -> LockGrowth:
        """The entries of the lock file that are added, changed and removed."""
        return lock_growth(self.old_lock or Lock(self.lock.fabric), self.lock)


def make_plans(
    path: InventorySource, step: Callable[[str], None] = lambda _: None, renumber: str | None = None
) -> Plans:
    """Load, design, allocate and plan. `step` is called with the name of each stage as it begins.

    With `renumber`, the numbers of that plane are allocated anew. All findings of all stages are in the result; with an
    error among them nothing may be rendered. Raises UnreadableInputError, and UsageError for an unknown plane.
    """
    step("load")
    inventory, found = load_inventory(path)
    old_lock = read_lock(inventory_root(path) / LOCK_NAME)
    return plan(path, inventory, found, old_lock, step, renumber)


def plan(
    path: InventorySource,
    inventory: Inventory,
    of_inventory: Sequence[Finding],
    old_lock: Lock | None,
    step: Callable[[str], None] = lambda _: None,
    renumber: str | None = None,
) -> Plans:
    """`make_plans` for an inventory that is loaded, with its findings."""
    findings: list[Finding] = []
    step("design")
    fabric, found = expand(inventory, inventory_root(path), old_lock.units if old_lock else {})
    fabric, of_exceptions = _with_exceptions(fabric, old_lock, inventory_root(path))
    fabric, of_access = with_access(with_tenant_blocks(fabric))
    subnets, refused = plan_subnets(fabric)
    findings += [*found, *of_exceptions, *of_access, *refused]
    step("allocate")
    named = "fabric" in inventory.node.mapping
    if named and old_lock is not None and old_lock.fabric != inventory.fabric:
        message = f"{LOCK_NAME} belongs to fabric {old_lock.fabric!r}, this is {inventory.fabric!r}"
        hint = "for a renamed fabric, change the name in the lock file; move another fabric to another folder"
        findings.append(error("FG384", message, inventory, "fabric", hint=hint))
    if renumber is not None and renumber not in inventory.planes:
        raise UsageError(f"--renumber {renumber}: the planes are {', '.join(inventory.planes)}")
    allocation, lock, found = allocate(fabric, old_lock.without(renumber) if old_lock and renumber else old_lock)
    findings += found
    fabric, found = with_device_ports(fabric, allocation.notes, allocation.names)
    findings += found
    names = {**allocation.names, **allocation.host_names}
    fabric, found = with_cable_exceptions(fabric, Named(names, {**allocation.notes, **allocation.host_notes}))
    findings += found
    findings += _subnet_problems(fabric, subnets, allocation)
    if not has_errors(findings):
        findings += check_tenant_settings(fabric, allocation)
    step("plan")
    rendered = Fabric(inventory, tuple(plane for plane in fabric.planes if plane.plane.technology == Technology.ROCE))
    outside, found = plan_outside(rendered, allocation)
    findings += found
    cordons, found = plan_cordons(fabric, allocation, outside)
    findings += found
    tenants, found = plan_tenants(rendered, allocation)
    findings += found
    srv6, found = plan_srv6(rendered, allocation) if not has_errors([*of_inventory, *findings]) else ({}, [])
    findings += found
    control = plan_control_plane(rendered, allocation, outside)
    planner = LosslessPlanner(rendered)
    ownership = Ownership(inventory.sonic, inventory_root(path))
    for switch in rendered.switches:
        findings += _lossless_problems(switch, planner, control)
    findings += [
        *planner.findings,
        *(management_problems(inventory.management, inventory.sonic.release) if inventory.management else ()),
        *nic_problems(rendered),
        *host_problems(rendered),
        *ecn_problems(plane for plane in inventory.planes.values() if plane.technology == Technology.ROCE),
    ]
    plans = Plans(
        fabric, rendered, subnets, allocation, control, tenants, planner, old_lock, lock, ownership, [],
        inventory_layers(path).templates, cordons, srv6, findings,
    )  # fmt: skip
    plans.findings = _all_findings(plans, path, of_inventory)
    return plans


def _with_exceptions(fabric: Fabric, lock: Lock | None, root: Path) -> tuple[Fabric, list[Finding]]:
    """The fabric with single switches of other models, and hosts at spare ports. `allocate` reports wrong names."""
    inventory = fabric.inventory
    if not inventory.moves and not any(note.platform for note in inventory.devices):
        return fabric, []
    switches = name_switches(fabric, lock or Lock(inventory.fabric), [], [])
    names = {**switches, **name_hosts(fabric, (), [])}
    named = Named(names, notes_by_identity(fabric, names))
    fabric, findings = with_device_platforms(fabric, named, PartsList(inventory, root, [], {}))
    fabric, found = with_moves(fabric, named)
    return fabric, [*findings, *found]


def plan_again(plans: Plans, path: InventorySource, inventory: Inventory, of_inventory: Sequence[Finding]) -> Plans:
    """The plans of an inventory that differs only in the parts in `UNPLANNED`."""
    again = replace(
        plans,
        fabric=replace(plans.fabric, inventory=inventory),
        rendered=replace(plans.rendered, inventory=inventory),
        ownership=Ownership(inventory.sonic, inventory_root(path)),
    )
    again.findings = _all_findings(again, path, of_inventory)
    return again


def _all_findings(plans: Plans, path: InventorySource, of_inventory: Sequence[Finding]) -> list[Finding]:
    findings = [
        *of_inventory,
        *plans.settled,
        *check_overrides(plans.fabric, plans.allocation.names),
        *plans.ownership.problems(plans.allocation.names[switch.key] for switch in plans.rendered.switches),
    ]
    return [_placed(finding, inventory_root(path)) for finding in dict.fromkeys(findings)]


def _lossless_problems(switch: Switch, planner: LosslessPlanner, control: ControlPlane) -> Iterator[Finding]:
    """Plan a switch and its ports; the planner collects its findings, this function adds the sum of the pools."""
    plan = planner.plan(switch)
    if plan is None:
        return
    links = [end.link for end in control.ends[switch.key].values()]
    ports = [planner.port(switch, link) for link in links if isinstance(link, Link)]
    problem = pool_problem(plan, [port for port in ports if port is not None], switch.platform.mmu_bytes)
    if problem:
        hint = "use fewer lossless classes, shorter cables, fewer ports, or another platform"
        yield error("FG584", f"{switch.platform.name} as {switch.role}: {problem}", switch.spec, "platform", hint=hint)


def design_only(path: InventorySource) -> tuple[Fabric, list[Finding]]:
    """Load and lay out, without plans: enough to count switches and links."""
    inventory, findings = load_inventory(path, needs_addresses=False)
    fabric, found = expand(inventory, inventory_root(path))
    fabric, of_access = with_access(fabric)
    refused = plan_subnets(fabric)[1]
    return fabric, [_placed(finding, inventory_root(path)) for finding in (*findings, *found, *of_access, *refused)]


def capacity_table(fabric: Fabric) -> dict[str, Any]:
    """The `capacity` object of the contract: the counts, and the routing engines of InfiniBand planes."""
    table, subnets = capacity(fabric), plan_subnets(fabric)[0]
    for plane in table["planes"]:
        subnet = subnets.get(plane["name"])
        plane["infiniband"] = subnet.choice if subnet else None
    return table


def lock_would_change(plans: Plans, file: Path, *, needed: bool = False, strict: bool = True) -> list[Finding]:
    """A finding if the lock file is not up to date; a note if it does not exist yet, unless `needed`.

    It is an error if `strict`; else a note where entries are only added, and a warning where one changes.
    """
    if not plans.lock_changed or has_errors(plans.findings):
        return []
    place = Location(str(file), 1, 1)
    hint = "run `fabricgen render` and commit the lock file"
    if plans.old_lock is None and not needed:
        return [
            Finding(
                "FG387", Severity.NOTE, "no lock file yet: numbers are allocated in memory", location=place, hint=hint
            )
        ]
    growth = plans.growth
    parts = {"added": growth.added, "changed": growth.changed, "removed": growth.removed}
    counts = ", ".join(f"{what} {counts_of(entries)}" for what, entries in parts.items() if entries)
    if strict:
        return [Finding("FG382", Severity.ERROR, f"the lock file would change: {counts}", location=place, hint=hint)]
    if growth.is_addition:
        message = f"`render` adds {counts_of(growth.added)} to the lock file, and changes none"
        return [Finding("FG382", Severity.NOTE, message, location=place, hint=hint)]
    message = f"`render` changes the lock file: {counts}"
    return [Finding("FG382", Severity.WARNING, message, location=place, hint=hint)]


def _subnet_problems(fabric: Fabric, subnets: Mapping[str, SubnetPlan], allocation: Allocation) -> Iterator[Finding]:
    """Findings for tenants and managers that cannot be configured; a note for placeholder GUIDs."""
    yield from check_folders(design.plane for design in fabric.planes if design.plane.name in subnets)
    for design in fabric.planes:
        plane = design.plane
        if plane.name not in subnets:
            continue  # a RoCE plane, or refused for another reason
        yield from check_dialect(design)
        yield from check_sharp(design)
        yield from check_partitions(design, allocation)
        yield from check_managers(design, split_subnets(design), allocation)
        switches, adapters = count_placeholders(design, allocation.guids)
        if switches or adapters:
            message = f"plane {plane.name}: {switches} switches and {adapters} adapters have placeholder GUIDs"
            hint = "set real GUIDs with `guid`, guids.csv or `discovered`; `validate --deploy` rejects placeholders"
            yield note("FG888", message, plane, "technology", hint=hint)


def _placed(finding: Finding, root: Path) -> Finding:
    """A finding whose places are relative to the inventory, with paths that can be opened from the current folder."""
    related = tuple(replace(each, location=opened(root, each.location)) for each in finding.related)
    location = opened(root, finding.location) if finding.location else None
    return replace(finding, location=location, related=related)
