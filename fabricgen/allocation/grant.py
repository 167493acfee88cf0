"""One pool given out to many: what each has already stays, what is missing is given, in each family of the pool."""

import enum
import ipaddress
from collections.abc import Iterable, Mapping

from fabricgen.allocation.pools import ADDRESS_OF, Network, run_of
from fabricgen.findings import Finding
from fabricgen.inventory.plane import PoolSpec
from fabricgen.inventory.references import error
from fabricgen.sonic.canonical import natural_key


class Form(enum.Enum):
    """How what is given is written."""

    ADDRESS = enum.auto()  # 10.0.0.1
    INTERFACE = enum.auto()  # 10.0.0.1/20, with the length of the pool
    PREFIX = enum.auto()  # 10.0.0.0/27


class Grant:
    """A pool and what is taken of it. `keep` are addresses and prefixes that are never given."""

    def __init__(self, pool: PoolSpec, what: str, form: Form = Form.ADDRESS, keep: Iterable[str] = ()) -> None:
        self.pool, self.what, self.form = pool, what, form
        networks = [ipaddress.ip_network(text) for text in valid_prefixes(pool)]
        self.networks: dict[int, Network] = {network.version: network for network in networks}
        self.runs = {version: run_of(network) for version, network in self.networks.items()}
        for version, network in self.networks.items():
            if form is not Form.PREFIX:
                self._keep_back(version, str(network.network_address))
                self._keep_back(version, str(network.broadcast_address))
            for text in [*pool.reserve, *keep]:
                self._keep_back(version, text)

    def fill(self, sizes: Mapping[str, int], given: dict[str, list[str]]) -> list[Finding]:
        """Give each key of `sizes` a run of that many addresses; other keys of `given` count as taken.

        A run that lies outside the pool, is too small or clashes with another is given up for a new one.
        """
        held: dict[str, dict[int, str]] = {}
        for key in sorted(given, key=lambda key: key not in sizes):
            for text in given[key]:
                version, first, last = self._bounds(text)
                fits = last - first + 1 >= sizes.get(key, 1)
                if version in self.runs and fits and self.runs[version].take(first, last):
                    held.setdefault(key, {})[version] = text
        findings = []
        for version, run in self.runs.items():
            for key in sorted((key for key in sizes if version not in held.get(key, {})), key=natural_key):
                first_free = run.give(sizes[key])
                if first_free is None:
                    findings.append(self._exhausted(self.networks[version], sizes))
                    break
                held.setdefault(key, {})[version] = self._text(version, first_free, sizes[key])
        for key in sizes:
            if key in held:
                given[key] = [held[key][version] for version in self.runs if version in held[key]]
        return findings

    def _bounds(self, text: str) -> tuple[int, int, int]:
        if self.form is Form.PREFIX:
            network = ipaddress.ip_network(text, strict=False)
            return network.version, int(network.network_address), int(network.broadcast_address)
        address = ipaddress.ip_interface(text).ip
        return address.version, int(address), int(address)

    def _text(self, version: int, first: int, size: int) -> str:
        address = str(ADDRESS_OF[version](first))
        if self.form is Form.PREFIX:
            return f"{address}/{self.networks[version].max_prefixlen - size.bit_length() + 1}"
        return f"{address}/{self.networks[version].prefixlen}" if self.form is Form.INTERFACE else address

    def _keep_back(self, version: int, text: str) -> None:
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError:
            return  # a host name, or reported by the inventory
        run = self.runs[version]
        first, last = int(network.network_address), int(network.broadcast_address)
        if network.version == version and last >= run.first and first <= run.last:
            run.block(max(first, run.first), min(last, run.last))

    def _exhausted(self, network: Network, sizes: Mapping[str, int]) -> Finding:
        needed, largest = sum(sizes.values()), max(sizes.values())
        each = f"{len(sizes)} x {largest} = {needed}" if largest > 1 else str(needed)
        has = network.num_addresses
        message = f"pool {network} for {self.what} is exhausted: {each} addresses are needed, it has {has}"
        hint = "a larger prefix"
        if needed <= has:
            hint += ", or fewer reserved parts; what the lock file keeps for switches that are gone counts, too"
        return error("FG381", message, self.pool, hint=hint)


def valid_prefixes(pool: PoolSpec) -> list[str]:
    """The prefixes that can be read; the inventory has reported the others."""
    found = []
    for text in pool.prefixes:
        try:
            ipaddress.ip_network(text)
        except ValueError:
            continue
        found.append(text)
    return found
