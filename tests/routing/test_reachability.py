"""Which hosts cannot reach each other, and the rows that explain it, on two leaves and two spines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fabricgen.bundle.read import Bundle
from fabricgen.routing import bits
from fabricgen.routing.fabric import read_fabric
from fabricgen.routing.losses import find_losses
from fabricgen.routing.reachability import Reachability, reachability
from tests.bgp_fabric import ConfigDbs, Fabric, open_configs
from tests.routing.test_sessions import two_spines

Causes = list[tuple[str, str, str]]  # switch, row, reason
TSA = "TSA is on: the switch announces only its loopbacks"
INACTIVE = "no IPv4 route passes in: the family is not active or has no policy"


def square() -> ConfigDbs:
    """Leaves l1 with 10.1.0.0/24 and l2 with 10.2.0.0/24; spines s1 and s2 with one ASN."""
    links = [(leaf, spine) for leaf in ("l1", "l2") for spine in ("s1", "s2")]
    asn = {"l1": 65101, "l2": 65102, "s1": 65000, "s2": 65000}
    return Fabric(asn, links, {"10.1.0.0/24": "l1", "10.2.0.0/24": "l2"}).configs()


def reached(bundle: Bundle) -> Reachability:
    found = reachability(bundle, read_fabric(bundle, list(bundle.devices)))
    assert found is not None
    return found


def lost(found: Reachability) -> set[str]:
    """'SWITCH to TARGET' of each loss."""
    rows = [bits.columns_of(row) for row in found.lost]
    return {
        f"{found.fabric.names[row]} to {found.targets[column].names[0]}"
        for row, each in enumerate(rows)
        for column in each
    }


def explained(bundle: Bundle) -> list[tuple[Causes, int]]:
    """The causes and the number of pairs of each group of losses."""
    return [
        ([(one.switch, "|".join(one.place), one.reason) for one in loss.causes], loss.pairs)
        for loss in find_losses(reached(bundle))
    ]


BOTH_WAYS = {"l1 to 10.2.0.0/24", "l2 to 10.1.0.0/24"}


def isolated(*names: str) -> Callable[[ConfigDbs], None]:
    def change(configs: ConfigDbs) -> None:
        for name in names:
            configs[name]["BGP_DEVICE_GLOBAL"] = {"STATE": {"tsa_enabled": "true"}}

    return change


def without_rows(*names: str) -> Callable[[ConfigDbs], None]:
    """No BGP_NEIGHBOR rows between l1 and the spines, in the files of these switches."""

    def change(configs: ConfigDbs) -> None:
        for name in names:
            rows = configs[name]["BGP_NEIGHBOR"]
            configs[name]["BGP_NEIGHBOR"] = {
                key: row for key, row in rows.items() if name != "l1" and row["name"] != "l1"
            }

    return change


def shut_to_l1(configs: ConfigDbs) -> None:
    for name in ("s1", "s2"):
        configs[name]["PORT"] = {"Ethernet0": {"admin_status": "down"}}


def other_asn(configs: ConfigDbs) -> None:
    configs["l1"]["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "65009"


def blackhole(switch: str, prefix: str, distance: int = 1) -> Callable[[ConfigDbs], None]:
    def change(configs: ConfigDbs) -> None:
        row = {"blackhole": "true", "advertise": "false", "distance": str(distance)}
        configs[switch]["STATIC_ROUTE"] = {f"default|{prefix}": row}

    return change


def no_session(*ends: tuple[str, str]) -> Causes:
    return [(one, "BGP_NEIGHBOR", f"there is no BGP session with {far}") for one, far in ends]


@pytest.mark.parametrize(
    ("change", "pairs", "causes"),
    [
        (isolated("s1", "s2"), BOTH_WAYS, [("s1", "BGP_DEVICE_GLOBAL|STATE|tsa_enabled", TSA),
                                           ("s2", "BGP_DEVICE_GLOBAL|STATE|tsa_enabled", TSA)]),
        (isolated("l2"), {"l1 to 10.2.0.0/24"}, [("l2", "BGP_DEVICE_GLOBAL|STATE|tsa_enabled", TSA)]),
        (without_rows("l1"), BOTH_WAYS, [("l1", "BGP_NEIGHBOR|172.16.0.1", "l1 has no BGP_NEIGHBOR 172.16.0.1"),
                                         ("l1", "BGP_NEIGHBOR|172.16.0.3", "l1 has no BGP_NEIGHBOR 172.16.0.3")]),
        (without_rows("l1", "s1", "s2"), BOTH_WAYS, no_session(("l1", "s1"), ("l1", "s2"), ("s1", "l1"), ("s2", "l1"))),
        (shut_to_l1, BOTH_WAYS, [("s1", "PORT|Ethernet0|admin_status", "s1 Ethernet0 is shut down"),
                                 ("s2", "PORT|Ethernet0|admin_status", "s2 Ethernet0 is shut down")]),
        (blackhole("s1", "10.2.0.0/24", 19), {"l1 to 10.2.0.0/24"},
         [("s1", "STATIC_ROUTE|default|10.2.0.0/24", "a blackhole route drops packets to 10.2.0.0/24")]),
    ],
    ids=["spines isolated", "leaf isolated", "rows missing", "no sessions", "ports shut", "one spine drops"],
)  # fmt: skip
def test_losses_and_their_rows(
    change: Callable[[ConfigDbs], None], pairs: set[str], causes: Causes, tmp_path: Path
) -> None:
    configs = square()
    change(configs)
    bundle = open_configs(configs, tmp_path)
    assert lost(reached(bundle)) == pairs
    assert explained(bundle) == [(causes, len(pairs))]


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        isolated("s1"),
        blackhole("s1", "10.2.0.0/24", 20),
        blackhole("s1", "10.2.0.0/16"),
        blackhole("l1", "10.0.0.0/8"),
        blackhole("l2", "10.2.0.0/24"),
        blackhole("s1", "10.2.0.0/25"),
    ],
    ids=["clean", "one spine isolated", "BGP wins", "a wider route", "a pool", "the port wins", "part of a prefix"],
)
def test_no_loss(change: Callable[[ConfigDbs], None], tmp_path: Path) -> None:
    """Leaves do not use a spine under TSA. A route of BGP has distance 20, and a longer prefix wins."""
    configs = square()
    change(configs)
    bundle = open_configs(configs, tmp_path)
    assert lost(reached(bundle)) == set()
    assert explained(bundle) == []


def test_the_rows_of_a_wrong_asn(tmp_path: Path) -> None:
    """The rows at the spines are wrong in the view of l1; all of them are one group."""
    configs = square()
    other_asn(configs)
    [(causes, pairs)] = explained(open_configs(configs, tmp_path))
    assert pairs == 2
    assert {(switch, row) for switch, row, _ in causes} == {
        ("s1", "BGP_NEIGHBOR|172.16.0.0"), ("s2", "BGP_NEIGHBOR|172.16.0.2"),
    }  # fmt: skip


def test_a_family_without_sessions(tmp_path: Path) -> None:
    """IPv6 subnets of hosts over IPv4 sessions that do not carry IPv6; IPv4 is not lost."""
    configs = square()
    for number, leaf in enumerate(("l1", "l2")):
        configs[leaf]["VLAN_INTERFACE"] |= {"Vlan99": {}, f"Vlan99|fd0{number}::/64": {}}
    bundle = open_configs(configs, tmp_path)
    assert lost(reached(bundle)) == {"l1 to fd01::/64", "l2 to fd00::/64"}
    [(causes, pairs)] = explained(bundle)
    assert pairs == 2
    assert {reason for _, _, reason in causes} == {INACTIVE.replace("IPv4", "IPv6")}


def leaves_only() -> ConfigDbs:
    """The framework's mode; only the leaves announce a prefix, 10.0.0.0/24 and 10.0.1.0/24."""
    configs = two_spines((65000, 65000))
    for name in ("s1", "s2"):
        del configs[name]["BGP_GLOBALS_AF_NETWORK"]
    return configs


@pytest.mark.parametrize(
    ("switch", "direction", "pairs", "reasons"),
    [
        ("l1", "route_map_in", {"l1 to 10.0.1.0/24"}, {"10.0.1.0/24 from s1", "10.0.1.0/24 from s2"}),
        ("l1", "route_map_out", {"l2 to 10.0.0.0/24"}, {"10.0.0.0/24 to s1", "10.0.0.0/24 to s2"}),
    ],
)
def test_route_maps(switch: str, direction: str, pairs: set[str], reasons: set[str], tmp_path: Path) -> None:
    configs = leaves_only()
    config = configs[switch]
    config["ROUTE_MAP"]["NONE|10"] = {"route_operation": "deny"}
    config["BGP_NEIGHBOR_AF"] = {key: {**row, direction: ["NONE"]} for key, row in config["BGP_NEIGHBOR_AF"].items()}
    bundle = open_configs(configs, tmp_path)
    assert lost(reached(bundle)) == pairs
    [(causes, count)] = explained(bundle)
    assert count == 1
    expected = {f"route map NONE denies it: {reason}" for reason in reasons}
    assert {(name, row) for name, row, _ in causes} == {("l1", "ROUTE_MAP|NONE|10")}
    assert {reason for _, _, reason in causes} == expected


def test_a_family_that_is_not_active(tmp_path: Path) -> None:
    configs = leaves_only()
    configs["l1"]["BGP_NEIGHBOR_AF"] = {}
    bundle = open_configs(configs, tmp_path)
    assert lost(reached(bundle)) == {"l1 to 10.0.1.0/24", "l2 to 10.0.0.0/24"}
    found = [cause for causes, _ in explained(bundle) for cause in causes]
    assert ("l1", "BGP_NEIGHBOR|default|Ethernet8", INACTIVE) in found
    assert ("l1", "BGP_NEIGHBOR|default|Ethernet8", INACTIVE.replace(" in:", " out:")) in found


def test_one_switch_with_hosts_does_not_look_for_losses(tmp_path: Path) -> None:
    configs = square()
    del configs["l2"]["VLAN_INTERFACE"]
    bundle = open_configs(configs, tmp_path)
    assert reachability(bundle, read_fabric(bundle, list(bundle.devices))) is None


def test_parts_that_no_link_joins_need_not_reach_each_other(tmp_path: Path) -> None:
    configs = Fabric(
        {name: 65100 + number for number, name in enumerate(("a1", "a2", "b1", "b2"))},
        [("a1", "a2"), ("b1", "b2")],
        {f"10.{number}.0.0/24": name for number, name in enumerate(("a1", "a2", "b1", "b2"))},
    ).configs()
    found = reached(open_configs(configs, tmp_path))
    assert lost(found) == set()
    assert sorted(map(tuple, found.neighbors.tolist())) == [(0, 1), (1, 0), (2, 3), (3, 2)]


@pytest.mark.parametrize("missing", [("s2",), ("s1", "s2")])
def test_loose_files_can_be_connected_over_switches_whose_files_are_missing(
    missing: tuple[str, ...], tmp_path: Path
) -> None:
    configs = square()
    isolated("s1")(configs)
    for name in missing:
        del configs[name]
    assert lost(reached(open_configs(configs, tmp_path))) == set()
