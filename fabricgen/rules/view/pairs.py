"""The pairs of leaves (MCLAG) for rules: the two switches with their domains."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.engine.derived import derived
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.mclag import MclagDomain, mclag_domain, mclag_peers


@dataclass(frozen=True, slots=True)
class Half:
    """One leaf of a pair, with its domain and the other leaf."""

    switch: Switch
    domain: MclagDomain
    peer: Switch
    peer_domain: MclagDomain


@derived
def mclag_domains(fabric: Fabric) -> Mapping[str, MclagDomain]:
    """Switch -> its domain, for those that have one."""
    found = ((name, mclag_domain(switch.device.config)) for name, switch in fabric.switches.items())
    return {name: domain for name, domain in found if domain}


@derived
def halves(fabric: Fabric) -> Mapping[str, Half]:
    """Switch -> its half of a pair, where both leaves name each other; FG682 reports the others."""
    domains = mclag_domains(fabric)
    return {
        name: Half(fabric.switches[name], domains[name], fabric.switches[peer], domains[peer])
        for name, peer in sorted(mclag_peers(domains).items(), key=lambda one: natural_key(one[0]))
    }


def is_dual(fabric: Fabric, channel: str, first: Switch, second: Switch) -> bool:
    """Whether a port channel is one system for LACP at two switches."""
    half = halves(fabric).get(first.name)
    shared = half is not None and channel in half.domain.channels and channel in half.peer_domain.channels
    return bool(half and half.peer is second and shared)
