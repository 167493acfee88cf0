"""What the rules on addresses and on BGP share: addresses by port, those of several interfaces, and links whose two
ends are not in one subnet."""

from collections import Counter
from collections.abc import Mapping
from itertools import chain

from fabricgen.engine.derived import derived
from fabricgen.rules.view.addresses import HOST, HeldAddress, IpInterface, parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.switch import Switch


@derived
def addresses_by_port(fabric: Fabric) -> Mapping[Switch, Mapping[str, tuple[HeldAddress, ...]]]:
    """Switch -> interface -> its addresses, for rules that go through all ports."""
    return {switch: switch.addresses_of for switch in fabric.switches.values()}


@derived
def owned_by_several(fabric: Fabric) -> frozenset[tuple[int, int]]:
    """The addresses, as `HeldAddress.host`, that more than one interface of the fabric has."""
    every = chain.from_iterable(switch.addresses for switch in fabric.switches.values())
    counts: Counter[tuple[int, int]] = Counter(map(HOST, every))
    return frozenset(host for host, count in counts.items() if count > 1)


def end_addresses(end: End) -> tuple[HeldAddress, ...]:
    """The addresses of a wired port."""
    return end.switch.addresses_of.get(end.port, ())


@derived
def mismatched_subnets(fabric: Fabric) -> Mapping[End, tuple[tuple[HeldAddress, HeldAddress], ...]]:
    """Link end -> pairs (own address, far address) that share no subnet, by family. Both ends are listed."""
    found: dict[End, tuple[tuple[HeldAddress, HeldAddress], ...]] = {}
    addresses = addresses_by_port(fabric)
    for one, other in fabric.pairs:
        near, far = addresses[one.switch].get(one.port, ()), addresses[other.switch].get(other.port, ())
        if wrong := _mismatched(near, far):
            found[one] = tuple(wrong)
            found[other] = tuple((theirs, ours) for ours, theirs in wrong)
    return found


def _mismatched(near: tuple[HeldAddress, ...], far: tuple[HeldAddress, ...]) -> list[tuple[HeldAddress, HeldAddress]]:
    """The address pairs of a link that share no subnet, by family; empty if all do or an end has no address."""
    if len(near) == len(far) == 1 and near[0].is_beside(far[0]):
        return []
    found = []
    for version in (4, 6):
        ours, theirs = ([held for held in held_by if held.version == version] for held_by in (near, far))
        fits = any(a.is_beside(b) for a in ours for b in theirs)
        if ours and theirs and not fits:
            found.append((ours[0], theirs[0]))
    return found


@derived
def missing_addresses(fabric: Fabric) -> Mapping[End, tuple[str, ...]]:
    """Link end without an address of a family that the far end has -> the expected addresses.

    An expected address is the other one of the far end's /31 or /127; "" for other prefix lengths.
    """
    nics = {(host.name, nic.name): nic.addresses for host in fabric.hosts.values() for nic in host.nics}
    addresses = addresses_by_port(fabric)
    found: dict[End, tuple[str, ...]] = {}
    for end in fabric.ends:
        own, far = addresses[end.switch].get(end.port, ()), end.far
        at_far_end = addresses[far.switch].get(far.port, ()) if far else ()
        of_nic = nics.get((end.far_name, end.far_port), ())
        if not _are_of_one_family(own, at_far_end, of_nic) and (texts := _missing(own, at_far_end, of_nic)):
            found[end] = texts
    return found


def _are_of_one_family(
    own: tuple[HeldAddress, ...], at_far_end: tuple[HeldAddress, ...], of_nic: tuple[str, ...]
) -> bool:
    """Whether both ends have one address, of the same family, as most links do."""
    if len(own) != 1 or len(at_far_end) + len(of_nic) != 1:
        return False
    return own[0].version == (at_far_end[0].version if at_far_end else 6 if ":" in of_nic[0] else 4)


def _missing(
    own: tuple[HeldAddress, ...], at_far_end: tuple[HeldAddress, ...], nic_addresses: tuple[str, ...]
) -> tuple[str, ...]:
    versions = {held.version for held in own}
    theirs = [held.value for held in at_far_end if held.version not in versions]
    if not nic_addresses and not theirs:
        return () if own else ("",)
    theirs += [address for text in nic_addresses if (address := parse_interface(text))]
    lacking = tuple(_neighbour(one) for one in theirs if one.version not in versions)
    return lacking or (() if own else ("",))


def _neighbour(address: IpInterface) -> str:
    if address.network.num_addresses != 2:
        return ""
    other = next(ip for ip in address.network if ip != address.ip)
    return f"{other}/{address.network.prefixlen}"


def in_a_vlan(end: End) -> str:
    """The VLAN of the switch whose subnet has the address of the NIC at the far end; "" for a NIC without one."""
    addresses = [address for text in nic_addresses(end) if (address := parse_interface(text))]
    for held in end.switch.addresses if addresses else ():
        if held.table == "VLAN_INTERFACE" and any(map(held.leads_to, addresses)):
            return held.interface
    return ""


def nic_addresses(end: End) -> tuple[str, ...]:
    """The planned addresses of the NIC at the far end; none if this is a switch."""
    return nics_of_hosts(end.fabric).get((end.far_name, end.far_port), ())


@derived
def nics_of_hosts(fabric: Fabric) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """(host, NIC) -> the planned addresses. Those of a bond belong to each of its NICs."""
    found = {(host.name, nic.name): nic.addresses for host in fabric.hosts.values() for nic in host.nics}
    for host in fabric.hosts.values():
        for bond in host.bonds:
            texts = next((found[host.name, nic] for nic in bond.nics if found.get((host.name, nic))), ())
            found |= {(host.name, nic): texts for nic in bond.nics}
    return found
