"""Which hosts reach each other after leaves, links and peer links of pairs have failed."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.routing.dual_homing import DualHoming
from fabricgen.routing.fabric import read_fabric
from tests.render.hosts.rendered import files_of
from tests.rules.access import FIRST, PAIRED, SECOND, Row

SPINES = ("in-band-spine-00", "in-band-spine-01")
OTHER = "in-band-su01-leaf-00"
UPLINKS = [(FIRST, "Ethernet504"), (FIRST, "Ethernet508")]
PEER_LINK = [(FIRST, "Ethernet496"), (FIRST, "Ethernet500")]
TO_HOST = (FIRST, "Ethernet0")
Pairs = set[tuple[str, str]]


@cache
def files() -> dict[str, bytes]:
    return files_of(PAIRED)


def plane(folder: Path, *changes: Callable[[Path], None]) -> DualHoming:
    for path, content in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    for change in changes:
        change(folder / "hosts" / "gpu")
    bundle = open_bundle([folder])
    return DualHoming(bundle, read_fabric(bundle, list(bundle.devices)))


def lost(of: DualHoming, switches: tuple[str, ...] = (), ports: tuple[Endpoint, ...] = ()) -> Pairs:
    """(source, target) by the last digit of their names."""
    found = of.lost(switches, ports)
    pairs = {(a, b) for one in found for a in one.source.hosts for b in one.target.hosts if a != b}
    assert sum(one.count for one in found) == len(pairs)
    return {(a[-1], b[-1]) for a, b in pairs}


def test_any_one_leaf_or_spine_may_fail(tmp_path: Path) -> None:
    of = plane(tmp_path)
    assert of.leaves == [FIRST, SECOND, OTHER, "in-band-su01-leaf-01"]
    assert not lost(of)
    assert not any(lost(of, (name,)) for name in (*of.leaves, *SPINES))
    assert not any(map(of.after, of.leaves))
    assert not lost(of, (FIRST, OTHER, SPINES[0]))


def test_hosts_without_a_leaf_are_not_counted(tmp_path: Path) -> None:
    of = plane(tmp_path)
    assert not lost(of, (FIRST, SECOND))
    assert lost(of, SPINES) == {("0", "2"), ("2", "0"), ("1", "2"), ("2", "1")}


def test_the_peer_link_leads_to_a_host_that_has_lost_one_link(tmp_path: Path) -> None:
    of = plane(tmp_path)
    assert (
        not lost(of, (), (TO_HOST,)) and not lost(of, (), (TO_HOST, PEER_LINK[0])) and not lost(of, (), (*PEER_LINK,))
    )
    assert lost(of, (), (TO_HOST, *PEER_LINK)) == {("1", "0"), ("2", "0")}
    assert not lost(of, (FIRST,), (TO_HOST, *PEER_LINK)), "the other leaf is left"
    assert not lost(of, (), (TO_HOST, (SECOND, "Ethernet0"))), "gpu-000 has no port left"


def test_a_leaf_without_uplinks_loses_packets_of_its_hosts(tmp_path: Path) -> None:
    of = plane(tmp_path)
    assert lost(of, (), (*UPLINKS,)) == {("0", "2"), ("1", "2")}


@pytest.mark.parametrize(
    ("row", "pairs", "after"),
    [
        (Row(SECOND, "VLAN_MEMBER", "Vlan110|PortChannel496", None), set(), set()),
        (Row(SECOND, "MCLAG_INTERFACE", "1|PortChannel0", None), {("0", "1"), ("0", "2")}, {("0", "1"), ("0", "2")}),
        (Row(SECOND, "BGP_DEVICE_GLOBAL", "STATE", {"tsa_enabled": "true"}), set(), {("2", "0"), ("2", "1")}),
        (Row(SECOND, "PORTCHANNEL_MEMBER", "PortChannel0|Ethernet0", None), {("0", "1"), ("0", "2")}, None),
    ],
    ids=["VLAN", "MCLAG interface", "isolation", "member"],
)
def test_faults_at_one_leaf(tmp_path: Path, row: Row, pairs: Pairs, after: Pairs | None) -> None:
    of = plane(tmp_path, row)
    assert lost(of) >= pairs and bool(lost(of)) == bool(pairs)
    if not pairs:
        assert of.after(FIRST) == of.lost((FIRST,))
    if after is not None:
        assert lost(of, (FIRST,)) >= after and bool(lost(of, (FIRST,))) == bool(after)


def test_the_peer_link_carries_no_vlan_that_one_end_does_not_have(tmp_path: Path) -> None:
    of = plane(tmp_path, Row(SECOND, "VLAN_MEMBER", "Vlan110|PortChannel496", None))
    assert lost(of, (), (TO_HOST,)) == {("1", "0"), ("2", "0")}


def test_without_mclag_the_leaves_are_two_systems(tmp_path: Path) -> None:
    of = plane(tmp_path, Row(FIRST, "MCLAG_DOMAIN", "1", "10.9.9.9", "peer_ip"))
    assert OTHER in of.leaves and FIRST not in of.leaves
    reasons = {one.reason for one in of.lost() if one.source.hosts == ("gpu-000", "gpu-001")}
    assert reasons == {f"at {FIRST}, {FIRST} and {SECOND} are not the two leaves of an MCLAG domain"}


def test_nothing_to_judge(tmp_path: Path) -> None:
    for path, content in files().items():
        if path.startswith("sonic/"):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(json.dumps(json.loads(content)))
    bundle = open_bundle([tmp_path])
    assert not DualHoming(bundle, read_fabric(bundle, list(bundle.devices))).lost((FIRST,))
