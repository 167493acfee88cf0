"""Addresses as the rules see them: parsed once, with the row that holds them."""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from socket import AF_INET, inet_pton

IpInterface = IPv4Interface | IPv6Interface


@dataclass(frozen=True, slots=True)
class HeldAddress:
    """An address that a switch's interface holds."""

    table: str
    key: str
    interface: str
    value: IpInterface
    ip: IPv4Address | IPv6Address  # of `value`, which would make it anew each time


@lru_cache(maxsize=1 << 17)
def parse_interface(text: str) -> IpInterface | None:
    """'10.0.0.0/31' as an interface address; None for anything else."""
    try:
        if ":" in text:
            return IPv6Interface(text)
        address, _, length = text.partition("/")
        return IPv4Interface((_ipv4_number(address), int(length) if length else 32))
    except (OSError, ValueError):
        return None


def _ipv4_number(text: str) -> int:
    """The number of a dotted quad, in half the time that ipaddress takes. Raises OSError for anything else."""
    return int.from_bytes(inet_pton(AF_INET, text), "big")
