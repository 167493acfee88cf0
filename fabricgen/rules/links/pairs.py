"""Rules on the two leaves at which bonds of hosts end (MCLAG): their session, their peer link, and what both have."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.pairs import Half, halves, mclag_domains
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.mclag import CONTAINER, DOMAINS, INTERFACES, UNIQUE

_ENABLED = ("enabled", "always_enabled")


@rule("FG682", Severity.ERROR, "The two leaves of an MCLAG domain have no session", breaks=Breaks.LINK)
def domains_agree(fabric: Fabric) -> Iterator[Defect]:
    """What: source_ip of an MCLAG domain is an address of the switch, peer_ip is source_ip of another switch, and this
    one has the same domain and names the first one in peer_ip.

    Why: iccpd refuses a session with another domain, and the leaves exchange nothing without a session. Each of them is
    then a separate system for LACP, so a host uses its ports to one leaf only, and the other leaf does not find it.

    Example: MCLAG_DOMAIN|1|peer_ip of both leaves is 10.1.0.3.

    Fix: set source_ip to the loopback of the switch, and peer_ip to that of its peer, with one number of the domain.

    Source: sonic-buildimage src/iccpd: src/scheduler.c (scheduler_prepare_session), src/iccp_csm.c
    (iccp_csm_check_id_from_msg); SONiC doc/mclag/Sonic-mclag-hld.md, 5.3 and 7.3.1.
    """
    domains, holders = mclag_domains(fabric), _holders(fabric)
    for name, domain in domains.items():
        switch = fabric.switches[name]

        def defect(field: str, message: str, hint: str, switch: Switch = switch, key: str = domain.number) -> Defect:
            return Defect(switch.place(DOMAINS, key, field), message, hint)

        if domain.source not in {held.text for held in switch.addresses}:
            message = f"source_ip is {domain.source or 'missing'}, which is not an address of the switch"
            yield defect("source_ip", message, "set it to the address of Loopback0")
            continue
        peer = holders.get(domain.peer)
        if domain.peer == domain.source or peer is switch:
            yield defect("peer_ip", f"peer_ip is {domain.peer}, an address of the switch", "set it to that of the peer")
        elif peer is None:
            if fabric.bundle.wiring or not domain.peer:
                message = f"peer_ip is {domain.peer or 'missing'}, which is not an address of a switch"
                yield defect("peer_ip", message, "set it to source_ip of the peer")
        elif peer.name not in domains:
            message = f"peer_ip is an address of {peer.name}, which has no MCLAG domain"
            yield defect("peer_ip", message, f"add MCLAG_DOMAIN to {peer.name}, or correct peer_ip")
        elif domains[peer.name].number != domain.number:
            theirs = domains[peer.name].number
            yield defect("", f"the domain is {domain.number}, but that of {peer.name} is {theirs}", "use one number")
        elif domains[peer.name].peer != domain.source or domains[peer.name].source != domain.peer:
            other = domains[peer.name]
            message = f"the session goes from {domain.source} to {domain.peer}, but that of {peer.name} from "
            message += f"{other.source} to {other.peer}"
            yield defect("peer_ip", message, "make source_ip of each leaf peer_ip of the other")


def _holders(fabric: Fabric) -> dict[str, Switch]:
    """The addresses of loopbacks, and of other interfaces that one switch only has, with their switch."""
    found: dict[str, Switch] = {}
    for switch in fabric.switches.values() if mclag_domains(fabric) else ():
        for held in switch.addresses:
            if held.table != "VLAN_INTERFACE" or held.text not in found:
                found[held.text] = switch
    return found


@rule("FG683", Severity.ERROR, "The peer link of a pair does not carry the VLANs of its bonds", breaks=Breaks.LINK)
def peer_link_carries_vlans(fabric: Fabric) -> Iterator[Defect]:
    """What: the ports of peer_link are connected to those of peer_link of the other leaf. The peer link is a member of
    each VLAN that has a port channel of MCLAG_INTERFACE, with one tagging_mode at both ends, and is not in
    MCLAG_INTERFACE itself.

    Why: packets to a host whose link to one leaf has failed go over the peer link. Without it half of them are lost.

    Example: Vlan110 has PortChannel0 of both leaves, but PortChannel496, the peer link, is not a member of it.

    Fix: add the row VLAN_MEMBER with tagging_mode tagged at both leaves, and connect the ports as planned.

    Source: SONiC doc/mclag/Sonic-mclag-hld.md, 7.2.2 and 7.2.3.
    """
    for half in halves(fabric).values():
        link, far = half.domain.peer_link, half.peer_domain.peer_link
        place = half.switch.place(DOMAINS, half.domain.number, "peer_link")
        vlans = [vlan for channel in half.domain.channels for vlan, _ in half.switch.vlans_of.get(channel, ())]
        if not link:
            if vlans:
                yield Defect(place, "the domain has bonds in VLANs, but no peer_link", "set peer_link at both leaves")
            continue
        yield from _wrong_cables(fabric, half)
        if link in half.domain.channels:
            row = half.switch.place(INTERFACES, f"{half.domain.number}|{link}")
            yield Defect(row, f"{link} is the peer link, which no host has", "remove the row")
        own, theirs = dict(half.switch.vlans_of.get(link, ())), dict(half.peer.vlans_of.get(far, ()))
        for vlan in dict.fromkeys(vlans):
            row = half.switch.place("VLAN_MEMBER", f"{vlan}|{link}", "tagging_mode" if vlan in own else "")
            if vlan not in own:
                message = f"{vlan} has bonds of both leaves, but the peer link {link} is not a member of it"
                yield Defect(row, message, f"add the row VLAN_MEMBER|{vlan}|{link} with tagging_mode tagged")
            elif theirs.get(vlan, own[vlan]) != own[vlan] and half.switch.name < half.peer.name:
                message = f"the peer link is {own[vlan]} in {vlan}, but {theirs[vlan]} at {half.peer.name}"
                yield Defect(row, message, "set tagging_mode to tagged at both")


def _wrong_cables(fabric: Fabric, half: Half) -> Iterator[Defect]:
    """Ports of the peer link that are not connected to the peer link of the other leaf."""
    link, far = half.domain.peer_link, half.peer_domain.peer_link
    for port in _ports(half.switch, link):
        end = fabric.ends_of[half.switch.name].get(port)
        if end is None or (end.far_name == half.peer.name and end.far_port in _ports(half.peer, far)):
            continue
        table, key = ("PORT", port) if port == link else ("PORTCHANNEL_MEMBER", f"{link}|{port}")
        message = f"{port} is in the peer link, but leads to {end.far_port} of {end.far_name}"
        hint = f"connect it to a port of {far or 'the peer link'} of {half.peer.name}"
        yield Defect(half.switch.place(table, key), message, hint)


def _ports(switch: Switch, interface: str) -> list[str]:
    return [port for port, channel in switch.channel_of.items() if channel == interface] or [interface]


@rule("FG684", Severity.ERROR, "A bond of two leaves is not the same at both", breaks=Breaks.LINK)
def bonds_of_two_leaves(fabric: Fabric) -> Iterator[Defect]:
    """What: each port channel in MCLAG_INTERFACE of a leaf is there at its peer, too, in the same VLANs, with the same
    addresses, lacp_key and MTU, and without fallback. Its ports at both leaves lead to one host.

    Why: iccpd finds the port channel of the peer by its name, and compares the VLANs and addresses. Where the keys
    differ LACP makes two groups of ports, and the host uses one of them. With fallback a host without LACP sends on
    one port, but the other leaf sends to another port.

    Example: PortChannel0 is in Vlan110 at one leaf, and in Vlan111 at its peer.

    Fix: give both leaves the same rows.

    Source: sonic-buildimage src/iccpd/src/iccp_consistency_check.c; sonic-swss cfgmgr/teammgr.cpp (lacp_key);
    IEEE 802.1AX, 6.3 (system identifier and key).
    """
    for half in halves(fabric).values():
        for channel in half.domain.channels:
            if channel not in half.peer_domain.channels:
                place = half.switch.place(INTERFACES, f"{half.domain.number}|{channel}")
                message = f"{channel} is a bond of two leaves, but {half.peer.name} does not have it in {INTERFACES}"
                yield Defect(place, message, f"add the row to {half.peer.name}, or remove it here")
            elif half.switch.name < half.peer.name:
                yield from _differences(fabric, half, channel)


def _differences(fabric: Fabric, half: Half, channel: str) -> Iterator[Defect]:
    """What differs in a port channel that both leaves have."""
    a, b = half.switch, half.peer
    own, theirs = dict(a.vlans_of.get(channel, ())), dict(b.vlans_of.get(channel, ()))
    for vlan in sorted(own.keys() | theirs.keys()):
        if own.get(vlan) != theirs.get(vlan):
            here, there = (f"is {mode} in" if mode else "is not in" for mode in (own.get(vlan), theirs.get(vlan)))
            row_a, row_b = (f"{vlan}|{channel}" if vlan in each else "" for each in (own, theirs))
            related = ((f"the table of {b.name}", b.place("VLAN_MEMBER", row_b)),)
            message = f"{channel} {here} {vlan}, but at {b.name} it {there} it"
            yield Defect(a.place("VLAN_MEMBER", row_a), message, "give both leaves the same row", related)
    for field, usual in (("lacp_key", ""), ("mtu", str(DEFAULT_MTU_BYTES))):
        here, there = (text(rows(one.device.config, "PORTCHANNEL").get(channel, {}), field) or usual for one in (a, b))
        if here != there:
            message = f"{field} of {channel} is {here or 'missing'}, but {there or 'missing'} at {b.name}"
            yield Defect(a.place("PORTCHANNEL", channel, field), message, "give both leaves the same value")
    for one in (a, b):
        if one.device.text_of("PORTCHANNEL", channel, "fallback") == "true":
            message = f"{channel} has fallback, and each leaf sends to its own port of a host without LACP"
            yield Defect(one.place("PORTCHANNEL", channel, "fallback"), message, "remove fallback")
    held_a, held_b = ({held.value for held in one.addresses_of.get(channel, ())} for one in (a, b))
    if held_a != held_b:
        message = f"{channel} has other addresses at {b.name}"
        yield Defect(a.place("PORTCHANNEL_INTERFACE", channel), message, "give both leaves the same addresses")
    far_a, far_b = _far_names(fabric, a, channel), _far_names(fabric, b, channel)
    if far_a and far_b and far_a != far_b:
        message = f"{channel} leads to {', '.join(far_a)}, but at {b.name} to {', '.join(far_b)}"
        yield Defect(a.place("PORTCHANNEL", channel), message, "use one port channel of both leaves for one host")


def _far_names(fabric: Fabric, switch: Switch, channel: str) -> list[str]:
    ends = (fabric.ends_of[switch.name].get(port) for port in _ports(switch, channel))
    return sorted({end.far_name for end in ends if end})


@rule("FG685", Severity.ERROR, "A VLAN has different gateways at the two leaves of a pair")
def gateways_of_pairs(fabric: Fabric) -> Iterator[Defect]:
    """What: a VLAN with bonds of two leaves has the same addresses at both. A VLAN in MCLAG_UNIQUE_IP is there at both
    leaves and has different addresses, for sessions of the leaves with each other.

    Why: each leaf answers for the gateway with one MAC address and routes what arrives. If the gateway is an address of
    one leaf only, the other leaf does not route the packets that the host sends to it.

    Example: Vlan110 has 10.224.0.1/29 at one leaf, and 10.224.0.2/29 at its peer.

    Fix: give both leaves the address of the gateway, and remove the VLAN from MCLAG_UNIQUE_IP.

    Source: SONiC doc/mclag/MCLAG_Enhancements_HLD.md, 2.1.9 and 3.3.6; sonic-yang-models sonic-mclag.yang.
    """
    for half in halves(fabric).values():
        a, b = half.switch, half.peer
        vlans = {vlan for channel in half.domain.channels for vlan, _ in a.vlans_of.get(channel, ())}
        for vlan in sorted(vlans | half.domain.unique):
            is_unique, there = vlan in half.domain.unique, vlan in half.peer_domain.unique
            if is_unique and not there:
                message = f"{vlan} has unique addresses here, but not at {b.name}"
                yield Defect(a.place(UNIQUE, vlan), message, f"add the row to {b.name}, or remove it here")
                continue
            if a.name > b.name or is_unique != there:
                continue
            own, theirs = ({held.value for held in one.addresses_of.get(vlan, ())} for one in (a, b))
            if is_unique and (same := own & theirs):
                message = f"{min(map(str, same))} is at both leaves, but {vlan} is in {UNIQUE}"
                yield Defect(a.place("VLAN_INTERFACE", vlan), message, f"remove the row of {UNIQUE}")
            elif not is_unique and own != theirs:
                here, far = (", ".join(sorted(map(str, each))) or "no address" for each in (own, theirs))
                message = f"{vlan} has {here}, but {far} at {b.name}"
                yield Defect(a.place("VLAN_INTERFACE", vlan), message, "give both leaves the address of the gateway")


@rule("FG687", Severity.ERROR, "Nothing reads the MCLAG tables")
def iccpd_runs(fabric: Fabric) -> Iterator[Defect]:
    """What: FEATURE|iccpd is enabled on a switch with an MCLAG domain. By default it is disabled. A note says that the
    image must have it: images of the community do not.

    Why: without the container nothing reads the tables, and each leaf is a separate system for LACP.

    Example: MCLAG_DOMAIN has a row, and FEATURE does not have iccpd.

    Fix: add the row FEATURE|iccpd with state enabled, and build the image with INCLUDE_ICCPD = y.

    Source: sonic-buildimage rules/config (INCLUDE_ICCPD = n), files/build_templates/init_cfg.json.j2 (iccpd: disabled).
    """
    for name, domain in mclag_domains(fabric).items():
        switch = fabric.switches[name]
        if switch.device.text_of("FEATURE", CONTAINER, "state") not in _ENABLED:
            message = f"{DOMAINS} has a row, but FEATURE|{CONTAINER} is not enabled"
            yield Defect(switch.place("FEATURE", CONTAINER), message, "set its state to enabled")
        else:
            message = f"the image needs {CONTAINER}, which images of the community do not have"
            hint = "build the image with INCLUDE_ICCPD = y, or use that of a vendor with MCLAG"
            yield Defect(switch.place(DOMAINS, domain.number), message, hint, severity=Severity.NOTE)
