"""One switch of a bundle: its config_db.json, read when it is first needed, with line numbers on demand."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol

import orjson

from fabricgen.bundle.frr_files import frr_text_beside
from fabricgen.bundle.locate import locate
from fabricgen.bundle.manifest import digest
from fabricgen.bundle.wiring import WiredDevice
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.sonic.load import RepeatedNameError, TableLoader
from fabricgen.sonic.releases import MASTER, release_of
from fabricgen.sonic.secrets import may_have_forms
from fabricgen.sonic.tables import ConfigDb, Row, first_non_row
from fabricgen.units import listed

_TABLES_REMEMBERED = 256
_LIST, _OLD_REFERENCE = b"[", b'"['  # a search for one byte is ten times faster, and most files have no list


def parse_object(text: bytes, file: Path) -> Any:
    """A JSON object. Raises UnreadableInputError with the line of a syntax error."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise _not_json(error, file) from error
    if not isinstance(value, dict):
        raise UnreadableInputError("not a JSON object", Location(str(file), 1, 1))
    return value


def _not_json(error: orjson.JSONDecodeError, file: Path, text: bytes = b"") -> UnreadableInputError:
    known = next((what for start, what in _OTHER_FORMS.items() if start.match(text)), "")
    known = known or ("the file is not UTF-8 text" if error.msg.startswith("str is not valid UTF-8") else "")
    problem = error.msg if isinstance(error, RepeatedNameError) else f"not JSON: {known or error.msg}"
    return UnreadableInputError(problem, Location(str(file), error.lineno, error.colno))


WRITE_TABLES = "write the tables on the switch: `sonic-cfggen -d --print-data > FILE`"
_OTHER_FORMS = {
    re.compile(rb"\x1f\x8b"): "the file is compressed; write `zcat FILE > NEW`",
    re.compile(rb"REDIS\d{4}"): f"a file of Redis; {WRITE_TABLES}",
    re.compile(rb"\*\d+\r\n|\d+\) "): f"an answer of Redis; {WRITE_TABLES}",
    re.compile(rb"\xef\xbb\xbf"): "the file begins with a byte order mark (BOM), which SONiC does not read either",
    re.compile(rb"\xff\xfe|\xfe\xff"): "the file is UTF-16; write it as UTF-8",
    re.compile(rb"\s*<\?xml[^>]*>\s*<DeviceMiniGraph"): "a minigraph; use `fabricgen import minigraph`",
    re.compile(rb"\s*<"): "the file is XML or HTML",
    re.compile(rb"\s*(?://|/\*|#)"): "JSON does not have comments",
    re.compile(rb"(?:---\s*\n)?[A-Z][A-Z0-9_]*:[ \t]*\r?\n"): "the file is YAML; write its tables as JSON",
}


_OF_REDIS = re.compile(r"[A-Z][A-Z0-9_]*[|:]")


def _refuse_dump(config: Mapping[str, Any], file: Path) -> None:
    """A dump of Redis has a key for each row, TABLE|key or TABLE:key: as tables it would be a switch of unknown rows.

    Raises UnreadableInputError for a file half of whose members are such keys, that contains databases by name, or that
    has members and no table among them.
    """
    if (rows := [name for name in config if _OF_REDIS.match(name)]) and 2 * len(rows) >= len(config):
        what = f"keys of Redis such as {rows[0]}, not tables"
    elif len(config) and all(name in _DATABASES for name in config):
        what = f"the database {next(iter(config))}, not its tables"
    elif config and not any(map(_TABLE_OR_ASIC.fullmatch, config)):
        what = f"no table of CONFIG_DB such as PORT, but {listed(list(config), _SHOWN)}"
    else:
        return
    raise UnreadableInputError(f"has {what}; {WRITE_TABLES}", Location(str(file), 1, 1))


_TABLE_OR_ASIC = re.compile(r"[A-Z][A-Z0-9_]*|localhost|asic\d+")
_SHOWN = 3  # members in a message


# sonic-buildimage dockers/docker-database/database_config.json.j2
_DATABASES = ("APPL_DB", "ASIC_DB", "COUNTERS_DB", "CONFIG_DB", "STATE_DB", "FLEX_COUNTER_DB", "APPL_STATE_DB")


class SharedTables:
    """Parses files so that equal tables are one object.

    Files as `config save` writes them share their tables by bytes, and only the tables used last are remembered. In
    other files each table is compared.
    """

    def __init__(self) -> None:
        self._loader = TableLoader(most=_TABLES_REMEMBERED)
        self._distinct: dict[bytes, Any] = {}

    def parse(self, text: bytes, file: Path, are_kept: bool) -> tuple[ConfigDb, Sequence[bytes]]:
        """The tables of a file, and its text in pieces if it was read in pieces. Kept tables share their texts, too.

        Raises UnreadableInputError with the line of a syntax error.
        """
        try:
            config, pieces = self._loader.load_all(text, are_kept)
        except orjson.JSONDecodeError as error:
            raise _not_json(error, file, text) from error
        except TypeError as error:
            raise UnreadableInputError(str(error), Location(str(file), 1, 1)) from error
        _refuse_dump(config, file)
        if not pieces:
            config = {name: self._distinct.setdefault(orjson.dumps(table), table) for name, table in config.items()}
        return config, pieces

    def parse_table(self, text: bytes, name: str) -> Any:
        """One table of the text of a file that was parsed before; None if it has none."""
        return self._loader.load_table(text, name)


@dataclass(frozen=True, slots=True)
class Signs:
    """What the bytes of a file show before its tables are searched; the bytes themselves are not kept."""

    old_references: bool  # a value may be a reference in the form [TABLE|name]
    secrets: bool  # a value may be a secret by its form
    digest: str  # as in the manifest

    @classmethod
    def of(cls, text: bytes, pieces: Sequence[bytes] = ()) -> "Signs":
        """The signs of the text of a file.

        If it is given in pieces, equal ones of many files are searched once. No sign has an end of line.
        """
        found = [*map(_signs_once, pieces)] if pieces else [_signs_of(text)]
        return cls(any(old for old, _ in found), any(secret for _, secret in found), digest(text))


def _signs_of(text: bytes) -> tuple[bool, bool]:
    return _LIST in text and _OLD_REFERENCE in text, may_have_forms(text)


_signs_once = lru_cache(_TABLES_REMEMBERED)(_signs_of)


class Content(Protocol):
    """The configuration of a switch as bytes and as tables."""

    @property
    def text(self) -> bytes:
        """The bytes of the file, which are read again for each use."""

    @property
    def config(self) -> ConfigDb:
        """TABLE -> key -> field -> value. Values keep the types of the file, right or wrong."""

    @property
    def signs(self) -> Signs:
        """What the bytes show."""

    def peek(self) -> ConfigDb:
        """`config`, without keeping what is not kept yet."""

    def once(self) -> "GivenContent":
        """Both, by one read."""


class FileContent:
    """The content of a file. Its tables are kept and its bytes are not, so that thousands of files fit into memory.

    Every member raises UnreadableInputError.
    """

    def __init__(self, file: Path, tables: SharedTables) -> None:
        self._file, self._tables = file, tables
        self._signs: Signs | None = None

    @property
    def text(self) -> bytes:
        """The bytes of the file, read again: only findings and digests need them."""
        return read_bytes(self._file)

    @cached_property
    def config(self) -> ConfigDb:
        """TABLE -> key -> field -> value."""
        given = self.once(are_kept=True)
        self._signs = given.signs
        return given.config

    @property
    def signs(self) -> Signs:
        """What the bytes showed when they were parsed."""
        _ = self.config
        assert self._signs is not None
        return self._signs

    @property
    def is_kept(self) -> bool:
        """Whether the tables are in memory."""
        return "config" in self.__dict__

    def peek(self) -> ConfigDb:
        """`config`; a file that is not kept yet is not kept, so that thousands of files fit into memory."""
        return self.config if self.is_kept else self.once().config

    def once(self, are_kept: bool = False) -> "GivenContent":
        """The bytes and the tables by one read, which are not kept here. `are_kept`: the caller keeps the tables."""
        text = self.text
        return GivenContent(text, *self._tables.parse(text, self._file, are_kept))

    def again(self) -> "FileContent":
        """The content of the file as it is now, which shares its tables with the files that this one does."""
        return FileContent(self._file, self._tables)

    def table_again(self, name: str) -> Any:
        """One table of a file that was read before; None if it has none."""
        return self._tables.parse_table(self.text, name)


@dataclass(frozen=True)
class GivenContent:
    """Tables that are not, or not exactly, those of a file."""

    text: bytes
    config: ConfigDb
    pieces: Sequence[bytes] = ()  # of the text, if it was read in pieces

    @cached_property
    def signs(self) -> Signs:
        """What the text shows."""
        return Signs.of(self.text, self.pieces)

    def peek(self) -> ConfigDb:
        """The tables."""
        return self.config

    def once(self) -> "GivenContent":
        """This."""
        return self


@dataclass(frozen=True, slots=True)
class ReshapedContent:
    """The content of a file with tables in another shape."""

    of: Content
    config: ConfigDb

    @property
    def text(self) -> bytes:
        """The bytes of the file."""
        return self.of.text

    @property
    def signs(self) -> Signs:
        """What the bytes show."""
        return self.of.signs

    def peek(self) -> ConfigDb:
        """The tables."""
        return self.config

    def once(self) -> GivenContent:
        """Both."""
        return GivenContent(self.text, self.config)


@dataclass(frozen=True, eq=False)
class ObservedDevice:
    """One switch as its file describes it. `config` raises UnreadableInputError if the file is not a JSON object."""

    name: str
    file: Path
    wired: WiredDevice | None
    content: Content = field(repr=False)
    bundle_release: int | None = None  # that of the manifest

    def with_config(self, config: ConfigDb, text: bytes) -> "ObservedDevice":
        """The same device with other tables; places are looked up in `text`."""
        return replace(self, content=GivenContent(text, config))

    def reshaped(self, config: ConfigDb) -> "ObservedDevice":
        """The same device with its tables in another shape; places are looked up in its file."""
        return replace(self, content=ReshapedContent(self.content, config))

    @property
    def text(self) -> bytes:
        """The bytes of the file, read again for each use."""
        return self.content.text

    @property
    def signs(self) -> Signs:
        """What the bytes of the file show."""
        return self.content.signs

    @property
    def config(self) -> ConfigDb:
        """TABLE -> key -> field -> value. Values keep the types of the file, right or wrong."""
        return self.content.config

    @property
    def frr_conf(self) -> str | None:
        """The text of the files of FRR beside the file; None without one."""
        return frr_text_beside(self.file)

    def whole_config(self) -> ConfigDb:
        """`config`. Raises UnreadableInputError at the first value that is not a row."""
        if path := first_non_row(self.config):
            problem = f"{'|'.join(path)} is not an object with fields; run `fabricgen validate` for all problems"
            raise UnreadableInputError(problem, self.locate(*path))
        return self.config

    def table(self, name: str) -> Mapping[str, Row]:
        """The rows of a table; empty if the file does not have it, or has something other than rows under its name."""
        rows = self.content.config.get(name)
        return rows if isinstance(rows, dict) else {}

    def row(self, table: str, key: str) -> Row:
        """The fields of a row; empty if the file does not have it."""
        rows = self.content.config.get(table)
        row = rows.get(key) if isinstance(rows, dict) else None
        return row if isinstance(row, dict) else {}

    def text_of(self, table: str, key: str, name: str) -> str:
        """The text of a field; "" if it is absent or not text."""
        value = self.row(table, key).get(name)
        return value if isinstance(value, str) else ""

    @property
    def known_release(self) -> int | None:
        """The SONiC release of the switch, by its file or its bundle; None if neither has it."""
        return release_of(self.config) or self.bundle_release

    @property
    def release(self) -> int:
        """The SONiC release of the switch; the master branch if it is not known."""
        return self.known_release or MASTER

    @property
    def mmu_bytes(self) -> int | None:
        """The memory of the ASIC where fabric.json has it."""
        return self.wired.mmu_bytes if self.wired else None

    @property
    def metadata(self) -> Row:
        """DEVICE_METADATA|localhost."""
        return self.row("DEVICE_METADATA", "localhost")

    def locate(self, *path: str) -> Location:
        """The place of TABLE, key, field in the file, or of as much of this path as exists."""
        line, column = locate(self.text, list(path))
        return Location(str(self.file), line, column)
