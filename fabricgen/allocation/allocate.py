"""Identity to numbers. Numbers in the lock file stay; a new identity gets the first free run of its pool."""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from socket import inet_ntoa
from typing import Literal

from netaddr import IPAddress, IPNetwork

from fabricgen.allocation.grant import AddressForm, Grant
from fabricgen.allocation.guids import Guids, give_guids
from fabricgen.allocation.lock import Lock
from fabricgen.allocation.naming import check_notes, name_hosts, name_switches, notes_by_identity
from fabricgen.allocation.pools import FIRST_HOST, GATEWAY, NumberPool, block_size, subnet_size
from fabricgen.allocation.refusals import Refused, refused, replaced
from fabricgen.design.model import Block, Fabric, Link
from fabricgen.findings import Finding, Related
from fabricgen.inventory.management import Management
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import DeviceNote
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.prefixes import Network, networks
from fabricgen.inventory.routing import Addressing, PoolSpec
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import BgpAddressing, LinkKind

_POINT_TO_POINT: Mapping[int, int] = {4: 31, 6: 127}  # prefix lengths: RFC 3021, RFC 6164


@dataclass(frozen=True)
class Allocation:
    """Names and numbers of a fabric. All keys are identities or keys of blocks; there is one address of each family."""

    names: Mapping[str, str]
    host_names: Mapping[str, str]
    asns: Mapping[str, int]  # owner of the ASN -> number
    loopbacks: Mapping[str, tuple[str, ...]]
    management: Mapping[str, tuple[str, ...]]  # with prefix length
    blocks: Mapping[str, tuple[IPNetwork, ...]]  # by block; by link for a link with a separate subnet
    notes: Mapping[str, DeviceNote]
    host_notes: Mapping[str, DeviceNote]
    guids: Guids
    subnets: Mapping[str, int]  # InfiniBand subnet -> the number in its prefix

    def link_addresses(self, link: Link) -> list[tuple[str, str, int]]:
        """(address of the lower end, address of the upper end, prefix length) of each family; empty without a pool.

        The even address belongs to the lower of two switches, and to the switch on the link of a host. A separate
        subnet is written as the address of the lower end. In a VLAN the switch has the first address of the subnet. All
        ports of a bond have the addresses of its first port.
        """
        if link.pool_is_links and link.key in self.blocks:
            return [_both_ends(network) for network in self.blocks[link.key]]
        slot = link.access.slot if link.access else link.slot
        if link.vlan is not None:
            return self.vlan_addresses(link.block, slot)
        found = []
        for network in self.blocks.get(link.block.key, ()):
            first = network.first + 2 * slot
            pair = _address(first, network.version), _address(first + 1, network.version)
            a, b = pair[::-1] if link.kind == LinkKind.HOST_LEAF else pair
            found.append((a, b, _POINT_TO_POINT[network.version]))
        return found

    def vlan_addresses(self, block: Block, slot: int) -> list[tuple[str, str, int]]:
        """(address of the host, address of the gateway, prefix length) of each family of a VLAN."""
        found = []
        for network in self.blocks.get(block.key, ()):
            host, gateway = network.first + FIRST_HOST + slot, network.first + GATEWAY
            ends = _address(host, network.version), _address(gateway, network.version)
            found.append((*ends, network.prefixlen))
        return found


def _address(number: int, version: Literal[4, 6]) -> str:
    """The text of an address. IPAddress takes five times as long for IPv4, and a fabric has 100,000 links."""
    return inet_ntoa(number.to_bytes(4, "big")) if version == 4 else str(IPAddress(number, version))


def _both_ends(own: IPNetwork) -> tuple[str, str, int]:
    """The two addresses of a point-to-point subnet, the given one first, and the prefix length."""
    first, last = (str(IPAddress(number, own.version)) for number in (own.first, own.last))
    return (*((first, last) if int(own.ip) == own.first else (last, first)), own.prefixlen)


def allocate(fabric: Fabric, lock: Lock | None) -> tuple[Allocation, Lock, list[Finding]]:
    """The allocation, the updated lock, and the findings on pools that cannot serve the fabric, and on entries of the
    lock that cannot be kept. The updated lock has new numbers in place of those."""
    refusals: list[Refused] = []
    allocation, new, findings = _allocated(fabric, lock, refusals)
    if lock is not None:
        planes = [design.plane.name for design in fabric.planes]
        findings += refused(lock, refusals, planes, lambda plane: _allocated(fabric, lock.without(plane), [])[1])
        if not refusals:
            findings += replaced(lock, new)
    return allocation, new, findings


def _allocated(fabric: Fabric, lock: Lock | None, refusals: list[Refused]) -> tuple[Allocation, Lock, list[Finding]]:
    findings: list[Finding] = []
    old = lock or Lock(fabric.inventory.fabric)
    new = deepcopy(old)
    names = name_switches(fabric, old, findings, refusals)
    notes = notes_by_identity(fabric, names)
    new.names.update(names)
    _keep_units(fabric, new)
    _check_overlaps(fabric, findings)
    _give_asns(fabric, new, findings, refusals)
    for design in fabric.planes:
        addressing = design.plane.addressing
        if addressing:
            _give_addresses(fabric, design.plane, addressing, new, findings, refusals)
    _give_management(fabric, notes, new, findings, refusals)
    keys = [switch.key for switch in fabric.switches]
    blocks = {block.key: None for block in _numbered_blocks(fabric)}
    own = [link.key for link in fabric.links if link.pool_is_links and link.block.key in blocks]
    host_names = name_hosts(fabric, names.values(), findings)
    check_notes(fabric, names, host_names, findings)
    allocation = Allocation(
        names=names,
        host_names=host_names,
        asns=new.asns,
        loopbacks={key: tuple(new.loopbacks[key]) for key in keys if key in new.loopbacks},
        management={key: tuple(new.management[key]) for key in keys if key in new.management},
        blocks={key: tuple(map(IPNetwork, new.blocks[key])) for key in (*blocks, *own) if key in new.blocks},
        notes=notes,
        host_notes=notes_by_identity(fabric, host_names),
        guids=give_guids(fabric, notes, names, host_names, new, findings, refusals),
        subnets=new.subnets,
    )
    return allocation, new, findings


def _keep_units(fabric: Fabric, lock: Lock) -> None:
    """A group keeps the units that it no longer needs, because it may grow again."""
    for design in fabric.planes:
        for group, units in design.units.items():
            held = lock.units.get(f"{design.plane.name}/{group}", [])
            lock.units[f"{design.plane.name}/{group}"] = [*units, *held[len(units) :]]


def _give_asns(fabric: Fabric, lock: Lock, findings: list[Finding], refusals: list[Refused]) -> None:
    taken = set(lock.asns.values())
    for design in fabric.planes:
        addressing = design.plane.addressing
        if addressing is None or addressing.asns.first > addressing.asns.last:
            continue  # the inventory has reported such a range
        owners = sorted({switch.asn_owner for switch in design.switches}, key=natural_key)
        wrong = list(_wrong_asns(lock, owners, addressing))
        refusals += wrong
        for refusal in wrong:
            del lock.asns[refusal.key]
        pool = NumberPool([(addressing.asns.first, addressing.asns.last)])
        for number in taken:
            pool.take(number, number)
        for owner in owners:
            if owner in lock.asns:
                continue
            asn = pool.give(1)
            if asn is None:
                size = addressing.asns.last - addressing.asns.first + 1
                message = f"{len(owners)} ASNs are needed (one for each leaf and each tier above), the range has {size}"
                findings.append(
                    error(
                        "FG385",
                        message,
                        addressing,
                        "asn",
                        hint="widen `addressing.asn`: increase `last`, or reduce `first`",
                    )
                )
                break
            lock.asns[owner] = asn
            taken.add(asn)


def _wrong_asns(lock: Lock, owners: Sequence[str], addressing: Addressing) -> Iterator[Refused]:
    """The ASNs of the lock that are outside the range of their plane, or that two owners of the plane have."""
    first, last, owner_of = addressing.asns.first, addressing.asns.last, dict[int, str]()
    for owner in owners:
        asn = lock.asns.get(owner)
        if asn is None:
            continue
        twin = owner_of.setdefault(asn, owner)
        if twin != owner:
            yield Refused("asns", owner, str(asn), "", (addressing, "asn"), twin)
        elif not first <= asn <= last:
            yield Refused("asns", owner, str(asn), f"is outside the range {first}-{last}", (addressing, "asn"))


def _give_addresses(
    fabric: Fabric, plane: Plane, pools: Addressing, lock: Lock, findings: list[Finding], refusals: list[Refused]
) -> None:
    loopbacks = {switch.key: 1 for switch in fabric.switches if switch.identity.plane == plane.name}
    grant = Grant(pools.loopbacks, "loopbacks")
    findings += grant.fill(loopbacks, lock.loopbacks)
    refusals += grant.refused
    of_tenants = {
        tenant.name: tenant.addresses[plane.name]
        for tenant in fabric.inventory.tenants.values()
        if plane.name in tenant.addresses
    }
    kept = [prefix for pool in of_tenants.values() for prefix in pool.prefixes]
    for name in (name for name in ("links", "hosts") if name in pools.pools):
        sizes = _sizes(fabric, plane, name, lock)
        grant = Grant(pools.pools[name], name, AddressForm.PREFIX, kept)
        findings += grant.fill(sizes, lock.blocks)
        refusals += grant.refused
    for tenant, pool in of_tenants.items():
        grant = Grant(pool, f"hosts of tenant {tenant}", AddressForm.PREFIX)
        findings += grant.fill(_sizes(fabric, plane, "hosts", lock, tenant), lock.blocks)
        refusals += grant.refused


def _sizes(fabric: Fabric, plane: Plane, pool: str, lock: Lock, tenant: str = "") -> dict[str, int]:
    """Key -> addresses of each block that needs a run, and of each link with a separate subnet in the lock file.

    A block whose links all have their own subnets needs no run.
    """
    blocks = [
        block
        for block in _numbered_blocks(fabric)
        if (block.plane, block.pool, block.tenant) == (plane.name, pool, tenant)
    ]
    sizes = {block.key: _size(block) for block in blocks}
    links = [link for link in fabric.links if link.pool_is_links and link.block.key in sizes] if pool == "links" else []
    own = {link.key: 2 for link in links if link.key in lock.blocks}
    if not own:
        return sizes
    needed = {link.block.key for link in links if link.key not in own}
    return {key: size for key, size in sizes.items() if key in needed} | own


def _size(block: Block) -> int:
    """The number of addresses of a block."""
    return subnet_size(block.slots + FIRST_HOST) if block.is_shared else block_size(block.slots)


def _numbered_blocks(fabric: Fabric) -> list[Block]:
    """The blocks that need addresses: links of unnumbered planes do not."""
    planes = fabric.inventory.planes
    return [
        block for block in fabric.blocks if block.pool == "hosts" or planes[block.plane].bgp == BgpAddressing.NUMBERED
    ]


def _give_management(
    fabric: Fabric, notes: Mapping[str, DeviceNote], lock: Lock, findings: list[Finding], refusals: list[Refused]
) -> None:
    management = fabric.inventory.management
    if management is None:
        return
    manual: dict[str, DeviceNote] = {}
    for key, note in notes.items():
        if not note.management:
            continue
        try:
            text = str(ipaddress.ip_interface(note.management))
        except ValueError:
            findings.append(
                error("FG105", f"{note.management!r} is not an address with prefix length", note, "management")
            )
            continue
        if text in manual:
            related = (Related("the other switch", manual[text].at("management")),)
            findings.append(error("FG386", f"{text} is given to two switches", note, "management", related=related))
        manual[text] = note
        lock.management[key] = [text]
    manual_addresses = [text.split("/")[0] for text in manual]
    reserved = [*management.gateways, *management.ntp, *_servers(management), *management.dns, *manual_addresses]
    sizes = {switch.key: 1 for switch in fabric.switches if not (switch.key in notes and notes[switch.key].management)}
    grant = Grant(management.addresses, "management", AddressForm.INTERFACE, reserved)
    findings += grant.fill(sizes, lock.management)
    refusals += grant.refused


def _servers(management: Management) -> Iterator[str]:
    """The servers of syslog, RADIUS and samples, whose addresses no switch gets."""
    yield from (one.server for one in management.syslog)
    yield from management.radius.servers if management.radius else ()
    yield from management.sflow.collectors if management.sflow else ()


def _check_overlaps(fabric: Fabric, findings: list[Finding]) -> None:
    seen: list[tuple[str, PoolSpec, Network]] = []
    for name, pool in fabric.inventory.pools:
        for network in networks(pool.prefixes):
            for other_name, other, taken in seen:
                if other is not pool and network.version == taken.version and network.overlaps(taken):
                    related = (Related(f"{other_name}: {taken}", other.at()),)
                    message = f"pool {network} for {name} overlaps {taken} for {other_name}"
                    findings.append(
                        error(
                            "FG383",
                            message,
                            pool,
                            hint="give each pool of `addressing` and `management.addresses` its own prefix",
                            related=related,
                        )
                    )
            seen.append((name, pool, network))
