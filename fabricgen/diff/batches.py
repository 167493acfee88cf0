"""The ports that go down together, so that the others keep every rail, every host and a share of the uplinks up.

Neighbors of ports are those of DEVICE_NEIGHBOR. A neighbor is a host if its type in DEVICE_NEIGHBOR_METADATA is Server.

The Ansible role contains this module: only the standard library and relative imports.
"""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from ..sonic.canonical import natural_key
from ..sonic.tables import ConfigDb

KEPT_SHARE = 0.5  # of the links to other switches that are up
_HOST = "Server"


def batches(ports: Iterable[str], config: ConfigDb, rising: Container[str] = ()) -> list[list[str]]:
    """The ports in batches. Ports that are down are in the first one, because nothing depends on them.

    The ports `rising`, which are down and come up, are a batch before it: a change that was interrupted left them down,
    so no other port goes down before they are up. A batch has at most every second port of a host and of a rail, and
    leaves KEPT_SHARE of the links to switches in service, if there is more than one.
    """
    up = up_ports(config)
    chosen = sorted(ports, key=natural_key)
    found: dict[int, list[str]] = defaultdict(list)
    for port in chosen:
        if port not in up:
            found[-1 if port in rising else 0].append(port)
    for number, port in (*_host_batches(chosen, config, up), *_link_batches(chosen, config, up)):
        found[number].append(port)
    return [sorted(found[number], key=natural_key) for number in sorted(found) if found[number]]


def up_ports(config: ConfigDb) -> frozenset[str]:
    """The ports that are up by configuration."""
    return frozenset(port for port, row in config.get("PORT", {}).items() if row.get("admin_status") == "up")


def kept_share(ports: Sequence[str], config: ConfigDb) -> float:
    """The share of the links to switches that stay in service while the ports are down; 1 without such links."""
    hosts = hosts_of(config)
    links = {port for port in up_ports(config) if (name := neighbor(config, port)) and name not in hosts}
    return 1 - len(links.intersection(ports)) / len(links) if links else 1.0


def neighbor(config: ConfigDb, port: str) -> str:
    """The name of the device at the other end; "" if it is not known."""
    name = config.get("DEVICE_NEIGHBOR", {}).get(port, {}).get("name", "")
    return name if isinstance(name, str) else ""


def hosts_of(config: ConfigDb) -> frozenset[str]:
    """The names of the neighbors that are hosts."""
    rows = config.get("DEVICE_NEIGHBOR_METADATA", {})
    return frozenset(name for name, row in rows.items() if row.get("type") == _HOST)


def _host_batches(ports: Iterable[str], config: ConfigDb, up: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Neighboring hosts, and neighboring ports of a host, are in different batches."""
    hosts = hosts_of(config)
    names = sorted({name for port in up if (name := neighbor(config, port)) in hosts or not name}, key=natural_key)
    order = {name: number for number, name in enumerate(names)}
    seen: Mapping[str, list[str]] = defaultdict(list)
    for port in sorted(up, key=natural_key):
        if (name := neighbor(config, port)) in order:
            seen[name].append(port)
    for port in ports:
        if port in up and (name := neighbor(config, port)) in order:
            yield (seen[name].index(port) + order[name]) % 2, port


def _link_batches(ports: Iterable[str], config: ConfigDb, up: frozenset[str]) -> Iterator[tuple[int, str]]:
    """As many links in a batch as may be out of service; first one link of each neighbor, then the next one."""
    hosts = hosts_of(config)
    by_neighbor: dict[str, list[str]] = defaultdict(list)
    for port in sorted(up, key=natural_key):
        if (name := neighbor(config, port)) and name not in hosts:
            by_neighbor[name].append(port)
    links = sorted(
        (links.index(port), natural_key(name), port) for name, links in by_neighbor.items() for port in links
    )
    most = max(1, math.floor(len(links) * (1 - KEPT_SHARE)))
    changed = set(ports)
    for number, (*_, port) in enumerate(one for one in links if one[-1] in changed):
        yield number // most, port
