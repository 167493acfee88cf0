"""The routing engines of OpenSM, and the kinds of designs that each routes without credit loops.

OpenSM silently falls back to minhop if an engine fails. On rings and between groups, the shortest paths of minhop wait
for each other in a cycle (a credit loop), so an engine that cannot route a design is as bad as minhop.

Each engine was measured on each kind of design with opensm 3.3.23 under ibsim, with the SLs of real path records and
the SL2VL tables that OpenSM dumps, and again with all paths on SL 0. ibdmchk and a dependency graph judged the results
and agreed on every run.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.design.graph import Graph
from fabricgen.inventory.infiniband import RoutingEngine

NO_LMC = (RoutingEngine.FTREE, RoutingEngine.LASH)  # refuse LMC > 0, and OpenSM falls back to minhop


@dataclass(frozen=True, slots=True)
class Choice:
    """An engine that routes a kind of design without credit loops if it has at least `vls` data VLs.

    `one_sl`: also with all packets on one SL, as NCCL sends them; nue on one VL only, torus-2QoS on rings up to
    LONGEST_ONE_SL_RING.
    """

    engine: RoutingEngine
    vls: int
    evidence: str
    one_sl: bool = True


# Engines that distribute paths over virtual lanes need `qos TRUE`, so that OpenSM programs SL2VL; nue with several VLs.
LAYERED = (RoutingEngine.DFSSSP, RoutingEngine.LASH, RoutingEngine.TORUS_2QOS)

LONGEST_ONE_SL_RING = 4  # measured with all paths on SL 0: 3x3, 4x3, 4x4, 3x3x3, 4x4x4 free; 5x4, 6x4, 5x5, 5x4x4 loop

_NUE = Choice(RoutingEngine.NUE, 1, "builds its paths on the dependency graph itself, with any number of VLs")
_TREE = "measured on two- and three-tier trees: no credit loop"
_TORUS_2QOS = "routes by dimension and changes to a second VL past each ring's dateline"

# Graph of a design -> engines; the first that the VLs and the LMC of the plane allow is chosen.
OPTIONS: Mapping[Graph, tuple[Choice, ...]] = {
    Graph.SINGLE_SWITCHES: (
        Choice(RoutingEngine.MINHOP, 1, "no link joins two switches, so nothing can wait in a circle"),
        Choice(RoutingEngine.UPDN, 1, "no link joins two switches, so nothing can wait in a circle"),
        _NUE,
    ),
    Graph.REGULAR_TREE: (
        Choice(RoutingEngine.FTREE, 1, f"{_TREE}, and all spines in even use"),
        Choice(RoutingEngine.UPDN, 1, _TREE),
        Choice(RoutingEngine.MINHOP, 1, _TREE),
        _NUE,
        Choice(RoutingEngine.DFSSSP, 1, _TREE),
        Choice(RoutingEngine.LASH, 3, f"{_TREE}; 3 VLs in three tiers, and one spine of four in use"),
    ),
    Graph.TREE_OF_ONE_LEAF: (
        Choice(RoutingEngine.UPDN, 1, f"{_TREE}; ftree wants compute nodes on two leaves"),
        Choice(RoutingEngine.MINHOP, 1, _TREE),
        _NUE,
    ),
    Graph.TREE: (
        Choice(RoutingEngine.UPDN, 1, f"{_TREE}; ftree gives up where one leaf-spine link is missing"),
        _NUE,
        Choice(RoutingEngine.DFSSSP, 8, f"{_TREE} with 8 VLs", one_sl=False),
    ),
    Graph.LISTED_LINKS: (Choice(RoutingEngine.NUE, 1, f"{_NUE.evidence}; not measured on these links"),),
    Graph.DRAGONFLY: (
        Choice(
            RoutingEngine.DFSSSP,
            8,
            "measured on dragonflies of 72 and 1056 endpoints with 8 VLs: no credit loop",
            one_sl=False,
        ),
        Choice(
            RoutingEngine.NUE,
            1,
            f"{_NUE.evidence}; measured with 1 and 4 VLs on 64 endpoints, 8 on 1056: no credit loop",
        ),
        Choice(
            RoutingEngine.LASH, 3, "measured on a dragonfly of 72 endpoints with 3 VLs: no credit loop", one_sl=False
        ),
    ),
    Graph.DRAGONFLY_PLUS: (
        Choice(
            RoutingEngine.DFSSSP,
            8,
            "measured on groups of 2x2 and 4x4 with 8 VLs, with links between groups down, too: no loop",
            one_sl=False,  # measured on 2x2 with all paths on SL 0: free, but with a spine down a loop
        ),
        Choice(RoutingEngine.NUE, 1, f"{_NUE.evidence}; measured on nine groups of 4x4 with one VL: no credit loop"),
    ),
    Graph.TORUS_2D: (
        Choice(RoutingEngine.TORUS_2QOS, 2, f"{_TORUS_2QOS}; measured on 5x5 with 2 VLs: no credit loop"),
        Choice(RoutingEngine.NUE, 1, f"{_NUE.evidence}; measured on 5x5 with one VL: no credit loop"),
        Choice(RoutingEngine.LASH, 3, "measured on 5x5 with 3 VLs: no credit loop", one_sl=False),
        Choice(RoutingEngine.DFSSSP, 8, "measured on 5x5 with 8 VLs: no credit loop", one_sl=False),
    ),
    Graph.TORUS_3D: (
        Choice(RoutingEngine.TORUS_2QOS, 2, f"{_TORUS_2QOS}; measured on 4x4x4 and 5x5x5 with 2 VLs: no credit loop"),
        Choice(
            RoutingEngine.NUE,
            1,
            f"{_NUE.evidence}; measured on 4x4x4: no credit loop; on 8x8x4 it left 13 of 2,032 ports without routes",
        ),
        Choice(RoutingEngine.LASH, 6, "measured with 5 VLs on 4x4x4 and 6 on 5x5x5: no credit loop", one_sl=False),
    ),
    Graph.MESH: (
        Choice(
            RoutingEngine.TORUS_2QOS,
            2,
            "routes by dimension; measured on 4x4, 6x4 and 4x4x4 with 2 VLs: no credit loop",
        ),
        Choice(RoutingEngine.NUE, 1, f"{_NUE.evidence}; measured on 4x4 with one VL: no credit loop"),
        Choice(RoutingEngine.DOR, 1, "routes by dimension; measured on 4x4 and 6x4: no credit loop"),
        Choice(RoutingEngine.DFSSSP, 8, "measured on 4x4 with 8 VLs: no credit loop", one_sl=False),
    ),
    Graph.RING: (
        Choice(RoutingEngine.NUE, 1, f"{_NUE.evidence}; measured on a ring of 5 with one VL: no credit loop"),
        Choice(RoutingEngine.DFSSSP, 8, "measured on a ring of 5 with 8 VLs: no credit loop", one_sl=False),
    ),
    Graph.LINE: (
        Choice(RoutingEngine.NUE, 1, f"{_NUE.evidence}; measured on a line of 5 with one VL: no credit loop"),
        Choice(RoutingEngine.MINHOP, 1, "a line has one path between two switches; measured on 5: no credit loop"),
    ),
}

# An engine -> one without credit loops that routes where the first one fails. Measured: a host on a spine stops ftree,
# two failed hops of a ring stop torus-2QoS, and a path that needs a ninth VL stops dfsssp.
FALLBACKS: Mapping[RoutingEngine, RoutingEngine] = {
    RoutingEngine.FTREE: RoutingEngine.UPDN,
    RoutingEngine.TORUS_2QOS: RoutingEngine.NUE,
    RoutingEngine.DFSSSP: RoutingEngine.NUE,
}

FALLS_BACK = "OpenSM falls back to minhop, whose paths loop"
_MINHOP: Mapping[Graph, str] = {
    Graph.DRAGONFLY: "its paths loop: measured over all 180 channels of 72 endpoints, all 2904 of 1056 endpoints",
    Graph.DRAGONFLY_PLUS: "measured with links between five pairs of groups down: detours through other groups loop",
    Graph.TORUS_2D: "its paths loop: measured over all 100 channels of 5x5",
    Graph.TORUS_3D: "its paths loop: measured over all 384 channels of 4x4x4",
    Graph.MESH: "its paths turn between any two dimensions: measured to loop over all 48 channels of 4x4",
    Graph.RING: "its paths loop: measured around a ring of 5, both ways",
    Graph.TREE: "if two leaves share no spine, its paths turn at a leaf, which can close loops",
    Graph.LISTED_LINKS: "it has no order of the switches, and links within a tier can close loops",
}
_WHY_NOT: Mapping[tuple[Graph, RoutingEngine], str] = {
    (
        Graph.TREE_OF_ONE_LEAF,
        RoutingEngine.FTREE,
    ): "measured: it needs compute nodes on two leaves; OpenSM falls back to minhop",
    (Graph.TORUS_2D, RoutingEngine.DOR): "its rings loop: measured on 5x5, 20 loops of 5 channels",
    (Graph.TORUS_3D, RoutingEngine.DOR): "its rings loop: measured on 4x4x4, 48 loops of 4 channels",
    (Graph.RING, RoutingEngine.DOR): "the ring loops: one VL, no dateline",
    (Graph.TORUS_2D, RoutingEngine.UPDN): f"measured on 5x5: {FALLS_BACK}",
    (
        Graph.TORUS_3D,
        RoutingEngine.DFSSSP,
    ): f"measured on 4x4x4 and 5x5x5: it needs more than 8 VLs (AD25), {FALLS_BACK}",
    (Graph.DRAGONFLY, RoutingEngine.UPDN): f"measured on 72 endpoints: {FALLS_BACK}",
    (Graph.DRAGONFLY_PLUS, RoutingEngine.UPDN): f"measured on groups of 4x4: {FALLS_BACK}",
    (Graph.MESH, RoutingEngine.UPDN): f"measured on 4x4: {FALLS_BACK}",
    (
        Graph.RING,
        RoutingEngine.TORUS_2QOS,
    ): f"it routes only two and three dimensions, measured on a ring of 5: {FALLS_BACK}",
    (Graph.LINE, RoutingEngine.TORUS_2QOS): "it routes only two and three dimensions",
}


def why_not(graph: Graph, engine: RoutingEngine, lmc: int) -> str:
    """The reason why an engine cannot route a kind of design."""
    if lmc and engine in NO_LMC:
        return f"it refuses LMC {lmc}; {FALLS_BACK}"
    if engine in (RoutingEngine.MINHOP, RoutingEngine.SSSP):  # both use shortest paths on one VL
        return _MINHOP.get(graph, "it has not been measured on this kind of design")
    measured = _WHY_NOT.get((graph, engine))
    return measured or f"it has not been measured to route it; if it fails, {FALLS_BACK}"
