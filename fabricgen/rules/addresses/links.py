"""Rules on the addresses of links: each port with a cable has one, and both ends are in one subnet."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import HeldAddress, parse_interface
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.rules.view.subnets import in_a_vlan, mismatched_subnets, missing_addresses
from fabricgen.rules.view.switch import Switch


@rule("FG311", Severity.ERROR, "A port with a cable has no address", breaks=Breaks.SESSION)
def wired_port_without_address(fabric: Fabric) -> Iterator[Defect]:
    """What: Each port with a cable has an address of each family that the far end has. Members of a VLAN or a port
    channel, ports with ipv6_use_link_local_only and the in-band port of a chassis (VOQ_INBAND_INTERFACE) need no row
    in INTERFACE.

    Why: Without an address the port forwards no traffic.

    Example: INTERFACE has the row Ethernet0 but no row Ethernet0|10.128.0.0/31.

    Fix: Add the row with the address. FG409 reports an address without the row of its port.

    Source: sonic-buildimage sonic-interface.yang; src/sonic-bgpcfgd waits for the interface.
    """
    missing = missing_addresses(fabric)
    for switch in fabric.switches.values() if missing else ():
        rows = switch.device.table("INTERFACE")
        members = {*switch.vlans_of, *switch.channel_of}
        # Not read by its name, since nothing judges its rows: FG415 lists the table.
        in_band = [rows for table, rows in switch.device.config.items() if table == "VOQ_INBAND_INTERFACE"]
        members |= {key.partition("|")[0] for rows in in_band for key in rows}
        if not fabric.bundle.wiring and not rows:
            continue  # nothing shows that this switch routes on its ports
        for end in fabric.ends_of[switch.name].values():
            if end.port in members or rows.get(end.port, {}).get("ipv6_use_link_local_only") == "enable":
                continue
            for address in missing[end] if end in missing and not in_a_vlan(end) else ():  # FG295
                key = f"{end.port}|{address}" if address else end.port
                hint = f"add the row INTERFACE|{key}" if address else "add a row with the address of the port"
                family = f"IPv{6 if ':' in address else 4} " if address else ""
                message = f"the port to {end.far_name} has no {family}address"
                yield Defect(switch.place("INTERFACE", key), message, hint, far_end(end, "INTERFACE"))


@rule("FG312", Severity.ERROR, "The two ends of a link are not in one subnet", breaks=Breaks.SESSION)
def link_subnet(fabric: Fabric) -> Iterator[Defect]:
    """What: The two ends of a routed link have different addresses in one subnet.

    Why: Without a common subnet the two ends cannot reach each other, and the BGP session stays down.

    Example: leaf1 has 10.128.0.0/31 and spine1 has 10.128.0.3/31.

    Fix: Use the two addresses of one /31 or /127.

    Source: RFC 3021, RFC 6164.
    """
    wrong = mismatched_subnets(fabric)
    for pair in fabric.pairs if wrong else ():
        for near, far in wrong.get(pair[0], ()):
            end, held, other_end, other = _less_expected(pair, near, far)
            message = f"{held.value} is not in one subnet with {other.value} of {other_end.switch.name}"
            if held.ip == other.ip:
                message = f"the far end {other_end.switch.name} has the same address {held.ip}"
            elif held.value.network.overlaps(other.value.network):
                message = f"{held.value} has another prefix length than {other.value} of {other_end.switch.name}"
            related = (("the far end", other_end.switch.place(other.table, other.key)),)
            hint = f"use the two addresses of one {'/31' if held.value.version == 4 else '/127'}"
            yield Defect(end.switch.place(held.table, held.key), message, hint, related)


def _less_expected(
    pair: tuple[End, End], near: HeldAddress, far: HeldAddress
) -> tuple[End, HeldAddress, End, HeldAddress]:
    """Both ends with their addresses; the address that the other end does not expect as a BGP peer comes first."""
    a, b = pair
    a_is_known = _is_peer(b.switch, near)
    b_is_known = _is_peer(a.switch, far)
    unusual_length = far.value.network.prefixlen < near.value.network.prefixlen
    if (a_is_known and not b_is_known) or (a_is_known == b_is_known and unusual_length):
        return b, far, a, near
    return a, near, b, far


def _is_peer(switch: Switch, held: HeldAddress) -> bool:
    return any(key.rpartition("|")[2] == held.text for key in switch.device.table("BGP_NEIGHBOR"))


@rule("FG316", Severity.ERROR, "A host is not in the subnet of its port")
def host_subnet(fabric: Fabric) -> Iterator[Defect]:
    """What: The switch port of a host link has another address in the subnet of the host's NIC.

    Why: The NIC can reach a gateway only inside its own subnet.

    A port in a VLAN or a port channel has the addresses of it.

    Example: nic0 of gpu1 has 10.64.0.1/31, but its port has 10.64.0.4/31.

    Fix: Set the address of the port to the other address of the NIC's /31.

    Source: fabric.json (allocated addresses of the NICs).
    """
    nics = {(host.name, nic.name): nic.addresses for host in fabric.hosts.values() for nic in host.nics}
    for end in fabric.ends:
        texts = nics.get((end.far_name, end.far_port), ())
        held = end.switch.addresses_for(end.port) if texts else ()
        for text in texts:
            nic = parse_interface(text)
            mine = [one for one in held if nic and one.version == nic.version]
            if nic and mine and not any(0 < int(nic) ^ one.number < 1 << one.host_bits for one in mine):
                message = f"{mine[0].value} cannot be the gateway of {end.far_name} {end.far_port}, which has {text}"
                hint = f"use another address of {nic.network}"
                yield Defect(end.switch.place(mine[0].table, mine[0].key), message, hint)
