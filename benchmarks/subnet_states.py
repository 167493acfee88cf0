"""The real OpenSM on ten designs: as designed, with one cable moved, one removed, one switch down.

python -m benchmarks.subnet_states [--large]       --large: subnets of up to 2,048 adapters in place of small ones

Each state runs with tenants and without, with the files of the master and of a standby. A run is as meant if an engine
of `routing_engine` routes, no channel waits for itself with the SLs of path records and on SL 0, every port that is
left has the P_Keys of partitions.conf, read by directed route, and OpenSM refuses and misreads nothing.
"""

import argparse
import itertools
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.api import render
from fabricgen.opensm.netlist import Netlist, NetPort, SubnetNodeKind, read_netlist
from fabricgen.opensm.opensm_conf import read_options
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops
from fabricgen.simulate.opensm import Tools, find_tools
from fabricgen.simulate.opensm.proof import Proof, prove
from fabricgen.simulate.plane.service_levels import on_levels
from tests.inventories import Tree, grid, grouped, rail_optimized, write

SWITCH = "nvidia-qm9700"
STATES = ("as designed", "cable moved", "cable removed", "switch down")
MANAGERS = ("master", "standby-1")
_GROUPS_OF_FOUR = {"switches": 4, "global_links": 2, "arrangement": "absolute"}
_PLUS = {"leaves": 2, "spines": 2, "global_links": 1}

Make = Callable[[], Tree]


SMALL: Mapping[str, Make] = {
    "rails": lambda: rail_optimized(4, 4, 1, SWITCH, spine={"platform": SWITCH, "count": 2}),
    "rails, two units": lambda: rail_optimized(8, 4, 2, SWITCH, spine={"platform": SWITCH, "count": 4}),
    "fat tree": lambda: rail_optimized(
        8, 4, 2, SWITCH, design="fat-tree", leaves_per_unit=2, spine={"platform": SWITCH, "count": 2}
    ),
    "three tiers": lambda: rail_optimized(
        8, 4, 2, SWITCH, tiers=3, spine={"platform": SWITCH, "count": 2}, core={"platform": SWITCH, "count": 2}
    ),
    "torus 4x3": lambda: grid("torus", [4, 3], 12),
    "torus 3x2x2": lambda: grid("torus", [3, 2, 2], 12),
    "ring of five": lambda: grid("torus", [5], 5),
    "mesh 3x3": lambda: grid("mesh", [3, 3], 9),
    "dragonfly": lambda: grouped("dragonfly", {"switches": 2, "global_links": 1}, 3),
    "dragonfly+": lambda: grouped("dragonfly-plus", _PLUS, 3),
}
LARGE: Mapping[str, Make] = {
    "rails, 256": lambda: rail_optimized(32, 32, 1, SWITCH),
    "rails, 1024": lambda: rail_optimized(128, 32, 4, SWITCH),
    "three tiers, 2048": lambda: rail_optimized(256, 32, 8, SWITCH, tiers=3, core={"platform": SWITCH}),
    "torus 3x3x3": lambda: grid("torus", [3, 3, 3], 27),
    "torus 4x4x4": lambda: grid("torus", [4, 4, 4], 64),
    "dragonfly of 9 groups": lambda: grouped("dragonfly", _GROUPS_OF_FOUR, 9),
}


@dataclass(frozen=True)
class Outcome:
    """What OpenSM made of a state. `faults` is empty if that is as meant."""

    engine: str | None
    adapters: int
    faults: tuple[str, ...]


def bundle_of(make: Make, folder: Path, *, tenants: bool) -> Path:
    """The bundle of a design, on InfiniBand. With tenants, every host is in one of two."""
    tree = make()
    tree.pop("management", None)
    plane = tree["planes"]["compute"]
    plane.pop("addressing", None)
    plane["technology"] = "infiniband"
    hosts = tree["hosts"]["gpu"]["count"]
    if tenants:
        plane["partitions"] = [
            {"name": "blue", "pkey": 0x8001, "members": [f"gpu/0-{hosts // 2 - 1}"], "ipoib": True},
            {"name": "green", "pkey": 0x8002, "members": [f"gpu/{hosts // 2}-{hosts - 1}"]},
        ]
    render(write(folder / "inventory", tree), folder / "bundle")
    return folder / "bundle"


def outcome(tools: Tools, bundle: Path, state: str, manager: str) -> Outcome:
    """Runs one state with the files of one manager."""
    files = next(path.parent for path in sorted(bundle.glob("infiniband/**/topology.ibsim")))
    with tempfile.TemporaryDirectory(prefix="fabricgen-state-") as scratch:
        folder = Path(shutil.copytree(files, Path(scratch) / "files"))
        if manager != MANAGERS[0]:
            shutil.copyfile(files / manager / "opensm.conf", folder / "opensm.conf")
        netlist = read_netlist((files / "topology.ibsim").read_text())
        changed = _changed(netlist, state, _managers(files))
        (folder / "topology.ibsim").write_text(_text(changed))
        proof = prove(tools, folder / "topology.ibsim", folder)
    adapters = sum(node.kind is SubnetNodeKind.ADAPTER for node in changed.nodes.values())
    return Outcome(proof.active, adapters, tuple(_faults(proof, adapters)))


def _faults(proof: Proof, adapters: int) -> Iterator[str]:
    if proof.dumps is None:
        yield f"no engine of {', '.join(proof.staged.engines)} routes"
        return
    if proof.active not in proof.staged.engines:
        yield f"{proof.active} is not in routing_engine"
    if len(proof.dumps.subnet.adapters) != adapters:
        yield f"{len(proof.dumps.subnet.adapters)} adapters of {adapters}"
    yield from (f"P_Keys of {one.port}: {one.found}" for one in proof.keys)
    yield from (f"no path from {one} to {other}" for one, other in proof.refused_paths)
    yield from (*proof.refused, *proof.misread)
    for levels, dumps in (("path records", proof.dumps), ("SL 0", on_levels(proof.dumps, (0,)))):
        loops = find_credit_loops(dumps)
        if loops.cycle is not None:
            yield f"credit loop with {levels}"
        if loops.lost:
            yield f"{loops.lost} lost with {levels}"


def _managers(files: Path) -> set[int]:
    """The port GUIDs of the managers."""
    confs = [files / "opensm.conf", *files.glob("standby-*/opensm.conf")]
    return {read_options(conf.read_text()).number("guid") for conf in confs}


def _changed(netlist: Netlist, state: str, managers: set[int]) -> Netlist:
    """The netlist in a state. What changes has no subnet manager. Where no port is free, two cables are exchanged."""
    adapters = [
        (name, port) for (name, _), port in netlist.ports.items() if netlist.nodes[name].kind is SubnetNodeKind.ADAPTER
    ]
    kept = {port.far for _, port in adapters if port.guid in managers}
    if state == "cable moved":
        host, port = next((name, port) for name, port in reversed(adapters) if port.far not in kept)
        free = (
            (name, number)
            for name, node in reversed(netlist.nodes.items())
            if node.kind is SubnetNodeKind.SWITCH and name != port.far
            for number in range(node.ports, 0, -1)
            if (name, number) not in netlist.ports
        )
        if spare := next(free, None):
            return _with(_without(netlist, {(host, 1)}), (host, 1), spare, port.guid)
        other, its = next((name, one) for name, one in adapters if one.far not in (port.far, *kept))
        left = _without(netlist, {(host, 1), (other, 1)})
        left = _with(left, (host, 1), (its.far, its.far_port), port.guid)
        return _with(left, (other, 1), (port.far, port.far_port), its.guid)
    if state == "cable removed":
        between = (
            (one, port) for one, port in netlist.ports.items() if netlist.nodes[port.far].kind is SubnetNodeKind.SWITCH
        )
        return _without(
            netlist, {next(one for one, _ in between if netlist.nodes[one[0]].kind is SubnetNodeKind.SWITCH)}
        )
    if state == "switch down":
        attached = {port.far for _, port in adapters}
        switches = [
            name for name, node in netlist.nodes.items() if node.kind is SubnetNodeKind.SWITCH and name not in kept
        ]
        gone = next((name for name in switches if name not in attached), switches[-1])
        lost = {gone, *(name for name, port in adapters if port.far == gone)}
        rest = _without(netlist, {one for one in netlist.ports if one[0] in lost})
        return replace(rest, nodes={name: node for name, node in rest.nodes.items() if name not in lost})
    return netlist


def _without(netlist: Netlist, ends: set[tuple[str, int]]) -> Netlist:
    gone = ends | {(netlist.ports[one].far, netlist.ports[one].far_port) for one in ends}
    return replace(netlist, ports={one: port for one, port in netlist.ports.items() if one not in gone})


def _with(netlist: Netlist, adapter: tuple[str, int], switch: tuple[str, int], guid: int) -> Netlist:
    new = {adapter: NetPort(guid, 0, *switch, 0), switch: NetPort(0, 0, *adapter, 0)}
    return replace(netlist, ports={**netlist.ports, **new})


def _text(netlist: Netlist) -> str:
    """The netlist for ibsim; the port GUID of an adapter is that of its node plus one."""
    lines = []
    for name, node in netlist.nodes.items():
        is_switch = node.kind is SubnetNodeKind.SWITCH
        lines += [
            f"{'switch' if is_switch else 'ca'}guid=0x{node.guid:x}",
            f'{node.kind} {node.ports} "{name}"\t# "{node.name}"',
        ]
        own = ((number, port) for (one, number), port in netlist.ports.items() if one == name)
        for number, port in sorted(own, key=lambda one: one[0]):
            guid = "" if is_switch else f"({port.guid:x})"
            lines.append(f'[{number}]{guid}\t"{port.far}"[{port.far_port}]\t# 4xHDR')
        lines.append("")
    return "\n".join(lines) + "\n"


def _print_design(tools: Tools, name: str, make: Make) -> int:
    wrong = 0
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    engines, adapters = [], 0
    for tenants in (True, False):
        with tempfile.TemporaryDirectory(prefix="fabricgen-states-") as folder:
            bundle = bundle_of(make, Path(folder), tenants=tenants)
            for state, manager in itertools.product(STATES, MANAGERS):
                found = outcome(tools, bundle, state, manager)
                engines.append(f"{found.engine}" if state != STATES[0] else "")
                adapters = max(adapters, found.adapters)
                for fault in found.faults[:3]:
                    print(f"  {name}, {state}, {manager}, {'tenants' if tenants else 'no tenants'}: {fault}")
                wrong += bool(found.faults)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    used = ", ".join(sorted({one for one in engines if one}))
    print(f"| {name} | {adapters} | {used} | {16 - wrong} of 16 | {cpu:.0f} s |", flush=True)
    return wrong


def main() -> int:
    """Prints a line for each design."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true")
    designs = LARGE if parser.parse_args().large else SMALL
    tools = find_tools()
    if tools is None:
        sys.exit("OpenSM or ibsim is not installed")
    print("| design | adapters | engines after a change | as meant | CPU of OpenSM and ibsim |\n|---|---|---|---|---|")
    return 1 if sum(_print_design(tools, name, make) for name, make in designs.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
