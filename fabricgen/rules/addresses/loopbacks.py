"""Rules on Loopback0, the allocated addresses and the router ID."""

from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric, majority
from fabricgen.rules.view.switch import Network
from fabricgen.sonic.image import SESSION_TABLES, runs_bgpcfgd

_ROUTER_ID = ("DEVICE_METADATA", "localhost", "bgp_router_id")


@rule("FG314", Severity.ERROR, "Loopback0 is missing or is not a single address", breaks=Breaks.SESSION)
def loopback(fabric: Fabric) -> Iterator[Defect]:
    """What: Every BGP speaker has a Loopback0 with a /32 address. On IPv6 planes it has a /128 address, too. Where
    bgpcfgd does not run (management framework, routing mode split), or has no neighbor, Loopback0 may be missing.

    Why: bgpcfgd does not start sessions before the row Loopback0 exists, and uses its IPv4 address as the router ID.
    SONiC always announces a /32. With a shorter prefix the file suggests addresses that cannot be reached.

    Example: LOOPBACK_INTERFACE is empty, or has Loopback0|10.0.0.1/24.

    Fix: Add the rows Loopback0 and Loopback0|<address>/32.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_bgp.py, bgpd.main.conf.j2.
    """
    families = _families(fabric)
    for switch in fabric.switches.values():
        if not (switch.asn and any(map(switch.device.table, SESSION_TABLES))):
            continue
        held = switch.addresses_of.get("Loopback0", ())
        if not held and not runs_bgpcfgd(switch.device.config):
            continue
        router_id = switch.device.text_of(*_ROUTER_ID)
        if not any(one.value.version == 4 for one in held) and not (held and router_id):
            message = "Loopback0 has no IPv4 address for the router ID"
            place = switch.place("LOOPBACK_INTERFACE", f"Loopback0|{router_id or '<address>'}/32")
            yield Defect(place, message, "add the row Loopback0|<address>/32")
        if families.get(switch.network) == 6 and held and not any(one.value.version == 6 for one in held):
            message = "Loopback0 has no IPv6 address, but most switches of the plane have one"
            place = switch.place("LOOPBACK_INTERFACE", "Loopback0")
            yield Defect(place, message, "add the row Loopback0|<address>/128")
        for one in held:
            if one.value.network.num_addresses > 1:
                message = f"Loopback0 has {one.value}, expected a single address"
                hint = f"use {one.ip}/{one.value.max_prefixlen}"
                yield Defect(switch.place(one.table, one.key), message, hint, (), Severity.WARNING)


@rule("FG320", Severity.ERROR, "An address differs from the allocated one")
def given_addresses(fabric: Fabric) -> Iterator[Defect]:
    """What: Loopback0 and eth0 have the addresses that fabric.json lists for the switch. eth0 can also have an address
    of an IP version without an allocated one.

    Why: Monitoring and Ansible look for the switch at its allocated address. The allocation can give the address that
    the switch uses to another device.

    Example: Loopback0 has 10.0.0.77, but 10.0.0.7 is allocated.

    Fix: Use the allocated address, or change it in the lock file and render again.

    Source: fabric.json of the bundle, from the lock file beside its inventory; sonic-buildimage
    src/sonic-yang-models/yang-models/sonic-mgmt_interface.yang (several addresses).
    """
    for switch in fabric.switches.values():
        wired = switch.device.wired
        for table, interface, texts in (
            ("LOOPBACK_INTERFACE", "Loopback0", wired.loopbacks if wired else ()),
            ("MGMT_INTERFACE", "eth0", wired.management if wired else ()),
        ):
            known = sorted(text.split("/")[0] for text in texts)
            versions = {held.version for text in texts if (held := parse_interface(text))}
            for key in switch.device.table(table) if known else ():
                name, _, address = key.partition("|")
                held = parse_interface(address)
                if interface == "eth0" and held and held.version not in versions:
                    continue
                if name == interface and held and str(held.ip) not in known:
                    message = f"{interface} has {held.ip}, but the allocated address is {' or '.join(known)}"
                    yield Defect(switch.place(table, key), message, f"use {known[0]}")


def _families(fabric: Fabric) -> dict[Network, int | None]:
    """Network -> the highest IP version on Loopback0 of most of its switches."""
    versions: dict[Network, list[int]] = defaultdict(list)
    for switch in fabric.switches.values():
        held = switch.addresses_of.get("Loopback0", ())
        versions[switch.network].append(max((one.value.version for one in held), default=0))
    return {network: majority(found) for network, found in versions.items()}


@rule("FG315", Severity.ERROR, "The router ID is not the loopback address, or is used twice", breaks=Breaks.ROUTES)
def router_id(fabric: Fabric) -> Iterator[Defect]:
    """What: If DEVICE_METADATA.bgp_router_id is set, it is the IPv4 address of Loopback0, and no other switch has it.

    Why: Two BGP speakers with the same router ID reject each other. A router ID that no interface has as its address
    misleads readers of routing tables.

    Example: bgp_router_id is 10.0.0.9, but Loopback0 has 10.0.0.1.

    Fix: Set bgp_router_id to the address of Loopback0, or remove it.

    Source: RFC 4271; sonic-buildimage src/sonic-bgpcfgd managers_bgp.py.
    """
    users: dict[str, list[str]] = defaultdict(list)
    for switch in fabric.switches.values():
        users[switch.device.text_of(*_ROUTER_ID)].append(switch.name)
    for switch in fabric.switches.values():
        found = switch.device.text_of(*_ROUTER_ID)
        own = [str(held.ip) for held in switch.addresses_of.get("Loopback0", ()) if held.value.version == 4]
        if found and own and found not in own:
            related = (("Loopback0", switch.place("LOOPBACK_INTERFACE", f"Loopback0|{own[0]}/32")),)
            message = f"bgp_router_id is {found}, but Loopback0 is {own[0]}"
            yield Defect(switch.place(*_ROUTER_ID), message, f"set bgp_router_id to {own[0]}", related)
        elif found and not own and len(users[found]) > 1:
            other = next(fabric.switches[name] for name in users[found] if name != switch.name)
            related = ((other.name, other.place(*_ROUTER_ID)),)
            message = f"bgp_router_id is {found}, the same as {other.name}"
            yield Defect(switch.place(*_ROUTER_ID), message, "use a different router ID on each switch", related)
