"""QoS levels on the real OpenSM: the SL in answer to a path query with the P_Key of a tenant, and SL-to-VL tables."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.control_plane.qos_levels import lanes_of
from fabricgen.observed.subnet_files import SubnetFiles
from fabricgen.opensm.opensm_conf import read_options
from fabricgen.render.plans import make_plans
from fabricgen.simulate.opensm import Tools
from fabricgen.simulate.opensm.findings import proof_findings
from fabricgen.simulate.opensm.proof import LevelDifference, Proof, prove
from tests.conftest import Cli
from tests.inventories import Tree, grid, write
from tests.opensm.netlists import two_tier
from tests.opensm.netlists import write as write_subnet
from tests.render.infiniband.test_files import subnet_tree

LEVELS = [
    {"name": "fast", "sl": 1, "weight": 192, "high": True},
    {"name": "bulk", "sl": 4, "weight": 32, "mtu": 2048, "rate": "100G"},
]
NET = two_tier(4, 2, 4)


def tree(engine: str = "", levels: Any = LEVELS, **more: Any) -> Tree:
    made = subnet_tree(4)
    plane = made["planes"]["compute"]
    plane["partitions"] = [
        {"name": "blue", "pkey": 0x8001, "members": ["gpu/0-1"], "qos_level": "fast"},
        {"name": "green", "pkey": 0x8002, "members": ["gpu/2-3"], "qos_level": "bulk"},
    ]
    plane["infiniband"] = {"qos": {"levels": levels}, **({"engine": engine} if engine else {}), **more}
    return made


@pytest.mark.parametrize("engine", ["", "nue"])
def test_rendered_levels_are_those_of_opensm(opensm: Tools, cli: Cli, tmp_path: Path, engine: str) -> None:
    """No engine of one lane changes the SLs. The tables of all switch ports map them as rendered."""
    inventory = write(tmp_path / "inventory", tree(engine))
    assert cli("render", inventory, "-o", tmp_path / "bundle").code == 0
    assert cli("validate", tmp_path / "bundle", "--fail-on", "warning", "--ignore", "FG862").code == 0
    folder = tmp_path / "bundle" / "infiniband" / "compute"
    proof = prove(opensm, folder / "topology.ibsim", folder)
    assert (proof.levels, proof.refused, proof.misread, proof.keys) == ((), (), (), ())
    lanes = lanes_of(make_plans(inventory).fabric.planes[0].plane.infiniband)
    assert lanes == [0, 1, 0, 0, 2, *[0] * 11]
    assert proof.dumps is not None and proof.dumps.sl2vl is not None
    switch, port = (proof.dumps.subnet.peer_switch >= 0).nonzero()
    assert (proof.dumps.sl2vl[switch, 1, port] == lanes).all()
    text = read_options((folder / "opensm.conf").read_text())
    assert (text.text("qos_vlarb_high"), text.text("qos_vlarb_low")) == ("1:192", "0:64,2:32")


def proved(opensm: Tools, folder: Path, extra: str, policy: str = "", engine: str = "updn") -> tuple[Proof, list[str]]:
    ports = [f"0x{NET.guid(f'H{host}') + 1:016x}=full" for host in range(4)]
    files = write_subnet(folder, NET, engine, extra=f"{extra}\npartition_config_file /etc/opensm/partitions.conf")
    (files / "partitions.conf").write_text(
        f"Default=0x7fff, ipoib : ALL=limited, SELF=full ;\nblue=0x8001, sl=1 : {', '.join(ports)} ;\n"
    )
    if policy:
        (files / "qos-policy.conf").write_text(policy)
    proof = prove(opensm, files / "topology.ibsim", files)
    found = proof_findings(SubnetFiles("ib", "ib", files), proof)
    return proof, [one.message for one in found if one.code == "FG844"]


DEFAULT = "qos-levels\n qos-level\n name: DEFAULT\n sl: 0\n end-qos-level\nend-qos-levels\n"
OF_KEY = "qos-ulps\n any, pkey 0x8001 : {} \nend-qos-ulps\n"


@pytest.mark.parametrize(
    ("extra", "policy", "found"),
    [
        ("qos FALSE", "", 0),
        ("qos TRUE", DEFAULT, 0),
        ("qos TRUE", "", None),  # as in partitions.conf
        ("qos TRUE", DEFAULT + OF_KEY.format(1), None),
        ("qos TRUE", DEFAULT + OF_KEY.format(5), 5),
    ],
)
def test_another_level_is_reported(opensm: Tools, tmp_path: Path, extra: str, policy: str, found: int | None) -> None:
    extra += "\nqos_policy_file /etc/opensm/qos-policy.conf" if policy else ""
    proof, messages = proved(opensm, tmp_path / "subnet", extra, policy)
    assert proof.levels == (() if found is None else (LevelDifference("blue", 1, found),))
    expected = f"ib: paths of partition blue have SL {found}, expected 1 of partitions.conf"
    assert messages == ([] if found is None else [expected])


def two(**changed: Any) -> list[dict[str, Any]]:
    return [LEVELS[0], {**LEVELS[1], **changed}]


@pytest.mark.parametrize(
    ("made", "code", "message"),
    [
        (tree(levels=two(sl=1)), "FG863", "the levels fast and bulk have one SL, 1"),
        (tree(levels=two(name="fast")), "FG863", "the QoS level 'fast' is defined already"),
        (tree(levels=two(name="DEFAULT")), "FG863", "the QoS level 'DEFAULT' is defined already"),
        (tree(levels=two(name="Fast")), "FG863", "the QoS level 'Fast' is defined already"),
        (tree(levels=two(name="qos-level-2")), "FG863", "OpenSM cannot have a QoS level 'qos-level-2': OpenSM reads"),
        (tree(levels=two(rate="800G")), "FG863", "level bulk: OpenSM has no code for a rate of 800G"),
        (tree(levels=LEVELS[:1]), "FG863", "tenant green: no QoS level has the name 'bulk'"),
        (tree(vls=2), "FG863", "2 QoS levels and SL 0 need 3 lanes, `vls` is 2"),
        (tree("dfsssp"), "FG864", "dfsssp chooses the SL of each path"),
    ],
)
def test_levels_that_a_subnet_cannot_have(tmp_path: Path, made: Tree, code: str, message: str) -> None:
    errors = [one for one in make_plans(write(tmp_path, made)).findings if one.severity == "error"]
    assert any(one.code == code and one.message.startswith(message) for one in errors), errors


def test_a_torus_keeps_its_levels_for_datelines(tmp_path: Path) -> None:
    made = grid("torus", [4, 3])
    plane = made["planes"]["compute"]
    del plane["addressing"], made["management"]
    plane |= {"technology": "infiniband", "infiniband": {"qos": {"levels": LEVELS}}}
    errors = [one for one in make_plans(write(tmp_path, made)).findings if one.severity == "error"]
    assert [one.code for one in errors] == ["FG864"] and "torus-2QoS" in errors[0].message
    plane["infiniband"]["engine"] = "nue"
    assert [one for one in make_plans(write(tmp_path, made)).findings if one.severity == "error"] == []
