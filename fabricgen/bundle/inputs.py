"""A bundle whose parts are inputs of an engine, each with a name: what is read of it is recorded.

Judges get the bundle as it is at any time; what they keep of it, tables and cables, is always that of now. What is read
in a way that has no name here makes the value one that is derived again in each revision.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, cast

from fabricgen.bundle.device import Content, GivenContent, ObservedDevice, Signs
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.sources import Sources
from fabricgen.bundle.wiring import WiredCable, Wiring
from fabricgen.engine.derived import Engine, Name
from fabricgen.sonic.tables import ConfigDb, Table

# Names of inputs; tables of switches have their own.
_TEXT, _TABLES = "text", "tables"  # of the file of a switch: its bytes, and the names of its tables
_SIGN, _WIRING, _OVERRIDDEN, _FILE = "sign:", "wiring:", "overridden:", "file:"
_LINKS, _CABLES, _LENGTHS, _CORDONED, _HOSTS = "links", "cables", "lengths", "cordoned", "hosts"
# Attribute of a bundle -> the input; "" for what is equal in all revisions.
_OF_ATTRIBUTE = {
    "links": _LINKS,
    "switch_links": _LINKS,
    "host_links": _LINKS,
    "external_at": _LINKS,
    "link_at": _LINKS,
    "links_from": "",
    "contradictions": "",
    "cabling": "",
    "subnet_roots": "",
    "release": "",
    "models": "",
    "cable_length_m": _LENGTHS,
    "cordoned": _CORDONED,
    "hosts": _HOSTS,
}


class InputBundle:
    """A bundle as inputs of `engine`. `seen` is the bundle for judges."""

    def __init__(self, bundle: Bundle, engine: Engine) -> None:
        """`bundle` is one that `is_one_rendering`."""
        self.now, self.engine = bundle, engine
        self._contents = {name: _Content(name, device.content, engine) for name, device in bundle.devices.items()}
        self.devices = {
            name: ObservedDevice(name, device.file, device.wired, self._contents[name], device.bundle_release)
            for name, device in bundle.devices.items()
        }
        self.wiring = _Wiring(self)
        self.sources = _Overrides(self) if bundle.sources else None
        self.seen = cast(Bundle, _Seen(self))

    def become(self, bundle: Bundle, files: Collection[str]) -> bool:
        """Go on with the bundle after these files were written or removed. False if it has other switches, or these
        have another place in it: values have kept those."""
        old = self.now
        if not is_one_rendering(bundle) or _switches(bundle) != _switches(old):
            return False
        self.engine.change(_changes(old, bundle, files))
        for name, device in bundle.devices.items():
            self._contents[name].content = device.content
        self.now = bundle
        return True


def is_one_rendering(bundle: Bundle) -> bool:
    """Whether these are the files of one bundle of RoCE planes: links of others have other sources."""
    is_whole = bundle.wiring is not None and bundle.root is not None and bundle.links_from == "fabric.json"
    return is_whole and bundle.cabling is None and not bundle.subnet_roots


def _switches(bundle: Bundle) -> list[object]:
    """What an `InputBundle` and its devices have of a bundle without a name."""
    devices = [(name, one.file, one.wired, one.bundle_release) for name, one in bundle.devices.items()]
    return [bundle.root, bundle.release, bundle.sources is None, devices]


class _Seen:
    """The attributes of the bundle of now, with a record."""

    def __init__(self, of: InputBundle) -> None:
        self._of = of
        self.devices, self.wiring, self.sources = of.devices, of.wiring, of.sources

    def file(self, path: str) -> Path | None:
        """A file of the folder; None if it is missing."""
        self._of.engine.read(f"{_FILE}{path}")
        return self._of.now.file(path)

    def __getattr__(self, name: str) -> Any:
        known = _OF_ATTRIBUTE.get(name)
        if known is None:
            self._of.engine.read_unnamed()
        elif known:
            self._of.engine.read(known)
        return getattr(self._of.now, name)


class _Tables(Mapping[str, Table]):
    """The tables of a switch. It is not a dict, so that no C code can read it past the record."""

    def __init__(self, of: "_Content") -> None:
        self._of = of

    def __getitem__(self, name: str) -> Table:
        self._of.read(name)
        return self._of.content.config[name]

    def get(self, name: str, default: Any = None) -> Any:
        self._of.read(name)
        return self._of.content.config.get(name, default)

    def __contains__(self, name: object) -> bool:
        self._of.read(str(name))
        return name in self._of.content.config

    def __iter__(self) -> Iterator[str]:
        self._of.read(_TABLES)
        return iter(self._of.content.config)

    def __len__(self) -> int:
        self._of.read(_TABLES)
        return len(self._of.content.config)


class _Content:
    """The content of the file of a switch, for judges."""

    def __init__(self, name: str, content: Content, engine: Engine) -> None:
        self.content = content
        self.read: Callable[[str], None] = partial(engine.read, of=name)
        self._tables = _Tables(self)

    @property
    def text(self) -> bytes:
        """The bytes of the file."""
        self.read(_TEXT)
        return self.content.text

    @property
    def config(self) -> ConfigDb:
        """TABLE -> key -> field -> value."""
        return self._tables

    @property
    def signs(self) -> Signs:
        """What the bytes show."""
        return cast(Signs, _Signs(self))

    def peek(self) -> ConfigDb:
        """The tables."""
        return self._tables

    def once(self) -> GivenContent:
        """Both."""
        return GivenContent(self.text, self._tables)


@dataclass(slots=True)
class _Signs:
    """The signs of a file, each with a record."""

    of: _Content

    def __getattr__(self, name: str) -> Any:
        self.of.read(_TEXT if name == "digest" else f"{_SIGN}{name}")
        return getattr(self.of.content.signs, name)


class _Wiring:
    """fabric.json, whose cables are read apart from their lengths."""

    def __init__(self, of: InputBundle) -> None:
        self.of = of

    @property
    def inner(self) -> Wiring:
        """That of now."""
        assert self.of.now.wiring is not None
        return self.of.now.wiring

    @property
    def cables(self) -> tuple[WiredCable, ...]:
        """The cables, each with a record."""
        self.of.engine.read(_CABLES)
        return tuple(cast(WiredCable, _Cable(self, place)) for place in range(len(self.inner.cables)))

    def __getattr__(self, name: str) -> Any:
        if name == "infiniband_planes":
            self.of.engine.read(f"{_WIRING}planes")
        elif name in Wiring.__dataclass_fields__:
            self.of.engine.read(f"{_WIRING}{name}")
        else:
            self.of.engine.read_unnamed()
        return getattr(self.inner, name)


@dataclass(slots=True)
class _Cable:
    """The cable at a place of fabric.json; another one at this place is another value of the cables."""

    wiring: _Wiring
    place: int

    def __getattr__(self, name: str) -> Any:
        self.wiring.of.engine.read(_LENGTHS if name == "length_m" else _CABLES)
        return getattr(self.wiring.inner.cables[self.place], name)


@dataclass(slots=True)
class _Overrides:
    """sources.json, of which judges read the overrides in some tables."""

    of: InputBundle

    @property
    def _sources(self) -> Sources:
        assert self.of.now.sources is not None
        return self.of.now.sources

    def overridden(self, device: str, tables: Collection[str]) -> tuple[str, ...]:
        """The paths of the overrides of a device."""
        for table in tables:
            self.of.engine.read(f"{_OVERRIDDEN}{table}", device)
        return self._sources.overridden(device, tables)

    def __getattr__(self, name: str) -> Any:
        self.of.engine.read_unnamed()
        return getattr(self._sources, name)


def _changes(old: Bundle, new: Bundle, files: Collection[str]) -> Iterator[Name]:
    """The inputs that differ. `files` were written or removed."""
    for name, device in new.devices.items():
        before = old.devices[name]
        if device.content is not before.content:
            yield _TEXT, name
            yield from ((f"{_SIGN}{one}", name) for one in _different(before.signs, device.signs))
            tables, tables_now = before.config, device.config
            either = {*tables, *tables_now}
            yield from ((table, name) for table in either if tables.get(table) != tables_now.get(table))
            if [*tables] != [*tables_now]:
                yield _TABLES, name
    if old.wiring is not new.wiring:
        yield from (f"{_WIRING}{one}" for one in _different(old.wiring, new.wiring))
        differ = {
            _LINKS: old.links != new.links,
            _CABLES: _cables(old) != _cables(new),
            _LENGTHS: old.cable_length_m != new.cable_length_m,
            _CORDONED: old.cordoned != new.cordoned,
        }
        yield from (name for name, is_other in differ.items() if is_other)
    yield from (f"{_FILE}{file}" for file in files)
    if any(file.startswith(f"{_HOSTS}/") for file in files):
        yield _HOSTS
    if old.sources is not None and new.sources is not None:
        for name in new.devices:
            overrides = [dict(one.overrides(name)) for one in (old.sources, new.sources)]
            if overrides[0] != overrides[1] or [*overrides[0]] != [*overrides[1]]:
                changed = dict.fromkeys(path.partition("|")[0] for one in overrides for path in one)
                yield from ((f"{_OVERRIDDEN}{table}", name) for table in changed)


def _different(old: Any, new: Any) -> Iterator[str]:
    """The fields of a dataclass that differ."""
    yield from (one.name for one in fields(new) if getattr(old, one.name) != getattr(new, one.name))


def _cables(bundle: Bundle) -> list[object]:
    return [(one.id, one.medium, one.links, one.legs) for one in (bundle.wiring.cables if bundle.wiring else ())]
