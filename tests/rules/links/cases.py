"""Bad cases of the rules in fabricgen/rules/links."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.observed.lldp import with_cables
from tests.rules.access import FIRST, PAIRS, SECOND, Row, both_rows, other_host
from tests.rules.case import ERROR, NOTE, WARNING, Case, Switches
from tests.rules.changes import both, drop, put
from tests.rules.clean import clean_fabric
from tests.rules.fabrics import META, across_planes, cordoned, drained, of_wiring, rewired, unchanged, with_rails

MACSEC = {
    "priority": "64",
    "cipher_suite": "GCM-AES-XPN-256",
    "primary_cak": "${secret:macsec/cak}",
    "primary_ckn": "1" * 64,
    "policy": "security",
}
Seen = dict[str, dict[str, tuple[str, str]]]  # switch -> port -> (neighbor, its port)


@dataclasses.dataclass(frozen=True)
class Observed:
    """The clean fabric with LLDP dumps of all switches; the change gets the neighbors that they show."""

    def broken(self, change: Callable[[Any], object], folder: Path) -> Bundle:
        """The fabric with the observed links."""
        bundle = clean_fabric().bundle(folder / "sonic")
        seen: Seen = {name: {} for name in bundle.devices}
        for link in bundle.links:
            for near, far in ((link.a, link.b), (link.b, link.a)):
                if near[0] in seen:
                    seen[near[0]][near[1]] = far
        change(seen)
        for name, ports in seen.items():
            rows = {
                port: {"lldp_rem_sys_name": far, "lldp_rem_port_id": far_port}
                for port, (far, far_port) in ports.items()
            }
            (folder / "lldp").mkdir(exist_ok=True)
            (folder / "lldp" / f"{name}.json").write_text(json.dumps({"LLDP_ENTRY_TABLE": rows}))
        return with_cables(bundle, folder / "lldp")


@dataclasses.dataclass(frozen=True)
class Answering:
    """The clean fabric with ARP tables of its leaves; the change gets the port of each address."""

    def broken(self, change: Callable[[Any], object], folder: Path) -> Bundle:
        """The fabric with the cables at which the hosts answer."""
        bundle = clean_fabric().bundle(folder / "sonic")
        assert bundle.wiring
        nics = {(host.name, nic.name): nic.addresses for host in bundle.wiring.hosts for nic in host.nics}
        ports: dict[str, dict[str, str]] = {}
        for link in bundle.wiring.links:
            for address in nics.get(link.a, ()):
                ports.setdefault(link.b[0], {})[address.partition("/")[0]] = link.b[1]
        change(ports)
        (folder / "arp").mkdir()
        for name, found in ports.items():
            lines = (f"{address} dev {port} lladdr 02:00:00:00:00:01 REACHABLE" for address, port in found.items())
            (folder / "arp" / f"{name}.txt").write_text("\n".join(lines))
        return with_cables(bundle, None, folder / "arp")


@dataclasses.dataclass(frozen=True)
class Loose:
    """The files of the clean fabric without fabric.json: their links are those that the files name."""

    def broken(self, change: Callable[[Any], object], folder: Path) -> Bundle:
        """The files as `open_bundle` reads them."""
        fabric = clean_fabric()
        change(fabric.configs)
        fabric.bundle(folder / "files")
        return open_bundle([folder / "files"])


UP1, UP2 = "Ethernet256", "Ethernet260"  # of leaf1, to spine1 and spine2


def dead(seen: Seen) -> None:
    """neither leaf1 Ethernet256 nor spine1 Ethernet0 has a neighbor"""
    del seen["leaf1"][UP1], seen["spine1"]["Ethernet0"]


def crossed(seen: Seen) -> None:
    """the cables of leaf1 Ethernet256 and Ethernet260 are exchanged"""
    seen["leaf1"] |= {UP1: ("spine2", "Ethernet0"), UP2: ("spine1", "Ethernet0")}
    seen["spine1"]["Ethernet0"], seen["spine2"]["Ethernet0"] = ("leaf1", UP2), ("leaf1", UP1)


def moved(seen: Seen) -> None:
    """the cable of leaf1 Ethernet256 is in Ethernet80 of spine1 instead of Ethernet0"""
    seen["leaf1"][UP1] = ("spine1", "Ethernet80")
    seen["spine1"]["Ethernet80"] = seen["spine1"].pop("Ethernet0")


def unplanned(seen: Seen) -> None:
    """a cable connects Ethernet128 of leaf1 and leaf2"""
    seen["leaf1"]["Ethernet128"], seen["leaf2"]["Ethernet128"] = ("leaf2", "Ethernet128"), ("leaf1", "Ethernet128")


def swapped_hosts(ports: dict[str, dict[str, str]]) -> None:
    """the cables of gpu1 and gpu2 are exchanged at leaf1"""
    ports["leaf1"] |= {"10.64.0.1": "Ethernet4", "10.64.0.3": "Ethernet0"}


def silent_host(ports: dict[str, dict[str, str]]) -> None:
    """no table has 10.64.0.3 of gpu2"""
    del ports["leaf1"]["10.64.0.3"]


def without_neighbors(configs: dict[str, dict[str, dict[str, Any]]]) -> None:
    """leaf1: DEVICE_NEIGHBOR is empty"""
    configs["leaf1"]["DEVICE_NEIGHBOR"] = {}


def retried(outstanding: str, *local: str) -> Callable[[Any], object]:
    """Link layer retry at both ends of the first link of leaf1, with a profile of so many bytes. `local` are the
    receivers of both ends, by default enabled."""
    row = {"llr_mode": "static", "llr_remote": "enabled", "llr_profile": "p"}
    profile = {"max_outstanding_frames": "1000", "max_outstanding_bytes": outstanding}
    takes = local or ("enabled", "enabled")
    return both(
        put({**row, "llr_local": takes[0]}, "leaf1", "LLR_PORT", "Ethernet256"),
        put({**row, "llr_local": takes[1]}, "spine1", "LLR_PORT", "Ethernet0"),
        put(profile, "leaf1", "LLR_PROFILE", "p"),
        put({**profile, "max_outstanding_bytes": "77920"}, "spine1", "LLR_PROFILE", "p"),
    )


CASES = [
    Case(
        "FG264",
        both(*(put("down", f"leaf{n}", "PORT", "Ethernet0", "admin_status") for n in (1, 2, 3))),
        "leaf1:PORT|Ethernet0|admin_status",
        ERROR,
        "gpu1 has no link in service on plane compute",
        "drain the host in the scheduler until the cable is replaced",
        clean=Switches(plug=of_wiring(cordoned(*(f"leaf{n}:Ethernet0" for n in (1, 2, 3))))),
        related="leaf2:PORT|Ethernet0|admin_status",
    ),
    Case(
        "FG264",
        put("down", "leaf2", "PORT", "Ethernet0", "admin_status"),
        "leaf2:PORT|Ethernet0|admin_status",
        WARNING,
        "gpu1 has no link in service on rail 1 of plane compute",
        "drain the host in the scheduler until the cable is replaced",
        clean=Switches(plug=of_wiring(cordoned("leaf2:Ethernet0"))),
    ),
    Case(
        "FG570",
        both(
            put("4200", "leaf1", "PORT", "Ethernet256", "mtu"),
            put("4200", "spine1", "PORT", "Ethernet0", "mtu"),
        ),
        "leaf1:PORT|Ethernet256|mtu",
        WARNING,
        "mtu is 4200 bytes, but ports to hosts have 9100 bytes",
        "set mtu to 9100 at both ends",
        lenient=True,
    ),
    Case(
        "FG571",
        both(
            put("on", "leaf1", "PORT", "Ethernet256", "autoneg"),
            put("on", "spine1", "PORT", "Ethernet0", "autoneg"),
        ),
        "leaf1:PORT|Ethernet256|autoneg",
        WARNING,
        "autoneg is on, but the cable is 40m long and therefore optical",
        "set autoneg to off at both ends",
        lenient=True,
    ),
    Case(
        "FG571",
        both(
            put("on", "leaf1", "PORT", "Ethernet256", "link_training"),
            put("on", "spine1", "PORT", "Ethernet0", "link_training"),
        ),
        "leaf1:PORT|Ethernet256|link_training",
        WARNING,
        "link_training is on, but the cable is 40m long and therefore optical",
        "set link_training to off at both ends",
        lenient=True,
    ),
    Case(
        "FG260",
        dead,
        f"leaf1:DEVICE_NEIGHBOR|{UP1}",
        ERROR,
        "LLDP does not show the planned cable from leaf1 Ethernet256 to spine1 Ethernet0",
        "plug or replace the cable, or its transceivers; `show interfaces status Ethernet256` on leaf1",
        clean=Observed(),
        related="spine1:DEVICE_NEIGHBOR|Ethernet0",
    ),
    Case(
        "FG261",
        crossed,
        f"leaf1:DEVICE_NEIGHBOR|{UP1}",
        ERROR,
        "two cables are swapped: leaf1 Ethernet256 is in spine2 Ethernet0 and leaf1 Ethernet260 is in spine1 Ethernet0; "
        "planned is leaf1 Ethernet256 – spine1 Ethernet0 and leaf1 Ethernet260 – spine2 Ethernet0",
        "move the cable at leaf1 Ethernet256 to leaf1 Ethernet260, and the cable at leaf1 Ethernet260 to leaf1 Ethernet256",
        clean=Observed(),
    ),
    Case(
        "FG327",
        swapped_hosts,
        "leaf1:DEVICE_NEIGHBOR|Ethernet0",
        ERROR,
        "gpu1 nic0 answers at leaf1 Ethernet4 and gpu2 nic0 answers at leaf1 Ethernet0; planned is gpu1 nic0 at leaf1 "
        "Ethernet0 and gpu2 nic0 at leaf1 Ethernet4",
        "move the cable at leaf1 Ethernet4 to leaf1 Ethernet0, and the cable at leaf1 Ethernet0 to leaf1 Ethernet4",
        clean=Answering(),
        lenient=True,
    ),
    Case(
        "FG330",
        silent_host,
        "leaf1:DEVICE_NEIGHBOR|Ethernet4",
        NOTE,
        "1 port of a host has no entry, so the cables are not judged: leaf1 Ethernet4",
        "ping the gateways from these hosts, and read the tables again",
        clean=Answering(),
    ),
    Case(
        "FG261",
        moved,
        f"leaf1:DEVICE_NEIGHBOR|{UP1}",
        ERROR,
        "LLDP shows the cable from leaf1 Ethernet256 to spine1 Ethernet80; planned is from leaf1 Ethernet256 to "
        "spine1 Ethernet0",
        "move the end of the cable from spine1 Ethernet80 to spine1 Ethernet0",
        clean=Observed(),
    ),
    Case(
        "FG261",
        unplanned,
        "leaf1:DEVICE_NEIGHBOR|Ethernet128",
        NOTE,
        "LLDP shows a cable from leaf1 Ethernet128 to leaf2 Ethernet128, which is not planned",
        "remove the cable, or add it to the inventory",
        clean=Observed(),
        lenient=True,
    ),
    Case(
        "FG241",
        put("200000", "spine1", "PORT", "Ethernet0", "speed"),
        "spine1:PORT|Ethernet0|speed",
        ERROR,
        "speed is 200000, but the link is 400G",
        "set speed to 400000",
    ),
    Case(
        "FG242",
        put("on", "spine1", "PORT", "Ethernet0", "autoneg"),
        "spine1:PORT|Ethernet0|autoneg",
        ERROR,
        "autoneg is on, but the far end has off",
        "set the same autoneg at both ends",
    ),
    Case(
        "FG243",
        put("9000", "leaf1", "PORT", "Ethernet256", "mtu"),
        "leaf1:PORT|Ethernet256|mtu",
        ERROR,
        "mtu is 9000, but the far end has 9100",
        "set the same mtu at both ends",
    ),
    Case(
        "FG243",
        put("9000", "spine2", "PORT", "Ethernet4", "mtu"),
        "spine2:PORT|Ethernet4|mtu",
        ERROR,
        "mtu is 9000, but the far end has 9100",
        "set the same mtu at both ends",
    ),
    Case(
        "FG244",
        put("4160", "leaf1", "PORT", "Ethernet0", "mtu"),  # enough for IPv4, too small for IPv6 and atomic operations
        "leaf1:PORT|Ethernet0|mtu",
        ERROR,
        "mtu is 4160 bytes, but RoCE packets of 4096 bytes need 4192 bytes",
        "set mtu to at least 4192",
        also=("FG593",),
    ),
    Case(
        "FG244",
        put("1500", "leaf1", "PORT", "Ethernet0", "mtu"),
        "leaf1:PORT|Ethernet0|mtu",
        ERROR,
        "mtu is 1500 bytes, but RoCE packets of 4096 bytes need 4192 bytes",
        "set mtu to at least 4192",
    ),
    Case(
        "FG245",
        put("spine9", "leaf1", "DEVICE_NEIGHBOR", "Ethernet256", "name"),
        "leaf1:DEVICE_NEIGHBOR|Ethernet256|name",
        ERROR,
        "name is spine9, but the cable leads to spine1 Ethernet0",
        "set name to spine1",
    ),
    Case(
        "FG245",
        put("nic7", "leaf1", "DEVICE_NEIGHBOR", "Ethernet0", "port"),
        "leaf1:DEVICE_NEIGHBOR|Ethernet0|port",
        ERROR,
        "port is nic7, but the cable leads to gpu1 nic0",
        "set port to nic0",
    ),
    Case(
        "FG245",
        drop("spine1", "DEVICE_NEIGHBOR", "Ethernet8"),
        "spine1:DEVICE_NEIGHBOR|Ethernet8",
        ERROR,
        "the port has no DEVICE_NEIGHBOR row, but its cable leads to leaf3 Ethernet256",
        "add the row with name and port",
    ),
    Case(
        "FG246",
        put("10.0.0.99", "leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1", "lo_addr"),
        "leaf1:DEVICE_NEIGHBOR_METADATA|spine1|lo_addr",
        ERROR,
        "lo_addr of spine1 is 10.0.0.99, but spine1 does not have this address",
        "correct lo_addr",
    ),
    Case(
        "FG246",
        put("SpineRouter", "leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1", "type"),
        "leaf1:DEVICE_NEIGHBOR_METADATA|spine1|type",
        ERROR,
        "type of spine1 is SpineRouter, but spine1 itself has LeafRouter",
        "set type to LeafRouter",
    ),
    Case(
        "FG246",
        drop("leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1"),
        "leaf1:DEVICE_NEIGHBOR_METADATA|spine1",
        WARNING,
        "the neighbor spine1 has no DEVICE_NEIGHBOR_METADATA row",
        "add the row",
    ),
    Case(
        "FG246",
        drop("leaf1", "DEVICE_NEIGHBOR_METADATA", "spine1", "type"),
        "leaf1:DEVICE_NEIGHBOR_METADATA|spine1|type",
        WARNING,
        "the type of spine1 is missing",
        "add type",
    ),
    Case(
        "FG247",
        put({"name": "spine4", "port": "Ethernet0"}, "leaf1", "DEVICE_NEIGHBOR", "Ethernet504"),
        "leaf1:DEVICE_NEIGHBOR|Ethernet504",
        WARNING,
        "a port without a cable has a DEVICE_NEIGHBOR row",
        "a port without a cable has a DEVICE_NEIGHBOR row",
    ),
    Case(
        "FG248",
        both(drop("leaf1", "PORT", "Ethernet256"), put("Unheard-Of", "leaf1", *META, "hwsku")),
        "leaf1:PORT|Ethernet256",
        ERROR,
        "the cable to spine1 ends at Ethernet256, which does not exist",
        "add the port, or move the cable",
        lenient=True,
    ),
    Case(
        "FG250",
        both(
            put("spine1:Ethernet8", "leaf1", "PORT", "Ethernet264", "description"),
            put("gpu1 nic0", "leaf1", "PORT", "Ethernet0", "description"),
            put("gpu2 nic0", "leaf1", "PORT", "Ethernet4", "description"),
            put("spine1:Ethernet0", "leaf1", "PORT", "Ethernet256", "description"),
            put("spine2:Ethernet0", "leaf1", "PORT", "Ethernet260", "description"),
        ),
        "leaf1:PORT|Ethernet264|description",
        WARNING,
        "the cable leads to spine3 Ethernet0, but the description differs",
        "set description to spine3:Ethernet0",
    ),
    Case(
        "FG416",
        put("spine3:Ethernet0", "leaf1", "PORT", "Ethernet256", "description"),
        "leaf1:PORT|Ethernet256|description",
        WARNING,
        "the description names spine3 Ethernet0 as the far end, but DEVICE_NEIGHBOR connects leaf1 Ethernet256 with "
        "spine1 Ethernet0",
        "correct the wrong one, or give the cables with --lldp or --links",
        clean=Loose(),
    ),
    Case(
        "FG251",
        unchanged,
        "leaf3:DEVICE_NEIGHBOR|Ethernet0",
        ERROR,
        "the NIC is on rail 2, but the leaf serves rail 0",
        "move the cable to a leaf of rail 1",
        clean=Switches(plug=of_wiring(with_rails)),
    ),
    Case(
        "FG285",
        unchanged,
        "spine1:DEVICE_NEIGHBOR",
        WARNING,
        "spine1 is the only spine in service of leaf1, leaf2, leaf3",
        "add a second switch to the tier, and share the uplinks",
        clean=Switches(plug=of_wiring(rewired(lambda link: link.b[0] not in ("spine2", "spine3")))),
        lenient=True,
    ),
    Case(
        "FG431",
        unchanged,
        "leaf1:DEVICE_NEIGHBOR",
        ERROR,
        "leaf1, leaf2, leaf3 have no spine in service: no packet passes between them",
        "keep a spine of each leaf active in `devices`",
        clean=Switches(plug=of_wiring(lambda wiring: drained("spine1")(drained("spine2")(drained("spine3")(wiring))))),
        lenient=True,
    ),
    Case(
        "FG252",
        unchanged,
        "leaf2:DEVICE_NEIGHBOR",
        WARNING,
        "hosts have 2 times the bandwidth of the uplinks, the median of the leaves is 0.67",
        "add uplinks",
        clean=Switches(plug=of_wiring(rewired(lambda link: link.a[0] != "leaf2" or link.b[0] == "spine1"))),
        lenient=True,
    ),
    Case(
        "FG253",
        unchanged,
        "leaf1:DEVICE_NEIGHBOR",
        WARNING,
        "one spine has 2 more links to this leaf than another, but most leaves spread them evenly",
        "distribute the cables evenly over the spines",
        clean=Switches(
            plug=of_wiring(
                lambda wiring: dataclasses.replace(
                    wiring,
                    links=(
                        *wiring.links,
                        *(
                            dataclasses.replace(
                                wiring.links[-1],
                                id=f"more{port}",
                                a=("leaf1", f"Ethernet{port}"),
                                b=("spine1", f"Ethernet{port}"),
                            )
                            for port in (300, 304)
                        ),
                    ),
                )
            )
        ),
        lenient=True,
    ),
    Case(
        "FG246",
        put({"type": "LeafRouter"}, "leaf1", "DEVICE_NEIGHBOR_METADATA", "gpu1"),
        "leaf1:DEVICE_NEIGHBOR_METADATA|gpu1|type",
        WARNING,
        "gpu1 is a host, but its type is LeafRouter",
        "set type to Server",
        lenient=True,
    ),
    Case(
        "FG277",
        both(
            put(MACSEC, "leaf1", "MACSEC_PROFILE", "p1"),
            put("p1", "leaf1", "PORT", "Ethernet256", "macsec"),
        ),
        "spine1:PORT|Ethernet0|macsec",
        ERROR,
        "the port has no MACsec, but leaf1 encrypts with p1",
        "set macsec at both ends",
        related="leaf1:PORT|Ethernet256|macsec",
        also=("FG278", "FG592", "FG593"),
    ),
    Case(
        "FG277",
        both(
            put(MACSEC, "leaf1", "MACSEC_PROFILE", "p1"),
            put("p1", "leaf1", "PORT", "Ethernet256", "macsec"),
            put({**MACSEC, "primary_ckn": "2" * 64}, "spine1", "MACSEC_PROFILE", "p1"),
            put("p1", "spine1", "PORT", "Ethernet0", "macsec"),
        ),
        "leaf1:MACSEC_PROFILE|p1|primary_ckn",
        ERROR,
        f"primary_ckn of the MACsec profiles differs at the two ends: {'1' * 64} and {'2' * 64}",
        "set primary_ckn to one value at both ends",
        lenient=True,
    ),
    Case(
        "FG277",
        both(put(MACSEC, "leaf1", "MACSEC_PROFILE", "p1"), put("p1", "leaf1", "PORT", "Ethernet0", "macsec")),
        "leaf1:PORT|Ethernet0|macsec",
        WARNING,
        "the port encrypts with p1, but no file shows that its host gpu1 does",
        "remove macsec from ports of hosts",
        also=("FG278", "FG592", "FG593"),
    ),
    Case(
        "FG278",
        both(
            put(MACSEC, "leaf1", "MACSEC_PROFILE", "p1"),
            put("p1", "leaf1", "PORT", "Ethernet256", "macsec"),
            put(MACSEC, "spine1", "MACSEC_PROFILE", "p1"),
            put("p1", "spine1", "PORT", "Ethernet0", "macsec"),
        ),
        "leaf1:PORT|Ethernet256|macsec",
        WARNING,
        "the port encrypts with p1 and has PFC: not all chips send pause frames then",
        "test PFC over MACsec on this image, or remove macsec",
        also=("FG592", "FG593"),
        also_at=("spine1",),
    ),
    Case(
        "FG245",
        without_neighbors,
        "leaf1:DEVICE_NEIGHBOR",
        ERROR,
        "the switch has no DEVICE_NEIGHBOR row, so SONiC's templates treat no port as active",
        "add a row with name and port for each cable",
        lenient=True,
    ),
    Case(
        "FG721",
        retried("8992"),  # a sample row of SONiC's HLD for 400G and 40 m
        "leaf1:LLR_PROFILE|p|max_outstanding_bytes",
        ERROR,
        "max_outstanding_bytes is 8992, but Ethernet256 with 400G and 40m of cable has 20000 bytes on the way in a round "
        "trip",
        "set max_outstanding_bytes to the value of `fabricgen handoff link-retry`",
        also=("FG401",),
        also_at=("spine1",),
        lenient=True,
    ),
    Case(
        "FG721",
        both(retried("77920"), put("400", "leaf1", "LLR_PROFILE", "p", "max_replay_timer")),
        "leaf1:LLR_PROFILE|p|max_replay_timer",
        ERROR,
        "max_replay_timer is 400 ns, but a round trip of 40m of cable at Ethernet256 takes 400 ns",
        "set max_replay_timer to the value of `fabricgen handoff link-retry`",
        lenient=True,
    ),
    Case(
        "FG722",
        retried("77920", "enabled", "disabled"),
        "leaf1:LLR_PORT|Ethernet256|llr_remote",
        ERROR,
        "llr_remote is enabled, but llr_local of spine1 Ethernet0 is disabled",
        "enable llr_local and llr_remote at both ends",
        related="spine1:LLR_PORT|Ethernet0",
        also=("FG401",),
        also_at=("spine1",),
        lenient=True,
    ),
]

DOMAIN = ("MCLAG_DOMAIN", "1")
BOND = "PortChannel0"


def paired(code: str, change: Callable[[Path], object], path: str, message: str, hint: str) -> Case:
    """A bad case of the two leaves of a pair."""
    return Case(code, change, path, ERROR, message, hint, clean=PAIRS, lenient=True)


CASES += [
    paired(
        "FG682",
        Row(FIRST, *DOMAIN, "10.1.0.99", "source_ip"),
        f"{FIRST}:MCLAG_DOMAIN|1|source_ip",
        "source_ip is 10.1.0.99, which is not an address of the switch",
        "set it to the address of Loopback0",
    ),
    paired(
        "FG682",
        Row(FIRST, *DOMAIN, "10.1.0.3", "peer_ip"),
        f"{FIRST}:MCLAG_DOMAIN|1|peer_ip",
        "peer_ip is 10.1.0.3, an address of the switch",
        "set it to that of the peer",
    ),
    paired(
        "FG682",
        Row(FIRST, *DOMAIN, "10.9.0.9", "peer_ip"),
        f"{FIRST}:MCLAG_DOMAIN|1|peer_ip",
        "peer_ip is 10.9.0.9, which is not an address of a switch",
        "set it to source_ip of the peer",
    ),
    paired(
        "FG682",
        both_rows(
            Row(SECOND, *DOMAIN, None), *(Row(SECOND, "MCLAG_INTERFACE", f"1|{BOND[:-1]}{n}", None) for n in (0, 4))
        ),
        f"{FIRST}:MCLAG_DOMAIN|1|peer_ip",
        f"peer_ip is an address of {SECOND}, which has no MCLAG domain",
        f"add MCLAG_DOMAIN to {SECOND}, or correct peer_ip",
    ),
    paired(
        "FG682",
        both_rows(
            Row(SECOND, "MCLAG_DOMAIN", "2", {"source_ip": "10.1.0.4", "peer_ip": "10.1.0.3"}),
            Row(SECOND, *DOMAIN, None),
        ),
        f"{FIRST}:MCLAG_DOMAIN|1",
        f"the domain is 1, but that of {SECOND} is 2",
        "use one number",
    ),
    paired(
        "FG682",
        Row(SECOND, *DOMAIN, "10.1.0.5", "peer_ip"),
        f"{FIRST}:MCLAG_DOMAIN|1|peer_ip",
        f"the session goes from 10.1.0.3 to 10.1.0.4, but that of {SECOND} from 10.1.0.4 to 10.1.0.5",
        "make source_ip of each leaf peer_ip of the other",
    ),
    paired(
        "FG683",
        Row(FIRST, *DOMAIN, None, "peer_link"),
        f"{FIRST}:MCLAG_DOMAIN|1|peer_link",
        "the domain has bonds in VLANs, but no peer_link",
        "set peer_link at both leaves",
    ),
    paired(
        "FG683",
        Row(FIRST, "MCLAG_INTERFACE", "1|PortChannel496", {"if_type": "PortChannel"}),
        f"{FIRST}:MCLAG_INTERFACE|1|PortChannel496",
        "PortChannel496 is the peer link, which no host has",
        "remove the row",
    ),
    paired(
        "FG683",
        Row(FIRST, "VLAN_MEMBER", "Vlan110|PortChannel496", None),
        f"{FIRST}:VLAN_MEMBER|Vlan110|PortChannel496",
        "Vlan110 has bonds of both leaves, but the peer link PortChannel496 is not a member of it",
        "add the row VLAN_MEMBER|Vlan110|PortChannel496 with tagging_mode tagged",
    ),
    paired(
        "FG683",
        Row(SECOND, "VLAN_MEMBER", "Vlan110|PortChannel496", "untagged", "tagging_mode"),
        f"{FIRST}:VLAN_MEMBER|Vlan110|PortChannel496|tagging_mode",
        f"the peer link is tagged in Vlan110, but untagged at {SECOND}",
        "set tagging_mode to tagged at both",
    ),
    paired(
        "FG683",
        both_rows(
            Row(FIRST, "PORTCHANNEL_MEMBER", "PortChannel496|Ethernet504", {}),
            Row(FIRST, "PORTCHANNEL_MEMBER", "PortChannel496|Ethernet496", None),
        ),
        f"{FIRST}:PORTCHANNEL_MEMBER|PortChannel496|Ethernet504",
        "Ethernet504 is in the peer link, but leads to Ethernet0 of in-band-spine-00",
        f"connect it to a port of PortChannel496 of {SECOND}",
    ),
    paired(
        "FG684",
        Row(SECOND, "MCLAG_INTERFACE", f"1|{BOND}", None),
        f"{FIRST}:MCLAG_INTERFACE|1|{BOND}",
        f"{BOND} is a bond of two leaves, but {SECOND} does not have it in MCLAG_INTERFACE",
        f"add the row to {SECOND}, or remove it here",
    ),
    paired(
        "FG684",
        Row(SECOND, "VLAN_MEMBER", f"Vlan110|{BOND}", None),
        f"{FIRST}:VLAN_MEMBER|Vlan110|{BOND}",
        f"{BOND} is untagged in Vlan110, but at {SECOND} it is not in it",
        "give both leaves the same row",
    ),
    paired(
        "FG684",
        Row(SECOND, "PORTCHANNEL", BOND, "11", "lacp_key"),
        f"{FIRST}:PORTCHANNEL|{BOND}|lacp_key",
        f"lacp_key of {BOND} is auto, but 11 at {SECOND}",
        "give both leaves the same value",
    ),
    paired(
        "FG684",
        Row(SECOND, "PORTCHANNEL", BOND, "true", "fallback"),
        f"{SECOND}:PORTCHANNEL|{BOND}|fallback",
        f"{BOND} has fallback, and each leaf sends to its own port of a host without LACP",
        "remove fallback",
    ),
    paired(
        "FG684",
        both_rows(
            *(Row(FIRST, "PORTCHANNEL_INTERFACE", f"{BOND}{end}", {}) for end in ("", "|10.8.0.1/31")),
        ),
        f"{FIRST}:PORTCHANNEL_INTERFACE|{BOND}",
        f"{BOND} has other addresses at {SECOND}",
        "give both leaves the same addresses",
    ),
    paired(
        "FG684",
        other_host,
        f"{FIRST}:PORTCHANNEL|{BOND}",
        f"{BOND} leads to gpu-000, but at {SECOND} to gpu-001",
        "use one port channel of both leaves for one host",
    ),
    paired(
        "FG685",
        both_rows(
            Row(SECOND, "VLAN_INTERFACE", "Vlan110|10.224.0.1/29", None),
            Row(SECOND, "VLAN_INTERFACE", "Vlan110|10.224.0.6/29", {}),
        ),
        f"{FIRST}:VLAN_INTERFACE|Vlan110",
        f"Vlan110 has 10.224.0.1/29, but 10.224.0.6/29 at {SECOND}",
        "give both leaves the address of the gateway",
    ),
    paired(
        "FG685",
        Row(FIRST, "MCLAG_UNIQUE_IP", "Vlan110", {"unique_ip": "enable"}),
        f"{FIRST}:MCLAG_UNIQUE_IP|Vlan110",
        f"Vlan110 has unique addresses here, but not at {SECOND}",
        f"add the row to {SECOND}, or remove it here",
    ),
    paired(
        "FG685",
        both_rows(*(Row(leaf, "MCLAG_UNIQUE_IP", "Vlan110", {"unique_ip": "enable"}) for leaf in (FIRST, SECOND))),
        f"{FIRST}:VLAN_INTERFACE|Vlan110",
        "10.224.0.1/29 is at both leaves, but Vlan110 is in MCLAG_UNIQUE_IP",
        "remove the row of MCLAG_UNIQUE_IP",
    ),
    paired(
        "FG687",
        Row(FIRST, "FEATURE", "iccpd", "disabled", "state"),
        f"{FIRST}:FEATURE|iccpd",
        "MCLAG_DOMAIN has a row, but FEATURE|iccpd is not enabled",
        "set its state to enabled",
    ),
    dataclasses.replace(
        paired(
            "FG687",
            unchanged,
            f"{FIRST}:MCLAG_DOMAIN|1",
            "the image needs iccpd, which images of the community do not have",
            "build the image with INCLUDE_ICCPD = y, or use that of a vendor with MCLAG",
        ),
        severity=NOTE,
    ),
]

CASES += [
    Case(
        "FG596",
        unchanged,
        "inband1:DEVICE_NEIGHBOR|Ethernet256",
        ERROR,
        "the cable leads to spine1 on plane compute, but this switch is on plane in-band",
        "separate the planes: only hosts are on several planes",
        clean=Switches("planes", plug=of_wiring(across_planes)),
        lenient=True,
    ),
    Case(
        "FG596",
        put("inband1", "leaf1", "DEVICE_NEIGHBOR", "Ethernet256", "name"),
        "leaf1:DEVICE_NEIGHBOR|Ethernet256|name",
        ERROR,
        "the neighbor inband1 is on plane in-band, but this switch is on plane compute",
        "separate the planes: only hosts are on several planes",
        clean=Switches("planes"),
        also=("FG245", "FG246"),
    ),
    Case(
        "FG596",
        put({"name": "spine1", "port": "Ethernet500"}, "inband1", "DEVICE_NEIGHBOR", "Ethernet500"),
        "inband1:DEVICE_NEIGHBOR|Ethernet500|name",
        ERROR,
        "the neighbor spine1 is on plane compute, but this switch is on plane in-band",
        "separate the planes: only hosts are on several planes",
        clean=Switches("planes"),
        lenient=True,
    ),
    Case(
        "FG596",
        put({"asn": "4200000007", "name": "inband1", "local_addr": "10.128.0.0"}, "spine1", "BGP_NEIGHBOR", "10.0.0.7"),
        "spine1:BGP_NEIGHBOR|10.0.0.7",
        ERROR,
        "the peer inband1 is on plane in-band, but this switch is on plane compute",
        "separate the planes: only hosts are on several planes",
        clean=Switches("planes"),
        lenient=True,
    ),
]
