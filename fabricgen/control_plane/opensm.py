"""The routing engine of an InfiniBand subnet, its virtual lanes, and the reason for both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabricgen.control_plane.engines import (
    FALLBACKS,
    FALLS_BACK,
    LAYERED,
    LONGEST_ONE_SL_RING,
    NO_LMC,
    OPTIONS,
    Choice,
    why_not,
)
from fabricgen.control_plane.qos_levels import check_levels
from fabricgen.design.grid import is_ring
from fabricgen.design.model import Fabric, Host, PlaneDesign
from fabricgen.design.registry import graph_of
from fabricgen.design.subnets import SubnetDesign, largest_subnet
from fabricgen.findings import Finding
from fabricgen.inventory.infiniband import RoutingEngine
from fabricgen.inventory.mistakes import error
from fabricgen.vocabulary import Purpose, Technology

UNICAST_LIDS = 49_151  # 0x0001 to 0xBFFF (InfiniBand Architecture Specification, volume 1, section 4.1.3)


@dataclass(frozen=True, slots=True)
class SubnetPlan:
    """The routing of the subnets of a plane: the engines in the order in which OpenSM tries them, and the data VLs of
    the first one. `qos` is the option of opensm.conf, `nue_vls` the VLs of nue if it is one of the engines."""

    engines: tuple[RoutingEngine, ...]
    vls: int
    nue_vls: int
    qos: bool
    reason: str
    lids: int  # of the largest subnet of the plane

    @property
    def engine(self) -> RoutingEngine:
        """The first engine."""
        return self.engines[0]

    @property
    def choice(self) -> dict[str, object]:
        """The choice as JSON."""
        own = {"engine": self.engine, "vls": self.vls, "qos": self.qos, "reason": self.reason}
        return {**own, "fallbacks": list(self.engines[1:])}


def plan_subnets(fabric: Fabric) -> tuple[dict[str, SubnetPlan], list[Finding]]:
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
                findings += check_levels(design, choice.engines, choice.nue_vls)
                subnets[design.plane.name] = choice
    return subnets, findings


def _choose(design: PlaneDesign, lids: int) -> SubnetPlan | Finding:
    """The configured engines, or the first one that is possible, with the engine for the case that it fails. With
    collectives on the plane it is the first one that is free of credit loops on one SL. `lids` are those of the largest
    subnet."""
    asked, graph = design.plane.infiniband, graph_of(design)
    options = [option for option in OPTIONS[graph] if not (asked.lmc and option.engine in NO_LMC)]
    possible = {option.engine: option for option in options if option.vls <= asked.vls}
    if asked.engines:
        refused = (_refused(design, engine, options, list(possible)) for engine in asked.engines)
        found = next(filter(None, refused), None)
        return found or _subnet(design, [possible[engine] for engine in asked.engines], lids)
    fitting = [one for one in possible.values() if not runs_collectives(design) or _needs_one_sl(design, one)]
    first = fitting[0]  # nue is always possible
    others = (one for one in fitting if one.engine == FALLBACKS.get(first.engine))
    return _subnet(design, [first, *others], lids)


def _refused(
    design: PlaneDesign, engine: RoutingEngine, options: Sequence[Choice], possible: Sequence[RoutingEngine]
) -> Finding | None:
    """The finding for a configured engine that has credit loops or fails; None if it is possible."""
    asked, graph = design.plane.infiniband, graph_of(design)
    if engine in possible:
        return None
    hint = f"remove `engine` for {possible[0]}, or use one of: {', '.join(possible)}"
    too_few = next((option for option in options if option.engine == engine), None)
    if too_few is not None:
        message = f"{engine} needs {too_few.vls} VLs on a {graph}, `vls` is {asked.vls}: {FALLS_BACK}"
        return error("FG228", message, asked, "vls", hint=hint)
    message = f"{engine} cannot keep a {graph} free of credit loops: {why_not(graph, engine, asked.lmc)}"
    return error("FG228", message, asked, "engine", hint=hint)


def _subnet(design: PlaneDesign, options: Sequence[Choice], lids: int) -> SubnetPlan:
    """The routing with these engines."""
    option, *others = options
    engines = tuple(one.engine for one in options)
    nue_vls = (
        1 if runs_collectives(design) or option.engine is RoutingEngine.TORUS_2QOS else design.plane.infiniband.vls
    )
    vls = nue_vls if option.engine is RoutingEngine.NUE else option.vls
    if option.engine is RoutingEngine.DFSSSP:
        vls = design.plane.infiniband.vls
    reason = f"{graph_of(design)}: {option.engine} {option.evidence}"
    if option.engine is RoutingEngine.NUE and runs_collectives(design):
        reason += "; one VL, because NCCL sends with one SL and requests no path records"
    datelines = ", ".join(_datelines(design))
    if option.engine is RoutingEngine.TORUS_2QOS and datelines:
        reason += f"; datelines at {datelines}"
    if others:
        reason += f"; if it fails, {', then '.join(one.engine for one in others)}"
    qos = vls > 1 or any(engine in LAYERED for engine in engines) or (RoutingEngine.NUE in engines and nue_vls > 1)
    qos = qos or bool(design.plane.infiniband.qos.levels)
    return SubnetPlan(engines, vls, nue_vls, qos, reason, lids)


def runs_collectives(design: PlaneDesign) -> bool:
    """Whether NCCL or RCCL runs on a plane: it is a compute plane, and hosts with GPUs are on it."""
    hosts = (link.a for link in design.links if isinstance(link.a, Host))
    return design.plane.purpose == Purpose.COMPUTE and any(host.model.gpus for host in hosts)


def _needs_one_sl(design: PlaneDesign, option: Choice) -> bool:
    """Whether the engine is free of credit loops with all packets on one SL."""
    if option.engine is not RoutingEngine.TORUS_2QOS or design.plane.torus is None:
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
