"""BGP of hosts with their leaves: frr.conf of each host, or objects of Kubernetes for Cilium, Calico or MetalLB.

Each host opens a session to the gateway of each of its interfaces, and announces only parts of the prefixes of
fabric.json.

Source: cilium/cilium@22ca075b pkg/k8s/apis/cilium.io/client/crds/v2 (CiliumBGPClusterConfig, CiliumBGPPeerConfig,
CiliumBGPAdvertisement); projectcalico/calico@0ed43653 api/config/crd (BGPPeer, BGPConfiguration, BGPFilter; asNumber
has the format int32, so the API server refuses larger ones: issue 13494); metallb/metallb@7938d3f8 config/crd/bases
(BGPPeer v1beta2, IPAddressPool, BGPAdvertisement); FRR bgpd.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_interface
from typing import TYPE_CHECKING, Any

from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_HOSTS, Handoff, Option, WrittenFiles
from fabricgen.handoff.chosen import fits, object_name, refuse_node_names, refuse_strange_names
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredHost, WiredSpeaker

SPEAKERS = ("frr", "cilium", "calico", "metallb")
MOST_OF_CALICO = 2**31 - 1
_OUT, _IN = "TO-LEAF", "FROM-LEAF"
_NODE = "kubernetes.io/hostname"
_ADVERTISED = {"fabricgen.io/advertise": "hosts"}
_BITS = {4: 32, 6: 128}

Manifest = dict[str, Any]


@dataclass(frozen=True, order=True)
class Peer:
    """The far end of a session: the address and ASN of a leaf."""

    address: str
    asn: int
    leaf: str

    @property
    def version(self) -> int:
        """The IP version of the session."""
        return 6 if ":" in self.address else 4


@dataclass(frozen=True)
class Speaker:
    """A host that speaks BGP. `router_id` is its first IPv4 address; "" without one."""

    host: str
    asn: int
    prefixes: tuple[str, ...]
    peers: tuple[Peer, ...]
    router_id: str


def host_bgp_files(bundle: "Bundle", speaker: str = "frr", only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the files of a kind of speaker. Raises UsageError if no host of the bundle speaks BGP,
    or if the speaker cannot have the ASN of a leaf."""
    found = [one for one in speakers_of(bundle) if fits(one.host, only)]
    if not found:
        if only is not None:
            raise UsageError(f"--only {only}: no host with BGP matches")
        raise UsageError("no host of the bundle speaks BGP: set `bgp` in `access` of a plane")
    refuse_strange_names((one.host for one in found), "host name")
    if speaker == "frr":
        for one in found:
            yield f"{one.host}/frr.conf", _frr_conf(one).encode()
        return
    from fabricgen.handoff.manifests import dump

    refuse_node_names(one.host for one in found)
    manifests = {"cilium": _cilium, "calico": _calico, "metallb": _metallb}[speaker]
    yield f"{speaker}.yaml", dump(list(manifests(found)))


def speakers_of(bundle: "Bundle") -> Iterator[Speaker]:
    """The hosts that speak BGP, in the order of fabric.json. One on two planes has the ASN of the first."""
    wiring = bundle.wiring
    known = {(one.group, one.plane): one for one in (wiring.speakers if wiring else ())}
    for host in wiring.hosts if wiring and known else ():
        own = list(dict.fromkeys(known[host.group, nic.plane] for nic in host.nics if (host.group, nic.plane) in known))
        peers = tuple(dict.fromkeys(_peers(bundle, host, own)))
        if not peers:
            continue
        texts = (text for nic in host.nics for text in nic.addresses if ":" not in text)
        router_id = next((str(ip_interface(text).ip) for text in texts), "")
        prefixes = tuple(dict.fromkeys(prefix for one in own for prefix in one.prefixes))
        yield Speaker(host.name, own[0].asn, prefixes, peers, router_id)


def _peers(bundle: "Bundle", host: "WiredHost", own: Sequence["WiredSpeaker"]) -> Iterator[Peer]:
    """The addresses of the leaves in the subnets of a host."""
    from fabricgen.bundle.outside import read_speaker

    planes = {one.plane for one in own}
    for nic in host.nics:
        link = bundle.link_at.get((host.name, nic.name))
        if link is None or nic.plane not in planes or link.b[0] not in bundle.devices:
            continue
        leaf = read_speaker(bundle.devices[link.b[0]].config)
        for text in nic.addresses:
            mine = ip_interface(text)
            for held in leaf.addresses:
                gateway = ip_interface(held.key.rpartition("|")[2])
                if leaf.asn and gateway.network == mine.network and gateway.ip != mine.ip:
                    yield Peer(str(gateway.ip), leaf.asn, link.b[0])


def _frr_conf(one: Speaker) -> str:
    lines = [f"! {one.host}: /etc/frr/frr.conf", "frr defaults datacenter", f"hostname {one.host}"]
    versions = sorted({peer.version for peer in one.peers})
    words = {4: "ip", 6: "ipv6"}
    for version in versions:
        listed = [prefix for prefix in one.prefixes if (6 if ":" in prefix else 4) == version]
        name = f"{_OUT}-{words[version].upper()}"
        for index, prefix in enumerate(listed, 1):
            length = int(prefix.rpartition("/")[2])
            more = f" ge {length + 1} le {_BITS[version]}" if length < _BITS[version] else ""
            lines.append(f"{words[version]} prefix-list {name} seq {5 * index} permit {prefix}{more}")
        if listed:
            lines += [f"route-map {name} permit 10", f" match {words[version]} address prefix-list {name}", "exit"]
        else:
            lines += [f"route-map {name} deny 10", "exit"]
    # The routes of the host are in its netplan file, also those to the prefixes themselves.
    lines += [f"route-map {_IN} deny 10", "exit", f"router bgp {one.asn}"]
    if one.router_id:
        lines.append(f" bgp router-id {one.router_id}")
    lines.append(" no bgp default ipv4-unicast")
    for peer in one.peers:
        lines += [f" neighbor {peer.address} remote-as {peer.asn}", f" neighbor {peer.address} description {peer.leaf}"]
    for version in versions:
        name = f"{_OUT}-{words[version].upper()}"
        lines.append(f" address-family ipv{version} unicast")
        lines += [f"  redistribute {source} route-map {name}" for source in ("kernel", "connected", "static")]
        for peer in (peer for peer in one.peers if peer.version == version):
            lines += [
                f"  neighbor {peer.address} activate",
                f"  neighbor {peer.address} route-map {_IN} in",
                f"  neighbor {peer.address} route-map {name} out",
            ]
        lines.append(" exit-address-family")
    return "\n".join([*lines, "exit", ""])


def _by_peers(found: Sequence[Speaker]) -> Mapping[tuple[Peer, ...], list[Speaker]]:
    """The hosts with equal sessions: those of one leaf in a VLAN, or a single host on routed ports."""
    groups: dict[tuple[Peer, ...], list[Speaker]] = {}
    for one in found:
        groups.setdefault(one.peers, []).append(one)
    return groups


def _cilium(found: Sequence[Speaker]) -> Iterator[Manifest]:
    versions = sorted({peer.version for one in found for peer in one.peers})
    for version in versions:
        family = {"afi": f"ipv{version}", "safi": "unicast", "advertisements": {"matchLabels": _ADVERTISED}}
        yield _manifest("cilium.io/v2", "CiliumBGPPeerConfig", f"leaf-ipv{version}", {"families": [family]})
    advertisement = _manifest(
        "cilium.io/v2", "CiliumBGPAdvertisement", "hosts", {"advertisements": [{"advertisementType": "PodCIDR"}]}
    )
    yield {**advertisement, "metadata": {"name": "hosts", "labels": _ADVERTISED}}
    for hosts in _by_peers(found).values():
        first = hosts[0]
        peers = [
            {
                "name": f"{object_name(peer.leaf)}-ipv{peer.version}-{number}",
                "peerASN": peer.asn,
                "peerAddress": peer.address,
                "peerConfigRef": {"name": f"leaf-ipv{peer.version}"},
            }
            for number, peer in enumerate(first.peers)
        ]
        instance = {"name": "fabric", "localASN": first.asn, "peers": peers}
        spec = {"nodeSelector": {"matchExpressions": [_nodes(hosts)]}, "bgpInstances": [instance]}
        yield _manifest("cilium.io/v2", "CiliumBGPClusterConfig", f"leaf-of-{first.host}", spec)


def _calico(found: Sequence[Speaker]) -> Iterator[Manifest]:
    asns = sorted({one.asn for one in found})
    if len(asns) > 1:
        hint = "write one file for each, with --only"
        raise UsageError(f"Calico has one ASN for a cluster, and the hosts have {', '.join(map(str, asns))}: {hint}")
    wrong = next((peer for one in found for peer in one.peers if peer.asn > MOST_OF_CALICO), None)
    if asns[0] > MOST_OF_CALICO or wrong:
        number = wrong.asn if wrong else asns[0]
        raise UsageError(
            f"Calico's API server refuses AS {number}: asNumber is at most {MOST_OF_CALICO}. Set `addressing.asn: "
            "{first: 64512, last: 64999}` on the plane, with --renumber for a fabric that runs, or use another speaker"
        )
    mesh = {"asNumber": asns[0], "nodeToNodeMeshEnabled": False}
    yield _manifest("projectcalico.org/v3", "BGPConfiguration", "default", mesh)
    prefixes = list(dict.fromkeys(prefix for one in found for prefix in one.prefixes))
    exports = {
        f"exportV{version}": [
            *(
                {"action": "Accept", "matchOperator": "In", "cidr": prefix}
                for prefix in prefixes
                if (":" in prefix) == (version == 6)
            ),
            {"action": "Reject"},
        ]
        for version in (4, 6)
    }
    imports = {f"importV{version}": [{"action": "Reject"}] for version in (4, 6)}
    yield _manifest("projectcalico.org/v3", "BGPFilter", "leaf", {**exports, **imports})
    for hosts in _by_peers(found).values():
        names = ", ".join(f"'{one.host}'" for one in hosts)
        for number, peer in enumerate(hosts[0].peers):
            spec = {
                "nodeSelector": f"{_NODE} in {{{names}}}",
                "peerIP": peer.address,
                "asNumber": peer.asn,
                "filters": ["leaf"],
            }
            yield _manifest("projectcalico.org/v3", "BGPPeer", f"leaf-of-{hosts[0].host}-{number}", spec)


def _metallb(found: Sequence[Speaker]) -> Iterator[Manifest]:
    prefixes = list(dict.fromkeys(prefix for one in found for prefix in one.prefixes))
    yield _manifest("metallb.io/v1beta1", "IPAddressPool", "fabric", {"addresses": prefixes}, "metallb-system")
    pools = {"ipAddressPools": ["fabric"]}
    yield _manifest("metallb.io/v1beta1", "BGPAdvertisement", "fabric", pools, "metallb-system")
    for hosts in _by_peers(found).values():
        for number, peer in enumerate(hosts[0].peers):
            spec = {
                "myASN": hosts[0].asn,
                "peerASN": peer.asn,
                "peerAddress": peer.address,
                "nodeSelectors": [{"matchExpressions": [_nodes(hosts)]}],
            }
            name = f"leaf-of-{hosts[0].host}-{number}"
            yield _manifest("metallb.io/v1beta2", "BGPPeer", name, spec, "metallb-system")


def _nodes(hosts: Sequence[Speaker]) -> Manifest:
    return {"key": _NODE, "operator": "In", "values": [one.host for one in hosts]}


def _manifest(version: str, kind: str, name: str, spec: Manifest, namespace: str = "") -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def _notes(files: WrittenFiles) -> Iterator[str]:
    texts = [path for path in files if path.endswith("frr.conf")]
    if texts:
        yield f"{counted(len(texts), 'host')}: copy each frr.conf to /etc/frr, and set `bgpd=yes` in /etc/frr/daemons."
    elif any("cilium" in path for path in files):
        yield "Cilium announces the pod CIDR of each node: its pool must be in `prefixes` of the inventory."
    elif any("metallb" in path for path in files):
        yield "MetalLB gives services all prefixes of the pool: remove those of pods from it."


def _next_step(speaker: str = "frr", **_: object) -> str:
    if speaker == "frr":
        return "copy {output}/HOST/frr.conf to the hosts"
    return f"kubectl apply -f {{output}}/{speaker}.yaml"


HANDOFF = Handoff(
    "host-bgp",
    "Write BGP of hosts with their leaves: frr.conf of each host, or objects of Cilium, Calico or MetalLB.",
    host_bgp_files,
    (ONLY_HOSTS, Option("speaker", "What speaks BGP on the hosts.", "frr", SPEAKERS)),
    _next_step,
    _notes,
    examples=("", "--speaker cilium"),
)
