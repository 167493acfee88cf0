"""The files of a fabric in the form of an inventory: texts, current references, and no secrets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.platforms.port_modes import PortModes
from fabricgen.render.secrets import literal_secrets
from fabricgen.sonic.device_types import ROLES
from fabricgen.sonic.references import bare
from fabricgen.sonic.secrets import PLACEHOLDER
from fabricgen.units import whole_number
from fabricgen.vocabulary import Role

Interface = IPv4Interface | IPv6Interface
Tables = dict[str, dict[str, dict[str, str | list[str]]]]
Hardware = tuple[str, str, tuple[tuple[str, str], ...]]
RowId = tuple[str, str, str]  # device, table, key

FIRST_PLANE = "compute"

_RESERVED_ASNS = (65_535, 4_294_967_295)  # RFC 7300

OLD_REFERENCE = "a reference of the old form [TABLE|name] becomes the bare name"
SECRET = "a secret becomes a reference"
AS_TEXT = "a number, truth value or null becomes text"
NO_TEXT = "an inventory can contain only texts, lists of texts, rows and tables"
NO_WAY = "neither the design nor an override can set it"
NO_KEY = "a key with * ? or [ is a pattern in an override"


@dataclass
class SourceSwitch:
    """One switch of the fabric: the tables of its file, and its hardware."""

    name: str
    role: Role
    tables: Tables
    platform: SwitchPlatform
    layout: Layout  # with the ports of the file
    base: Layout  # the one of the hwsku
    plane: str = FIRST_PLANE

    @cached_property
    def hardware(self) -> Hardware:
        """Platform, the layout of the hwsku, and `ports` of the inventory, by which it has the ports of the file."""
        ports = PortModes(self.platform, self.base).written(self.layout)
        return self.platform.name, self.base.name, tuple(ports.items())

    @property
    def key(self) -> str:
        """The identity in the explicit design."""
        return f"{self.plane}/{self.role}/{self.name}"

    def row(self, table: str, key: str) -> Mapping[str, str | list[str]]:
        """The fields of a row, empty if the row is missing."""
        return self.tables.get(table, {}).get(key, {})

    def text(self, table: str, key: str, field: str) -> str:
        """The text of a field, empty if it is missing."""
        value = self.row(table, key).get(field, "")
        return value if isinstance(value, str) else ""

    @cached_property
    def asn(self) -> int | None:
        """The ASN; None if it is missing or reserved."""
        text = self.text("DEVICE_METADATA", "localhost", "bgp_asn") or self.text("BGP_GLOBALS", "default", "local_asn")
        asn = whole_number(text) or 0
        return asn if 0 < asn < 2**32 and asn not in _RESERVED_ASNS else None

    def addresses(self, table: str, interface: str) -> tuple[Interface, ...]:
        """The addresses of an interface, in the order of the file."""
        return self._addresses(table).get(interface, ())

    def _addresses(self, table: str) -> Mapping[str, tuple[Interface, ...]]:
        known = self._known.get(table)
        if known is None:
            known = self._known[table] = {}
            for key in self.tables.get(table, {}):
                name, _, text = key.partition("|")
                try:
                    known[name] = (*known.get(name, ()), ip_interface(text))
                except ValueError:
                    continue
        return known

    @cached_property
    def _known(self) -> dict[str, dict[str, tuple[Interface, ...]]]:
        return {}


@dataclass
class ImportSource:
    """The whole fabric, or one of its planes. `changed` is row -> reason why it cannot be rendered exactly."""

    switches: dict[str, SourceSwitch]
    links: tuple[WiredLink, ...]
    changed: dict[RowId, str]
    plane: str = FIRST_PLANE

    def most(self, values: Iterable[Any]) -> Any:
        """The most frequent value that is not empty, the smallest of equally frequent ones; None without values."""
        counts = Counter(value for value in values if value)
        return min(counts, key=lambda value: (-counts[value], str(value))) if counts else None


def device_roles(bundle: Bundle) -> dict[str, Role]:
    """The role of every device: by its type, else leaf if it has hosts or no device has any, else spine."""
    types = {name: device.text_of("DEVICE_METADATA", "localhost", "type") for name, device in bundle.devices.items()}
    with_hosts = {link.b[0] for link in bundle.host_links}
    return {
        name: Role(ROLES.get(kind) or (Role.LEAF if name in with_hosts or not with_hosts else Role.SPINE))
        for name, kind in types.items()
    }


def normalised(name: str, config: Mapping[str, Any], changed: dict[RowId, str]) -> Tables:
    """The tables of a device in the form of an inventory. Rows that differ from the file are added to `changed`."""
    tables: Tables = {}
    for table, rows in config.items():
        for key, row in rows.items() if isinstance(rows, dict) else ():
            if not isinstance(row, dict):
                changed[name, table, key] = NO_TEXT
                continue
            fields = {}
            for field, value in row.items():
                text, reason = _text(value)
                if reason:
                    changed[name, table, key] = reason
                if text is not None:
                    fields[field] = text
            known = tables.setdefault(table, {})
            shown, hidden = _without_secrets(table, key, fields, len(known) + 1)
            if (shown, hidden) != (key, fields):
                changed[name, table, key] = changed[name, table, shown] = SECRET
            known[shown] = hidden
    return tables


def _text(value: Any) -> tuple[str | list[str] | None, str]:
    """A value in the form of an inventory (None: not possible), and the reason for a change."""
    if isinstance(value, str):
        name = bare(value)
        return (value, "") if name is None else (name, OLD_REFERENCE)
    if isinstance(value, bool):
        return str(value).lower(), AS_TEXT
    if isinstance(value, int | float) or value is None:
        return str(value), AS_TEXT
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return value, ""
    return None, NO_TEXT


def _without_secrets(
    table: str, key: str, fields: dict[str, str | list[str]], number: int
) -> tuple[str, dict[str, str | list[str]]]:
    """Key and fields with references in place of secrets. A secret key becomes the number of the row."""
    for field in list(literal_secrets(table, key, fields)):
        if field == "*":
            return f"{PLACEHOLDER}{table.lower()}/{number}}}", fields
        if fields[field]:
            owner = "" if "|" in key or table == key else f"/{key}"
            fields = {**fields, field: f"{PLACEHOLDER}{table.lower()}{owner}/{field}}}"}
    return key, fields


def rows_of(tables: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(table, key, row) of all rows of a file. A table that is not a mapping counts as one row without a key. Members
    that begin with a small letter are not tables: sonic-cfggen does not load them."""
    for table, rows in tables.items():
        if table[:1].islower():
            continue
        if isinstance(rows, dict):
            yield from ((table, key, row) for key, row in rows.items())
        else:
            yield table, "", rows
