"""MCLAG in CONFIG_DB: the domain of a switch, its peer link, and the port channels that it shares with its peer.

Source: sonic-swss mclagsyncd/mclaglink.cpp (the rows that reach iccpd); sonic-buildimage src/iccpd src/iccp_csm.c
(messages of another icc_rg_id, which is the domain, are refused), src/scheduler.c (a TCP session from source_ip to
peer_ip).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import ConfigDb, split_key

DOMAINS, INTERFACES, UNIQUE = "MCLAG_DOMAIN", "MCLAG_INTERFACE", "MCLAG_UNIQUE_IP"
CONTAINER = "iccpd"


@dataclass(frozen=True)
class MclagDomain:
    """The domain of a switch, which has at most one. `source` and `peer` are the addresses of its ICCP session,
    `peer_link` a port or port channel, `channels` the port channels that both leaves have, and `unique` the VLANs with
    different addresses on the two leaves. Texts are "" where a field is missing."""

    number: str
    source: str
    peer: str
    peer_link: str
    channels: tuple[str, ...]
    unique: frozenset[str]


def mclag_domain(config: ConfigDb) -> MclagDomain | None:
    """The MCLAG domain of a switch; None without one."""
    for number, row in rows(config, DOMAINS).items():
        keys = [key for key in map(split_key, rows(config, INTERFACES)) if len(key) == 2]
        channels = tuple(key[1] for key in keys if key[0] == number)
        unique = {vlan for vlan, each in rows(config, UNIQUE).items() if text(each, "unique_ip") == "enable"}
        source, peer, link = (text(row, name) for name in ("source_ip", "peer_ip", "peer_link"))
        return MclagDomain(number, source, peer, link, channels, frozenset(unique))
    return None


def mclag_peers(domains: Mapping[str, MclagDomain]) -> dict[str, str]:
    """Switch -> its peer, where both name the addresses of each other, and one domain."""
    of_session = {(one.number, one.source, one.peer): name for name, one in domains.items() if one.source}
    found = {}
    for name, one in domains.items():
        other = of_session.get((one.number, one.peer, one.source))
        if other and other != name:
            found[name] = other
    return {name: other for name, other in found.items() if found.get(other) == name}
