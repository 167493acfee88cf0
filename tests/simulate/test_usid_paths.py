"""Lists of uSIDs against the wiring: right ones, each way to be wrong, and what the verdict covers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.simulate.usid_paths import analyse_paths
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.srv6 import first_usid, list_address, shifted
from tests.conftest import Cli
from tests.inventories import write
from tests.render.test_srv6 import sprayed
from tests.routing.test_usids_in_kernel import rendered as small

Change = Callable[[dict[str, Any]], object]
TO_SPINE1 = "default|fcbb:bb00:3::/48"


def edit(build: Path, switch: str, change: Change) -> None:
    file = build / "sonic" / switch / "config_db.json"
    config = json.loads(file.read_text())
    change(config)
    file.write_text(json.dumps(config, indent=4))


def verdict(cli: Cli, build: Path) -> tuple[int, dict[str, Any]]:
    outcome = cli("-q", "simulate", "paths", build, "--format", "json")
    return outcome.code, json.loads(outcome.out)


def test_each_list_takes_its_path(tmp_path: Path, cli: Cli) -> None:
    """8 leaves with 4 links to each of 2 spines and 4 hosts: 8 lists between two leaves, 1 to a host of the same
    leaf."""
    cli("render", write(tmp_path / "in", sprayed()), "-o", tmp_path / "build", "-q")
    code, report = verdict(cli, tmp_path / "build")
    links = len(open_bundle([tmp_path / "build"]).switch_links)
    uplinks = links // 8
    found = report["paths"]
    assert (code, found["verdict"], found["claim"]) == (0, "as-wired", "proved")
    assert found["lists"] == found["walked"] == 8 * 4 + 8 * 7 * 4 * uplinks
    assert found["links"] == {"directions": 2 * links, "least_lists": 28, "most_lists": 28}
    assert found["after_one_failure"]["least_lists"] == uplinks - 1


@pytest.mark.parametrize(
    ("switch", "change", "reason"),
    [
        (
            "leaf1",
            lambda c: c["STATIC_ROUTE"][TO_SPINE1].update(nexthop="fd00:0:0:1::5", ifname="Ethernet272"),
            "no uSID leads over this link alone",
        ),
        ("spine1", lambda c: c.pop("SRV6_MY_SIDS"), "no uSID leads over this link alone"),
        ("leaf2", lambda c: c["STATIC_ROUTE"].pop("default|fcbb:bb00:e000::/48"), "no uSID leads over this link alone"),
        (
            "leaf2",
            lambda c: c["STATIC_ROUTE"].update(
                {
                    "default|fcbb:bb00:e000::/64": {
                        "nexthop": "fd00:0:0:1::7", "ifname": "Ethernet256", "advertise": "false"
                    }
                }
            ),
            "the list leaves over Ethernet256, expected Ethernet0",
        ),
        (
            "leaf2",
            lambda c: c["STATIC_ROUTE"].update(
                {"default|fcbb:bb00:e000::/50": {"blackhole": "true", "advertise": "false"}}
            ),
            "leaf2: the route has no next hop",
        ),
        (
            "spine2",
            lambda c: c["STATIC_ROUTE"]["default|fcbb:bb00:2::/48"].update(nexthop="fd00:0:0:1::a,fd00:0:0:1::4"),
            "no uSID leads over this link alone",
        ),
    ],
)  # fmt: skip
def test_a_wrong_list_is_found(switch: str, change: Change, reason: str, tmp_path: Path, cli: Cli) -> None:
    build = small(tmp_path, cli)
    assert verdict(cli, build)[1]["paths"]["verdict"] == "as-wired"
    edit(build, switch, change)
    code, report = verdict(cli, build)
    found = report["paths"]
    assert (code, found["verdict"], found["claim"]) == (1, "wrong", "proved")
    assert reason in [one["reason"] for one in found["wrong"]], found["wrong"]
    assert {one["code"] for one in report["findings"]} == {"FG749"}


def test_everything_wrong(tmp_path: Path, cli: Cli) -> None:
    build = small(tmp_path, cli)
    for switch in ("leaf1", "leaf2", "spine1", "spine2"):
        edit(build, switch, lambda c: c.update(STATIC_ROUTE={}))
    code, report = verdict(cli, build)
    found = report["paths"]
    assert (code, found["verdict"]) == (1, "wrong")
    assert sum(one["lists"] for one in found["wrong"]) == found["walked"] == 8


def test_nothing_to_judge_does_not_pass(tmp_path: Path, cli: Cli) -> None:
    build = small(tmp_path, cli)
    for switch in ("leaf1", "leaf2", "spine1", "spine2"):
        edit(build, switch, lambda c: (c.pop("SRV6_MY_LOCATORS"), c.pop("SRV6_MY_SIDS")))
    code, report = verdict(cli, build)
    assert (code, report["paths"]) == (1, {})
    assert [(one["code"], one["message"]) for one in report["findings"]] == [
        ("FG708", "not simulated: no switch has a row of SRV6_MY_LOCATORS")
    ]


def test_values_that_are_not_rows(tmp_path: Path, cli: Cli) -> None:
    build = small(tmp_path, cli)
    edit(build, "leaf1", lambda c: c.update(SRV6_MY_LOCATORS={"MAIN": "x"}, SRV6_MY_SIDS=[], STATIC_ROUTE={"a": 1}))
    assert verdict(cli, build)[0] == 1
    assert cli("validate", build).code == 1


def test_a_single_spine_is_a_warning(tmp_path: Path, cli: Cli) -> None:
    """Between two leaves with one link each, one failure leaves no list."""
    build = small(tmp_path, cli, uplinks=1)
    code, report = verdict(cli, build)
    found = [one["message"] for one in report["findings"] if one["severity"] == "warning"]
    assert (code, len(found)) == (0, 1), report
    assert found[0] == "plane compute: one link that fails leaves no list from leaf1 to leaf2"


def test_a_sample_is_not_a_proof(tmp_path: Path, cli: Cli) -> None:
    cli("render", write(tmp_path / "in", sprayed()), "-o", tmp_path / "build", "-q")
    (found,) = analyse_paths(open_bundle([tmp_path / "build"]), most=100)
    assert 0 < found.walked < found.lists and not found.is_proved and found.most is None


def test_the_address_of_a_list() -> None:
    """The example of RFC 9800, section 4.1: 2001:db8:b1:1::/64 has other lengths; here 32 and 16 bits (usid-f3216)."""
    block = parse_address("fcbb:bb00::/32")
    assert block is not None
    address = list_address(block, [0x1, 0x2, 0xE000])
    assert address.ip == "fcbb:bb00:1:2:e000::"
    assert first_usid(address) == 1
    assert shifted(address).ip == "fcbb:bb00:2:e000::"
    assert shifted(shifted(shifted(address))) == Address(6, block.number, 128)
    assert list_address(block, range(1, 7)).ip == "fcbb:bb00:1:2:3:4:5:6"
    with pytest.raises(ValueError, match="room for 6"):
        list_address(block, range(1, 8))
