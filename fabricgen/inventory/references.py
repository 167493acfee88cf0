"""Mistakes that the schema cannot detect: unknown names, names given twice, contradicting values."""

import ipaddress
import string
from collections.abc import Iterator

from fabricgen.findings import Finding
from fabricgen.inventory.management import Management
from fabricgen.inventory.mistakes import error, name_twice, suggest
from fabricgen.inventory.model import Inventory
from fabricgen.inventory.part import Part
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import networks, read_prefix
from fabricgen.inventory.profiles import NONE, profile_name, shipped_profiles
from fabricgen.inventory.routing import Addressing, PoolSpec
from fabricgen.inventory.topology import SwitchSpec
from fabricgen.inventory.values import NAME
from fabricgen.vocabulary import BgpAddressing, Purpose, Technology

_PREFIX_HINT = "write address/length with zeros after the prefix, for example 10.64.0.0/16"
RESERVED_DSCP = {48: "routing protocols (CS6)", 56: "network control (CS7)"}
NAME_FIELDS = ("fabric", "plane", "subplane", "role", "pod", "su", "rail", "number", "group")


def check_references(inventory: Inventory, needs_addresses: bool = True) -> Iterator[Finding]:
    """All such mistakes of an inventory that conforms to the schema; with `needs_addresses`, pools that are missing."""
    if NONE in inventory.node.find(("profiles",)).mapping:
        hint = f"give the profile another name: `lossless: {NONE}` means a plane without PFC"
        yield error("FG105", f"{NONE!r} is not allowed as a profile name", inventory, "profiles", NONE, hint=hint)
    for plane in inventory.planes.values():
        yield from _check_plane(inventory, plane)
        if needs_addresses:
            yield from _check_missing_pools(plane)
    if inventory.management:
        yield from _check_pool(inventory.management.addresses)
        yield from _check_gateways(inventory.management)
        for index, text in enumerate(inventory.management.allow):
            yield from _check_prefix(inventory.management, text, "allow", index)


def _check_missing_pools(plane: Plane) -> Iterator[Finding]:
    if plane.technology == Technology.ROCE and not {"addressing"} & (plane.node.mapping.keys() | plane.node.cut):
        yield error(
            "FG106",
            "a RoCE plane needs 'addressing'",
            plane,
            hint=f"add `addressing:` with `loopbacks`, `links` and `hosts` to {plane.path}",
        )
    if plane.addressing:
        yield from _check_links_pool(plane, plane.addressing)


def _check_plane(inventory: Inventory, plane: Plane) -> Iterator[Finding]:
    named: list[tuple[str, Part, tuple[str, int]]] = [
        (name, plane, ("hosts", index)) for index, name in enumerate(plane.hosts)
    ]
    if plane.unit:
        named += [(name, plane.unit, ("appliances", index)) for index, name in enumerate(plane.unit.appliances)]
    for name, part, steps in named:
        if name not in inventory.hosts and name not in inventory.node.find(("hosts",)).cut:
            hint = suggest(name, sorted(inventory.hosts))
            yield error("FG107", f"the host group {name!r} is not defined", part, *steps, hint=hint)
    for index, (name, part, steps) in enumerate(named):
        if name in [other for other, _, _ in named[:index]]:
            yield error(
                "FG105",
                f"host group {name!r} is on plane {plane.name} already",
                part,
                *steps,
                hint="remove one of the two",
            )
    if plane.addressing:
        for pool in plane.addressing.pools.values():
            yield from _check_pool(pool)
        yield from _check_asn_range(plane.addressing)
        yield from _check_router_id(plane.addressing.loopbacks)
    first: dict[str, SwitchSpec] = {}
    for switch in (switch for role in plane.switches.values() for switch in role):
        if switch.name in first:
            yield name_twice(switch.name, switch, first[switch.name])
        first.setdefault(switch.name, switch)
    yield from _check_profile(inventory, plane)
    yield from _check_classes(plane)
    yield from _check_trimming(plane)
    if plane.queue_pairs is not None and plane.purpose != Purpose.COMPUTE:
        message = f"plane {plane.name} is for {plane.purpose}, and NCCL connects over compute planes only"
        yield error("FG105", message, plane, "queue_pairs", hint="remove `queue_pairs`")


def _check_profile(inventory: Inventory, plane: Plane) -> Iterator[Finding]:
    given = plane.node.mapping.get("lossless")
    name = profile_name(given) if given else None
    known = sorted({NONE, *shipped_profiles(), *inventory.node.find(("profiles",)).mapping})
    if name is not None and name not in known:
        steps = ("lossless", "profile") if given and given.mapping else ("lossless",)
        yield error("FG107", f"the lossless profile {name!r} is not defined", plane, *steps, hint=suggest(name, known))
    if given and given.mapping and name == NONE:
        for key in (key for key in given.mapping if key != "profile"):
            hint = f"name a profile instead of {NONE!r}, or remove {key!r}"
            yield error("FG105", f"a plane without PFC does not use {key!r}", plane, "lossless", key, hint=hint)
    elif given and name != NONE and plane.is_management:
        message = f"plane {plane.name} is for {plane.purpose} management and cannot be lossless: a paused port would "
        message += "block the sessions that are needed to repair the fabric"
        hint = f"set `lossless: {NONE}`, or remove it; use a plane with purpose compute or storage for RDMA"
        yield error("FG597", message, plane, "lossless", hint=hint)


def _check_trimming(plane: Plane) -> Iterator[Finding]:
    trimming = plane.trimming
    if trimming is None:
        return
    if plane.technology == Technology.INFINIBAND:
        yield error("FG105", "an InfiniBand plane does not trim packets", plane, "trimming", hint="remove `trimming`")
    elif plane.lossless.classes:
        hint = f"set `lossless: {NONE}`, or remove `trimming`"
        yield error("FG105", "a plane with PFC does not trim packets", plane, "trimming", hint=hint)
    if owner := RESERVED_DSCP.get(trimming.dscp):
        message = f"DSCP {trimming.dscp} belongs to {owner} already"
        yield error("FG110", message, trimming, "dscp", hint="use a separate DSCP for trimmed packets, for example 11")


def _check_classes(plane: Plane) -> Iterator[Finding]:
    owner: dict[int, int] = {}
    lossless = plane.lossless
    for priority, values in lossless.classes.items():
        for dscp in values:
            if dscp in owner:
                message = f"DSCP {dscp} belongs to priority {owner[dscp]} already"
                yield error("FG110", message, lossless, "classes", priority, hint="use each DSCP value in one class")
            owner[dscp] = priority
    queues = len(lossless.classes)
    if queues and lossless.share_percent // queues <= (100 - lossless.share_percent) // (6 - queues):
        each, other = lossless.share_percent // queues, (100 - lossless.share_percent) // (6 - queues)
        message = f"a share of {lossless.share_percent} % gives each of {queues} lossless queues the weight {each}, "
        message += f"and each lossy queue {other}: RDMA would get the smaller share"
        yield error("FG276", message, lossless, "share", hint="set a larger `share`, or use fewer classes")
    if lossless.cnp_dscp in owner:
        message = f"CNPs use DSCP {lossless.cnp_dscp}, which is lossless priority {owner[lossless.cnp_dscp]}"
        free = next(dscp for dscp in (48, 46, *range(64)) if dscp not in owner)
        hint = f"use another DSCP, for example {free}: a congestion notification must not wait behind a paused queue"
        yield error("FG110", message, lossless, "cnp", "dscp", hint=hint)


def _check_asn_range(pools: Addressing) -> Iterator[Finding]:
    first, last = pools.asns.first, pools.asns.last
    if first > last:
        yield error(
            "FG105",
            f"the ASN range ends at {last} before it begins at {first}",
            pools,
            "asn",
            "last",
            hint="exchange `first` and `last`",
        )


def _check_router_id(pool: PoolSpec) -> Iterator[Finding]:
    if pool.prefixes and all(":" in prefix for prefix in pool.prefixes):
        message = "the loopbacks have no IPv4 prefix, so switches have no router ID and SONiC does not start BGP"
        yield error("FG388", message, pool, hint="add an IPv4 prefix: `loopbacks: [10.0.0.0/16, fd00::/64]`")


def _check_links_pool(plane: Plane, addressing: Addressing) -> Iterator[Finding]:
    """Numbered sessions need addresses for links between switches; unnumbered sessions do not."""
    if plane.bgp == BgpAddressing.NUMBERED and addressing.links is None and "links" not in addressing.node.cut:
        hint = "add `links:` with a prefix, or set `bgp: unnumbered` on the plane"
        yield error("FG106", "numbered BGP needs a pool for links", addressing, hint=hint)


def _check_pool(pool: PoolSpec) -> Iterator[Finding]:
    families = set()
    for text in pool.prefixes:
        network = read_prefix(text)
        if isinstance(network, str):
            yield error("FG105", f"{text!r} is not a prefix: {network}", pool, hint=_PREFIX_HINT)
            continue
        if network.version in families:
            yield error(
                "FG105", f"the pool has two IPv{network.version} prefixes", pool, hint="give one prefix of each family"
            )
        families.add(network.version)
    for index, text in enumerate(pool.reserve):
        yield from _check_prefix(pool, text, "reserve", index)


def _check_prefix(part: Part, text: str, *steps: str | int) -> Iterator[Finding]:
    network = read_prefix(text)
    if isinstance(network, str):
        yield error("FG105", f"{text!r} is not a prefix: {network}", part, *steps, hint=_PREFIX_HINT)


def _check_gateways(management: Management) -> Iterator[Finding]:
    """Each family needs a gateway in its prefix: SONiC does not accept an address of eth0 without one."""
    missing = {network.version: network for network in networks(management.addresses.prefixes)}
    prefixes = " or ".join(management.addresses.prefixes)
    for text in management.gateways:
        try:
            gateway = ipaddress.ip_address(text)
        except ValueError:
            yield error(
                "FG105",
                f"{text!r} is not an address",
                management,
                "gateway",
                hint=f"set `gateway` to an address of {prefixes}",
            )
            return
        network = missing.pop(gateway.version, None)
        if network is None or gateway not in network:
            hint = "give one gateway of each family, in the prefix of the switches"
            yield error("FG105", f"gateway {text} is not an address of {prefixes}", management, "gateway", hint=hint)
            return
    for version, network in missing.items():
        hint = f"set `gateway: [{', '.join(management.gateways)}, <address of {network}>]`"
        yield error("FG106", f"the IPv{version} addresses have no gateway", management, "gateway", hint=hint)


def check_name_patterns(part: Inventory | Plane) -> dict[str, Finding]:
    """Role -> finding about its name pattern, which is applied to a sample switch, of the inventory or of a plane."""
    sample = {name: 0 if name in ("pod", "su", "rail", "number") else "x" for name in NAME_FIELDS}
    found = {}
    for role, pattern in part.names.items():
        message, hint = f"the name pattern {pattern!r} cannot be used", ""
        try:
            fields = [name for _, name, _, _ in string.Formatter().parse(pattern) if name is not None]
            unknown = [name for name in fields if name not in NAME_FIELDS]
            name = "" if unknown else pattern.format(**sample)
        except (ValueError, LookupError) as problem:
            hint = f"{problem}; write numbers for example as {{su:02}}"
        else:
            if unknown:
                message += f": {{{unknown[0]}}} is not defined"
                hint = "known: " + ", ".join(f"{{{field}}}" for field in NAME_FIELDS)
            elif not NAME.fullmatch(name):
                hint = f"{name!r} is not a name: use letters, digits, - _ . with a letter or digit first, at most 63"
        if hint:
            found[role] = error("FG105", message, part, "names", role, hint=hint)
    return found
