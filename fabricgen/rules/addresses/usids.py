"""Rules on SRv6 uSIDs: the SIDs of a switch, the routes to those of its neighbors, and room for the outer header."""

from collections.abc import Iterator, Sequence

from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES, link_mtu_for_roce
from fabricgen.routing.usids import UsidPlane, usid_planes
from fabricgen.rules.defects import Defect, FilePlace, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_interfaces import interfaces
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.image import rows, uses_frr_framework
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.srv6 import (
    FIRST_LOCAL,
    LOCATORS,
    OUTER_BYTES,
    SIDS,
    UsidRoute,
    block_of,
    first_usid,
    is_taken,
    locator_of,
    sids_of,
)

_ROUTES = "STATIC_ROUTE"


@rule("FG288", Severity.ERROR, "SRv6 SIDs outside of their locator, or a locator twice")
def srv6_addresses(fabric: Fabric) -> Iterator[Defect]:
    """What: The prefix of a row of SRV6_MY_SIDS is inside its locator; on the master branch an action other than uN
    needs only the block of the locator. A SID uN has the length of its locator. Locators of all switches are apart from
    each other, and their uSIDs are below 0xe000.

    Why: bgpcfgd drops other SIDs with a line in the log. Two switches with one locator have the same uSID, so a list
    leads to the wrong one. A longer SID uN does not match lists with another uSID behind it. uSIDs from 0xe000 on
    belong to one switch only, such as those of its host ports.

    Example: SRV6_MY_SIDS|MAIN|fcbb:bbbb:2::/48, and the prefix of locator MAIN is fcbb:bbbb:1::.

    Fix: Give each switch its own locator, and take the SIDs from it.

    Source: sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_srv6.py (SRv6Mgr: sids_set_handler) of 202511, 202605
    and 086b03b; sonic-srv6.yang (block_len 32, node_len 16); RFC 9800 (NEXT-CSID), usid-f3216 of FRR.
    """
    owners: list[tuple[Address, str, Place]] = []
    for switch in fabric.switches.values():
        for name, row in rows(switch.device.config, LOCATORS).items():
            if prefix := locator_of(row):
                place = switch.place(LOCATORS, name, "prefix")
                owners.append((prefix, switch.name, place))
                if prefix.length == 48 and first_usid(prefix) >= FIRST_LOCAL:
                    message = f"the uSID of {prefix} is in the range of uSIDs that one switch has for itself"
                    yield Defect(place, message, f"use a uSID below {FIRST_LOCAL:#x}")
        yield from _sids(switch)
    yield from _overlaps(owners)


def _overlaps(owners: Sequence[tuple[Address, str, Place]]) -> Iterator[Defect]:
    """Sorted by its first address, a prefix follows the widest one that covers it, so one look at each is enough."""
    wide: tuple[Address, str, Place] | None = None
    for one in sorted(owners, key=lambda owner: owner[0].network):
        if wide and wide[0].covers(one[0]):
            message = f"{one[0]} overlaps the locator {wide[0]} of {wide[1]}"
            of_other = (f"the locator of {wide[1]}", wide[2])
            yield Defect(one[2], message, "give each switch its own locator", (of_other,))
        else:
            wide = one


def _sids(switch: Switch) -> Iterator[Defect]:
    blocks = {name: block_of(row) for name, row in rows(switch.device.config, LOCATORS).items()}
    for sid in sids_of(switch.device.config):
        place, block = switch.place(SIDS, sid.key), blocks.get(sid.locator)
        if not is_taken(sid, block, switch.device.release):
            is_wide = switch.device.release == MASTER and sid.action != "uN"
            what = f"the block {block} of locator {sid.locator}" if is_wide else f"locator {sid.locator}, {sid.within}"
            yield Defect(
                place, f"the SID is outside of {what}", f"take a SID inside of {block if is_wide else sid.within}"
            )
        elif sid.action == "uN" and sid.prefix.length != sid.within.length:
            message = f"the SID has {sid.prefix.length} bits, and its locator {sid.within} has {sid.within.length}"
            yield Defect(place, message, f"use {sid.within}")


@rule("FG747", Severity.ERROR, "The route of a uSID does not lead over one link to its switch")
def usid_routes(fabric: Fabric) -> Iterator[Defect]:
    """What: On a plane with SRV6_MY_LOCATORS, a static route inside the block of uSIDs has one next hop, which is the
    far end of a link. The switch there has the SID uN of this prefix. A route to a host has a uSID that no switch has.
    It is a warning where packets arrive over links that the list does not name.

    Why: A list of uSIDs names the links of a path. With several next hops the switch hashes. With a wrong one another
    switch looks the packet up, and drops it or sends it on.

    Example: STATIC_ROUTE|default|fcbb:bbbb:1001::/48 has the next hop of spine2, and spine1 has the SID.

    Fix: Use the address of the neighbor that has the SID, and the port to it.

    Source: sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_static_rt.py (nexthop and ifname as lists);
    draft-filsfils-srv6ops-srv6-ai-backend; RFC 9800.
    """
    for plane, switch, route in _usid_routes(fabric):
        owner = next((name for name, one in plane.switches.items() if route.prefix in one.own), "")
        if found := _wrong_route(plane, switch.name, route, owner):
            reason, severity = found
            hint = f"use the next hop of one link to {owner}, and its port" if owner else "use the next hop of one link"
            yield Defect(switch.place(_ROUTES, route.key), reason, hint, severity=severity)


def _wrong_route(plane: UsidPlane, switch: str, route: UsidRoute, owner: str) -> tuple[str, Severity] | None:
    """(what is wrong with the route, how severe it is); None if it leads to the owner, or to a host and
    no switch has the SID."""
    port, reason = plane.port_of(switch, route)
    if not port:
        return reason, Severity.WARNING if len(route.next_hops) > 1 else Severity.ERROR
    far = plane.far(switch, port)
    assert far is not None, "port_of gives ports with a link"
    if (far[0] == owner) if far[0] in plane.switches else not owner:
        return None
    has = f"{owner} has the SID" if owner else "no switch has the SID"
    beyond = far[0] in plane.switches and plane.switches[far[0]].lookup(route.prefix.host) is not None
    then = "sends the packet on, over links that the list does not name" if beyond else "drops the packet"
    return (
        f"{port} leads to {far[0]}, which {then}: {has} {route.prefix}",
        Severity.WARNING if beyond else Severity.ERROR,
    )


@rule("FG748", Severity.ERROR, "A route to a uSID is announced, or an address hides uSIDs")
def announced_usids(fabric: Fabric) -> Iterator[Defect]:
    """What: Static routes inside the block of uSIDs have advertise "false", and no interface of the plane has an
    address in the block.

    Why: bgpcfgd announces static routes by default. Neighbors then have two ways to a uSID, and when a link fails, BGP
    sends the packet on over a path that the list does not name. An address in the block is a longer prefix than a uSID,
    so lists with this beginning end there.

    Example: STATIC_ROUTE|default|fcbb:bbbb:1001::/48 without advertise.

    Fix: Set advertise to "false"; use addresses outside of the block.

    Source: sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_static_rt.py (ROUTE_ADVERTISE_ENABLE_TAG unless
    advertise is "false", STATIC_ROUTE_FILTER).
    """
    for _, switch, route in _usid_routes(fabric):
        if route.is_announced and switch.asn and not uses_frr_framework(switch.device.config):
            message = f"BGP announces {route.prefix}, so neighbors have two ways to the uSID"
            yield Defect(switch.place(_ROUTES, route.key, "advertise"), message, 'set advertise to "false"')
    for _, plane in usid_planes(fabric.bundle):
        for name in plane.switches:
            switch = fabric.switches[name]
            for held in switch.addresses if plane.block else ():
                own = Address(held.version, int(held.ip), held.length)
                if plane.block and plane.block.covers(own.network):
                    message = f"{own.ip} is inside the block {plane.block} of uSIDs"
                    yield Defect(switch.place(held.table, held.key), message, "use an address outside of the block")


def _usid_routes(fabric: Fabric) -> Iterator[tuple[UsidPlane, Switch, UsidRoute]]:
    """The static routes of uSIDs except for discard routes, with the plane and the switch."""
    for _, plane in usid_planes(fabric.bundle):
        for name, one in plane.switches.items():
            table = fabric.switches[name].device.table(_ROUTES)
            for route in one.routes.values():
                if table.get(route.key, {}).get("blackhole") != "true":
                    yield plane, fabric.switches[name], route


@rule("FG935", Severity.ERROR, "Packets of hosts do not fit with the outer header of SRv6", Basis.AGREEMENT)
def room_for_outer_header(fabric: Fabric) -> Iterator[Defect]:
    """What: On a plane with SRV6_MY_LOCATORS, the MTU of each port is at least that of the hosts, and of RoCE packets
    with their headers, and 40 bytes more.

    Why: A host puts an IPv6 header of 40 bytes with the list of uSIDs around each packet. A switch drops what is larger
    than the MTU of its port, and TCP of the host counts on the MTU of the NIC (MSS).

    Example: mtu of the hosts is 9100, and so is PORT.mtu.

    Fix: Set the MTU of the hosts 40 bytes below that of the ports, as `fabricgen render` does, or use a smaller RoCE
    MTU.

    Source: RFC 8986 (H.Encaps.Red, one segment without a routing header); RFC 8200 (no fragmentation on the way).
    """
    planes = dict(usid_planes(fabric.bundle))
    smallest: dict[str, tuple[int, Place]] = {}
    for end in fabric.ends if planes else ():
        own = number(end.text("mtu")) or DEFAULT_MTU_BYTES
        if end.switch.plane in planes and own < smallest.get(end.switch.plane, (own + 1,))[0]:
            smallest[end.switch.plane] = own, end.place("PORT", "mtu")
    largest: dict[str, tuple[int, Place | FilePlace]] = {}
    for one in interfaces(fabric) if planes else ():
        mtu = one.raw.get("mtu")
        if isinstance(mtu, int) and mtu > largest.get(one.plane.name, (0,))[0]:
            largest[one.plane.name] = mtu, one.place("mtu")
    for name, (most, port) in smallest.items():
        wired = fabric.planes.get(name)
        roce = link_mtu_for_roce(wired.roce_mtu) if wired and wired.roce_mtu else 0
        if roce + OUTER_BYTES > most:
            message = f"RoCE packets and the outer header have {roce + OUTER_BYTES} bytes, but the port has {most}"
            yield Defect(port, message, f"set mtu to {roce + OUTER_BYTES} or more, or use a smaller `roce_mtu`")
        elif name in largest and largest[name][0] + OUTER_BYTES > most:
            mtu, place = largest[name]
            message = (
                f"the MTU of the host and {OUTER_BYTES} bytes of SRv6 are {mtu + OUTER_BYTES}, but a port has {most}"
            )
            yield Defect(place, message, f"set mtu to {most - OUTER_BYTES}", (("the port", port),))
