"""Addresses and ASNs of the source, as pools of the inventory and entries of its lock file."""

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from netaddr import IPNetwork, IPSet, spanning_cidr

from fabricgen.adopt.access import Accesses, vlan_blocks
from fabricgen.adopt.outside import own_prefixes
from fabricgen.adopt.source import ImportSource, Interface
from fabricgen.allocation.lock import Lock
from fabricgen.allocation.pools import block_size
from fabricgen.bundle.wiring import WiredLink
from fabricgen.inventory.prefixes import Network, contains, read_prefix
from fabricgen.sonic.tables import channel_of
from fabricgen.vocabulary import Role

# For purposes without addresses, or with addresses that no pool can contain. RFC 6598: not announced by fabrics.
_SPARE = IPNetwork("100.64.0.0/10")
_ASN_4_BYTES = 4_200_000_000


class ImportedNumbers:
    """The lock file of a fabric, and the pools of its planes."""

    def __init__(self, fabric: str, source: ImportSource) -> None:
        self.lock = Lock(fabric)
        self.pods: dict[str, int] = {}  # spine -> pod, if spines have different ASNs
        self._pools = _Pools()
        self.management = _management(source, self.lock, self._pools)
        self.lock.names |= {switch.key: switch.name for switch in source.switches.values()}

    def addressing(
        self, plane: ImportSource, links: Sequence[WiredLink], accesses: Accesses, *, numbered: bool
    ) -> dict[str, Any]:
        """The pools of a plane. Adds the numbers that the design can reproduce to the lock file."""
        lock, pools = self.lock, self._pools
        asns = _find_asns(plane, self.pods)
        lock.asns |= asns
        loopbacks = {
            switch.key: _texts(_one_of_each(switch.addresses("LOOPBACK_INTERFACE", "Loopback0")))
            for switch in plane.switches.values()
        }
        between = [link for link in links if link.a[0] in plane.switches]
        blocks = dict(_link_block(plane, link) for link in between if numbered)
        by_switch: dict[str, list[WiredLink]] = defaultdict(list)
        for link in links:
            if link.a[0] not in plane.switches:
                by_switch[link.b[0]].append(link)
        vlans = vlan_blocks(plane, links, accesses)
        host_blocks = {
            f"{plane.switches[name].key}/hosts": _block(plane, found, accesses)
            for name, found in by_switch.items()
            if any(accesses.attached(link).vlan is None for link in found)
        }
        sizes = {f"{plane.switches[name].key}/hosts": block_size(len(found)) for name, found in by_switch.items()}
        host_blocks |= vlans
        host_ports = sum(sizes[key.partition("/vlan")[0]] for key in host_blocks)
        own = own_prefixes(plane)
        found: dict[str, Any] = {"loopbacks": pools.around(loopbacks, len(loopbacks), known=own, free_ends=True)}
        if numbered:
            found["links"] = pools.around(blocks, 2 * len(between), known=own)
        found["hosts"] = pools.around(host_blocks, host_ports, known=own)
        lock.loopbacks |= loopbacks
        lock.blocks |= blocks | host_blocks
        known = sorted(asns.values())
        if known and known[0] < _ASN_4_BYTES:
            found["asn"] = {"first": known[0], "last": 65534 if known[-1] < 65535 else 4_294_967_294}
        return found


def _link_block(plane: ImportSource, link: WiredLink) -> tuple[str, list[str]]:
    a, b = (plane.switches[name] for name, _ in (link.a, link.b))
    return f"{a.key}:{link.a[1]}--{b.key}:{link.b[1]}", _shared(
        a.addresses("INTERFACE", link.a[1]), b.addresses("INTERFACE", link.b[1])
    )


def _find_asns(source: ImportSource, pods: dict[str, int]) -> dict[str, int]:
    """Owner -> ASN. Each leaf has its own. The spines of a pod share one, so spines with different ASNs get different
    pods. Cores share one."""
    found: dict[str, int] = {}
    spines = sorted({switch.asn for switch in source.switches.values() if switch.role is Role.SPINE and switch.asn})
    core = source.most(switch.asn for switch in source.switches.values() if switch.role is Role.CORE)
    for switch in source.switches.values():
        asn, owner = switch.asn, switch.key
        if switch.role is Role.SPINE:
            owner = f"{source.plane}/spine"
            if len(spines) > 1 and asn:
                pods[switch.name] = spines.index(asn)
                owner = f"{source.plane}/pod{pods[switch.name]}/spine"
        elif switch.role is Role.CORE:
            asn, owner = core, f"{source.plane}/core"
        if asn:
            found[owner] = asn
    return found


def _management(source: ImportSource, lock: Lock, pools: "_Pools") -> dict[str, Any]:
    """The network of most eth0 addresses, and the servers that all switches use."""
    held = {}
    for switch in source.switches.values():
        for one in switch.addresses("MGMT_INTERFACE", "eth0"):
            held[switch.key, one.version] = one, switch.text("MGMT_INTERFACE", f"eth0|{one}", "gwaddr")
    found = {
        version: source.most(
            (one.network, gateway) for (_, v), (one, gateway) in held.items() if v == version and _is_address(gateway)
        )
        for version in (4, 6)
    }
    chosen = [(version, *facts) for version, facts in found.items() if facts]
    chosen = [
        (version, network, gateway) for version, network, gateway in chosen if pools.take(IPNetwork(str(network)))
    ]
    if not chosen:
        return {}
    for switch in source.switches.values():
        own = [held.get((switch.key, version)) for version, _, _ in chosen]
        if all(own):
            lock.management[switch.key] = [str(one[0]) for one in own if one]
    networks, gateways = [str(network) for _, network, _ in chosen], [gateway for _, _, gateway in chosen]
    management: dict[str, Any] = {
        "addresses": networks if len(networks) > 1 else networks[0],
        "gateway": gateways if len(gateways) > 1 else gateways[0],
        "vrf": source.most(switch.text("MGMT_VRF_CONFIG", "vrf_global", "mgmtVrfEnabled") for switch in
                           source.switches.values()) == "true",
    }  # fmt: skip
    for key, table in (("ntp", "NTP_SERVER"), ("syslog", "SYSLOG_SERVER"), ("dns", "DNS_NAMESERVER")):
        named = [set(switch.tables.get(table, {})) for switch in source.switches.values()]
        common = sorted(filter(_is_address, set.intersection(*named)))
        if common:
            management[key] = common
    return management


class _Pools:
    """The prefixes that the purposes of the inventory use; no two overlap."""

    def __init__(self) -> None:
        self._taken = IPSet()
        self._spare = _SPARE.subnet(16)

    def take(self, network: IPNetwork) -> bool:
        """Take a prefix; False if any of its addresses is taken already."""
        if not self._taken.isdisjoint(IPSet([network])):
            return False
        self._taken.add(network)
        return True

    def around(
        self, given: dict[str, list[str]], needed: int, *, known: Sequence[Network], free_ends: bool = False
    ) -> str | list[str]:
        """The smallest prefix of each family that contains everything in `given`, and room for the keys without one.

        A prefix of `known` that contains it comes first. `needed` is the number of addresses of all keys. What no pool
        can serve is removed from `given`: a family that some keys do not have, and prefixes that overlap another
        purpose.
        """
        prefixes: list[str] = []
        held = {key: {IPNetwork(text).version: text for text in texts} for key, texts in given.items()}
        for version in (4, 6):
            texts = [of[version] for of in held.values() if version in of]
            is_repeated = version == 4 and len(set(texts)) < len(texts)  # planes with the same addresses
            room = 0 if len(texts) == len(held) and not is_repeated else 4 * needed
            pool = _supernet(texts, room, free_ends=free_ends) if texts and (version == 4 or not room) else None
            wider = [one for one in map(IPNetwork, map(str, known)) if pool is not None and pool in one]
            chosen = next(filter(self.take, [*wider, *filter(None, [pool])]), None)
            if chosen is not None:
                prefixes.append(str(chosen))
                continue
            for of in held.values():
                of.pop(version, None)
            if version == 4:
                prefixes.append(str(next(filter(self.take, self._spare))))
        for key, of in held.items():
            given[key] = [of[version] for version in (4, 6) if version in of]
        for key in [key for key, texts in given.items() if not texts]:
            del given[key]
        return prefixes if len(prefixes) > 1 else prefixes[0]


def _supernet(texts: Sequence[str], room: int, *, free_ends: bool) -> IPNetwork:
    """The smallest prefix that contains all addresses and is larger than `room`; with `free_ends` its first and last
    address are not among them."""
    pool = spanning_cidr([*texts, texts[0]])
    networks = list(map(IPNetwork, texts))
    ends = {min(one.first for one in networks), max(one.last for one in networks)}
    while pool.prefixlen and (pool.size <= room or (free_ends and ends & {pool.first, pool.last})):
        pool = pool.supernet(pool.prefixlen - 1)[0]
    return pool


def _one_of_each(addresses: Iterable[Interface]) -> list[Interface]:
    found: dict[int, Interface] = {}
    for one in addresses:
        found.setdefault(one.version, one)
    return [found[version] for version in sorted(found)]


def _texts(addresses: Iterable[Interface]) -> list[str]:
    return [str(one.ip) for one in addresses]


def _shared(low: Iterable[Interface], high: Iterable[Interface]) -> list[str]:
    """The subnets of two addresses that both ends share, written as the address of the lower end, the IPv4 one first.

    A subnet whose even address is at the lower end is written as the subnet.
    """
    far = {one.network: one for one in high}
    found: dict[int, str] = {}
    for one in low:
        other = far.get(one.network)
        if other and one.network.num_addresses == 2 and one.ip != other.ip:
            found.setdefault(one.version, str(one.network if int(one.ip) < int(other.ip) else one))
    return [found[version] for version in sorted(found)]


def _block(source: ImportSource, links: Sequence[WiredLink], accesses: Accesses) -> list[str]:
    """The block of the host ports of a switch: contiguous subnets of two addresses in the order of the links. Ports in
    a VLAN have none in it, and a bond has that of its first port."""
    switch, size = source.switches[links[0].b[0]], block_size(len(links))
    channels = channel_of(switch.tables.get("PORTCHANNEL_MEMBER", {}))
    slots: dict[str, int] = {}  # interface with addresses -> the slot of its first port
    for slot, link in enumerate(links):
        if accesses.attached(link).vlan is None:
            slots.setdefault(channels.get(link.b[1], link.b[1]), slot)
    texts = []
    for version in (4, 6):
        found = [
            (one, slot)
            for name, slot in slots.items()
            for table in ("INTERFACE", "PORTCHANNEL_INTERFACE")
            for one in switch.addresses(table, name)
            if one.version == version
        ]
        if len(found) != len(slots):
            continue
        firsts = {int(one.ip) - 2 * slot for one, slot in found}
        if len(firsts) == 1 and {one.network.num_addresses for one, _ in found} == {2}:
            first = ipaddress.ip_address(firsts.pop()) if version == 4 else ipaddress.IPv6Address(firsts.pop())
            length = found[0][0].max_prefixlen - size.bit_length() + 1
            minimal = ipaddress.ip_network(f"{first}/{length}", strict=False)
            if minimal.network_address == first:
                texts.append(str(_announced(switch.tables, minimal)))
    return texts


def _announced(tables: Any, minimal: Network) -> Network:
    """The aggregate that the switch announces, if it begins with the block: it has room for more hosts."""
    dropped = (key for key, row in tables.get("STATIC_ROUTE", {}).items() if row.get("advertise") == "true")
    keys = chain(tables.get("BGP_AGGREGATE_ADDRESS", {}), tables.get("BGP_GLOBALS_AF_NETWORK", {}), tables.get(
        "BGP_GLOBALS_AF_AGGREGATE_ADDR", {}), dropped)  # fmt: skip
    for text in (key.rpartition("|")[2] for key in keys):
        network = read_prefix(text)
        if isinstance(network, str):
            continue
        if network.network_address == minimal.network_address and contains(network, minimal):
            return network
    return minimal


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
