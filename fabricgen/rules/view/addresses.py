"""The addresses of interfaces, parsed once, with the rows that contain them."""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface
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


class _Interface(IPv4Interface):
    """An IPv4 address whose network is made when it is used, and is shared by both ends of a link. A fabric has half a
    million addresses, and the objects that the base class adds to each take ten times its memory."""

    def __init__(self, number: int, length: int) -> None:
        IPv4Address.__init__(self, number)
        if not 0 <= length <= self.max_prefixlen:
            raise ValueError(f"/{length} is not a prefix length")
        self._prefixlen = length

    @property
    def network(self) -> IPv4Network:  # type: ignore[override]
        """The network of the address."""
        mask = (1 << self.max_prefixlen) - (1 << (self.max_prefixlen - self._prefixlen))
        return _network(int(self) & mask, self._prefixlen)

    @property
    def netmask(self) -> IPv4Address:  # type: ignore[override]
        """The mask of the network."""
        return self.network.netmask

    @property
    def hostmask(self) -> IPv4Address:
        """The inverse mask of the network."""
        return self.network.hostmask


@lru_cache(maxsize=1 << 16)
def _network(number: int, length: int) -> IPv4Network:
    return IPv4Network((number, length))


@lru_cache(maxsize=1 << 17)
def parse_interface(text: str) -> IpInterface | None:
    """'10.0.0.0/31' as an interface address; None for anything else."""
    try:
        if ":" in text:
            return IPv6Interface(text)
        address, _, length = text.partition("/")
        return _Interface(_ipv4_number(address), int(length) if length else 32)
    except (OSError, ValueError):
        return None


def _ipv4_number(text: str) -> int:
    """The number of a dotted quad, twice as fast as ipaddress. Raises OSError for anything else."""
    return int.from_bytes(inet_pton(AF_INET, text), "big")
