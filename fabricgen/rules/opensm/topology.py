"""topology.topo, the master that ibdiagnet and UFM compare the real cables with."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.observed.wired_ports import WiredPorts, port_number
from fabricgen.opensm.topology_topo import End, TopoCable, TopoFile, read_topo
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets

TOPO = "topology.topo"

Cable = tuple[End, End]  # the ends in order


@rule("FG841", Severity.ERROR, "topology.topo is not the fabric that was meant")
def topo(fabric: Fabric) -> Iterator[Defect]:
    """What: each line of topology.topo is a system (TYPE NAME) or one of its ports (PORT -> TYPE NAME PORT), a cable
    stands at both of its ends, and the cables are those of fabric.json; in a folder of its own, where names agree,
    those of topology.ibsim.

    Why: ibdiagnet and UFM compare the real cables with it. What is wrong here is told as miscabled there, and a wrong
    cable as right.

    Example: compute-su00-leaf-00 P3 leads to compute-su00-leaf-02, fabric.json has it lead to compute-su00-leaf-01.

    Fix: render again; where the fabric is different, change the inventory.

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
        message = f"{line.text[:40]!r} is no system (TYPE NAME), and no port of one (PORT -> TYPE NAME PORT)"
        yield Defect(subnet.place(TOPO, line), message, "render again")
    for line in read.repeated:
        yield Defect(subnet.place(TOPO, line), f"{line.text[:40]!r} stands twice", "render again")
    for one in read.cables.values():
        kind, _ = read.systems.get(one.far[0], ("", None))
        back = read.cables.get(one.far)
        if kind != one.far_type:
            told = f"is a {kind}" if kind else "is no system of the file"
            yield Defect(subnet.place(TOPO, one.line), f"{one.far[0]} {told}, not a {one.far_type}", "render again")
        elif back is None or back.far != one.near:
            message = f"the cable of {_named(one.near)} is not at its other end, {_named(one.far)}"
            yield Defect(subnet.place(TOPO, one.line), message, "render again")


def _cables(subnet: ManagedSubnet, read: TopoFile) -> Iterator[Defect]:
    is_planned = bool(subnet.devices.keys() & (subnet.switches or {}).keys())
    meant, whose = (set(_meant(subnet)), "fabric.json") if is_planned else (set(_netlist(subnet)), "topology.ibsim")
    if not {name for cable in meant for name, _ in cable} & read.systems.keys():  # another's names
        if is_planned:
            yield Defect(subnet.place(TOPO), f"none of its systems is one of {subnet.name}", "render again")
        return
    there: dict[Cable, TopoCable] = {}
    for one in read.cables.values():
        there.setdefault(_ordered(one.near, one.far), one)
    for cable in sorted(there.keys() - meant):
        message = f"{_told(cable)} is no cable of {whose}"
        yield Defect(subnet.place(TOPO, there[cable].line), message, "render again")
    for cable in sorted(meant - there.keys()):
        _, line = read.systems.get(cable[0][0]) or read.systems.get(cable[1][0]) or ("", None)
        yield Defect(subnet.place(TOPO, line), f"the file lacks {_told(cable)}", "render again")


def _meant(subnet: ManagedSubnet) -> Iterator[Cable]:
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


def _told(cable: Cable) -> str:
    return " – ".join(map(_named, cable))
