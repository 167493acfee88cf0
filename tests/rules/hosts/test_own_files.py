"""The law that files of hosts and managers pass the check, over technologies, designs, hosts, tenants and planes."""

import tempfile
from pathlib import Path

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fabricgen.bundle.read import open_bundle
from fabricgen.bundle.write import BundleWriter
from fabricgen.findings import Severity, has_errors
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.rules.run import run

Tree = dict[str, object]
PKEYS = st.sampled_from([0x8001, 0x8002, 0x7000, 0x0103])
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
        "speed": "400G",
        "lossless": {"classes": classes, "cnp": {"dscp": draw(st.sampled_from([48, 46]))}},
        "addressing": pools,
        **spine,
        **more,
    }


@st.composite
def inventories(draw: st.DrawFn) -> tuple[str, str]:
    """(text, model) of an inventory; it can be wrong."""
    plane = draw(st.one_of(infiniband(), roce()))
    models = ["dgx-h100", "gb200-nvl72"] if plane.get("technology") else ["dgx-h100", "hgx-b200", "mi300x", "dgx-b300"]
    model = draw(st.sampled_from(models))
    tree = {
        "fabricgen": 1,
        "fabric": "small",
        "hosts": {"gpu": {"model": model, "count": 4}},
        "planes": {"compute": plane},
    }
    return yaml.safe_dump(tree, sort_keys=False), model


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(inventories())
def test_what_is_rendered_passes_its_own_check(inventory: tuple[str, str]) -> None:
    text, _ = inventory
    with tempfile.TemporaryDirectory(prefix="fabricgen-own-") as folder:
        source, bundle = Path(folder) / "fabric.yaml", Path(folder) / "b"
        source.write_text(text)
        plans = make_plans(source)
        assume(not has_errors(plans.findings))  # refused: nothing is rendered
        with BundleWriter(bundle, "small") as writer:
            for path, content in BundleContent(plans).files():
                writer.add(path, content)
            writer.commit(1, "digest")
        found = run(open_bundle([bundle]), ("FG8", "FG9"))
    assert [one for one in found if one.severity is Severity.ERROR] == [], text
