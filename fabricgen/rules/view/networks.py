"""Groups of switches that cables connect. Loose files have nothing else that separates planes."""

from fabricgen.bundle.read import Bundle
from fabricgen.joined import joined
from fabricgen.vocabulary import LinkKind


def joined_switches(bundle: Bundle) -> list[tuple[str, ...]]:
    """The switches of each network, in the order of the devices.

    Cables connect them directly or through other switches, even if the files of these are missing. Hosts do not
    connect networks, because planes share hosts.
    """
    pairs = (
        (link.a[0], link.b[0]) for link in bundle.links if link.kind not in (LinkKind.HOST_LEAF, LinkKind.EXTERNAL)
    )
    networks = (tuple(name for name in names if name in bundle.devices) for names in joined(bundle.devices, pairs))
    return [network for network in networks if network]
