"""What to change to remove a cycle."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Place, Related
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.simulate.deadlock.core.tiers import tiers
from fabricgen.sonic.image import allowas_in, metadata, text, uses_frr_framework

ASN = ("DEVICE_METADATA", "localhost", "bgp_asn")
FRAMEWORK_ASN = ("BGP_GLOBALS", "default", "local_asn")


def remedy(bundle: Bundle, fabric: RoutedFabric, sources: NDArray[np.bool_], links: Sequence[int]) -> str:
    """Advice on the ASN plan, or on local repair if the ASN plan allows no such route, for the switches where the cycle
    goes down and then up again."""
    turns = _turns(fabric, sources, links)
    if not turns:
        return (
            "build the fabric in tiers, so that paths go up and then down, or filter transit routes on one of these "
            "sessions: this cycle is not caused by traffic that goes down and up again"
        )
    upper = sorted({switch for u, _, w in turns for switch in (u, w)})
    names = [fabric.names[switch] for switch in upper]
    lenient = [name for name in names if _allows_own_asn(bundle, name)]
    valleys = ", ".join(sorted({fabric.names[v] for _, v, _ in turns}))
    if lenient:
        kinds = ", ".join(f"{name} ({_kind(bundle, name)})" for name in lenient)
        return (
            "above the leaves, set DEVICE_METADATA type to LeafRouter or SpineRouter and BGP_BBR all status to "
            f"disabled: {kinds} accept paths with their own ASN and so send traffic down to {valleys} and up again"
        )
    if all(fabric.policy.asn[u] == fabric.policy.asn[w] for u, _, w in turns):
        return (
            "disable local repair on the switches above, or move traffic that turned around to another priority "
            f"(Tagger): only local repair sends traffic down to {valleys} and up again, the loop check of BGP does not"
        )
    plan = ", ".join(f"{name} (ASN {fabric.policy.asn[switch]})" for name, switch in zip(names, upper, strict=True))
    return (
        "give the switches of this tier one ASN (RFC 7938), so that the loop check refuses such paths: traffic goes "
        f"down to {valleys} and up again, because {plan} accept each other's routes"
    )


def asn_rows(
    bundle: Bundle, fabric: RoutedFabric, sources: NDArray[np.bool_], links: Sequence[int]
) -> Iterator[Related]:
    """The rows with the ASNs of the switches above the turns, if the ASNs differ: one of them may be the cause."""
    upper = sorted({switch for u, _, w in _turns(fabric, sources, links) for switch in (u, w)})
    asns = {switch: fabric.policy.asn[switch] for switch in upper}
    for switch in upper if len(set(asns.values())) > 1 else ():
        device = bundle.devices[fabric.names[switch]]
        row = FRAMEWORK_ASN if uses_frr_framework(device.config) else ASN
        text_of = f"{device.name} has ASN {asns[switch]}"
        yield Related(text_of, device.locate(*row), device.name, Place(*row))


def _turns(fabric: RoutedFabric, sources: NDArray[np.bool_], links: Sequence[int]) -> list[tuple[int, int, int]]:
    """(switch above, switch, switch above) where the cycle goes down and then up again."""
    network = fabric.network
    level, around = tiers(network, sources), pairwise([*links, links[0]])
    through = [(int(network.source[a]), int(network.target[a]), int(network.target[b])) for a, b in around]
    return [(u, v, w) for u, v, w in through if level[v] < min(level[u], level[w])]


def _allows_own_asn(bundle: Bundle, name: str) -> bool:
    config = bundle.devices[name].config
    return not uses_frr_framework(config) and allowas_in(config) > 0


def _kind(bundle: Bundle, name: str) -> str:
    return text(metadata(bundle.devices[name].config), "type")
