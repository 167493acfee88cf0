"""Networks without PFC: by fabric.json, or, for loose files, if the files show it without doubt."""

from collections.abc import Iterable, Iterator, Mapping

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.sonic.tables import Table

_NO_HEADROOM = "0m"


def lossy_switches(
    bundle: Bundle, devices: Mapping[str, ObservedDevice], networks: Iterable[tuple[str, ...]]
) -> Iterator[str]:
    """The names of the switches of networks in which no class is lossless. `devices` have well-shaped rows.

    For loose files this is a network in which no switch requests headroom anywhere. A single switch without PFC among
    switches with PFC is not included, because that is a fault.
    """
    if bundle.wiring:
        lossy = {plane.name for plane in bundle.wiring.planes if not plane.lossless}
        yield from (name for name, device in devices.items() if device.wired and device.wired.plane in lossy)
        return
    for network in networks:
        if all(_requests_no_headroom(devices[name]) for name in network):
            yield from network


def _requests_no_headroom(device: ObservedDevice) -> bool:
    """Whether all cable lengths are 0m, which makes SONiC create no headroom, and the file uses no PFC, no watchdog and
    no lossless profile."""
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
