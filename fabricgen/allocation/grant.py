"""One pool of addresses for many keys: each keeps what it has, and new ones get free addresses of each family."""

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from netaddr import AddrFormatError, IPAddress, IPNetwork, IPSet

from fabricgen.allocation.pools import address_pool
from fabricgen.allocation.refusals import Refused
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.prefixes import networks
from fabricgen.inventory.routing import PoolSpec
from fabricgen.sonic.canonical import natural_key

Version = Literal[4, 6]


class AddressForm(enum.Enum):
    """How a given address is written."""

    ADDRESS = enum.auto()  # 10.0.0.1
    INTERFACE = enum.auto()  # 10.0.0.1/20, with the length of the pool
    PREFIX = enum.auto()  # 10.0.0.0/27


class Grant:
    """A pool of addresses and its free parts. Addresses and prefixes in `reserved` are never given."""

    def __init__(
        self, pool: PoolSpec, purpose: str, form: AddressForm = AddressForm.ADDRESS, reserved: Iterable[str] = ()
    ) -> None:
        self.pool, self.purpose, self.form = pool, purpose, form
        self.networks: dict[Version, IPNetwork] = {
            network.version: IPNetwork(str(network)) for network in networks(pool.prefixes)
        }
        kept = IPSet(_readable([*pool.reserve, *reserved]))
        if form is not AddressForm.PREFIX:
            for network in self.networks.values():
                kept.add(IPAddress(network.first, network.version))
                kept.add(IPAddress(network.last, network.version))
        self.refused: list[Refused] = []
        self._owners: list[tuple[Version, int, int, str]] = []
        self.free = {version: address_pool(network, kept) for version, network in self.networks.items()}

    def fill(self, sizes: Mapping[str, int], given: dict[str, list[str]]) -> list[Finding]:
        """Give each key of `sizes` a run of that many addresses; what other keys of `given` have is not free.

        A key gets a new run if its own is too small. What lies outside the pool or overlaps another is refused.
        """
        held: dict[str, dict[Version, str]] = {}
        for key in sorted(given, key=lambda key: key not in sizes):
            for text in given[key]:
                network = IPNetwork(text)
                version = network.version
                address = int(network.ip)
                first, last = (network.first, network.last) if self.form is AddressForm.PREFIX else (address, address)
                if version in self.free and self.free[version].take(first, last):
                    if last - first + 1 >= sizes.get(key, 1):
                        held.setdefault(key, {})[version] = self._in_form(version, text)
                        self._owners.append((version, first, last, key))
                elif key in sizes:
                    self.refused.append(self._refusal(key, text, version, first, last))
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

    def _in_form(self, version: Version, text: str) -> str:
        """An address as it is given: with the prefix length of the pool, which may have grown."""
        length = self.networks[version].prefixlen
        return f"{text.partition('/')[0]}/{length}" if self.form is AddressForm.INTERFACE else text

    def _refusal(self, key: str, text: str, version: Version, first: int, last: int) -> Refused:
        section = "blocks" if self.form is AddressForm.PREFIX else self.purpose
        pool = self.networks.get(version)
        if pool is None:
            reason = f"is of IPv{version}, and the pool has no prefix of it"
        elif first < pool.first or last > pool.last:
            reason = f"is outside the pool {pool} for {self.purpose}"
        else:
            taken = ((low, high, owner) for other, low, high, owner in self._owners if other == version)
            twin = next((owner for low, high, owner in taken if low <= last and first <= high), "")
            if twin:
                return Refused(section, key, text, "", (self.pool, ""), twin)
            reason = f"the pool {pool} for {self.purpose} never gives: it is reserved, or in use outside the fabric"
        return Refused(section, key, text, reason, (self.pool, ""))

    def _text(self, version: Version, first: int, size: int) -> str:
        address, pool = IPAddress(first, version), self.networks[version]
        if self.form is AddressForm.PREFIX:
            return f"{address}/{pool.prefixlen + (pool.size // size).bit_length() - 1}"
        return f"{address}/{pool.prefixlen}" if self.form is AddressForm.INTERFACE else str(address)

    def _exhausted(self, network: IPNetwork, sizes: Mapping[str, int]) -> Finding:
        needed, largest = sum(sizes.values()), max(sizes.values())
        each = f"{len(sizes)} x {largest} = {needed}" if largest > 1 else str(needed)
        message = f"pool {network} for {self.purpose} is exhausted: {each} addresses are needed, it has {network.size}"
        hint = f"give `{self.pool.path}` a larger prefix"
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
