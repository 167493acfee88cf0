"""sources.json read back: the origins of each value, and the values that overrides set."""

import re
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import orjson

from fabricgen.bundle.typed import checked, require, rows
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.origin import Origin
from fabricgen.suppressions import Suppression

FORMAT_VERSION = "1"
NAME = "sources.json"
MLNX_FOLDER = "mlnx-sm-5"  # of a subnet: its files in the dialect mlnx-sm-5
OPTION_FILES = ("opensm.conf", "sharp_am.cfg")  # files of `name value` lines
_SLOT = re.compile(r"\{([a-z0-9_.]+)\}")
_ANY = "*"
_ORIGIN = {"inventory": str, "platform": str, "steps": list}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The origin of one field: its template, and the origins of the values in it."""

    template: str
    origins: tuple[Origin, ...]


@dataclass(frozen=True)
class Sources:
    """The content of sources.json."""

    raw: Mapping[str, Any]

    @cached_property
    def _devices(self) -> Mapping[str, Mapping[str, Any]]:
        return {device["name"]: device for device in self.raw["devices"]}

    @cached_property
    def suppressions(self) -> tuple[Suppression, ...]:
        """The suppressions of the inventory."""
        return tuple(Suppression(**one) for one in self.raw.get("suppressions", ()))

    def causes(self, device: str, table: str, key: str, name: str = "") -> tuple[str, ...]:
        """The inventory values (file#dotted.path) that a field comes from; without a name, those of the whole row."""
        names = [name] if name else self._fields(device, table, key)
        found = [self.explain(device, table, key, each) for each in names]
        origins = [origin.inventory for one in found if one for origin in one.origins]
        return tuple(dict.fromkeys(origin for origin in origins if "#" in origin))

    def caused(
        self, device: str, tables: Mapping[str, Mapping[str, Mapping[str, object]]], place: str
    ) -> Iterator[tuple[str, str]]:
        """(TABLE|key|field, value) of a device's tables that come from an inventory value (file#dotted.path).

        Values below it count, too. Of the rows of one pattern, the first in the order of the tables is given.
        """
        below = {index for index, one in enumerate(self.raw["origins"]) if _is_below(one.get("inventory", ""), place)}
        for form, ports in self._forms(device) if below else ():
            for pattern, fields in self.raw["forms"][form]["rows"].items():
                names = [name for name, origins in fields.items() if below.intersection(origins)]
                table = pattern.partition("|")[0]
                rows = tables.get(table, {}) if names else {}
                key = next((key for key in rows if _matches(pattern, f"{table}|{key}", ports)), None)
                row = rows[key] if key is not None else {}
                yield from ((f"{table}|{key}|{name}", str(row[name])) for name in names if name in row)

    def _fields(self, device: str, table: str, key: str) -> list[str]:
        row = f"{table}|{key}"
        overridden = [path.removeprefix(f"{row}|") for path in self.overrides(device) if path.startswith(f"{row}|")]
        rendered = [
            field
            for form, ports in self._forms(device)
            for pattern, fields in self._rows(form, table)
            if _matches(pattern, row, ports)
            for field in fields
        ]
        return list(dict.fromkeys([*overridden, *rendered])) or [""]

    def overrides(self, device: str) -> Mapping[str, str]:
        """'TABLE|key|field' (or 'TABLE|key', 'TABLE') -> the inventory place of the override that was merged last."""
        found: Mapping[str, str] = self._devices.get(device, {}).get("overrides", {})
        return found

    def overridden(self, device: str, tables: Collection[str]) -> tuple[str, ...]:
        """The paths of the overrides of a device that are in one of the tables."""
        return tuple(path for path in self.overrides(device) if path.partition("|")[0] in tables)

    def explain(self, device: str, table: str, key: str, name: str) -> Explanation | None:
        """The origin of a field of a device; None if fabricgen did not render it."""
        paths = (f"{table}|{key}|{name}", f"{table}|{key}", table)
        override = next((place for path in paths if (place := self.overrides(device).get(path))), None)
        if override:
            return Explanation("override", (Origin(inventory=override),))
        for form, ports in self._forms(device):
            for row, fields in self._rows(form, table):
                field = _matching(name, fields) if _matches(row, f"{table}|{key}", ports) else None
                if field is not None:
                    origins = tuple(self._origin(index) for index in fields[field])
                    return Explanation(self.raw["forms"][form]["template"], origins)
        return None

    def explain_option(self, subnet: str, option: str) -> Explanation | None:
        """The origin of an option of opensm.conf, or of sharp_am.cfg beside it. `subnet` is PLANE or PLANE/SUBNET, with
        /standby-N or /mlnx-sm-5."""
        folder, _, last = subnet.rpartition("/")
        if last.startswith("standby-") or last == MLNX_FOLDER:
            found = (
                self.explain(f"infiniband/{folder}", "opensm.conf", f"{last}/{name}", option) for name in OPTION_FILES
            )
            return next((one for one in found if one), None)
        return self.explain(f"infiniband/{subnet}", "opensm.conf", "opensm.conf", option)

    def option_causes(self, subnet: str, option: str) -> tuple[str, ...]:
        """The inventory values (file#dotted.path) that an option of opensm.conf comes from."""
        found = self.explain_option(subnet, option)
        return tuple(one.inventory for one in found.origins if "#" in one.inventory) if found else ()

    def _forms(self, device: str) -> Iterator[tuple[int, list[str] | None]]:
        """(index of a form, its ports or None for all) of a device."""
        entry = self._devices.get(device)
        if entry is None:
            return
        for index in entry["forms"]:
            yield index, None
        for index, ports in entry["ports"].items():
            yield int(index), ports

    def _rows(self, form: int, table: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The rows of a form that may belong to a table: the name of a host's file is a slot."""
        found = self._rows_by_table[form].items()
        return [row for name, rows in found if name == table or _ANY in name for row in rows]

    @cached_property
    def _rows_by_table(self) -> Sequence[Mapping[str, list[tuple[str, Mapping[str, Any]]]]]:
        """For each form its rows by table."""
        return [_by_table(form["rows"]) for form in self.raw["forms"]]

    def _origin(self, index: int) -> Origin:
        entry = self.raw["origins"][index]
        return Origin(entry.get("inventory", ""), entry.get("platform", ""), tuple(entry.get("steps", ())))


def read_sources(folder: Path) -> Sources | None:
    """The source map of a bundle; None if it is missing. Raises UnreadableInputError if it has another form."""
    file = folder / NAME
    if not file.exists():
        return None
    try:
        raw = orjson.loads(read_bytes(file))
    except ValueError as error:
        raise UnreadableInputError(
            f"not a sources.json that this version reads: {error}", Location(str(file))
        ) from error
    version = raw.get("format_version") if isinstance(raw, dict) else None
    if version != FORMAT_VERSION:
        problem = f"sources.json has format_version {version!r}, this fabricgen reads {FORMAT_VERSION!r}"
        raise UnreadableInputError(problem, Location(str(file)))
    try:
        return Sources(_checked(raw))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInputError(f"sources.json has another form: {error}", Location(str(file))) from error


def _checked(raw: Any) -> Mapping[str, Any]:
    """The content itself. Raises ValueError, KeyError or TypeError unless it has the form that `Sources` reads."""
    for index, origin in enumerate(rows(raw["origins"], "origins")):
        for key, kind in _ORIGIN.items():
            require(origin.get(key, kind()), str if kind is str else list[str], f"origins[{index}].{key}")
    known = len(raw["origins"])
    for index, form in enumerate(rows(raw["forms"], "forms")):
        require(form["template"], str, f"forms[{index}].template")
        found = require(form["rows"], dict[str, dict[str, list[int]]], f"forms[{index}].rows")
        if not all(0 <= each < known for row in found.values() for origins in row.values() for each in origins):
            raise ValueError(f"forms[{index}].rows refers to an origin that is missing")
    devices = tuple(rows(raw["devices"], "devices"))
    for index, device in enumerate(devices):
        place = f"devices[{index}]"
        require(device["name"], str, f"{place}.name")
        require(device.get("overrides", {}), dict[str, str], f"{place}.overrides")
        ports = require(device["ports"], dict[str, list[str]], f"{place}.ports")
        used = {*require(device["forms"], list[int], f"{place}.forms"), *map(int, ports)}
        if not all(0 <= each < len(raw["forms"]) for each in used):
            raise ValueError(f"{place} refers to a form that is missing")
    for index, one in enumerate(rows(raw.get("suppressions", []), "suppressions")):
        checked(Suppression(**one), f"suppressions[{index}]")
    return typing.cast(Mapping[str, Any], raw)


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith((f"{place}.", f"{place}["))


def _by_table(rows: Mapping[str, Mapping[str, Any]]) -> Mapping[str, list[tuple[str, Mapping[str, Any]]]]:
    found: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for row, fields in rows.items():
        found.setdefault(_SLOT.sub(_ANY, row.partition("|")[0]), []).append((row, fields))
    return found


def _matches(pattern: str, text: str, ports: list[str] | None) -> bool:
    match = _compiled(pattern).fullmatch(text)
    if match is None:
        return False
    return ports is None or match.groupdict().get("port_name") in (None, *ports)


def _matching(name: str, fields: Mapping[str, Any]) -> str | None:
    """The field pattern that matches the name of a field; an equal name comes first."""
    return name if name in fields else next((field for field in fields if _compiled(field).fullmatch(name)), None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern with {slots} as a regular expression; a repeated slot matches the same text everywhere."""
    seen: set[str] = set()
    expression = []
    for index, piece in enumerate(_SLOT.split(pattern)):
        group = piece.replace(".", "_")
        if index % 2 == 0:
            expression.append(re.escape(piece))
        else:
            expression.append(f"(?P={group})" if group in seen else f"(?P<{group}>.+?)")
            seen.add(group)
    return re.compile("".join(expression))
