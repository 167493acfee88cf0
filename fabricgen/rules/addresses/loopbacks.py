"""Loopback0 and the router id: what every BGP session starts from."""

from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric, Network, majority

_ROUTER_ID = ("DEVICE_METADATA", "localhost", "bgp_router_id")


@rule("FG314", Severity.ERROR, "Loopback0 is missing or no host address")
def loopback(fabric: Fabric) -> Iterator[Defect]:
    """What: every BGP speaker has a Loopback0 with an address of full length.

    Why: bgpcfgd starts no session before Loopback0's base row exists, and takes the router id from its IPv4 address.
    SONiC announces a /32 whatever the length is, so a shorter one promises addresses that are not reachable.

    Example: LOOPBACK_INTERFACE is empty, or has Loopback0|10.0.0.1/24.

    Fix: have the rows Loopback0 and Loopback0|<address>/32.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_bgp.py, bgpd.main.conf.j2.
    """
    families = _families(fabric)
    for switch in fabric.switches.values():
        if not switch.asn:
            continue
        held = switch.addresses_of.get("Loopback0", ())
        router_id = switch.device.text_of(*_ROUTER_ID)
        if not any(one.value.version == 4 for one in held) and not (held and router_id):
            message = "Loopback0 has no IPv4 address to take the router id from"
            place = switch.place("LOOPBACK_INTERFACE", f"Loopback0|{router_id or '<address>'}/32")
            yield Defect(place, message, "add the row Loopback0|<address>/32")
        if families.get(switch.network) == 6 and held and not any(one.value.version == 6 for one in held):
            message = "Loopback0 has no IPv6 address, most switches of the plane have one"
            place = switch.place("LOOPBACK_INTERFACE", "Loopback0")
            yield Defect(place, message, "add the row Loopback0|<address>/128")
        for one in held:
            if one.value.network.num_addresses > 1:
                message = f"Loopback0 has {one.value}, a loopback is a single address"
                hint = f"use {one.ip}/{one.value.max_prefixlen}"
                yield Defect(switch.place(one.table, one.key), message, hint, (), Severity.WARNING)


@rule("FG320", Severity.ERROR, "A switch has another address than it was given")
def given_addresses(fabric: Fabric) -> Iterator[Defect]:
    """What: Loopback0 and eth0 have the addresses that fabric.json says the switch was given.

    Why: another address may be free, and still everyone looks for the switch elsewhere: monitoring, Ansible, the
    allocation that will give the address away.

    Example: Loopback0 was given 10.0.0.7 and has 10.0.0.77.

    Fix: use the address that was given, or change it in the lock file and render again.

    Source: fabric.json of the bundle, from the lock file beside its inventory.
    """
    for switch in fabric.switches.values():
        wired = switch.device.wired
        for table, interface, texts in (
            ("LOOPBACK_INTERFACE", "Loopback0", wired.loopbacks if wired else ()),
            ("MGMT_INTERFACE", "eth0", wired.management if wired else ()),
        ):
            known = sorted(text.split("/")[0] for text in texts)
            for key in switch.device.table(table) if known else ():
                name, _, address = key.partition("|")
                held = parse_interface(address)
                if name == interface and held and str(held.ip) not in known:
                    message = f"{interface} has {held.ip}, the switch was given {' and '.join(known)}"
                    yield Defect(switch.place(table, key), message, f"use {known[0]}")


def _families(fabric: Fabric) -> dict[Network, int | None]:
    """Network -> the highest IP version that most of its switches have on Loopback0."""
    versions: dict[Network, list[int]] = defaultdict(list)
    for switch in fabric.switches.values():
        held = switch.addresses_of.get("Loopback0", ())
        versions[switch.network].append(max((one.value.version for one in held), default=0))
    return {network: majority(found) for network, found in versions.items()}


@rule("FG315", Severity.ERROR, "The router id is not the loopback, or is used twice")
def router_id(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.bgp_router_id, where given, is the IPv4 address of Loopback0, and no other switch's.

    Why: two BGP speakers with one router id refuse each other. A router id that nothing holds misleads everyone who
    reads a routing table.

    Example: bgp_router_id 10.0.0.9, Loopback0 has 10.0.0.1.

    Fix: set it to Loopback0's address, or leave it out.

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
            message = f"bgp_router_id is {found}, Loopback0 is {own[0]}"
            yield Defect(switch.place(*_ROUTER_ID), message, "use one address for both", related)
        elif found and not own and len(users[found]) > 1:
            other = next(fabric.switches[name] for name in users[found] if name != switch.name)
            related = ((other.name, other.place(*_ROUTER_ID)),)
            message = f"bgp_router_id {found} is that of {other.name}, too"
            yield Defect(switch.place(*_ROUTER_ID), message, "give each switch its own", related)
