"""Addresses, ASNs and BGP of a plane, and the devices outside the fabric that its switches know."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import (
    Notation,
    Part,
    any_of,
    key,
    notation_of,
    part_notation,
)
from fabricgen.inventory.topology import CableSpec, medium_for
from fabricgen.inventory.values import (
    TEXT,
    Name,
    Pair,
    Secret,
    Speed,
    Texts,
    one_of,
    one_or_more,
)

OUTSIDE_CABLE_M = 40.0

OUTSIDE_PORT = "outside"  # the port of an external device that names none

ALL = "all"  # instead of a list of prefixes

MOST_ASN = 2**32 - 2  # RFC 7300: the last one is reserved

_PREFIXES = one_or_more(TEXT, minItems=1, maxItems=2)


@dataclass(frozen=True, kw_only=True)
class PoolSpec(
    Part, definition="pool", short="prefixes", meaning="One prefix, one prefix of each family, or {prefixes, reserve}."
):
    """The prefixes of an address pool, at most one of each family, and its reserved addresses and prefixes."""

    prefixes: Annotated[tuple[str, ...], key(required=True, notation=_PREFIXES)]
    reserve: Annotated[tuple[str, ...], key("Addresses and prefixes that are never given to devices.")] = ()


@dataclass(frozen=True, kw_only=True)
class AsnRange(Part):
    """The ASNs of a plane, by default the private 4-byte range of RFC 7938 section 5.2.1 (RFC 6996)."""

    first: Annotated[int, key(required=True, default=None, minimum=1, maximum=MOST_ASN)] = 4_200_000_000
    last: Annotated[int, key(required=True, default=None, minimum=1, maximum=MOST_ASN)] = 4_294_967_294


@dataclass(frozen=True, kw_only=True)
class Addressing(Part):
    """The pools of a plane and the range of its ASNs."""

    loopbacks: Annotated[PoolSpec, key(required=True)]
    links: Annotated[PoolSpec | None, key()]  # None if links are unnumbered
    hosts: Annotated[PoolSpec, key(required=True)]
    asns: Annotated[
        AsnRange,
        key(
            "rfc7938 numbers from 4200000000, or a range {first, last}.",
            "asn",
            notation=any_of(
                Notation({"const": "rfc7938"}), part_notation(AsnRange), read=AsnRange.read, missing=AsnRange.read
            ),
        ),
    ]

    @property
    def pools(self) -> Mapping[str, PoolSpec]:
        """Purpose -> pool."""
        named = {"loopbacks": self.loopbacks, "links": self.links, "hosts": self.hosts}
        return {name: pool for name, pool in named.items() if pool is not None}


@dataclass(frozen=True, kw_only=True)
class BgpTimers(Part):
    """The timers of all BGP sessions of a plane, at both ends. frrcfgd reads neither of them without the other."""

    keepalive_s: Annotated[int, key("Seconds between two keepalive messages.", required=True, minimum=1, maximum=200)]
    hold_s: Annotated[
        int,
        key(
            "Seconds without a message after which a session ends, at least three times `keepalive_s`.",
            required=True,
            minimum=3,
            maximum=600,
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class MaxPrefixes(Part, short="limit"):
    """How many prefixes a session may announce. A number is the limit."""

    limit: Annotated[
        int, key("Prefixes of a family. With more, the session ends.", required=True, minimum=1, maximum=4294967295)
    ]
    warning_percent: Annotated[int, key("A log message at this share of the limit.", minimum=1, maximum=100)] = 80
    warning_only: Annotated[bool, key("Only log a message, and keep the session.")] = False
    restart_min: Annotated[
        int | None,
        key(
            "Minutes until an ended session is tried again.", minimum=1, maximum=65535, usual="never, until `clear bgp`"
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class GracefulRestart(Part):
    """How long neighbors forward to a switch whose BGP restarts."""

    restart_s: Annotated[int, key("Seconds until the session must be up again.", minimum=1, maximum=3600)] = 120
    stale_s: Annotated[int, key("Seconds that old routes are kept.", minimum=1, maximum=3600)] = 360


@dataclass(frozen=True, kw_only=True)
class Srv6Spec(Part, definition="srv6", short="block", meaning="The block of the uSIDs of the plane, or {block, …}."):
    """SRv6 uSIDs of the switches of a plane, for paths that hosts choose."""

    block: Annotated[str, key("The IPv6 /32 of all uSIDs of the plane, for example fcbb:bb00::/32.", required=True)]
    decap_dscp_mode: Annotated[
        str,
        key(
            "The DSCP of a packet that a switch takes out of its outer header: its own (pipe) or that of the outer "
            "header (uniform).",
            notation=one_of("pipe", "uniform"),
        ),
    ] = "pipe"
    counters: Annotated[bool, key("Count the packets of each SID of a switch.")] = True
    node_bits: Annotated[
        int,
        key(
            "Bits of a uSID for the number of the switch: 12 for 4,095 switches with 14 links between two of them, 13 "
            "for 8,191 with 7, 14 for 16,383 with 3.",
            minimum=12,
            maximum=14,
        ),
    ] = 12


@dataclass(frozen=True, kw_only=True)
class BgpTier(Part, definition="bgp_tier"):
    """What differs from the plane in a tier: of its sessions with the tier below, and of its switches."""

    bgp_timers: Annotated[BgpTimers | None, key("Timers of the sessions with the tier below.")]
    bfd: Annotated[bool, key("BFD on the sessions with the tier below.", usual="that of the plane")] = False
    bgp_password: Annotated[Secret | None, key("The password of the sessions with the tier below.")]
    max_prefixes: Annotated[MaxPrefixes | None, key("The limit of the sessions with the tier below.")]
    graceful_restart: Annotated[GracefulRestart | None, key("Graceful restart of the switches of the tier.")]


def _filter(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if texts == (ALL,) else texts


@dataclass(frozen=True, kw_only=True)
class OutsideDevice(Part, definition="external"):
    """A device outside the fabric that is connected to a switch. It has a BGP session if it has an `asn`.

    `accepts` and `announces` are prefixes (None: all). `peers` may omit a family whose subnet has only two addresses.
    """

    name: Annotated[Name, key(required=True)]
    asn: Annotated[int | None, key(required=True, minimum=1, maximum=MOST_ASN)]
    switch: Annotated[str, key("The border switch, by name or identity.", required=True)]
    port: Annotated[str, key("The port of the switch, for example Ethernet508.", required=True)]
    addresses: Annotated[
        Pair,
        key("Address of the port with prefix length, at most one of each family.", "address", required=True),
    ]
    peers: Annotated[
        Pair,
        key("Addresses of the far router. Required for prefixes with more than two addresses.", "peer"),
    ]
    peer_port: Annotated[str, key("The port of the far router.", default=None, minLength=1)] = OUTSIDE_PORT
    accepts: Annotated[
        tuple[str, ...] | None,
        key(
            "Prefixes that are accepted from the router, or all.",
            "in",
            required=True,
            notation=notation_of(Texts).then(_filter),
        ),
    ]
    announces: Annotated[
        tuple[str, ...] | None,
        key(
            "Prefixes that are announced to the router, or all.",
            "out",
            required=True,
            notation=notation_of(Texts).then(_filter),
        ),
    ]
    cable: Annotated[CableSpec, key(notation=notation_of(CableSpec | None))]
    speed_mbps: Annotated[Speed | None, key(name="speed")]

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        found = super().values(node, path)
        return {**found, "cable": found["cable"] or _outside_cable(node, path)}


def _outside_cable(node: Node, path: str) -> CableSpec:
    return CableSpec(node=node, path=path, length_m=OUTSIDE_CABLE_M, medium=medium_for(OUTSIDE_CABLE_M))


@dataclass(frozen=True, kw_only=True)
class StaticSpec(Part, definition="static"):
    """Prefixes behind the NIC of a host (`via`), or behind the device that the other keys describe."""

    prefixes: Annotated[Texts, key("Prefixes behind the next hop.", "prefix", required=True)]
    via: Annotated[str | None, key("The NIC of a host, for example storage/0:port0.")]
    name: Annotated[Name | None, key()]
    switch: Annotated[str | None, key("The switch, by name or identity.")]
    port: Annotated[str | None, key("The port of the switch, for example Ethernet500.")]
    addresses: Annotated[Pair, key("Address of the port with prefix length, at most one of each family.", "address")]
    next_hops: Annotated[Pair, key("The next hop. Required for prefixes with more than two addresses.", "next_hop")]
    cable: Annotated[CableSpec | None, key()]
    speed_mbps: Annotated[Speed | None, key(name="speed")]

    @property
    def device(self) -> OutsideDevice | None:
        """The device without a BGP session; None if its keys are not complete."""
        if not (self.name and self.switch and self.port and self.addresses):
            return None
        return OutsideDevice(
            node=self.node,
            path=self.path,
            name=self.name,
            asn=None,
            switch=self.switch,
            port=self.port,
            addresses=self.addresses,
            peers=self.next_hops,
            accepts=(),
            announces=(),
            cable=self.cable or _outside_cable(self.node, self.path),
            speed_mbps=self.speed_mbps,
        )
