"""Two dialects of opensm.conf, never mixed: options from their tables of facts, and why each has its value.

No free subnet manager reads mlnx-sm-5, so its files are compared with golden files.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.sources import read_sources
from fabricgen.cli.main import run
from fabricgen.opensm import mlnx_sm
from fabricgen.opensm import options as opensm_facts
from fabricgen.resources import resource
from fabricgen.simulate.opensm import Tools, prove
from tests.conftest import Cli, Golden
from tests.inventories import Tree, rail_optimized, write
from tests.render.infiniband.test_files import GOLDEN, QM9700, options, subnet_tree

EXAMPLES = ("infiniband", "torus", "mesh", "dragonfly", "dragonfly-plus")
TABLES = {"opensm-3.3": set(opensm_facts.option_facts()), "mlnx-sm-5": set(mlnx_sm.option_facts())}


@pytest.fixture(scope="module")
def confs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every opensm.conf of every example."""
    folder = tmp_path_factory.mktemp("dialects")
    for name in EXAMPLES:
        with pytest.raises(SystemExit) as done:
            run(["-q", "render", str(resource("inventories", name)), "-o", str(folder / name), "--locked"])
        assert done.value.code == 0
    return sorted(folder.rglob("opensm.conf"))


def dialect(conf: Path) -> str:
    return "mlnx-sm-5" if conf.parent.name == "mlnx-sm-5" else "opensm-3.3"


def test_both_dialects_are_rendered(confs: list[Path]) -> None:
    assert [dialect(conf) for conf in confs].count("mlnx-sm-5") == 2
    assert (
        len(TABLES["opensm-3.3"] - TABLES["mlnx-sm-5"]) > 25 and len(TABLES["mlnx-sm-5"] - TABLES["opensm-3.3"]) > 200
    )


def test_no_file_has_an_option_of_the_other_dialect(confs: list[Path]) -> None:
    for conf in confs:
        own = TABLES[dialect(conf)]
        assert options(conf).keys() <= own, conf
        for other in TABLES.values():
            assert not options(conf).keys() & (other - own)
        check = mlnx_sm.option_problem if dialect(conf) == "mlnx-sm-5" else opensm_facts.option_problem
        assert [check(name, text) for name, text in options(conf).items()] == [None] * len(options(conf))
        engines = options(conf)["routing_engine"].split(",")
        assert dialect(conf) == "mlnx-sm-5" or not {"ar_updn", "ar_ftree", "dfp", "dfp2"} & set(engines)


def test_every_file_that_ufm_reads_exists(confs: list[Path]) -> None:
    for conf in (conf for conf in confs if dialect(conf) == "mlnx-sm-5"):
        named = [text for text in options(conf).values() if text.startswith("/")]
        assert len(named) >= 2
        for text in named:
            folder, _, name = text.rpartition("/")
            assert folder == "/opt/ufm/files/conf/opensm" and (conf.parent / name).is_file()


def test_every_option_is_explained(confs: list[Path]) -> None:
    """The reason for the value, not only its template."""
    for conf in confs:
        bundle = next(parent for parent in conf.parents if (parent / "sources.json").is_file())
        sources, subnet = read_sources(bundle), conf.parent.relative_to(bundle / "infiniband").as_posix()
        assert sources
        for name in options(conf):
            explained = sources.explain_option(subnet, name)
            assert explained and explained.template.endswith("opensm.conf.j2"), f"{conf}: {name}"
            assert explained.origins and all(origin.steps for origin in explained.origins), f"{conf}: {name}"


def test_explain_prints_the_reason(confs: list[Path], cli: Cli) -> None:
    bundle = next(conf.parents[3] for conf in confs if dialect(conf) == "mlnx-sm-5")
    output = cli("explain", bundle, "storage/mlnx-sm-5:routing_engine").out
    assert output.startswith("storage/mlnx-sm-5  routing_engine = ar_updn") and "default since 5.10" in output
    assert cli("explain", bundle, "storage/mlnx-sm-5:sm_priority").code == 2


def test_files_for_ufm_match_the_golden_files(confs: list[Path], golden: Golden) -> None:
    folder = next(conf.parent for conf in confs if conf.parts[-4:-1] == ("infiniband", "storage", "mlnx-sm-5"))
    assert sorted(file.name for file in folder.iterdir()) == [
        "ib-node-name-map", "opensm.conf", "partitions.conf", "root_guids",
    ]  # fmt: skip
    for file in folder.iterdir():
        golden(GOLDEN / "storage" / "mlnx-sm-5" / file.name, file.read_bytes())


def test_opensm_refuses_options_of_the_other_dialect(opensm: Tools, cli: Cli, tmp_path: Path) -> None:
    """OpenSM lists the unknown options and continues with minhop."""
    assert cli("render", write(tmp_path / "i", with_ufm({})), "-o", tmp_path / "b").code == 0
    subnet = tmp_path / "b/infiniband/compute"
    conf = subnet / "mlnx-sm-5" / "opensm.conf"
    conf.rename(subnet / "opensm.conf")
    proof = prove(opensm, subnet / "topology.ibsim", subnet)
    assert set(proof.refused) == options(subnet / "opensm.conf").keys() - TABLES["opensm-3.3"] != set()
    assert proof.active == "minhop" and proof.staged.engines == ("ar_updn",)


def with_ufm(mlnx: dict[str, Any], **infiniband: Any) -> Tree:
    return subnet_tree(infiniband={"mlnx_sm": mlnx, **infiniband})


def test_options_of_the_inventory_for_ufm(cli: Cli, golden: Golden, tmp_path: Path) -> None:
    routes = [{"prefix": "0xfec0000000000007", "guid": "*"}]
    tree = with_ufm({"adaptive_routing": False, "shield": False, "config_dir": "/srv/ufm"}, prefix_routes=routes, lmc=1)
    assert cli("render", write(tmp_path / "i", tree), "-o", tmp_path / "b").code == 0
    conf = tmp_path / "b/infiniband/compute/mlnx-sm-5/opensm.conf"
    golden(GOLDEN / "compute" / "mlnx-sm-5" / "opensm.conf", conf.read_bytes())
    assert (conf.parent / "prefix-routes.conf").is_file()
    lines = options(conf)
    assert (lines["routing_engine"], lines["shield_mode"], lines["lmc"]) == ("updn", "0", "1")


def test_without_mlnx_sm_there_is_one_dialect(cli: Cli, tmp_path: Path) -> None:
    assert cli("render", write(tmp_path / "i", subnet_tree()), "-o", tmp_path / "b").code == 0
    assert not list((tmp_path / "b").rglob("mlnx-sm-5"))


def test_dragonfly_plus_for_ufm(cli: Cli, tmp_path: Path) -> None:
    text = resource("inventories", "dragonfly-plus", "fabric.yaml").read_text()
    for settings, code in (("{}", 0), ("{adaptive_routing: false}", 1)):
        folder = tmp_path / str(code)
        (folder / "i").mkdir(parents=True)
        (folder / "i" / "fabric.yaml").write_text(f"{text}    infiniband: {{mlnx_sm: {settings}}}\n")
        outcome = cli("render", folder / "i", "-o", folder / "b")
        assert outcome.code == code
        if code:
            assert "FG890" in outcome.out and "dfp2 routes a dragonfly-plus only with adaptive routing" in outcome.out
        else:
            (conf,) = folder.rglob("mlnx-sm-5/opensm.conf")
            assert options(conf)["routing_engine"] == "dfp2" and "root_guid_file" not in options(conf)


def test_a_torus_for_ufm_is_refused(cli: Cli, tmp_path: Path) -> None:
    text = resource("inventories", "torus", "fabric.yaml").read_text().replace("{vls: 8}", "{vls: 8, mlnx_sm: {}}")
    (tmp_path / "fabric.yaml").write_text(text)
    outcome = cli("check", tmp_path)
    assert outcome.code == 1 and "FG890" in outcome.out and "supported: single switches" in outcome.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nue_max_num_vls 4", "has an option 'nue_max_num_vls'"),
        ("enable_sa true", "expected TRUE or FALSE"),
        ("qos TRUE", "twice"),
    ],
)
def test_an_overlay_cannot_mix_them(line: str, message: str, cli: Cli, tmp_path: Path) -> None:
    overlay = tmp_path / "t" / "infiniband" / "mlnx-sm-5"
    overlay.mkdir(parents=True)
    shipped = resource("templates", "infiniband", "mlnx-sm-5", "opensm.conf.j2").read_text()
    (overlay / "opensm.conf.j2").write_text(f"{shipped}{line}\n")
    outcome = cli("render", write(tmp_path / "i", with_ufm({})), "-o", tmp_path / "b", "--templates", tmp_path / "t")
    assert outcome.code == 1 and message in outcome.out


def test_xdr_planes_are_planarized(cli: Cli, tmp_path: Path) -> None:
    nic = {"name": "rail{rail}", "model": "ConnectX-8", "speed": "800G", "plane": "compute", "rails": 8}
    tree = rail_optimized(
        4, 4, 1, "nvidia-q3400", "xdr", technology="infiniband", infiniband={"mlnx_sm": {}}, speed="800G"
    )
    del tree["planes"]["compute"]["addressing"], tree["management"]
    inventory = write(tmp_path / "i", {**tree, "host_models": {"xdr": {"gpus": 8, "nics": [nic]}}})
    assert cli("render", inventory, "-o", tmp_path / "b").code == 0
    (conf,) = tmp_path.rglob("mlnx-sm-5/opensm.conf")
    assert options(conf)["planarized_routing_enabled"] == "1"
    assert QM9700 not in (tmp_path / "b" / "fabric.json").read_text()


def test_sharp_on_a_tree(cli: Cli, tmp_path: Path) -> None:
    """The manager switches it on, the aggregation manager knows the design, NCCL asks for it, and each switch has a
    second LID."""
    plain, tree = (write(tmp_path / name, with_ufm(mlnx)) for name, mlnx in (("p", {}), ("i", {"sharp": True})))
    assert cli("render", tree, "-o", tmp_path / "b").code == 0
    folder = tmp_path / "b/infiniband/compute/mlnx-sm-5"
    assert options(folder / "opensm.conf")["sharp_enabled"] == "2"
    assert options(folder / "sharp_am.cfg") == {"dynamic_tree_allocation": "TRUE", "dynamic_tree_algorithm": "0"}
    (nccl,) = (tmp_path / "b/hosts").rglob("nccl.conf")
    assert "NCCL_COLLNET_ENABLE=1" in nccl.read_text().splitlines()
    assert cli("validate", tmp_path / "b").code == 0
    output = cli("explain", tmp_path / "b", "compute/mlnx-sm-5:dynamic_tree_algorithm").out
    assert "sharp_am.cfg:" in output and "the algorithm for a regular tree" in output
    capacities = [json.loads(cli("capacity", each, "--format", "json").out)["capacity"] for each in (plain, tree)]
    before, after = (one["planes"][0] for one in capacities)
    assert after["lids"] - before["lids"] == sum(after["switches"].values())


def test_sharp_on_a_dragonfly_plus(cli: Cli, tmp_path: Path) -> None:
    text = resource("inventories", "dragonfly-plus", "fabric.yaml").read_text().replace("generic-64x400g", QM9700)
    (tmp_path / "fabric.yaml").write_text(f"{text}    infiniband: {{mlnx_sm: {{sharp: true}}}}\n")
    assert cli("render", tmp_path / "fabric.yaml", "-o", tmp_path / "b").code == 0
    (config,) = tmp_path.rglob("sharp_am.cfg")
    assert options(config)["dynamic_tree_algorithm"] == "1"
    config.write_text(config.read_text().replace("algorithm 1", "algorithm 0"))
    assert "the fat-tree algorithm does not suit the wiring" in cli("validate", tmp_path / "b").out


def test_sharp_needs_switches_that_aggregate(cli: Cli, tmp_path: Path) -> None:
    tree = with_ufm({"sharp": True})
    for tier in ("leaf", "spine"):
        tree["planes"]["compute"][tier]["platform"] = "generic-64x400g"
    outcome = cli("check", write(tmp_path / "i", tree))
    assert outcome.code == 1 and "FG895" in outcome.out and "generic-64x400g" in outcome.out


def test_a_quantum_leaf_has_one_stream(cli: Cli, tmp_path: Path) -> None:
    """HDR switches are in one active streaming tree at a time; the rails of a host on one leaf want several."""
    nics = [{"name": "rail{rail}", "model": "ConnectX-6", "speed": "200G", "plane": "compute", "rails": 2}]
    tree: Tree = {
        **with_ufm({"sharp": True}),
        "host_models": {"hdr": {"gpus": 2, "nics": nics}}, "hosts": {"gpu": {"model": "hdr", "count": 8}},
    }  # fmt: skip
    compute = tree["planes"]["compute"]
    compute |= {"design": "fat-tree", "speed": "200G", "scalable_unit": {"hosts": 8}}
    compute |= {"leaf": {"platform": "nvidia-qm8700"}, "spine": {"platform": "nvidia-qm8700"}}
    outcome = cli("check", write(tmp_path / "i", tree))
    assert "FG896" in outcome.out and "connects 2 NICs of a host" in outcome.out
