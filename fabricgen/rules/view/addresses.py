"""The addresses of interfaces, parsed once, with the rows that contain them."""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from operator import attrgetter
from socket import AF_INET, inet_ntop, inet_pton
from sys import intern
from typing import NamedTuple, TypeVar

IpInterface = IPv4Interface | IPv6Interface


class HeldAddress(NamedTuple):
    """An address of a switch's interface, as numbers: a fabric has half a million of them."""

    table: str
    key: str
    interface: str
    version: int
    number: int
    length: int

    @property
    def value(self) -> IpInterface:
        """The address as an object, for texts and rare cases."""
        found = parse_interface(self.key.partition("|")[2])
        assert found is not None
        return found

    @property
    def ip(self) -> IPv4Address | IPv6Address:
        """The address without its prefix length, as an object."""
        return self.value.ip

    @property
    def host(self) -> tuple[int, int]:
        """(version, number): the address without its prefix length."""
        return self.version, self.number

    @property
    def text(self) -> str:
        """The address without its prefix length, as `str(ip)`."""
        return self.key[len(self.interface) + 1 :].partition("/")[0] if self.version == 4 else str(self.ip)

    @property
    def host_bits(self) -> int:
        """The number of bits after the prefix."""
        return (32 if self.version == 4 else 128) - self.length

    def leads_to(self, address: IpInterface) -> bool:
        """Whether it is another address in the same subnet as that of a host."""
        difference = self.number ^ int(address)
        return (
            difference != 0
            and self.length == _length(address)
            and self.version == address.version
            and difference >> self.host_bits == 0
        )

    def is_inside(self, network: IPv4Network | IPv6Network) -> bool:
        """Whether its subnet is a network or a part of it."""
        length = network.prefixlen
        if self.version != network.version or self.length < length:
            return False
        return (self.number ^ int(network.network_address)) >> (network.max_prefixlen - length) == 0

    def is_beside(self, other: "HeldAddress") -> bool:
        """Whether it is another address in the same subnet."""
        difference = self.number ^ other.number
        return (
            difference != 0
            and self.length == other.length
            and self.version == other.version
            and difference >> self.host_bits == 0
        )


_new = tuple.__new__  # a third of the time of the constructor
HOST = attrgetter("version", "number")  # `HeldAddress.host`, for calls on all addresses


def held_address(table: str, key: str) -> HeldAddress | None:
    """The address in a key such as Ethernet0|10.0.0.0/31; None for a key without one."""
    interface, _, prefix = key.partition("|")
    interface = intern(interface)  # many switches have ports of one name
    if ":" in prefix:
        value = parse_interface(prefix)
        return HeldAddress(table, key, interface, 6, int(value), _length(value)) if value else None
    address, _, length = prefix.partition("/")
    try:
        number, bits = int.from_bytes(inet_pton(AF_INET, address), "big"), int(length) if length else 32
    except (OSError, ValueError):
        return None
    return _new(HeldAddress, (table, key, interface, 4, number, bits)) if 0 <= bits <= 32 else None


class _Interface(IPv4Interface):
    """An IPv4 address whose network is made when it is used, and is shared by both ends of a link. A fabric has half a
    million addresses, and the objects that the base class adds to each take ten times its memory."""

    def __init__(self, number: int, length: int) -> None:
        IPv4Address.__init__(self, number)
        if not 0 <= length <= self.max_prefixlen:
            raise ValueError(f"/{length} is not a prefix length")
        self._prefixlen = length

    @property
    def length(self) -> int:
        """The length of the prefix."""
        return self._prefixlen

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


def _length(address: IpInterface) -> int:
    return address.length if isinstance(address, _Interface) else address.network.prefixlen


def texts_of(address: IpInterface) -> tuple[str, str]:
    """The address and its network as `str` writes them, for IPv4 in a fifth of the time: a fabric has a hundred
    thousand addresses of hosts."""
    if not isinstance(address, _Interface):
        return str(address.ip), str(address.network)
    number, shift = int(address), address.max_prefixlen - address.length
    first = (number >> shift << shift).to_bytes(4, "big")
    return inet_ntop(AF_INET, number.to_bytes(4, "big")), f"{inet_ntop(AF_INET, first)}/{address.length}"


@lru_cache(maxsize=1 << 12)
def _network(number: int, length: int) -> IPv4Network:
    return _without_cycle(IPv4Network((number, length)))


N = TypeVar("N", IPv4Network, IPv6Network)


def _without_cycle(network: N) -> N:
    """The network without its own `hosts`, which refers back to it: only the garbage collector, which is off, would
    free it."""
    vars(network).pop("hosts", None)
    return network


@lru_cache(maxsize=1 << 14)
def parse_interface(text: str) -> IpInterface | None:
    """'10.0.0.0/31' as an interface address; None for anything else."""
    try:
        if ":" in text:
            six = IPv6Interface(text)
            _without_cycle(six.network)
            return six
        address, _, length = text.partition("/")
        return _Interface(_ipv4_number(address), int(length) if length else 32)
    except (OSError, ValueError):
        return None


def _ipv4_number(text: str) -> int:
    """The number of a dotted quad, twice as fast as ipaddress. Raises OSError for anything else."""
    return int.from_bytes(inet_pton(AF_INET, text), "big")
