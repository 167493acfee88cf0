"""A bundle, or any config_db.json files, read back for judging: devices, tables, links, with line numbers on demand.

Files are parsed when first asked for. Where a bundle has fabric.json, links are what was meant; elsewhere they are
worked out from DEVICE_NEIGHBOR, then from the addresses of BGP peers, or given with a links file.
"""

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from fabricgen.bundle import infer
from fabricgen.bundle.hosts import ObservedHosts, read_hosts
from fabricgen.bundle.locate import locate
from fabricgen.bundle.sources import Sources, read_sources
from fabricgen.bundle.wiring import WiredDevice, WiredLink, Wiring, load_wiring
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.load import TableLoader
from fabricgen.sonic.tables import ConfigDb, Row

CONFIG_NAME = "config_db.json"
OPTIONS_NAME = "opensm.conf"
_TABLES_REMEMBERED = 1024

_log = logging.getLogger(__name__)
_TABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_NAMESPACE = re.compile(r"asic\d+")


@dataclass(frozen=True)
class ObservedDevice:
    """One switch as its file has it. `config` raises UnreadableInputError when the file is no JSON object."""

    name: str
    file: Path
    wired: WiredDevice | None = None
    # Shared by the devices of a bundle: equal tables are one object, kept and judged once.
    tables: "SharedTables" = field(default_factory=lambda: SharedTables(), repr=False, compare=False)

    @cached_property
    def text(self) -> bytes:
        """The bytes of the file."""
        return read_bytes(self.file)

    @cached_property
    def config(self) -> ConfigDb:
        """TABLE -> key -> field -> value. Values keep the types that the file has, right or wrong."""
        return self.tables.of(self.file)

    def passing(self) -> ConfigDb:
        """`config` for one look: it is kept only where it is kept already, so that thousands of files fit."""
        kept = self.__dict__.get("config")
        return self.tables.of(self.file) if kept is None else kept

    def table(self, name: str) -> Mapping[str, Row]:
        """A table's rows; empty when the file has none, or something else than rows under that name."""
        rows = self.config.get(name)
        return rows if isinstance(rows, dict) else {}

    def row(self, table: str, key: str) -> Row:
        """A row's fields; empty when there is none."""
        rows = self.config.get(table)
        row = rows.get(key) if isinstance(rows, dict) else None
        return row if isinstance(row, dict) else {}

    def text_of(self, table: str, key: str, name: str) -> str:
        """A field's text; "" when absent or not text."""
        value = self.row(table, key).get(name)
        return value if isinstance(value, str) else ""

    @cached_property
    def metadata(self) -> Row:
        """DEVICE_METADATA|localhost."""
        return self.row("DEVICE_METADATA", "localhost")

    def locate(self, *path: str) -> Location:
        """Where TABLE, key, field (or as much of it as exists) stands in the file."""
        line, column = locate(self.text, list(path))
        return Location(str(self.file), line, column)


class SharedTables:
    """Loads files so that equal tables are one object. Files as `config save` lays them out share by their bytes,
    and only the tables used last are looked for; in others each table is compared."""

    def __init__(self) -> None:
        self._loader = TableLoader(most=_TABLES_REMEMBERED)
        self._distinct: dict[bytes, Any] = {}

    def of(self, file: Path) -> ConfigDb:
        """The tables of one file. Raises UnreadableInputError."""
        text = read_bytes(file)
        try:
            config, is_whole = self._loader.load_all(text)
        except orjson.JSONDecodeError as error:
            raise _no_json(error, file) from error
        except TypeError as error:
            raise UnreadableInputError(str(error), Location(str(file), 1, 1)) from error
        if is_whole:
            return {name: self._distinct.setdefault(orjson.dumps(table), table) for name, table in config.items()}
        return config


@dataclass(frozen=True)
class Bundle:
    """What is judged. `devices` are in natural order of their names; `root` and `wiring` are None for loose files.

    Devices are switches with a config_db.json, `links` those of their planes: InfiniBand planes are in `wiring` alone.
    """

    devices: Mapping[str, ObservedDevice]
    links: tuple[WiredLink, ...]
    root: Path | None = None
    wiring: Wiring | None = None
    links_from: str = "fabric.json"  # | DEVICE_NEIGHBOR | BGP | a file with links or of LLDP
    subnet_roots: tuple[Path, ...] = ()  # bundles with InfiniBand planes, and loose folders with an opensm.conf

    @cached_property
    def switch_links(self) -> tuple[WiredLink, ...]:
        """The links with a known switch at both ends."""
        return tuple(link for link in self.links if link.a[0] in self.devices and link.b[0] in self.devices)

    @cached_property
    def host_links(self) -> tuple[WiredLink, ...]:
        """The links from a host (end a) to a switch (end b)."""
        return tuple(link for link in self.links if link.kind == "host-leaf" and link.b[0] in self.devices)

    @cached_property
    def external_at(self) -> Mapping[tuple[str, str], WiredLink]:
        """(switch, port) -> the link to a device outside the fabric (end a) that is plugged in there."""
        return {link.b: link for link in self.links if link.kind == "external" and link.b[0] in self.devices}

    @cached_property
    def link_at(self) -> Mapping[tuple[str, str], WiredLink]:
        """(device, port) -> the link plugged in there, for both ends."""
        return {end: link for link in self.links for end in (link.a, link.b)}

    @cached_property
    def sources(self) -> Sources | None:
        """Where the values came from; None for files that lie in no bundle. Raises UnreadableInputError."""
        return read_sources(self.root) if self.root else None

    @cached_property
    def hosts(self) -> Mapping[str, ObservedHosts]:
        """The files of hosts, by group."""
        return read_hosts(self.root)

    @cached_property
    def cable_length_m(self) -> Mapping[str, float]:
        """link id -> true cable length, where known."""
        cables = self.wiring.cables if self.wiring else ()
        return {link: cable.length_m for cable in cables for link in cable.links}


def read_bytes(file: Path) -> bytes:
    """The file's bytes. Raises UnreadableInputError."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise UnreadableInputError(f"cannot read: {error.strerror}", Location(str(file))) from error


def parse_object(text: bytes, file: Path) -> Any:
    """A JSON object. Raises UnreadableInputError with the line of a syntax error."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise _no_json(error, file) from error
    if not isinstance(value, dict):
        raise UnreadableInputError("not a JSON object", Location(str(file), 1, 1))
    return value


def _no_json(error: orjson.JSONDecodeError, file: Path) -> UnreadableInputError:
    return UnreadableInputError(f"not JSON: {error.msg}", Location(str(file), error.lineno, error.colno))


def open_bundle(paths: Sequence[Path], links_file: Path | None = None) -> Bundle:
    """Bundles, config_db.json files and folders of them as one set of devices; subnet managers' folders beside.

    Raises UnreadableInputError for what is missing, is no JSON, or holds no device at all.
    """
    wirings: list[Wiring] = []
    subnet_roots: list[Path] = []
    found: list[tuple[str, Path]] = []
    root: Path | None = None
    for path in paths:
        if not path.exists():
            raise UnreadableInputError("no such file or folder", Location(str(path)))
        if (path / "fabric.json").is_file():
            root = path
            wirings.append(_read_wiring(path / "fabric.json"))
        if subnets := _subnet_root(path):
            subnet_roots.append(subnets)
        below = [] if path.name == OPTIONS_NAME else _config_files(path)
        if not below and not subnets:
            raise UnreadableInputError(f"holds no {CONFIG_NAME} and no {OPTIONS_NAME}", Location(str(path)))
        found += below
    files = _by_name(found)
    wiring = wirings[0] if len(wirings) == 1 and len(paths) == 1 else None
    wired = {device.name: device for device in wiring.devices} if wiring else {}
    shared = SharedTables()
    devices = {
        name: ObservedDevice(name, files[name], wired.get(name), shared) for name in sorted(files, key=natural_key)
    }
    tables = {name: device.table for name, device in devices.items()}
    if links_file is not None:
        planned = wiring.links if wiring else ()
        links = infer.from_links_file(links_file, read_bytes(links_file), tables, planned)
        return Bundle(devices, links, root, wiring, str(links_file), tuple(subnet_roots))
    if wiring is not None:
        links = tuple(link for link in wiring.links if link.plane not in wiring.infiniband_planes)
        return Bundle(devices, links, root, wiring, subnet_roots=tuple(subnet_roots))
    links, origin = infer.from_tables(tables)
    return Bundle(devices, links, links_from=origin, subnet_roots=tuple(subnet_roots))


def _subnet_root(path: Path) -> Path | None:
    """The path, where files of subnet managers lie in it or below its infiniband/ folder."""
    if path.name == OPTIONS_NAME:
        return path.parent
    return path if (path / OPTIONS_NAME).is_file() or any((path / "infiniband").glob("*/")) else None


def _by_name(found: Sequence[tuple[str, Path]]) -> dict[str, Path]:
    """Device -> file. Files that share a hostname are called as they lie: the hostname is wrong, not the files."""
    count = Counter(name for name, _ in dict.fromkeys(found))
    files: dict[str, Path] = {}
    for name, file in dict.fromkeys(found):
        own = name if count[name] == 1 else _name_by_place(file)
        if own in files:
            raise UnreadableInputError(
                f"a second file for device {own}; the first is {files[own]}", Location(str(file))
            )
        files[own] = file
    return files


def _config_files(path: Path) -> list[tuple[str, Path]]:
    """(device name, file) below a path: sonic/<device>/config_db.json, <device>/config_db.json or <device>.json."""
    if path.is_file():
        return [(_device_name(path), path)]
    below = path / "sonic" if (path / "sonic").is_dir() else path
    named = [(file.parent.name, file) for file in below.glob(f"*/{CONFIG_NAME}")]
    own_files = {"fabric.json", "manifest.json", "sources.json"}
    others = (file for file in below.glob("*.json") if file.name not in own_files)
    return sorted([*named, *((_device_name(file), file) for file in others if _holds_tables(file))])


def _holds_tables(file: Path) -> bool:
    """Whether a file of a folder is a CONFIG_DB, and not a links file or an LLDP dump that lies beside."""
    try:
        content: Any = orjson.loads(read_bytes(file))
    except orjson.JSONDecodeError:
        return True  # reported where it is read
    names = content if isinstance(content, dict) else ()
    if found := any(_TABLE.fullmatch(name) for name in names) or bool(_namespaces(content)):
        return found
    _log.warning("%s holds no table of CONFIG_DB: left out", file)
    return False


def _namespaces(content: Any) -> list[str]:
    """The ASICs whose tables a file of a switch with several holds by their names, beside those of `localhost`."""
    members = content.items() if isinstance(content, dict) else ()
    inner = [name for name, part in members if isinstance(part, dict) and any(map(_TABLE.fullmatch, part))]
    return [name for name in inner if name == "localhost" or _NAMESPACE.fullmatch(name)]


def _device_name(file: Path) -> str:
    """The name of a loose file's device: its hostname (with the ASIC, of a switch with several), else its place."""
    content = parse_object(read_bytes(file), file)
    if several := _namespaces(content):
        problem = (
            f"holds the tables of several ASICs ({', '.join(several)}); give one file for each, as config_db0.json"
        )
        raise UnreadableInputError(problem, Location(str(file), 1, 1))
    metadata = content.get("DEVICE_METADATA")
    localhost = metadata.get("localhost") if isinstance(metadata, dict) else None
    facts = localhost if isinstance(localhost, dict) else {}
    hostname, asic = (facts.get(field) for field in ("hostname", "asic_name"))
    if not isinstance(hostname, str) or not hostname:
        return _name_by_place(file)
    return f"{hostname}-{asic}" if isinstance(asic, str) and asic else hostname


def _name_by_place(file: Path) -> str:
    return file.absolute().parent.name if file.name == CONFIG_NAME else file.stem


def _read_wiring(file: Path) -> Wiring:
    try:
        return load_wiring(read_bytes(file))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInputError(
            f"not a fabric.json that this version reads: {error}", Location(str(file))
        ) from error
