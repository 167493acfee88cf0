"""Settings that do not fit the technology of a plane, or that the release of its switches does not have."""

from collections.abc import Iterator
from ipaddress import IPv6Network

from fabricgen.findings import Finding, Related
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import Network, networks
from fabricgen.inventory.routing import BgpTier
from fabricgen.inventory.traffic import BalanceSpec
from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.release_models import absence
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.srv6 import BLOCK_BITS, SIDS_SINCE
from fabricgen.vocabulary import BalanceMode, BalanceUnit, BgpAddressing, Role, Technology

_KEY = "load_balancing"
# Keys that only frrcfgd reads -> why bgpcfgd does not. sonic-buildimage 202411 to 086b03b: instance.conf.j2,
# bgpd.main.conf.j2 (bgp graceful-restart by constants.yml, on a ToRRouter), frrcfgd.py (cmn_key_map, global_key_map).
_OF_FRAMEWORK = {
    "bgp_password": "the template of a session of bgpcfgd has no password",
    "max_prefixes": "the template of a session of bgpcfgd has no limit of prefixes",
    "graceful_restart": "bgpcfgd has the settings of constants.yml of the image, which turns it on for leaves",
}
# Source: SONiC HLD doc/ARS (pull request 1958, merged); sonic-swss pull request 3597, sonic-swss-common 1002 and
# sonic-buildimage 22264, all open: no branch has the code.
_NOT_YET = "CONFIG_DB of no release has, nor of the master branch: sonic-swss pull request 3597 is not merged"


def check_planes(inventory: Inventory) -> Iterator[Finding]:
    """Findings for modes, weights and settings that a plane cannot have."""
    yield from _check_technology(inventory)
    yield from _check_balance(inventory)
    yield from _check_families(inventory)
    yield from _check_srv6(inventory)


def _check_families(inventory: Inventory) -> Iterator[Finding]:
    """Hosts with a family that no session carries: each session of numbered BGP has the family of its link."""
    for plane in inventory.planes.values():
        pools = plane.addressing
        if pools is None or pools.links is None or plane.bgp != BgpAddressing.NUMBERED or plane.spine is None:
            continue
        missing = _families(pools.hosts.prefixes) - _families(pools.links.prefixes)
        for family in sorted(missing):
            message = f"hosts of plane {plane.name} have {family} addresses, but its links have none"
            hint = f"add an {family} prefix to `links`, or set `bgp: unnumbered` (RFC 5549)"
            yield error("FG924", message, pools, "hosts", hint=hint)


def _check_srv6(inventory: Inventory) -> Iterator[Finding]:
    """Planes whose switches cannot have uSIDs, and blocks that are not apart from other prefixes."""
    taken: list[tuple[str, Part, Network]] = [
        (name, pool, one) for name, pool in inventory.pools for one in networks(pool.prefixes)
    ]
    for plane in inventory.planes.values():
        spec = plane.srv6
        if spec is None:
            continue
        block = parse_address(spec.block)
        if block is None or (block.version, block.length) != (6, BLOCK_BITS) or block != block.network:
            hint = "give a block such as fcbb:bb00::/32: uSIDs have the 16 bits behind it (usid-f3216)"
            yield error("FG105", f"{spec.block!r} is not an IPv6 prefix of {BLOCK_BITS} bits", spec, "block", hint=hint)
        else:
            network = IPv6Network(spec.block)
            for name, pool, one in taken:
                if one.version == 6 and one.overlaps(network):
                    message = f"the block {spec.block} overlaps {one} for {name}: routes there would hide uSIDs"
                    related = (Related(f"{name}: {one}", pool.at()),)
                    yield error("FG746", message, spec, "block", hint="use a /32 for uSIDs only", related=related)
            taken.append((f"uSIDs of plane {plane.name}", spec, network))
        for reason, hint in _without_srv6(plane, inventory.sonic.release):
            yield error("FG746", f"plane {plane.name}: {reason}", spec, hint=hint)


def _without_srv6(plane: Plane, release: int) -> Iterator[tuple[str, str]]:
    """(reason, hint) of what keeps uSIDs from the switches of a plane."""
    if plane.technology == Technology.INFINIBAND:
        yield "InfiniBand has no SRv6", "remove `srv6`"
        return
    if release < SIDS_SINCE:
        reason = f"{release_name(release)} has no interface sr0, to which FRR attaches static SIDs (issue 21857)"
        yield reason, f"set `sonic.release: {SIDS_SINCE}` or later, or remove `srv6`"
    if plane.bgp == BgpAddressing.UNNUMBERED:
        reason = (
            "with unnumbered BGP frrcfgd writes locators without `behavior usid`, and static routes have no next hop"
        )
        yield reason, "set `bgp: numbered`, or remove `srv6`"
    if plane.isolation:
        reason = "rules of tenants match the address of the host, which is inside the packet of SRv6"
        yield reason, "remove `isolation`, or `srv6`"
    pools = plane.addressing
    if pools and plane.bgp == BgpAddressing.NUMBERED:
        given = {"links": pools.links, "hosts": pools.hosts}
        for name, pool in given.items():
            if pool is not None and "IPv6" not in _families(pool.prefixes):
                reason = f"the next hop of a uSID is an IPv6 address, and {name} have none"
                yield reason, f"add an IPv6 prefix to `addressing.{name}`"


def _families(prefixes: tuple[str, ...]) -> set[str]:
    return {"IPv6" if ":" in prefix else "IPv4" for prefix in prefixes}


def _check_balance(inventory: Inventory) -> Iterator[Finding]:
    """Findings for modes and weights that cannot be rendered, and for settings that the mode does not use."""
    for plane in inventory.planes.values():
        if _KEY not in plane.node.mapping:
            continue
        if plane.technology == Technology.INFINIBAND:
            hint = "remove it; `routing_engine` of `infiniband` selects adaptive routing"
            yield error("FG105", "an InfiniBand plane has no `load_balancing`", plane, _KEY, hint=hint)
            continue
        yield from _check_settings(plane.balance)
        if plane.balance.mode != BalanceMode.ECMP and not plane.balance.by_platform:
            yield _refused(plane)
        if plane.balance.weighted:
            yield from _check_weights(plane, inventory.sonic.release)


def _check_settings(balance: BalanceSpec) -> Iterator[Finding]:
    """Settings that belong to another mode."""
    mode, given = balance.mode, balance.node.mapping
    if "per" in given and given["per"].value != balance.unit:
        hint = "remove `per`, or set `mode: adaptive`"
        yield error("FG105", f"the mode {mode} has no such `per`", balance, "per", hint=hint)
    if "flowlet_gap_us" in given and balance.unit != BalanceUnit.FLOWLET:
        message, hint = f"the mode {mode} has no flowlets here", "remove `flowlet_gap_us`, or set `per: flowlet`"
        yield error("FG105", message, balance, "flowlet_gap_us", hint=hint)
    if balance.by_platform and mode == BalanceMode.ECMP:
        message, hint = "ECMP is not configured by the platform", "remove `configured_by`, or set another `mode`"
        yield error("FG105", message, balance, "configured_by", hint=hint)


def _refused(plane: Plane) -> Finding:
    mode = plane.balance.mode
    hint = (
        "use `load_balancing: ecmp`. If the image of a vendor has the mode, and it is configured by other means than "
    )
    hint += f"CONFIG_DB, write `load_balancing: {{mode: {mode}, configured_by: platform}}`"
    steps = (_KEY, "mode") if plane.balance.node.mapping else (_KEY,)
    return error("FG265", f"{mode} is a mode of load balancing that {_NOT_YET}", plane, *steps, hint=hint)


def _check_weights(plane: Plane, release: int) -> Iterator[Finding]:
    steps = (_KEY, "wcmp")
    if when := absence(release, "BGP_DEVICE_GLOBAL", "STATE", "wcmp_enabled"):
        message = f"{release_name(release)} has no weighted ECMP: wcmp_enabled exists {when}"
        yield error("FG266", message, plane, *steps, hint="set a later `sonic.release`, or remove `wcmp`")
    if plane.bgp == BgpAddressing.UNNUMBERED:
        message = "with unnumbered BGP nothing reads wcmp_enabled: bgpcfgd, which reads it elsewhere, is not started"
        yield error("FG266", message, plane, *steps, hint="set `bgp: numbered`, or remove `wcmp`")


def _check_technology(inventory: Inventory) -> Iterator[Finding]:
    """Findings for settings of the other technology."""
    for plane in inventory.planes.values():
        for key in ("infiniband", "partitions"):
            if plane.technology == Technology.ROCE and key in plane.node.mapping:
                hint = "set `technology: infiniband`, or remove these settings"
                yield error("FG105", "a RoCE plane has no InfiniBand settings", plane, key, hint=hint)
        for key in ("bgp_timers", "bfd", "bgp_tiers", *_OF_FRAMEWORK):
            if plane.technology == Technology.INFINIBAND and key in plane.node.mapping:
                yield error("FG105", "an InfiniBand plane has no BGP sessions", plane, key, hint="remove it")
        if plane.technology == Technology.ROCE:
            if plane.bgp == BgpAddressing.NUMBERED:
                yield from _unread(plane)
                for tier in plane.bgp_tiers.values():
                    yield from _unread(tier)
            yield from _check_tiers(plane)


def _unread(part: Plane | BgpTier) -> Iterator[Finding]:
    """FG151 for the settings of BGP that bgpcfgd does not read."""
    if part.bfd:
        # sonic-buildimage 202411 to 202605: instance.conf.j2 of bgpcfgd; supervisord.conf.j2 of docker-fpm-frr
        message = "with numbered BGP nothing reads `bfd`: bgpcfgd has no such field, and bfdd is not started"
        yield error("FG151", message, part, "bfd", hint="set `bgp: unnumbered`, or remove `bfd`")
    for key, reason in _OF_FRAMEWORK.items():
        if key in part.node.mapping:
            message = f"with numbered BGP nothing reads `{key}`: {reason}"
            yield error("FG151", message, part, key, hint=f"set `bgp: unnumbered`, or remove `{key}`")


def _check_tiers(plane: Plane) -> Iterator[Finding]:
    """Settings of tiers that the plane does not have, and of sessions below the leaves."""
    for role, tier in plane.bgp_tiers.items():
        if role not in plane.tiers and role not in plane.switches:
            yield error("FG105", f"plane {plane.name} has no {role}", tier, hint=f"remove `{role}` of `bgp_tiers`")
            continue
        for key in tier.node.mapping if role == Role.LEAF else ():
            if key != "graceful_restart":
                message = f"`{key}` is for sessions with switches of the tier below, and a leaf has none"
                yield error("FG105", message, tier, key, hint=f"set `{key}` of `spine`, which both ends then have")
