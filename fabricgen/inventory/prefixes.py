"""Prefixes that people write, as networks of the standard library."""

import ipaddress
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def read_prefix(text: str) -> Network | str:
    """The network, or the reason why the text is not a prefix."""
    try:
        return ipaddress.ip_network(text)
    except ValueError as problem:
        return str(problem)


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """The texts that are prefixes; the checks of the inventory report the others."""
    return tuple(network for text in texts if isinstance(network := read_prefix(text), Network))


def contains(wide: Network, narrow: Network) -> bool:
    """Whether all addresses of `narrow` are in `wide`."""
    return wide.version == narrow.version and narrow.subnet_of(wide)  # type: ignore[arg-type]
