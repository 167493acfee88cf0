"""Names, ASNs and addresses of an existing fabric, from a CSV table into the lock file.

A row without `port` is about a switch; a row with `port` has the addresses of one end of a link. Every row that cannot
be used is reported at its line, and so is what does not fit the pools of the inventory.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_address, ip_interface

from fabricgen.allocation.allocate import allocate
from fabricgen.allocation.lock import EntryKey, Lock
from fabricgen.allocation.pools import block_size
from fabricgen.design.model import Fabric, Link, Switch
from fabricgen.findings import Finding, Location
from fabricgen.inventory.mistakes import suggest
from fabricgen.inventory.tables import Report, Row, read_rows
from fabricgen.inventory.values import NAME
from fabricgen.units import whole_number

COLUMNS = ("device", "identity", "asn", "loopback", "management", "port", "address")
_OF_SWITCHES = ("identity", "asn", "loopback", "management")
_LENGTHS = {4: 31, 6: 127}

Interface = IPv4Interface | IPv6Interface


@dataclass
class Imported:
    """The new lock, complete for the fabric, and the findings. `entries` counts those that the table gives."""

    lock: Lock
    findings: list[Finding]
    entries: Mapping[str, int] = field(default_factory=dict)


def import_table(fabric: Fabric, lock: Lock | None, name: str, text: str) -> Imported:
    """The lock of a fabric with the entries of a table; with an error it must not be written.

    Raises UnreadableInputError for a text that is not CSV.
    """
    findings: list[Finding] = []
    rows, report = read_rows(name, text, COLUMNS, findings)
    if not (rows or findings):
        hint = f"write a row for each switch, with {', '.join(COLUMNS)}"
        report("FG106", "the table has no row", Location(name, 1, 1), hint)
    table = _Table(fabric, deepcopy(lock) if lock else Lock(fabric.inventory.fabric), report)
    table.read(rows)
    if not findings:
        _, new, found = allocate(fabric, table.lock)
        findings += [_at_row(one, name, table.places) for one in found]
        given = [section for section, _ in table.places]
        return Imported(new, findings, {section: given.count(section) for section in dict.fromkeys(given)})
    return Imported(table.lock, findings)


def _at_row(finding: Finding, table: str, places: Mapping[EntryKey, Location]) -> Finding:
    """A finding about an entry of the lock at the row that gives it."""
    section, _, key = finding.path.partition(".")
    place = places.get((section, key))
    if place is None:
        return finding
    related = tuple(
        replace(one, location=places.get((section, one.message.split(" has ")[0]), one.location))
        for one in finding.related
    )
    hint = f"correct the row of {table}, or the pool in the inventory"
    return replace(finding, location=place, related=related, hint=hint)


class _Table:
    """Fills the lock from rows."""

    def __init__(self, fabric: Fabric, lock: Lock, report: Report) -> None:
        self.fabric, self.lock, self.report = fabric, lock, report
        self.places: dict[EntryKey, Location] = {}
        self.switches = {switch.key: switch for switch in fabric.switches}
        names = allocate(fabric, lock)[0].names
        self.named = {name: self.switches[key] for key, name in names.items()}
        self.at: dict[tuple[str, str], Link] = {}
        for link in fabric.links:
            self.at[link.b.key, link.b_port] = link
            if isinstance(link.a, Switch):
                self.at[link.a.key, link.a_port] = link

    def read(self, rows: Sequence[Row]) -> None:
        """Fill the lock. Rows with an identity name switches, so they come first."""
        of_ports: list[tuple[Location, Switch, str, dict[str, str]]] = []
        for place, cells in sorted(rows, key=lambda row: "identity" not in row[1]):
            switch = self._switch(place, cells)
            if switch is not None and "port" in cells:
                of_ports.append((place, switch, cells["port"], cells))
            elif switch is not None:
                self._read_switch(place, switch, cells)
        hosts: dict[str, list[tuple[Location, Link, Interface]]] = defaultdict(list)
        for place, switch, port, cells in of_ports:
            self._read_port(place, switch, port, cells, hosts)
        for key, ends in hosts.items():
            self._host_block(key, ends)

    def _switch(self, place: Location, cells: Mapping[str, str]) -> Switch | None:
        if "device" not in cells:
            self.report("FG106", "the row has no device", place, "write the name or the identity of a switch")
            return None
        name, identity = cells["device"], cells.get("identity")
        if identity is not None:
            if identity not in self.switches:
                hint = suggest(identity, sorted(self.switches))
                self.report("FG107", f"the identity {identity!r} does not exist", place, hint)
                return None
            if not NAME.fullmatch(name):
                hint = "use letters, digits, - _ . with a letter or digit first, at most 63"
                self.report("FG105", f"{name!r} is not a name", place, hint)
                return None
            self._give("names", identity, name, place)
            self.named[name] = self.switches[identity]
        found = self.switches.get(name) or self.named.get(name)
        if found is None:
            hint = f"{suggest(name, sorted(self.named))}; a switch with another name needs the column `identity`"
            self.report("FG107", f"the device {name!r} does not exist", place, hint)
        return found

    def _read_switch(self, place: Location, switch: Switch, cells: Mapping[str, str]) -> None:
        if not cells.keys() & set(_OF_SWITCHES):
            hint = f"fill one of {', '.join(_OF_SWITCHES)}, or `port` and `address`"
            self.report("FG106", "the row gives nothing to keep", place, hint)
        if "address" in cells:
            self.report("FG106", "the address has no port", place, "fill the column `port`")
        if "asn" in cells:
            asn = whole_number(cells["asn"])
            if asn is None or not 0 < asn < 1 << 32:
                self.report("FG105", f"{cells['asn']!r} is not an ASN", place, "write a number from 1 to 4294967295")
            else:
                self._give("asns", switch.asn_owner, asn, place)
        for column, section in (("loopback", "loopbacks"), ("management", "management")):
            if column in cells and (texts := self._addresses(place, cells[column], section == "management")):
                self._give(section, switch.key, texts, place)

    def _addresses(self, place: Location, cell: str, with_length: bool) -> list[str]:
        """The addresses of a cell, at most one of each family; empty after a report."""
        found: list[str] = []
        for text in cell.split():
            try:
                one = ip_interface(text) if with_length else ip_address(text.removesuffix("/32").removesuffix("/128"))
            except ValueError:
                form = "address/length" if with_length else "an address without a length"
                self.report("FG105", f"{text!r} is not an address", place, f"write {form}")
                return []
            found.append(str(one))
        if len({":" in text for text in found}) < len(found):
            self.report(
                "FG105", f"{cell!r} has two addresses of one family", place, "give one IPv4 and one IPv6 address"
            )
            return []
        return found

    def _read_port(
        self, place: Location, switch: Switch, port: str, cells: Mapping[str, str],
        hosts: dict[str, list[tuple[Location, Link, Interface]]],
    ) -> None:  # fmt: skip
        for column in (column for column in _OF_SWITCHES if column in cells and column != "identity"):
            self.report(
                "FG105", f"a row with a port has no {column}", place, "write a row without `port` for the switch"
            )
        link = self.at.get((switch.key, port))
        if link is None:
            known = [known for key, known in self.at if key == switch.key]
            self.report("FG131", f"{cells['device']} has no link at port {port!r}", place, suggest(port, known))
            return
        texts = self._addresses(place, cells.get("address", ""), True)
        if not cells.get("address"):
            self.report("FG106", "the port has no address", place, "fill the column `address`")
        for one in map(ip_interface, texts):
            if "/" in cells["address"] and one.network.prefixlen != _LENGTHS[one.version]:
                hint = f"fabricgen gives links a /{_LENGTHS[one.version]}; keep another length by `overrides`"
                self.report("FG135", f"{one} is not a /{_LENGTHS[one.version]}", place, hint)
                return
        if not link.pool_is_links:
            hosts[link.block.key] += [(place, link, ip_interface(text)) for text in texts]
        elif texts:
            lower = [str(_other(one) if switch is link.b else _point(one)) for one in map(ip_interface, texts)]
            self._give("blocks", link.key, lower, place)

    def _host_block(self, key: str, ends: Sequence[tuple[Location, Link, Interface]]) -> None:
        """The block of a leaf's host ports: the subnets are consecutive in the order of the ports."""
        firsts: dict[int, int] = {}
        size = block_size(ends[0][1].block.slots)
        for place, link, one in ends:
            first = int(one.ip) - 2 * link.slot
            known = firsts.setdefault(one.version, first)
            if first != known or first % size:
                message = f"{one.ip} of {link.b_port} does not fit: the host ports of a leaf have consecutive subnets, "
                message += f"in the order of the ports, from a multiple of {size} addresses"
                self.report("FG135", message, place, "correct the row, or keep other addresses by `overrides`")
                return
        texts = []
        for version, first in firsts.items():
            longest = _LENGTHS[version] + 1
            address = IPv4Address(first) if version == 4 else IPv6Address(first)
            texts.append(f"{address}/{longest - size.bit_length() + 1}")
        self._give("blocks", key, texts, ends[0][0])

    def _give(self, section: str, key: str, value: object, place: Location) -> None:
        entries = getattr(self.lock, section)
        if (section, key) in self.places and entries[key] != value:
            first = self.places[section, key]
            message = f"{key} has {_shown(value)} here and {_shown(entries[key])} in line {first.line}"
            self.report("FG135", message, place, "correct one of the two rows")
            return
        entries[key] = value
        self.places.setdefault((section, key), place)
        self.lock.lines[section, key] = place.line


def _point(one: Interface) -> Interface:
    return ip_interface(f"{one.ip}/{_LENGTHS[one.version]}")


def _other(one: Interface) -> Interface:
    """The other end of a point-to-point subnet."""
    return ip_interface(f"{type(one.ip)(int(one.ip) ^ 1)}/{_LENGTHS[one.version]}")


def _shown(value: object) -> str:
    return " ".join(value) if isinstance(value, list) else str(value)
