"""The hosts of a plane: the switches that they send from, and the destinations that they send to."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.fallback import covering
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import Speaker
from fabricgen.vocabulary import LinkKind


@dataclass(frozen=True)
class HostTraffic:
    """`sources[u]`: switch u connects hosts or an external device. `columns` are the destinations of packets, `witness`
    one prefix of each: first the `host_columns` destinations of hosts, then shorter prefixes around them, which
    switches fall back to. `complete` is False if a switch with hosts announces no prefix that covers them."""

    sources: NDArray[np.bool_]
    columns: NDArray[np.int64]
    witness: tuple[str, ...]
    host_columns: int
    complete: bool


def host_traffic(bundle: Bundle, fabric: RoutedFabric) -> HostTraffic:
    """Traffic between all hosts. Without any known host, every switch and every prefix counts."""
    at = bundle.link_at
    subnets = {name: _host_subnets(bundle, fabric, number, at) for number, name in enumerate(fabric.names)}
    if not any(subnets.values()):
        everything = np.arange(len(fabric.destinations))
        first = tuple(one.prefixes[0] for one in fabric.destinations)
        return HostTraffic(np.ones(len(fabric.names), bool), everything, first, len(everything), complete=True)
    covered: dict[int, set[Address]] = {index: set() for index in range(len(fabric.names))}
    columns, witness = [], []
    for column, destination in enumerate(fabric.destinations):
        found = ""
        for prefix in destination.prefixes:
            network = parse_address(prefix)
            for switch in destination.origins:
                # a default route does not announce hosts
                inside = [
                    one for one in subnets[fabric.names[switch]] if network and network.length and network.covers(one)
                ]
                covered[switch].update(inside)
                found = found or (prefix if inside else "")
        if found:
            columns.append(column)
            witness.append(found)
    seen = set(columns)
    complete = all(covered[index] == set(subnets[name]) for index, name in enumerate(fabric.names))
    border = {switch for switch, _ in bundle.external_at}
    sources = np.array([bool(subnets[name]) or name in border for name in fabric.names], bool)
    hosts = len(columns)
    around = covering(fabric.destinations)
    for column in columns:  # the list grows here: prefixes around the added ones count as well
        for other in around[column]:
            if other not in seen:
                seen.add(other)
                columns.append(other)
                witness.append(fabric.destinations[other].prefixes[0])
    return HostTraffic(sources, np.array(columns, np.int64), tuple(witness), hosts, complete)


def _host_subnets(
    bundle: Bundle, fabric: RoutedFabric, switch: int, link_at: Mapping[Endpoint, WiredLink]
) -> list[Address]:
    """The subnets of ports towards hosts; of ports in a VRF with an L3 VNI, the address of the VTEP. Without a known
    cable these are VLANs and routed ports without a BGP neighbor."""
    name, addresses = fabric.names[switch], fabric.spoken.addresses
    neighbors = cache(lambda: _neighbor_numbers(fabric.spoken.speakers[name]))
    found = []
    for row in addresses.rows_of(switch):
        link = link_at.get((name, addresses.interface[row]))
        if link is not None and link.a[0] in bundle.devices and link.b[0] in bundle.devices:
            continue
        table, _, _, _, network, _, vrf = addresses.row(row)
        vtep = fabric.spoken.vteps.get((name, vrf))
        if table == "LOOPBACK_INTERFACE" or (vrf and vtep is None):
            continue
        if link is None or link.kind == "peer":
            numbers = neighbors()[network.version]
            first = bisect_left(numbers, network.number)
            to_host = first == len(numbers) or numbers[first] > network.last
        else:
            to_host = link.kind == LinkKind.HOST_LEAF
        if to_host:
            found.append(vtep or network)
    return found


def _neighbor_numbers(speaker: Speaker) -> dict[int, list[int]]:
    numbers: dict[int, list[int]] = {4: [], 6: []}
    for neighbor in speaker.neighbors:
        if neighbor.peer:
            numbers[neighbor.peer.version].append(neighbor.peer.number)
    return {version: sorted(found) for version, found in numbers.items()}
