"""Switches that are drained in the inventory: their files move the traffic away."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.addresses import parse_address
from fabricgen.sonic.image import uses_frr_framework
from fabricgen.sonic.policy import Policies, RouteFilter
from fabricgen.sonic.tables import Row


@rule("FG306", Severity.WARNING, "A drained switch still attracts traffic", breaks=Breaks.ROUTES)
def drained(fabric: Fabric) -> Iterator[Defect]:
    """What: A switch whose state is drained in fabric.json announces only its loopbacks. With bgpcfgd, tsa_enabled of
    BGP_DEVICE_GLOBAL|STATE is true. With the management framework, the route maps to its neighbors deny its other
    prefixes.

    Why: Every verdict counts without the switch. If it still announces prefixes, it carries traffic that no verdict
    covers, and maintenance interrupts this traffic.

    Example: The state is drained, but the files were rendered before.

    Fix: Render again, or set the state to active.

    Source: sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_device_global.py (tsa_enabled) and
    dockers/docker-fpm-frr/TSA; src/sonic-frr-mgmt-framework/frrcfgd/frrcfgd.py (route_map_out).
    """
    for switch in fabric.switches.values():
        if switch.is_drained and switch.device.table("BGP_NEIGHBOR"):
            yield from _framework(switch) if uses_frr_framework(switch.device.config) else _bgpcfgd(switch)


_HINT = "render again, or set the state of the switch to active in the inventory"


def _bgpcfgd(switch: Switch) -> Iterator[Defect]:
    found = switch.device.text_of("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled")
    if found != "true":
        message = f"the state is drained, and tsa_enabled is {found or 'not set'}: the switch announces all prefixes"
        yield Defect(switch.place("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled"), message, _HINT)


def _framework(switch: Switch) -> Iterator[Defect]:
    policies = Policies(switch.device.config)
    loopbacks = switch.device.table("LOOPBACK_INTERFACE")
    for table in ("BGP_PEER_GROUP_AF", "BGP_NEIGHBOR_AF"):
        for key, row in switch.device.table(table).items():
            family = key.rpartition("|")[2]
            for announced in switch.device.table("BGP_GLOBALS_AF_NETWORK"):
                text = announced.rpartition("|")[2]
                prefix = parse_address(text)
                if prefix is None or f"Loopback0|{text}" in loopbacks or f"|{family}|" not in announced:
                    continue
                if (maps := _maps(row)) and policies.permits(RouteFilter(maps), prefix):
                    message = f"the state is drained, and route map {maps[0]} announces {text}"
                    yield Defect(switch.place(table, key, "route_map_out"), message, _HINT)
                    break


def _maps(row: Row) -> tuple[str, ...]:
    given = row.get("route_map_out", ())
    return (given,) if isinstance(given, str) else tuple(map(str, given)) if isinstance(given, list) else ()
