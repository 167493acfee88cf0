"""Numbers by identity: stable over growth, renaming and order; the lock file; what is exhausted."""

import ipaddress
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from fabricgen.allocation.allocate import Allocation
from fabricgen.allocation.lock import Lock, write_lock
from fabricgen.allocation.read_lock import read_lock
from fabricgen.design.model import Link
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import has_errors
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.render.plans import Plans, make_plans
from tests.examples import examples
from tests.inventories import ADDRESSING, DUAL_STACK, Tree, explicit, rail_optimized, write


def plans_of(folder: Path, tree: Tree, *, keep: bool = False) -> Plans:
    """Plans without an error; `keep` writes the lock file as `render` would."""
    plans = make_plans(write(folder, tree))
    assert [finding for finding in plans.findings if finding.severity == "error"] == []
    if keep:
        write_lock(folder / LOCK_NAME, plans.lock)
    return plans


def errors_of(folder: Path, tree: Tree) -> list[str]:
    return [f"{finding.code} {finding.message}" for finding in make_plans(write(folder, tree)).findings]


def networks(allocation: Allocation) -> list[Any]:
    return [ipaddress.ip_network(str(network)) for blocks in allocation.blocks.values() for network in blocks]


@pytest.mark.parametrize("addressing", [ADDRESSING, DUAL_STACK], ids=["ipv4", "dual"])
def test_nothing_overlaps_and_all_lies_in_its_pool(addressing: Tree, tmp_path: Path) -> None:
    plans = plans_of(tmp_path, rail_optimized(addressing=addressing))
    pools = {name: [ipaddress.ip_network(text) for text in _texts(addressing[name])] for name in ADDRESSING}
    for block in plans.fabric.blocks:
        for network in map(ipaddress.ip_network, map(str, plans.allocation.blocks[block.key])):
            assert any(network.version == pool.version and network.subnet_of(pool) for pool in pools[block.pool])
            assert network.num_addresses >= 2 * block.slots
    given_out = sorted(networks(plans.allocation), key=lambda one: (one.version, one))
    assert all(one.version != other.version or not one.overlaps(other) for one, other in pairwise(given_out))
    loopbacks = [address for addresses in plans.allocation.loopbacks.values() for address in addresses]
    assert len(set(loopbacks)) == len(loopbacks) == len(plans.fabric.switches) * len(_texts(addressing["loopbacks"]))
    assert not {"10.0.0.0", "10.0.255.255", "fd00::"} & set(loopbacks)
    used = [text for link in plans.fabric.links for a, b, _ in plans.allocation.link_addresses(link) for text in (a, b)]
    assert len(used) == len(set(used))


def _texts(pool: str | list[str]) -> list[str]:
    return [pool] if isinstance(pool, str) else pool


def test_links_are_31_and_127_with_the_lower_switch_even(tmp_path: Path) -> None:
    plans = plans_of(tmp_path, rail_optimized(addressing=DUAL_STACK))
    for link in plans.fabric.links:
        (a4, b4, short), (a6, b6, long) = plans.allocation.link_addresses(link)
        assert (short, long) == (31, 127)
        for a, b in ((a4, b4), (a6, b6)):
            low, high = int(ipaddress.ip_address(a)), int(ipaddress.ip_address(b))
            even, odd = (high, low) if link.kind == "host-leaf" else (low, high)
            assert even % 2 == 0 and odd == even + 1


def test_asns_leaf_by_leaf_and_one_for_each_tier_above(tmp_path: Path) -> None:
    """RFC 7938 section 5.2: unique on tier 3, shared by a cluster's tier 2, shared by all of tier 1."""
    core = {"core": {"platform": "arista-7060x6-64pe"}}
    plans = plans_of(tmp_path, rail_optimized(8, 4, 20, **core))
    asns: dict[str, list[int]] = {}
    pods: dict[tuple[object, ...], set[int]] = {}
    for switch in plans.fabric.switches:
        number = plans.control.asns[switch.key]
        asns.setdefault(switch.role, []).append(number)
        if switch.role == "spine":
            pods.setdefault((switch.identity.pod, switch.identity.rail), set()).add(number)
    assert len(set(asns["leaf"])) == len(asns["leaf"]) == 16
    assert len(set(asns["core"])) == 1 and len(pods) == 8
    assert all(len(numbers) == 1 for numbers in pods.values())
    assert len(set.union(*pods.values())) == 8
    numbers = {number for each in asns.values() for number in each}
    assert len(numbers) == 16 + 8 + 1 and min(numbers) >= 4_200_000_000 and max(numbers) <= 4_294_967_294


def test_growth_keeps_every_number(tmp_path: Path) -> None:
    before = plans_of(tmp_path, rail_optimized(8), keep=True)
    after = plans_of(tmp_path, rail_optimized(12))
    assert after.lock_changed
    for section in ("names", "asns", "loopbacks", "management", "blocks"):
        assert getattr(before.lock, section).items() < getattr(after.lock, section).items()
    addresses = {link.key: after.allocation.link_addresses(link) for link in after.fabric.links}
    assert all(addresses[link.key] == before.allocation.link_addresses(link) for link in before.fabric.links)


def test_shrinking_keeps_the_lock_and_returning_gives_the_same(tmp_path: Path) -> None:
    large = plans_of(tmp_path, rail_optimized(12), keep=True)
    small = plans_of(tmp_path, rail_optimized(8), keep=True)
    assert not small.lock_changed
    assert "compute/su2/rail0/leaf0" not in small.allocation.names
    assert plans_of(tmp_path, rail_optimized(12)).allocation == large.allocation


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 24), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_any_history_keeps_what_was_given(tmp_path: Path, history: list[int], shuffle: random.Random) -> None:
    """Whatever the sizes and the order of a fabric's life, and the order of lines in the lock."""
    file = tmp_path / LOCK_NAME
    file.unlink(missing_ok=True)
    known: dict[str, list[str]] = {}
    for hosts in history:
        plans = plans_of(tmp_path, rail_optimized(hosts, planned=6), keep=True)
        assert all(plans.lock.blocks[key] == blocks for key, blocks in known.items())
        known = dict(plans.lock.blocks)
        lock = read_lock(file)
        assert lock is not None
        entries = list(lock.blocks.items())
        shuffle.shuffle(entries)
        lock.blocks = dict(entries)
        write_lock(file, lock)


def test_lock_round_trip_and_text(tmp_path: Path) -> None:
    plans = plans_of(tmp_path, rail_optimized(addressing=DUAL_STACK), keep=True)
    file = tmp_path / LOCK_NAME
    assert read_lock(file) == plans.lock
    assert plans_of(tmp_path, rail_optimized(addressing=DUAL_STACK)).lock_changed is False
    lines = file.read_text().splitlines()
    assert "  compute/su0/rail0/leaf0: compute-su00-r0-leaf" in lines
    assert "  compute/spine0: [10.0.0.1, fd00::1]" in lines
    assert file.stat().st_mode & 0o777 == 0o644
    assert sorted(each.name for each in tmp_path.iterdir()) == [LOCK_NAME, "fabric.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        "version: 2\nfabric: f\n",
        "- 1\n",
        "version: 1\nnames: [a]\n",
        "version: 1\nasns: {a: b}\n",
        "version: 1\nasns: {a: -1}\n",
        "version: 1\nunits: {a: [-1]}\n",
        "version: 1\nloopbacks: {a: 10.0.0.1}\n",
        "version: 1\nloopbacks: {a: [10.0.0.1/32]}\n",
        "version: 1\nmanagement: {a: [10.0.0]}\n",
        "version: 1\nblocks: {a: [10.0.0.1/30]}\n",
        "version: 1\nnames: {a: 'b\n",
        "version: 1\nasns: {a: [1\n",
    ],
)
def test_a_damaged_lock_stops_with_its_place(text: str, tmp_path: Path) -> None:
    file = tmp_path / LOCK_NAME
    file.write_text(text)
    with pytest.raises(UnreadableInputError) as stop:
        read_lock(file)
    assert str(file) in str(stop.value)


def test_a_lock_that_was_edited_is_followed(tmp_path: Path) -> None:
    plans_of(tmp_path, explicit(), keep=True)
    lock = read_lock(tmp_path / LOCK_NAME)
    assert lock
    lock.loopbacks["compute/leaf/leaf1"] = ["10.0.77.7"]
    lock.asns["compute/leaf/leaf1"] = 4200000077
    write_lock(tmp_path / LOCK_NAME, lock)
    plans = plans_of(tmp_path, explicit())
    assert plans.allocation.loopbacks["compute/leaf/leaf1"] == ("10.0.77.7",)
    assert plans.control.asns["compute/leaf/leaf1"] == 4200000077
    assert not plans.lock_changed


def test_one_address_held_twice_names_both_lines(tmp_path: Path) -> None:
    plans_of(tmp_path, explicit(), keep=True)
    lock = read_lock(tmp_path / LOCK_NAME)
    assert lock
    lock.loopbacks["compute/leaf/leaf2"] = lock.loopbacks["compute/leaf/leaf1"]
    write_lock(tmp_path / LOCK_NAME, lock)
    (found,) = make_plans(tmp_path).findings
    lines = (tmp_path / LOCK_NAME).read_text().splitlines()
    places = [found.location, found.related[0].location]
    assert found.code == "FG399" and found.message == (
        "loopbacks: compute/leaf/leaf2 has 10.0.0.1, which compute/leaf/leaf1 also has"
    )
    assert [lines[place.line - 1] for place in places if place] == [
        "  compute/leaf/leaf2: [10.0.0.1]", "  compute/leaf/leaf1: [10.0.0.1]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("section", "value", "problem"),
    [
        ("loopbacks", ["192.0.2.1"], "which is outside the pool 10.0.0.0/16 for loopbacks"),
        ("loopbacks", ["fd00::1"], "which is of IPv6, and the pool has no prefix of it"),
        ("loopbacks", ["10.0.0.0"], "which the pool 10.0.0.0/16 for loopbacks never gives: it is reserved, or"),
        ("management", ["10.255.0.1/20"], "which the pool 10.255.0.0/20 for management never gives: it is reserved"),
        ("asns", 65000, "which is outside the range 4200000000-4294967294"),
        ("blocks", ["192.0.2.0/31"], "which is outside the pool 10.64.0.0/10 for hosts"),
    ],
)
def test_an_edited_line_that_cannot_be_kept_is_refused(
    section: str, value: object, problem: str, tmp_path: Path
) -> None:
    plans_of(tmp_path, explicit(), keep=True)
    lock = read_lock(tmp_path / LOCK_NAME)
    assert lock
    key = "compute/leaf/leaf1" + "/hosts" * (section == "blocks")
    getattr(lock, section)[key] = value
    write_lock(tmp_path / LOCK_NAME, lock)
    (found,) = make_plans(tmp_path).findings
    assert found.code == "FG398" and problem in found.message and "--renumber compute" in found.hint
    assert found.location and found.location.file == str(tmp_path / LOCK_NAME)
    assert (tmp_path / LOCK_NAME).read_text().splitlines()[found.location.line - 1].startswith(f"  {key}: ")


def test_a_larger_pool_keeps_all_and_another_pool_is_refused_until_it_is_renumbered(tmp_path: Path) -> None:
    plans_of(tmp_path, explicit(addressing={**ADDRESSING, "loopbacks": "10.0.0.0/24"}), keep=True)
    assert not plans_of(tmp_path, explicit()).lock_changed
    before = read_lock(tmp_path / LOCK_NAME)
    tree = write(tmp_path, explicit(addressing={**ADDRESSING, "loopbacks": "172.16.0.0/24"}))
    (found,) = make_plans(tree).findings
    assert (found.code, found.count) == ("FG398", 4) and found.hint.endswith("which changes 4 of 4 loopbacks")
    renumbered = make_plans(tree, renumber="compute")
    after = renumbered.lock
    assert before and not has_errors(renumbered.findings)
    assert (after.blocks, after.asns, after.names, after.management) == (
        before.blocks, before.asns, before.names, before.management,
    )  # fmt: skip
    assert all(address.startswith("172.16.0.") for addresses in after.loopbacks.values() for address in addresses)


def test_two_asns_and_two_names_of_the_lock(tmp_path: Path) -> None:
    plans_of(tmp_path, rail_optimized(), keep=True)
    lock = read_lock(tmp_path / LOCK_NAME)
    assert lock
    lock.asns["compute/su0/rail1/leaf0"] = lock.asns["compute/su0/rail0/leaf0"]
    lock.names["compute/su0/rail1/leaf0"] = lock.names["compute/su0/rail0/leaf0"]
    write_lock(tmp_path / LOCK_NAME, lock)
    found = make_plans(tmp_path).findings
    assert [(one.code, one.path.split(".")[0]) for one in found] == [("FG399", "names"), ("FG399", "asns")]


def test_comments_of_people_stay(tmp_path: Path) -> None:
    plans_of(tmp_path, explicit(), keep=True)
    file = tmp_path / LOCK_NAME
    lines = file.read_text().splitlines()
    at = lines.index("  compute/leaf/leaf1: [10.0.0.1]")
    lines[at : at + 1] = ["  # from the old site", "  compute/leaf/leaf1: [10.0.0.1]  # ticket 7"]
    file.write_text("\n".join([*lines, "# the end"]) + "\n")
    lock = read_lock(file)
    assert lock and lock.dump() == file.read_text()


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("asns:\n  a: 1\n  a: 2\n", 5, "'a' occurs twice; the first is in line 4"),
        ("asns:\nasns:\n  a: 1\n", 4, "'asns' occurs twice; the first is in line 3"),
        ("asn:\n  a: 1\n", 3, "unknown section 'asn'"),
        ("asns:\n  a: 1\n  b: x\n", 5, "asns: entry 'b' is 'x', expected a whole number from 0"),
        ("names:\n  a: ../x\n", 4, "names: entry 'a' is '../x', expected a name of letters"),
        ("loopbacks:\n  a: [10.0.0.1, 10.0.0.2]\n", 4, "expected a list of addresses, one of each family"),
        ('loopbacks:\n  a: ["10.0.0.1\\0"]\n', 4, "expected a list of addresses, one of each family"),
        ("asns:\n  1: 2\n", 4, "a key that is not text"),
    ],
)
def test_a_damaged_entry_is_refused_with_its_line(text: str, line: int, problem: str, tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_text(f"version: 1\nfabric: f\n{text}")
    with pytest.raises(UnreadableInputError) as stop:
        read_lock(tmp_path / LOCK_NAME)
    assert problem in stop.value.problem and stop.value.location.line == line


def test_names_that_the_inventory_replaces_are_a_note(tmp_path: Path) -> None:
    plans_of(tmp_path, explicit(), keep=True)
    (file := tmp_path / LOCK_NAME).write_text(file.read_text().replace("leaf1: leaf1", "leaf1: other"))
    (found,) = make_plans(tmp_path).findings
    assert (found.code, found.severity) == ("FG400", "note")
    assert found.message == "names: the inventory gives compute/leaf/leaf1 leaf1 in place of other"


def test_a_second_family_is_added_beside_the_first(tmp_path: Path) -> None:
    before = plans_of(tmp_path, explicit(), keep=True)
    after = plans_of(tmp_path, explicit(addressing=DUAL_STACK))
    for section in ("loopbacks", "blocks"):
        for key, held in getattr(before.lock, section).items():
            assert getattr(after.lock, section)[key][0] == held[0]
            assert len(getattr(after.lock, section)[key]) == 2


def test_reserved_parts_gateways_and_servers_are_never_given(tmp_path: Path) -> None:
    tree = explicit(addressing={**ADDRESSING, "loopbacks": {"prefixes": "10.0.0.0/28", "reserve": ["10.0.0.0/29"]}})
    tree["management"] = {"addresses": "10.255.0.0/29", "gateway": "10.255.0.1", "ntp": ["10.255.0.3", "ntp.example"]}
    plans = plans_of(tmp_path, tree)
    assert sorted(plans.allocation.loopbacks.values()) == [("10.0.0.10",), ("10.0.0.11",), ("10.0.0.8",), ("10.0.0.9",)]
    assert sorted(plans.allocation.management.values()) == [
        ("10.255.0.2/29",), ("10.255.0.4/29",), ("10.255.0.5/29",), ("10.255.0.6/29",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"loopbacks": "10.0.0.0/30"}, "FG381 pool 10.0.0.0/30 for loopbacks is exhausted: 4 addresses are"),
        ({"links": "10.128.0.0/30"}, "FG381 pool 10.128.0.0/30 for links is exhausted: 4 x 2 = 8 addresses"),
        ({"hosts": "10.64.0.0/31"}, "FG381 pool 10.64.0.0/31 for hosts is exhausted: 2 x 2 = 4 addresses"),
        ({"asn": {"first": 65000, "last": 65001}}, "FG385 3 ASNs are needed (one for each leaf and each tier above)"),
        ({"asn": {"first": 5, "last": 4}}, "FG105 the ASN range ends at 4 before it begins at 5"),
        ({"loopbacks": "10.128.0.0/24"}, "FG383 pool 10.128.0.0/10 for links of plane compute overlaps 10.128."),
        ({"loopbacks": "fd00::/64"}, "FG388 the loopbacks have no IPv4 prefix, so switches have no router ID"),
    ],
)  # fmt: skip
def test_what_cannot_be_given_is_explained(change: Tree, expected: str, tmp_path: Path) -> None:
    (message,) = errors_of(tmp_path, explicit(addressing={**ADDRESSING, **change}))
    assert message.startswith(expected)


def test_addresses_of_removed_switches_stay_taken(tmp_path: Path) -> None:
    """A pool that is large enough without the addresses of removed switches: the hint names them."""
    small = {**ADDRESSING, "loopbacks": "10.0.0.0/28"}
    tree = explicit(addressing=small)
    tree["planes"]["compute"]["spines"] += [{"name": f"old{number}"} for number in range(10)]
    plans_of(tmp_path, tree, keep=True)
    tree["planes"]["compute"]["spines"][2:] = [{"name": "new"}]
    plans = make_plans(write(tmp_path, tree))
    (finding,) = plans.findings
    assert finding.code == "FG381" and "addresses of removed switches" in finding.hint


def test_renaming_keeps_every_number(tmp_path: Path) -> None:
    before = plans_of(tmp_path, rail_optimized(), keep=True)
    tree = rail_optimized()
    tree["names"] = {"leaf": "{fabric}-{su:02}-rail{rail}"}
    tree["devices"] = [{"name": "old-friend", "identity": "compute/spine0", "serial": "X1"}]
    after = plans_of(tmp_path, tree, keep=True)
    assert after.allocation.names["compute/su1/rail7/leaf0"] == "small-01-rail7"
    assert after.allocation.names["compute/spine0"] == "old-friend"
    assert after.allocation.notes["compute/spine0"].serial == "X1"
    for section in ("asns", "loopbacks", "management", "blocks"):
        assert getattr(after.lock, section) == getattr(before.lock, section)


def test_a_name_in_the_lock_outlives_the_default_pattern(tmp_path: Path) -> None:
    lock = Lock("small", names={"compute/spine0": "the-spine"})
    tree = write(tmp_path, rail_optimized())
    write_lock(tmp_path / LOCK_NAME, lock)
    assert make_plans(tree).allocation.names["compute/spine0"] == "the-spine"


def test_management_addresses_by_hand(tmp_path: Path) -> None:
    tree = explicit()
    tree["devices"] = [
        {"name": "leaf1", "management": "10.255.0.2/20"},
        {"name": "leaf2", "management": "10.255.0.2/20"},
        {"name": "spine1", "management": "10.255.0"},
    ]
    assert errors_of(tmp_path, tree) == [
        "FG386 10.255.0.2/20 is given to two switches",
        "FG105 '10.255.0' is not an address with prefix length",
    ]
    tree["devices"] = [{"name": "leaf2", "management": "10.255.0.2/20"}]
    given_out = plans_of(tmp_path, tree).allocation.management
    assert given_out["compute/leaf/leaf2"] == ("10.255.0.2/20",)
    assert len(set(given_out.values())) == 4


def test_racks_of_hosts(tmp_path: Path) -> None:
    tree = rail_optimized()
    tree["devices"] = [{"name": "gpu-003", "rack": "B01", "unit": "12", "serial": "X9"}]
    plans = plans_of(tmp_path, tree)
    assert {key: (note.rack, note.unit, note.serial) for key, note in plans.allocation.host_notes.items()} == {
        "gpu/3": ("B01", "12", "X9")
    }
    assert not plans.allocation.notes
    tree["devices"] = [
        {"name": "gpu-003", "mac": "00:00:5e:00:53:01", "state": "drained"}, {"name": "gpu-033", "rack": "B01"}
    ]  # fmt: skip
    assert errors_of(tmp_path, tree) == [
        "FG105 gpu-003 is a host, and mac is a key of switches",
        "FG105 gpu-003 is a host, and state is a key of switches",
        "FG107 the device 'gpu-033' does not exist",
    ]


def test_sessions_of_both_families(tmp_path: Path) -> None:
    plans = plans_of(tmp_path, explicit(addressing=DUAL_STACK))
    for switch in plans.fabric.switches:
        for end in plans.control.ends[switch.key].values():
            assert [ipaddress.ip_address(address.local).version for address in end.addresses] == [4, 6]
            far = end.peer_switch
            assert all(address.peer_asn == (plans.control.asns[far.key] if far else None) for address in end.addresses)
            if far:
                assert _far_end(end.link, switch.key, plans).addresses[0].local == end.addresses[0].peer
    assert {key: len(found) for key, found in plans.control.host_aggregates.items()} == {
        "compute/leaf/leaf1": 2, "compute/leaf/leaf2": 2,
    }  # fmt: skip


def _far_end(link: Link, near: str, plans: Plans) -> Any:
    far, port = (link.b, link.b_port) if link.a.key == near else (link.a, link.a_port)
    return plans.control.ends[far.key][port]


@pytest.mark.parametrize("name", ["10", "on", "1e3", "null", "0x1F", "2025-01-01", "1_0", "leaf1", "12.5"])
def test_names_that_yaml_would_read_as_something_else(name: str, tmp_path: Path) -> None:
    lock = Lock(
        name,
        names={"p/leaf/a": name},
        asns={"p/leaf/a": 7},
        loopbacks={"p/leaf/a": ["1:2:3:4:5:6:7:8"], "p/leaf/b": ["::1"], "p/leaf/c": ["1::"]},
    )
    write_lock(tmp_path / LOCK_NAME, lock)
    assert read_lock(tmp_path / LOCK_NAME) == lock


@pytest.mark.parametrize(
    ("gateway", "expected"),
    [
        (["10.255.0.1", "fd10::1"], []),
        ("10.255.0.1", ["FG106 the IPv6 addresses have no gateway"]),
        (["10.255.0.1", "10.255.0.2"], ["FG105 gateway 10.255.0.2 is not an address of 10.255.0.0/20 or fd10::/64"]),
        (["192.0.2.1", "fd10::1"], ["FG105 gateway 192.0.2.1 is not an address of 10.255.0.0/20 or fd10::/64"]),
        ("here", ["FG105 'here' is not an address"]),
    ],
)
def test_a_gateway_for_each_family_of_the_management_addresses(
    gateway: object, expected: list[str], tmp_path: Path
) -> None:
    tree = explicit()
    tree["management"] = {"addresses": ["10.255.0.0/20", "fd10::/64"], "gateway": gateway}
    assert [message for message in errors_of(tmp_path, tree) if "FG387" not in message] == expected
    if not expected:
        management = plans_of(tmp_path, tree).allocation.management
        assert management["compute/leaf/leaf1"] == ("10.255.0.2/20", "fd10::2/64")


def test_a_block_that_became_too_small_is_replaced(tmp_path: Path) -> None:
    tree = explicit()
    plans_of(tmp_path, tree, keep=True)
    before = read_lock(tmp_path / LOCK_NAME)
    tree["planes"]["compute"]["links"].append(["gpu/0:rail2", "leaf1:Ethernet16"])
    after = plans_of(tmp_path, tree)
    assert before
    assert before.blocks["compute/leaf/leaf1/hosts"] == ["10.64.0.0/31"]
    assert after.lock.blocks["compute/leaf/leaf1/hosts"] == ["10.64.0.4/30"]
    assert after.lock.blocks["compute/leaf/leaf2/hosts"] == before.blocks["compute/leaf/leaf2/hosts"]
