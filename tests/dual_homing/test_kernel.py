"""The verdict on pairs of leaves against packets in a kernel: FRR, LACP bonds and VLANs, built from our files.

Each state is a failure of leaves, spines or links. Two hosts are connected in the kernel if and only if the verdict
says so. All states run one after the other in one kernel.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fabricgen.bundle.read import open_bundle
from fabricgen.routing.dual_homing import DualHoming
from fabricgen.routing.fabric import read_fabric
from tests.isolation.machine import require_machine, run
from tests.render.hosts.rendered import files_of
from tests.routing.frr.lab import links_of
from tests.routing.frr.sonic_frr import frr_configuration
from tests.rules.access import FIRST, PAIRED, SECOND, Row

OTHER, SPINE = "in-band-su01-leaf-00", "in-band-spine-00"
TO_HOST, PEER = (FIRST, "Ethernet0"), [(FIRST, "Ethernet496"), (FIRST, "Ethernet500")]
UPLINKS = [(FIRST, "Ethernet504"), (FIRST, "Ethernet508")]


class State(NamedTuple):
    """What fails."""

    name: str
    switches: Sequence[str] = ()
    ports: Sequence[tuple[str, str]] = ()


SCENARIOS: dict[str, tuple[Sequence[Callable[[Path], None]], Sequence[State]]] = {
    "as rendered": (
        (),
        [
            State("all in service"),
            State("the active leaf", [FIRST]),
            State("all again"),
            State("the standby leaf", [SECOND]),
            State("a leaf of each pair and a spine", [SECOND, OTHER, SPINE]),
            State("the link to a host", (), [TO_HOST]),
            State("the link to a host and one peer link", (), [TO_HOST, PEER[0]]),
            State("the link to a host and the peer link", (), [TO_HOST, *PEER]),
            State("all uplinks of a leaf", (), UPLINKS),
        ],
    ),
    "a leaf that announces nothing": (
        [Row(SECOND, "BGP_DEVICE_GLOBAL", "STATE", {"tsa_enabled": "true"})],
        [State("all in service"), State("the other leaf", [FIRST])],
    ),
    "a peer link without the VLAN": (
        [Row(SECOND, "VLAN_MEMBER", "Vlan110|PortChannel496", None)],
        [State("all in service"), State("the link to a host", (), [TO_HOST])],
    ),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """The scenarios and what the kernel reports of each."""
    require_machine("bond")
    scenarios = {}
    for name, (changes, states) in SCENARIOS.items():
        folder = tmp_path_factory.mktemp("pairs") / "bundle"
        for path, content in files_of(PAIRED).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        for change in changes:
            change(folder / "hosts" / "gpu")
        scenarios[name] = _scenario(folder, states)
    return scenarios, run(scenarios, Path(__file__).with_name("pairs_inside.py"))


def _scenario(folder: Path, states: Sequence[State]) -> dict[str, Any]:
    bundle = open_bundle([folder])
    assert bundle.wiring
    configs = {file.parent.name: json.loads(file.read_text()) for file in sorted(folder.glob("sonic/*/*.json"))}
    plane = DualHoming(bundle, read_fabric(bundle, list(bundle.devices)))
    at = {link.a: link.b for link in bundle.host_links}
    hosts = []
    for number, host in enumerate(bundle.wiring.hosts):
        address = next(text for nic in host.nics for text in nic.addresses)
        gateway = next(
            key.partition("|")[2].partition("/")[0]
            for key in configs[at[host.name, host.nics[0].name][0]]["VLAN_INTERFACE"]
            if "|" in key
        )
        ports = [[nic.name, *at[host.name, nic.name]] for nic in host.nics]
        mac = f"02:00:00:00:01:{number:02x}"
        hosts.append({"name": host.name, "ports": ports, "address": address, "gateway": gateway, "mac": mac})
    return {
        "switches": {
            name: {"config": config, "frr": "\n".join(frr_configuration(config)[::-1])}
            for name, config in configs.items()
        },
        "links": [list(link) for link in links_of(configs)],
        "hosts": hosts,
        "states": [_expected(plane, hosts, state) for state in states],
    }


def _expected(plane: DualHoming, hosts: list[dict[str, Any]], state: State) -> dict[str, Any]:
    lost = {
        (source, target)
        for one in plane.lost(state.switches, state.ports)
        for source in one.source.hosts
        for target in one.target.hosts
    }
    failed = set(map(tuple, state.ports))
    names = [
        host["name"]
        for host in hosts
        if any(switch not in state.switches and (switch, port) not in failed for _, switch, port in host["ports"])
    ]
    pairs = [[a, b] for a in names for b in names if a != b and (a, b) not in lost]
    return {**state._asdict(), "hosts": names, "expected": sorted(pairs)}


@pytest.mark.parametrize(
    ("scenario", "state"),
    [(name, state.name) for name, (_, states) in SCENARIOS.items() for state in states],
)
def test_hosts_are_connected_as_the_verdict_says(
    results: tuple[dict[str, Any], dict[str, Any]], scenario: str, state: str
) -> None:
    scenarios, found = results
    expected = next(one["expected"] for one in scenarios[scenario]["states"] if one["name"] == state)
    assert found[scenario][state] == expected, found[""]


def test_the_states_differ(results: tuple[dict[str, Any], dict[str, Any]]) -> None:
    scenarios, _ = results
    lost = {
        (name, state["name"]): len(state["hosts"]) * (len(state["hosts"]) - 1) - len(state["expected"])
        for name, scenario in scenarios.items()
        for state in scenario["states"]
    }
    assert {key for key, count in lost.items() if count} == {
        ("as rendered", "the link to a host and the peer link"),
        ("as rendered", "all uplinks of a leaf"),
        ("a leaf that announces nothing", "the other leaf"),
        ("a peer link without the VLAN", "the link to a host"),
    }
