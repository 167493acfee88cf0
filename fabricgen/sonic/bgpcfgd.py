"""The BGP speaker of SONiC's default mode: what bgpcfgd makes of a config_db.

Source: sonic-buildimage @086b03bd70f9, src/sonic-bgpcfgd/bgpcfgd/managers_bgp.py.
"""

from collections.abc import Iterator
from functools import cache

from fabricgen.engine.derived import derived
from fabricgen.sonic.addresses import Address, parse_address, read_address
from fabricgen.sonic.image import (
    MAXIMUM_PATHS,
    InterfaceAddress,
    Neighbor,
    Obstacle,
    Speaker,
    Terms,
    allowas_in,
    announcements,
    daemon_obstacle,
    discards,
    interface_addresses,
    metadata,
    parse_asn,
    rows,
    static_paths,
    text,
)
from fabricgen.sonic.tables import ConfigDb, Row

_LOCALHOST = ("DEVICE_METADATA", "localhost")
IDF_TYPES = frozenset({"SpineRouter", "LowerSpineRouter", "UpperSpineRouter"})  # managers_device_global.py
IDF_WITHDRAWS = "isolated_withdraw_all"


def speaker(config: ConfigDb, maximum_paths: int = MAXIMUM_PATHS) -> Speaker:
    """The BGP speaker that bgpcfgd configures (bgpcfgd/managers_bgp.py). `maximum_paths` is that of its release."""
    localhost = metadata(config)
    addresses = interface_addresses(config)
    loopback = next((a.host.ip for a in addresses if a.interface == "Loopback0" and a.host.version == 4), "")
    router_id = text(localhost, "bgp_router_id") or loopback
    asn = parse_asn(text(localhost, "bgp_asn"))
    shared = daemon_obstacle(config) or _switch_obstacle(config, asn, router_id)
    lenience, status = allowas_in(config), text(localhost, "default_bgp_status")
    local = _LocalAddresses(addresses)
    peers = rows(config, "BGP_NEIGHBOR").items()
    neighbors = [_neighbor(key, row, local, lenience, status, shared) for key, row in peers]
    return Speaker(
        asn=None if shared else asn,
        router_id=router_id,
        neighbors=tuple([neighbor for neighbor in neighbors if neighbor is not None]),
        announcements=tuple(dict.fromkeys(announcements(config, addresses))),
        addresses=addresses,
        maximum_paths=maximum_paths,
        isolated=isolation(config),
        discards=discards(config),
        statics=tuple(static_paths(config)),
        obstacle=shared,
        listens=tuple(_listens(config)),
    )


def isolation(config: ConfigDb) -> str:
    """The field of BGP_DEVICE_GLOBAL|STATE because of which the switch announces only its loopbacks; "" if none does.

    bgpcfgd/managers_device_global.py: tsa_enabled on each switch; idf_isolation_state on spines. On other types it
    takes effect only for neighbors that are configured after it.
    """
    state = rows(config, "BGP_DEVICE_GLOBAL").get("STATE", {})
    if text(state, "tsa_enabled") == "true":
        return "tsa_enabled"
    is_spine = text(metadata(config), "type") in IDF_TYPES
    return "idf_isolation_state" if is_spine and text(state, "idf_isolation_state") == IDF_WITHDRAWS else ""


def _listens(config: ConfigDb) -> Iterator[tuple[Address, tuple[str, str]]]:
    """The subnets of BGP_PEER_RANGE. Its peers get no route: bgpcfgd's TO_BGP_SPEAKER denies all."""
    for key, row in rows(config, "BGP_PEER_RANGE").items():
        found: object = row.get("ip_range")
        for one in found.split(",") if isinstance(found, str) else found if isinstance(found, list) else ():
            if isinstance(one, str) and (subnet := parse_address(one)):
                yield subnet.network, ("BGP_PEER_RANGE", key)


def _switch_obstacle(config: ConfigDb, asn: int | None, router_id: str) -> Obstacle | None:
    """Why no session of this switch can be established: the dependencies of BGPPeerMgrBase in managers_bgp.py."""
    if asn is None:
        return Obstacle(
            "DEVICE_METADATA|localhost has no bgp_asn: the image does not start BGP", (*_LOCALHOST, "bgp_asn")
        )
    if not text(metadata(config), "type"):
        reason = "DEVICE_METADATA|localhost has no type: bgpcfgd does not configure any neighbor"
        return Obstacle(reason, (*_LOCALHOST, "type"))
    if "Loopback0" not in rows(config, "LOOPBACK_INTERFACE"):
        reason = "LOOPBACK_INTERFACE has no base row Loopback0: bgpcfgd does not configure any neighbor"
        return Obstacle(reason, ("LOOPBACK_INTERFACE", "Loopback0"))
    if not router_id:
        reason = "no router ID: bgp_router_id and an IPv4 address on Loopback0 are missing"
        return Obstacle(reason, (*_LOCALHOST, "bgp_router_id"))
    return None


class _LocalAddresses:
    """The addresses of a switch's interfaces, as texts and parsed."""

    def __init__(self, addresses: tuple[InterfaceAddress, ...]) -> None:
        self.addresses = addresses
        usable = [one for one in addresses if one.bound and not one.vrf]
        self.written = {one.key.split("|")[1].partition("/")[0] for one in usable}
        self.usable = usable

    @derived
    def parsed(self) -> set[Address]:
        """The parsed addresses, needed only for other spellings."""
        return {one.host for one in self.usable}

    def contain(self, text: str) -> bool:
        """Whether an interface has this address, in any spelling."""
        return text in self.written or parse_address(text) in self.parsed

    def missing(self, text: str, key: str) -> Obstacle:
        """The obstacle of a neighbor whose local_addr no usable interface has."""
        address = parse_address(text)
        held = next((one for one in self.addresses if one.vrf and one.host == address), None)
        if held is not None:
            reason = f"{held.interface}, which has local_addr {text}, is in VRF {held.vrf}"
            return Obstacle(reason, (held.table, held.interface))
        reason = f"no interface with a base row has local_addr {text}: bgpcfgd does not configure the neighbor"
        return Obstacle(reason, ("BGP_NEIGHBOR", key, "local_addr"))


def _neighbor(
    key: str, row: Row, local: _LocalAddresses, lenience: int, default_status: str, shared: Obstacle | None
) -> Neighbor | None:
    vrf, separator, name = key.rpartition("|")
    if separator and vrf != "default":
        return None
    peer = read_address(name)
    near = text(row, "local_addr").partition("/")[0]
    asn = parse_asn(text(row, "asn"))
    found = shared
    if found is None and peer is None:
        reason = f"{name} is not an IP address: bgpcfgd does not support unnumbered neighbors"
        found = Obstacle(reason, ("BGP_NEIGHBOR", key))
    if found is None and near and not local.contain(near):
        found = local.missing(near, key)
    # instance.conf.j2: the row's admin_status counts, else default_bgp_status
    status = text(row, "admin_status")
    if found is None and (status or default_status) == "down":
        place = ("BGP_NEIGHBOR", key, "admin_status") if status else (*_LOCALHOST, "default_bgp_status")
        found = Obstacle("the neighbor is shut down", place)
    if found is None and asn is None:
        found = Obstacle("the row has no asn", ("BGP_NEIGHBOR", key, "asn"))
    return Neighbor(key, peer, "", asn, _terms(lenience, peer.version if peer else 0), *(found or ()))


@cache
def _terms(lenience: int, version: int) -> Terms:
    """The terms of bgpcfgd. policies.conf.j2: FROM_BGP_PEER permits all routes, also a default route."""
    family = frozenset({version} if version else ())
    return Terms(lenience, family, family, family, family)
