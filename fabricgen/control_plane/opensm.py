"""The routing engine of an InfiniBand subnet, the virtual lanes that it takes, and why.

OpenSM tries the engines it is told and falls back to minhop without a word, so an engine that cannot route a design is
as bad as minhop itself: on rings and between groups its shortest paths wait for each other in a circle (a credit loop).
What each engine does on each kind of design was measured with opensm 3.3.23 under ibsim: with the SLs of real path
records and the SL2VL that OpenSM dumps, judged by ibdmchk and by a dependency graph beside it, which agreed on every
run. What was not measured says so. nue takes as many VLs as `nue_max_num_vls` says, one if nothing does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricgen.design.grid import is_ring
from fabricgen.design.model import Fabric, PlaneDesign
from fabricgen.design.registry import graph_of
from fabricgen.design.subnets import SubnetDesign, largest_subnet
from fabricgen.findings import Finding
from fabricgen.inventory.references import error

UNICAST_LIDS = 49_151  # 0x0001 to 0xBFFF (InfiniBand Architecture Specification, volume 1, section 4.1.3)
_NO_LMC = ("ftree", "lash")  # refuse LMC > 0, and OpenSM falls back to minhop


@dataclass(frozen=True, slots=True)
class Subnet:
    """What OpenSM is told for a plane. `vls` data VLs are used; `qos` must then be TRUE in opensm.conf."""

    engine: str
    vls: int
    qos: bool
    reason: str
    lids: int  # of the largest subnet, where the plane is several

    @property
    def choice(self) -> dict[str, object]:
        """What was chosen, as JSON has it."""
        return {"engine": self.engine, "vls": self.vls, "qos": self.qos, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class _Option:
    """An engine that routes a kind of design without credit loops, from `vls` data VLs on."""

    engine: str
    vls: int
    evidence: str


# Engines that lay paths into virtual lanes: without `qos TRUE` OpenSM never programs SL2VL. nue needs it beyond one VL.
_LAYERED = ("dfsssp", "lash", "torus-2QoS")
_SPREADS = ("dfsssp", "nue")  # take every VL there is, for balance

_NUE = _Option("nue", 1, "builds its paths on the dependency graph itself, on any topology with any number of VLs")
_TREE = "measured on two- and three-tier trees: no credit loop"
_TORUS_2QOS = "routes by dimension and changes to a second VL past each ring's dateline"

# kind of design -> what routes it, the first that the plane's VLs and LMC allow is chosen
_OPTIONS: Mapping[str, tuple[_Option, ...]] = {
    "single switches": (
        _Option("minhop", 1, "no link joins two switches, so nothing can wait in a circle"),
        _Option("updn", 1, "no link joins two switches, so nothing can wait in a circle"),
        _NUE,
    ),
    "regular tree": (
        _Option("ftree", 1, f"{_TREE}, and all spines in even use"),
        _Option("updn", 1, _TREE),
        _Option("minhop", 1, _TREE),
        _NUE,
        _Option("dfsssp", 1, _TREE),
        _Option("lash", 3, f"{_TREE}; 3 VLs in three tiers, and one spine of four in use"),
    ),
    "tree of one leaf": (
        _Option("updn", 1, f"{_TREE}; ftree wants compute nodes on two leaves"),
        _Option("minhop", 1, _TREE),
        _NUE,
    ),
    "tree": (
        _Option("updn", 1, f"{_TREE}; ftree gives up where one leaf-spine link is missing"),
        _NUE,
        _Option("dfsssp", 8, f"{_TREE} with 8 VLs"),
    ),
    "listed links": (_NUE,),
    "dragonfly": (
        _Option("dfsssp", 8, "measured on dragonflies of 72 and 1056 endpoints with 8 VLs: no credit loop"),
        _Option("nue", 1, f"{_NUE.evidence}; measured with 1 and 4 VLs on 64 endpoints, 8 on 1056: no credit loop"),
        _Option("lash", 3, "measured on a dragonfly of 72 endpoints with 3 VLs: no credit loop"),
    ),
    "dragonfly-plus": (
        _Option(
            "dfsssp", 8, "measured on groups of 2x2 and 4x4 with 8 VLs, with links between groups down, too: no loop"
        ),
        _Option("nue", 1, f"{_NUE.evidence}; measured on nine groups of 4x4 with one VL: no credit loop"),
    ),
    "2D torus": (
        _Option("torus-2QoS", 2, f"{_TORUS_2QOS}; measured on 5x5 with 2 VLs: no credit loop"),
        _Option("nue", 1, f"{_NUE.evidence}; measured on 5x5 with one VL: no credit loop"),
        _Option("lash", 3, "measured on 5x5 with 3 VLs: no credit loop"),
        _Option("dfsssp", 8, "measured on 5x5 with 8 VLs: no credit loop"),
    ),
    "3D torus": (
        _Option("torus-2QoS", 2, f"{_TORUS_2QOS}; measured on 4x4x4 and 5x5x5 with 2 VLs: no credit loop"),
        _Option("nue", 1, f"{_NUE.evidence}; measured on 4x4x4: no credit loop"),
        _Option("lash", 6, "measured with 5 VLs on 4x4x4 and 6 on 5x5x5: no credit loop"),
    ),
    "mesh": (
        _Option("torus-2QoS", 2, "routes by dimension; measured on 4x4, 6x4 and 4x4x4 with 2 VLs: no credit loop"),
        _Option("nue", 1, f"{_NUE.evidence}; measured on 4x4 with one VL: no credit loop"),
        _Option("dor", 1, "routes by dimension; measured on 4x4 and 6x4: no credit loop"),
        _Option("dfsssp", 8, "measured on 4x4 with 8 VLs: no credit loop"),
    ),
    "ring": (
        _Option("nue", 1, f"{_NUE.evidence}; measured on a ring of 5 with one VL: no credit loop"),
        _Option("dfsssp", 8, "measured on a ring of 5 with 8 VLs: no credit loop"),
    ),
    "line": (
        _Option("nue", 1, f"{_NUE.evidence}; measured on a line of 5 with one VL: no credit loop"),
        _Option("minhop", 1, "a line has one path between two switches; measured on 5: no credit loop"),
    ),
}

_FALLS_BACK = "OpenSM falls back to minhop, whose paths loop"
_MINHOP: Mapping[str, str] = {
    "dragonfly": "its paths loop: measured over all 180 channels of 72 endpoints, all 2904 of 1056 endpoints",
    "dragonfly-plus": "measured with links between five pairs of groups down: its detours over other groups loop",
    "2D torus": "its paths loop: measured over all 100 channels of 5x5",
    "3D torus": "its paths loop: measured over all 384 channels of 4x4x4",
    "mesh": "it turns from any dimension into any other: measured to loop over all 48 channels of 4x4",
    "ring": "its paths loop: measured around a ring of 5, both ways",
    "tree": "where two leaves share no spine its paths turn at a leaf, which can close loops",
    "listed links": "it knows no order of the switches, and links between equals can close loops",
}
_WHY_NOT: Mapping[tuple[str, str], str] = {
    ("tree of one leaf", "ftree"): "measured: it wants compute nodes on two leaves, else OpenSM falls back to minhop",
    ("2D torus", "dor"): "its rings loop: measured on 5x5, 20 loops of 5 channels",
    ("3D torus", "dor"): "its rings loop: measured on 4x4x4, 48 loops of 4 channels",
    ("ring", "dor"): "the ring loops: one VL, no dateline",
    ("2D torus", "updn"): f"measured on 5x5: {_FALLS_BACK}",
    ("3D torus", "dfsssp"): f"measured on 4x4x4 and 5x5x5: it needs more than 8 VLs (AD25), {_FALLS_BACK}",
    ("dragonfly", "updn"): f"measured on 72 endpoints: {_FALLS_BACK}",
    ("dragonfly-plus", "updn"): f"measured on groups of 4x4: {_FALLS_BACK}",
    ("mesh", "updn"): f"measured on 4x4: {_FALLS_BACK}",
    ("ring", "torus-2QoS"): f"it routes two and three dimensions only, measured on a ring of 5: {_FALLS_BACK}",
    ("line", "torus-2QoS"): "it routes two and three dimensions only",
}


def plan_subnets(fabric: Fabric) -> tuple[dict[str, Subnet], list[Finding]]:
    """plane -> what its subnet runs, for every InfiniBand plane; what cannot be is among the findings."""
    findings: list[Finding] = []
    subnets = {}
    for design in fabric.planes:
        if design.plane.technology == "infiniband" and design.switches:
            largest = largest_subnet(design)
            findings += _check_lids(largest)
            choice = _choose(design, largest.lids)
            if isinstance(choice, Finding):
                findings.append(choice)
            else:
                subnets[design.plane.name] = choice
    return subnets, findings


def _choose(design: PlaneDesign, lids: int) -> Subnet | Finding:
    """The engine asked for, if it can be, else the first that fits; `lids` are those of the largest subnet."""
    asked, kind = design.plane.infiniband, graph_of(design)
    options = [option for option in _OPTIONS[kind] if not (asked.lmc and option.engine in _NO_LMC)]
    fitting = [option for option in options if option.vls <= asked.vls]
    if asked.engine is None:
        return _subnet(design, fitting[0], lids)  # nue fits always
    chosen = next((option for option in fitting if option.engine == asked.engine), None)
    if chosen is not None:
        return _subnet(design, chosen, lids)
    hint = f"leave `engine` out for {fitting[0].engine}, or one of: {', '.join(option.engine for option in fitting)}"
    too_few = next((option for option in options if option.engine == asked.engine), None)
    if too_few is not None:
        message = f"{asked.engine} needs {too_few.vls} VLs on a {kind}, `vls` is {asked.vls}: {_FALLS_BACK}"
        return error("FG228", message, asked, "vls", hint=hint)
    message = f"{asked.engine} cannot keep a {kind} free of credit loops: {_why_not(kind, asked.engine, asked.lmc)}"
    return error("FG228", message, asked, "engine", hint=hint)


def _why_not(kind: str, engine: str, lmc: int) -> str:
    if lmc and engine in _NO_LMC:
        return f"it refuses LMC {lmc}; {_FALLS_BACK}"
    if engine in ("minhop", "sssp"):  # both take shortest paths on one VL
        return _MINHOP.get(kind, "not measured on this kind of design")
    measured = _WHY_NOT.get((kind, engine))
    return measured or f"not measured to route it, and where it does not, {_FALLS_BACK}"


def _subnet(design: PlaneDesign, option: _Option, lids: int) -> Subnet:
    budget = design.plane.infiniband.vls
    vls = budget if option.engine in _SPREADS else option.vls
    reason = f"{graph_of(design)}: {option.engine} {option.evidence}"
    datelines = ", ".join(_datelines(design))
    if option.engine == "torus-2QoS" and datelines:
        reason += f"; datelines at {datelines}"
    qos = option.engine in _LAYERED or vls > 1
    return Subnet(option.engine, vls, qos, reason, lids)


def _datelines(design: PlaneDesign) -> Iterator[str]:
    grid = design.plane.torus
    for name, size, place in zip("xyz", grid.size, grid.datelines, strict=False) if grid else ():
        if is_ring(design.plane, size):
            yield f"{name}={place}"


def _check_lids(subnet: SubnetDesign) -> Iterator[Finding]:
    asked = subnet.plane.plane.infiniband
    if subnet.lids > UNICAST_LIDS:
        endpoints, switches = len(subnet.host_links), len(subnet.switches)
        made = f"{endpoints} endpoints x 2^{asked.lmc} + {switches} switches = {subnet.lids} LIDs"
        message = f"{made}, a subnet has {UNICAST_LIDS}"
        hint = "a smaller `lmc`" if asked.lmc else "several planes, each a subnet of its own"
        yield error("FG229", message, asked, "lmc", hint=hint)
