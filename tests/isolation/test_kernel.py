"""The verdict against packets in a kernel: leaf and spine with FRR, EVPN, VXLAN, VRFs and ACLs, built from our files.

Each scenario is a fabric of two tenants, a service and a host without a tenant, or one fault in it. For every ordered
pair of hosts a packet arrives if and only if the verdict says so. All scenarios run one after the other in one kernel.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricgen.api import render
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.isolation import isolation
from fabricgen.isolation.verdict import passing_pairs
from fabricgen.sonic.frr_lines import frr_conf
from tests.inventories import write
from tests.isolation.machine import require_machine, run
from tests.routing.frr.sonic_frr import frr_configuration

HOSTS = 6
TENANTS: dict[str, Any] = {
    "blue": {"hosts": ["gpu/0", "gpu/3"], "vni": 5001},
    "red": {"hosts": ["gpu/1", "gpu/4"], "vni": 5002},
    "store": {"hosts": ["gpu/5"], "vni": 5003, "shared_with": ["blue"]},
}
MOVED: dict[str, Any] = {
    **TENANTS,
    "blue": {"hosts": ["gpu/0"], "vni": 5001},
    "red": {"hosts": ["gpu/1", "gpu/3", "gpu/4"], "vni": 5002},
}
Configs = dict[str, dict[str, Any]]


def inventory(level: str, tenants: dict[str, Any]) -> dict[str, Any]:
    """Three hosts below each of two leaves, with a spine; with VRFs that end at a leaf, six below one leaf."""
    leaves = ["l1"] if level == "vrf" else ["l1", "l2"]
    spines = [] if level == "vrf" else ["s1"]
    each = HOSTS // len(leaves)
    links = [[f"gpu/{host}:rail0", f"{leaves[host // each]}:Ethernet{4 * (host % each)}"] for host in range(HOSTS)]
    links += [
        [f"{leaf}:Ethernet{32 + 4 * high}", f"{spine}:Ethernet{4 * low}"]
        for low, leaf in enumerate(leaves)
        for high, spine in enumerate(spines)
    ]
    tier = {"platform": "arista-7060x6-64pe"}
    own = {
        name: {key: tenant[key] for key in tenant if level == "evpn" or key != "vni"}
        for name, tenant in tenants.items()
    }
    return {
        "fabricgen": 1,
        "fabric": "lab",
        "hosts": {"gpu": {"model": "hgx-h100", "count": HOSTS}},
        "tenants": own,
        "planes": {
            "compute": {
                "design": "explicit",
                "isolation": level,
                "bgp": "unnumbered" if level == "evpn" else "numbered",
                "hosts": ["gpu"],
                "leaf": tier,
                **({"spine": tier, "spines": [{"name": name} for name in spines]} if spines else {}),
                "speed": "400G",
                "leaves": [{"name": name, "rail": 0} for name in leaves],
                "links": links,
                "addressing": {"loopbacks": "10.0.0.0/24", "links": "10.0.1.0/24", "hosts": "10.0.2.0/24"},
            }
        },
        "management": {"addresses": "10.255.0.0/20", "gateway": "10.255.0.1"},
    }


def put(switch: str, table: str, key: str, **row: Any) -> Callable[[Configs], None]:
    """Change fields of a row."""

    def change(configs: Configs) -> None:
        configs[switch].setdefault(table, {}).setdefault(key, {}).update(row)

    return change


def drop(switch: str, table: str, key: str) -> Callable[[Configs], None]:
    """Remove a row."""
    return lambda configs: configs[switch][table].pop(key)


def unbind(configs: Configs) -> None:
    """A port of tenant red without its ACL."""
    configs["l2"]["ACL_TABLE"]["TENANT_RED"]["ports"].remove("Ethernet4")


def swap(configs: Configs) -> None:
    """The VNIs of two tenants are swapped on a leaf."""
    for table in ("VRF", "VXLAN_TUNNEL_MAP"):
        rows = configs["l1"][table]
        for row in rows.values():
            row.update(vni={"5001": "5002", "5002": "5001"}.get(row.get("vni"), row.get("vni")))


def without_evpn(configs: Configs) -> None:
    """The spine does not carry EVPN routes."""
    del configs["s1"]["BGP_PEER_GROUP_AF"]["default|FABRIC|l2vpn_evpn"]
    for key in [key for key in configs["s1"]["BGP_NEIGHBOR_AF"] if key.endswith("evpn")]:
        del configs["s1"]["BGP_NEIGHBOR_AF"][key]


def vtep_of_l1(configs: Configs) -> None:
    """The VTEP of l2 has the address of that of l1."""
    configs["l2"]["VXLAN_TUNNEL"]["vtep"]["src_ip"] = configs["l1"]["VXLAN_TUNNEL"]["vtep"]["src_ip"]


def leak(port: str, source: str, target: str, switch: str, length: int = 32) -> Callable[[Configs], None]:
    """A static route of a VRF to the host at a port of another one, or to its subnet."""

    def change(configs: Configs) -> None:
        key = next(key for key in configs[switch]["INTERFACE"] if key.startswith(f"{port}|"))
        first, _, last = key.partition("|")[2].partition("/")[0].rpartition(".")
        number = int(last) + (length == 32)
        row = {"nexthop": f"{first}.{int(last) + 1}", "ifname": port, "nexthop-vrf": target}
        configs[switch].setdefault("STATIC_ROUTE", {})[f"{source}|{first}.{number}/{length}"] = row
        if f"{source}|connected|bgp|ipv4" in configs[switch].get("ROUTE_REDISTRIBUTE", {}):
            configs[switch]["ROUTE_REDISTRIBUTE"][f"{source}|static|bgp|ipv4"] = {}

    return change


def several(*changes: Callable[[Configs], Any]) -> Callable[[Configs], None]:
    """One change after the other."""

    def change(configs: Configs) -> None:
        for one in changes:
            one(configs)

    return change


def rebind(configs: Configs) -> None:
    """A port of tenant red has the table of blue."""
    tables = configs["l1"]["ACL_TABLE"]
    tables["TENANT_RED"]["ports"].remove("Ethernet4")
    tables["TENANT_BLUE"]["ports"].append("Ethernet4")


def without_service(*tenants: str) -> Callable[[Configs], None]:
    """The VRFs of these tenants have no route to others."""

    def change(configs: Configs) -> None:
        routes = configs["l1"]["STATIC_ROUTE"]
        for key in [key for key in routes if key.partition("|")[0] in {f"Vrf_{tenant}" for tenant in tenants}]:
            del routes[key]

    return change


def other_vni(configs: Configs) -> None:
    """A leaf has a VNI for blue that no other switch has."""
    configs["l1"]["VRF"]["Vrf_blue"]["vni"] = "5009"
    configs["l1"]["VXLAN_TUNNEL_MAP"]["vtep|map_5001_Vlan3001"]["vni"] = "5009"


def silent_leaf(configs: Configs) -> None:
    """A leaf has no session with EVPN."""
    del configs["l2"]["BGP_PEER_GROUP_AF"]["default|FABRIC|l2vpn_evpn"]
    for key in [key for key in configs["l2"]["BGP_NEIGHBOR_AF"] if key.endswith("evpn")]:
        del configs["l2"]["BGP_NEIGHBOR_AF"][key]


def two_routes(configs: Configs) -> None:
    """Routes to a host, and to the subnet of another host, which FRR does not install."""
    leak("Ethernet0", "Vrf_red", "Vrf_blue", "l1")(configs)
    leak("Ethernet12", "Vrf_red", "Vrf_blue", "l1", 31)(configs)


def targets(**rows: list[str] | str) -> Callable[[Configs], None]:
    """Route targets of tenant blue on l1."""
    fields = {name.replace("_", "-"): row for name, row in rows.items()}
    return put("l1", "BGP_GLOBALS_AF", "Vrf_blue|l2vpn_evpn", **fields)


LEVELS = ("acl", "vrf", "evpn")
FAULTS: dict[str, tuple[str, Callable[[Configs], Any]]] = {
    "acl: missing rule": ("acl", drop("l1", "ACL_RULE", "TENANT_BLUE|DROP_1")),
    "acl: leak to all": ("acl", put("l1", "ACL_RULE", "TENANT_RED|ALL", PRIORITY="9999", PACKET_ACTION="FORWARD")),
    "acl: leak of one protocol": (
        "acl",
        put("l1", "ACL_RULE", "TENANT_RED|UDP", PRIORITY="9999", PACKET_ACTION="FORWARD", IP_PROTOCOL="17",
            L4_DST_PORT="9999"),
    ),
    "acl: port without its table": ("acl", unbind),
    "acl: port with the table of another tenant": ("acl", rebind),
    "acl: DROP before PERMIT": ("acl", put("l1", "ACL_RULE", "TENANT_BLUE|DROP_1", PRIORITY="9900")),
    "acl: PERMIT of the whole pool": ("acl", put("l2", "ACL_RULE", "TENANT_RED|PERMIT_1", DST_IP="10.0.2.0/24")),
    "acl: PERMIT is missing": ("acl", drop("l1", "ACL_RULE", "TENANT_BLUE|PERMIT_2")),
    "acl: DROP forwards": ("acl", put("l2", "ACL_RULE", "TENANT_BLUE|DROP_1", PACKET_ACTION="FORWARD")),
    "acl: DROP of a part of the pool": ("acl", put("l1", "ACL_RULE", "TENANT_RED|DROP_1", DST_IP="10.0.2.8/29")),
    "vrf: swapped VRFs of two ports": (
        "vrf",
        several(put("l1", "INTERFACE", "Ethernet0", vrf_name="Vrf_red"),
                put("l1", "INTERFACE", "Ethernet4", vrf_name="Vrf_blue")),
    ),
    "vrf: all ports of blue in the VRF of red": (
        "vrf",
        several(*(put("l1", "INTERFACE", port, vrf_name="Vrf_red") for port in ("Ethernet0", "Ethernet12"))),
    ),
    "vrf: host without a tenant in a VRF": (
        "vrf",
        several(put("l1", "INTERFACE", "Ethernet8", vrf_name="Vrf_red"), drop("l1", "ACL_TABLE", "NO_TENANT")),
    ),
    "vrf: routes of a tenant to its service are missing": ("vrf", without_service("blue")),
    "vrf: all routes between VRFs are missing": ("vrf", without_service("blue", "store")),
    "vrf: route of another tenant to the service": ("vrf", leak("Ethernet20", "Vrf_red", "Vrf_store", "l1")),
    "vrf: routes between two tenants, both ways": (
        "vrf",
        several(leak("Ethernet0", "Vrf_red", "Vrf_blue", "l1"), leak("Ethernet4", "Vrf_blue", "Vrf_red", "l1")),
    ),
    "evpn: VNI of one leaf only": ("evpn", other_vni),
    "evpn: leaf without EVPN": ("evpn", silent_leaf),
    "evpn: VXLAN_EVPN_NVO is missing": ("evpn", lambda configs: configs["l2"].pop("VXLAN_EVPN_NVO")),
    "evpn: host without a tenant in a VRF": (
        "evpn",
        several(put("l1", "INTERFACE", "Ethernet8", vrf_name="Vrf_red"), drop("l1", "ACL_TABLE", "NO_TENANT")),
    ),
    "evpn: hosts are not announced": ("evpn", drop("l1", "ROUTE_REDISTRIBUTE", "Vrf_blue|connected|bgp|ipv4")),
    "vrf: wrong VRF on one port": ("vrf", put("l1", "INTERFACE", "Ethernet0", vrf_name="Vrf_red")),
    "vrf: route to another VRF": ("vrf", two_routes),
    "vrf: port without VRF": ("vrf", lambda configs: configs["l1"]["INTERFACE"]["Ethernet4"].pop("vrf_name")),
    "evpn: swapped VNIs": ("evpn", swap),
    "evpn: wrong VRF on one port": ("evpn", put("l2", "INTERFACE", "Ethernet0", vrf_name="Vrf_red")),
    "evpn: VTEP used twice": ("evpn", vtep_of_l1),
    "evpn: VNI without map": ("evpn", drop("l1", "VXLAN_TUNNEL_MAP", "vtep|map_5001_Vlan3001")),
    "evpn: route to another VRF": ("evpn", leak("Ethernet0", "Vrf_red", "Vrf_blue", "l2")),
    "evpn: spine without EVPN": ("evpn", without_evpn),
    # l2 imports the number of its VNI in route targets of all types.
    "evpn: route target with an address": ("evpn", targets(export_rts=["10.9.9.9:5001"], import_rts=["65000:5009"])),
    "evpn: route targets of RFC 8365 on one leaf": ("evpn", targets(autort="rfc8365-compatible")),
}  # fmt: skip


def edited(bundle: Path, change: Callable[[Configs], Any]) -> Bundle:
    """The bundle after a change of its tables. frr.conf of VTEPs follows them."""
    files = {file.parent.name: file for file in sorted((bundle / "sonic").glob("*/config_db.json"))}
    configs = {name: json.loads(file.read_text()) for name, file in files.items()}
    change(configs)
    for name, file in files.items():
        file.write_text(json.dumps(configs[name]))
    return open_bundle([bundle])


def scenario(bundle: Bundle) -> dict[str, Any]:
    """What a kernel needs of a bundle, and the pairs that should pass."""
    wiring = bundle.wiring
    assert wiring is not None
    links = [(*link.a, *link.b) for link in bundle.switch_links]
    ends = {link.a[0]: link.b for link in bundle.host_links}
    hosts = []
    for host in wiring.hosts:
        switch, port = ends[host.name]
        (address,) = host.nics[0].addresses
        first, _, last = address.partition("/")[0].rpartition(".")
        hosts.append(
            {
                "name": host.name,
                "address": address,
                "gateway": f"{first}.{int(last) - 1}",
                "switch": switch,
                "port": port,
            }
        )
    switches = {}
    for name, device in bundle.devices.items():
        config: Any = copy.deepcopy(dict(device.config))
        numbered = "BGP_NEIGHBOR" in config and "BGP_GLOBALS" not in config
        frr = "\n".join(frr_configuration(config)[::-1]) if numbered else frr_conf(config)
        switches[name] = {"config": config, "frr": frr}
    passing = {(one.host, other.host) for one, other in passing_pairs(bundle, "compute")}
    return {"switches": switches, "links": links, "hosts": hosts, "passing": sorted(passing)}


STATES = {"as rendered": TENANTS, "after a move": MOVED}
NAMES = [*(f"{level}: {state}" for level in LEVELS for state in STATES), *FAULTS]


@pytest.fixture(scope="module")
def scenarios(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The scenarios of the tests that this run has, and the rendered levels, with their results."""
    require_machine()
    folder = tmp_path_factory.mktemp("kernel")
    items: list[Any] = request.session.items
    chosen = {one.callspec.params["name"] for one in items if one.path == request.path and hasattr(one, "callspec")}
    found: dict[str, Any] = {}
    for level in LEVELS:
        for state, tenants in STATES.items():
            own = folder / f"{level}-{state[0]}"
            render(write(folder / level, inventory(level, tenants)), own)  # the lock of before the move
            if f"{level}: {state}" in chosen or tenants is TENANTS:
                found[f"{level}: {state}"] = scenario(open_bundle([own]))
    for name, (level, change) in FAULTS.items():
        if name in chosen:
            own = folder / name.replace(":", "").replace(" ", "-")
            render(write(folder / own.name / "inventory", inventory(level, TENANTS)), own / "bundle")
            found[name] = scenario(edited(own / "bundle", change))
    for name, one in found.items():
        own = (
            {tuple(pair) for pair in found["acl: as rendered"]["passing"]}
            if name == "acl: leak of one protocol"
            else ()
        )
        one["expected"] = [
            [a, b, port] for a, b in one["passing"] for port in (4791, 9999) if port != 4791 or not own or (a, b) in own
        ]
    order = sorted(chosen, key=lambda name: (name.partition(":")[0], "as rendered" not in name))
    for name in order:
        found[name]["only_acls"] = name.startswith("acl") and "as rendered" not in name
    results = run({name: found[name] for name in order})
    return {name: {**one, "results": results.get(name)} for name, one in found.items()}


@pytest.mark.parametrize("name", NAMES)
def test_packets_pass_as_the_verdict_says(scenarios: dict[str, Any], name: str) -> None:
    """Each fault makes a leak, or cuts hosts off."""
    one = scenarios[name]
    assert {(source, target) for source, target, _ in one["results"]["pairs"]} == set(one["passing"])
    if name in FAULTS:
        assert one["passing"] != scenarios[f"{FAULTS[name][0]}: as rendered"]["passing"]


def test_rendered_tenants_are_apart(tmp_path: Path) -> None:
    """The three levels have the same matrix, within what their fabric connects."""
    for level in LEVELS:
        folder = tmp_path / level
        render(write(folder / "inventory", inventory(level, TENANTS)), folder / "bundle")
        (result,) = isolation(open_bundle([folder / "bundle"]))
        assert result.is_proved
        assert (result.leaks, result.cut, result.together) == (0, 0, 2 + 2 + 4)
