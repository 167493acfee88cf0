"""The rule on topology.topo, with which ibdiagnet and UFM compare the real cables."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.observed.wired_ports import WiredPorts, port_number
from fabricgen.opensm.topology_topo import End, TopoCable, TopoFile, read_topo
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets

TOPO = "topology.topo"

Cable = tuple[End, End]  # both ends, sorted


@rule("FG841", Severity.ERROR, "topology.topo does not match the planned fabric")
def topo(fabric: Fabric) -> Iterator[Defect]:
    """What: Each line of topology.topo is a system (TYPE NAME) or one of its ports (PORT -> TYPE NAME PORT). Each cable
    is listed at both ends. The cables are those of fabric.json. Without fabric.json, they are those of topology.ibsim
    if the names agree.

    Why: ibdiagnet and UFM compare the real cables with this file. With a wrong file they report correct cables as wrong
    and wrong cables as correct.

    Example: compute-su00-leaf-00 P3 leads to compute-su00-leaf-02, but in fabric.json to compute-su00-leaf-01.

    Fix: Render again. If the real fabric differs, change the inventory.

    Source: ibutils, ibdm (its topology files); fabric.json.
    """
    for subnet in managed_subnets(fabric):
        text = subnet.text(TOPO)
        if text is not None:
            read = read_topo(text)
            yield from _form(subnet, read)
            yield from _cables(subnet, read)


def _form(subnet: ManagedSubnet, read: TopoFile) -> Iterator[Defect]:
    for line in read.unreadable:
        message = f"{line.text[:40]!r} is not a system (TYPE NAME) or a port (PORT -> TYPE NAME PORT)"
        yield Defect(subnet.place(TOPO, line), message, "render again")
    for line in read.repeated:
        yield Defect(subnet.place(TOPO, line), f"{line.text[:40]!r} is repeated", "render again")
    for one in read.cables.values():
        kind, _ = read.systems.get(one.far[0], ("", None))
        back = read.cables.get(one.far)
        if kind != one.far_type:
            found = f"is a {kind}" if kind else "is not in the file"
            message = f"{one.far[0]} {found}, expected a {one.far_type}"
            yield Defect(subnet.place(TOPO, one.line), message, "render again")
        elif back is None or back.far != one.near:
            message = f"the cable of {_named(one.near)} is missing at its other end, {_named(one.far)}"
            yield Defect(subnet.place(TOPO, one.line), message, "render again")


def _cables(subnet: ManagedSubnet, read: TopoFile) -> Iterator[Defect]:
    is_planned = bool(subnet.devices.keys() & (subnet.switches or {}).keys())
    source = "fabric.json" if is_planned else "topology.ibsim"
    expected = set(_planned(subnet) if is_planned else _netlist(subnet))
    if not {name for cable in expected for name, _ in cable} & read.systems.keys():  # the names of another fabric
        if is_planned:
            yield Defect(subnet.place(TOPO), f"the file has no system of {subnet.name}", "render again")
        return
    found: dict[Cable, TopoCable] = {}
    for one in read.cables.values():
        found.setdefault(_ordered(one.near, one.far), one)
    for cable in sorted(found.keys() - expected):
        message = f"the cable {_shown(cable)} is not in {source}"
        yield Defect(subnet.place(TOPO, found[cable].line), message, "render again")
    for cable in sorted(expected - found.keys()):
        _, line = read.systems.get(cable[0][0]) or read.systems.get(cable[1][0]) or ("", None)
        yield Defect(subnet.place(TOPO, line), f"the cable {_shown(cable)} is missing", "render again")


def _planned(subnet: ManagedSubnet) -> Iterator[Cable]:
    if subnet.wiring is None:
        return
    switches = {one.name: one for guid, one in subnet.devices.items() if guid in (subnet.switches or {})}

    def end(name: str, port: str) -> End:
        return name, f"P{port_number(switches[name], port)}" if name in switches else port

    for link in WiredPorts(subnet.wiring, subnet.files.plane).links:
        if link.a[0] in switches or link.b[0] in switches:
            yield _ordered(end(*link.a), end(*link.b))


def _netlist(subnet: ManagedSubnet) -> Iterator[Cable]:
    if (topology := subnet.topology) is None:
        return
    names = [one.name for one in topology.switches]
    rows, ports = (axis.tolist() for axis in (topology.peer_switch >= 0).nonzero())
    for row, port in zip(rows, ports, strict=True):
        far = names[topology.peer_switch[row, port]], f"P{topology.peer_port[row, port]}"
        yield _ordered((names[row], f"P{port}"), far)
    pairs = zip(topology.adapters, topology.attached_switch.tolist(), topology.attached_port.tolist(), strict=True)
    for adapter, row, port in pairs:
        host, _, nic = adapter.name.rpartition(" ")
        if row >= 0:
            yield _ordered((host, nic), (names[row], f"P{port}"))


def _ordered(one: End, other: End) -> Cable:
    return (one, other) if one <= other else (other, one)


def _named(end: End) -> str:
    return " ".join(end)


def _shown(cable: Cable) -> str:
    return " – ".join(map(_named, cable))
