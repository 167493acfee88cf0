"""Addresses are unique in a VRF, and in one network of loose files; gateways may be shared on purpose."""

from pathlib import Path

import pytest

from fabricgen.rules.run import run
from tests.rules.case import ERROR, Case, GoodCase
from tests.rules.changes import ConfigChange, both, put

DUPLICATE, SUBNET, TAKEN = "FG313", "FG317", "FG321"


def in_vrf(device: str, port: str, vrf: str, prefix: str) -> ConfigChange:
    """A port of a tenant."""
    return both(
        put({}, device, "VRF", vrf),
        put({"vrf_name": vrf}, device, "INTERFACE", port),
        put({}, device, "INTERFACE", f"{port}|{prefix}"),
    )


def vlan(device: str, address: str, **gateway: str) -> ConfigChange:
    """A VLAN with a gateway."""
    return both(
        put({"vlanid": "100"}, device, "VLAN", "Vlan100"),
        put(gateway, device, "VLAN_INTERFACE", "Vlan100"),
        put({}, device, "VLAN_INTERFACE", f"Vlan100|{address}"),
    )


def mclag(device: str, peer: str) -> ConfigChange:
    """A member of a pair."""
    return put({"source_ip": "10.9.0.1", "peer_ip": peer}, device, "MCLAG_DOMAIN", "1")


TWO_TENANTS = both(
    in_vrf("leaf1", "Ethernet480", "Vrf_a", "10.9.0.0/31"), in_vrf("leaf1", "Ethernet488", "Vrf_b", "10.9.0.0/31")
)
NEIGHBOR_OF_A_TENANT = both(
    in_vrf("leaf1", "Ethernet480", "Vrf_a", "10.9.0.0/31"),
    in_vrf("leaf1", "Ethernet488", "Vrf_b", "10.9.0.1/31"),
    put({"asn": "65009", "name": "tenant", "local_addr": "10.9.0.0"}, "leaf1", "BGP_NEIGHBOR", "Vrf_a|10.9.0.1"),
)
ANYCAST = {"static_anycast_gateway": "true"}
GOOD = [
    GoodCase(DUPLICATE, TWO_TENANTS),
    GoodCase(SUBNET, TWO_TENANTS),
    GoodCase(TAKEN, NEIGHBOR_OF_A_TENANT),
    GoodCase(DUPLICATE, both(vlan("leaf1", "10.9.0.1/24", **ANYCAST), vlan("leaf2", "10.9.0.1/24", **ANYCAST))),
    GoodCase(
        DUPLICATE,
        both(
            vlan("leaf1", "10.9.0.1/24"), vlan("leaf2", "10.9.0.1/24"),
            mclag("leaf1", "10.9.9.2"), mclag("leaf2", "10.9.9.1"),
        ),
    ),
    GoodCase(DUPLICATE, put({}, "leaf1", "INTERFACE", "Loopback0|10.0.0.1/32")),
]  # fmt: skip


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.code)
def test_accepts(case: GoodCase, tmp_path: Path) -> None:
    """The rule has nothing to say."""
    assert run(case.clean.broken(case.change, tmp_path), [case.code]) == []


def _bad(code: str, change: ConfigChange, path: str, message: str, hint: str) -> Case:
    return Case(code, change, path, ERROR, message, hint, lenient=True)


SAME_VRF = both(
    in_vrf("leaf1", "Ethernet480", "Vrf_a", "10.9.0.0/31"), in_vrf("leaf2", "Ethernet480", "Vrf_a", "10.9.0.0/31")
)
BAD = [
    _bad(DUPLICATE, SAME_VRF, "leaf1:INTERFACE|Ethernet480|10.9.0.0/31", "10.9.0.0 is also an address of leaf2",
         "use a different address on each interface"),
    _bad(DUPLICATE, both(vlan("leaf1", "10.9.0.1/24", **ANYCAST), vlan("leaf2", "10.9.0.1/24")),
         "leaf1:VLAN_INTERFACE|Vlan100|10.9.0.1/24", "10.9.0.1 is also an address of leaf2",
         "use a different address on each interface"),
    _bad(DUPLICATE,
         both(vlan("leaf1", "10.9.0.1/24"), vlan("leaf2", "10.9.0.1/24"), mclag("leaf1", "10.9.9.2"),
              mclag("leaf2", "10.9.9.1"), put({"unique_ip": "enable"}, "leaf1", "MCLAG_UNIQUE_IP", "Vlan100")),
         "leaf1:VLAN_INTERFACE|Vlan100|10.9.0.1/24", "10.9.0.1 is also an address of leaf2",
         "use a different address on each interface"),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=str)
def test_finds(case: Case, tmp_path: Path) -> None:
    """At the place, with the message."""
    found = case.found(case.findings(tmp_path, (case.code,)))
    assert (found.severity, found.message, found.hint) == (case.severity, case.message, case.hint)
