"""Rows in columns are the objects that were added; sessions of plain rows are those of a closer look."""

import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.routing import sessions
from fabricgen.routing.sessions import find_sessions
from fabricgen.routing.spoken_files import SpokenFiles
from fabricgen.routing.spoken_rows import AddressColumns, NeighborColumns
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.image import INTERFACE_TABLES, InterfaceAddress, Neighbor, Terms
from tests.bgp_fabric import ConfigDbs, Fabric, open_configs

TERMS = Terms(0, frozenset({4}), frozenset({4}), frozenset(), frozenset())


def numbers(width: int) -> st.SearchStrategy[int]:
    return st.integers(0, 2**width - 1)


def hosts() -> st.SearchStrategy[Address]:
    four, six = (st.builds(Address, st.just(v), numbers(width), st.just(width)) for v, width in ((4, 32), (6, 128)))
    return st.one_of(four, six)


@st.composite
def addresses(draw: st.DrawFn) -> InterfaceAddress:
    host = draw(hosts())
    network = host.widened(draw(st.integers(0, host.length)))
    vrf = draw(st.sampled_from(["", "", "Vrf1"]))
    return InterfaceAddress(
        draw(st.sampled_from(INTERFACE_TABLES)), "key", "Ethernet0", host, network, draw(st.booleans()), vrf
    )


@st.composite
def neighbors(draw: st.DrawFn) -> Neighbor:
    peer = draw(st.none() | hosts())
    obstacle = draw(st.sampled_from([(), ("is down", ("BGP_NEIGHBOR", "key"))]))
    return Neighbor(
        "key", peer, "" if peer else "Ethernet0", draw(st.none() | st.integers(1, 2**32 - 1)), TERMS, *obstacle
    )


@given(st.lists(st.lists(addresses(), max_size=4), max_size=3), hosts())
def test_addresses_are_as_added(given_rows: list[list[InterfaceAddress]], other: Address) -> None:
    columns = AddressColumns()
    rows = [columns.add(one) for one in given_rows]
    assert [list(one) for one in rows] == given_rows
    for switch, those in enumerate(given_rows):
        around = [one.network.length for one in those if not one.vrf and one.network.covers(other)]
        assert columns.longest_around(switch, other) == max(around, default=-1)
        assert [columns.switch_of(row) for row in columns.rows_of(switch)] == [switch] * len(those)


@given(st.lists(st.lists(neighbors(), max_size=4), max_size=3))
def test_neighbors_are_as_added(given_rows: list[list[Neighbor]]) -> None:
    columns = NeighborColumns()
    rows = [columns.add(one) for one in given_rows]
    assert [list(one) for one in rows] == given_rows
    assert columns.switch.tolist() == [switch for switch, those in enumerate(given_rows) for _ in those]


def _first(table: dict[str, dict[str, object]], draw: random.Random) -> dict[str, object]:
    return table[draw.choice(sorted(table))]


def _asn(configs: ConfigDbs, draw: random.Random) -> None:
    _first(configs[draw.choice(sorted(configs))]["BGP_NEIGHBOR"], draw)["asn"] = draw.choice(["1", "2", "none"])


def _down(configs: ConfigDbs, draw: random.Random) -> None:
    _first(configs[draw.choice(sorted(configs))]["BGP_NEIGHBOR"], draw)["admin_status"] = "down"


def _port_down(configs: ConfigDbs, draw: random.Random) -> None:
    config = configs[draw.choice(sorted(configs))]
    port = draw.choice([key for key in config["INTERFACE"] if "|" not in key])
    config.setdefault("PORT", {})[port] = {"admin_status": "down"}


def _same_router(configs: ConfigDbs, draw: random.Random) -> None:
    one, other = draw.sample(sorted(configs), 2)
    configs[one]["DEVICE_METADATA"]["localhost"]["bgp_router_id"] = "9.9.9.9"
    configs[other]["DEVICE_METADATA"]["localhost"]["bgp_router_id"] = "9.9.9.9"


def _unbound(configs: ConfigDbs, draw: random.Random) -> None:
    table = configs[draw.choice(sorted(configs))]["INTERFACE"]
    del table[draw.choice([key for key in table if "|" not in key])]


def _vrf(configs: ConfigDbs, draw: random.Random) -> None:
    table = configs[draw.choice(sorted(configs))]["INTERFACE"]
    table[draw.choice([key for key in table if "|" not in key])] = {"vrf_name": "Vrf1"}


def _wide(configs: ConfigDbs, draw: random.Random) -> None:
    table = configs[draw.choice(sorted(configs))]["INTERFACE"]
    key = draw.choice([key for key in table if "|" in key])
    table[f"{key.partition('/')[0]}/30"] = table.pop(key)


def _swapped_cables(configs: ConfigDbs, draw: random.Random) -> None:
    table = configs[draw.choice(sorted(configs))].get("DEVICE_NEIGHBOR", {})
    if len(table) > 1:
        one, other = draw.sample(sorted(table), 2)
        table[one], table[other] = table[other], table[one]


def _same_address(configs: ConfigDbs, draw: random.Random) -> None:
    one, other = draw.sample(sorted(configs), 2)
    key = draw.choice([key for key in configs[one]["INTERFACE"] if "|" in key])
    configs[other]["INTERFACE"][f"Ethernet0|{key.partition('|')[2]}"] = {}


CHANGES: list[Callable[[ConfigDbs, random.Random], None]] = [
    _asn, _down, _port_down, _same_router, _unbound, _vrf, _wide, _swapped_cables, _same_address,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(30))
def test_plain_rows_make_the_sessions_of_a_closer_look(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    asn = {"l1": 1, "l2": 2, "s1": 3, "s2": draw.choice([3, 4])}
    links = [(leaf, spine) for leaf in ("l1", "l2") for spine in ("s1", "s2")]
    configs = deepcopy(Fabric(asn, links, {"10.0.0.0/24": "l1", "10.0.1.0/24": "l2"}).configs())
    for change in draw.sample(CHANGES, draw.randint(0, 3)):
        change(configs, draw)
    bundle = open_configs(configs, tmp_path)
    found = find_sessions(bundle, list(bundle.devices))
    monkeypatch.setattr(sessions, "_plain", lambda read: np.zeros(len(read.neighbors), bool))
    closer = find_sessions(bundle, list(bundle.devices))
    assert (found.sessions, found.absent) == (closer.sessions, closer.absent)


def test_the_plain_rows_of_a_right_fabric_are_all(tmp_path: Path) -> None:
    links = [(leaf, spine) for leaf in ("l1", "l2") for spine in ("s1", "s2")]
    bundle = open_configs(Fabric({"l1": 1, "l2": 2, "s1": 3, "s2": 3}, links, {}).configs(), tmp_path)
    read = SpokenFiles(bundle, list(bundle.devices))
    assert sessions._plain(read).all() and len(read.neighbors) == 8
    found = find_sessions(bundle, list(bundle.devices))
    assert (len(found.sessions), found.absent) == (4, ())
