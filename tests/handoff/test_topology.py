"""Labels and topology objects for schedulers in Kubernetes: their definitions accept all and refuse mistakes."""

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricgen.bundle.locality import Locality
from fabricgen.bundle.wiring import WiredHost
from fabricgen.errors import UsageError
from fabricgen.handoff.node_tiers import FAMILIES, fnv_64a, label_value, tiers_of, with_domains
from fabricgen.handoff.topology_kinds import hyper_nodes
from fabricgen.resources import resource
from tests.components import tool
from tests.conftest import Cli
from tests.handoff.crd import definitions, problems
from tests.handoff.schedulers import HOSTNAME, refused
from tests.inventories import WITH_COMPUTE, WITHOUT_COMPUTE, islands, rail_optimized, write

OBJECTS = ("kueue.yaml", "kai.yaml", "volcano.yaml", "koordinator.yaml")
KNOWN = definitions(Path(__file__).with_name("definitions"))
KEYS = FAMILIES["topograph"]


def handed(cli: Cli, inventory: Path, folder: Path, *options: str) -> Path:
    outcome = cli("-q", "render", inventory, "-o", folder / "bundle")
    assert outcome.code == 0, outcome.out
    outcome = cli("handoff", "topology", folder / "bundle", "-o", folder / "out", *options)
    assert outcome.code == 0, outcome.err
    return folder / "out"


def objects(folder: Path) -> list[dict[str, Any]]:
    return [one for file in OBJECTS for one in yaml.safe_load_all((folder / file).read_text())]


def labels(folder: Path) -> dict[str, dict[str, str]]:
    """Node -> its labels, from the arguments that kubectl gets."""
    kubectl = folder.parent / "bin" / "kubectl"
    kubectl.parent.mkdir(exist_ok=True)
    kubectl.write_text('#!/bin/sh\necho "$@"\n')
    kubectl.chmod(0o755)
    run = ["sh", str(folder / "label-nodes.sh"), "--dry-run=server"]
    path = {"PATH": f"{kubectl.parent}:/usr/bin:/bin"}
    done = subprocess.run(run, env=path, capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        assert line.startswith("label nodes --overwrite --dry-run=server ")
        words = shlex.split(line)[4:]
        values = dict(word.split("=", 1) for word in words if "=" in word)
        found.update({word: values for word in words if "=" not in word})
    return found


@pytest.mark.parametrize("name", WITH_COMPUTE)
def test_every_example_is_accepted(name: str, tmp_path: Path, cli: Cli) -> None:
    folder = handed(cli, resource("inventories", name), tmp_path)
    found = objects(folder)
    assert {one["kind"]: problems(one, KNOWN) for one in found if problems(one, KNOWN)} == {}
    assert refused(found) == []
    nodes = labels(folder)
    for one in found:
        if one["kind"] == "Topology":
            keys = [level["nodeLabel"] for level in one["spec"]["levels"]]
            assert keys[-1] == HOSTNAME and all(set(keys[:-1]) <= set(own) for own in nodes.values())
    model = yaml.safe_load((folder / "topograph-model.yaml").read_text())
    children = [child for switch in model["switches"].values() for child in switch.get("switches", ())]
    assert len(children) == len(set(children))
    assert {block["switch"] for block in model["blocks"]} <= {*children, *model["switches"]}


@pytest.mark.parametrize("name", sorted(WITHOUT_COMPUTE))
def test_a_fabric_without_a_compute_plane_is_refused(name: str, tmp_path: Path, cli: Cli) -> None:
    assert cli("-q", "render", resource("inventories", name), "-o", tmp_path / "bundle").code == 0
    outcome = cli("handoff", "topology", tmp_path / "bundle", "-o", tmp_path / "topology")
    assert outcome.code == 2 and "no hosts with GPUs on a compute plane" in outcome.err
    assert not (tmp_path / "topology").exists()


def test_the_script_is_clean(tmp_path: Path, cli: Cli) -> None:
    folder = handed(cli, resource("inventories", "nvl72"), tmp_path)
    subprocess.run([tool("shellcheck", "shellcheck"), str(folder / "label-nodes.sh")], check=True)
    own = labels(folder)["tray-018"]
    assert own == {
        "fabricgen.io/group": "tray",
        "fabric.topograph.run/tier-0": "su1",
        "fabric.topograph.run/tier-1": "nvl72",
        "accelerator.topograph.run/domain": "tray-nvl1",
    }


def test_nvlink_domains_are_the_nearest_level(tmp_path: Path, cli: Cli) -> None:
    folder = handed(cli, resource("inventories", "nvl72"), tmp_path, "--labels", "nvidia")
    topology = next(
        one for one in objects(folder) if one["apiVersion"].startswith("kueue") and one["kind"] == "Topology"
    )
    assert [level["nodeLabel"] for level in topology["spec"]["levels"]] == [
        "network.topology.nvidia.com/spine",
        "network.topology.nvidia.com/leaf",
        "network.topology.nvidia.com/accelerator",
        HOSTNAME,
    ]
    nodes = [one for one in objects(folder) if one["kind"] == "HyperNode"]
    assert [(one["metadata"]["name"], one["spec"]["tier"]) for one in nodes][-2:] == [
        ("nvl72-tray-nvl3", 1),
        ("nvl72-nvl72", 3),
    ]
    block = yaml.safe_load((folder / "topograph-model.yaml").read_text())["blocks"][1]
    assert block == {
        "switch": "su1",
        "nodes": ["tray-[018-035]"],
        "annotations": {"accelerator.topology.test/domain": "tray-nvl1"},
    }


def test_islands_have_no_common_group(tmp_path: Path, cli: Cli) -> None:
    folder = handed(cli, write(tmp_path / "in", islands()), tmp_path)
    assert {own["fabric.topograph.run/tier-0"] for own in labels(folder).values()} == {"leaf1", "leaf2"}
    model = yaml.safe_load((folder / "topograph-model.yaml").read_text())
    assert model["switches"] == {"leaf1": {}, "leaf2": {}}


NEAR = Locality("su0", ("a", "b"))
DEEP = Locality("pod1", ("c", "d"), (Locality("su1", ("c",)), Locality("su2", ("d",))))
UNEVEN = (Locality("all", ("a", "b", "c", "d"), (NEAR, DEEP)),)


def host(name: str, domain: str = "") -> WiredHost:
    return WiredHost(name, "gpu", "x", (), nvlink_domain=domain)


def test_a_group_without_a_middle_tier_has_its_name_twice() -> None:
    tiers = tiers_of(UNEVEN, KEYS)
    assert [dict(sorted(tier.value_of.items())) for tier in tiers] == [
        {"a": "su0", "b": "su0", "c": "su1", "d": "su2"},
        {"a": "su0", "b": "su0", "c": "pod1", "d": "pod1"},
        dict.fromkeys("abcd", "all"),
    ]
    found = list(hyper_nodes("f", tiers))
    assert [(one["metadata"]["name"], one["spec"]["tier"]) for one in found] == [
        ("f-su0", 1), ("f-su1", 1), ("f-su2", 1), ("f-pod1", 2), ("f-all", 3),
    ]  # fmt: skip
    assert refused(found) == []


@pytest.mark.parametrize(
    ("domains", "place"),
    [("xxyz", 0), ("xxyy", 1), ("xxxx", 2), ("xyyz", None), ("xx", None)],
)
def test_the_place_of_nvlink_domains(domains: str, place: int | None) -> None:
    tiers = tiers_of(UNEVEN, KEYS)
    hosts = [host(name, domain) for name, domain in zip("abcd", f"{domains:4}".replace(" ", "\0"), strict=True)]
    hosts = [host(one.name) if one.nvlink_domain == "\0" else one for one in hosts]
    names = [level.name for level in with_domains(tiers, hosts, KEYS)]
    assert (names.index("nvlink") if "nvlink" in names else None) == place


def test_label_values() -> None:
    assert label_value("a" * 63) == "a" * 63
    assert label_value("a" * 64) == f"x{fnv_64a('a' * 64):x}"
    assert fnv_64a("foobar") == 0x85944171F73967E8  # a published test vector
    with pytest.raises(UsageError, match="not allowed as a label"):
        label_value("pod-")


def _level(one: dict[str, Any], key: str) -> None:
    one["spec"]["levels"].insert(0, {"nodeLabel": key})


MISTAKES: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("Topology", lambda one: _level(one, HOSTNAME), "hostname is not the last"),
    ("Topology", lambda one: one["spec"]["levels"].append(one["spec"]["levels"][0]), "a level twice"),
    ("Topology", lambda one: _level(one, "Tier/0"), "does not match"),
    ("Topology", lambda one: one["spec"].update(levels=[]), "spec/levels"),
    ("Topology", lambda one: one["metadata"].update(namespace="x"), "namespace"),
    ("Topology", lambda one: one["spec"].update(level=[]), "level"),
    ("ResourceFlavor", lambda one: one["spec"].pop("nodeLabels"), "no label"),
    ("ResourceFlavor", lambda one: one["spec"].update(topologyName="other"), "unknown topology"),
    ("ResourceFlavor", lambda one: one["spec"].update(topologyName="A_b"), "does not match"),
    ("HyperNode", lambda one: one["spec"].update(tier="1"), "spec/tier"),
    ("HyperNode", lambda one: one["spec"]["members"][0].update(type="node"), "not one of"),
    ("HyperNode", lambda one: one["spec"]["members"][0]["selector"].update(exactMatch={"name": "a"}), "one selector"),
    ("ClusterNetworkTopology", lambda one: one["metadata"].update(name="fabric"), "expected default"),
    ("ClusterNetworkTopology", lambda one: one["spec"]["networkTopologySpec"].pop(), "from the nodes upwards"),
    ("ClusterNetworkTopology", lambda one: one["spec"]["networkTopologySpec"][0].update(labelKey="x"), "labelKey"),
]


@pytest.fixture(scope="module")
def accepted(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    from fabricgen.bundle.read import open_bundle
    from fabricgen.handoff.topology import topology_files

    files = dict(topology_files(open_bundle([rendered])))
    return "".join(files[name].decode() for name in OBJECTS)


@pytest.mark.parametrize(("kind", "spoil", "message"), MISTAKES, ids=[f"{one[0]}-{one[2]}" for one in MISTAKES])
def test_a_mistake_is_refused(
    kind: str, spoil: Callable[[dict[str, Any]], object], message: str, accepted: str
) -> None:
    every = list(yaml.safe_load_all(accepted))
    spoil(next(one for one in every if one["kind"] == kind))
    found = [text for one in every for text in problems(one, KNOWN)] + refused(every)
    assert any(message in text for text in found), found


def test_what_kubernetes_does_not_allow(tmp_path: Path, cli: Cli) -> None:
    tree = rail_optimized()
    tree["hosts"] = {"GPU": tree["hosts"]["gpu"]}
    tree["planes"]["compute"]["hosts"] = ["GPU"]
    assert cli("-q", "render", write(tmp_path / "in", tree), "-o", tmp_path / "bundle").code == 0
    outcome = cli("handoff", "topology", tmp_path / "bundle", "-o", tmp_path / "out")
    assert (outcome.code, "not a valid name of a Kubernetes node" in outcome.err) == (2, True)
    assert not (tmp_path / "out").exists()
