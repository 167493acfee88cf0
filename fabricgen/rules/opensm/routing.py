"""Rules on the routing engine of OpenSM: its name, the wiring, service levels, virtual lanes and LIDs."""

from collections.abc import Iterator
from difflib import get_close_matches

from fabricgen.c_numbers import c_number
from fabricgen.findings import Severity
from fabricgen.opensm.options import LAST_SL, LAST_VL, NO_FALLBACK, VL_CODES, OpensmEngine
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import OTHER, TREE, ManagedSubnet, ManagerFile, managed_subnets, manager_files
from fabricgen.units import counted

_UNICAST_LIDS = 49_151
_LAYERED = {"dfsssp": 8, "lash": 3, "torus-2QoS": 2}  # engine -> data lanes that it needs, measured
_SHORTEST = ("minhop", "sssp", "dor")
_UP_DOWN = ("updn", "dnup", "ftree")
_NO_LMC = ("ftree", "lash")
_MOST_2D_NEIGHBORS = 4
_GRIDS = ("torus", "mesh")


@rule("FG812", Severity.ERROR, "OpenSM does not have a routing engine", Basis.SCHEMA)
def unknown_engine(fabric: Fabric) -> Iterator[Defect]:
    """What: routing_engine lists only the exact names of engines of opensm 3.3.23, and no_fallback.

    Why: OpenSM silently ignores an unknown name and falls back to minhop. On a tree the load is then uneven, and on a
    torus or dragonfly minhop deadlocks. ar_updn and other ar_ engines belong to NVIDIA's subnet manager.

    Example: routing_engine ftre

    Fix: Use one of minhop, updn, dnup, file, ftree, lash, dor, torus-2QoS, nue, dfsssp, sssp.

    Source: opensm 3.3.23, osm_opensm.c (routing_modules); measured with opensm 3.3.23.
    """
    for manager in manager_files(fabric):
        for name in manager.content.engines:
            if name not in (*OpensmEngine, NO_FALLBACK):
                close = get_close_matches(name, (*OpensmEngine, NO_FALLBACK), 1)
                hint = f"did you mean {close[0]}?" if close else f"use one of {', '.join(OpensmEngine)}"
                message = f"OpenSM has no routing engine {name!r} and falls back to minhop"
                yield Defect(manager.place("routing_engine"), message, hint)


@rule("FG813", Severity.ERROR, "OpenSM can silently fall back to minhop")
def silent_fallback(fabric: Fabric) -> Iterator[Defect]:
    """What: If routing_engine names an engine other than minhop, the list also has no_fallback. On a tree a missing
    no_fallback is a warning.

    Why: OpenSM tries the engines in order, and falls back to minhop if all of them fail. One missing cable, one
    outdated GUID in a list, or an LMC can make an engine fail. With no_fallback the subnet then keeps its routes, and
    OpenSM logs the failure.

    Example: routing_engine torus-2QoS

    Fix: Write routing_engine torus-2QoS,no_fallback.

    Source: opensm(8), no_fallback; measured: updn on a torus, dfsssp on 4x4x4 become minhop and loop.
    """
    for manager in manager_files(fabric):
        engines = manager.content.engines
        if engines and set(engines) != {"minhop"} and NO_FALLBACK not in engines:
            severity = Severity.ERROR if manager.subnet.kind in (OTHER, None) else Severity.WARNING
            message = f"if {manager.engines[0]} fails, OpenSM silently falls back to minhop"
            hint = f"set routing_engine to {','.join(manager.engines)},{NO_FALLBACK}"
            yield Defect(manager.place("routing_engine"), message, hint, severity=severity)


@rule("FG814", Severity.ERROR, "The routing engine does not support the wiring")
def engine_for_wiring(fabric: Fabric) -> Iterator[Defect]:
    """What: Every engine in routing_engine can route the wiring without credit loops. On trees: all engines except dor
    and torus-2QoS. On a torus: torus-2QoS, nue, lash, and in two dimensions dfsssp. On a mesh: torus-2QoS, nue, dor and
    dfsssp. On a dragonfly: dfsssp, nue and lash. lash on a tree is a warning, because it leaves spines idle. ftree and
    lash need lmc 0. ftree needs compute nodes on two leaves. connect_roots is FALSE, and with ftree
    max_reverse_hops is 0 (otherwise a warning).

    Why: The shortest paths of minhop close credit loops on topologies with rings. An engine that fails leaves the
    subnet to minhop.

    Example: routing_engine minhop on a torus; ftree with lmc 2.

    Fix: Use an engine for the wiring, as fabricgen renders it.

    Source: Measured with opensm 3.3.23 under ibsim, engine by engine and wiring by wiring; opensm(8).
    """
    for subnet in managed_subnets(fabric):
        if subnet.topology is None:
            message = "there is no netlist: engine, members and lists are not compared with the wiring"
            hint = "add topology.ibsim or the output of ibnetdiscover beside opensm.conf"
            yield Defect(subnet.master.place("routing_engine"), message, hint, severity=Severity.NOTE)
    for manager in manager_files(fabric):
        subnet, lmc = manager.subnet, manager.content.number("lmc")
        for engine in manager.engines:
            if lmc and engine in _NO_LMC:
                message = f"{engine} does not support lmc {lmc}: OpenSM falls back to minhop, or does not route"
                yield Defect(manager.place("lmc"), message, f"set lmc to 0, or use another engine than {engine}")
            if why := _obstacle(manager, engine):
                hint = f"set routing_engine to {_suitable(manager)}"
                yield Defect(manager.place("routing_engine"), f"{engine} on this wiring: {why}", hint)
            elif engine == "lash" and subnet.kind == TREE:
                message = "lash on a tree leaves spines idle: it uses one spine of four"
                hint = "set routing_engine to ftree or updn"
                yield Defect(manager.place("routing_engine"), message, hint, severity=Severity.WARNING)
        if manager.content.is_true("connect_roots") and set(manager.engines) & {"updn", "dnup"}:
            message = "paths of connect_roots between roots go down and up again, which can form credit loops"
            yield Defect(manager.place("connect_roots"), message, "set connect_roots to FALSE")
        if (hops := manager.content.number("max_reverse_hops")) and "ftree" in manager.engines:
            message = f"max_reverse_hops is {hops}: paths to I/O nodes may go down and up again, which can form credit "
            message += "loops"
            hint = "remove max_reverse_hops; the default of opensm is 0"
            yield Defect(manager.place("max_reverse_hops"), message, hint, severity=Severity.WARNING)


def _obstacle(manager: ManagerFile, engine: str) -> str:
    """Why an engine cannot route the wiring without credit loops, or an empty text."""
    subnet = manager.subnet
    if engine == "ftree" and subnet.kind != OTHER and _has_one_leaf(subnet):
        return "it needs compute nodes on two leaves, but all are on one leaf"
    if subnet.kind == TREE:
        return "it supports only tori and meshes" if engine in ("dor", "torus-2QoS") else ""
    if subnet.kind != OTHER:
        return ""
    design = subnet.design
    if engine == "dor" and design == "mesh":
        return ""
    if not subnet.has_rings and engine != "torus-2QoS":
        return ""
    if engine in _SHORTEST:
        return "all paths use one lane and form credit loops"
    if engine in _UP_DOWN and (design or engine == "ftree"):
        return "it fails without tiers, and OpenSM falls back to minhop, which has credit loops"
    if engine == "torus-2QoS" and design and design not in _GRIDS:
        return "it supports only tori and meshes"
    if engine == "dfsssp" and design == "torus" and _most_neighbors(manager) > _MOST_2D_NEIGHBORS:
        return "it needs more than 8 lanes in three dimensions, and OpenSM falls back to minhop, which has credit loops"
    return ""


def _has_one_leaf(subnet: ManagedSubnet) -> bool:
    """Whether all adapters in cn_guids, or all adapters without such a list, are on one switch."""
    if subnet.topology is None:
        return False
    listed = subnet.guids("cn_guid_file")
    place = zip(subnet.topology.adapters, subnet.topology.attached_switch.tolist(), strict=True)
    leaves = {row for port, row in place if row >= 0 and (listed is None or port.port_guid in listed[1].words)}
    return len(leaves) == 1


def _most_neighbors(manager: ManagerFile) -> int:
    subnet = manager.subnet.topology
    return (
        max((len({peer for peer in row if peer >= 0}) for row in subnet.peer_switch.tolist()), default=0)
        if subnet
        else 0
    )


def _suitable(manager: ManagerFile) -> str:
    if manager.subnet.kind == TREE:
        return "updn" if _has_one_leaf(manager.subnet) else "ftree or updn"
    return "torus-2QoS" if manager.subnet.design in _GRIDS else "dfsssp with 8 lanes, or nue"


@rule("FG815", Severity.ERROR, "The routing engine does not have the lanes that it needs")
def lanes_of_engine(fabric: Fabric) -> Iterator[Defect]:
    """What: With dfsssp, lash, torus-2QoS, and nue on several lanes, qos is TRUE and max_op_vls allows the lanes that
    the engine needs: 2 for torus-2QoS, nue_max_num_vls for nue, and on topologies other than trees 3 for lash and 8 for
    dfsssp. qos_sl2vl, or qos_swe_sl2vl if it is set, gives each SL of these engines except torus-2QoS its own lane.

    Why: These engines break credit loops by moving paths to other lanes. With qos FALSE, OpenSM does not program
    SL-to-VL tables: torus-2QoS fails, and with dfsssp and lash the firmware of the switches decides whether packets
    deadlock. If two SLs share a lane, so do the paths that the engine separated.

    Example: routing_engine dfsssp,no_fallback with qos FALSE.

    Fix: Set qos to TRUE and max_op_vls to 4 (8 lanes). Applications must use the SL of the path record.

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
                message = f"{engine} moves paths to other lanes, but qos is not TRUE and OpenSM programs no lanes"
                yield Defect(manager.place("qos"), message, "set qos to TRUE")
            if lanes < needed:
                message = f"{engine} needs {needed} data lanes on this wiring, but max_op_vls allows {lanes}"
                yield Defect(manager.place("max_op_vls"), message, f"set max_op_vls to {_code(needed)}")
            elif needed > 1 and engine != "torus-2QoS" and manager.subnet.kind != TREE:
                yield from _shared_lane(manager, engine, needed, lanes)


def _shared_lane(manager: ManagerFile, engine: str, needed: int, lanes: int) -> Iterator[Defect]:
    """Two SLs of an engine on one lane between switches. torus-2QoS writes these tables itself."""
    name = "qos_swe_sl2vl" if manager.content.text("qos_swe_sl2vl") else "qos_sl2vl"
    table = [c_number(lane.strip()) for lane in manager.content.text(name).split(",")]
    if len(table) != LAST_SL + 1:
        return  # the table of OpenSM, or one that FG816 reports
    start = manager.content.number("lash_start_vl") if engine == "lash" else 0
    first: dict[int, int] = {}
    for level in range(start, min(start + needed, len(table))):
        lane = table[level]
        if lane is None:
            return
        lane = lane if lane < lanes else lane & (lanes - 1)
        if (other := first.setdefault(lane, level)) != level:
            message = f"{name} maps SLs {other} and {level} to lane {lane}: paths that {engine} separates can form "
            hint = f"map the SLs {start} to {start + needed - 1} to different lanes"
            yield Defect(manager.place(name), f"{message}credit loops", hint)
            return


def _lanes(code: int) -> int:
    return next((lanes for lanes, known in VL_CODES.items() if known == code), max(VL_CODES))


def _code(lanes: int) -> int:
    return next(code for most, code in sorted(VL_CODES.items()) if most >= lanes)


@rule("FG816", Severity.ERROR, "A table of service levels or lanes is wrong")
def lane_tables(fabric: Fabric) -> Iterator[Defect]:
    """What: A qos_sl2vl option has 16 lanes, all of them below the limit of max_op_vls and none of them 15. A qos_vlarb
    option has pairs VL:weight with lanes up to 14 and weights up to 255. With an engine that uses several lanes, every
    lane has the same weight in qos_vlarb_high and qos_vlarb_low, and qos_high_limit is not 255.

    Why: SLs that a short list does not map go to VL 0, and VL 15 drops packets. Lanes above the limit of the port map
    to lower ones, and a weight of 300 overflows. The default weights of OpenSM prefer VL 0, and with limit 255 all
    other lanes starve.

    Example: qos_sl2vl 0,1,2,3; qos_vlarb_high 0:300.

    Fix: Use the tables that fabricgen renders: 16 lanes with equal weights.

    Source: opensm 3.3.23, osm_qos.c and its defaults; measured with opensm 3.3.23.
    """
    for manager in manager_files(fabric):
        for name in manager.content.options:
            if name.endswith("sl2vl") and manager.content.text(name):
                yield from _sl2vl(manager, name)
            elif "vlarb" in name and manager.content.text(name):
                yield from _vlarb(manager, name)
        several = {*_LAYERED, "nue"} if manager.content.number("nue_max_num_vls") != 1 else {*_LAYERED}
        if manager.content.is_true("qos") and set(manager.engines) & several:
            yield from _weights(manager)


def _sl2vl(manager: ManagerFile, name: str) -> Iterator[Defect]:
    lanes = [c_number(lane.strip()) for lane in manager.content.text(name).split(",")]
    place, hint = manager.place(name), "write 16 lanes, separated by commas"
    known = [lane for lane in lanes if lane is not None and 0 <= lane <= LAST_VL + 1]
    if len(known) < len(lanes):
        yield Defect(place, f"{name} is not a list of lanes from 0 to {LAST_VL}", hint)
    elif len(lanes) != 16:
        yield Defect(place, f"{name} has {len(lanes)} lanes, expected 16: other SLs go to VL 0", hint)
    elif dropped := [sl for sl, lane in enumerate(known) if lane > LAST_VL]:
        yield Defect(place, f"{name} maps SL {dropped[0]} to VL 15, which drops its packets", hint)
    elif max(known) >= (most := _lanes(manager.content.number("max_op_vls"))):
        message = f"{name} has VL {max(known)}, but max_op_vls allows {most} lanes: the VL maps to a lower one"
        yield Defect(place, message, f"use lanes from 0 to {most - 1}", severity=Severity.WARNING)


def _vlarb(manager: ManagerFile, name: str) -> Iterator[Defect]:
    pairs = [[c_number(part.strip()) for part in pair.split(":")] for pair in manager.content.text(name).split(",")]
    place, hint = manager.place(name), "write pairs such as 0:64,1:64"
    if not all(len(pair) == 2 and None not in pair for pair in pairs):
        yield Defect(place, f"{name} is not a list of pairs VL:weight", hint)
    elif any(not 0 <= (lane or 0) <= LAST_VL or not 0 <= (weight or 0) <= 255 for lane, weight in pairs):
        yield Defect(place, f"{name} has a lane above {LAST_VL} or a weight above 255, which overflows", hint)
    elif len(pairs) > 64:
        yield Defect(place, f"{name} has {len(pairs)} pairs, but a table holds 64", hint)


def _weights(manager: ManagerFile) -> Iterator[Defect]:
    lanes = _used(manager)
    for name in ("qos_vlarb_high", "qos_vlarb_low"):
        text = manager.content.text(name)
        pairs = [pair.partition(":") for pair in text.split(",") if text]
        weights = {c_number(lane.strip()): c_number(weight.strip()) or 0 for lane, _, weight in pairs}
        uneven = len({weights.get(lane, 0) for lane in lanes}) > 1
        if not text or uneven:
            fault = "is the default of OpenSM" if not text else "has different weights"
            message = f"{name} {fault}, but paths use {counted(len(lanes), 'lane')}: some lanes wait for others"
            hint = f"set {name} to {','.join(f'{lane}:64' for lane in lanes)}"
            yield Defect(manager.place(name), message, hint, severity=Severity.WARNING)
    if manager.content.number("qos_high_limit") == 255:
        message, hint = "qos_high_limit is 255: switches never serve the low table", "set qos_high_limit to 0"
        yield Defect(manager.place("qos_high_limit"), message, hint, severity=Severity.WARNING)


def _used(manager: ManagerFile) -> list[int]:
    """The lanes that paths use. A lane above those of the port becomes a lower one (osm_qos.c: vl & vl_mask)."""
    lanes = _lanes(manager.content.number("max_op_vls"))
    text = manager.content.text("qos_sl2vl")
    mapped = {lane for part in text.split(",") if (lane := c_number(part.strip())) is not None}
    return sorted({lane if lane < lanes else lane & (lanes - 1) for lane in mapped - {LAST_VL + 1}}) or [*range(lanes)]


@rule("FG830", Severity.ERROR, "The ports need more LIDs than a subnet has")
def too_many_lids(fabric: Fabric) -> Iterator[Defect]:
    """What: The number of adapter ports times 2^lmc, plus one LID for each switch, is at most 49,151.

    Why: OpenSM runs out of LIDs, and the last ports have no LID.

    Example: lmc 2 on 16,384 ports needs 65,536 LIDs.

    Fix: Use a smaller lmc, or several subnets.

    Source: InfiniBand Architecture Specification, volume 1, section 4.1.3 (unicast LIDs 0x0001 to 0xBFFF).
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers if subnet.ports else ():
            each = 1 << manager.content.number("lmc")
            switches = len(subnet.switches or ()) * (each if manager.content.is_true("lmc_esp0") else 1)
            lids = len(subnet.ports or ()) * each + switches
            if lids > _UNICAST_LIDS:
                message = f"lmc {each.bit_length() - 1} needs {lids:,} LIDs, but a subnet has {_UNICAST_LIDS:,}"
                yield Defect(manager.place("lmc"), message, "use a smaller lmc")
