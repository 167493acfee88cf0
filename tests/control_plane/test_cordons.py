"""Links that the inventory takes out of service: which links an entry names, and what the plan reports."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.render.plans import Plans, make_plans
from tests.inventories import DELL, DELL_LINKS, explicit, rail_optimized, write

UPLINK = ["compute-su00-r0-leaf:Ethernet448", "compute-spine-00:Ethernet0"]
CABLE = "compute/su0/rail0/leaf0/up0"


def plans_of(folder: Path, *links: dict[str, Any], **plane: Any) -> Plans:
    return make_plans(write(folder, {**rail_optimized(16, 16, 4, **plane), "links": list(links)}))


def found(plans: Plans) -> list[tuple[str, str, str, str]]:
    return [(one.code, one.path, one.message, one.hint) for one in plans.findings]


@pytest.mark.parametrize(
    "ends",
    [
        UPLINK,
        UPLINK[::-1],
        ["compute/su0/rail0/leaf0:Ethernet448", "compute/spine0:Ethernet0"],
        ["compute/su0/rail0/leaf0:Ethernet448", "compute-spine-00:Ethernet0"],
    ],
    ids=["names", "the other way", "identities", "one of each"],
)
def test_an_end_is_written_by_name_or_identity(ends: list[str], tmp_path: Path) -> None:
    plans = plans_of(tmp_path, {"ends": ends, "state": "cordoned"})
    assert found(plans) == [] and list(plans.cordons) == [f"{CABLE}"]


def test_a_cable_stands_for_all_its_links(tmp_path: Path) -> None:
    plans = plans_of(tmp_path, {"cable": CABLE, "state": "cordoned"})
    assert found(plans) == [] and list(plans.cordons) == [CABLE, CABLE.replace("up0", "up1")]


def test_an_active_link_is_in_service(tmp_path: Path) -> None:
    assert plans_of(tmp_path, {"ends": UPLINK, "state": "active"}).cordons == {}


@pytest.mark.parametrize(
    ("link", "code", "path", "message", "hint"),
    [
        ({"cable": "compute/su0/rail0/leaf0/down0"}, "FG107", ".cable",
         "the fabric has no cable 'compute/su0/rail0/leaf0/down0'", "did you mean 'compute/su0/rail0/leaf0/up0'?"),
        ({"ends": ["compute-su00-r0-leef:Ethernet448", UPLINK[1]]}, "FG107", ".ends[0]",
         "the device 'compute-su00-r0-leef' does not exist", "did you mean 'compute-su00-r0-leaf'?"),
        ({"ends": [UPLINK[0], "Ethernet0"]}, "FG105", ".ends[1]", "'Ethernet0' is not an end of a link",
         "write device:port"),
        ({"ends": ["compute-spine-00:Ethernet1000", UPLINK[0]]}, "FG131", ".ends[0]",
         "compute-spine-00 has no link at port 'Ethernet1000'", "did you mean 'Ethernet100'?"),
        ({"ends": [UPLINK[0], "compute-spine-00:Ethernet4"]}, "FG131", ".ends",
         f"no link connects {UPLINK[0]} and compute-spine-00:Ethernet4",
         f"the links of these ports are {UPLINK[0]} to {UPLINK[1]}, and compute-su00-r0-leaf:Ethernet452 to "
         "compute-spine-00:Ethernet4"),
        ({"ends": UPLINK, "cable": CABLE}, "FG105", "", "a link has `ends` or `cable`, not both",
         "give `ends: [device:port, device:port]`, or `cable:` with a name of cabling.csv"),
        ({}, "FG106", "", "the link has neither `ends` nor `cable`",
         "give `ends: [device:port, device:port]`, or `cable:` with a name of cabling.csv"),
    ],
)  # fmt: skip
def test_an_entry_without_a_link_is_an_error_at_its_place(
    link: dict[str, Any], code: str, path: str, message: str, hint: str, tmp_path: Path
) -> None:
    plans = plans_of(tmp_path, {**link, "state": "cordoned"})
    assert found(plans) == [(code, f"links[0]{path}", message, hint)] and plans.cordons == {}
    place = plans.findings[0].location
    assert place and place.line > 1


def test_a_link_in_two_entries_is_reported_at_the_second(tmp_path: Path) -> None:
    plans = plans_of(tmp_path, {"cable": CABLE, "state": "cordoned"}, {"ends": UPLINK, "state": "active"})
    assert found(plans) == [
        ("FG102", "links[1]", f"the link {UPLINK[0]} to {UPLINK[1]} is given twice", "keep one of the two")
    ]
    assert plans.findings[0].related[0].location.line < plans.findings[0].location.line  # type: ignore[union-attr]


def test_a_link_of_infiniband_is_refused_with_the_way_out(tmp_path: Path) -> None:
    tree = rail_optimized(platform="nvidia-qm9700", technology="infiniband", oversubscription={"leaf": 1})
    del tree["planes"]["compute"]["addressing"]
    plans = make_plans(write(tmp_path, {**tree, "links": [{"cable": CABLE, "state": "cordoned"}]}))
    errors = [one for one in plans.findings if one.severity == "error"]
    assert {one.code for one in errors} == {"FG132"} and plans.cordons == {}
    assert "ibportstate LID PORT disable" in errors[0].hint and "checks: {maintenance}" in errors[0].hint


@pytest.mark.parametrize(
    ("hosts", "plane", "expected"),
    [(16, {"oversubscription": {"leaf": 1}}, ["FG133"]), (14, {"oversubscription": 1}, []), (16, {}, [])],
    ids=["broken", "kept", "not stated"],
)
def test_cordoned_uplinks_break_a_stated_oversubscription(
    hosts: int, plane: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    tree = rail_optimized(hosts, 16, 4, **plane)
    plans = make_plans(write(tmp_path, {**tree, "links": [{"ends": UPLINK, "state": "cordoned"}]}))
    assert [one.code for one in plans.findings] == expected
    if expected:
        (one,) = plans.findings
        assert one.severity == "warning" and one.path == "links[0].state"
        assert one.message == (
            "compute-su00-r0-leaf has 1.07:1 with 1 cordoned uplink, plane compute states an oversubscription of 1:1"
        )


def test_the_cable_of_an_external_router_can_be_cordoned(tmp_path: Path) -> None:
    wan = {"name": "wan1", "asn": 64900, "switch": "leaf1", "port": "Ethernet24", "address": "192.0.2.1/31",
           "in": "all", "out": "all"}  # fmt: skip
    tree = explicit(DELL, links=DELL_LINKS, external=[wan])
    ends = ["wan1:outside", "leaf1:Ethernet24"]
    plans = make_plans(write(tmp_path, {**tree, "links": [{"ends": ends, "state": "cordoned"}]}))
    assert found(plans) == [] and list(plans.cordons) == ["wan1:outside--compute/leaf/leaf1:Ethernet24"]
