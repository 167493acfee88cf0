"""The files of a handoff, in a folder that can contain other files."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import orjson

from fabricgen.atomic import write_atomically
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes

INDEX = ".fabricgen-handoff.json"
FORMAT_VERSION = "1"


def write_folder(folder: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write (relative path, bytes) below `folder`; returns the number of files.

    Each file is replaced as a whole. An index lists the files of the handoff: files of an earlier handoff that are not
    in this one are removed, all other files are kept. A run that is killed leaves an index with old and new files, so
    the next run removes the old ones. Raises UsageError if `folder` is a file, UnreadableInputError for an invalid
    index.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; --output names a folder")
    contents = {_inside(path): content for path, content in files}
    known = _read_index(folder / INDEX)
    _write(folder / INDEX, _dump_index(known | contents.keys()))
    for path, content in contents.items():
        _write(folder / path, content)
    for path in known - contents.keys():
        _remove(folder, path)
    _write(folder / INDEX, _dump_index(contents.keys()))
    return len(contents)


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise ValueError(f"{path!r} is not in the folder")
    return path


def _read_index(file: Path) -> set[str]:
    if not file.exists():
        return set()
    try:
        raw = orjson.loads(read_bytes(file))
        if raw["format_version"] != FORMAT_VERSION:
            raise ValueError(f"format_version {raw['format_version']!r}, this fabricgen reads {FORMAT_VERSION!r}")
        return {_inside(path) for path in raw["files"]}
    except (ValueError, KeyError, TypeError) as error:
        problem = f"not an index of a handoff: {error}; remove it, and the files of removed devices, by hand"
        raise UnreadableInputError(problem, Location(str(file))) from error


def _dump_index(paths: Iterable[str]) -> bytes:
    index = {"format_version": FORMAT_VERSION, "files": sorted(paths)}
    return orjson.dumps(index, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _write(file: Path, content: bytes) -> None:
    """Write a file unless it has the same bytes."""
    if file.is_file() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink():
        file.unlink()  # its target is not a file of the handoff
    write_atomically(file, content)


def _remove(folder: Path, path: str) -> None:
    """Remove a file, and its folders if they are then empty."""
    (folder / path).unlink(missing_ok=True)
    for parent in (folder / path).parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
