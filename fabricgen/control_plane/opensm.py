"""The routing engine of an InfiniBand subnet, its virtual lanes, and the reason for both."""

from collections.abc import Iterator
from dataclasses import dataclass

from fabricgen.control_plane.engines import (
    FALLS_BACK,
    LAYERED,
    LONGEST_ONE_SL_RING,
    NO_LMC,
    OPTIONS,
    SPREADS,
    Option,
    why_not,
)
from fabricgen.design.grid import is_ring
from fabricgen.design.model import Fabric, Host, PlaneDesign
from fabricgen.design.registry import graph_of
from fabricgen.design.subnets import SubnetDesign, largest_subnet
from fabricgen.findings import Finding
from fabricgen.inventory.infiniband import Engine
from fabricgen.inventory.references import error
from fabricgen.vocabulary import Purpose, Technology

UNICAST_LIDS = 49_151  # 0x0001 to 0xBFFF (InfiniBand Architecture Specification, volume 1, section 4.1.3)


@dataclass(frozen=True, slots=True)
class Subnet:
    """The routing of the subnets of a plane: the engine and its data VLs. `qos` is the option of opensm.conf."""

    engine: Engine
    vls: int
    qos: bool
    reason: str
    lids: int  # of the largest subnet of the plane

    @property
    def choice(self) -> dict[str, object]:
        """The choice as JSON."""
        return {"engine": self.engine, "vls": self.vls, "qos": self.qos, "reason": self.reason}


def plan_subnets(fabric: Fabric) -> tuple[dict[str, Subnet], list[Finding]]:
    """Plane -> its routing, for every InfiniBand plane, and the findings of planes that cannot be routed."""
    findings: list[Finding] = []
    subnets = {}
    for design in fabric.planes:
        if design.plane.technology == Technology.INFINIBAND and design.switches:
            largest = largest_subnet(design)
            findings += _check_lids(largest)
            choice = _choose(design, largest.lids)
            if isinstance(choice, Finding):
                findings.append(choice)
            else:
                subnets[design.plane.name] = choice
    return subnets, findings


def _choose(design: PlaneDesign, lids: int) -> Subnet | Finding:
    """The configured engine, or the first one that is possible. With collectives on the plane it is the first one that
    is free of credit loops on one SL. `lids` are those of the largest subnet."""
    asked, graph = design.plane.infiniband, graph_of(design)
    options = [option for option in OPTIONS[graph] if not (asked.lmc and option.engine in NO_LMC)]
    possible = [option for option in options if option.vls <= asked.vls]
    if asked.engine is None:
        fitting = (option for option in possible if not runs_collectives(design) or _needs_one_sl(design, option))
        return _subnet(design, next(fitting), lids)  # nue is always possible
    chosen = next((option for option in possible if option.engine == asked.engine), None)
    if chosen is not None:
        return _subnet(design, chosen, lids)
    hint = f"remove `engine` for {possible[0].engine}, or use one of: {', '.join(option.engine for option in possible)}"
    too_few = next((option for option in options if option.engine == asked.engine), None)
    if too_few is not None:
        message = f"{asked.engine} needs {too_few.vls} VLs on a {graph}, `vls` is {asked.vls}: {FALLS_BACK}"
        return error("FG228", message, asked, "vls", hint=hint)
    message = f"{asked.engine} cannot keep a {graph} free of credit loops: {why_not(graph, asked.engine, asked.lmc)}"
    return error("FG228", message, asked, "engine", hint=hint)


def _subnet(design: PlaneDesign, option: Option, lids: int) -> Subnet:
    budget = design.plane.infiniband.vls
    on_one_vl = option.engine is Engine.NUE and runs_collectives(design)
    vls = budget if option.engine in SPREADS and not on_one_vl else option.vls
    reason = f"{graph_of(design)}: {option.engine} {option.evidence}"
    if on_one_vl:
        reason += "; one VL, because NCCL sends with one SL and requests no path records"
    datelines = ", ".join(_datelines(design))
    if option.engine is Engine.TORUS_2QOS and datelines:
        reason += f"; datelines at {datelines}"
    qos = option.engine in LAYERED or vls > 1
    return Subnet(option.engine, vls, qos, reason, lids)


def runs_collectives(design: PlaneDesign) -> bool:
    """Whether NCCL or RCCL runs on a plane: it is a compute plane, and hosts with GPUs are on it."""
    hosts = (link.a for link in design.links if isinstance(link.a, Host))
    return design.plane.purpose == Purpose.COMPUTE and any(host.model.gpus for host in hosts)


def _needs_one_sl(design: PlaneDesign, option: Option) -> bool:
    """Whether the engine is free of credit loops with all packets on one SL."""
    if option.engine is not Engine.TORUS_2QOS or design.plane.torus is None:
        return option.one_sl
    rings = (size for size in design.plane.torus.size if is_ring(design.plane, size))
    return max(rings, default=0) <= LONGEST_ONE_SL_RING


def _datelines(design: PlaneDesign) -> Iterator[str]:
    grid = design.plane.torus
    for name, size, place in zip("xyz", grid.size, grid.datelines, strict=False) if grid else ():
        if is_ring(design.plane, size):
            yield f"{name}={place}"


def _check_lids(subnet: SubnetDesign) -> Iterator[Finding]:
    spec = subnet.plane.plane.infiniband
    if subnet.lids > UNICAST_LIDS:
        endpoints, switches = len(subnet.host_links), len(subnet.switches)
        needed = f"{endpoints} endpoints x 2^{spec.lmc} + {switches} switches = {subnet.lids} LIDs"
        message = f"{needed}, a subnet has {UNICAST_LIDS}"
        hint = "lower `lmc`" if spec.lmc else "use several planes, each with its own subnet"
        yield error("FG229", message, spec, "lmc", hint=hint)
