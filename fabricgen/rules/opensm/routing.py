"""The routing engine: one that OpenSM has, that can route this wiring, and that has the lanes it needs."""

from collections.abc import Iterator
from difflib import get_close_matches

from fabricgen.findings import Severity
from fabricgen.opensm.options import LAST_VL, NO_FALLBACK, VL_CODES, Engine
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import OTHER, TREE, ManagedSubnet, ManagerFile, managed_subnets, manager_files

_UNICAST_LIDS = 49_151
_LAYERED = {"dfsssp": 8, "lash": 3, "torus-2QoS": 2}  # engine -> data lanes that it was measured with
_SHORTEST = ("minhop", "sssp", "dor")
_UP_DOWN = ("updn", "dnup", "ftree")
_NO_LMC = ("ftree", "lash")
_MOST_2D_NEIGHBOURS = 4
_GRIDS = ("torus", "mesh")


@rule("FG812", Severity.ERROR, "A routing engine that OpenSM does not have", Basis.SCHEMA)
def unknown_engine(fabric: Fabric) -> Iterator[Defect]:
    """What: routing_engine lists engines of opensm 3.3.23 in their own spelling, and no_fallback.

    Why: OpenSM passes over a name that it does not know and ends with minhop, without a word on standard output. On a
    tree that costs balance, on a torus or dragonfly minhop deadlocks. ar_updn and the like are NVIDIA's.

    Example: routing_engine ftre

    Fix: one of minhop, updn, dnup, file, ftree, lash, dor, torus-2QoS, nue, dfsssp, sssp.

    Source: opensm 3.3.23, osm_opensm.c (routing_modules); measured with the real one.
    """
    for manager in manager_files(fabric):
        for name in manager.content.engines:
            if name not in (*Engine, NO_FALLBACK):
                close = get_close_matches(name, (*Engine, NO_FALLBACK), 1)
                hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(Engine)}"
                message = f"OpenSM has no routing engine {name!r}, and falls back to minhop"
                yield Defect(manager.place("routing_engine"), message, hint)


@rule("FG813", Severity.ERROR, "minhop may take over without a word")
def silent_fallback(fabric: Fabric) -> Iterator[Defect]:
    """What: where routing_engine names another engine than minhop, no_fallback is in the list, too. On a tree its
    absence is a warning.

    Why: OpenSM tries the engines in order and, when none takes, minhop. Engines fail for one missing cable, one stale
    GUID in a list, an LMC. With no_fallback the subnet then keeps the routes it has and says so.

    Example: routing_engine torus-2QoS

    Fix: routing_engine torus-2QoS,no_fallback

    Source: opensm(8), no_fallback; measured: updn on a torus, dfsssp on 4x4x4 become minhop and loop.
    """
    for manager in manager_files(fabric):
        engines = manager.content.engines
        if engines and set(engines) != {"minhop"} and NO_FALLBACK not in engines:
            severity = Severity.ERROR if manager.subnet.kind in (OTHER, None) else Severity.WARNING
            message = f"where {manager.engines[0]} cannot route, minhop does, without a word"
            hint = f"routing_engine {','.join(manager.engines)},{NO_FALLBACK}"
            yield Defect(manager.place("routing_engine"), message, hint, severity=severity)


@rule("FG814", Severity.ERROR, "A routing engine that does not fit the wiring")
def engine_for_wiring(fabric: Fabric) -> Iterator[Defect]:
    """What: every engine that may get to work can route the wiring free of credit loops: on trees all but dor and
    torus-2QoS; on a torus torus-2QoS, nue, lash, in two dimensions dfsssp; on a mesh torus-2QoS, nue, dor and dfsssp;
    on a dragonfly dfsssp, nue and lash. lash on a tree is a warning: it leaves spines idle. ftree and lash need lmc
    0, ftree compute nodes on two leaves, and connect_roots is FALSE.

    Why: minhop's shortest paths wait for each other in a circle on anything with rings, and so do those of engines that
    give up and leave the subnet to minhop.

    Example: routing_engine minhop on a torus; ftree with lmc 2.

    Fix: the engine of the wiring; leave routing_engine to fabricgen.

    Source: measured with opensm 3.3.23 under ibsim, engine by engine and wiring by wiring; opensm(8).
    """
    for subnet in managed_subnets(fabric):
        if subnet.topology is None:
            message = "there is no netlist here: engine, members and lists are held against no wiring"
            hint = "put topology.ibsim or the output of ibnetdiscover beside opensm.conf"
            yield Defect(subnet.master.place("routing_engine"), message, hint, severity=Severity.NOTE)
    for manager in manager_files(fabric):
        subnet, lmc = manager.subnet, manager.content.number("lmc")
        for engine in manager.engines:
            if lmc and engine in _NO_LMC:
                message = f"{engine} refuses lmc {lmc}: OpenSM falls back to minhop, or routes nothing"
                yield Defect(manager.place("lmc"), message, f"lmc 0, or another engine than {engine}")
            if why := _unfit(manager, engine):
                yield Defect(manager.place("routing_engine"), f"{engine} on this wiring: {why}", _fitting(manager))
            elif engine == "lash" and subnet.kind == TREE:
                message = "lash on a tree leaves spines idle: measured, one spine of four in use"
                yield Defect(manager.place("routing_engine"), message, "ftree or updn", severity=Severity.WARNING)
        if manager.content.is_true("connect_roots") and set(manager.engines) & {"updn", "dnup"}:
            message = "connect_roots joins roots by paths that go down and up again, which can close credit loops"
            yield Defect(manager.place("connect_roots"), message, "connect_roots FALSE")


def _unfit(manager: ManagerFile, engine: str) -> str:
    subnet = manager.subnet
    if engine == "ftree" and subnet.kind != OTHER and _has_one_leaf(subnet):
        return "it wants compute nodes on two leaves; it gives up where all are on one"
    if subnet.kind == TREE:
        return "it is for tori and meshes" if engine in ("dor", "torus-2QoS") else ""
    if subnet.kind != OTHER:
        return ""
    design = subnet.design
    if engine == "dor" and design == "mesh":
        return ""
    if engine in _SHORTEST:
        return "its paths close credit loops, all of them on one lane"
    if engine in _UP_DOWN and (design or engine == "ftree"):
        return "it cannot route without tiers; OpenSM falls back to minhop, whose paths loop"
    if engine == "torus-2QoS" and design and design not in _GRIDS:
        return "it routes tori and meshes only"
    if engine == "dfsssp" and design == "torus" and _most_neighbours(manager) > _MOST_2D_NEIGHBOURS:
        return "in three dimensions it needs more than 8 lanes; OpenSM falls back to minhop, whose paths loop"
    return ""


def _has_one_leaf(subnet: ManagedSubnet) -> bool:
    """Whether the adapters that cn_guids lists, or all where it lists none, are on one switch."""
    if subnet.topology is None:
        return False
    listed = subnet.guids("cn_guid_file")
    place = zip(subnet.topology.adapters, subnet.topology.attached_switch.tolist(), strict=True)
    leaves = {row for port, row in place if row >= 0 and (listed is None or port.port_guid in listed[1].words)}
    return len(leaves) == 1


def _most_neighbours(manager: ManagerFile) -> int:
    subnet = manager.subnet.topology
    return (
        max((len({peer for peer in row if peer >= 0}) for row in subnet.peer_switch.tolist()), default=0)
        if subnet
        else 0
    )


def _fitting(manager: ManagerFile) -> str:
    if manager.subnet.kind == TREE:
        return "updn" if _has_one_leaf(manager.subnet) else "ftree or updn"
    return "torus-2QoS" if manager.subnet.design in _GRIDS else "dfsssp with 8 lanes, or nue"


@rule("FG815", Severity.ERROR, "An engine without the lanes that keep it from deadlock")
def lanes_of_engine(fabric: Fabric) -> Iterator[Defect]:
    """What: with dfsssp, lash, torus-2QoS, and nue on several lanes, qos is TRUE and max_op_vls allows the lanes that
    the engine needs: 2 for torus-2QoS, nue_max_num_vls for nue, and off trees 3 for lash and 8 for dfsssp.

    Why: these engines break circles by moving paths to other lanes. With qos FALSE no SL-to-VL table is programmed:
    torus-2QoS gives up, dfsssp and lash run on, and whether packets deadlock depends on the switches' firmware.

    Example: routing_engine dfsssp,no_fallback with qos FALSE.

    Fix: qos TRUE and max_op_vls 4 (8 lanes). Applications have to ask for the path's SL, too.

    Source: opensm(8); measured: all paths on VL 0 close a loop, one lane for each SL does not.
    """
    for manager in manager_files(fabric):
        lanes = _lanes(manager.content.number("max_op_vls"))
        for engine in manager.engines:
            most = manager.content.number("nue_max_num_vls") if engine == "nue" else 0
            needed = most or _LAYERED.get(engine, 1)
            if manager.subnet.kind == TREE and engine in ("dfsssp", "lash"):
                needed = 1
            if (engine in _LAYERED or most > 1) and not manager.content.is_true("qos"):
                message = f"{engine} lays paths into lanes, and without qos TRUE no lane is programmed"
                yield Defect(manager.place("qos"), message, "qos TRUE")
            if lanes < needed:
                message = f"{engine} needs {needed} data lanes here, max_op_vls allows {lanes}"
                yield Defect(manager.place("max_op_vls"), message, f"max_op_vls {_code(needed)}")


def _lanes(code: int) -> int:
    return next((lanes for lanes, known in VL_CODES.items() if known == code), max(VL_CODES))


def _code(lanes: int) -> int:
    return next(code for most, code in sorted(VL_CODES.items()) if most >= lanes)


@rule("FG816", Severity.ERROR, "A table of service levels or lanes that does something else")
def lane_tables(fabric: Fabric) -> Iterator[Defect]:
    """What: a qos_sl2vl has 16 lanes within those of max_op_vls, none of them 15. A qos_vlarb has pairs VL:weight with
    lanes to 14 and weights to 255. With an engine that lays paths into lanes every lane has the same weight in
    qos_vlarb_high and qos_vlarb_low, and qos_high_limit is not 255.

    Why: what a short list leaves out goes to VL 0, VL 15 drops packets, lanes beyond the port's are folded, a weight of
    300 wraps around. With OpenSM's default weights VL 0 goes before all others, and starves them at limit 255.

    Example: qos_sl2vl 0,1,2,3; qos_vlarb_high 0:300

    Fix: leave the tables to fabricgen: 16 lanes, and one weight for all.

    Source: opensm 3.3.23, osm_qos.c and its defaults; measured with the real one.
    """
    for manager in manager_files(fabric):
        for name in manager.content.options:
            if name.endswith("sl2vl") and manager.content.text(name):
                yield from _sl2vl(manager, name)
            elif "vlarb" in name and manager.content.text(name):
                yield from _vlarb(manager, name)
        if manager.content.is_true("qos") and set(manager.engines) & {*_LAYERED, "nue"}:
            yield from _weights(manager)


def _sl2vl(manager: ManagerFile, name: str) -> Iterator[Defect]:
    lanes = manager.content.text(name).split(",")
    place, hint = manager.place(name), "16 lanes with commas between them"
    if not all(lane.strip().isdecimal() and int(lane) <= LAST_VL + 1 for lane in lanes):
        yield Defect(place, f"{name} is no list of lanes from 0 to {LAST_VL}", hint)
    elif len(lanes) != 16:
        yield Defect(place, f"{name} has {len(lanes)} lanes, not 16: the rest goes to VL 0", hint)
    elif dropped := [sl for sl, lane in enumerate(lanes) if int(lane) > LAST_VL]:
        yield Defect(place, f"{name} maps SL {dropped[0]} to VL 15, which drops its packets", hint)
    elif max(map(int, lanes)) >= (most := _lanes(manager.content.number("max_op_vls"))):
        message = f"{name} has VL {max(map(int, lanes))}, and max_op_vls allows {most} lanes: it is folded onto another"
        yield Defect(place, message, f"lanes 0 to {most - 1}", severity=Severity.WARNING)


def _vlarb(manager: ManagerFile, name: str) -> Iterator[Defect]:
    pairs = [pair.split(":") for pair in manager.content.text(name).split(",")]
    place, hint = manager.place(name), "pairs such as 0:64,1:64"
    if not all(len(pair) == 2 and all(part.strip().isdecimal() for part in pair) for pair in pairs):
        yield Defect(place, f"{name} is no list of pairs VL:weight", hint)
    elif any(int(lane) > LAST_VL or int(weight) > 255 for lane, weight in pairs):
        yield Defect(place, f"{name} has a lane above {LAST_VL} or a weight above 255, which wraps around", hint)
    elif len(pairs) > 64:
        yield Defect(place, f"{name} has {len(pairs)} pairs, and a table holds 64", hint)


def _weights(manager: ManagerFile) -> Iterator[Defect]:
    lanes = _used(manager)
    for name in ("qos_vlarb_high", "qos_vlarb_low"):
        text = manager.content.text(name)
        pairs = [pair.partition(":") for pair in text.split(",") if text]
        try:
            weights = {int(lane): int(weight) for lane, _, weight in pairs}
        except ValueError:
            continue
        uneven = len({weights.get(lane, 0) for lane in range(lanes)}) > 1
        if not text or uneven:
            what = "is OpenSM's default" if not text else "has other weights for some lanes"
            message = f"{name} {what}, and paths lie on {lanes} lanes: some wait for the others"
            hint = f"{name} {','.join(f'{lane}:64' for lane in range(lanes))}"
            yield Defect(manager.place(name), message, hint, severity=Severity.WARNING)
    if manager.content.number("qos_high_limit") == 255:
        message = "with qos_high_limit 255 the low table never has its turn"
        yield Defect(manager.place("qos_high_limit"), message, "qos_high_limit 0", severity=Severity.WARNING)


def _used(manager: ManagerFile) -> int:
    """How many lanes the paths lie on."""
    lanes = _lanes(manager.content.number("max_op_vls"))
    text = manager.content.text("qos_sl2vl")
    mapped = [int(lane) for lane in text.split(",") if lane.strip().isdecimal()]
    return min(lanes, max(mapped) + 1) if mapped else lanes


@rule("FG830", Severity.ERROR, "More LIDs than a subnet has")
def too_many_lids(fabric: Fabric) -> Iterator[Defect]:
    """What: adapter ports times 2^lmc, and one LID for each switch, are at most 49,151.

    Why: OpenSM runs out of LIDs and leaves the last ports without one.

    Example: lmc 2 on 16,384 ports: 65,536 LIDs.

    Fix: a smaller lmc, or several subnets.

    Source: InfiniBand Architecture Specification, volume 1, section 4.1.3 (unicast LIDs 0x0001 to 0xBFFF).
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers if subnet.ports else ():
            each = 1 << manager.content.number("lmc")
            switches = len(subnet.switches or ()) * (each if manager.content.is_true("lmc_esp0") else 1)
            lids = len(subnet.ports or ()) * each + switches
            if lids > _UNICAST_LIDS:
                message = f"{lids:,} LIDs with lmc {each.bit_length() - 1}, and a subnet has {_UNICAST_LIDS:,}"
                yield Defect(manager.place("lmc"), message, "a smaller lmc")
