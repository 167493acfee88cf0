"""Addresses of links: every wired port has one, and both of its ends are in one subnet."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import HeldAddress, parse_interface
from fabricgen.rules.view.fabric import End, Fabric, Switch, far_end
from fabricgen.rules.view.subnets import end_addresses, mismatched_subnets, missing_addresses


@rule("FG311", Severity.ERROR, "A wired port has no address")
def wired_port_without_address(fabric: Fabric) -> Iterator[Defect]:
    """What: a wired port is a routed port with an address of each family that the far end has, or a member of a VLAN or
    port channel, or uses IPv6 link-local addresses on purpose.

    Why: without an address the port forwards nothing.

    Example: INTERFACE has the row Ethernet0 but no row Ethernet0|10.128.0.0/31.

    Fix: add the address row. (An address without the base row is FG409.)

    Source: sonic-buildimage sonic-interface.yang; src/sonic-bgpcfgd waits for the interface.
    """
    missing = missing_addresses(fabric)
    for switch in fabric.switches.values():
        rows = switch.device.table("INTERFACE")
        members = {
            key.rpartition("|")[2]
            for table in ("VLAN_MEMBER", "PORTCHANNEL_MEMBER")
            for key in switch.device.table(table)
        }
        if not fabric.bundle.wiring and not rows:
            continue  # nothing tells that this switch routes on its ports
        for end in fabric.ends_of[switch.name].values():
            if end.port in members or rows.get(end.port, {}).get("ipv6_use_link_local_only") == "enable":
                continue
            for address in missing.get(end, ()):
                key = f"{end.port}|{address}" if address else end.port
                hint = f"add the row INTERFACE|{key}" if address else "add its address row"
                family = f"IPv{6 if ':' in address else 4} " if address else ""
                message = f"the port to {end.far_name} has no {family}address"
                yield Defect(switch.place("INTERFACE", key), message, hint, far_end(end, "INTERFACE"))


@rule("FG312", Severity.ERROR, "The two ends of a link are not in one subnet")
def link_subnet(fabric: Fabric) -> Iterator[Defect]:
    """What: the two ends of a routed link have different addresses of one subnet.

    Why: without a common subnet neither end finds the other, and the BGP session stays down.

    Example: leaf1 has 10.128.0.0/31, spine1 has 10.128.0.3/31.

    Fix: give both ends the addresses of one /31 or /127.

    Source: RFC 3021, RFC 6164.
    """
    wrong = mismatched_subnets(fabric)
    for pair in fabric.pairs if wrong else ():
        for near, far in wrong.get(pair[0], ()):
            end, held, other_end, other = _stranger(pair, near, far)
            message = f"{held.value} shares no subnet with {other.value} of {other_end.switch.name}"
            if held.ip == other.ip:
                message = f"{held.ip} is the address of the far end {other_end.switch.name}, too"
            elif held.value.network.overlaps(other.value.network):
                message = f"{held.value} and {other.value} of {other_end.switch.name} are subnets of unlike length"
            related = (("the far end", other_end.switch.place(other.table, other.key)),)
            yield Defect(end.switch.place(held.table, held.key), message, "use the two addresses of one /31", related)


def _stranger(pair: tuple[End, End], near: HeldAddress, far: HeldAddress) -> tuple[End, HeldAddress, End, HeldAddress]:
    """Of two addresses that do not fit, the one that the other end does not expect as a BGP peer first."""
    a, b = pair
    a_is_known = _is_peer(b.switch, near)
    b_is_known = _is_peer(a.switch, far)
    unusual_length = far.value.network.prefixlen < near.value.network.prefixlen
    if (a_is_known and not b_is_known) or (a_is_known == b_is_known and unusual_length):
        return b, far, a, near
    return a, near, b, far


def _is_peer(switch: Switch, held: HeldAddress) -> bool:
    return any(key.rpartition("|")[2] == str(held.ip) for key in switch.device.table("BGP_NEIGHBOR"))


@rule("FG316", Severity.ERROR, "A host is not in the subnet of its port")
def host_subnet(fabric: Fabric) -> Iterator[Defect]:
    """What: the switch port of a host link has an address in the subnet of the host's NIC, and another one than it.

    Why: the NIC finds its gateway only inside its own subnet.

    Example: nic0 of gpu1 has 10.64.0.1/31, its port has 10.64.0.4/31.

    Fix: give the port the other address of the NIC's /31.

    Source: fabric.json (addresses of the NICs as they were allocated).
    """
    nics = {(host.name, nic.name): nic.addresses for host in fabric.hosts.values() for nic in host.nics}
    for end in fabric.ends:
        held = end_addresses(end)
        for text in nics.get((end.far_name, end.far_port), ()):
            nic = parse_interface(text)
            mine = [one for one in held if nic and one.value.version == nic.version]
            if nic and mine and not any(nic.ip in one.value.network and nic.ip != one.ip for one in mine):
                message = f"{mine[0].value} is no gateway for {end.far_name} {end.far_port}, which has {text}"
                yield Defect(end.switch.place(mine[0].table, mine[0].key), message, "use the NIC's subnet")
