"""The planes of a bundle, by name."""

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError


def planes(bundle: Bundle) -> list[tuple[str, list[str]]]:
    """(plane, its switches), for planes that config_db files configure."""
    groups: dict[str, list[str]] = {}
    for name, device in bundle.devices.items():
        groups.setdefault(device.wired.plane if device.wired else "", []).append(name)
    return list(groups.items())


def infiniband_planes(bundle: Bundle, plane: str | None) -> list[str]:
    """The InfiniBand planes among those asked for: all, or the one called `plane`."""
    wired = bundle.wiring.planes if bundle.wiring else ()
    return [one.name for one in wired if one.technology == "infiniband" and plane in (None, one.name)]


def require_plane(bundle: Bundle, plane: str | None) -> None:
    """Raises UsageError for a name that no plane has. Loose files are one plane without a name."""
    known = [name for name, _ in planes(bundle) if name]
    known += [one.name for one in (bundle.wiring.planes if bundle.wiring else ()) if one.name not in known]
    if plane is not None and plane not in known:
        there = f"there are {', '.join(known)}" if known else "loose files are one, without a name"
        raise UsageError(f"no plane is called {plane!r}; {there}")
