"""The files of a handoff, in a folder that can contain other files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from fabricgen.atomic.file import Private
from fabricgen.atomic.folder import FolderWriter
from fabricgen.atomic.relative import relative
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes

INDEX = ".fabricgen-handoff.json"
FORMAT_VERSION = "1"


Content = bytes | Iterator[bytes]  # of a file; a large one in pieces


def write_folder(folder: Path, files: Iterable[tuple[str, Content]], *, adopt: bool = False) -> "WrittenFiles":
    """Write (relative path, content) below `folder`; returns the files.

    All of them are written, or nothing. An index lists the files of the handoff: files of an earlier handoff that are
    not in this one are removed, all other files are kept. With `adopt`, files that fabricgen did not write are replaced
    where the handoff has the same path. Raises UsageError for such files without `adopt`, or if `folder` is a file,
    and UnreadableInputError for an invalid index.
    """
    written = WrittenFiles(folder)
    with FolderWriter(folder) as writer:
        known = _read_index(folder / INDEX)
        for path, content in files:
            if isinstance(content, bytes):
                writer.add(relative(path), content)
            else:
                writer.add_pieces(relative(path), content)
            written.kinds[path] = Private if isinstance(content, Private) else bytes
        writer.add(INDEX, _dump_index(written.kinds))
        if not adopt:
            writer.refuse_to_replace({*known, INDEX}, "choose another folder, or add --adopt-folder to replace them")
        writer.put_in_place(known)
    return written


@dataclass(frozen=True, eq=False)
class WrittenFiles(Mapping[str, bytes]):
    """Path -> content of the files of a handoff, read again when it is needed: thousands do not fit into memory."""

    folder: Path
    kinds: dict[str, type[bytes]] = field(default_factory=dict)  # path -> bytes or Private

    @property
    def private(self) -> int:
        """How many of them contain secrets."""
        return sum(kind is Private for kind in self.kinds.values())

    def __getitem__(self, path: str) -> bytes:
        return self.kinds[path](read_bytes(self.folder / path))

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)


def _read_index(file: Path) -> set[str]:
    if not file.exists():
        return set()
    try:
        raw = orjson.loads(read_bytes(file))
        if raw["format_version"] != FORMAT_VERSION:
            raise ValueError(f"format_version {raw['format_version']!r}, this fabricgen reads {FORMAT_VERSION!r}")
        return {relative(path) for path in raw["files"]}
    except (ValueError, KeyError, TypeError) as error:
        problem = f"not an index of a handoff: {error}; remove it, and the files of removed devices, by hand"
        raise UnreadableInputError(problem, Location(str(file))) from error


def _dump_index(paths: Iterable[str]) -> bytes:
    index = {"format_version": FORMAT_VERSION, "files": sorted(paths)}
    return orjson.dumps(index, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
