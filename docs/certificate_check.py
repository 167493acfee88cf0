#!/usr/bin/env python3
"""Check a deadlock certificate against configuration files, without code of fabricgen.

    python certificate_check.py CERTIFICATE FOLDER...

FOLDER is a bundle, or contains config_db.json files. The program reads sessions, routes and lossless priorities from
these files only. It follows every packet between hosts, and checks that every channel that a buffer can wait for comes
later in the order. If the certificate holds whatever fails, it also checks the conditions on ASNs for this claim.
certificate_check_infiniband.py beside this file checks InfiniBand planes. Their folder is a bundle, or contains dumped
tables.
A line names what was not checked: claims that do not follow from the files, lossless links without a session, and
subnets of the folders that are not in the certificate.
Exit code 0: the certificate holds; 1: it does not.

The code is written to be read, in the simplest way, for fabrics of up to some hundred switches. A fabric whose routes
depend on the order of events is refused, because this method does not cover it.
"""

import hashlib
import ipaddress
import json
import sys
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # python -I does not add it
from certificate_check_infiniband import RefusedError, check_subnet

INTERFACES = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "VLAN_SUB_INTERFACE", "LOOPBACK_INTERFACE")
FAMILIES = {"ipv4": 4, "ipv6": 6}
WHATEVER_FAILS = "whatever fails"
HOLDS = ("as configured", WHATEVER_FAILS)


class Switch:
    """BGP of one config_db.json, read as sonic-bgpcfgd does, or as frrcfgd if frr_mgmt_framework_config is true."""

    def __init__(self, config):
        self.config = config
        self.localhost = config.get("DEVICE_METADATA", {}).get("localhost", {})
        self.frrcfgd = self.localhost.get("frr_mgmt_framework_config") == "true"
        instance = config.get("BGP_GLOBALS", {}).get("default", {})
        asn = instance.get("local_asn") if self.frrcfgd else self.localhost.get("bgp_asn")
        self.asn = int(asn) if asn and asn.isdecimal() else None
        self.addresses = []  # (interface, address with length)
        for table in INTERFACES:
            rows = config.get(table, {})
            for name, _, address in (key.partition("|") for key in rows):
                if address and name in rows and not rows[name].get("vrf_name"):
                    self.addresses.append((name, ipaddress.ip_interface(address)))
        self.loopbacks = {
            str(ipaddress.ip_network((one.ip, 32 if one.version == 4 else self._loopback6()), strict=False))
            for name, one in self.addresses
            if name == "Loopback0"
        }
        self.drops = {  # prefixes of traffic that the switch drops unless it has a longer one
            ipaddress.ip_network(key.rpartition("|")[2], strict=False)
            for key, row in config.get("STATIC_ROUTE", {}).items()
            if row.get("blackhole") == "true"
        }
        self.port_qos = {port: row for key, row in config.get("PORT_QOS_MAP", {}).items() for port in key.split(",")}
        self.isolated = config.get("BGP_DEVICE_GLOBAL", {}).get("STATE", {}).get("tsa_enabled") == "true"
        self.announced = set(map(str, self._announced()))
        self.neighbors = dict(self._neighbors())  # key -> (address or port, ASN or None, families, allowas-in)

    def _loopback6(self):
        return 128 if self.localhost.get("bgp_adv_lo_prefix_as_128") == "true" else 64

    def _announced(self):
        static = [
            ipaddress.ip_network(key.rpartition("|")[2], strict=False)
            for key, row in self.config.get("STATIC_ROUTE", {}).items()
            if row.get("advertise") != "false" and key.rpartition("|")[0] in ("", "default")
        ]
        if not self.frrcfgd:
            yield from self.loopbacks
            yield from (one.network for name, one in self.addresses if name.startswith("Vlan"))
            yield from static
            return
        for key in self.config.get("BGP_GLOBALS_AF_NETWORK", {}):
            yield ipaddress.ip_network(key.split("|")[2], strict=False)
        for key in self.config.get("ROUTE_REDISTRIBUTE", {}):
            vrf, source, _, family = key.split("|")
            if vrf != "default":
                continue  # EVPN announces routes of other VRFs; their packets go to the address of a VTEP
            found = static if source == "static" else [one.network for _, one in self.addresses]
            yield from (one for one in found if one.version == FAMILIES[family])

    def _neighbors(self):
        if not self.frrcfgd:
            kind = self.localhost.get("type")
            bbr = self.config.get("BGP_BBR", {}).get("all", {}).get("status") == "enabled"
            allowed = int(kind == "ToRRouter" or (kind == "LeafRouter" and bbr))
            if not kind or "Loopback0" not in self.config.get("LOOPBACK_INTERFACE", {}):
                return
            own = {str(one.ip) for _, one in self.addresses}
            for key, row in self.config.get("BGP_NEIGHBOR", {}).items():
                near = row.get("local_addr", "").partition("/")[0]
                status = row.get("admin_status", self.localhost.get("default_bgp_status", "up"))
                if "|" not in key and status != "down" and (not near or near in own):
                    address = ipaddress.ip_address(key)
                    yield key, (str(address), int(row["asn"]), {address.version}, allowed)
            return
        for key, row in self.config.get("BGP_NEIGHBOR", {}).items():
            vrf, _, peer = key.partition("|")
            group = row.get("peer_group_name", "")
            row = {**self.config.get("BGP_PEER_GROUP", {}).get(f"default|{group}", {}), **row}
            if vrf != "default" or row.get("admin_status") in ("down", "false"):
                continue
            families, allowed = set(), 0
            for name, version in FAMILIES.items():
                family = {
                    **self.config.get("BGP_PEER_GROUP_AF", {}).get(f"default|{group}|{name}_unicast", {}),
                    **self.config.get("BGP_NEIGHBOR_AF", {}).get(f"{key}|{name}_unicast", {}),
                }
                if family.get("route_map_in") and family.get("route_map_out"):
                    families.add(version)
                if family.get("allow_as_in") == "true":
                    allowed = max(allowed, int(family.get("allow_as_count", 3)))
            asn = row.get("asn", "")
            yield key, (peer, int(asn) if asn.isdecimal() else None, families, allowed)

    def vtep(self):
        """The address that VXLAN packets of EVPN to this switch have, as a prefix; None if no VRF has a VNI and its
        VLAN."""
        tables = {name: self.config.get(name, {}) for name in ("VXLAN_EVPN_NVO", "VXLAN_TUNNEL", "VXLAN_TUNNEL_MAP")}
        tunnel = next((row.get("source_vtep") for row in tables["VXLAN_EVPN_NVO"].values()), None)
        vlans = {
            row["vni"]: row["vlan"] for key, row in tables["VXLAN_TUNNEL_MAP"].items() if key.startswith(f"{tunnel}|")
        }
        for vrf, row in self.config.get("VRF", {}).items():
            vlan = self.config.get("VLAN_INTERFACE", {}).get(vlans.get(row.get("vni")), {})
            if vlan.get("vrf_name") == vrf:
                return str(ipaddress.ip_network(tables["VXLAN_TUNNEL"][tunnel]["src_ip"]))
        return None

    def members(self, interface):
        """The ports of an interface."""
        for table in ("PORTCHANNEL_MEMBER", "VLAN_MEMBER"):
            found = [key.partition("|")[2] for key in self.config.get(table, {}) if key.startswith(f"{interface}|")]
            if found:
                return found
        return [interface]

    @cache  # noqa: B019 - one run, one fabric
    def qos(self, interface):
        """The row of PORT_QOS_MAP of an interface, or of the first member with PFC of a port channel, as items."""
        rows = [self.port_qos[port] for port in self.members(interface) if "pfc_enable" in self.port_qos.get(port, {})]
        default = {"dscp_to_tc_map": self.port_qos.get("global", {}).get("dscp_to_tc_map", "")}
        return frozenset({**default, **(rows[0] if rows else self.port_qos.get(interface, {}))}.items())

    def lossless(self, interface):
        """The priorities of pfc_enable."""
        return {int(one) for one in dict(self.qos(interface)).get("pfc_enable", "").split(",") if one}

    @cache  # noqa: B019 - one run, one fabric
    def onward(self, arriving, leaving):
        """Priority group of an arriving packet -> priorities whose pause can stop it at the output, for two rows of
        PORT_QOS_MAP. If a row does not name a map, the map is the identity."""

        def mapped(row, field, table, size):
            name = dict(row).get(field, "").strip("[]").rpartition("|")[2]
            rows = self.config.get(table, {}).get(name, {}) if name else {}
            return [int(rows.get(str(i), 0)) if rows else i if i < 8 else 0 for i in range(size)]

        groups = mapped(arriving, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", 8)
        queues = mapped(leaving, "tc_to_queue_map", "TC_TO_QUEUE_MAP", 8)
        paused = mapped(leaving, "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", 8)
        found = {}
        for traffic_class in set(mapped(arriving, "dscp_to_tc_map", "DSCP_TO_TC_MAP", 64)):
            held = {priority for priority in range(8) if paused[priority] == queues[traffic_class]}
            found.setdefault(groups[traffic_class], set()).update(held)
        return found


class Fabric:
    """The switches of one plane with their sessions: links[u] lists (interface, far switch, allowas-in, families)."""

    def __init__(self, switches):
        self.switches = switches
        self.links = {name: [] for name in switches}
        self.lossless = {}  # (switch, interface) -> priorities
        self.far_end = {}
        self.outside = set()  # (switch, family): a session with a peer that has no file here
        owner = {str(one.ip): (name, port) for name, s in switches.items() for port, one in s.addresses if s.asn}
        for name, switch in switches.items():
            for peer, asn, families, allowed in switch.neighbors.values():
                far = self._far_end(name, peer, owner)
                if far is None:
                    self.outside |= {(name, version) for version in families}
                    continue
                near_port, (other, far_port), answer = far
                if answer is None or asn not in (None, switches[other].asn) or switches[other].asn == switch.asn:
                    continue
                if answer[1] in (None, switch.asn):
                    self.links[name].append((near_port, other, allowed, families & answer[2]))
                    self.far_end[name, near_port] = other, far_port
        for (name, port), (other, far_port) in self.far_end.items():
            both = switches[name].lossless(port) & switches[other].lossless(far_port)
            self.lossless[name, port] = both

    def _far_end(self, name, peer, owner):
        """(own interface, far end, its row for this switch or None); None for an external peer."""
        own = self.switches[name]
        if "." not in peer and ":" not in peer:  # unnumbered
            far = own.config.get("DEVICE_NEIGHBOR", {}).get(peer, {})
            if far.get("name") not in self.switches:
                return None
            return peer, (far["name"], far["port"]), self.switches[far["name"]].neighbors.get(f"default|{far['port']}")
        if peer not in owner:
            return None
        address = ipaddress.ip_address(peer)
        near = [(port, one) for port, one in own.addresses if address in one.network and not port.startswith("Loop")]
        if not near:
            return "", owner[peer], None
        rows = self.switches[owner[peer][0]].neighbors.values()
        return near[0][0], owner[peer], next((row for row in rows if row[0] == str(near[0][1].ip)), None)

    def without_session(self):
        """The number of cables between switches that are lossless at both ends and carry no session: packets that go
        there are not followed."""
        cables = set()
        carried = {(name, port) for link in self.far_end.items() for name, port in link}
        carried = {(name, port) for name, interface in carried for port in self.switches[name].members(interface)}
        for name, switch in self.switches.items():
            for port, row in switch.config.get("DEVICE_NEIGHBOR", {}).items():
                far = row.get("name"), row.get("port")
                if far[0] in self.switches and not {(name, port), far} & carried:
                    both = switch.lossless(port) & self.switches[far[0]].lossless(far[1])
                    cables |= {frozenset([(name, port), far])} if both else set()
        return len(cables)

    def routes(self, prefix, origins):
        """switch -> its links to the next hops of `prefix` on all shortest AS paths."""
        family = ipaddress.ip_network(prefix).version
        hops = {}
        paths = {name: {()} for name in origins}  # every path that a switch may advertise
        reached = set(origins)
        while reached:
            found = {}
            for name in self.switches.keys() - paths.keys():
                asn = self.switches[name].asn
                for port, other, allowed, families in self.links[name]:
                    speaks = not self.switches[other].isolated or prefix in self.switches[other].loopbacks
                    if other not in reached or family not in families or not speaks:
                        continue
                    heard = {(self.switches[other].asn, *path) for path in paths[other]}
                    taken = {path for path in heard if path.count(asn) <= allowed}
                    if taken and taken != heard:
                        raise RefusedError(f"{name}: its route to {prefix} depends on the order of events")
                    if taken:
                        found.setdefault(name, set()).update(taken)
                        hops.setdefault(name, []).append((name, port))
            paths.update(found)
            reached = found.keys()
        return hops

    def origins(self):
        """prefix -> the switches where its path begins."""
        found = {}
        for name, switch in self.switches.items():
            for prefix in switch.announced if switch.asn else ():
                found.setdefault(prefix, set()).add(name)
        for name, version in self.outside:
            found.setdefault("0.0.0.0/0" if version == 4 else "::/0", set()).add(name)
        return found

    def host_prefixes(self, origins):
        """Prefixes of hosts: all announced ones except loopbacks and default routes; every prefix if none is left.
        Packets to hosts behind a VTEP go to its address."""
        loopbacks = {one for switch in self.switches.values() for one in switch.loopbacks}
        loopbacks -= {switch.vtep() for switch in self.switches.values()}
        hosts = [one for one in origins if one not in loopbacks and not one.endswith("/0")]
        return hosts or list(origins)

    def senders(self, origins):
        """Switches with hosts or external peers."""
        found = {name for prefix in self.host_prefixes(origins) for name in origins[prefix]}
        found |= {name for name, _ in self.outside}
        for name, switch in self.switches.items():
            used = {port for port, *_ in self.links[name]}
            if any(port not in used and not port.startswith("Loopback") for port, _ in switch.addresses):
                found.add(name)
        return found


def dependencies(fabric):
    """Pairs of links: a packet on the first may wait for the second."""
    origins = fabric.origins()
    tables = {prefix: fabric.routes(prefix, names) for prefix, names in origins.items()}
    senders = fabric.senders(origins)
    networks = {prefix: ipaddress.ip_network(prefix) for prefix in origins}
    links = list(fabric.far_end)
    bit = {link: 1 << number for number, link in enumerate(links)}
    waits_for = dict.fromkeys(links, 0)  # as bits

    def follow(name, network, wider):
        """The links of the longest prefix that the switch has; none if a longer discard route drops the packet."""
        for candidate in wider:
            if name in origins[candidate] or name in tables[candidate]:
                drops = (one for one in fabric.switches[name].drops if one.version == network.version)
                if any(network.subnet_of(one) and one.prefixlen > networks[candidate].prefixlen for one in drops):
                    return []
                return tables[candidate].get(name, [])
        return []

    for prefix in fabric.host_prefixes(origins):
        network = networks[prefix]
        wider = [p for p, n in networks.items() if n.version == network.version and network.subnet_of(n)]
        wider.sort(key=lambda one: -networks[one].prefixlen)  # the prefix itself, then shorter ones

        table = {name: follow(name, network, wider) for name in fabric.switches}
        leaving = {name: sum(bit[link] for link in found) for name, found in table.items()}
        seen, waiting = set(), list(senders)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                for link in table[name]:
                    other = fabric.far_end[link][0]
                    waits_for[link] |= leaving[other]
                    waiting.append(other)
    for first, found in waits_for.items():
        yield from ((first, second) for second in links if found & bit[second]) if found else ()


def follow_order(fabric, plane):
    """Every dependency, on every lossless priority, must go from an earlier to a later channel."""
    place = {}
    for number, (switch, port, priorities) in enumerate(plane["order"]):
        if (switch, port) not in fabric.lossless or not set(priorities) <= fabric.lossless[switch, port]:
            raise RefusedError(f"{switch} {port} is not a lossless link on priorities {priorities}")
        place |= {(switch, port, priority): number for priority in priorities}
    checked = 0
    for first, second in dependencies(fabric):
        middle, arriving = fabric.far_end[first]
        switch = fabric.switches[middle]
        onward = switch.onward(switch.qos(arriving), switch.qos(second[1]))
        for held in fabric.lossless[first]:
            for needed in onward.get(held, set()) & fabric.lossless[second]:
                a, b = (*first, held), (*second, needed)
                if a not in place or b not in place:
                    raise RefusedError(f"missing in the order: {a if a not in place else b}")
                if place[a] >= place[b]:
                    raise RefusedError(f"{a} waits for {b}, which does not come later in the order")
                checked += 1
    return checked


def rule_out_valleys(fabric, plane):
    """Check that after any failures the switches of each level above a switch with hosts share an ASN and refuse it."""
    origins = fabric.origins()
    level = dict.fromkeys(fabric.senders(origins), 0)
    for name in (reached := list(level)):
        for _, other, *_ in fabric.links[name]:
            if other not in level:
                level[other] = level[name] + 1
                reached.append(other)
    if separate := fabric.switches.keys() - level.keys():
        raise RefusedError(f"{min(separate)} is not connected")
    for name, links in fabric.links.items():
        for _, other, allowed, _ in links:
            if abs(level[name] - level[other]) != 1:
                raise RefusedError(f"{name} and {other} are not on neighboring levels")
            if level[name] and allowed:
                raise RefusedError(f"{name} accepts paths with its own ASN")
    hosts = [ipaddress.ip_network(prefix) for prefix in fabric.host_prefixes(origins)]
    for one, other in ((one, other) for one in hosts for other in map(ipaddress.ip_network, origins)):
        if one != other and one.version == other.version and one.subnet_of(other):
            raise RefusedError(f"packets to {one} may follow {other}, so failures may change their paths")
    for group in [*({name} for name in fabric.switches), *(origins[str(one)] for one in hosts)]:
        one_asn_above(fabric, group, level)
    up_then_down(fabric, plane["order"], level)


def one_asn_above(fabric, group, level):
    """Check the switches to which a prefix of this group is passed upwards, level by level."""
    if len({level[name] for name in group}) != 1:
        raise RefusedError(f"{sorted(group)} announce one prefix from several levels")
    while group:
        group = {other for name in group for _, other, *_ in fabric.links[name] if level[other] > level[name]}
        if len({fabric.switches[name].asn for name in group}) > 1:
            raise RefusedError(f"{', '.join(sorted(group))} are on one level and have several ASNs")


def up_then_down(fabric, order, level):
    """Check that channels upwards, from the lowest level, come before channels downwards, from the highest level."""
    lossless = {(*link, priority) for link, found in fabric.lossless.items() for priority in found}
    if missing := lossless - {(switch, port, one) for switch, port, found in order for one in found}:
        raise RefusedError(f"missing in the order: {min(missing)}")
    before = None
    for switch, port, _ in order:
        falls = level[fabric.far_end[switch, port][0]] < level[switch]
        stage = falls, -level[switch] if falls else level[switch]
        if before and stage < before:
            raise RefusedError(f"{switch} {port} comes later in the order than a channel that may wait for it")
        before = stage


def read_switches(folders):
    """name -> Switch, for all configuration files in the folders."""
    roots = [folder / "sonic" if (folder / "sonic").is_dir() else folder for folder in folders]
    found = {}
    for file in sorted(file for root in roots for file in [*root.glob("*/config_db.json"), *root.glob("*.json")]):
        config = json.loads(file.read_text())
        localhost = config.get("DEVICE_METADATA", {}).get("localhost", {}) if isinstance(config, dict) else {}
        if localhost:
            found[file.parent.name if file.name == "config_db.json" else localhost["hostname"]] = Switch(config)
    return found


def one_plane_each(switches, planes):
    """Check that no session leads to another plane: its packets would not be followed."""
    plane_of = {name: plane["name"] for plane in planes for name in plane["switches"]}
    if len(set(plane_of.values())) < len(planes):
        raise RefusedError("two planes have one name")
    if len(planes) > 1:
        for (name, port), (other, _) in Fabric(switches).far_end.items():
            if plane_of[name] != plane_of[other]:
                raise RefusedError(f"{name} {port} has a session with {other}, which is in another plane")


def subnets_of(folders):
    """The folders of subnets in the given ones, as a certificate names them."""
    files = [(folder, file) for folder in folders for file in folder.glob("infiniband/**/topology.ibsim")]
    return sorted({file.parent.relative_to(folder).as_posix() for folder, file in files})


def check_plane(plane, switches):
    """The line to print. Raises RefusedError."""
    title = f"plane {plane['name']}" if plane["name"] else "the fabric"
    if plane["order"] is None:
        raise RefusedError(f"{title} has no order: its dependencies are cyclic")
    text = json.dumps(plane["order"], separators=(",", ":"))
    if hashlib.sha256(text.encode()).hexdigest() != plane["seal"]:
        raise RefusedError(f"{title}: the order differs from the sealed one")
    if plane["holds"] not in HOLDS:
        raise RefusedError(f"{title} holds {plane['holds']!r}, expected one of {HOLDS}")
    fabric = Fabric({name: switches[name] for name in plane["switches"]})
    count = follow_order(fabric, plane)
    if plane["holds"] == WHATEVER_FAILS:
        rule_out_valleys(fabric, plane)
    size = f"{len(plane['order'])} channels are in order, {count} dependencies checked"
    if any("SRV6_MY_LOCATORS" in switches[name].config for name in plane["switches"]):
        size += ", of routes of BGP only: lists of SRv6 uSIDs are not checked"
    if count := fabric.without_session():
        size += f"; {count} lossless links without a session are not checked"
    if plane["claim"] != "proved":
        size += f"; the claim {plane['claim']!r} is not checked"
    return f"{title}: {size}; holds {plane['holds']}"


def check(certificate, *folders):
    """The lines to print. Raises RefusedError."""
    if not isinstance(certificate, dict) or certificate.get("format") != "fabricgen-deadlock-certificate/1":
        raise RefusedError("not a certificate of a known format")
    switches = read_switches(folders)
    subnets = [plane for plane in certificate["planes"] if plane.get("technology") == "infiniband"]
    planes = [plane for plane in certificate["planes"] if plane not in subnets]
    named = [name for plane in planes for name in plane["switches"]]
    if sorted(named) != sorted(switches):
        raise RefusedError(
            f"not the same switches: {', '.join(sorted(set(named) ^ set(switches))) or 'a switch is named twice'}"
        )
    if not planes and not subnets:
        raise RefusedError("no plane is in the certificate: nothing is checked")
    one_plane_each(switches, planes)
    for plane in subnets:
        yield check_subnet(plane, folders)
    known = {place for plane in subnets for place in (plane["folder"], f"infiniband/{plane['name']}")}
    for folder in (one for one in subnets_of(folders) if one not in known):
        yield f"{folder}: not checked, because the certificate does not have this subnet"
    for plane in planes:
        yield check_plane(plane, switches)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: certificate_check.py CERTIFICATE FOLDER...")
    try:
        for line in check(json.loads(Path(sys.argv[1]).read_text()), *map(Path, sys.argv[2:])):
            print(line)  # noqa: T201
    except RefusedError as refusal:
        sys.exit(f"refused: {refusal}")
    except (OSError, ValueError, LookupError, TypeError) as error:
        sys.exit(f"refused: not the expected format: {type(error).__name__}: {error}")
