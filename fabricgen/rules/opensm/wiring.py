"""Rules on the wiring of a subnet: its netlist and names, the rails of NICs and the uplinks of switches."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fabricgen.findings import Severity
from fabricgen.observed.subnet_files import NETLIST
from fabricgen.observed.wired_ports import WiredPorts, port_number
from fabricgen.opensm.guid_lists import lines_of_nodes
from fabricgen.opensm.guids import guid_text
from fabricgen.opensm.netlist import read_netlist
from fabricgen.rules.defects import Defect, FilePlace
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets
from fabricgen.vocabulary import Role

if TYPE_CHECKING:
    from fabricgen.observed.subnet import GuidCable, GuidEnd

_NODE = re.compile(r"^(?:switch|ca)guid=0x([0-9a-fA-F]+)", re.MULTILINE)
_NODE_LINE = re.compile(r'^(?:((?:switch|ca)guid=\S+)[^\n]*\n)?((?:Switch|Ca)\s+\d+\s+"[^"]+")', re.MULTILINE)
_NAMED = re.compile(r'0x([0-9a-fA-F]{1,16})\s+"([^"]*)"')
_NAMES = "node-name-map"


@rule("FG838", Severity.ERROR, "The netlist or the names do not match the planned fabric")
def netlist(fabric: Fabric) -> Iterator[Defect]:
    """What: topology.ibsim has switches with cables. Every node has a unique GUID, and every cable is listed at both
    ends. The cables are those of fabric.json. The names in node-name-map are those of its switches and hosts (otherwise
    a warning).

    Why: Other rules and the proofs use the netlist to check engines and lists. OpenSM exits if two nodes have the same
    GUID. A wrong name sends an operator to the wrong switch.

    Example: The netlist connects compute-su00-r0-leaf port 33 to compute-spine-01, fabric.json to compute-spine-00.

    Fix: Render again. If the real fabric differs, change the inventory.

    Source: fabric.json; opensm 3.3.23, exit_on_fatal.
    """
    for subnet in managed_subnets(fabric):
        if subnet.text(NETLIST) is not None and subnet.topology is None:
            message = "the netlist has no switch with a cable: ibsim rejects it"
            yield Defect(subnet.place(NETLIST), message, "render again")
        guids = Counter(int(guid, 16) for guid in _NODE.findall(subnet.text(NETLIST) or ""))
        for guid, count in guids.items():
            if count > 1:
                message = f"{guid_text(guid)} is the GUID of {count} nodes: OpenSM exits"
                yield Defect(subnet.place_of(NETLIST, f"{guid:x}"), message, "read the GUIDs of the hardware again")
        for found in _NODE_LINE.finditer(subnet.text(NETLIST) or ""):
            if found[1] is None:
                place = subnet.place_of(NETLIST, found[2])
                message, hint = "the line before it has no GUID of the node", "add a line with caguid= or switchguid="
                yield Defect(place, message, hint)
        yield from _one_sided(subnet)
        if subnet.devices:
            yield from _cables(subnet)
            yield from _names(subnet)


def _one_sided(subnet: ManagedSubnet) -> Iterator[Defect]:
    ends = [
        ((near.node_guid, near.port), (far.node_guid, far.port), near.name)
        for near, far in read_netlist(subnet.text(NETLIST) or "").cables()
    ]
    found = {(near, far) for near, far, _ in ends}
    for near, far, name in ends:
        if (far, near) not in found:
            message = f"the cable of {name} port {near[1]} is missing at its other end: ibsim rejects the netlist"
            yield Defect(subnet.place_of(NETLIST, f"{near[0]:x}"), message, "render again")


def _cables(subnet: ManagedSubnet) -> Iterator[Defect]:
    from fabricgen.observed.subnet import cables_by_guid

    if subnet.text(NETLIST) is None or subnet.topology is None:
        return
    found, planned = set(cables_by_guid(subnet.topology)), set(_planned(subnet))
    for ends in sorted(found - planned):
        yield Defect(_at(subnet, ends), f"the cable {_shown(subnet, ends)} is not in fabric.json", "render again")
    for ends in sorted(planned - found):
        yield Defect(_at(subnet, ends), f"the cable {_shown(subnet, ends)} is missing", "render again")


def _at(subnet: ManagedSubnet, ends: "GuidCable") -> FilePlace:
    return subnet.place_of(NETLIST, f"{ends[0][0]:x}")


def _planned(subnet: ManagedSubnet) -> Iterator["GuidCable"]:
    assert subnet.wiring is not None
    guids = {device.name: guid for guid, device in subnet.devices.items() if guid in (subnet.switches or {})}
    ports = {(host.name, nic.name): guid for guid, (host, nic) in subnet.adapters.items()}

    def end(name: str, port: str) -> "GuidEnd | None":
        if name not in guids:
            return (ports[name, port], 0) if (name, port) in ports else None
        number = port_number(subnet.devices[guids[name]], port)
        return (guids[name], number) if number else None

    for link in WiredPorts(subnet.wiring, subnet.files.plane).links:
        near, far = end(*link.a), end(*link.b)
        if near and far and link.b[0] in guids:
            yield (near, far) if near[1] == 0 or near < far else (far, near)


def _shown(subnet: ManagedSubnet, ends: Iterable["GuidEnd"]) -> str:
    return " – ".join(
        f"{(subnet.switches or {}).get(guid, guid_text(guid))} port {port}"
        if port
        else subnet.adapter_name(guid, guid_text(guid))
        for guid, port in ends
    )


def _names(subnet: ManagedSubnet) -> Iterator[Defect]:
    text = subnet.text(_NAMES)
    if text is None:
        return
    known = {guid: device.name for guid, device in subnet.devices.items()}
    for host, nic in subnet.adapters.values():
        known[int(nic.node_guid or "0", 16)] = f"{host.name} {nic.name}"
    for line in lines_of_nodes(text):
        found = _NAMED.fullmatch(line.text)
        guid = int(found[1], 16) if found else 0
        if found and known.get(guid) == found[2]:
            continue
        message = f"{line.text[:40]!r} is not a GUID and a name in quotes"
        if found:
            message = (
                f"{guid_text(guid)} is {known[guid]} in fabric.json"
                if guid in known
                else f"no node of the plane has {guid_text(guid)}"
            )
        place = subnet.place(_NAMES, line, guid_text(guid) if found else str(line.line))
        yield Defect(place, message, "render again", severity=Severity.WARNING)


@rule("FG839", Severity.WARNING, "A NIC is on another rail, or switches have unequal uplinks")
def rails_and_uplinks(fabric: Fabric) -> Iterator[Defect]:
    """What: In a plane with rails, each NIC is on a leaf of its rail. In a plane with tiers, a switch has the same
    number of cables to each switch above it. All switches of a tier reach the same number of switches above.

    Why: Messages of a NIC on another rail cross the spines. Without a list of roots, ftree fails after one missing
    cable between leaf and spine (AB09, AB0D). Unequal numbers of parallel links lead to unequal load.

    Example: compute-su00-r3-leaf reaches 3 spines, but the other leaves reach 4.

    Fix: Add the missing cable, or move it to the correct port.

    Source: NVIDIA DGX SuperPOD reference architecture (rail-aligned); measured with opensm 3.3.23 and one cable
    missing.
    """
    for subnet in managed_subnets(fabric):
        if subnet.topology is not None and subnet.design != "explicit":
            yield from _off_rail(subnet)
            yield from _uneven(subnet)


def _off_rail(subnet: ManagedSubnet) -> Iterator[Defect]:
    rails = {device.rail for device in subnet.devices.values() if device.role == Role.LEAF}
    firsts = sorted(rail for rail in rails if rail is not None)
    if None in rails or not firsts or subnet.topology is None:
        return
    pairs = zip(subnet.topology.adapters, subnet.topology.attached_switch.tolist(), strict=True)
    for adapter, row in pairs:
        leaf = subnet.devices.get(subnet.topology.switches[row].node_guid) if row >= 0 else None
        _, nic = subnet.adapters.get(adapter.port_guid, (None, None))
        if leaf is None or leaf.rail is None or nic is None or nic.rail is None:
            continue
        expected = max((first for first in firsts if first <= nic.rail), default=leaf.rail)
        if leaf.rail != expected:
            name = subnet.adapter_name(adapter.port_guid)
            message = f"{name} is on rail {nic.rail}, but {leaf.name} is on rail {leaf.rail}"
            place = subnet.place_of(NETLIST, f"{adapter.port_guid:x}")
            yield Defect(place, message, f"connect it to a leaf of rail {expected}")


def _uneven(subnet: ManagedSubnet) -> Iterator[Defect]:
    topology, tier = subnet.topology, subnet.tier
    if topology is None or not tier:
        return
    switches = [one.node_guid for one in topology.switches]
    reached: dict[int, dict[int, int]] = {}
    for guid, row in zip(switches, topology.peer_switch.tolist(), strict=True):
        counts = Counter(switches[peer] for peer in row if peer >= 0 and tier[switches[peer]] > tier[guid])
        if counts:
            reached.setdefault(tier[guid], {})[guid] = len(counts)
            if len(set(counts.values())) > 1:
                least, most = min(counts, key=lambda one: counts[one]), max(counts, key=lambda one: counts[one])
                names = subnet.switches or {}
                message = (
                    f"{names[guid]} has {counts[most]} cables to {names[most]}, but {counts[least]} to {names[least]}"
                )
                hint = "use the same number of cables to each switch above"
                yield Defect(subnet.place_of(NETLIST, f"{guid:x}"), message, hint)
    for numbers in reached.values():
        usual = max(Counter(numbers.values()).items(), key=lambda one: (one[1], one[0]))[0]
        for guid, number in numbers.items():
            if number < usual:
                name = (subnet.switches or {})[guid]
                message = f"{name} reaches fewer switches above it than others: {number} instead of {usual}"
                yield Defect(subnet.place_of(NETLIST, f"{guid:x}"), message, "add the missing cable")
