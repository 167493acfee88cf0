"""Rules on the sessions and routes that the files give: every host reaches every other host of its plane."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.image import is_split
from fabricgen.units import counted

if TYPE_CHECKING:
    from fabricgen.routing.fabric import RoutedFabric

_OSPF = "OSPFV2_ROUTER"
_INTERFACES = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE", "VRF")


@rule("FG360", Severity.ERROR, "Hosts cannot reach each other", Basis.CONSEQUENCE)
def lost_hosts(fabric: Fabric) -> Iterator[Defect]:
    """What: Over the routes that SONiC makes of the files, each host reaches each other host of its plane that the
    links connect. Packets can take each of the next hops, so all of them must lead to the host. Without fabric.json,
    the announced prefixes count as hosts.

    Why: All sessions can look correct, and packets are lost nevertheless: a route map permits no route, the BGP
    container is disabled, FRR reads other files, leaves are under TSA, a blackhole route wins over BGP, or a port is
    in another VRF. A fault in a template is the same on all switches, so a comparison of switches does not show it.

    Example: ROUTE_MAP|PASS|10 has route_operation deny on all switches.

    Fix: Correct the row that the message names. It is one finding for all pairs that the same kind of row disconnects.
    Hosts behind a switch with state drained, planned or failed in the inventory are not counted.

    Source: RFC 4271; sonic-buildimage dockers/docker-fpm-frr, src/sonic-bgpcfgd, src/sonic-frr-mgmt-framework.
    """
    from fabricgen.routing.losses import find_losses
    from fabricgen.routing.reachability import reachability

    for routed in routed_fabrics(fabric):
        found = reachability(fabric.bundle, routed)
        for loss in find_losses(found) if found else ():
            first = loss.causes[0]
            pairs = counted(loss.pairs, "pair of host addresses", "pairs of host addresses")
            verb = "is" if loss.pairs == 1 else "are"
            message = (
                f"{pairs} {verb} not connected, for example {loss.source} to {loss.target}: "
                f"on {first.switch}, {first.reason}"
            )
            for cause in loss.causes:
                place = fabric.switches[cause.switch].place(*cause.place)
                yield Defect(place, message, "correct this row, so that each next hop has a route to the hosts")


@rule("FG366", Severity.ERROR, "The interface of a session cannot carry it", Basis.CONSEQUENCE, breaks=Breaks.SESSION)
def interfaces_of_sessions(fabric: Fabric) -> Iterator[Defect]:
    """What: The interfaces at both ends of a session between switches of the bundle can carry it: they are in the VRF
    of the neighbor, and SONiC applies their rows. Other rules judge the rows of the neighbors.

    Why: Without the session the link carries no traffic. Hosts may still reach each other over other links, with less
    bandwidth than planned.

    Example: The ports of half of the uplinks are in VRF Vrf_gpu, but their neighbors are in the default VRF.

    Fix: Correct the row that the message names.

    Source: sonic-buildimage src/sonic-bgpcfgd, src/sonic-frr-mgmt-framework; RFC 4271.
    """
    for routed in routed_fabrics(fabric):
        for absent in {one.session: one for one in routed.spoken.absent if one.inside}.values():
            name, place = absent.cause
            if place and place[0] in _INTERFACES:
                ends = " and ".join(sorted((absent.switch, absent.far), key=natural_key))
                reason = absent.reason.partition(f" {name}: ")[2] or absent.reason
                message = f"the session of {ends} cannot be established: {reason}"
                yield Defect(fabric.switches[name].place(*place), message, "correct this row")


@rule("FG361", Severity.ERROR, "Switches are connected, but none has a BGP neighbor", breaks=Breaks.SESSION)
def no_neighbors(fabric: Fabric) -> Iterator[Defect]:
    """What: A network of switches with routed links between them has BGP_NEIGHBOR rows.

    Why: Without a session no switch learns a route. Each host reaches only the hosts of the same switch, and no verdict
    about routes says anything.

    Example: Twenty switches with addresses on all links, and no BGP_NEIGHBOR table in any file.

    Fix: Add the BGP_NEIGHBOR rows of all links.

    With docker_routing_config_mode split, or with OSPFV2_ROUTER, it is a note: no rule about routes reads the files of
    FRR, or the tables of OSPF.

    Source: sonic-buildimage src/sonic-bgpcfgd managers_bgp.py; dockers/docker-fpm-frr/docker_init.sh;
    src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (OSPFV2_ROUTER).
    """
    for names in _planes(fabric).values():
        if _has_routing(fabric, names):
            continue
        if all(is_split(fabric.switches[name].device.config) for name in names):
            message = "FRR reads separate files (docker_routing_config_mode), not this table: routes are not judged"
            yield Defect(fabric.switches[names[0]].place("BGP_NEIGHBOR"), message, severity=Severity.NOTE)
            continue
        if speaker := next((name for name in names if fabric.switches[name].device.table(_OSPF)), ""):
            message = "OSPF makes the routes, which are not judged"
            yield Defect(fabric.switches[speaker].place("BGP_NEIGHBOR"), message, severity=Severity.NOTE)
            continue
        inside = set(names)
        for pair in fabric.pairs:
            near, far = pair
            if near.switch.name in inside and all(end.port in end.switch.device.table("INTERFACE") for end in pair):
                message = "the network has routed links between switches, but no BGP_NEIGHBOR in any file"
                related = (("a routed link", near.place("INTERFACE")), ("the far end", far.place("INTERFACE")))
                yield Defect(near.switch.place("BGP_NEIGHBOR"), message, "add the BGP neighbors of all links", related)
                break


@derived
def routed_fabrics(fabric: Fabric) -> tuple["RoutedFabric", ...]:
    """The routing model of each network that has routing; FG361 reports the others."""
    from fabricgen.routing.fabric import read_fabric

    return tuple(read_fabric(fabric.bundle, names) for names in _planes(fabric).values() if _has_routing(fabric, names))


def _has_routing(fabric: Fabric, names: list[str]) -> bool:
    """Whether any of the switches has a BGP neighbor or a static route with a next hop."""
    switches = [fabric.switches[name] for name in names]
    return any(one.device.table("BGP_NEIGHBOR") or _routes_statically(one) for one in switches)


def _routes_statically(switch: Switch) -> bool:
    """Whether the switch has static routes with a next hop, or dynamic neighbors."""
    rows = switch.device.table("STATIC_ROUTE").values()
    return any("nexthop" in row or "ifname" in row for row in rows) or bool(
        switch.device.table("BGP_GLOBALS_LISTEN_PREFIX")
    )


def _planes(fabric: Fabric) -> dict[str, list[str]]:
    """The switches of each network: of a plane of fabric.json by its name, or all loose files."""
    found: dict[str, list[str]] = {}
    for name, switch in fabric.switches.items():
        found.setdefault(switch.plane, []).append(name)
    return {name: names for name, names in found.items() if len(names) > 1}
