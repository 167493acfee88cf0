"""The planes of a bundle, by name."""

from collections.abc import Sequence

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredPlane
from fabricgen.errors import UsageError
from fabricgen.vocabulary import Purpose, Technology


def planes(bundle: Bundle) -> list[tuple[str, list[str]]]:
    """(plane, its switches), for planes whose switches have a config_db.json."""
    groups: dict[str, list[str]] = {}
    for name, device in bundle.devices.items():
        groups.setdefault(device.wired.plane if device.wired else "", []).append(name)
    return list(groups.items())


def planes_for(bundle: Bundle, plane: str | None, *, to_storage: bool) -> list[tuple[str, list[str]]]:
    """(plane, its switches) for traffic: the plane of the given name; without a name, storage traffic runs on storage
    planes if there are any, and no traffic on planes for management. Raises UsageError for an unknown plane."""
    require_plane(bundle, plane)
    if plane is not None or not bundle.wiring:
        return [(name, switches) for name, switches in planes(bundle) if plane in (None, name)]
    purposes = {one.name: one.purpose for one in bundle.wiring.planes if not one.is_management}
    on_storage = to_storage and Purpose.STORAGE in purposes.values()
    return [
        (name, switches)
        for name, switches in planes(bundle)
        if name in purposes and (purposes[name] == Purpose.STORAGE) == on_storage
    ]


def left_out(bundle: Bundle, plane: str | None, *, to_storage: bool) -> dict[str, str]:
    """The planes that traffic does not use when the user names no plane, each with the reason: 'runs on the storage
    planes'. A fabric that has other planes leaves out those for management."""
    wired = bundle.wiring.planes if bundle.wiring and plane is None else ()
    chosen = {name for name, _ in planes_for(bundle, plane, to_storage=to_storage)}
    chosen |= {*infiniband_planes(bundle, plane, to_storage=to_storage)}
    others = [one for one in wired if one.name not in chosen]
    used = [one.name for one in others if not one.is_management]
    if used or chosen:
        why = "runs on the storage planes" if to_storage else "runs between GPUs; storage-read and checkpoint run here"
        return dict.fromkeys(used, why)
    return {one.name: "does not run on a plane for management" for one in others}


def wired_plane(bundle: Bundle, plane: str) -> WiredPlane | None:
    """The plane in fabric.json; None for loose files."""
    return next((one for one in (bundle.wiring.planes if bundle.wiring else ()) if one.name == plane), None)


def infiniband_planes(bundle: Bundle, plane: str | None, *, to_storage: bool = False) -> list[str]:
    """The InfiniBand planes of the bundle for traffic, as `planes_for`."""
    wired = [one for one in (bundle.wiring.planes if bundle.wiring else ()) if not one.is_management]
    on_storage = to_storage and any(one.purpose == Purpose.STORAGE for one in wired)
    chosen = [one for one in wired if (one.purpose == Purpose.STORAGE) == on_storage] if plane is None else wired
    return [one.name for one in chosen if one.technology == Technology.INFINIBAND and plane in (None, one.name)]


def require_roce(bundle: Bundle, plane: str | None, options: Sequence[str], *, to_storage: bool) -> None:
    """Raises UsageError if no RoCE plane carries the traffic, so that options would have no effect."""
    if not planes_for(bundle, plane, to_storage=to_storage):
        raise UsageError(f"{', '.join(options)}: no RoCE plane carries this traffic")


def require_plane(bundle: Bundle, plane: str | None) -> None:
    """Raises UsageError for an unknown plane. Loose files are one plane without a name."""
    known = [name for name, _ in planes(bundle) if name]
    known += [one.name for one in (bundle.wiring.planes if bundle.wiring else ()) if one.name not in known]
    if plane is not None and plane not in known:
        raise UsageError(
            f"unknown plane {plane!r}; "
            + (f"the planes are {', '.join(known)}" if known else "loose files are one plane without a name")
        )
