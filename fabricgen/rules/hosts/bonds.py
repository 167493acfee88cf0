"""The rules on bonds: both ends of an LACP bond have the same ports, and its frames use all of them."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.wiring import WiredBond, WiredHost
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.host_interfaces import netplan_file, rows_of_bonds
from fabricgen.rules.view.pairs import is_dual
from fabricgen.vocabulary import Role

MODE = "802.3ad"
_BY_ADDRESSES = ("layer3+4", "encap3+4", "layer2+3", "encap2+3")


@rule("FG293", Severity.ERROR, "A bond of a host and its port channel have different ports", breaks=Breaks.LINK)
def bonds_and_channels(fabric: Fabric) -> Iterator[Defect]:
    """What: the NICs of a bond are connected to the ports of one port channel, which has no other ports. At two
    switches it is in MCLAG_INTERFACE of both, which are the leaves of one MCLAG domain. The netplan file has the bond
    with the same NICs and with LACP (mode 802.3ad).

    Why: LACP aggregates the ports of one system at each end. A port that only one end counts in stays out; without
    LACP at one end, frames of the host arrive at ports that the switch does not use, or none pass.

    Example: inband0 and inband1 of gpu-000 are a bond, but only Ethernet0 is in PortChannel0.

    Fix: add the port to the port channel, or render the file of the host again.

    Source: IEEE 802.1AX; sonic-swss cfgmgr/teammgr.cpp (the runner lacp of teamd); linux
    Documentation/networking/bonding.rst (mode 802.3ad).
    """
    ends = {(end.far_name, end.far_port): end for end in fabric.ends if end.far_role == Role.HOST}
    bond_of = {
        (host.name, nic): (host.name, bond.name)
        for host in fabric.hosts.values()
        for bond in host.bonds
        for nic in bond.nics
    }
    for host in fabric.hosts.values():
        for bond in host.bonds:
            yield from _channel_of(host, bond, [ends[host.name, nic] for nic in bond.nics if (host.name, nic) in ends])
    yield from _other_ports(fabric, bond_of)
    for group in host_groups(fabric):
        for host in group.hosts:
            if netplan_file(host.name) in group.files.files:
                yield from _bonds_of_file(group, host)


def _channel_of(host: WiredHost, bond: WiredBond, ends: list[End]) -> Iterator[Defect]:
    """Ports of a bond that are not in its port channel."""
    channels = {end: end.switch.channel_of.get(end.port, "") for end in ends}
    named = [name for name in channels.values() if name]
    if not named:
        if ends:
            first = ends[0]
            message = f"{bond.name} of {host.name} is a bond, but {first.port} is in no port channel"
            hint = "add a row of PORTCHANNEL, and PORTCHANNEL_MEMBER for each port"
            yield Defect(first.switch.place("PORTCHANNEL_MEMBER"), message, hint)
        return
    first = next(end for end in ends if channels[end])
    usual = channels[first]
    for end in ends:
        if end.switch is not first.switch:
            if channels[end] == usual and is_dual(end.fabric, usual, first.switch, end.switch):
                continue
            message = f"the ports of {bond.name} of {host.name} are at {first.switch.name} and at {end.switch.name}"
            hint = f"connect all NICs of a bond to one switch, or to a pair with {usual} in MCLAG_INTERFACE of both"
            yield Defect(end.switch.place("PORTCHANNEL_MEMBER"), message, hint)
        elif channels[end] != usual:
            where = f"in {channels[end]}" if channels[end] else "in no port channel"
            message = f"{end.port} to {end.far_port} of {host.name} is {where}, but {first.port} to {first.far_port} "
            message += f"of the same bond in {usual}"
            place = end.switch.place("PORTCHANNEL_MEMBER", f"{channels[end] or usual}|{end.port}")
            related = (("the other port", first.switch.place("PORTCHANNEL_MEMBER", f"{usual}|{first.port}")),)
            yield Defect(place, message, f"make {end.port} a member of {usual}", related)


def _other_ports(fabric: Fabric, bond_of: Mapping[tuple[str, str], tuple[str, str]]) -> Iterator[Defect]:
    """Ports of a port channel that lead to a NIC without a bond, or to another bond. Without fabric.json, bonds of
    hosts are not known."""
    for switch in fabric.switches.values() if fabric.bundle.wiring else ():
        owners: dict[str, tuple[str, str]] = {}
        for port, channel in switch.channel_of.items():
            end = fabric.ends_of[switch.name].get(port)
            if end is None or end.far_role != Role.HOST:
                continue
            place = switch.place("PORTCHANNEL_MEMBER", f"{channel}|{port}")
            bond = bond_of.get((end.far_name, end.far_port))
            if bond is None:
                message = f"{port} is in {channel}, but {end.far_port} of {end.far_name} is in no bond"
                yield Defect(place, message, f"remove {port} from {channel}")
            elif owners.setdefault(channel, bond) != bond:
                other = owners[channel]
                message = f"{channel} has ports to {other[1]} of {other[0]} and to {bond[1]} of {bond[0]}"
                yield Defect(place, message, "give each bond its own port channel")


def _bonds_of_file(group: HostFiles, host: WiredHost) -> Iterator[Defect]:
    rows, file = rows_of_bonds(group, host.name), netplan_file(host.name)
    for bond in host.bonds:
        if not all(map(group.is_set_up, bond.nics)):
            continue
        row, key = rows.get(bond.name), f"bonds.{bond.name}"
        if not isinstance(row, Mapping):
            message = f"the bond of {', '.join(bond.nics)} is missing, but their ports are a port channel"
            yield Defect(group.place(file, key), message, "run `fabricgen render`")
            continue
        listed = row.get("interfaces")
        nics = [str(nic) for nic in listed] if isinstance(listed, list) else []
        if sorted(nics) != sorted(bond.nics):
            message = f"the bond has {', '.join(nics) or 'no NIC'}, but the port channel has ports to "
            message += ", ".join(bond.nics)
            yield Defect(group.place(file, f"{key}.interfaces"), message, f"list {', '.join(bond.nics)}")
        settings = row.get("parameters")
        mode = settings.get("mode") if isinstance(settings, Mapping) else None
        if mode != MODE:
            message = f"the mode is {mode or 'balance-rr, the default'}, but the switch runs LACP"
            yield Defect(group.place(file, f"{key}.parameters"), message, f"set mode to {MODE}")


@rule("FG929", Severity.WARNING, "Frames of a bond use one of its links")
def hash_of_bonds(fabric: Fabric) -> Iterator[Defect]:
    """What: transmit-hash-policy of a bond in the netplan file of a host is layer3+4 or encap3+4, or at least layer2+3
    or encap2+3, which spread frames by addresses only.

    Why: without it, and where networkd does not know the word and ignores it, the kernel selects a link by MAC
    addresses. All frames to other subnets have that of the gateway, so they use one link and half of the rate.

    Example: the parameters of bond-in-band are {mode: 802.3ad}.

    Fix: set transmit-hash-policy to layer3+4.

    Source: linux Documentation/networking/bonding.rst (xmit_hash_policy; layer2 is the default); systemd.netdev(5),
    TransmitHashPolicy=; canonical/netplan@e9dd90a9 src/parse.c (bond_params_handlers: any text).
    """
    for group in host_groups(fabric):
        for host in group.hosts:
            rows = rows_of_bonds(group, host.name) if host.bonds else {}
            for bond in host.bonds:
                row = rows.get(bond.name)
                settings = row.get("parameters") if isinstance(row, Mapping) else None
                if not isinstance(settings, Mapping) or settings.get("mode") != MODE or len(bond.nics) < 2:
                    continue  # FG293 reports another mode
                policy = settings.get("transmit-hash-policy")
                if policy not in _BY_ADDRESSES:
                    shown, key = "missing" if policy is None else policy, f"bonds.{bond.name}.parameters"
                    message = (
                        f"transmit-hash-policy is {shown}: frames to other subnets use one of {len(bond.nics)} links"
                    )
                    place = group.place(netplan_file(host.name), f"{key}.transmit-hash-policy")
                    yield Defect(place, message, "set transmit-hash-policy to layer3+4")


@rule("FG299", Severity.ERROR, "A NIC in a bond has addresses or another MTU", Basis.AGREEMENT)
def ports_of_bonds(fabric: Fabric) -> Iterator[Defect]:
    """What: a NIC in a bond has no addresses, routes or rules in the netplan file, networkd sets it up, and its MTU is
    that of the bond.

    Why: the address of a port in a bond is unreachable: its frames belong to the bond. The kernel gives the ports the
    MTU of the bond, whichever of the two is applied later.

    Example: inband1 has 10.3.0.3/28, and bond-in-band has inband0 and inband1.

    Fix: move the settings to the bond.

    Source: linux Documentation/networking/bonding.rst; netplan reference, bonds.
    """
    for group in host_groups(fabric):
        for host in group.hosts:
            raw = group.files.interfaces(host.name) if host.bonds else {}
            rows = rows_of_bonds(group, host.name) if host.bonds else {}
            for bond in host.bonds:
                row = rows.get(bond.name)
                mtu = row.get("mtu") if isinstance(row, Mapping) else None
                for nic in bond.nics:
                    own, key = raw.get(nic, {}), f"ethernets.{nic}"
                    for name in ("addresses", "routes", "routing-policy", "dhcp4", "dhcp6"):
                        if own.get(name):
                            message = f"{nic} has {name}, but is in {bond.name}"
                            place = group.place(netplan_file(host.name), f"{key}.{name}")
                            yield Defect(place, message, f"move {name} to {bond.name}")
                    if own and mtu is not None and own.get("mtu") != mtu:
                        message = f"mtu is {own.get('mtu', 'missing')}, but that of {bond.name} is {mtu}"
                        place = group.place(netplan_file(host.name), f"{key}.mtu")
                        yield Defect(place, message, f"set mtu to {mtu}")
                    if own and own.get("accept-ra") is not False:
                        message = f"{nic} accepts addresses from router advertisements, but is in {bond.name}"
                        place = group.place(netplan_file(host.name), f"{key}.accept-ra")
                        yield Defect(place, message, "set accept-ra to false")
