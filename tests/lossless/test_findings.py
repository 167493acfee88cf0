"""Every finding of the lossless planner and of the pools: code, severity, place, message and hint."""

import dataclasses
from pathlib import Path

import pytest

from fabricgen.findings import Finding
from fabricgen.platforms.catalog import switch_platform
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import SwitchPlatform
from fabricgen.render.plans import make_plans
from tests.inventories import ARISTA, GENERIC, NVIDIA, Tree, explicit, rail_optimized, write


def with_models(tree: Tree, model: str) -> Tree:
    for group in tree["hosts"].values():
        group["model"] = model
    return tree


CASES: dict[str, tuple[Tree, list[tuple[str, str, str, str, str]]]] = {
    "no buffer facts, lossless": (
        explicit(GENERIC, links=[]),
        [
            (
                "FG580",
                "error",
                "planes.compute.leaves[0].platform",
                f"{GENERIC} (Generic-64x400G) has no buffer facts for a leaf, so it cannot be lossless",
                "choose a platform that has pools and headroom rows",
            ),
            (
                "FG580",
                "error",
                "planes.compute.spines[0].platform",
                f"{GENERIC} (Generic-64x400G) has no buffer facts for a spine, so it cannot be lossless",
                "choose a platform that has pools and headroom rows",
            ),
        ],
    ),
    "not a product, without PFC": (
        explicit(GENERIC, links=[], spines=[], lossless="none"),
        [
            (
                "FG599",
                "error",
                "planes.compute.leaves[0].platform",
                f"{GENERIC} is for counting only: no switch loads its files",
                "name the switch model that will be installed",
            ),
        ],
    ),
    "cable too long": (
        explicit(ARISTA, cables={"leaf-spine": "3km"}),
        [
            (
                "FG581",
                "error",
                "planes.compute.cables.leaf-spine",
                "Arista-7060X6-64PE-O128S2 has no headroom for 400G over 3000m, so the port would pause and drop",
                "lengths in its table at 400G: 5m, 40m, 150m; a row can be stated: buffers: "
                '{Arista-7060X6-64PE-O128S2: {source: "DOCUMENT OF THE VENDOR", headroom: [{speed: 400G, cable: 3000m, '
                "size: BYTES, xon: BYTES, xoff: BYTES, dynamic_th: N}]}}",
            ),
        ],
    ),
    "rounded cable": (
        explicit(ARISTA, cables={"host-leaf": "2m"}),
        [
            (
                "FG582",
                "note",
                "planes.compute.cables.host-leaf",
                "cables of 2m are planned as 5m, the next length in the table of Arista-7060X6-64PE-O128S2",
                "fabric.json and cabling.csv keep the true length",
            ),
        ],
    ),
    "shared headroom of a fixed pool": (
        explicit(ARISTA, lossless={"shared_headroom": 2}),
        [
            (
                "FG585",
                "error",
                "planes.compute.lossless.shared_headroom",
                f"{ARISTA} does not size its buffers: the SKU fixes its shared headroom pool",
                "remove `shared_headroom`, or move these switches to another plane",
            ),
        ],
    ),
    "NIC with one lossless priority": (
        with_models(rail_optimized(), "mi300x"),
        [
            (
                "FG586",
                "warning",
                "planes.compute.lossless",
                "plane compute has 2 lossless classes, the hosts' BCM57608 supports 1",
                "set `lossless: roce-lossless` for one class, or `lossless: none`",
            ),
        ],
    ),
    "a NIC of which nothing is known": (explicit(NVIDIA), []),
    "trimming on a chip that fixes its queue": (
        explicit(ARISTA, lossless="none", trimming={"dscp": 11}),
        [
            (
                "FG589",
                "error",
                "planes.compute.trimming",
                f"{ARISTA} (Tomahawk5) cannot be set to trim into a queue that later switches use, too",
                "use a platform with Spectrum-4, or remove `trimming`",
            ),
        ],
    ),
    "trimming to an odd size": (
        explicit(NVIDIA, lossless="none", trimming={"dscp": 11, "size": 258}),
        [
            (
                "FG589",
                "error",
                "planes.compute.trimming",
                "Spectrum-4 does not trim to 258 bytes",
                "set `size` to 256 to 1024, in steps of 4",
            ),
        ],
    ),
    "trimming before its release": (
        {**explicit(NVIDIA, lossless="none", trimming={"dscp": 11}), "sonic": {"release": 202411}},
        [
            (
                "FG589",
                "error",
                "planes.compute.trimming",
                "SONiC 202411 has no SWITCH_TRIMMING",
                "set `sonic: {release: 202505}` or a later one",
            ),
        ],
    ),
}


def outline(finding: Finding) -> tuple[str, str, str, str, str]:
    return finding.code, str(finding.severity), finding.path, finding.message, finding.hint


@pytest.mark.parametrize("case", CASES)
def test_findings_of(case: str, tmp_path: Path) -> None:
    tree, expected = CASES[case]
    found = make_plans(write(tmp_path, tree)).findings
    assert [outline(finding) for finding in found if finding.code.startswith(("FG58", "FG59"))] == expected
    assert all(finding.location for finding in found)


def own_platform(folder: Path, tree: Tree, platform: SwitchPlatform) -> Path:
    """An inventory with its own switch model."""
    (folder / "models").mkdir()
    (folder / "models" / "own.yaml").write_text(switch_entry_text(platform))
    return write(folder, {**tree, "platforms": ["models/own.yaml"]})


def arista() -> SwitchPlatform:
    model = switch_platform(ARISTA)
    assert model
    return dataclasses.replace(model, name="own", layouts=model.layouts[:1])


def test_a_watchdog_action_that_the_platform_does_not_support(tmp_path: Path) -> None:
    model = dataclasses.replace(arista(), capabilities={"watchdog_actions": ("drop", "alert")})
    tree = explicit("own", lossless={"watchdog": {"action": "forward"}})
    found = make_plans(own_platform(tmp_path, tree, model)).findings
    assert [outline(finding) for finding in found] == [
        (
            "FG583",
            "error",
            "planes.compute.lossless.watchdog.action",
            "own does not support the watchdog action 'forward'",
            "supported: drop, alert",
        )
    ]


def test_an_action_is_allowed_where_the_platform_states_none(tmp_path: Path) -> None:
    model = dataclasses.replace(arista(), capabilities={})
    tree = explicit("own", lossless={"watchdog": {"action": "forward"}})
    assert make_plans(own_platform(tmp_path, tree, model)).findings == []


def test_a_product_without_buffer_facts_keeps_its_defaults(tmp_path: Path) -> None:
    """On a plane without PFC a note says so, and nothing of buffers is planned."""
    model = arista()
    bare = dataclasses.replace(model, layouts=(dataclasses.replace(model.layouts[0], buffers={}),))
    tree = explicit("own", lossless="none", links=[], spines=[])
    plans = make_plans(own_platform(tmp_path, tree, bare))
    assert [outline(finding) for finding in plans.findings] == [
        (
            "FG598",
            "note",
            "planes.compute.leaves[0].platform",
            "own (Arista-7060X6-64PE-O128S2) has no buffer facts for a leaf: no buffer table is rendered, and the "
            "switch keeps its defaults",
            "nothing to do on a plane without PFC; import the SKU's folder to render buffer tables",
        )
    ]
    plan = plans.planner.plan(plans.fabric.switches[0])
    assert plan and (plan.pools, plan.profiles, plan.profile_lists, plan.dynamic) == ({}, {}, {}, False)
    assert (plan.lossless_queue_profile, plan.lossy_queue_profile, plan.lossy_pg_profile) == ("", "", "")
