"""One pool of addresses for many keys: each keeps what it has, and new ones get free addresses of each family."""

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from netaddr import AddrFormatError, IPAddress, IPNetwork, IPSet

from fabricgen.allocation.pools import address_pool
from fabricgen.findings import Finding
from fabricgen.inventory.plane import PoolSpec
from fabricgen.inventory.prefixes import networks
from fabricgen.inventory.references import error
from fabricgen.sonic.canonical import natural_key

Version = Literal[4, 6]


class Form(enum.Enum):
    """How a given address is written."""

    ADDRESS = enum.auto()  # 10.0.0.1
    INTERFACE = enum.auto()  # 10.0.0.1/20, with the length of the pool
    PREFIX = enum.auto()  # 10.0.0.0/27


class Grant:
    """A pool of addresses and its free parts. Addresses and prefixes in `reserved` are never given."""

    def __init__(self, pool: PoolSpec, purpose: str, form: Form = Form.ADDRESS, reserved: Iterable[str] = ()) -> None:
        self.pool, self.purpose, self.form = pool, purpose, form
        self.networks: dict[Version, IPNetwork] = {
            network.version: IPNetwork(str(network)) for network in networks(pool.prefixes)
        }
        kept = IPSet(_readable([*pool.reserve, *reserved]))
        if form is not Form.PREFIX:
            for network in self.networks.values():
                kept.add(IPAddress(network.first, network.version))
                kept.add(IPAddress(network.last, network.version))
        self.free = {version: address_pool(network, kept) for version, network in self.networks.items()}

    def fill(self, sizes: Mapping[str, int], given: dict[str, list[str]]) -> list[Finding]:
        """Give each key of `sizes` a run of that many addresses; what other keys of `given` have is not free.

        A key gets a new run if its own lies outside the pool, is too small or overlaps another.
        """
        held: dict[str, dict[Version, str]] = {}
        for key in sorted(given, key=lambda key: key not in sizes):
            for text in given[key]:
                network = IPNetwork(text)
                version = network.version
                address = int(network.ip)
                first, last = (network.first, network.last) if self.form is Form.PREFIX else (address, address)
                fits = last - first + 1 >= sizes.get(key, 1)
                if version in self.free and fits and self.free[version].take(first, last):
                    held.setdefault(key, {})[version] = text
        findings = []
        for version, free in self.free.items():
            for key in sorted((key for key in sizes if version not in held.get(key, {})), key=natural_key):
                first_free = free.give(sizes[key])
                if first_free is None:
                    findings.append(self._exhausted(self.networks[version], sizes))
                    break
                held.setdefault(key, {})[version] = self._text(version, first_free, sizes[key])
        for key in sizes:
            if key in held:
                given[key] = [held[key][version] for version in self.free if version in held[key]]
        return findings

    def _text(self, version: Version, first: int, size: int) -> str:
        address, pool = IPAddress(first, version), self.networks[version]
        if self.form is Form.PREFIX:
            return f"{address}/{pool.prefixlen + (pool.size // size).bit_length() - 1}"
        return f"{address}/{pool.prefixlen}" if self.form is Form.INTERFACE else str(address)

    def _exhausted(self, network: IPNetwork, sizes: Mapping[str, int]) -> Finding:
        needed, largest = sum(sizes.values()), max(sizes.values())
        each = f"{len(sizes)} x {largest} = {needed}" if largest > 1 else str(needed)
        message = f"pool {network} for {self.purpose} is exhausted: {each} addresses are needed, it has {network.size}"
        hint = "give the pool a larger prefix"
        if needed <= network.size:
            hint += ", or reserve fewer addresses; the lock file also keeps the addresses of removed switches"
        return error("FG381", message, self.pool, hint=hint)


def _readable(texts: Iterable[str]) -> Iterator[IPNetwork]:
    """The texts that are addresses or prefixes: servers may have host names, and the inventory reports mistakes."""
    for text in texts:
        try:
            yield IPNetwork(text).cidr
        except AddrFormatError:
            continue
