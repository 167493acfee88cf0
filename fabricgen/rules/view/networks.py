"""Which switches cables join. Of loose files that is all there is to tell one plane from another."""

from fabricgen.bundle.read import Bundle
from fabricgen.joined import joined


def joined_switches(bundle: Bundle) -> list[tuple[str, ...]]:
    """The switches of each network, in the order of the devices.

    Cables join them directly, or over others, also over switches whose files are not given. Hosts join nothing: they
    are what planes share.
    """
    pairs = ((link.a[0], link.b[0]) for link in bundle.links if link.kind not in ("host-leaf", "external"))
    networks = (tuple(name for name in names if name in bundle.devices) for names in joined(bundle.devices, pairs))
    return [network for network in networks if network]
