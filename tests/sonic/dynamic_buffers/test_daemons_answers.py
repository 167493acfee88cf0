"""Headroom, pools and reserved parts equal what the real buffermgrd computed, to the byte.

`answers.json` has cases of each ASIC, layout and setting of ../shared/data/sonic/dynamic_buffers.json, which has all.
The memory of the ASIC is public nowhere: the daemon had the size of egress_lossless_pool, as is assumed here.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabricgen.sonic.dynamic_buffers.asics import asic_of
from fabricgen.sonic.dynamic_buffers.headroom import TrafficPattern, WiredPort, computed_headroom
from fabricgen.sonic.dynamic_buffers.prediction import DynamicBuffers, predict
from tests.shared_material import shared

OWN = Path(__file__).with_name("answers.json")
ALL_CASES, ALL_HEADROOMS = 124, 140


def answers(file: Path) -> Any:
    return json.loads(file.read_bytes())


def config(case: Any) -> dict[str, Any]:
    """The file of a case, as far as buffermgrd reads it."""
    given, pools = case["inputs"], case["outputs"]["pools"]
    parameters = {"default_dynamic_th": given["default_dynamic_th"]}
    if given["over_subscribe_ratio"]:
        parameters["over_subscribe_ratio"] = str(given["over_subscribe_ratio"])
    found: dict[str, Any] = {
        "DEVICE_METADATA": {"localhost": {"platform": case["platform"], "buffer_model": "dynamic"}},
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": parameters},
        "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": given["traffic_pattern"]},
        "BUFFER_POOL": {
            name: {"type": name.partition("_")[0]}
            | ({} if name in given["pools_without_size"] else {"size": str(row["size"])})
            for name, row in pools.items()
            if name != "ingress_zero_pool"
        },
        "BUFFER_PROFILE": {
            "ingress_lossless_profile": {"pool": "ingress_lossless_pool", "size": "0"},
            "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0"},
            "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0"},
            "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "9216"},
        },
        **{name: {} for name in ("PORT", "BUFFER_PG", "BUFFER_QUEUE", *LISTS.values())},
        "CABLE_LENGTH": {"AZURE": {}},
    }
    for port, wired in ports(given["ports_up"]):
        add_port(found, port, wired, given, "3" if given["classes"] == 1 else "3-4")
        in_list = "egress_lossy_profile" in case["outputs"]["reserved"]["by_profile_size_times_objects"]
        lists = {"ingress": "ingress_lossless_profile,ingress_lossy_profile", "egress": "egress_lossless_profile"}
        lists["egress"] += ",egress_lossy_profile" if in_list else ""
        for direction, table in LISTS.items():
            found[table][port] = {"profile_list": lists[direction]}
    down = [(f"Ethernet{1000 + index}", wired) for index, (_, wired) in enumerate(ports(given["ports_down"]))]
    for port, wired in down:
        found["PORT"][port] = {"speed": str(wired["speed"]), "lanes": lanes(wired), "admin_status": "down"}
    return found


LISTS = {"ingress": "BUFFER_PORT_INGRESS_PROFILE_LIST", "egress": "BUFFER_PORT_EGRESS_PROFILE_LIST"}


def ports(groups: Any) -> Iterator[tuple[str, Any]]:
    wired = [group for group in groups for _ in range(group["count"])]
    yield from ((f"Ethernet{index}", one) for index, one in enumerate(wired))


def lanes(wired: Any) -> str:
    return ",".join(map(str, range(wired["lanes"])))


def add_port(found: dict[str, Any], port: str, wired: Any, given: Any, lossless: str) -> None:
    row = {"speed": str(wired["speed"]), "lanes": lanes(wired), "admin_status": "up", "mtu": str(given["mtu"])}
    found["PORT"][port] = row
    found["CABLE_LENGTH"]["AZURE"][port] = wired["cable"]
    found["BUFFER_PG"] |= {
        f"{port}|0": {"profile": "ingress_lossy_profile"}, f"{port}|{lossless}": {"profile": "NULL"}
    }  # fmt: skip
    found["BUFFER_QUEUE"][f"{port}|{lossless}"] = {"profile": "egress_lossless_profile"}


def predicted(case: Any) -> DynamicBuffers:
    found = predict(config(case))
    assert found is not None, case["name"]
    return found


def check(tree: Any) -> tuple[int, int]:
    """Compare every answer. Returns the number of cases, and of headrooms beside them."""
    headrooms = 0
    for row in tree["headroom"]:
        asic = asic_of(row["platform"])
        assert asic is not None, row["platform"]
        pattern = TrafficPattern(row["pattern_mtu"], row["small_packet_percentage"])
        for cable_m, answer in row["by_cable_m"].items():
            port = WiredPort(row["speed"], float(cable_m), row["lanes"], row["mtu"])
            found = computed_headroom(asic, port, pattern, shared=row["shared_headroom"])
            assert [found.xon_bytes, found.xoff_bytes, found.size_bytes] == answer, (row["hwsku"], cable_m)
            headrooms += 1
    for case in tree["cases"]:
        buffers, answer = predicted(case), case["outputs"]
        profiles = {
            name: {"xon": own.xon_bytes, "xoff": own.xoff_bytes, "size": own.size_bytes}
            for name, (own, _) in buffers.profiles.items()
        }
        assert profiles == answer["pg_profiles"], case["name"]
        pools = {name: row["size"] for name, row in answer["pools"].items() if name != "ingress_zero_pool"}
        assert dict(buffers.sizes.bytes) == pools, case["name"]
        assert buffers.sizes.headroom_bytes == answer["pools"]["ingress_lossless_pool"].get("xoff", 0), case["name"]
        assert buffers.sizes.reserved_bytes == answer["reserved"]["total"], case["name"]
        assert buffers.mmu_bytes == case["inputs"]["mmu_size"]
    return len(tree["cases"]), headrooms


def test_cases_of_each_asic() -> None:
    assert check(answers(OWN))[0] >= 18


def test_every_answer() -> None:
    assert check(answers(shared("data", "sonic", "dynamic_buffers.json"))) == (ALL_CASES, ALL_HEADROOMS)


@pytest.mark.parametrize("name", sorted(case["name"] for case in answers(OWN)["cases"]))
def test_reserved_parts_decide_the_pools(name: str) -> None:
    """One more port that is up takes its reserved parts from the pools; one that is down takes nothing."""
    case = next(case for case in answers(OWN)["cases"] if case["name"] == name)
    before = predicted(case).sizes
    wired = case["inputs"]["ports_up"][0]
    case["inputs"]["ports_down"].append({**wired, "count": 1})
    assert predicted(case).sizes == before
    wired["count"] += 1
    after = predicted(case).sizes
    assert after.reserved_bytes > before.reserved_bytes
    assert after.bytes["ingress_lossless_pool"] < before.bytes["ingress_lossless_pool"]
