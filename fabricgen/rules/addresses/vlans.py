"""Rules on hosts in VLANs: their ports are in the VLAN of their addresses, without a tag, and it has a gateway."""

from collections.abc import Iterator, Mapping

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.host_groups import host_groups
from fabricgen.rules.view.subnets import in_a_vlan, nic_addresses
from fabricgen.rules.view.switch import UNTAGGED
from fabricgen.units import counted


@rule("FG295", Severity.ERROR, "The port of a host is not in the VLAN of its address")
def vlan_of_host(fabric: Fabric) -> Iterator[Defect]:
    """What: if the address of a NIC is in the subnet of a VLAN, its switch port, or the port channel of this port, is
    an untagged member of this VLAN. A host with a VLAN interface of this number in its netplan file has a tagged port.

    Why: the host sends frames without a tag, and the switch puts them into the untagged VLAN of the port (the native
    VLAN), or drops them. The host does not reach its gateway.

    Example: VLAN_MEMBER|Vlan100|Ethernet8 has tagging_mode tagged.

    Fix: make the port an untagged member of the VLAN.

    Source: IEEE 802.1Q (PVID); sonic-swss cfgmgr/vlanmgr.cpp (addHostVlanMember: pvid untagged).
    """
    seen = set[tuple[str, str]]()
    for end in fabric.ends:
        switch = end.switch
        if not switch.device.table("VLAN_INTERFACE") or switch.addresses_of.get(end.port):
            continue
        vlan, member = in_a_vlan(end), switch.channel_of.get(end.port, end.port)
        modes = dict(switch.vlans_of.get(member, ()))
        if not vlan or modes.get(vlan) == UNTAGGED or (switch.name, member) in seen:
            continue
        seen.add((switch.name, member))
        texts, what = ", ".join(nic_addresses(end)), f"{end.far_port} of {end.far_name}"
        place = switch.place("VLAN_MEMBER", f"{vlan}|{member}", "tagging_mode" if vlan in modes else "")
        if vlan in modes:
            if _has_tag(fabric, end, vlan.removeprefix("Vlan")):
                continue
            message = f"{member} is tagged in {vlan}, but {what} sends frames without a tag"
            yield Defect(place, message, f"set tagging_mode to {UNTAGGED}")
            continue
        others = [name for name, mode in modes.items() if mode == UNTAGGED]
        where = f"in {others[0]}" if others else "no member of it"
        message = f"{what} has {texts} in {vlan}, but {member} is {where}"
        hint = f"add the row VLAN_MEMBER|{vlan}|{member} with tagging_mode {UNTAGGED}"
        yield Defect(place, message, hint + (f" in place of that of {others[0]}" if others else ""))


def _has_tag(fabric: Fabric, end: End, number: str) -> bool:
    """Whether the netplan file of the host has an interface in the VLAN of this number."""
    for group in host_groups(fabric):
        if any(host.name == end.far_name for host in group.hosts):
            vlans = group.files.network(end.far_name).get("vlans")
            rows = vlans.values() if isinstance(vlans, Mapping) else ()
            return any(isinstance(row, Mapping) and str(row.get("id")) == number for row in rows)
    return False


@rule("FG296", Severity.ERROR, "A VLAN of hosts has no gateway")
def gateway_of_vlan(fabric: Fabric) -> Iterator[Defect]:
    """What: a VLAN with hosts has an address of each family that they have, on the switch that they are connected to.
    FG313 reports a gateway that is on two switches.

    Why: the hosts reach each other and nothing else.

    Example: Vlan100 has eight members, and VLAN_INTERFACE is empty.

    Fix: add the row VLAN_INTERFACE|Vlan100, and one with the address.

    Source: sonic-buildimage sonic-vlan.yang; sonic-swss cfgmgr/intfmgr.cpp.
    """
    for switch in fabric.switches.values():
        waiting: dict[tuple[str, int], list[End]] = {}
        for end in fabric.ends_of[switch.name].values() if switch.device.table("VLAN_MEMBER") else ():
            name = switch.interface_of(end.port)
            if not name.startswith("Vlan"):
                continue
            families = {held.version for held in switch.addresses_of.get(name, ())}
            for address in filter(None, map(parse_interface, nic_addresses(end))):
                if address.version not in families:
                    waiting.setdefault((name, address.version), []).append(end)
        for (vlan, version), ends in waiting.items():
            first = ends[0]
            ports = counted(len(ends), "port of hosts", "ports of hosts")
            message = f"{vlan} has {ports}, for example to {first.far_name}, but no IPv{version} address"
            yield Defect(switch.place("VLAN_INTERFACE", vlan), message, "add a row with the address of the gateway")
