"""The choice of routing engines, compared with measurements of OpenSM.

MEASURED: opensm 3.3.23 under ibsim with qos TRUE and 8 VLs; a run is good when the requested engine routed the
fabric, and ibdmchk and the dependency graph both found no credit loop.
"""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.control_plane.opensm import SubnetPlan, plan_subnets
from fabricgen.design.expand import expand
from fabricgen.findings import Finding
from fabricgen.inventory.load import build_inventory
from fabricgen.inventory.read_yaml import read_yaml
from tests.inventories import GENERIC, Tree, explicit, grid, grouped, rail_optimized, text_of

DRAGONFLY, PLUS = {"switches": 4, "global_links": 2}, {"leaves": 2, "spines": 2, "global_links": 2}
FT2, FT3 = rail_optimized(8, 4, 2, GENERIC), rail_optimized(8, 4, 2, GENERIC, core={"platform": GENERIC}, tiers=3)
FT1 = rail_optimized(2, 2, 1, GENERIC, design="fat-tree")
T2D, T3D, T3D5 = grid("torus", [5, 5]), grid("torus", [4, 4, 4]), grid("torus", [5, 5, 5])
DF4 = grouped("dragonfly", DRAGONFLY, 9, 1, 9)
DFP = grouped("dragonfly-plus", PLUS, 5, 1, 5)
DFP4 = grouped("dragonfly-plus", {"leaves": 4, "spines": 4, "global_links": 2}, 9, 1, 9)
M2D, RING = grid("mesh", [4, 4]), grid("torus", [5])
DF8 = grouped("dragonfly", {"switches": 8, "global_links": 4}, 132, 4, 33)

MEASURED: list[tuple[str, Tree, dict[str, bool]]] = [
    ("ft2", FT2, dict.fromkeys(["dfsssp", "ftree", "lash", "minhop", "nue", "updn"], True)),
    ("ft3", FT3, dict.fromkeys(["dfsssp", "ftree", "lash", "minhop", "nue", "updn"], True)),
    ("all compute nodes on one leaf", FT1, {"ftree": False, "minhop": True, "updn": True}),
    ("torus2d_5x5", T2D, {
        "dfsssp": True, "dor": False, "lash": True, "minhop": False, "nue": True, "torus-2QoS": True, "updn": False,
    }),
    ("torus3d_4x4x4", T3D, {
        "dfsssp": False, "dor": False, "lash": True, "minhop": False, "nue": True, "torus-2QoS": True,
    }),
    ("torus3d_5x5x5", T3D5, {"dfsssp": False, "nue": True, "lash": True, "minhop": False, "torus-2QoS": True}),
    ("dragonfly_a4p2h2", DF4, {"dfsssp": True, "lash": True, "minhop": False, "nue": True, "updn": False}),
    ("dragonfly_a8p4h4", DF8, {"dfsssp": True, "minhop": False, "nue": True}),
    ("dragonfly+ of 2x2, links between groups down", DFP, {"dfsssp": True, "nue": True, "minhop": False}),
    ("dragonfly+ of 4x4", DFP4, {"dfsssp": True, "nue": True, "updn": False}),
    ("mesh_4x4", M2D, {
        "dfsssp": True, "dor": True, "minhop": False, "nue": True, "torus-2QoS": True, "updn": False,
    }),
    ("mesh_6x4", grid("mesh", [6, 4], links=[4, 2]), {"dor": True, "torus-2QoS": True}),
    ("mesh_4x4x4", grid("mesh", [4, 4, 4]), {"torus-2QoS": True}),
    ("torus_2x2", grid("torus", [2, 2]), {"torus-2QoS": True}),
    ("torus_5x4", grid("torus", [5, 4]), {"nue": True, "torus-2QoS": True}),
    ("torus_2x4", grid("torus", [2, 4]), {"torus-2QoS": True}),
    ("ring_5", RING, {"dfsssp": True, "minhop": False, "nue": True, "torus-2QoS": False}),
    ("line_5", grid("mesh", [5]), {"minhop": True, "nue": True}),
]  # fmt: skip


def planned(tree: Tree, purpose: str = "compute", **infiniband: Any) -> tuple[SubnetPlan | None, list[Finding]]:
    """What the one plane of a tree runs, as an InfiniBand plane."""
    plane = {**tree["planes"]["compute"], "technology": "infiniband", "infiniband": infiniband, "purpose": purpose}
    whole = {key: value for key, value in tree.items() if key != "management"} | {"planes": {"compute": plane}}
    findings: list[Finding] = []
    fabric, found = expand(build_inventory(read_yaml(text_of(whole), "fabric.yaml")[0], findings), Path())
    assert [*findings, *found] == []
    subnets, refused = plan_subnets(fabric)
    return subnets.get("compute"), refused


@pytest.mark.parametrize(
    ("tree", "engine", "good"),
    [
        pytest.param(tree, engine, good, id=f"{name}-{engine}")
        for name, tree, runs in MEASURED
        for engine, good in runs.items()
    ],
)
def test_an_engine_is_taken_where_it_was_measured_free_of_loops(tree: Tree, engine: str, good: bool) -> None:
    subnet, refused = planned(tree, engine=engine)
    if good:
        assert subnet and subnet.engine == engine and refused == []
    else:
        (finding,) = refused
        assert subnet is None and finding.code == "FG228" and f"{engine} cannot keep a" in finding.message
        assert "measured" in finding.message and "remove `engine` for " in finding.hint


@pytest.mark.parametrize(("name", "tree", "runs"), MEASURED, ids=[name for name, _, _ in MEASURED])
def test_what_is_chosen_was_measured(name: str, tree: Tree, runs: dict[str, bool]) -> None:
    subnet, refused = planned(tree)
    assert subnet and runs[subnet.engine] and refused == [], name


PEERS = explicit(GENERIC)
PEERS["planes"]["compute"]["links"].append(["leaf1:Ethernet320", "leaf2:Ethernet320"])

CHOICES = [  # tree, vls, lmc -> engine, VLs in use, QoS
    ("two tiers", FT2, 8, 0, ("ftree", 1, False)),
    ("ftree refuses LMC", FT2, 8, 1, ("updn", 1, False)),
    ("one leaf", FT1, 8, 0, ("updn", 1, False)),
    ("three tiers", FT3, 1, 0, ("ftree", 1, False)),
    ("leaf-spine, listed", explicit(GENERIC), 8, 0, ("updn", 1, False)),
    ("leaves joined to each other", PEERS, 8, 0, ("nue", 1, False)),
    ("dragonfly", DF4, 8, 0, ("nue", 1, False)),
    ("dragonfly, 15 VLs", DF4, 15, 2, ("nue", 1, False)),
    ("dragonfly, 4 VLs", DF4, 4, 0, ("nue", 1, False)),
    ("dragonfly, 1 VL", DF4, 1, 0, ("nue", 1, False)),
    ("dragonfly+", DFP, 8, 0, ("nue", 1, False)),
    ("dragonfly+, 2 VLs", DFP, 2, 0, ("nue", 1, False)),
    ("one switch a plane", grouped("dragonfly", {"switches": 1, "global_links": 1}, 1), 8, 0, ("minhop", 1, False)),
    ("2D torus", T2D, 8, 0, ("nue", 1, False)),
    ("2D torus of rings of four, 2 VLs", grid("torus", [4, 4]), 2, 0, ("torus-2QoS", 2, True)),
    ("2D torus, a ring of five", grid("torus", [4, 5]), 8, 0, ("nue", 1, False)),
    ("2D torus, 1 VL", T2D, 1, 0, ("nue", 1, False)),
    ("3D torus", T3D, 4, 0, ("torus-2QoS", 2, True)),
    ("mesh", M2D, 8, 0, ("torus-2QoS", 2, True)),
    ("mesh, 1 VL", M2D, 1, 0, ("nue", 1, False)),
    ("torus of two by two, a mesh", grid("torus", [2, 2]), 8, 0, ("torus-2QoS", 2, True)),
    ("torus with one ring", grid("torus", [2, 4]), 8, 0, ("torus-2QoS", 2, True)),
    ("ring", RING, 4, 0, ("nue", 1, False)),
    ("line", grid("mesh", [5]), 8, 0, ("nue", 1, False)),
]


@pytest.mark.parametrize(
    ("tree", "vls", "lmc", "choice"), [row[1:] for row in CHOICES], ids=[row[0] for row in CHOICES]
)
def test_choices(tree: Tree, vls: int, lmc: int, choice: tuple[str, int, bool]) -> None:
    subnet, refused = planned(tree, vls=vls, lmc=lmc)
    assert refused == [] and subnet
    assert (subnet.engine, subnet.vls, subnet.qos) == choice
    assert subnet.engine in subnet.reason and subnet.vls <= vls


@pytest.mark.parametrize(
    ("tree", "requested", "engines", "nue_vls"),
    [
        (FT2, {}, ["ftree", "updn"], 1),
        (FT2, {"lmc": 1}, ["updn"], 1),
        (FT1, {}, ["updn"], 1),
        (grid("torus", [4, 4]), {}, ["torus-2QoS", "nue"], 1),
        (M2D, {}, ["torus-2QoS", "nue"], 1),
        (T2D, {}, ["nue"], 1),
        (DFP, {}, ["nue"], 1),
        (DFP, {"purpose": "storage"}, ["dfsssp", "nue"], 8),
        (DF4, {}, ["nue"], 1),
        (FT2, {"engine": "ftree"}, ["ftree"], 1),
        (FT2, {"engine": ["updn", "nue"]}, ["updn", "nue"], 1),
        (DF4, {"purpose": "storage"}, ["dfsssp", "nue"], 8),
        (T2D, {"purpose": "storage"}, ["torus-2QoS", "nue"], 1),
    ],
)
def test_engines_for_the_case_that_the_first_one_fails(
    tree: Tree, requested: dict[str, Any], engines: list[str], nue_vls: int
) -> None:
    subnet, refused = planned(tree, **requested)
    assert refused == [] and subnet
    assert (list(subnet.engines), subnet.nue_vls, subnet.choice["fallbacks"]) == (engines, nue_vls, engines[1:])
    assert ("if it fails" in subnet.reason) == (len(engines) > 1)


def test_each_engine_of_a_list_must_be_possible() -> None:
    (finding,) = planned(T2D, engine=["torus-2QoS", "updn"])[1]
    assert finding.code == "FG228" and "updn cannot keep a 2D torus free of credit loops" in finding.message


@pytest.mark.parametrize(
    ("tree", "choice"),
    [
        (DF4, ("dfsssp", 8, True)),
        (T2D, ("torus-2QoS", 2, True)),
        (RING, ("nue", 8, True)),
        (FT2, ("ftree", 1, False)),
    ],
)
def test_storage_uses_the_levels_of_path_records(tree: Tree, choice: tuple[str, int, bool]) -> None:
    """NCCL does not run there; clients of storage request path records."""
    subnet, refused = planned(tree, "storage")
    assert refused == [] and subnet
    assert (subnet.engine, subnet.vls, subnet.qos) == choice


@pytest.mark.parametrize(
    ("tree", "requested", "path", "message"),
    [
        (T2D, {"engine": "torus-2QoS", "vls": 1}, "vls", "torus-2QoS needs 2 VLs on a 2D torus, `vls` is 1"),
        (M2D, {"engine": "torus-2QoS", "vls": 1}, "vls", "torus-2QoS needs 2 VLs on a mesh, `vls` is 1"),
        (T3D, {"engine": "lash", "vls": 4}, "vls", "lash needs 6 VLs on a 3D torus, `vls` is 4"),
        (DF4, {"engine": "dfsssp", "vls": 4}, "vls", "dfsssp needs 8 VLs on a dragonfly, `vls` is 4"),
        (FT2, {"engine": "ftree", "lmc": 1}, "engine", "it refuses LMC 1"),
        (RING, {"engine": "torus-2QoS"}, "engine", "it routes only two and three dimensions"),
        (M2D, {"engine": "minhop"}, "engine", "its paths turn between any two dimensions"),
        (PEERS, {"engine": "minhop"}, "engine", "links within a tier can close loops"),
        (DF4, {"engine": "ftree"}, "engine", "it has not been measured to route it"),
    ],
)
def test_impossible_requests(tree: Tree, requested: dict[str, Any], path: str, message: str) -> None:
    (finding,) = planned(tree, **requested)[1]
    assert (finding.code, finding.path) == ("FG228", f"planes.compute.infiniband.{path}") and message in finding.message


def test_datelines_are_in_the_reason() -> None:
    tree = grid("torus", [4, 2, 5])
    tree["planes"]["compute"]["torus"]["datelines"] = [3, 0, 1]
    subnet, _ = planned(tree, engine="torus-2QoS")
    assert subnet and subnet.reason.endswith("datelines at x=3, z=1"), "y is not a ring"


@pytest.mark.parametrize(("lmc", "lids"), [(0, 72 + 36), (1, 144 + 36), (3, 576 + 36)])
def test_lids_are_those_of_endpoints_and_one_of_each_switch(lmc: int, lids: int) -> None:
    subnet, refused = planned(DF4, lmc=lmc)
    assert subnet and subnet.lids == lids and refused == []


def test_sixteen_thousand_endpoints_have_room_for_two_lids_each() -> None:
    """64 units of 32 hosts, three tiers: 17,664 LIDs, 34,048 at LMC 1, and 66,816 at LMC 2, which is too many."""
    large = rail_optimized(2048, 32, 64, GENERIC, core={"platform": GENERIC})
    subnet, refused = planned(large, lmc=1)
    assert subnet and subnet.lids == 34_048 and refused == []
    (finding,) = planned(large, lmc=2)[1]
    assert (finding.code, finding.path) == ("FG229", "planes.compute.infiniband.lmc")
    assert "16384 endpoints x 2^2 + 1280 switches = 66816 LIDs, a subnet has 49151" in finding.message
