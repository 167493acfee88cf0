"""Cables with fixed plugs: a plug fills a cage, and passive copper joins each lane to one lane of the far end."""

from collections.abc import Iterator, Mapping

from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.platforms.catalog import host_model, nic_cage, nic_model
from fabricgen.platforms.model import NicModel
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.cable_texts import copper_links
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.units import format_speed
from fabricgen.vocabulary import FIXED_PLUGS

Plug = tuple[str, str]  # (device, cage)

_ONE_CABLE = "run `fabricgen render` again: these links need one breakout cable"
_FIBRE = "use fibre (`medium: mmf` or smf): the cages at the far ends lead elsewhere, too, so no breakout cable fits"
_HINT = "use optical modules (`medium: aoc`, mmf or smf): a gearbox in the module changes the lanes"


@rule("FG272", Severity.ERROR, "A passive copper cable joins ports with different lanes", breaks=Breaks.SIGNAL)
def copper_lanes(fabric: Fabric) -> Iterator[Defect]:
    """What: Both ports of a link on passive copper (medium dac in fabric.json) have the same number of lanes. A NIC of
    a known model can run the lanes of the switch port.

    Why: A passive cable has no electronics. 8 lanes of 50G and 4 lanes of 100G are both 400G, but the link never comes
    up. Optical modules have a gearbox that changes the lanes.

    Example: A port of 400G with 8 lanes and a ConnectX-7, which has 4 lanes, on a cable of 3 m.

    Fix: Use optical modules, or a layout whose ports have as many lanes as the far end.

    Source: IEEE 802.3bs (400GAUI-8), 802.3ck (400GBASE-CR4); sonic-buildimage issue 14165.
    """
    copper, nics = copper_links(fabric), _nics(fabric)
    reported = set()
    for end in fabric.ends:
        lanes = _lanes(end)
        if end.link.id not in copper or not lanes or end.link.id in reported:
            continue
        if end.far:
            far_lanes = _lanes(end.far)
            if far_lanes and far_lanes != lanes:
                reported.add(end.link.id)
                here, there = _each(end, lanes), _each(end, far_lanes)
                message = f"the port has {here}, but the far end {there}: copper cannot convert them"
                yield Defect(end.place("PORT", "lanes"), message, _HINT, far_end(end, "PORT", "lanes"))
            continue
        nic = nics.get((end.far_name, end.far_port))
        if nic and nic.lanes and nic.lane_mbps and (reason := _unfit(end, lanes, nic)):
            message = f"the port has {_each(end, lanes)}, but {nic.name} has {reason}: copper cannot convert them"
            yield Defect(end.place("PORT", "lanes"), message, _HINT)


@rule("FG273", Severity.ERROR, "Plugs of several cables are in one cage")
def plugs(fabric: Fabric) -> Iterator[Defect]:
    """What: The ports of a cage (equal index in PORT) are on one cable, if it is a dac, aec or aoc.

    Why: The plug of such a cable fills the cage. Two hosts at one split cage need a breakout cable with two legs, not
    two straight cables. It is a warning where no breakout cable fits either: the far ends share their cages with links
    to elsewhere.

    Example: Ethernet0 and Ethernet4 have index 1, and a dac of 3 m leads from each to another host.

    Fix: Render again, so that the links share a breakout cable. Where the far ends are in cages with other links, use
    optical modules.

    Source: OSFP MSA and QSFP-DD MSA: one electrical connector in a cage.
    """
    wiring = fabric.bundle.wiring
    fixed = {one.id: one.medium for one in (wiring.cables if wiring else ()) if one.medium in FIXED_PLUGS}
    if not fixed:
        return
    models = {host.name: host.model for host in (wiring.hosts if wiring else ())}
    cages: dict[Plug, list[End]] = {}
    reached: dict[Plug, set[Plug]] = {}  # far plug -> the plugs from which it is reached
    for end in fabric.ends:
        if index := end.text("index"):
            cages.setdefault((end.switch.name, index), []).append(end)
            reached.setdefault(_far_plug(end, models), set()).add((end.switch.name, index))
    for cage, ends in cages.items():
        cables = dict.fromkeys(end.link.cable for end in ends)
        if len(cables) > 1 and any(name in fixed for name in cables):
            other = next(end for end in ends if end.link.cable != ends[0].link.cable)
            medium = next(fixed[name] for name in cables if name in fixed)
            far = f"to {_far(ends[0])} and to {_far(other)}"
            message = f"cage {cage[1]} has the plugs of {len(cables)} cables, {far}, but one {medium} plug fills a cage"
            fits = all(reached[_far_plug(end, models)] == {cage} and end.link.cable in fixed for end in ends)
            hint = _ONE_CABLE if fits else _FIBRE
            place = ends[0].place("PORT", "index")
            yield Defect(place, message, hint, severity=None if fits else Severity.WARNING)


def _far_plug(end: End, models: Mapping[str, str]) -> Plug:
    """The cage at the far end of a link; of a host by the catalog, else the NIC port alone."""
    if end.far:
        return end.far_name, end.far.text("index")
    model = host_model(models.get(end.far_name, ""))
    return end.far_name, nic_cage(model, end.far_port) if model else end.far_port


def _far(end: End) -> str:
    return f"{end.far_name} {end.far_port}"


def _unfit(end: End, lanes: int, nic: NicModel) -> str:
    """Why a port of a NIC cannot run the lanes of a switch port; "" if it can."""
    if nic.lanes and lanes > nic.lanes:
        return f"{nic.lanes} lanes"
    if nic.lane_mbps and end.link.speed_mbps > lanes * nic.lane_mbps:
        return f"lanes of at most {format_speed(nic.lane_mbps)}"
    return ""


def _each(end: End, lanes: int) -> str:
    speed = end.link.speed_mbps
    return f"{lanes} lanes of {format_speed(speed // lanes)}" if speed else f"{lanes} lanes"


def _lanes(end: End) -> int:
    text = end.text("lanes")
    return len(text.split(",")) if text else 0


@derived
def _nics(fabric: Fabric) -> Mapping[tuple[str, str], NicModel]:
    """(host, NIC) -> the model of the NIC, if the catalog has it."""
    wiring = fabric.bundle.wiring
    models = {model.name: {nic.name: nic.model for nic in model.nics} for model in wiring.host_models} if wiring else {}
    known = {name: nic_model(name) for nics in models.values() for name in nics.values()}
    return {
        (host.name, nic.name): model
        for host in (wiring.hosts if wiring else ())
        for nic in host.nics
        if (model := known.get(models.get(host.model, {}).get(nic.name, "")))
    }
