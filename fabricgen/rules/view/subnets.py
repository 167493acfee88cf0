"""Links whose two ends are not in one subnet: derived once for the rules on addresses and on BGP."""

from collections.abc import Mapping

from fabricgen.rules.view.addresses import HeldAddress, IpInterface, parse_interface
from fabricgen.rules.view.derived import derived
from fabricgen.rules.view.fabric import End, Fabric


def end_addresses(end: End) -> tuple[HeldAddress, ...]:
    """The addresses of a wired port."""
    return end.switch.addresses_of.get(end.port, ())


@derived
def mismatched_subnets(fabric: Fabric) -> Mapping[End, tuple[tuple[HeldAddress, HeldAddress], ...]]:
    """Link end -> pairs (own address, far address) that share no subnet, by family. Both ends are listed."""
    found: dict[End, tuple[tuple[HeldAddress, HeldAddress], ...]] = {}
    for pair in fabric.pairs:
        if wrong := _mismatched(pair):
            found[pair[0]] = tuple(wrong)
            found[pair[1]] = tuple((far, near) for near, far in wrong)
    return found


def _mismatched(pair: tuple[End, End]) -> list[tuple[HeldAddress, HeldAddress]]:
    """The address pairs of a link that share no subnet, by family; empty if all do or an end has no address."""
    near, far = (end_addresses(end) for end in pair)
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
    found = {end: _missing(end, nics.get((end.far_name, end.far_port), ())) for end in fabric.ends}
    return {end: texts for end, texts in found.items() if texts}


def _missing(end: End, nic_addresses: tuple[str, ...]) -> tuple[str, ...]:
    own = end_addresses(end)
    versions = {held.version for held in own}
    theirs = [held.value for held in end_addresses(end.far) if held.version not in versions] if end.far else []
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
