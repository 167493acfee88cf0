"""Runs in a kernel with bonds: builds pairs of leaves with FRR and hosts with bonds, and reports who reaches whom.

    python pairs_inside.py SPEC RESULTS

SPEC has scenarios: for each the tables and the FRR configuration of switches, their links, hosts, and states in which
switches and links fail. A pair of hosts counts as connected if a packet of each of many flows arrives, so that bonds
and equal paths use each of their ports.

Devices of the kernel are made as daemons of SONiC make them: sonic-swss cfgmgr/teammgr.cpp (port channels, of bonds
here, because teamd is not packaged with FRR), cfgmgr/vlanmgr.cpp (one bridge, VLANs on it). iccpd does not run. What it
sets is set here from the same rows:
- the LACP system and the MAC address of VLANs are those of the leaf with the lower address (src/iccpd/src/
  mlacp_link_handler.c, update_if_ipmac_on_standby);
- no frame goes from the peer link to a port channel that is up at both leaves (mlacp_link_handler.c,
  update_peerlink_isolate_from_all_csm_lif), and the peer link does not learn;
- MAC and ARP entries of hosts are at both leaves; where the port channel is down they point to the peer link
  (mlacp_link_handler.c, do_mac_update_from_peer and do_arp_update_from_reply_packet).
"""

import contextlib
import json
import select
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "isolation"))

import inside as kernel

_MODULES = ("bonding", "bridge", "8021q", "veth", "sch_ingress", "cls_matchall", "cls_fw", "act_skbedit", "act_gact")
_FLOWS, _PORT = 16, 7000
_DEADLINE_S, _SETTLED_S = 45, 3
_BOND = "mode 802.3ad miimon 100 lacp_rate fast xmit_hash_policy layer3+4"


def main(spec, results):
    kernel._MODULES = _MODULES
    kernel.load_modules()
    found = {}
    for name, scenario in json.loads(Path(spec).read_text()).items():
        lab = PairLab(scenario)
        lab.open()
        found[name] = {}
        for state in scenario["states"]:
            started = time.monotonic()
            lab.fail(state)
            found[name][state["name"]] = lab.settled(state)
            kernel.note(f"{name} {state['name']}: {time.monotonic() - started:.1f} s")
            Path(results).write_text(json.dumps(found))
        lab.close()
    Path(results).write_text(json.dumps(found))


class PairLab(kernel.Lab):
    """The namespaces and daemons of one scenario."""

    def __init__(self, scenario):
        super().__init__(scenario)
        self.folder = Path("/run/pair-lab")
        self.down = set()
        self.senders, self.receivers = {}, {}

    def open(self):
        kernel.shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.folder.chmod(0o755)
        kernel.batch([f"netns add {name}" for name in [*self.switches, *(one["name"] for one in self.hosts)]])
        wires = [*self.scenario["links"]]
        wires += [[switch, port, host["name"], nic] for host in self.hosts for nic, switch, port in host["ports"]]
        kernel.batch([f"link add name {p} netns {a} type veth peer name {q} netns {b}" for a, p, b, q in wires])
        self.far = {(a, p): (b, q) for a, p, b, q in wires} | {(b, q): (a, p) for a, p, b, q in wires}
        for name, switch in self.switches.items():
            self._pair_switch(name, switch["config"])
        for host in self.hosts:
            nics = [nic for nic, _, _ in host["ports"]]
            lines = [f"link add bond0 type bond {_BOND}", "link set lo up"]
            lines += [f"link set {nic} master bond0" for nic in nics]
            lines += [f"link set bond0 address {host['mac']}", "link set bond0 up"]
            lines += [f"address add {host['address']} dev bond0", f"route add default via {host['gateway']}"]
            kernel.batch(lines, host["name"])
            own = host["address"].partition("/")[0]
            self.receivers[host["name"]] = kernel.in_namespace(host["name"], kernel.bound(own, _PORT))
            self.senders[host["name"]] = [
                kernel.in_namespace(host["name"], kernel.bound(own, _PORT + 1 + flow)) for flow in range(_FLOWS)
            ]
        self._start()
        kernel.note("started")

    @property
    def hosts(self):
        return self.scenario["hosts"]

    def fail(self, state):
        """Let what has failed come up again, and these switches and links fail."""
        ends = {tuple(end) for end in state["ports"]}
        for name in state["switches"]:
            ends |= {end for end in self.far if end[0] == name}
        for switch, port in sorted(self.down ^ ends):
            way = "down" if (switch, port) in ends else "up"
            kernel.batch([f"link set {port} {way}"], switch)
        self.down = ends
        gone = set(state["switches"])
        for name, switch in self.switches.items():
            if name not in gone:
                self._as_iccpd(name, switch["config"], gone)

    def settled(self, state):
        """[source, target] of connected hosts, once they are as expected for a while or time is up."""
        since, end = time.monotonic(), time.monotonic() + _DEADLINE_S
        while True:
            found = self.connected(set(state["hosts"]))
            now = time.monotonic()
            if found != state["expected"]:
                since = now
            if now >= end or now - since >= _SETTLED_S:
                return found

    def connected(self, names):
        arrived = set()
        by_socket = {one.fileno(): name for name, one in self.receivers.items()}
        address = {one["name"]: one["address"].partition("/")[0] for one in self.hosts}
        for _ in range(3):
            for source in names:
                for target in names - {source}:
                    for flow, sender in enumerate(self.senders[source]):
                        with contextlib.suppress(OSError):
                            sender.sendto(f"{source} {flow}".encode(), (address[target], _PORT))
            until = time.monotonic() + 0.4
            while (left := until - time.monotonic()) > 0:
                for descriptor in select.select(list(by_socket), [], [], left)[0]:
                    target = by_socket[descriptor]
                    with contextlib.suppress(OSError):
                        arrived.add((self.receivers[target].recv(100).decode(), target))
        return sorted(
            [source, target]
            for source in names
            for target in names - {source}
            if all((f"{source} {flow}", target) in arrived for flow in range(_FLOWS))
        )

    def close(self):
        for one in (*self.receivers.values(), *(each for own in self.senders.values() for each in own)):
            one.close()
        super().close()

    def _pair_switch(self, name, config):
        ports = [port for owner, port in self.far if owner == name]
        channel_of = {key.partition("|")[2]: key.partition("|")[0] for key in config.get("PORTCHANNEL_MEMBER", {})}
        system, shared = self._system(name, config)
        lines = ["link set lo up", "link add Bridge type bridge vlan_filtering 1 vlan_default_pvid 0"]
        lines += [f"link set Bridge address {system}", "link set Bridge up"]  # else it floods frames to the gateway
        for channel in config.get("PORTCHANNEL", {}):
            key = int(channel.removeprefix("PortChannel")) % 1023 + 1  # LACP keys of users have ten bits in Linux
            actor = f"ad_actor_system {system}" if channel in shared else ""
            lines.append(f"link add {channel} type bond {_BOND} ad_user_port_key {key} {actor}")
        lines += [f"link set {port} master {channel}" for port, channel in channel_of.items() if port in ports]
        lines += [f"link set {channel} up" for channel in config.get("PORTCHANNEL", {})]
        members = {key.partition("|")[2] for key in config.get("VLAN_MEMBER", {})}
        members = [one for one in members if one in ports or one.startswith("PortChannel")]
        lines += [f"link set {member} master Bridge" for member in members]
        for vlan, row in config.get("VLAN", {}).items():
            lines += [f"link add link Bridge name {vlan} address {system} type vlan id {row['vlanid']}"]
            lines += [f"link set {vlan} up"]
        for table in ("INTERFACE", "LOOPBACK_INTERFACE", "VLAN_INTERFACE"):
            for key in config.get(table, {}):
                interface, _, address = key.partition("|")
                if address and (interface in ports or not interface.startswith("Ethernet")):
                    own = "lo" if interface.startswith("Loopback") else interface
                    lines.append(f"address add {address} dev {own}")
        lines += [f"link set {port} up" for port in ports if port not in channel_of]
        fields = 0x37 if config.get("VLAN") else 0x10  # leaves and spines hash differently, so that all paths are used
        settings = ["net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"]
        settings += ["net.ipv4.fib_multipath_hash_policy=3", f"net.ipv4.fib_multipath_hash_fields={fields}"]
        kernel.inside(name, "sysctl", "-qw", *settings)
        kernel.batch(lines, name)
        lines = [f"vlan add dev Bridge vid {row['vlanid']} self" for row in config.get("VLAN", {}).values()]
        for key, row in config.get("VLAN_MEMBER", {}).items():
            vlan, _, member = key.partition("|")
            untagged = "pvid untagged" if row["tagging_mode"] == "untagged" else ""
            if member in members:
                lines.append(f"vlan add dev {member} vid {vlan.removeprefix('Vlan')} {untagged}")
        kernel.inside(name, "bridge", "-batch", "-", text="\n".join(lines) + "\n")
        if shared:
            self._filter(name, config, shared)

    def _filter(self, name, config, shared):
        link = self._domain(config)["peer_link"]
        if any(key.endswith(f"|{link}") for key in config["VLAN_MEMBER"]):
            kernel.inside(name, "bridge", "link", "set", "dev", link, "learning", "off")
        rules = [f"qdisc add dev {link} clsact", f"filter add dev {link} ingress matchall action skbedit mark 1"]
        rules += [f"qdisc add dev {channel} clsact" for channel in shared]
        kernel.inside(name, "tc", "-batch", "-", text="\n".join(rules) + "\n")

    @staticmethod
    def _domain(config):
        for number, row in config.get("MCLAG_DOMAIN", {}).items():
            return {**row, "number": number}
        return {}

    def _peer(self, config):
        own = self._domain(config)
        for name, switch in self.switches.items():
            other = self._domain(switch["config"])
            if own and (other.get("source_ip"), other.get("peer_ip")) == (own["peer_ip"], own["source_ip"]):
                return name if other["number"] == own["number"] else ""
        return ""

    def _system(self, name, config):
        """The MAC address of the system, and the port channels of which the leaf is one half."""
        own, peer = self._domain(config), self._peer(config)
        active = name
        if peer and tuple(map(int, own["peer_ip"].split("."))) < tuple(map(int, own["source_ip"].split("."))):
            active = peer
        mac = f"02:00:00:00:00:{list(self.switches).index(active):02x}"
        if not peer:
            return mac, []
        tables = [one["config"].get("MCLAG_INTERFACE", {}) for one in (self.switches[name], self.switches[peer])]
        keys = set(tables[0]) & set(tables[1])
        return mac, sorted(key.partition("|")[2] for key in keys)

    def _as_iccpd(self, name, config, gone):
        """The entries and filters that iccpd has in this state."""
        _, shared = self._system(name, config)
        peer, link = self._peer(config), self._domain(config).get("peer_link", "")
        channel_of = {key.partition("|")[2]: key.partition("|")[0] for key in config.get("PORTCHANNEL_MEMBER", {})}
        for host in self.hosts:
            places = {(switch, port) for _, switch, port in host["ports"]}
            own = [port for switch, port in places if switch == name]
            channel = next((channel_of.get(port, "") for port in own), "")
            if channel not in shared:
                continue
            up = any((name, port) not in self.down for port in own)
            there = peer not in gone and any(end not in self.down for end in places if end[0] == peer)
            isolated = up and there
            kernel.inside(name, "tc", "-force", "-batch", "-", text=f"filter del dev {channel} egress\n")
            if isolated:
                rule = f"filter add dev {channel} egress handle 1 fw action drop\n"
                kernel.inside(name, "tc", "-batch", "-", text=rule)
            vlans = [key.partition("|")[0] for key in config["VLAN_MEMBER"] if key.endswith(f"|{channel}")]
            address = host["address"].partition("/")[0]
            for vlan in vlans:
                out, vid = channel if up else link, vlan.removeprefix("Vlan")
                entry = f"fdb replace {host['mac']} dev {out} vlan {vid} master static\n"
                kernel.inside(name, "bridge", "-force", "-batch", "-", text=entry)
                kernel.batch([f"neighbor replace {address} lladdr {host['mac']} dev {vlan} nud permanent"], name)


if __name__ == "__main__":
    main(*sys.argv[1:])
