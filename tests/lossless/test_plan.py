"""The lossless plan: headroom by lookup, maps that agree with each other, marking, watchdog, both buffer models."""

from pathlib import Path

import pytest

from fabricgen.findings import Location, Severity
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.traffic import EcnSpec, LosslessSpec, WatchdogSpec
from fabricgen.lossless.classes import plan_classes
from fabricgen.lossless.congestion import plan_watchdog, wred_name, wred_profile
from fabricgen.lossless.headroom import find_headroom, whole_metres
from fabricgen.lossless.hosts import plan_nics
from fabricgen.platforms.catalog import switch_platform
from fabricgen.render.plans import make_plans
from tests.inventories import ARISTA, DELL, DELL_LINKS, NVIDIA, Tree, explicit, write

_PART = {"node": Node({}, Location("f.yaml", 1, 1)), "path": "lossless"}


def spec(classes: dict[int, tuple[int, ...]], cnp: int = 48) -> LosslessSpec:
    ecn = EcnSpec(**_PART, min_bytes=None, max_bytes=None, probability_percent=None)
    watchdog = WatchdogSpec(**_PART, action=None, detection_ms=None, restoration_ms=None, poll_ms=None)
    return LosslessSpec(**_PART, classes=classes, cnp_dscp=cnp, shared_headroom=None, ecn=ecn, watchdog=watchdog)


def test_without_lossless_classes_all_but_control_shares_one() -> None:
    classes = plan_classes(spec({}, cnp=40))
    assert {dscp: tc for dscp, tc in classes.dscp_to_tc.items() if tc != "0"} == {"48": "6", "56": "7"}
    assert set(classes.tc_to_pg.values()) == {"0"} and classes.pfc_to_pg == {} and classes.pfc_enable == ""
    assert classes.schedulers.keys() == {"LOSSY", "STRICT"} and classes.schedulers["LOSSY"]["weight"] == "16"
    assert set(classes.queue_scheduler.values()) == {"LOSSY", "STRICT"}


@pytest.mark.parametrize("priorities", [(3,), (3, 4), (0, 1), (2, 5, 6), (1, 2, 3, 4)])
def test_maps_agree_on_every_lossless_priority(priorities: tuple[int, ...]) -> None:
    classes = plan_classes(spec({priority: (priority + 20,) for priority in priorities}))
    assert sorted(classes.dscp_to_tc) == sorted(map(str, range(64)))
    for priority in map(str, priorities):
        assert classes.dscp_to_tc[str(int(priority) + 20)] == priority
        assert classes.tc_to_pg[priority] == priority
        assert (
            classes.tc_to_queue[priority] == classes.pfc_to_queue[priority] == classes.pfc_to_pg[priority] == priority
        )
        assert classes.queue_scheduler[int(priority)] == "LOSSLESS"
    assert classes.pfc_enable == ",".join(map(str, priorities))
    assert set(classes.pfc_to_pg) == set(map(str, priorities))
    lossy = {str(tc) for tc in range(8)} - set(map(str, priorities))
    assert {classes.tc_to_pg[tc] for tc in lossy} == {classes.lossy_pg}
    assert classes.lossy_pg not in map(str, priorities)
    # only the requested DSCP values are lossless; notifications and control never are
    lossless_dscp = {dscp for dscp, tc in classes.dscp_to_tc.items() if int(tc) in priorities}
    assert lossless_dscp == {str(priority + 20) for priority in priorities}
    assert set(classes.strict) & set(priorities) == set()
    assert classes.queue_scheduler[int(classes.dscp_to_tc["48"])] == "STRICT"
    assert classes.dscp_to_tc["56"] == "7"
    weights = {name: int(row["weight"]) for name, row in classes.schedulers.items() if "weight" in row}
    shares = [weights[classes.queue_scheduler[tc]] for tc in range(8) if classes.queue_scheduler[tc] in weights]
    assert min(shares) >= 1 and sum(shares) <= 100


def test_headroom_is_the_next_row_up_and_never_a_shorter_one() -> None:
    model = switch_platform(ARISTA)
    assert model
    layout = model.layouts[0]
    lengths = sorted(row.cable_m for row in layout.headroom if row.speed_mbps == 400_000)
    for length, expected in [(0.5, lengths[0]), (5, 5), (5.1, 40), (40, 40), (41, lengths[2])]:
        headroom = find_headroom(layout, 400_000, length)
        assert headroom and headroom.row.cable_m == expected
        assert headroom.rounded == (expected != length)
        assert headroom.profile == f"pg_lossless_400000_{expected}m_profile"
    assert find_headroom(layout, 400_000, lengths[-1] + 1) is None
    assert find_headroom(layout, 123_000, 5) is None


def test_whole_metres_are_rounded_up() -> None:
    assert [whole_metres(length) for length in (0.5, 1, 1.01, 40)] == [1, 1, 2, 40]


def test_marking_thresholds_follow_the_speed() -> None:
    """Those of the Arista SKU at 400G: sonic-buildimage Arista-7060X6-64PE-O128S2/qos.json.j2."""
    ecn = spec({3: (26,)}).ecn
    at_400g, at_100g = wred_profile(ecn, 400_000), wred_profile(ecn, 100_000)
    assert (at_400g["green_min_threshold"], at_400g["green_max_threshold"]) == ("131072", "262144")
    assert (at_100g["green_min_threshold"], at_100g["green_max_threshold"]) == ("32768", "65536")
    assert at_400g["ecn"] == "ecn_all" and at_400g["wred_green_enable"] == "true"
    assert wred_name(400_000) == "LOSSLESS_400G" and wred_name(800_000) == "LOSSLESS_800G"
    slow = [wred_profile(ecn, speed_mbps) for speed_mbps in (1_000, 10_000, 25_000)]
    assert {(row["green_min_threshold"], row["green_max_threshold"]) for row in slow} == {("8192", "16384")}
    asked = EcnSpec(**_PART, min_bytes=100_000, max_bytes=400_000, probability_percent=20)
    row = wred_profile(asked, 800_000)
    assert (row["yellow_min_threshold"], row["red_max_threshold"]) == ("200000", "800000")
    assert row["green_drop_probability"] == "20"


@pytest.mark.parametrize(
    ("ports", "detection_ms", "poll_ms"),
    [(32, 200, 200), (33, 400, 400), (130, 1000, 1000), (257, 1800, 1000), (801, 5000, 1000)],
)
def test_watchdog_timers_scale_with_the_ports(ports: int, detection_ms: int, poll_ms: int) -> None:
    watchdog = plan_watchdog(spec({3: (26,)}).watchdog, ports)
    assert watchdog.port == {
        "action": "drop",
        "detection_time": str(detection_ms),
        "restoration_time": str(detection_ms),
    }
    assert watchdog.poll == str(poll_ms)


@pytest.mark.parametrize(("detection_ms", "stall_ms"), [(100, None), (101, "100"), (400, "100")])
def test_a_nic_stops_its_pauses_before_the_watchdog_acts(
    detection_ms: int, stall_ms: str | None, tmp_path: Path
) -> None:
    plans = make_plans(write(tmp_path, explicit(lossless={"watchdog": {"detection_ms": detection_ms}})))
    leaf_plan = plans.planner.plan(plans.fabric.switches[0])
    plane = plans.fabric.inventory.planes["compute"]
    assert leaf_plan
    nics = plan_nics(plane, [leaf_plan], plane.cables["host-leaf"])
    assert nics and nics.stall_ms == stall_ms


def plan(folder: Path, tree: Tree) -> tuple[list[str], list[str]]:
    plans = make_plans(write(folder, tree))
    errors = [finding.message for finding in plans.findings if finding.severity is Severity.ERROR]
    return errors, [finding.message for finding in plans.findings if finding.severity is Severity.NOTE]


def test_one_note_for_each_length_that_is_rounded(tmp_path: Path) -> None:
    errors, notes = plan(tmp_path, explicit(cables={"host-leaf": "2m", "leaf-spine": "30m"}))
    assert errors == []
    assert [note for note in notes if "the next length" in note] == [
        "cables of 2m are planned as 5m, the next length in the table of Arista-7060X6-64PE-O128S2",
        "cables of 30m are planned as 40m, the next length in the table of Arista-7060X6-64PE-O128S2",
    ]


def test_the_dynamic_model_takes_any_length_as_it_is(tmp_path: Path) -> None:
    tree = explicit(NVIDIA, cables={"host-leaf": "1.5m", "leaf-spine": "3km"})
    plans = make_plans(write(tmp_path, tree))
    assert [finding.code for finding in plans.findings] == []
    leaf = plans.fabric.switches[0]
    found = [plans.planner.port(leaf, end.link) for end in plans.control.ends[leaf.key].values()]
    assert {str(buffers.cable) for buffers in found if buffers} == {"2m", "3000m"}
    assert all(buffers and buffers.pg_profile == "NULL" and buffers.pg_profile_row is None for buffers in found)


def test_a_length_without_a_row_is_an_error(tmp_path: Path) -> None:
    errors, _ = plan(tmp_path, explicit(cables={"leaf-spine": "3km"}))
    assert errors == ["Arista-7060X6-64PE-O128S2 has no headroom for 400G over 3000m, so the port would pause and drop"]


@pytest.mark.parametrize("platform", [ARISTA, DELL, NVIDIA])
def test_watchdog_actions_are_those_of_the_platform(platform: str, tmp_path: Path) -> None:
    model = switch_platform(platform)
    assert model
    for action in ("drop", "forward", "alert"):
        links = {"links": DELL_LINKS} if platform == DELL else {}
        errors, _ = plan(tmp_path, explicit(platform, lossless={"watchdog": {"action": action}}, **links))
        allowed = action in model.capabilities.get("watchdog_actions", (action,))
        assert bool(errors) is not allowed


def test_shared_headroom_is_for_switches_that_size_their_buffers(tmp_path: Path) -> None:
    nvidia = make_plans(write(tmp_path / "nvidia", explicit(NVIDIA, lossless={"shared_headroom": 2})))
    plan = nvidia.planner.plan(nvidia.fabric.switches[0])
    assert plan and plan.over_subscribe_ratio == "2" and nvidia.findings == []
    arista = make_plans(write(tmp_path / "arista", explicit(ARISTA, lossless={"shared_headroom": 2})))
    assert {finding.code for finding in arista.findings} == {"FG585"}
    without = make_plans(write(tmp_path / "without", explicit(NVIDIA)))
    plan = without.planner.plan(without.fabric.switches[0])
    assert plan and plan.over_subscribe_ratio is None
