"""SHARP of a subnet: the options of its aggregation manager, and the findings about fabrics on which it cannot work."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fabricgen.design.graph import Graph
from fabricgen.design.model import Host, PlaneDesign
from fabricgen.design.registry import graph_of
from fabricgen.design.subnets import SubnetDesign, split_subnets
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.infiniband import MlnxSmSpec
from fabricgen.inventory.mistakes import error
from fabricgen.opensm.sharp import AGGREGATING_ASICS, FAT_TREE, OTHER_TREE, TREES_BY_DEFAULT
from fabricgen.origin import Value, value

_FAT_TREES = (Graph.SINGLE_SWITCHES, Graph.REGULAR_TREE, Graph.TREE_OF_ONE_LEAF)
_GUIDE = "NVIDIA SHARP Rev 3.12.0, Appendix A"


@dataclass(frozen=True)
class SharpOptions:
    """Options by their names in sharp_am.cfg; None omits an option."""

    dynamic_tree_allocation: Value
    dynamic_tree_algorithm: Value
    max_trees_to_build: Value | None
    reservation_mode: Value | None


def plan_sharp(subnet: SubnetDesign, spec: MlnxSmSpec) -> SharpOptions:
    """The options of the subnet's aggregation manager."""
    graph, source, roots = graph_of(subnet.plane), spec.source("sharp"), len(subnet.top)
    tenants = subnet.plane.plane.partitions
    return SharpOptions(
        dynamic_tree_allocation=value("TRUE", "trees are built for each job, from links that no other job uses",
                                      inventory=source),
        dynamic_tree_algorithm=value(FAT_TREE if graph in _FAT_TREES else OTHER_TREE, f"the algorithm for a {graph}",
                                     inventory=source, platform=_GUIDE),
        max_trees_to_build=value(roots, f"the number of root switches, which is above {TREES_BY_DEFAULT}",
                                 inventory=source, platform="NVIDIA SHARP Rev 3.2.0, Dynamic Trees Allocation Mode")
        if roots > TREES_BY_DEFAULT else None,
        reservation_mode=value("TRUE", "with tenants only the hosts of a reservation, which has a P_Key, get trees",
                               inventory=subnet.plane.plane.source("partitions"),
                               platform="NVIDIA SHARP Rev 3.5.2 LTS, SHARP Application Awareness")
        if tenants else None,
    )  # fmt: skip


def check_sharp(design: PlaneDesign) -> Iterator[Finding]:
    """The findings about switches that do not aggregate, or not as much as the hosts of the plane ask for."""
    spec = design.plane.infiniband.mlnx_sm
    if spec is None or not spec.sharp:
        return
    asics = {switch.platform.name: switch.platform.asic for switch in design.switches}
    if strange := sorted(name for name, asic in asics.items() if asic not in AGGREGATING_ASICS):
        message = f"plane {design.plane.name}: no public source states that {', '.join(strange)} aggregates"
        known = ", ".join(AGGREGATING_ASICS)
        yield error("FG895", message, spec, "sharp", hint=f"remove `sharp`, or use switches of {known}")
        return
    limits = [AGGREGATING_ASICS[asic] for asic in asics.values() if asic]
    if any(one and one.one_stream_per_switch for one in limits):
        for subnet in split_subnets(design):
            if shared := _shared_leaf(subnet):
                leaf, rails = shared
                message = (
                    f"plane {design.plane.name}: {leaf} connects {rails} NICs of a host, but a Quantum switch is in one"
                    " active streaming tree at a time, and NCCL asks for one tree for each NIC"
                )
                hint = "connect each NIC of a host to another leaf (design rail-optimized), or expect one NIC's rate"
                yield replace(error("FG896", message, spec, "sharp", hint=hint), severity=Severity.WARNING)
                break


def _shared_leaf(subnet: SubnetDesign) -> tuple[str, int] | None:
    """The first leaf with several NICs of one host, and their number."""
    found: dict[tuple[str, str], int] = {}
    for link in subnet.host_links:
        if isinstance(link.a, Host) and link.a.model.gpus:
            pair = (link.b.key, link.a.key)
            found[pair] = found.get(pair, 0) + 1
    return next(((leaf, number) for (leaf, _), number in found.items() if number > 1), None)
