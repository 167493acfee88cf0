"""The rule on DHCP relays: the container runs, it listens where the answers come in, and there is a route to them."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.control.services import connected, has_static_route
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import is_split

_UPSTREAM = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE")
_RELAYING_TYPES = ("ToRRouter", "EPMS", "MgmtTsToR", "MgmtToRRouter", "BmcMgmtToRRouter")


@rule("FG297", Severity.ERROR, "A DHCP relay does not reach its server")
def relay_reaches_server(fabric: Fabric) -> Iterator[Defect]:
    """What: a VLAN with dhcp_servers has an IPv4 address, FEATURE runs the container dhcp_relay (by default it does on
    a ToRRouter only), the switch has an IPv4 address on another interface, and a route to each server. Routes that BGP
    learns from devices outside the fabric are not known: with such devices on the plane, or
    with docker_routing_config_mode split, they are taken to exist.

    Why: hosts in the VLAN get no address and do not boot from the network. The relay reports nothing.

    Example: dhcp_servers is 10.20.0.5, and no switch of the plane has a subnet or a route with this address.

    Fix: correct the address, or connect the network of the server with `external` or `static` of the plane.

    Source: sonic-buildimage dockers/docker-dhcp-relay (docker-dhcp-relay.supervisord.conf.j2: a program for each VLAN
    with an IPv4 prefix; dhcpv4-relay.agents.j2: -id for the VLAN, -iu for all other interfaces with IPv4),
    files/build_templates/init_cfg.json.j2 (FEATURE|dhcp_relay).
    """
    for switch in fabric.switches.values():
        for vlan, row in switch.device.table("VLAN").items():
            listed = row.get("dhcp_servers")
            servers = listed if isinstance(listed, list) else [listed] if listed else []
            addresses = [(text, one) for text in map(str, servers) if (one := parse_address(text)) and one.version == 4]
            place = switch.place("VLAN", vlan, "dhcp_servers")
            if addresses and (reason := _stands_still(switch, vlan)):
                yield Defect(place, f"requests in {vlan} are not relayed: {reason[0]}", reason[1])
                continue
            for text, address in addresses:
                if problem := _unreachable(fabric, switch, vlan, address):
                    hint = "correct the address, or connect its network with `external` or `static` of the plane"
                    yield Defect(place, f"{text} cannot be reached: {problem}", hint)


def _stands_still(switch: Switch, vlan: str) -> tuple[str, str] | None:
    """Why the switch relays nothing in a VLAN, and what to do."""
    state = switch.device.text_of("FEATURE", "dhcp_relay", "state")
    if state in ("disabled", "always_disabled"):
        return "FEATURE|dhcp_relay is disabled", "set its state to enabled"
    if not state and switch.type and switch.type not in _RELAYING_TYPES:
        reason = f"the image enables FEATURE|dhcp_relay on a {_RELAYING_TYPES[0]}, and this is a {switch.type}"
        return reason, "add the row FEATURE|dhcp_relay with state enabled"
    if not any(held.version == 4 for held in switch.addresses_of.get(vlan, ())):
        return f"{vlan} has no IPv4 address", f"add a row VLAN_INTERFACE|{vlan} with an IPv4 address"
    return None


def _unreachable(fabric: Fabric, switch: Switch, vlan: str, server: Address) -> str:
    if is_split(switch.device.config):
        return ""  # FRR has separate files, which can have addresses and routes
    own = [parse_address(held.key.partition("|")[2]) for held in switch.addresses_of.get(vlan, ())]
    if any(one and one.network.covers(server) for one in own):
        return ""  # hosts of this VLAN reach it without the relay
    listening = [
        held for held in switch.addresses if held.table in _UPSTREAM and held.interface != vlan and held.version == 4
    ]
    if not listening:
        return "no other interface of the switch has an IPv4 address, so the relay listens for no answer"
    if connected(switch, "", server) or has_static_route(switch, "default", server):
        return ""
    plane = [other for other in fabric.switches.values() if other.network == switch.network]
    externals = fabric.bundle.wiring.externals if fabric.bundle.wiring else ()
    if any(one.asn is not None and one.plane == switch.plane for one in externals):
        return ""
    if any(connected(other, "", server) or has_static_route(other, "default", server) for other in plane):
        return ""
    return "no switch of the plane has a subnet or a route with this address"
