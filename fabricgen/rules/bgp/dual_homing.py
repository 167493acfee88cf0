"""The rule on dual-homed hosts: what is left when one leaf of a pair fails."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.bgp.reachability import routed_fabrics
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.units import counted


@rule("FG686", Severity.ERROR, "A leaf of a pair that fails disconnects hosts", Basis.CONSEQUENCE)
def hosts_without_a_leaf(fabric: Fabric) -> Iterator[Defect]:
    """What: with all switches in service, and after the failure of any one leaf of an MCLAG pair, each host that has a
    port left reaches each other such host: over each port of its bond, each next hop, and the peer link where a leaf
    has no port to the host.

    Why: hosts are connected to two leaves so that they survive the loss of one. A VLAN or a route that is missing at
    one of the leaves shows only on that day.

    Example: the peer link is up, but one leaf does not announce the subnet.

    Fix: correct the row that the message names.

    Source: SONiC doc/mclag/Sonic-mclag-hld.md, 7.2 and 7.3.
    """
    from fabricgen.routing.dual_homing import DualHoming

    for routed in routed_fabrics(fabric):
        plane = DualHoming(fabric.bundle, routed)
        if not plane.leaves:
            continue
        before = plane.lost()
        for failed in [""] if before else plane.leaves:
            lost = before or plane.after(failed)
            for place in dict.fromkeys(one.place for one in lost):
                own = [one for one in lost if one.place == place]
                first, pairs = own[0], counted(sum(one.count for one in own), "pair of hosts", "pairs of hosts")
                state = f"if {failed} fails, {pairs} lose contact" if failed else f"{pairs} are not connected"
                message = f"{state}, for example {first.source.hosts[0]} to {first.target.hosts[-1]}: {first.reason}"
                name, table, key = place
                yield Defect(fabric.switches[name].place(table, key), message, "correct the row, at both leaves")
