"""What an inventory says of the world outside, as text and as addresses."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.inventory.load import load_inventory
from fabricgen.inventory.outside import address_pairs, discards
from tests.inventories import ADDRESSING, DUAL_STACK, explicit, write

WAN = {"name": "wan1", "asn": 64900, "switch": "leaf1", "port": "Ethernet320", "address": "192.0.2.1/31"}
TEXTS = {"in": ["0.0.0.0/0"], "out": "10.64.0.0/10"}


def load(folder: Path, *external: dict[str, Any], **plane: Any) -> Any:
    tree = explicit(**{"bgp": "unnumbered", "external": list(external), **plane})
    inventory, findings = load_inventory(write(folder, tree))
    return inventory.planes["compute"], [finding.code for finding in findings]


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        ({"address": "192.0.2.1/31"}, [("192.0.2.1", 31, "192.0.2.0")]),
        ({"address": "192.0.2.0/31"}, [("192.0.2.0", 31, "192.0.2.1")]),
        ({"address": ["192.0.2.9/29", "2001:db8::1/127"], "peer": "192.0.2.14"},
         [("192.0.2.9", 29, "192.0.2.14"), ("2001:db8::1", 127, "2001:db8::")]),
    ],
)  # fmt: skip
def test_the_far_address_is_the_other_one_of_a_pair(given: Any, pairs: Any, tmp_path: Path) -> None:
    plane, codes = load(tmp_path, {**WAN, **TEXTS, **given})
    assert codes == []
    assert [tuple(pair) for pair in address_pairs(plane.external[0])] == pairs


@pytest.mark.parametrize(
    "given",
    [
        {"address": "192.0.2.1"},
        {"address": "192.0.2.1/32"},
        {"address": "192.0.2.1/24"},
        {"address": "wan"},
        {"address": ["192.0.2.1/31", "192.0.2.3/31"]},
        {"address": "192.0.2.9/29", "peer": "192.0.2.9"},
        {"address": "192.0.2.9/29", "peer": "192.0.3.1"},
        {"address": "192.0.2.1/31", "peer": "2001:db8::"},
        {"address": "192.0.2.8/29", "peer": "192.0.2.9"},
        {"address": "192.0.2.9/29", "peer": "192.0.2.15"},
        {"address": "127.0.0.1/31"},
        {"address": "224.0.0.1/31"},
        {"address": "fe80::1/127"},
    ],
)
def test_addresses_that_do_not_fit_are_refused(given: Any, tmp_path: Path) -> None:
    assert load(tmp_path, {**WAN, **TEXTS, **given})[1] == ["FG116"]


@pytest.mark.parametrize("key", ["in", "out"])
@pytest.mark.parametrize(("prefixes", "expected"), [(["0.0.0.0/0", "0.0.0.0/0"], "FG102"), (["224.0.0.0/4"], "FG105")])
def test_a_prefix_is_given_once_and_is_unicast(key: str, prefixes: list[str], expected: str, tmp_path: Path) -> None:
    assert load(tmp_path, {**WAN, **TEXTS, key: prefixes})[1] == [expected]


@pytest.mark.parametrize(
    ("external", "static", "dual", "expected"),
    [
        ({"in": "all", "out": "all"}, [], False, ["10.64.0.0/10"]),
        ({"in": "0.0.0.0/0", "out": "all"}, [], True, ["10.64.0.0/10"]),
        ({"in": "::/0", "out": "all"}, [], True, ["fd00:0:0:2::/64"]),
        ({"in": ["10.0.0.0/8"], "out": "all"}, [], False, ["10.64.0.0/10"]),
        ({"in": ["172.16.0.0/12"], "out": "all"}, [], False, []),
        ({"in": ["172.16.0.0/12"], "out": "all"}, ["0.0.0.0/0"], False, ["10.64.0.0/10"]),
        ({"in": ["172.16.0.0/12"], "out": "all"}, ["192.168.7.0/24"], False, []),
        ({"in": ["0.0.0.0/0"], "out": "all"}, ["192.168.7.0/24"], False, ["10.64.0.0/10", "192.168.7.0/24"]),
    ],
)
def test_what_a_route_from_outside_may_cover_is_discarded(
    external: Any, static: list[str], dual: bool, expected: list[str], tmp_path: Path
) -> None:
    routes = [{"prefix": prefix, "via": "gpu/0:rail0"} for prefix in static]
    pools = DUAL_STACK if dual else ADDRESSING
    plane, codes = load(tmp_path, {**WAN, **external}, static=routes, addressing=pools)
    assert codes == []
    assert list(map(str, discards(plane))) == expected


def test_an_infiniband_plane_has_no_way_out(tmp_path: Path) -> None:
    codes = load(tmp_path, {**WAN, **TEXTS}, technology="infiniband")[1]
    assert "FG118" in codes and not {"FG116", "FG117"} & set(codes)


def test_without_the_outside_nothing_is_discarded(tmp_path: Path) -> None:
    assert discards(load(tmp_path)[0]) == ()
