"""How the hosts of a plane are connected to their switches: on routed ports, in VLANs, or by bonds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from fabricgen.inventory.part import Notation, Part, by_name, key, list_of, notation_of
from fabricgen.inventory.routing import MOST_ASN, MaxPrefixes
from fabricgen.inventory.values import TEXT, Name, Texts, one_or_more
from fabricgen.vocabulary import AccessKind

_VLAN = Notation({"type": "integer", "minimum": 2, "maximum": 4094})
MOST_TAGGED = 100  # VLANs of a port, so that each has its routing rule on the hosts


@dataclass(frozen=True, kw_only=True)
class HostBgp(Part, definition="host_bgp"):
    """BGP of hosts with their leaf: FRR on the host, or Cilium, Calico and MetalLB of Kubernetes."""

    asn: Annotated[int, key("The ASN of all hosts.", required=True, minimum=1, maximum=MOST_ASN)]
    prefixes: Annotated[
        Texts,
        key(
            "Prefixes of pods and services. A host may announce parts of them, and has a route to them over its leaf.",
            required=True,
        ),
    ]
    filtered: Annotated[
        bool,
        key("Whether leaves refuse other prefixes. With `bgp: numbered` SONiC cannot: write false to accept this."),
    ] = True
    max_prefixes: Annotated[
        MaxPrefixes | None,
        key("The largest number of prefixes that one host announces, with unnumbered BGP.", usual="no limit"),
    ]


@dataclass(frozen=True, kw_only=True)
class PortAccess(Part, definition="port_access", short="kind"):
    """How hosts of one group are connected. `bond` and `fallback` are for bonds, `vlan`, `tagged` and `dhcp` for ports
    and bonds in a VLAN."""

    kind: Annotated[
        AccessKind,
        key(
            "routed: each NIC port has a subnet with its switch port. vlan: the ports are untagged in a VLAN of their "
            "switch, whose address is the gateway. bond: the ports of a host are one LACP bond, which is in the VLAN. "
            "routed-bond: the bond has a subnet with the port channel of its switch.",
            required=True,
        ),
    ]
    vlan: Annotated[int, key("The number of the VLAN. Each switch has one subnet for it.", minimum=2, maximum=4094)] = (
        100
    )
    tagged: Annotated[
        tuple[int, ...],
        key(
            "The numbers of more VLANs of these ports, whose frames have a tag. `vlan` is the native one.",
            notation=list_of(_VLAN, minItems=1, maxItems=MOST_TAGGED, uniqueItems=True),
        ),
    ]
    dhcp: Annotated[
        tuple[str, ...],
        key(
            "IPv4 addresses of DHCP servers, to which the switches of the VLAN relay the requests of hosts.",
            notation=one_or_more(TEXT, minItems=1),
        ),
    ]
    bond: Annotated[
        str | None,
        key(
            "The name of the bond on the hosts.",
            pattern="^[a-z][a-z0-9.-]{0,14}$",
            usual="bond- and the name of the plane",
        ),
    ]
    fallback: Annotated[
        bool | None,
        key(
            "One port of a bond carries traffic while the host does not run LACP, as when it boots from the network.",
            usual="with `dhcp`",
        ),
    ]

    bgp: Annotated[HostBgp | None, key("BGP sessions of the hosts with their leaf.", usual="none")]

    @property
    def falls_back(self) -> bool:
        """Whether one port of a bond carries traffic without LACP."""
        return bool(self.dhcp) if self.fallback is None else self.fallback


@dataclass(frozen=True, kw_only=True)
class MclagSpec(Part, definition="mclag"):
    """Pairs of leaves at which the bonds of hosts end."""

    peer_links: Annotated[
        int,
        key(
            "Number of links between the two leaves of a pair. They carry packets to hosts that have lost one leaf.",
            minimum=1,
            maximum=8,
        ),
    ] = 2
    domain: Annotated[int, key("The number of the MCLAG domain of each pair.", minimum=1, maximum=4095)] = 1


@dataclass(frozen=True, kw_only=True)
class AccessSpec(PortAccess, definition="access", short="kind"):
    """How the hosts of a plane are connected; `groups` has the groups that differ."""

    mclag: Annotated[
        MclagSpec | None,
        key("Each bond ends at two leaves, which are one system for LACP (MCLAG).", usual="bonds end at one leaf"),
    ]

    groups: Annotated[
        Mapping[str, PortAccess],
        key("Host groups that are connected otherwise.", notation=by_name(PortAccess, notation_of(Name))),
    ]

    @property
    def speakers(self) -> tuple[tuple[str, HostBgp], ...]:
        """(group, BGP) of the groups with BGP; "" is all others."""
        found = (("", self.bgp), *((name, one.bgp) for name, one in self.groups.items()))
        return tuple((name, bgp) for name, bgp in found if bgp)

    def servers(self, number: int) -> tuple[str, ...]:
        """The DHCP servers of a VLAN: those of the groups whose native VLAN it is."""
        those = (one.dhcp for one in (self, *self.groups.values()) if one.kind.has_vlan and one.vlan == number)
        return next(filter(None, those), ())

    def of(self, group: str) -> PortAccess:
        """That of the hosts of one group."""
        return self.groups.get(group, self)
