"""The members of a tenant: the endpoints behind the names of groups, hosts, NIC ports, rails and port GUIDs."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from fabricgen.allocation.allocate import Allocation
from fabricgen.design.model import Host, Link, PlaneDesign
from fabricgen.inventory.infiniband import Membership, PartitionSpec
from fabricgen.inventory.mistakes import suggest
from fabricgen.opensm.guids import NodeGuid, PortGuid, parse_guid

ALL = "ALL"

_PLACE = re.compile(r"(?P<group>[^/]+)(?:/(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?)?(?:/(?P<nic>[^/]+))?")
_RAIL = re.compile(r"rail(\d{1,9})")


class MemberEndpoints:
    """The endpoints of a plane by the names that an inventory may use for them."""

    words: Sequence[str] = ()  # further names, for hints

    def __init__(self, design: PlaneDesign, host_names: Mapping[str, str]) -> None:
        self.links = [link for link in design.links if isinstance(link.a, Host)]
        self._groups: dict[str, dict[int, list[Link]]] = {}
        self._hosts: dict[str, list[Link]] = {}
        for link in self.links:
            assert isinstance(link.a, Host)
            self._groups.setdefault(link.a.group, {}).setdefault(link.a.number, []).append(link)
            self._hosts.setdefault(host_names[link.a.key], []).append(link)

    def find(self, name: str) -> list[Link] | str:
        """The endpoints of a group, of hosts, of a NIC or of a rail, or the reason why they are unknown."""
        if name in self._hosts:
            return self._hosts[name]
        rail = _RAIL.fullmatch(name)
        if rail and name not in self._groups:
            found = [link for link in self.links if link.rail == int(rail[1])]
            return found or f"rail {rail[1]} has no endpoint"
        return self._by_place(name)

    def _by_place(self, name: str) -> list[Link] | str:
        match = _PLACE.fullmatch(name)
        group = self._groups.get(match["group"]) if match else None
        if match is None or group is None:
            return suggest(name.partition("/")[0], [*self.words, *sorted(self._groups), *sorted(self._hosts)[:20]])
        first = int(match["first"]) if match["first"] else min(group)
        last = int(match["last"]) if match["last"] else first if match["first"] else max(group)
        missing = next((number for number in range(first, last + 1) if number not in group), None)
        if first > last or missing is not None:
            return f"{match['group']} has the hosts 0 to {max(group)}"
        links = [link for number in range(first, last + 1) for link in group[number]]
        nic = match["nic"]
        found = [link for link in links if nic is None or link.a_port == nic]
        return found or suggest(nic, sorted({link.a_port for link in links}))


class Members(MemberEndpoints):
    """The endpoints of an InfiniBand plane, which also have GUIDs."""

    words = (ALL,)

    def __init__(self, design: PlaneDesign, allocation: Allocation) -> None:
        super().__init__(design, allocation.host_names)
        self._port_of = {link: allocation.guids.adapters[link.a.key, link.a_port].port for link in self.links}
        nodes = [allocation.guids.adapters[link.a.key, link.a_port].node for link in self.links]
        self._nodes: dict[NodeGuid, Link] = dict(zip(nodes, self.links, strict=True))
        self._switches = {guid: allocation.names[key] for key, guid in allocation.guids.switches.items()}

    def port(self, link: Link) -> PortGuid:
        """The port GUID of an endpoint."""
        return self._port_of[link]

    def chosen(self, spec: PartitionSpec) -> dict[Link, Membership]:
        """The endpoints of a tenant and their memberships, without unknown members."""
        chosen: dict[Link, Membership] = {}
        for member in spec.members:
            found = self.find(member.name)
            for link in found if isinstance(found, list) else ():
                chosen[link] = _stronger(chosen.get(link), member.membership)
        return chosen

    def find(self, name: str) -> list[Link] | str:
        """The endpoints of a member, or the reason why they are unknown."""
        if name == ALL:
            return self.links
        try:
            return self._by_guid(parse_guid(name))
        except ValueError:
            return super().find(name)

    def _by_guid(self, guid: str) -> list[Link] | str:
        links = self._of_port.get(PortGuid(guid))
        if links:
            return [links]
        if NodeGuid(guid) in self._nodes:
            link = self._nodes[NodeGuid(guid)]
            return f"it is the node GUID of {link.a.key}/{link.a_port}; its port GUID is {self._port_of[link]}"
        if NodeGuid(guid) in self._switches:
            return f"it is the node GUID of switch {self._switches[NodeGuid(guid)]}; members are ports of adapters"
        return "no port of this plane has this GUID"

    @cached_property
    def _of_port(self) -> dict[PortGuid, Link]:
        return {guid: link for link, guid in self._port_of.items()}


def _stronger(one: Membership | None, other: Membership) -> Membership:
    """The membership of a port that a tenant names twice."""
    if one is None or one is other:
        return other
    return Membership.BOTH if Membership.BOTH in (one, other) else Membership.FULL
