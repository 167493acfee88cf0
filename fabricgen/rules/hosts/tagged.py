"""The rule on ports with several VLANs: both ends have the same tagged VLANs."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.wiring import WiredHost, WiredVlan
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.host_interfaces import netplan_file, rows_of_vlans
from fabricgen.sonic.tables import vlan_name
from fabricgen.vocabulary import Role

TAGGED = "tagged"


@rule(
    "FG691",
    Severity.ERROR,
    "A host and its switch port have different tagged VLANs",
    Basis.AGREEMENT,
    breaks=Breaks.ADDRESS,
)
def tagged_vlans(fabric: Fabric) -> Iterator[Defect]:
    """What: for each tagged VLAN of a host, its switch port or port channel is a tagged member of this VLAN, and the
    switch has an address in the subnet of the host. The netplan file has the interface with this `id` above the NIC or
    bond, and with at most its MTU. A host port is tagged in no other VLAN.

    Why: the switch drops frames with a tag of a VLAN that the port is not a member of. Frames of a VLAN that the host
    does not know load its port with broadcasts.

    Example: gpu-000 has bond0.120, but VLAN_MEMBER has no row Vlan120|PortChannel0.

    Fix: add the row with tagging_mode tagged, or render the file of the host again.

    Source: IEEE 802.1Q; sonic-buildimage sonic-vlan.yang (tagging_mode); netplan reference, vlans.
    """
    ends: dict[tuple[str, str], list[End]] = {}
    for end in fabric.ends:
        if end.far_role == Role.HOST:
            ends.setdefault((end.far_name, end.far_port), []).append(end)
    for host in fabric.hosts.values():
        nics = {bond.name: bond.nics for bond in host.bonds}
        of_nic: dict[str, set[str]] = {}
        for vlan in host.vlans:
            own = nics.get(vlan.link, (vlan.link,))
            for nic in own:
                of_nic.setdefault(nic, set()).add(vlan_name(vlan.number))
            yield from _member(host, vlan, [end for nic in own for end in ends.get((host.name, nic), ())])
        for nic, wanted in of_nic.items():
            for end in ends.get((host.name, nic), ()):
                yield from _others(end, wanted)
    for group in host_groups(fabric):
        for host in group.hosts if group.tagged_vlans else ():
            if netplan_file(host.name) in group.files.files:
                for vlan in host.vlans:
                    yield from _file(group, host, vlan)


def _member(host: WiredHost, vlan: WiredVlan, ends: list[End]) -> Iterator[Defect]:
    """The switch ports that are not tagged in the VLAN, and a VLAN without an address for the host."""
    name, seen = vlan_name(vlan.number), set[tuple[str, str]]()
    for end in ends:
        switch, member = end.switch, end.switch.channel_of.get(end.port, end.port)
        if (switch.name, member) in seen:
            continue
        seen.add((switch.name, member))
        mode = dict(switch.vlans_of.get(member, ())).get(name)
        if mode != TAGGED:
            found = f"{mode} in" if mode else "no member of"
            message = f"{host.name} has {vlan.name}, but {member} is {found} {name}"
            place = switch.place("VLAN_MEMBER", f"{name}|{member}", "tagging_mode" if mode else "")
            yield Defect(place, message, f"add the row VLAN_MEMBER|{name}|{member} with tagging_mode {TAGGED}")
        held = switch.addresses_of.get(name, ())
        for address in (parsed for text in vlan.addresses if (parsed := parse_interface(text))):
            if not any(one.leads_to(address) for one in held):
                message = f"{vlan.name} of {host.name} has {address}, but {name} has no address in {address.network}"
                yield Defect(switch.place("VLAN_INTERFACE", name), message, "add a row with the address of the gateway")


def _others(end: End, wanted: set[str]) -> Iterator[Defect]:
    """Tagged VLANs of a switch port that the host does not have."""
    switch, member = end.switch, end.switch.channel_of.get(end.port, end.port)
    for name, mode in switch.vlans_of.get(member, ()):
        if mode == TAGGED and name not in wanted:
            message = f"{member} is tagged in {name}, but {end.far_name} has no interface in this VLAN"
            place = switch.place("VLAN_MEMBER", f"{name}|{member}")
            yield Defect(place, message, "remove the row, or add the VLAN to `tagged`", severity=Severity.WARNING)


def _file(group: HostFiles, host: WiredHost, vlan: WiredVlan) -> Iterator[Defect]:
    """What differs in the netplan file."""
    network, file, key = group.files.network(host.name), netplan_file(host.name), f"vlans.{vlan.name}"
    row = rows_of_vlans(group, host.name).get(vlan.name)
    nics = [nic for bond in host.bonds if bond.name == vlan.link for nic in bond.nics] or [vlan.link]
    if not all(map(group.is_set_up, nics)):
        return
    if not isinstance(row, Mapping):
        message = f"the interface of VLAN {vlan.number} above {vlan.link} is missing"
        yield Defect(group.place(file, key), message, "run `fabricgen render`")
        return
    for name, wanted in (("id", vlan.number), ("link", vlan.link)):
        if row.get(name) != wanted:
            message = f"{name} is {row.get(name, 'missing')}, expected {wanted}"
            yield Defect(group.place(file, f"{key}.{name}"), message, f"set {name} to {wanted}")
    section = network.get("bonds" if host.bonds and vlan.link not in nics else "ethernets")
    below = section.get(vlan.link) if isinstance(section, Mapping) else None
    most = below.get("mtu") if isinstance(below, Mapping) else None
    mtu = row.get("mtu")
    if isinstance(most, int) and isinstance(mtu, int) and mtu > most:
        message = f"mtu is {mtu}, but {vlan.link} below it has {most}: the kernel refuses a larger one"
        yield Defect(group.place(file, f"{key}.mtu"), message, f"set mtu to {most} or less")
