"""Which switches cables join. Of loose files that is all there is to tell one plane from another."""

from fabricgen.bundle.read import Bundle


def joined_switches(bundle: Bundle) -> list[tuple[str, ...]]:
    """The switches of each network, in the order of the devices.

    Cables join them directly, or over others, also over switches whose files are not given. Hosts join nothing: they
    are what planes share.
    """
    near: dict[str, set[str]] = {name: set() for name in bundle.devices}
    for link in bundle.links:
        if link.kind not in ("host-leaf", "external"):
            for name, far in ((link.a[0], link.b[0]), (link.b[0], link.a[0])):
                near.setdefault(name, set()).add(far)
    found: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for first in bundle.devices:
        if first in seen:
            continue
        network, edge = set[str](), {first}
        while edge:
            network |= edge
            edge = set[str]().union(*(near[name] for name in edge)) - network
        seen |= network
        found.append(tuple(name for name in bundle.devices if name in network))
    return found
