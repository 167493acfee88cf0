"""BGP of hosts with their leaves: what the mode can do, ASNs, and the prefixes that hosts may announce."""

from collections.abc import Iterator

from fabricgen.findings import Finding
from fabricgen.inventory.access import HostBgp
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import Network, contains, networks, read_prefix
from fabricgen.vocabulary import BgpAddressing, Technology

_USUAL = (64600, 65000, 4_200_000_000)  # of RFC 6996: for private use


def check_host_bgp(inventory: Inventory) -> Iterator[Finding]:
    """Findings for sessions with hosts that cannot be, and for prefixes that hosts must not announce."""
    for plane in inventory.planes.values():
        speakers = plane.access.speakers if plane.access and plane.technology == Technology.ROCE else ()
        for name, spec in speakers:
            access = plane.access
            if access and access.mclag and (access.groups[name] if name else access).kind.has_bond:
                message = "both leaves of a bond have one gateway address: a session would be with either of the two"
                yield error(
                    "FG692",
                    message,
                    spec,
                    hint="remove `bgp`, or `mclag`; hosts with BGP use both leaves without a bond",
                )
            if plane.isolation:
                message = (
                    "what separates tenants knows the addresses of NICs only, not the prefixes that hosts announce"
                )
                yield error("FG692", message, spec, hint="remove `bgp`, or `isolation` of the plane")
            yield from _check_mode(plane, spec)
            yield from _check_asn(inventory, plane, spec)
            yield from _check_prefixes(inventory, plane, spec)
        yield from _check_shared(plane)


def _check_mode(plane: Plane, spec: HostBgp) -> Iterator[Finding]:
    if plane.bgp == BgpAddressing.UNNUMBERED:
        return
    reason = "SONiC's bgpcfgd has one policy for all hosts, which permits every prefix"
    if spec.filtered:
        hint = "set `bgp: unnumbered` on the plane, where leaves have prefix lists, or accept it with `filtered: false`"
        yield error("FG692", f"`prefixes` of hosts cannot be enforced: {reason}", spec, "prefixes", hint=hint)
    if spec.max_prefixes:
        message = "bgpcfgd has no limit of prefixes for hosts"
        yield error("FG692", message, spec, "max_prefixes", hint="remove it, or set `bgp: unnumbered` on the plane")


def _check_asn(inventory: Inventory, plane: Plane, spec: HostBgp) -> Iterator[Finding]:
    for other in inventory.planes.values():
        asns = other.addressing.asns if other.addressing else None
        if asns and asns.first <= spec.asn <= asns.last:
            message = f"AS {spec.asn} of hosts is in the range {asns.first}-{asns.last} of the switches of {other.name}"
            ranges = [one.addressing.asns for one in inventory.planes.values() if one.addressing]
            free = [asn for asn in _USUAL if not any(one.first <= asn <= one.last for one in ranges)]
            example = f", for example {free[0]}" if free else ""
            hint = f"use an ASN outside{example}, or set `last` of `addressing.asn`"
            yield error("FG693", message, spec, "asn", hint=hint)
            return
    if any(device.asn == spec.asn for device in plane.external):
        message = f"AS {spec.asn} of hosts is also that of an external router"
        yield error("FG693", message, spec, "asn", hint="use another ASN")


def _check_prefixes(inventory: Inventory, plane: Plane, spec: HostBgp) -> Iterator[Finding]:
    pools = [(f"the pool of {name}", network) for name, pool in inventory.pools for network in networks(pool.prefixes)]
    for index, text in enumerate(spec.prefixes):
        network = read_prefix(text)
        if not isinstance(network, Network):
            hint = "write address/length"
            yield error("FG105", f"{text!r} is not a prefix: {network}", spec, "prefixes", index, hint=hint)
            continue
        hint = "use the prefixes of pods and services only"
        if not network.prefixlen:
            message = "a host must not announce a default route: all traffic without another route would go to it"
            yield error("FG693", message, spec, "prefixes", index, hint=hint)
            continue
        statics = [("a static route", one) for entry in plane.static for one in networks(entry.prefixes)]
        for what, other in (*pools, *statics):
            if contains(other, network) or contains(network, other):
                message = f"hosts would announce {network}, which overlaps {other}, {what}"
                yield error("FG693", message, spec, "prefixes", index, hint=hint)
                break


def _check_shared(plane: Plane) -> Iterator[Finding]:
    """Two groups with other settings in one subnet: a leaf has one peer group for it."""
    access, seen = plane.access, dict[int | None, HostBgp]()
    for name in plane.host_groups if access else ():
        assert access is not None
        one = access.of(name)
        if one.bgp is None:
            continue
        other = seen.setdefault(one.vlan if one.kind.has_vlan else None, one.bgp)
        if (other.asn, other.prefixes, other.filtered) != (one.bgp.asn, one.bgp.prefixes, one.bgp.filtered):
            where = f"VLAN {one.vlan}" if one.kind.has_vlan else "routed ports"
            message = f"hosts of {name} and of {other.path} are on {where} of the same leaves, with other BGP settings"
            hint = "give them the same `bgp`, or separate VLANs"
            yield error("FG693", message, one.bgp, hint=hint)
