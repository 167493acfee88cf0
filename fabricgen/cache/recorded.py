"""A bundle that records what a judge reads of it, and the digests of what was read.

A judge that sees only such a bundle, and objects that it makes itself from it, has the same result wherever all that it
read is the same. What is read in a way that has no name here cannot be recorded: the judge's result is then not kept.
Judges can share what they derive from the bundle by `Readings.kept`, which records what the derived value depends on.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from fabricgen.bundle.device import Content, GivenContent, ObservedDevice, Signs
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.sources import Sources
from fabricgen.cache.readings import (
    CABLES,
    CORDONED,
    FILE,
    HOSTS,
    LENGTHS,
    LINKS,
    NAMES,
    OVERRIDDEN,
    SIGN,
    TEXT,
    WIRING,
    Readings,
)
from fabricgen.same import Same
from fabricgen.sonic.tables import ConfigDb, Table

if TYPE_CHECKING:
    from hashlib import _Hash

_CONSTANT = ""  # equal in all bundles that are recorded, or part of every digest
# Attribute of a bundle -> what a judge that reads it depends on.
_OF_ATTRIBUTE = {
    "links": LINKS,
    "switch_links": LINKS,
    "host_links": LINKS,
    "external_at": LINKS,
    "link_at": LINKS,
    "links_from": _CONSTANT,
    "cabling": _CONSTANT,
    "subnet_roots": _CONSTANT,
    "release": _CONSTANT,
    "cable_length_m": LENGTHS,
    "cordoned": CORDONED,
    "hosts": HOSTS,
}


class _Tables(Mapping[str, Table]):
    """The tables of a switch. It is not a dict, so that no C code can read it past the record."""

    def __init__(self, switch: str, config: ConfigDb, readings: Readings) -> None:
        self._switch, self._config, self._readings = switch, config, readings

    def __getitem__(self, name: str) -> Table:
        self._readings.read_table(self._switch, name)
        return self._config[name]

    def get(self, name: str, default: Any = None) -> Any:
        self._readings.read_table(self._switch, name)
        return self._config.get(name, default)

    def __contains__(self, name: object) -> bool:
        self._readings.read_table(self._switch, str(name))
        return name in self._config

    def __iter__(self) -> Iterator[str]:
        self._readings.read_table(self._switch, NAMES)
        return iter(self._config)

    def __len__(self) -> int:
        self._readings.read_table(self._switch, NAMES)
        return len(self._config)


@dataclass(slots=True)
class Recorded:
    """The content of a file for a judge."""

    name: str
    content: Content
    tables: _Tables
    readings: Readings

    @property
    def text(self) -> bytes:
        self.readings.names.add(f"{TEXT}{self.name}")
        return self.content.text

    @property
    def config(self) -> ConfigDb:
        return self.tables

    @property
    def signs(self) -> Signs:
        def note(sign: str) -> None:
            name = f"{TEXT}{self.name}" if sign == "digest" else f"{SIGN}{sign} {self.name}"
            self.readings.names.add(name)

        return cast(Signs, _Attributes(self.content.signs, note))

    def peek(self) -> ConfigDb:
        return self.tables

    def once(self) -> GivenContent:
        return GivenContent(self.text, self.tables)

    def become(self, content: Content) -> None:
        """Go on with another content of the same file. What has kept the old tables, keeps them."""
        self.content, self.tables = content, _Tables(self.name, content.config, self.readings)


class _Attributes:
    """An object whose attributes are read with a record."""

    def __init__(self, inner: object, note: Callable[[str], None], **replaced: object) -> None:
        self.__dict__.update(replaced, _inner=inner, _note=note)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        self._note(name)
        return found


class _Wiring(_Attributes):
    """fabric.json, whose cables are read apart from their lengths."""

    def __init__(self, inner: object, note: Callable[[str], None], readings: Readings) -> None:
        super().__init__(inner, note, _readings=readings)

    @property
    def cables(self) -> tuple[Any, ...]:
        """The cables, each with a record."""
        self._readings.names.add(CABLES)
        return self._cables

    @cached_property
    def _cables(self) -> tuple[Any, ...]:
        def note(name: str) -> None:
            self._readings.names.add(LENGTHS if name == "length_m" else CABLES)

        return tuple(_Attributes(cable, note) for cable in self._inner.cables)


class _Overrides:
    """sources.json, of which a judge reads the overrides in some tables."""

    def __init__(self, sources: Sources, readings: Readings) -> None:
        self._sources, self._readings = sources, readings

    def overridden(self, device: str, tables: Collection[str]) -> tuple[str, ...]:
        """The paths of the overrides of a device."""
        self._readings.names.add(f"{OVERRIDDEN}{' '.join(sorted(tables))}")
        return self._sources.overridden(device, tables)

    def __getattr__(self, name: str) -> Any:
        self._readings.give_up()
        return getattr(self._sources, name)


@dataclass(frozen=True)
class Recordable:
    """A bundle whose judges can be recorded, with the digests of its parts, each computed once."""

    bundle: Bundle
    _known: dict[str, bytes] = field(default_factory=dict)
    _tables: dict[Same[object], bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, bundle: Bundle) -> "Recordable | None":
        """None for files that are not one rendered bundle of RoCE planes: their links have other sources."""
        is_whole = bundle.wiring is not None and bundle.root is not None and bundle.links_from == "fabric.json"
        return cls(bundle) if is_whole and bundle.cabling is None and not bundle.subnet_roots else None

    def recorded(self, readings: Readings) -> Bundle:
        """The bundle for one judge."""
        devices = {name: _device(device, readings) for name, device in self.bundle.devices.items()}
        return self.recorded_with(devices, readings)

    def recorded_with(
        self, devices: Mapping[str, ObservedDevice], readings: Readings, memo: dict[Any, Any] | None = None
    ) -> Bundle:
        """The same with devices that record already, and with what judges keep in a memo."""
        known: dict[Any, Any] = {} if memo is None else memo
        assert self.bundle.wiring is not None

        def attribute(name: str) -> None:
            if (known := _OF_ATTRIBUTE.get(name)) is None:
                readings.give_up()
            elif known:
                readings.names.add(known)

        wiring = _Wiring(self.bundle.wiring, lambda name: readings.names.add(f"{WIRING}{name}"), readings)
        sources = _Overrides(self.bundle.sources, readings) if self.bundle.sources else None

        def file(path: str) -> Path | None:
            readings.names.add(f"{FILE}{path}")
            return self.bundle.file(path)

        replaced = {"devices": devices, "wiring": wiring, "sources": sources, "file": file}
        return cast(Bundle, _Attributes(self.bundle, attribute, **replaced, kept=partial(readings.kept, known)))

    def digest(self, names: Iterable[str]) -> bytes:
        """The digest of all that has these names."""
        digest = self._head.copy()
        for name in sorted(names):
            if name not in self._known:
                self._known[name] = sha256(self._content(name)).digest()
            digest.update(name.encode() + b"\0" + self._known[name])
        return digest.digest()

    @cached_property
    def _head(self) -> "_Hash":
        return sha256(orjson.dumps([*self.bundle.devices, self.bundle.release]))

    def _content(self, name: str) -> bytes:
        if name.startswith(TEXT):
            device = self.bundle.devices.get(name.removeprefix(TEXT))
            return device.text if device else b""
        if name.startswith(SIGN):
            sign, _, of = name.removeprefix(SIGN).partition(" ")
            device = self.bundle.devices.get(of)
            return orjson.dumps(device and getattr(device.signs, sign))
        if name.startswith(WIRING):
            return orjson.dumps(getattr(self.bundle.wiring, name.removeprefix(WIRING)), default=_plain)
        if name.startswith(OVERRIDDEN):
            sources, tables = self.bundle.sources, name.removeprefix(OVERRIDDEN).split()
            return orjson.dumps(sources and [sources.overridden(device, tables) for device in self.bundle.devices])
        if name.startswith(FILE):
            file = self.bundle.file(name.removeprefix(FILE))
            return file.read_bytes() if file else b""
        if name in self._others:
            return self._others[name]()
        return b"".join(self._of_table(device.config.get(name)) for device in self.bundle.devices.values())

    def _of_table(self, table: object) -> bytes:
        if table is None:
            return bytes(32)
        key = Same(table)
        if key not in self._tables:
            self._tables[key] = sha256(orjson.dumps(table)).digest()
        return self._tables[key]

    @cached_property
    def _others(self) -> Mapping[str, Callable[[], bytes]]:
        bundle = self.bundle
        cables = bundle.wiring.cables if bundle.wiring else ()
        return {
            CABLES: lambda: orjson.dumps([[cable.id, cable.medium, cable.links] for cable in cables]),
            NAMES: lambda: orjson.dumps([[name, list(one.config)] for name, one in bundle.devices.items()]),
            LINKS: lambda: orjson.dumps(bundle.links),
            LENGTHS: lambda: orjson.dumps([bundle.cable_length_m, [[cable.id, cable.length_m] for cable in cables]]),
            CORDONED: lambda: orjson.dumps(sorted(bundle.cordoned)),
            HOSTS: self._of_hosts,
        }

    def _of_hosts(self) -> bytes:
        return orjson.dumps(
            {
                name: {file: sha256((one.folder / file).read_bytes()).hexdigest() for file in sorted(one.files)}
                for name, one in self.bundle.hosts.items()
            }
        )


def _plain(value: object) -> object:
    if isinstance(value, frozenset | set):
        return sorted(value)
    raise TypeError


def _device(device: ObservedDevice, readings: Readings) -> ObservedDevice:
    content = Recorded(device.name, device.content, _Tables(device.name, device.config, readings), readings)
    return ObservedDevice(device.name, device.file, device.wired, content, device.bundle_release)
