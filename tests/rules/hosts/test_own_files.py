"""The law that files of hosts and managers pass the check, over technologies, designs, hosts, tenants, planes, what
writes the settings of NICs and names their devices, and releases of NVIDIA's operator."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from fabricgen.bundle.read import open_bundle
from fabricgen.bundle.write import BundleWriter
from fabricgen.errors import UsageError
from fabricgen.findings import Severity, has_errors
from fabricgen.handoff.folder import write_folder
from fabricgen.handoff.kubernetes import kubernetes_files
from fabricgen.handoff.manifests import OPERATORS
from fabricgen.platforms.catalog import host_model
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.rules.run import run
from fabricgen.units import format_speed

Tree = dict[str, object]
PKEYS = st.sampled_from([0x8001, 0x8002, 0x7000, 0x0103])
ON_ETHERNET = [
    "dgx-h100", "hgx-b200", "mi300x", "mi325x-bcm57608", "mi350x-connectx-7", "mi355x", "dgx-b300", "dgx-b300-4-planes",
    "gb300-nvl72-ethernet", "dgx-b200",
]  # fmt: skip
MEMBERS = ["gpu", "gpu/0", "gpu/0-1", "gpu/2-3", "rail0", "gpu/0-3/rail0", "ALL"]


@st.composite
def tenants(draw: st.DrawFn) -> list[Tree]:
    """Up to three partitions, with members of any kind."""
    keys = draw(st.lists(PKEYS, max_size=3, unique=True))
    return [
        {
            "name": f"t{number}",
            "pkey": key,
            "members": draw(st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=2, unique=True)),
            **draw(st.sampled_from([{}, {"membership": "both"}, {"ipoib": True}])),
        }
        for number, key in enumerate(keys)
    ]


@st.composite
def infiniband(draw: st.DrawFn) -> Tree:
    """An InfiniBand plane, on hosts that have one."""
    design = draw(st.sampled_from(["rail-optimized", "rail-only", "fat-tree", "torus"]))
    spine = {"spine": {"platform": "nvidia-qm9700"}} if design in ("rail-optimized", "fat-tree") else {}
    torus = {"torus": {"size": [4, 4]}, "infiniband": {"engine": "torus-2QoS"}} if design == "torus" else {}
    dialect = {} if torus else {"infiniband": draw(st.sampled_from([{}, {"mlnx_sm": {}}]))}
    return {
        "technology": "infiniband",
        "design": design,
        "hosts": ["gpu"],
        "scalable_unit": {"hosts": 1 if torus else 4},
        "leaf": {"platform": "nvidia-qm9700"},
        "speed": "400G",
        **spine,
        **torus,
        **dialect,
        "partitions": draw(tenants()),
    }


@st.composite
def roce(draw: st.DrawFn) -> Tree:
    """A RoCE plane."""
    design = draw(st.sampled_from(["rail-optimized", "rail-only", "fat-tree"]))
    platform = draw(st.sampled_from(["arista-7060x6-64pe", "nvidia-sn5600"]))
    four = {"loopbacks": "10.0.0.0/16", "links": "10.128.0.0/10", "hosts": "10.64.0.0/10"}
    six = {"loopbacks": "fd00:1::/112", "links": "fd00:2::/64", "hosts": "fd00:64::/40"}
    both = {name: [four[name], six[name]] for name in four}
    pools = draw(st.sampled_from([four, {**both, "hosts": six["hosts"]}, both]))
    classes = draw(st.sampled_from([{3: {"dscp": [26]}}, {5: {"dscp": [40]}}, {3: {"dscp": [24, 26]}}]))
    more = draw(
        st.sampled_from([{}, {"queue_pairs": 4}, {"load_balancing": {"mode": "spray", "configured_by": "platform"}}])
    )
    spine = {} if design == "rail-only" else {"spine": {"platform": platform}}
    return {
        "design": design,
        "hosts": ["gpu"],
        "scalable_unit": {"hosts": 4, "planned": 1},
        "leaf": {"platform": platform},
        "lossless": {"classes": classes, "cnp": {"dscp": draw(st.sampled_from([48, 46]))}},
        "addressing": pools,
        **spine,
        **more,
    }


def ports_of(model: str) -> tuple[int, str]:
    """(planes of the ports of a cage, their speed) of a host model."""
    known = host_model(model)
    assert known
    compute = [nic for nic in known.nics if nic.plane == "compute"]
    return len({nic.port for nic in compute}), format_speed(compute[0].speed_mbps)


@st.composite
def inventories(draw: st.DrawFn) -> tuple[str, str]:
    """(text, release of the operator) of an inventory; it can be wrong."""
    plane = draw(st.one_of(infiniband(), roce(), roce()))
    is_infiniband = "technology" in plane
    model = draw(st.sampled_from(["dgx-h100", "gb200-nvl72"] if is_infiniband else ON_ETHERNET))
    group: Tree = {"model": model, "count": 4, "rdma_names": draw(st.sampled_from(["driver", "nic"]))}
    if not is_infiniband:
        planes, plane["speed"] = ports_of(model)
        plane |= {"subplanes": planes} if planes > 1 else {}
        writers = ["script", "roce-optimized", "spectrum-x"]
        group["nic_settings"] = draw(st.sampled_from(writers[:1] if model.startswith("mi") else writers))
    if group.get("nic_settings") == "spectrum-x":
        plane["lossless"] = {"classes": {3: {"dscp": [24]}}, "cnp": {"dscp": 48}}
        group["rdma_names"] = "driver"
    if not any(nic.pci for nic in host_model(model).nics):  # type: ignore[union-attr]
        group["rdma_names"] = "driver"
    tree = {"fabricgen": 1, "fabric": "small", "hosts": {"gpu": group}, "planes": {"compute": plane}}
    return yaml.safe_dump(tree, sort_keys=False), draw(st.sampled_from(list(OPERATORS)))


SPECTRUM_X = """\
fabricgen: 1
fabric: small
hosts: {gpu: {model: gb300-nvl72-ethernet, count: 4, nic_settings: spectrum-x}}
planes:
  compute:
    design: rail-optimized
    hosts: [gpu]
    subplanes: 2
    scalable_unit: {hosts: 4}
    leaf: {platform: nvidia-sn5600}
    spine: {platform: nvidia-sn5600}
    speed: 400G
    lossless: {classes: {3: {dscp: [24]}}, cnp: {dscp: 48}}
    addressing: {loopbacks: 10.0.0.0/16, links: 10.128.0.0/10, hosts: 10.64.0.0/10}
"""
SEEN: dict[str, set[str]] = {"models": set(), "operators": set(), "settings": set()}


def check_own_files(inventory: tuple[str, str]) -> None:
    text, operator = inventory
    with tempfile.TemporaryDirectory(prefix="fabricgen-own-") as folder:
        source, bundle = Path(folder) / "fabric.yaml", Path(folder) / "b"
        source.write_text(text)
        plans = make_plans(source)
        assume(not has_errors(plans.findings))  # refused: nothing is rendered
        with BundleWriter(bundle, "small") as writer:
            for path, content in BundleContent(plans).files():
                writer.add(path, content)
            writer.commit(1, "digest")
        with suppress(UsageError):  # a release without what the group needs
            write_folder(bundle / "kubernetes", kubernetes_files(open_bundle([bundle]), operator=operator))
            SEEN["operators"].add(operator)
        found = run(open_bundle([bundle]), ("FG8", "FG9"))
        group = yaml.safe_load(text)["hosts"]["gpu"]
        SEEN["models"].add(group["model"])
        SEEN["settings"] |= {group.get("rdma_names", "driver"), group.get("nic_settings", "script")}
    assert [one for one in found if one.severity is Severity.ERROR] == [], text


@pytest.mark.parametrize("number", [25, 80])
def test_what_is_rendered_passes_its_own_check(number: int) -> None:
    quiet = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}
    tried = example((SPECTRUM_X, "26.4"))(example((SPECTRUM_X, "26.10"))(given(inventories())(check_own_files)))
    settings(max_examples=number, **quiet)(tried)()
    assert SEEN["operators"] == set(OPERATORS)
    assert SEEN["settings"] == {"driver", "nic", "script", "roce-optimized", "spectrum-x"}
    assert {"gb300-nvl72-ethernet", "gb200-nvl72"} <= SEEN["models"] and len(SEEN["models"]) > min(number // 5, 7), SEEN
