"""The subnet managers of an InfiniBand subnet: their ports and priorities."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Link, PlaneDesign
from fabricgen.design.subnets import SubnetDesign
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error, suggest
from fabricgen.inventory.plane import Plane
from fabricgen.origin import Value, value

MASTER_PRIORITY = 14  # of 15, so that an operator can start another master


@dataclass(frozen=True)
class Manager:
    """One subnet manager. `folder` is empty for the master, and standby-1 and up for the others."""

    folder: str
    guid: Value
    priority: Value


def manager_links(subnet: SubnetDesign, allocation: Allocation) -> list[Link]:
    """The port of each subnet manager in a subnet, the master first. Managers without a port in it are omitted."""
    first: dict[str, Link] = {}
    for link in subnet.host_links:
        for name in (link.a.key, allocation.host_names[link.a.key]):
            first.setdefault(name, link)
    return [first[name] for name in subnet.plane.plane.infiniband.managers if name in first]


def check_managers(design: PlaneDesign, subnets: list[SubnetDesign], allocation: Allocation) -> Iterator[Finding]:
    """Each manager must be a host of the plane with a port in each of its subnets."""
    spec = design.plane.infiniband
    for index, name in enumerate(spec.managers):
        for subnet in subnets:
            known = {link.a.key for link in subnet.host_links}
            names = known | {allocation.host_names[key] for key in known}
            if name not in names:
                hint = suggest(name, sorted(names))
                message = f"subnet manager {name!r} has no port in subnet {subnet.key}"
                yield error("FG887", message, spec, "managers", index, hint=hint)
                break


def check_folders(planes: Iterable[Plane]) -> Iterator[Finding]:
    """A host that manages several planes needs a folder for each, because the files have the same names."""
    first: dict[tuple[str, str], Plane] = {}
    for plane in planes:
        spec = plane.infiniband
        for index, name in enumerate(spec.managers):
            other = first.setdefault((name, spec.config_dir), plane)
            if other is not plane:
                message = (
                    f"{name} manages planes {other.name} and {plane.name} with files in one folder, {spec.config_dir}"
                )
                hint = f"set `config_dir: {spec.config_dir}/{plane.name}`"
                yield error("FG889", message, spec, "managers", index, hint=hint)
                break


def plan_managers(subnet: SubnetDesign, allocation: Allocation) -> list[Manager]:
    """The master, then its standbys. Without `managers` there is one of each, on the first port of its host."""
    spec, links = subnet.plane.plane.infiniband, manager_links(subnet, allocation)
    guids = [
        value(
            allocation.guids.adapters[link.a.key, link.a_port].port,
            f"the port of {allocation.host_names[link.a.key]} ({link.a_port}) in this subnet",
            inventory=spec.source("managers"),
        )
        for link in links
    ] or [value("0x0000000000000000", "no `managers` are named: OpenSM takes the first port of its host")] * 2
    return [
        Manager(
            f"standby-{index}" if index else "",
            guid,
            value(
                MASTER_PRIORITY - index,
                "the highest is master; of equal ones the lowest GUID would be, whoever that is",
                f"{MASTER_PRIORITY} for the master, one less for each standby",
                inventory=spec.source("managers"),
            ),
        )
        for index, guid in enumerate(guids)
    ]
