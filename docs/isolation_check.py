"""Verify that the tenants of a bundle are apart, by a certificate of `fabricgen validate --certificate`.

    python isolation_check.py CERTIFICATE BUNDLE

It needs the standard library only, and shares no code with fabricgen. It reads tenants, hosts and links from
fabric.json, and VRFs and ACLs from each config_db.json. For every pair of addresses that must be apart it confirms the
reason of the certificate.
"""

import json
import sys
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path

ADDRESSES = {"SRC_IP": 0, "SRC_IPV6": 0, "DST_IP": 1, "DST_IPV6": 1}


def main(certificate, bundle):
    wiring = json.loads((bundle / "fabric.json").read_text())
    planes = {plane["name"]: plane for plane in json.loads(certificate.read_text())["planes"]}
    expected = [plane["name"] for plane in wiring["planes"] if plane.get("isolation")]
    assert expected and set(expected) == set(planes), f"the planes with tenants are {expected}"
    return sum(check_plane(bundle, wiring, planes[name]) for name in expected)


def check_plane(bundle, wiring, plane):
    name, classes = plane["name"], plane["classes"]
    shared = {(tenant["name"], other) for tenant in wiring["tenants"] for other in tenant["shared_with"]}
    check_members(wiring, name, classes)
    reasons = {(first, last): reason for first, last, *reason in plane["apart"]}
    files = {
        switch: bundle / "sonic" / switch / "config_db.json" for one in classes for *_, switch, _ in one["members"]
    }
    switches = {switch: json.loads(file.read_text()) for switch, file in files.items()}
    between = [link for link in wiring["links"] if link["plane"] == name]
    part = parts_of([link for link in between if link["kind"] not in ("host-leaf", "external")])
    confirmed = 0
    leaving = {first for (first, _), (kind, *_) in reasons.items() if kind != "unconnected"}
    for first, source in enumerate(classes):
        if first in leaving:
            confirm_no_vxlan(source["members"], switches, part)
        for last, target in enumerate(classes):
            tenant, other = source["tenant"], target["tenant"]
            sources, targets = source["members"], target["members"]
            if version(sources[0]) != version(targets[0]) or (
                tenant and (tenant == other or (tenant, other) in shared)
            ):
                continue
            pairs = len(sources) * (len(targets) - (first == last))
            if pairs:
                assert (first, last) in reasons, f"no reason why {sources[0]} and {targets[0]} are apart"
                confirm(reasons[first, last], sources, targets, switches, part)
                confirmed += pairs
    return confirmed


def version(member):
    return ip_address(member[2]).version


def check_members(wiring, name, classes):
    """The classes have each address of the plane once, at its port and with its tenant."""
    tenant_of = {tuple(nic): tenant["name"] for tenant in wiring["tenants"] for nic in tenant["nics"]}
    port_of = {tuple(link["a"]): link["b"] for link in wiring["links"] if link["kind"] == "host-leaf"}
    expected = [
        (host["name"], nic["name"], str(ip_interface(address).ip), *port_of[host["name"], nic["name"]])
        for host in wiring["hosts"]
        for nic in host["nics"]
        if nic["plane"] == name
        for address in nic["addresses"]
    ]
    given = [tuple(member) for one in classes for member in one["members"]]
    assert sorted(given) == sorted(expected), "the classes do not have each address of a host once"
    for one in classes:
        assert len({version(member) for member in one["members"]}) == 1, "a class has both IP versions"
        for member in one["members"]:
            assert tenant_of.get(tuple(member[:2]), "") == one["tenant"], f"{member} is not of {one['tenant']!r}"


def parts_of(links):
    """Switch -> the switches that links connect it to."""
    found = {}
    for link in links:
        ends = [link["a"][0], link["b"][0]]
        whole = set().union(*(found.get(end, {end}) for end in ends))
        found.update((one, whole) for one in whole)
    return found


def confirm(reason, sources, targets, switches, part):
    if reason[0] == "unconnected":
        for *_, switch, _ in sources:
            near = part.get(switch, {switch})
            assert not any(far in near for *_, far, _ in targets), f"links connect {switch} to a target"
    elif reason[0] == "vrf":
        for *_, switch, port in sources:
            vrf = vrf_of(switches[switch], port)
            for *_, address, far, far_port in targets:
                other = vrf_of(switches[far], far_port)
                same = vrf == other and (not vrf or switch == far)
                assert not same, f"{switch} {port} and {far} {far_port} are in one VRF"
                if not vrf or switch == far:  # routes lead from the default VRF of all switches, or within a switch
                    assert not leaks(switches[far], vrf, other, address), f"{far} has a route from {vrf} to {address}"
                wanted = route_targets(switches[switch], vrf, "import")
                for one in vrfs_to(switches[far], other, address) if wanted else ():
                    for target in route_targets(switches[far], one, "export"):
                        is_imported = target in wanted or ("*", target[1]) in wanted
                        assert not is_imported, (
                            f"{far} announces {address} with {':'.join(target)} to {vrf} on {switch}"
                        )
    else:
        confirm_rule(*reason, sources, targets, switches)


def confirm_no_vxlan(sources, switches, part):
    """No source reaches a VTEP in the default VRF: its chip lets VXLAN packets of any sender into VRFs."""
    for *_, address, switch, port in sources:
        config, vrf = switches[switch], vrf_of(switches[switch], port)
        tables = bound(config, port, "ingress")
        near = [switches[far] for far in part.get(switch, {switch}) & switches.keys()]
        vteps = {row["src_ip"] for far in near if far.get("VRF") for row in far.get("VXLAN_TUNNEL", {}).values()}
        for vtep in vteps:
            if ip_address(vtep).version == ip_address(address).version and (not vrf or leaks(config, vrf, "", vtep)):
                is_dropped = any(drops(rows, rule, address, vtep) for rows in tables for rule in rows)
                assert is_dropped, f"{switch} {port}: VXLAN packets from {address} to {vtep} may pass"


def leaks(config, vrf, other, address):
    """Whether a VRF of a switch has a route to an address of another VRF."""
    if config.get("VRF", {}).get(vrf, {}).get("fallback") == "true" and not other:
        return True
    imported = [row.get("import_vrf") for key, row in config.get("BGP_GLOBALS_AF", {}).items() if named(key) == vrf]
    routes = [
        row.get("nexthop-vrf", "")
        for key, row in config.get("STATIC_ROUTE", {}).items()
        if named(key) == vrf and ip_address(address) in ip_network(key.rpartition("|")[2], strict=False)
    ]
    names = [name for route in routes for name in route.split(",")]
    return (other or "default") in [*imported, *names]


def route_targets(config, vrf, way):
    """The route targets that a VRF imports or exports, as (ASN or * for any, number). Without such rows, they are
    made of its L3 VNI."""
    vni = int(config.get("VRF", {}).get(vrf, {}).get("vni", "0"))
    if not vni:
        return set()
    row = config.get("BGP_GLOBALS_AF", {}).get(f"{vrf}|l2vpn_evpn", {})
    listed = row.get(f"{way}-rts", [])
    found = listed.split(",") if isinstance(listed, str) else list(listed)
    for key, other in config.get("BGP_GLOBALS_EVPN_RT", {}).items():
        if key.startswith(f"{vrf}|") and other.get("route-target-type") in (way, "both"):
            found.append(key.rpartition("|")[2])
    number = str(vni + (1 << 28) if row.get("autort") == "rfc8365-compatible" else vni)
    asn = int(config.get("BGP_GLOBALS", {}).get(vrf, {}).get("local_asn", "0")) % (1 << 16)
    own = ("*" if way == "import" else str(asn), number)
    return {tuple(one.removeprefix("route-target:").rsplit(":", 1)) for one in found} or {own}


def vrfs_to(config, vrf, address):
    """The VRFs of a switch with a route to an address in a VRF."""
    return [vrf, *(one for one in config.get("VRF", {}) if one != vrf and leaks(config, one, vrf, address))]


def named(key):
    vrf = key.partition("|")[0] if "|" in key else ""
    return "" if vrf == "default" else vrf


def confirm_rule(stage, rule, sources, targets, switches):
    """The rule drops all packets from each source to each target, at the port of the one or the other."""
    ends, others = (sources, targets) if stage == "ingress" else (targets, sources)
    known = set()
    for end in ends:
        *_, address, switch, port = end
        tables = bound(switches[switch], port, stage, rule)
        for other in others:
            source, target = (address, other[2]) if stage == "ingress" else (other[2], address)
            key = json.dumps([tables, source if uses_source(tables) else "", target])
            if source != target and key not in known:
                passing = f"{rule} of {switch} {port}: packets from {source} to {target} may pass"
                assert any(drops(rows, rule, source, target) for rows in tables), passing
                known.add(key)


def vrf_of(config, port):
    return config.get("INTERFACE", {}).get(port, {}).get("vrf_name", "")


def uses_source(tables):
    return any(field.startswith("SRC") for rows in tables for row in rows.values() for field in row)


def bound(config, port, stage, rule=""):
    """The tables that have this rule and are bound to a port: for each, the name of a rule -> its row."""
    rows = config.get("ACL_RULE", {})
    return [
        {key.partition("|")[2]: row for key, row in rows.items() if key.startswith(f"{name}|")}
        for name, table in config.get("ACL_TABLE", {}).items()
        if port in table.get("ports", [])
        and table.get("stage", "ingress") == stage
        and (not rule or f"{name}|{rule}" in rows)
    ]


def drops(rows, rule, source, target):
    """Whether a rule drops all packets between two addresses before another one can forward some of them."""
    own = rows[rule]
    others = own.keys() - {"PACKET_ACTION", "PRIORITY", *ADDRESSES}
    forwarding = [row for row in rows.values() if row["PACKET_ACTION"] != "DROP"]
    earlier = [row for row in forwarding if int(row["PRIORITY"]) >= int(own["PRIORITY"])]
    is_drop = own["PACKET_ACTION"] == "DROP" and not others
    return is_drop and covers(own, source, target) and not any(covers(row, source, target) for row in earlier)


def covers(row, *pair):
    return all(ip_address(pair[end]) in ip_network(row[field]) for field, end in ADDRESSES.items() if field in row)


if __name__ == "__main__":
    if not __debug__:
        sys.exit("not checked: python -O and PYTHONOPTIMIZE remove the checks")
    sys.stdout.write(f"confirmed: {main(*map(Path, sys.argv[1:3]))} ordered pairs of addresses are apart\n")
