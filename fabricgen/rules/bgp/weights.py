"""Rules on weighted ECMP: BGP announces the number of paths behind each next hop as a link bandwidth."""

from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Network, Switch
from fabricgen.sonic.image import uses_frr_framework

_STATE = ("BGP_DEVICE_GLOBAL", "STATE")
_FIELD = "wcmp_enabled"


@rule("FG372", Severity.WARNING, "Weighted ECMP has no effect")
def unread_weights(fabric: Fabric) -> Iterator[Defect]:
    """What: Under the management framework, BGP_DEVICE_GLOBAL|STATE has no wcmp_enabled "true".

    Why: Only bgpcfgd reads the field, and the image starts frrcfgd instead of it. The switch announces no bandwidth,
    and its neighbors spread evenly, although fewer links are left behind one of their next hops.

    Example: wcmp_enabled is true on a switch with unnumbered sessions.

    Fix: Use sessions between addresses (`bgp: numbered`), or remove the field.

    Source: sonic-buildimage dockers/docker-fpm-frr/frr/supervisord; src/sonic-bgpcfgd managers_device_global.py.
    """
    for switch in fabric.switches.values():
        if _is_weighted(switch) and uses_frr_framework(switch.device.config):
            message = "wcmp_enabled is true, but frrcfgd does not read it: the neighbors spread evenly"
            yield Defect(switch.place(*_STATE, _FIELD), message, "remove the field, or use sessions between addresses")


@rule("FG373", Severity.WARNING, "Some switches of a tier announce no bandwidth", Basis.PEERS)
def partly_weighted(fabric: Fabric) -> Iterator[Defect]:
    """What: If a switch has wcmp_enabled, the other switches of its tier and plane have it, too.

    Why: FRR weights the paths to a prefix only if all of them have a bandwidth. One spine without it makes all leaves
    spread evenly over all spines.

    Example: wcmp_enabled is true on all spines but one.

    Fix: Set the field on all switches of the plane, or on none.

    Source: SONiC HLD doc/wcmp; FRR doc/user/bgp.rst (weighted ECMP using BGP link bandwidth).
    """
    tiers: dict[tuple[Network, str], list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        if switch.role:
            tiers[switch.network, switch.role].append(switch)
    for members in tiers.values():
        weighted = [switch for switch in members if _is_weighted(switch)]
        for switch in members if weighted else ():
            if not _is_weighted(switch):
                message = f"wcmp_enabled is not true, but it is on {weighted[0].name}: the next tier spreads evenly"
                related = ((weighted[0].name, weighted[0].place(*_STATE, _FIELD)),)
                yield Defect(switch.place(*_STATE, _FIELD), message, "set it on all switches of the plane", related)


def _is_weighted(switch: Switch) -> bool:
    return switch.device.text_of(*_STATE, _FIELD) == "true"
