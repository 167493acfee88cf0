"""IP addresses of configuration files as numbers. They must be cheap, because files contain hundreds of thousands."""

import socket
from functools import lru_cache
from typing import NamedTuple

_FOUR, _SIX = (4, socket.AF_INET, 32), (6, socket.AF_INET6, 128)  # version, family, width in bits
_FAMILY = {version: family for version, family, _ in (_FOUR, _SIX)}
WIDTH_BITS = {version: width for version, _, width in (_FOUR, _SIX)}
_new = tuple.__new__  # a third of the time of Address(...)


class Address(NamedTuple):
    """An address with its prefix length: 10.0.0.1/31 is (4, 0x0a000001, 31)."""

    version: int
    number: int
    length: int

    @property
    def ip(self) -> str:
        """'10.0.0.1'."""
        return socket.inet_ntop(_FAMILY[self.version], self.number.to_bytes(WIDTH_BITS[self.version] // 8, "big"))

    @property
    def host(self) -> "Address":
        """The address with full prefix length."""
        return _new(Address, (self.version, self.number, WIDTH_BITS[self.version]))

    @property
    def host_and_network(self) -> "tuple[Address, Address]":
        """`host` and `network`; one object if they are equal."""
        version, number, length = self
        width = WIDTH_BITS[version]
        host = self if length == width else _new(Address, (version, number, width))
        first = number >> width - length << width - length
        return host, host if length == width else _new(Address, (version, number if first == number else first, length))

    @property
    def last(self) -> int:
        """The highest number of the subnet."""
        return self.network.number | ((1 << (WIDTH_BITS[self.version] - self.length)) - 1)

    @property
    def network(self) -> "Address":
        """The subnet: host bits zero."""
        version, number, length = self
        shift = WIDTH_BITS[version] - length
        return _new(Address, (version, number >> shift << shift, length))

    def widened(self, length: int) -> "Address":
        """The subnet of another prefix length that contains this address."""
        shift = WIDTH_BITS[self.version] - length
        return _new(Address, (self.version, self.number >> shift << shift, length))

    def covers(self, other: "Address") -> bool:
        """Whether this prefix contains the other prefix."""
        shift = WIDTH_BITS[self.version] - self.length
        return (
            self.version == other.version
            and self.length <= other.length
            and self.number >> shift == other.number >> shift
        )

    def __str__(self) -> str:
        return f"{self.ip}/{self.length}"


def read_address(text: str) -> Address | None:
    """The address of a text such as '10.0.0.1/31', by default with full length; None for other texts."""
    host, slash, length = text.partition("/")
    version, family, width = _SIX if ":" in host else _FOUR
    try:
        number = int.from_bytes(socket.inet_pton(family, host), "big")
    except (OSError, ValueError):
        return None
    bits = width if not slash else int(length) if length.isdecimal() and len(length) <= 3 else -1
    return _new(Address, (version, number, bits)) if 0 <= bits <= width else None


parse_address = lru_cache(maxsize=1 << 16)(read_address)  # for texts that occur more than once


def is_ipv4(text: str) -> bool:
    """Whether a text is an IPv4 address without a prefix length."""
    address = None if "/" in text else parse_address(text)
    return address is not None and address.version == 4
