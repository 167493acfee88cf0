"""Networks without PFC: what fabric.json says of a plane; without it, only what files show beyond doubt."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from fabricgen.bundle.read import Bundle
from fabricgen.sonic.tables import Table

if TYPE_CHECKING:
    from fabricgen.rules.view.fabric import Switch

_NO_HEADROOM = "0m"


def lossy_switches(
    bundle: Bundle, switches: Mapping[str, "Switch"], networks: Iterable[tuple[str, ...]]
) -> Iterator[str]:
    """The switches of networks in which no class is lossless.

    Of loose files these are switches that cables join to each other and to none that might be lossless, all of which
    ask for no headroom anywhere. A switch that has merely lost its PFC among others that have it is not among them.
    """
    if bundle.wiring:
        lossy = {plane.name for plane in bundle.wiring.planes if not plane.lossless}
        yield from (name for name, switch in switches.items() if switch.plane in lossy)
        return
    for network in networks:
        if all(_asks_for_nothing(switches[name]) for name in network):
            yield from network


def _asks_for_nothing(switch: "Switch") -> bool:
    """Whether a file says itself that nothing is lossless: all its cables are 0m, which is how SONiC is told to make no
    headroom, and no PFC, no watchdog and no lossless profile is in use."""
    device = switch.device
    lengths = {text for row in device.table("CABLE_LENGTH").values() for text in row.values()}
    port_maps = device.table("PORT_QOS_MAP").values()
    return (
        lengths == {_NO_HEADROOM}
        and not any(row.get(name) for row in port_maps for name in ("pfc_enable", "pfcwd_sw_enable"))
        and not device.table("PFC_WD")
        and not _has_headroom(device.table("BUFFER_PG"), device.table("BUFFER_PROFILE"))
        and not any("lossless" in str(row.get("profile")) for row in device.table("BUFFER_QUEUE").values())
    )


def _has_headroom(groups: Table, profiles: Table) -> bool:
    names = {str(row.get("profile")) for row in groups.values()}
    return any(name == "NULL" or name.startswith("pg_lossless_") or "xoff" in profiles.get(name, {}) for name in names)
