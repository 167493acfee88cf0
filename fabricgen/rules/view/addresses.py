"""The addresses of interfaces, parsed once, with the rows that contain them."""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from socket import AF_INET, inet_pton

IpInterface = IPv4Interface | IPv6Interface


@dataclass(frozen=True, slots=True)
class HeldAddress:
    """An address of a switch's interface."""

    table: str
    key: str
    interface: str
    value: IpInterface
    ip: IPv4Address | IPv6Address  # of `value`, which creates it on each access


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
    """The number of a dotted quad, twice as fast as ipaddress. Raises OSError for anything else."""
    return int.from_bytes(inet_pton(AF_INET, text), "big")
