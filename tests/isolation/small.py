"""Small fabrics with random ACLs and VRFs, and the verdict on each pair of addresses by trying packets."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from fabricgen.bundle.read import Bundle, open_bundle

LEAVES = ("leaf1", "leaf2")
PORTS = ("Ethernet0", "Ethernet4", "Ethernet8")  # of hosts; the next one is the uplink
PREFIXES = ("10.64.0.0/28", "10.64.0.0/30", "10.64.0.4/30", "10.64.0.8/31", "10.64.0.0/29", "10.64.0.11/32")
CONDITIONS: Sequence[Mapping[str, str]] = (
    {},
    {},
    {},
    {"IP_PROTOCOL": "17"},
    {"IP_PROTOCOL": "6"},
    {"L4_DST_PORT": "4791"},
    {"L4_DST_PORT_RANGE": "100-4791"},
    {"IP_PROTOCOL": "17", "L4_DST_PORT": "4791"},
    {"DSCP": "26"},
)
DSCP = 26  # of RoCE
LOOPBACKS = {leaf: f"10.0.0.{number}" for number, leaf in enumerate(LEAVES, 1)}
Config = dict[str, Any]
Rule = Mapping[str, str]


class Leak(NamedTuple):
    """A static route of a VRF, "" for the default one; `port` and `host` are "" and None where it has no such field."""

    leaf: str
    vrf: str
    prefix: str
    target: str
    port: str
    host: int | None

    @property
    def key(self) -> str:
        """The key of its row."""
        return f"{self.vrf or 'default'}|{self.prefix}"


TARGETS = ("65000:3001", "65001:3001", "65001:3002", "*:3002", "10.0.0.1:3001", "65000:9")


@dataclass(frozen=True)
class Overlay:
    """EVPN: the VNIs of VRFs by (leaf, VRF), the (leaf, VNI) that are not mapped to a VLAN, the leaf whose loopback
    each VTEP has, and whether the spine carries EVPN routes."""

    vnis: Mapping[tuple[str, str], str]
    unmapped: Sequence[tuple[str, str]] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    carried: bool = True
    targets: Mapping[tuple[str, str], Sequence[tuple[str, str]]] = field(default_factory=dict)

    def imports(self, leaf: str, vrf: str, far: str, other: str) -> bool:
        """Whether a VRF has the routes of a VRF of another leaf."""
        vni, far_vni = self.complete(leaf, vrf), self.complete(far, other)
        wanted = {target for way, target in self.targets.get((leaf, vrf), ()) if way != "export"} or {f"*:{vni}"}
        sent = {target for way, target in self.targets.get((far, other), ()) if way != "import"}
        sent = sent or {f"{65000 + LEAVES.index(far)}:{far_vni}"}
        wild = {f"*:{target.rpartition(':')[2]}" for target in sent}
        return bool(vni and far_vni) and bool(wanted & (sent | wild))

    def source(self, leaf: str) -> str:
        """The leaf whose loopback the VTEP of a leaf has."""
        return self.sources.get(leaf, leaf)

    def vrf_of(self, leaf: str, vni: str) -> str:
        """The VRF that the VLAN of a VNI is in."""
        return min((vrf for (own, vrf), other in self.vnis.items() if (own, other) == (leaf, vni)), default="")

    def complete(self, leaf: str, vrf: str) -> str:
        """The VNI of a VRF that sends and receives; "" without one."""
        vni = self.vnis.get((leaf, vrf), "")
        return vni if vni and (leaf, vni) not in self.unmapped and self.vrf_of(leaf, vni) == vrf else ""

    def is_reached(self, leaf: str) -> bool:
        """Whether VXLAN packets reach the VTEP of a leaf."""
        return [self.source(each) for each in LEAVES].count(leaf) == 1 and self.source(leaf) == leaf

    def rows(self, name: str) -> Config:
        """The tables of a switch."""
        if name not in LEAVES:
            ports = [f"Ethernet{index}" for index in range(len(LEAVES))] if self.carried else []
            return _evpn_sessions(ports)
        found: Config = _evpn_sessions(["Ethernet12"])
        found["LOOPBACK_INTERFACE"] = {f"Loopback0|{LOOPBACKS[name]}/32": {}}
        found["VXLAN_TUNNEL"] = {"vtep": {"src_ip": LOOPBACKS[self.source(name)]}}
        found["VXLAN_EVPN_NVO"] = {"nvo": {"source_vtep": "vtep"}}
        for (leaf, vrf), vni in self.vnis.items():
            if leaf == name:
                vlan = f"Vlan{vni}"
                found.setdefault("VRF", {})[vrf] = {"vni": vni}
                found.setdefault("VLAN", {})[vlan] = {"vlanid": vni}
                found.setdefault("VLAN_INTERFACE", {})[vlan] = {"vrf_name": self.vrf_of(leaf, vni)}
                if (leaf, vni) not in self.unmapped:
                    found.setdefault("VXLAN_TUNNEL_MAP", {})[f"vtep|map_{vni}_{vlan}"] = {"vlan": vlan, "vni": vni}
                found.setdefault("BGP_GLOBALS", {})[vrf] = {"local_asn": str(65000 + LEAVES.index(leaf))}
                family: dict[str, Any] = {"advertise-ipv4-unicast": "true"}
                for index, (way, target) in enumerate(self.targets.get((leaf, vrf), ())):
                    if way == "both" or index:
                        key = f"{vrf}|L2VPN_EVPN|{target}"
                        found.setdefault("BGP_GLOBALS_EVPN_RT", {})[key] = {"route-target-type": way}
                    else:
                        family[f"{way}-rts"] = [target]
                found.setdefault("BGP_GLOBALS_AF", {})[f"{vrf}|l2vpn_evpn"] = family
                for source in ("connected", "static"):
                    found.setdefault("ROUTE_REDISTRIBUTE", {})[f"{vrf}|{source}|bgp|ipv4"] = {}
        return found


def _evpn_sessions(ports: Sequence[str]) -> Config:
    policy = {"admin_status": "up", "route_map_in": ["PASS"], "route_map_out": ["PASS"]}
    return {
        "BGP_NEIGHBOR": {f"default|{port}": {"peer_type": "external"} for port in ports},
        "BGP_NEIGHBOR_AF": {f"default|{port}|l2vpn_evpn": policy for port in ports},
    }


@dataclass
class SmallFabric:
    """`tenants` are those of the six hosts; h0 to h2 are on leaf1. `tables` are (leaf, ports, stage, rules)."""

    tenants: Sequence[str]
    tables: Sequence[tuple[str, Sequence[str], str, Sequence[Rule]]]
    vrfs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    leaks: Sequence[Leak] = ()
    overlay: Overlay | None = None
    shared: bool = False
    joined: bool = True  # whether a spine connects the leaves
    bare: Sequence[int] = ()  # hosts whose port does not have their subnet

    def address(self, host: int) -> str:
        """The address of a host."""
        return f"10.64.0.{2 * host + 1}"

    def place(self, host: int) -> tuple[str, str]:
        """The leaf and the port of a host."""
        return LEAVES[host // 3], PORTS[host % 3]

    def write(self, folder: Path) -> Bundle:
        """The fabric as files."""
        names = [*LEAVES, *(["spine1"] if self.joined else [])]
        for name in names:
            (folder / "sonic" / name).mkdir(parents=True, exist_ok=True)
            (folder / "sonic" / name / "config_db.json").write_text(json.dumps(self._config(name), indent=2))
        hosts = [
            {
                "name": f"h{host}",
                "group": "gpu",
                "model": "x",
                "nics": [
                    {
                        "name": "nic",
                        "plane": "compute",
                        "rail": None,
                        "speed_mbps": 400000,
                        "node_guid": "",
                        "port_guid": "",
                        "addresses": [f"{self.address(host)}/31"],
                    }
                ],
            }
            for host in range(6)
        ]
        ends = [((f"h{host}", "nic"), self.place(host), "host-leaf") for host in range(6)]
        if self.joined:
            ends += [
                ((leaf, "Ethernet12"), ("spine1", f"Ethernet{index}"), "leaf-spine")
                for index, leaf in enumerate(LEAVES)
            ]
        links = [
            {
                "id": f"l{index}",
                "plane": "compute",
                "kind": kind,
                "a": a,
                "b": b,
                "speed_mbps": 400000,
                "cable": f"c{index}",
                "rail": None,
            }
            for index, (a, b, kind) in enumerate(ends)
        ]
        names_of_tenants = sorted({*self.tenants} - {""})
        tenants = [
            {
                "name": name,
                "nics": [[f"h{host}", "nic"] for host, one in enumerate(self.tenants) if one == name],
                "shared_with": [one for one in names_of_tenants if one != name] if self.shared else [],
            }
            for name in names_of_tenants
        ]
        devices = [
            {
                "name": name,
                "identity": f"compute/{name}",
                "plane": "compute",
                "role": name[:-1],
                "platform": "p",
                "layout": "l",
                "hwsku": "h",
                "technology": "roce",
                "subplane": None,
                "pod": None,
                "su": None,
                "rail": None,
                "rack": "",
                "unit": "",
                "serial": "",
                "state": "active",
                "loopbacks": [],
                "management": [],
                "node_guid": "",
            }
            for name in names
        ]
        plane = {
            "name": "compute",
            "technology": "roce",
            "design": "explicit",
            "lossless": [3],
            "roce_dscp": {"3": [DSCP]},
            "cnp_dscp": 48,
            "roce_mtu": 4096,
            "purpose": "compute",
            "host_prefixes": ["10.64.0.0/24"],
            "isolation": "acl",
        }
        cables = [
            {"id": f"c{index}", "length_m": 5.0, "medium": "dac", "links": [f"l{index}"]} for index in range(len(ends))
        ]
        wiring = {
            "format_version": "1",
            "fabric": "small",
            "planes": [plane],
            "devices": devices,
            "hosts": hosts,
            "links": links,
            "cables": cables,
            "tenants": tenants,
        }
        (folder / "fabric.json").write_text(json.dumps(wiring))
        return open_bundle([folder])

    def _config(self, name: str) -> Config:
        config: Config = {
            "PORT": {port: {} for port in (*PORTS, "Ethernet12")},
            "INTERFACE": {},
            "VRF": {},
            "ACL_TABLE": {},
            "ACL_RULE": {},
        }
        for host in range(6):
            leaf, port = self.place(host)
            if leaf == name and host not in self.bare:
                config["INTERFACE"] |= {port: {}, f"{port}|{self.address(host)}/31": {}}
        for (leaf, port), vrf in self.vrfs.items():
            if leaf == name:
                config["INTERFACE"][port] = {"vrf_name": vrf}
                config["VRF"][vrf] = {}
        config["STATIC_ROUTE"] = {
            leak.key: {
                "nexthop-vrf": leak.target or "default",
                **({"ifname": leak.port} if leak.port else {}),
                **({"nexthop": self.address(leak.host)} if leak.host is not None else {}),
            }
            for leak in self.leaks
            if leak.leaf == name
        }
        if self.overlay:
            own = self.overlay.rows(name)
            config |= {**own, "VRF": {**config["VRF"], **own.get("VRF", {})}}
        for index, (leaf, ports, stage, rules) in enumerate(self.tables):
            if leaf == name:
                config["ACL_TABLE"][f"T{index}"] = {"type": "L3", "stage": stage, "ports": list(ports)}
                for number, rule in enumerate(rules):
                    config["ACL_RULE"][f"T{index}|R{number}"] = dict(rule)
        return config

    def wanted(self, source: int, target: int) -> bool:
        """Whether two hosts should reach each other."""
        first, second = self.tenants[source], self.tenants[target]
        return bool(first and second) and (first == second or self.shared)

    def tried(self, source: int, target: int) -> tuple[bool, bool]:
        """Whether any of many packets passes, and whether all RoCE packets do."""
        (leaf, port), (far, far_port) = self.place(source), self.place(target)
        own, egress = self._bound(leaf, port, "ingress"), self._bound(far, far_port, "egress")
        addresses = self.address(source), self.address(target)
        tunneled = any(self._routed(*entry, target) for entry in self._entered(source)) and any(
            all(_passes(rules, *addresses, packet, False) for rules in egress) for packet in _packets()
        )
        if not self._routed(leaf, self.vrfs.get((leaf, port), ""), target):
            return tunneled, False
        tables = [*own, *egress]
        anything = any(all(_passes(rules, *addresses, packet, False) for rules in tables) for packet in _packets())
        roce = all(_passes(rules, *addresses, (17, 4791, DSCP), True) for rules in tables)
        return anything or tunneled, roce and target not in self.bare

    def _bound(self, leaf: str, port: str, stage: str) -> list[Sequence[Rule]]:
        return [rules for at, ports, own, rules in self.tables if (at, own) == (leaf, stage) and port in ports]

    def _entered(self, source: int) -> Iterator[tuple[str, str]]:
        """(leaf, VRF) that VXLAN packets of a host in the default VRF enter: one of them passes to the VTEP."""
        leaf, port = self.place(source)
        for far in LEAVES if self.overlay and not self.vrfs.get((leaf, port)) else ():
            assert self.overlay
            if self.overlay.source(far) == far and (self.joined or far == leaf):
                ends = self.address(source), LOOPBACKS[far]
                packets = [(17, 4789, dscp) for dscp in (0, DSCP)]
                tables = self._bound(leaf, port, "ingress")
                if any(all(_passes(rules, *ends, packet, False) for rules in tables) for packet in packets):
                    yield from ((far, vrf) for vrf in ("VrfA", "VrfB") if self.overlay.complete(far, vrf))

    def _routed(self, leaf: str, vrf: str, target: int) -> bool:
        """Whether routes of a VRF lead from a leaf to a host. Those of the default VRF lead to the other leaf, and so
        do those of VRFs there with the same VNI."""
        far, port = self.place(target)
        if leaf != far:
            if not vrf or not self.overlay:
                return self.joined and not vrf and self._routed(far, vrf, target)
            carried = self.joined and self.overlay.carried and self.overlay.is_reached(far)
            others = [one for one in ("VrfA", "VrfB") if self.overlay.imports(leaf, vrf, far, one)]
            return carried and any(self._routed(far, one, target) for one in others)
        own, address = self.vrfs.get((far, port), ""), ip_address(self.address(target))
        if own == vrf:
            return True
        routes = {leak.key: leak for leak in self.leaks if (leak.leaf, leak.vrf) == (leaf, vrf)}.values()
        covering = [leak for leak in routes if address in ip_network(leak.prefix)]
        longest = max((ip_network(leak.prefix).prefixlen for leak in covering), default=0)
        return any(
            ip_network(leak.prefix).prefixlen == longest
            and (leak.target, leak.port or port, target if leak.host is None else leak.host) == (own, port, target)
            for leak in covering
        )


def _packets() -> Iterator[tuple[int, int, int]]:
    """(protocol, target port, DSCP) of many packets."""
    yield from product((1, 6, 17), (0, 99, 100, 4790, 4791, 4792), (0, DSCP))


def _passes(rules: Sequence[Rule], source: str, target: str, packet: tuple[int, int, int], drops_first: bool) -> bool:
    protocol, port, dscp = packet
    order = sorted(
        rules, key=lambda rule: (-int(rule["PRIORITY"]), (rule["PACKET_ACTION"] == "FORWARD") == drops_first)
    )
    for rule in order:
        first, _, last = rule.get("L4_DST_PORT_RANGE", "0-65535").partition("-")
        if (
            ip_address(source) in ip_network(rule.get("SRC_IP", "0.0.0.0/0"))
            and ip_address(target) in ip_network(rule.get("DST_IP", "0.0.0.0/0"))
            and rule.get("IP_PROTOCOL", str(protocol)) == str(protocol)
            and rule.get("L4_DST_PORT", str(port)) == str(port)
            and int(first) <= port <= int(last)
            and rule.get("DSCP", str(dscp)) == str(dscp)
        ):
            return rule["PACKET_ACTION"] == "FORWARD"
    return True


@st.composite
def _rules(draw: st.DrawFn) -> Rule:
    rule = {"PRIORITY": str(draw(st.integers(1, 4))), "PACKET_ACTION": draw(st.sampled_from(["FORWARD", "DROP"]))}
    for name in ("SRC_IP", "DST_IP"):
        if draw(st.booleans()):
            rule[name] = draw(st.sampled_from((*PREFIXES, "10.0.0.0/30", "10.0.0.2/32")))
    return {**rule, **draw(st.sampled_from(CONDITIONS))}


@st.composite
def small_fabrics(draw: st.DrawFn) -> SmallFabric:
    """Six hosts below two leaves, of up to three tenants, with up to four ACLs and some ports in VRFs."""
    tables = st.tuples(
        st.sampled_from(LEAVES),
        st.lists(st.sampled_from(PORTS), min_size=1, unique=True),
        st.sampled_from(["ingress", "ingress", "egress"]),
        st.lists(_rules(), min_size=1, max_size=4),
    )
    ports = st.tuples(st.sampled_from(LEAVES), st.sampled_from(PORTS))
    names = st.sampled_from(["", "VrfA", "VrfB"])
    leaks = st.builds(
        Leak,
        st.sampled_from(LEAVES),
        names,
        st.sampled_from([prefix for prefix in PREFIXES if not prefix.endswith("/32")]),
        names,
        st.sampled_from(["", *PORTS]),
        st.sampled_from([None, *range(6)]),
    )
    vnis = st.dictionaries(
        st.tuples(st.sampled_from(LEAVES), st.sampled_from(["VrfA", "VrfB"])),
        st.sampled_from(["3001", "3002"]),
        min_size=1,
    )
    overlays = st.builds(
        Overlay,
        vnis,
        st.lists(st.tuples(st.sampled_from(LEAVES), st.sampled_from(["3001", "3002"])), max_size=1),
        st.dictionaries(st.sampled_from(LEAVES), st.sampled_from(LEAVES), max_size=1),
        st.sampled_from([True, True, True, False]),
        st.dictionaries(
            st.tuples(st.sampled_from(LEAVES), st.sampled_from(["VrfA", "VrfB"])),
            st.lists(
                st.tuples(st.sampled_from(["import", "export", "both"]), st.sampled_from(TARGETS)),
                max_size=2,
                unique_by=lambda one: one[1],
            ),
            max_size=2,
        ),
    )
    return SmallFabric(
        draw(st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=6, max_size=6).filter(any)),
        draw(st.lists(tables, max_size=4)),
        draw(st.dictionaries(ports, st.sampled_from(["VrfA", "VrfB"]), max_size=3)),
        draw(st.lists(leaks, max_size=3)),
        draw(st.none() | overlays),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.lists(st.integers(0, 5), max_size=1)),
    )
