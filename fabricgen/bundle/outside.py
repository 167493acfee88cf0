"""Where routes from outside the fabric enter: BGP sessions over external links."""

from collections.abc import Iterator

from fabricgen.bundle.read import Bundle
from fabricgen.sonic.bgpcfgd import speaker
from fabricgen.sonic.frr_framework import DEFAULTS, framework_announcements, framework_speaker, redistributes
from fabricgen.sonic.image import (
    Announcement,
    Neighbor,
    Speaker,
    announcements,
    interface_addresses,
    uses_frr_framework,
)
from fabricgen.sonic.release_models import image_of
from fabricgen.sonic.releases import MASTER, release_of
from fabricgen.sonic.tables import ConfigDb


def read_speaker(config: ConfigDb, release: int | None = None) -> Speaker:
    """The BGP speaker of a switch as its image configures FRR, in the mode that its file selects.

    `release` is that of the bundle, for a file without VERSIONS; by default the images have the latest FRR.
    """
    if uses_frr_framework(config):
        return framework_speaker(config)
    return speaker(config, image_of(release_of(config) or release or MASTER).maximum_paths)


def announced_prefixes(config: ConfigDb) -> Iterator[Announcement]:
    """The prefixes that a switch announces. The neighbors, which take most of the time, are not read."""
    connected = redistributes(config)
    addresses = interface_addresses({name: rows for name, rows in config.items() if connected or name != "INTERFACE"})
    return (framework_announcements if uses_frr_framework(config) else announcements)(config, addresses)


def outside_sessions(bundle: Bundle, switch: str, one: Speaker) -> Iterator[tuple[str, Neighbor]]:
    """(port, neighbor) of each session of a switch over an external link."""
    ports = {end[1]: link for end, link in bundle.external_at.items() if end[0] == switch}
    if not ports:
        return
    subnets = [(entry.network, entry.interface) for entry in one.addresses if entry.interface in ports]
    for neighbor in one.neighbors:
        if neighbor.peer is None:
            if neighbor.interface in ports:
                yield neighbor.interface, neighbor
            continue
        for network, port in subnets:
            if network.covers(neighbor.peer):
                yield port, neighbor


def default_routes(bundle: Bundle, switch: str, one: Speaker) -> Iterator[Announcement]:
    """The default routes that a switch learns from outside and announces as its best path."""
    for _, neighbor in outside_sessions(bundle, switch, one):
        for version in sorted(neighbor.terms.defaults) if not neighbor.obstacle else ():
            yield Announcement(str(DEFAULTS[version]), ("BGP_NEIGHBOR", neighbor.key))
