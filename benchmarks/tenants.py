"""CPU time of the proof that tenants are apart: 1,024 switches, 64 tenants, 16,384 addresses of hosts, for each level.

    python -m benchmarks.tenants [acl|scattered|vrf|evpn]...

`acl` has an aligned part of the host pool for each tenant, `scattered` has hosts of all tenants on each leaf without
such parts, so that each subnet is a rule. `vrf` has 1,024 leaves without links, `evpn` 512 leaves and 512 spines. The
tables are written as `fabricgen render` writes them, without those that the proof does not read. Prints CPU seconds.
"""

import gc
import json
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path
from time import process_time
from typing import Any

from fabricgen.bundle.read import open_bundle
from fabricgen.isolation import isolation

SWITCHES, TENANTS, ADDRESSES = 1024, 64, 16384
_POOL = int(ip_address("10.64.0.0"))
_FIRST_UPLINK = 128
Config = dict[str, Any]


def main() -> int:
    """Measure the levels. Returns 1 if one of them is not proved."""
    failed = 0
    for level in sys.argv[1:] or ("acl", "scattered", "vrf", "evpn"):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), level)
            bundle = open_bundle([Path(folder)])
            gc.disable()  # as the command line does
            for device in bundle.devices.values():
                _ = device.config  # the rules have read the files before
            begun = process_time()
            (found,) = isolation(bundle)
            seconds = process_time() - begun
        failed += not found.is_proved or bool(found.cut)
        verdict = f"{found.apart} pairs apart, {found.together} together, proved {found.is_proved}"
        print(f"{level:10} {seconds:6.2f} s   {verdict}", flush=True)
    return int(failed > 0)


def write(folder: Path, level: str) -> None:
    """A fabric of this level as files."""
    leaves = SWITCHES if level == "vrf" else SWITCHES // 2
    each = ADDRESSES // leaves
    hosts: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    configs: dict[str, Config] = {}
    owner: dict[str, int] = {}
    for leaf in range(leaves):
        name, config = f"leaf{leaf}", dict[str, Any]()
        by_tenant: dict[int, list[str]] = {}
        for port in range(each):
            number = leaf * each + port
            # Neighbors in the layout are of one tenant, except where they are scattered.
            tenant = number * 31 % TENANTS if level == "scattered" else number * TENANTS // ADDRESSES
            address = _address(number, tenant, level)
            host = f"h{number}"
            owner[host] = tenant
            nic = {
                "name": "nic",
                "plane": "compute",
                "rail": None,
                "speed_mbps": 400000,
                "node_guid": "",
                "port_guid": "",
            }
            hosts.append(
                {
                    "name": host,
                    "group": "gpu",
                    "model": "x",
                    "nics": [{**nic, "addresses": [f"{ip_address(address + 1)}/31"]}],
                }
            )
            links.append(_link(len(links), "host-leaf", (host, "nic"), (name, f"Ethernet{port}")))
            by_tenant.setdefault(tenant, []).append(f"Ethernet{port}")
            config.setdefault("INTERFACE", {})[f"Ethernet{port}|{ip_address(address)}/31"] = {}
        config["INTERFACE"].update({f"Ethernet{port}": {} for port in range(each)})
        _separate(config, level, leaf, by_tenant)
        configs[name] = config
    if level != "vrf":
        for leaf in range(leaves):
            for up in (leaf, (leaf + 1) % leaves):  # enough to join all of them
                ends = (
                    (f"leaf{leaf}", f"Ethernet{_FIRST_UPLINK + (up != leaf)}"),
                    (f"spine{up}", f"Ethernet{up != leaf:d}"),
                )
                links.append(_link(len(links), "leaf-spine", *ends))
        configs |= {f"spine{number}": {} for number in range(SWITCHES - leaves)}
    if level == "scattered":
        _rules(configs, owner)
    if level == "evpn":
        _sessions(configs, links)
    for name, config in configs.items():
        (folder / "sonic" / name).mkdir(parents=True)
        (folder / "sonic" / name / "config_db.json").write_text(json.dumps(config))
    (folder / "fabric.json").write_text(json.dumps(_wiring(hosts, links, configs, owner)))


def _address(number: int, tenant: int, level: str) -> int:
    """The even address of a host's subnet."""
    size = ADDRESSES // TENANTS
    own = number % size if level != "scattered" else number
    return _POOL + 2 * (own + (tenant * size if level != "scattered" else 0))


def _separate(config: Config, level: str, leaf: int, by_tenant: dict[int, list[str]]) -> None:
    size = ADDRESSES // TENANTS
    for tenant, ports in by_tenant.items():
        if level in ("acl", "scattered"):
            config.setdefault("ACL_TABLE", {})[f"T{tenant}"] = {"type": "L3", "stage": "ingress", "ports": ports}
            rules = config.setdefault("ACL_RULE", {})
            rules[f"T{tenant}|DROP_1"] = {"PRIORITY": "1000", "PACKET_ACTION": "DROP", "DST_IP": "10.64.0.0/16"}
            if level == "acl":
                prefix = f"{ip_address(_POOL + 2 * tenant * size)}/{32 - (2 * size - 1).bit_length()}"
                rules[f"T{tenant}|PERMIT_1"] = {"PRIORITY": "9000", "PACKET_ACTION": "FORWARD", "DST_IP": prefix}
            continue
        vrf, vni = f"Vrf_t{tenant}", str(5000 + tenant)
        config["INTERFACE"].update({port: {"vrf_name": vrf} for port in ports})
        config.setdefault("VRF", {})[vrf] = {"vni": vni} if level == "evpn" else {}
        if level == "evpn":
            vlan, source = f"Vlan{3000 + tenant}", str(ip_address("10.0.0.1") + leaf)
            for table, key, row in (
                ("LOOPBACK_INTERFACE", f"Loopback0|{source}/32", {}),
                ("VXLAN_TUNNEL", "vtep", {"src_ip": source}),
                ("VXLAN_EVPN_NVO", "nvo", {"source_vtep": "vtep"}),
                ("VLAN", vlan, {"vlanid": vlan[4:]}),
                ("VLAN_INTERFACE", vlan, {"vrf_name": vrf}),
                ("VXLAN_TUNNEL_MAP", f"vtep|map_{vni}_{vlan}", {"vlan": vlan, "vni": vni}),
                ("BGP_GLOBALS", vrf, {"local_asn": str(4200000000 + leaf)}),
                ("BGP_GLOBALS_AF", f"{vrf}|l2vpn_evpn", {"advertise-ipv4-unicast": "true"}),
                ("ROUTE_REDISTRIBUTE", f"{vrf}|connected|bgp|ipv4", {}),
            ):
                config.setdefault(table, {})[key] = row


def _rules(configs: dict[str, Config], owner: dict[str, int]) -> None:
    """A rule for each subnet of a tenant, as without a part of the pool."""
    permits: dict[int, dict[str, Any]] = {}
    for host, tenant in owner.items():
        own = permits.setdefault(tenant, {})
        prefix = f"{ip_address(_POOL + 2 * int(host[1:]))}/31"
        own[f"T{tenant}|PERMIT_{len(own)}"] = {"PRIORITY": "9000", "PACKET_ACTION": "FORWARD", "DST_IP": prefix}
    for config in configs.values():
        for name in config.get("ACL_TABLE", {}):
            config["ACL_RULE"].update(permits[int(name[1:])])


def _sessions(configs: dict[str, Config], links: list[dict[str, Any]]) -> None:
    for link in links:
        for switch, port in (link["a"], link["b"]) if link["kind"] == "leaf-spine" else ():
            config, family = configs[switch], f"default|{port}|l2vpn_evpn"
            policy = {"admin_status": "up", "route_map_in": ["PASS"], "route_map_out": ["PASS"]}
            config.setdefault("BGP_NEIGHBOR", {})[f"default|{port}"] = {"peer_type": "external"}
            config.setdefault("BGP_NEIGHBOR_AF", {})[family] = policy


def _link(number: int, kind: str, a: tuple[str, str], b: tuple[str, str]) -> dict[str, Any]:
    name, cable = f"l{number}", f"c{number}"
    return {
        "id": name,
        "plane": "compute",
        "kind": kind,
        "a": a,
        "b": b,
        "speed_mbps": 400000,
        "cable": cable,
        "rail": None,
    }


def _wiring(hosts: list[Any], links: list[Any], configs: dict[str, Config], owner: dict[str, int]) -> dict[str, Any]:
    empty = dict.fromkeys(("rack", "unit", "serial", "node_guid"), "")
    none = dict.fromkeys(("subplane", "pod", "su", "rail"))
    kinds = {
        "platform": "p",
        "layout": "l",
        "hwsku": "h",
        "technology": "roce",
        "state": "active",
        "loopbacks": [],
        "management": [],
    }
    devices = [
        {
            "name": name,
            "identity": f"compute/{name}",
            "plane": "compute",
            "role": name.rstrip("0123456789"),
            **empty,
            **none,
            **kinds,
        }
        for name in configs
    ]
    plane: dict[str, Any] = {
        "name": "compute",
        "technology": "roce",
        "design": "explicit",
        "lossless": [3],
        "roce_dscp": {"3": [26]},
    }
    plane |= {
        "cnp_dscp": 48,
        "roce_mtu": 4096,
        "purpose": "compute",
        "host_prefixes": ["10.64.0.0/16"],
        "isolation": "acl",
    }
    tenants = [
        {
            "name": f"t{number}",
            "nics": [[host, "nic"] for host, own in owner.items() if own == number],
            "shared_with": [],
        }
        for number in range(TENANTS)
    ]
    cables = [{"id": link["cable"], "length_m": 5.0, "medium": "dac", "links": [link["id"]]} for link in links]
    head = {"format_version": "1", "fabric": "tenants", "planes": [plane], "devices": devices}
    return {**head, "hosts": hosts, "links": links, "cables": cables, "tenants": tenants}


if __name__ == "__main__":
    sys.exit(main())
