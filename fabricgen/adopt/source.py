"""The files of a fabric as an inventory can hold them: rows of texts, today's references, no secrets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Interface, IPv6Interface, ip_interface
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.render.secrets import literal_secrets
from fabricgen.sonic.device_types import ROLES
from fabricgen.sonic.references import bare
from fabricgen.sonic.secrets import PLACEHOLDER

Interface = IPv4Interface | IPv6Interface
Tables = dict[str, dict[str, dict[str, str | list[str]]]]
RowId = tuple[str, str, str]  # device, table, key

FIRST_PLANE = "compute"

OLD_REFERENCE = "a reference of the old form [TABLE|name] becomes the bare name"
SECRET = "a secret becomes a reference to where it is kept"
AS_TEXT = "a number or truth value becomes text"
NO_TEXT = "what is no text, list of texts, row or table cannot be held"
NO_WAY = "neither the design nor an override gives it"
NO_KEY = "a key with * ? or [ would be a pattern in an override"


@dataclass
class SourceSwitch:
    """One switch of the fabric: what its file says, in `tables`, and what its hardware is."""

    name: str
    role: str
    tables: Tables
    platform: SwitchPlatform
    layout: Layout
    plane: str = FIRST_PLANE

    @property
    def key(self) -> str:
        """Its identity in the explicit design."""
        return f"{self.plane}/{self.role}/{self.name}"

    def row(self, table: str, key: str) -> Mapping[str, str | list[str]]:
        """A row's fields; empty when there is none."""
        return self.tables.get(table, {}).get(key, {})

    def text(self, table: str, key: str, field: str) -> str:
        """A field's text; "" when absent."""
        value = self.row(table, key).get(field, "")
        return value if isinstance(value, str) else ""

    @cached_property
    def asn(self) -> int | None:
        """Its autonomous system."""
        text = self.text("DEVICE_METADATA", "localhost", "bgp_asn") or self.text("BGP_GLOBALS", "default", "local_asn")
        return int(text) if text.isdecimal() and 0 < int(text) < 2**32 else None

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
class Source:
    """The whole fabric, or one plane of it. `changed` says of rows why they cannot come back letter by letter."""

    switches: dict[str, SourceSwitch]
    links: tuple[WiredLink, ...]
    changed: dict[RowId, str]
    plane: str = FIRST_PLANE

    def most(self, values: Iterable[Any]) -> Any:
        """The most frequent value that is something, the smallest of equals; None where there is none."""
        counts = Counter(value for value in values if value)
        return min(counts, key=lambda value: (-counts[value], str(value))) if counts else None


def device_roles(bundle: Bundle) -> dict[str, str]:
    """leaf | spine | core of every device: by its type; else a leaf where hosts are or nobody has any, else a spine."""
    types = {name: device.text_of("DEVICE_METADATA", "localhost", "type") for name, device in bundle.devices.items()}
    with_hosts = {link.b[0] for link in bundle.host_links}
    return {
        name: ROLES.get(kind) or ("leaf" if name in with_hosts or not with_hosts else "spine")
        for name, kind in types.items()
    }


def normalised(name: str, config: Mapping[str, Any], changed: dict[RowId, str]) -> Tables:
    """The tables of a device as an inventory can hold them; `changed` learns what is another than in the file."""
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
    """A value as an inventory can hold it (None: not at all), and what had to be done."""
    if isinstance(value, str):
        name = bare(value)
        return (value, "") if name is None else (name, OLD_REFERENCE)
    if isinstance(value, bool):
        return str(value).lower(), AS_TEXT
    if isinstance(value, int | float):
        return str(value), AS_TEXT
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return value, ""
    return None, NO_TEXT


def _without_secrets(
    table: str, key: str, fields: dict[str, str | list[str]], number: int
) -> tuple[str, dict[str, str | list[str]]]:
    """Key and fields with references for secrets; where the key is one, the row is known by its number."""
    for field in list(literal_secrets(table, key, fields)):
        if field == "*":
            return f"{PLACEHOLDER}{table.lower()}/{number}}}", fields
        if fields[field]:
            owner = "" if "|" in key or table == key else f"/{key}"
            fields = {**fields, field: f"{PLACEHOLDER}{table.lower()}{owner}/{field}}}"}
    return key, fields


def rows_of(tables: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """(table, key, row) of a file's rows, whatever they are; a table that is none counts as one row without a key."""
    for table, rows in tables.items():
        if isinstance(rows, dict):
            yield from ((table, key, row) for key, row in rows.items())
        else:
            yield table, "", rows
