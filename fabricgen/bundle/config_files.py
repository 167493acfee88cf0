"""Which files of a path are config_db.json files of switches, and how their switches are called."""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from fabricgen.bundle.device import WRITE_TABLES, FileContent, SharedTables
from fabricgen.bundle.names import CONFIG_NAME, is_file_name
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location

_log = logging.getLogger(__name__)
_OF_BUNDLE = {"fabric.json", "manifest.json", "sources.json"}
_TABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_WITHOUT_ROWS = 4096  # bytes of a file with the names of all tables; larger files are not read before they are needed
_NAMESPACE = re.compile(r"asic\d+")


class ConfigFiles:
    """Collects files, device by device. A file that has to be read for the name of its device is read once."""

    def __init__(self) -> None:
        self._tables = SharedTables()
        self._contents: dict[Path, FileContent] = {}

    def below(self, path: Path) -> list[tuple[str, Path]]:
        """(device name, file) below a path: sonic/<device>/config_db.json, <device>/config_db.json or <device>.json. If
        there is no such file, any config_db.json further below, or the only file of each folder.

        Raises UnreadableInputError for a loose file that is not a config_db.json of one ASIC.
        """
        if path.is_file():
            self._require_rows(path)
            return [(self.device_name(path), path)]
        below = path / "sonic" if (path / "sonic").is_dir() else path
        named = [(file.parent.name, file) for file in below.glob(f"*/{CONFIG_NAME}")]
        others = (file for file in sorted(below.glob("*.json")) if file.name not in _OF_BUNDLE)
        found = [*named, *((self.device_name(file), file) for file in others if self._has_tables(file))]
        found = sorted(found or _named_by_folder(below, self._further_below(below)))
        if not (path / "fabric.json").is_file():  # which has the ports that the file of a bundle must have
            for _, file in found:
                self._require_rows(file)
        return found

    def _further_below(self, folder: Path) -> list[Path]:
        """Files named config_db.json at any depth, as labs have them: leaf1/config/config_db.json. Without one, the
        file of each folder that has only one with tables: leaf1/startup.json."""
        if named := [file for file in folder.glob(f"*/**/{CONFIG_NAME}") if file.is_file()]:
            return named
        by_folder: dict[Path, list[Path]] = {}
        for file in sorted(folder.glob("*/*.json")):  # an error is that of the same file on each machine
            if file.name not in _OF_BUNDLE and self._has_tables(file, is_reported=False):
                by_folder.setdefault(file.parent, []).append(file)
        return [files[0] for files in by_folder.values() if len(files) == 1]

    def content(self, file: Path) -> FileContent:
        """The content of a file; a file read before is not read again."""
        if file not in self._contents:
            self._contents[file] = FileContent(file, self._tables)
        return self._contents[file]

    def _has_tables(self, file: Path, *, is_reported: bool = True) -> bool:
        """Whether a file of a folder is a CONFIG_DB, and not a links file or an LLDP dump beside it."""
        content = self.content(file)
        try:
            config = content.config
        except UnreadableInputError:
            if is_reported and not _is_json_of_others(content.text):
                raise
            config = {}
        if any(map(_TABLE.fullmatch, config)) or _namespaces(config):
            return True
        if not is_reported:
            return False
        _log.warning("%s does not contain a table of CONFIG_DB: left out", file)
        return False

    def _require_rows(self, file: Path) -> None:
        """Raises UnreadableInputError for a file without a row: all rules would hold on it."""
        if file.stat().st_size <= _WITHOUT_ROWS and not any(self.content(file).peek().values()):
            raise UnreadableInputError(f"has no row of any table; {WRITE_TABLES}", Location(str(file), 1, 1))

    def device_name(self, file: Path, place: str = "") -> str:
        """The hostname of the device of a loose file, with the ASIC if it has several; without a hostname its place."""
        config = self.content(file).config
        if several := _namespaces(config):
            found = ", ".join(several)
            problem = f"contains the tables of several ASICs ({found}); give one file for each, such as config_db0.json"
            raise UnreadableInputError(problem, Location(str(file), 1, 1))
        metadata = config.get("DEVICE_METADATA")
        localhost = metadata.get("localhost") if isinstance(metadata, dict) else None
        facts = localhost if isinstance(localhost, dict) else {}
        hostname, asic = (facts.get(field) for field in ("hostname", "asic_name"))
        if not isinstance(hostname, str) or not is_file_name(hostname):
            return place or _name_by_place(file)
        return f"{hostname}-{asic}" if isinstance(asic, str) and is_file_name(asic) else hostname


def _named_by_folder(root: Path, files: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """(device name, file): the name is that of the folder, the deepest one whose name differs from file to file."""
    folders = [file.relative_to(root).parent.parts for file in files]
    depth = min(map(len, folders), default=0)
    for level in (*range(-1, -depth - 1, -1), *range(depth)):
        if len({names[level] for names in folders}) == len(files):
            yield from ((names[level], file) for names, file in zip(folders, files, strict=True))
            return
    yield from (("-".join(names), file) for names, file in zip(folders, files, strict=True))


def by_device(found: Sequence[tuple[str, Path]]) -> dict[str, Path]:
    """Device -> file. Files with the same hostname are named by their place: the hostname is wrong, not the files.

    Raises UnreadableInputError if two files of one device remain.
    """
    count = Counter(name for name, _ in dict.fromkeys(found))
    files: dict[str, Path] = {}
    for name, file in dict.fromkeys(found):
        unique = name if count[name] == 1 else _name_by_place(file)
        if not is_file_name(unique):
            raise UnreadableInputError(f"{unique!r} cannot be the name of a device", Location(str(file)))
        if unique in files:
            problem = f"a second file for device {unique}; the first is {files[unique]}"
            raise UnreadableInputError(problem, Location(str(file)))
        files[unique] = file
    return files


def _is_json_of_others(text: bytes) -> bool:
    """Whether a file is JSON without a table."""
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return not (isinstance(content, dict) and any(map(_TABLE.fullmatch, content)))


def _namespaces(config: Mapping[str, Any]) -> list[str]:
    """The ASICs whose tables a file of a switch with several has under their names, beside those of `localhost`."""
    inner = [name for name, part in config.items() if isinstance(part, dict) and any(map(_TABLE.fullmatch, part))]
    return [name for name in inner if name == "localhost" or _NAMESPACE.fullmatch(name)]


def _name_by_place(file: Path) -> str:
    return file.absolute().parent.name if file.name == CONFIG_NAME else file.stem
