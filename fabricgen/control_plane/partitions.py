"""The partitions of an InfiniBand subnet: tenants of the inventory as P_Keys of port GUIDs.

OpenSM says nothing of a member that it does not find, of a key that it takes to be another, or of a tenant whose
members cannot talk: all of it is found here. Only ports of adapters are members, so no node GUID can get in, and
switches are in the Default partition alone.

Source: opensm 3.3.23 doc/partition-config.txt and osm_prtn_config.c: a P_Key is its low 15 bits; 0 has one made up,
which may be another tenant's; one syntax error, and every port has full membership in 0x7fff.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Host, Link, PlaneDesign
from fabricgen.design.subnets import SubnetDesign
from fabricgen.findings import Finding, Related
from fabricgen.inventory.infiniband import MemberSpec, PartitionSpec
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.references import error, suggest
from fabricgen.opensm.guids import NodeGuid, PortGuid, parse_guid
from fabricgen.opensm.options import MTU_CODES, RATE_CODES, rate_at_most

DEFAULT_PKEY = 0x7FFF
_PKEY_BITS = 0x7FFF
_FULL_BIT = 0x8000
ALL = "ALL"
ADAPTER_KEYS = 128  # entries of an adapter port's table, as current adapters have them, Default among them
DEFAULT_MTU_BYTES = 2048  # OpenSM's own for a group: every port has it

_PLACE = re.compile(r"(?P<group>[^/]+)(?:/(?P<first>\d+)(?:-(?P<last>\d+))?)?(?:/(?P<nic>[^/]+))?")
_RAIL = re.compile(r"rail(\d+)")


@dataclass(frozen=True)
class Partition:
    """One P_Key of a subnet: port GUID -> full | limited | both. `mtu` and `rate` are codes."""

    spec: PartitionSpec
    name: str
    pkey: int  # low 15 bits
    members: Mapping[PortGuid, str]
    ipoib: bool
    mtu: int
    rate: int


class Members:
    """Who can be named as a member on a plane: groups, hosts, NIC ports, rails, port GUIDs."""

    def __init__(self, design: PlaneDesign, allocation: Allocation) -> None:
        self._groups: dict[str, dict[int, list[Link]]] = {}
        self.links = [link for link in design.links if isinstance(link.a, Host)]
        self._port_of = {link: allocation.guids.adapters[link.a.key, link.a_port].port for link in self.links}
        nodes = [allocation.guids.adapters[link.a.key, link.a_port].node for link in self.links]
        self._nodes: dict[NodeGuid, Link] = dict(zip(nodes, self.links, strict=True))
        self._hosts: dict[str, list[Link]] = {}
        for link in self.links:
            assert isinstance(link.a, Host)
            self._groups.setdefault(link.a.group, {}).setdefault(link.a.number, []).append(link)
            self._hosts.setdefault(allocation.host_names[link.a.key], []).append(link)
        self._switches = {guid: allocation.names[key] for key, guid in allocation.guids.switches.items()}

    def port(self, link: Link) -> PortGuid:
        """The port GUID of an endpoint."""
        return self._port_of[link]

    def chosen(self, spec: PartitionSpec) -> dict[Link, str]:
        """The endpoints of a tenant and their memberships; members that are none are left out."""
        chosen: dict[Link, str] = {}
        for member in spec.members:
            found = self.find(member.name)
            for link in found if isinstance(found, list) else ():
                chosen[link] = _stronger(chosen.get(link), member.membership)
        return chosen

    def find(self, name: str) -> list[Link] | str:
        """The endpoints of a member; what is wrong with it where there are none."""
        if name == ALL:
            return self.links
        try:
            return self._by_guid(parse_guid(name))
        except ValueError:
            pass
        if name in self._hosts:
            return self._hosts[name]
        rail = _RAIL.fullmatch(name)
        if rail and name not in self._groups:
            found = [link for link in self.links if link.rail == int(rail[1])]
            return found or f"no endpoint is on rail {rail[1]}"
        return self._by_place(name)

    def _by_guid(self, guid: str) -> list[Link] | str:
        links = self._of_port.get(PortGuid(guid))
        if links:
            return [links]
        if NodeGuid(guid) in self._nodes:
            link = self._nodes[NodeGuid(guid)]
            return f"it is the node GUID of {link.a.key}/{link.a_port}; its port GUID is {self._port_of[link]}"
        if NodeGuid(guid) in self._switches:
            return f"it is the node GUID of switch {self._switches[NodeGuid(guid)]}; members are ports of adapters"
        return "no port of this plane has it"

    @cached_property
    def _of_port(self) -> dict[PortGuid, Link]:
        return {guid: link for link, guid in self._port_of.items()}

    def _by_place(self, name: str) -> list[Link] | str:
        match = _PLACE.fullmatch(name)
        group = self._groups.get(match["group"]) if match else None
        if match is None or group is None:
            return suggest(name.partition("/")[0], [ALL, *sorted(self._groups), *sorted(self._hosts)[:20]])
        first = int(match["first"]) if match["first"] else min(group)
        last = int(match["last"]) if match["last"] else first if match["first"] else max(group)
        missing = next((number for number in range(first, last + 1) if number not in group), None)
        if first > last or missing is not None:
            return f"{match['group']} has the hosts 0 to {max(group)}"
        links = [link for number in range(first, last + 1) for link in group[number]]
        nic = match["nic"]
        found = [link for link in links if nic is None or link.a_port == nic]
        return found or suggest(nic, sorted({link.a_port for link in links}))


def check_partitions(design: PlaneDesign, allocation: Allocation) -> Iterator[Finding]:
    """Everything that OpenSM would not tell of the partitions of a plane."""
    plane, members = design.plane, Members(design, allocation)
    names: dict[str, PartitionSpec] = {"default": plane.infiniband.default_partition}
    keys: dict[int, PartitionSpec] = {}
    keys_of_port: dict[Link, int] = {}
    for spec in plane.partitions:
        yield from _check_name(spec, names)
        yield from _check_pkey(spec, keys)
        for member in spec.members:
            found = members.find(member.name)
            if isinstance(found, str):
                message = f"tenant {spec.name}: {member.name!r} is no member of plane {plane.name}"
                yield error("FG881", message, member, *_step(member, "member"), hint=found)
        yield from _check_membership(spec)
        chosen = members.chosen(spec)
        yield from _check_group(spec, chosen)
        for link, membership in chosen.items():
            keys_of_port[link] = keys_of_port.get(link, 1) + (2 if membership == "both" else 1)
    yield from _check_group(plane.infiniband.default_partition, members.links)
    fullest = max(keys_of_port, key=lambda link: keys_of_port[link], default=None)
    if fullest is not None and keys_of_port[fullest] > ADAPTER_KEYS:
        message = f"{fullest.a.key}/{fullest.a_port} would have {keys_of_port[fullest]} P_Keys, Default among them"
        hint = f"the table of an adapter port has {ADAPTER_KEYS} entries, and OpenSM leaves out what is over"
        yield error("FG886", message, plane, "partitions", hint=hint)


def plan_partitions(subnet: SubnetDesign, allocation: Allocation, managers: list[Link]) -> list[Partition]:
    """The partitions of a subnet without findings, Default first. Tenants without a member in it are left out."""
    plane, members = subnet.plane.plane, Members(subnet.plane, allocation)
    here = set(subnet.host_links)
    partitions = [_default(plane, subnet, [members.port(link) for link in managers if link in here])]
    for spec in plane.partitions:
        chosen = members.chosen(spec)
        ports = {members.port(link): membership for link, membership in chosen.items() if link in here}
        if ports:
            assert spec.pkey is not None
            slowest = min(link.speed_mbps for link in chosen if link in here)
            partitions.append(_partition(spec, spec.pkey & _PKEY_BITS, ports, slowest, ipoib=False))
    return partitions


def default_membership(plane: Plane) -> str:
    """What everybody is in the Default partition: limited where there are tenants, which it would join otherwise."""
    return plane.infiniband.default_partition.membership or ("limited" if plane.partitions else "full")


def _default(plane: Plane, subnet: SubnetDesign, managers: list[PortGuid]) -> Partition:
    slowest = min((link.speed_mbps for link in subnet.host_links), default=min(RATE_CODES))
    spec = plane.infiniband.default_partition
    return _partition(spec, DEFAULT_PKEY, dict.fromkeys(managers, "full"), slowest, ipoib=True)


def _partition(
    spec: PartitionSpec, pkey: int, members: Mapping[PortGuid, str], slowest_mbps: int, *, ipoib: bool
) -> Partition:
    return Partition(
        spec=spec,
        name=spec.name,
        pkey=pkey,
        members=members,
        ipoib=ipoib if spec.ipoib is None else spec.ipoib,
        mtu=MTU_CODES[spec.mtu_bytes or DEFAULT_MTU_BYTES],
        rate=RATE_CODES[spec.rate_mbps] if spec.rate_mbps else rate_at_most(slowest_mbps),
    )


def _stronger(one: str | None, other: str) -> str:
    """Named twice, a port has what either gives it."""
    return other if one is None or one == other else "both" if "both" in (one, other) else "full"


def _check_name(spec: PartitionSpec, names: dict[str, PartitionSpec]) -> Iterator[Finding]:
    first = names.setdefault(spec.name.lower(), spec)
    if first is not spec:
        related = (Related("the other one", first.at("name")),)
        yield error("FG102", f"the partition {spec.name!r} is there already", spec, "name", related=related)


def _check_pkey(spec: PartitionSpec, keys: dict[int, PartitionSpec]) -> Iterator[Finding]:
    assert spec.pkey is not None, "the schema asks for it"
    low = spec.pkey & _PKEY_BITS
    if low in (0, DEFAULT_PKEY):
        why = (
            "OpenSM makes up a key for it, which may be another tenant's" if low == 0 else "it is the Default partition"
        )
        hint = "0x0001 to 0x7ffe, with or without the top bit"
        yield error(
            "FG882", f"tenant {spec.name} cannot have the P_Key 0x{spec.pkey:04x}: {why}", spec, "pkey", hint=hint
        )
        return
    first = keys.setdefault(low, spec)
    if first is not spec:
        message = f"tenants {first.name} and {spec.name} have the same P_Key 0x{low | _FULL_BIT:04x}: OpenSM joins them"
        related = (Related(f"tenant {first.name}", first.at("pkey")),)
        hint = "the top bit is no part of the key: 0x0001 and 0x8001 are one"
        yield error("FG883", message, spec, "pkey", hint=hint, related=related)


def _check_membership(spec: PartitionSpec) -> Iterator[Finding]:
    if all(member.membership == "limited" for member in spec.members):
        hint = "a limited member reaches full ones only: `{member: …, membership: full}` for what they share"
        message = f"no member of tenant {spec.name} can talk to another: all are limited"
        yield error("FG884", message, spec, "membership", hint=hint)


def _check_group(spec: PartitionSpec, links: Iterable[Link]) -> Iterator[Finding]:
    """The IPoIB group: a rate that OpenSM knows, and that every member's port has."""
    if spec.rate_mbps is None:
        return
    if spec.rate_mbps not in RATE_CODES:
        known = ", ".join(f"{rate // 1000}G" for rate in sorted(RATE_CODES) if rate >= 10_000)
        message = f"partition {spec.name}: OpenSM has no code for a rate of {spec.rate_mbps // 1000}G"
        yield error("FG885", message, spec, "rate", hint=f"known: {known}")
        return
    slowest = min(links, key=lambda link: link.speed_mbps, default=None)
    if slowest is not None and slowest.speed_mbps < spec.rate_mbps:
        speed = slowest.speed_mbps // 1000
        message = f"partition {spec.name}: {slowest.a.key}/{slowest.a_port} has {speed}G and cannot join a group of "
        message += f"{spec.rate_mbps // 1000}G"
        yield error("FG885", message, spec, "rate", hint="at most that of the slowest member, or leave it out")


def _step(member: MemberSpec, key: str) -> tuple[str, ...]:
    return (key,) if member.node.mapping else ()


def allows_both(partitions: list[Partition]) -> bool:
    """Whether a member has a key of each kind, which OpenSM must be told to allow."""
    return any("both" in partition.members.values() for partition in partitions)
