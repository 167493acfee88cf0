"""Files and folders that options name, checked before the work starts: what is read exists, what is written has a
place, and no output replaces another one or an input of the same run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from fabricgen.cli.endings import refuse_ending
from fabricgen.errors import UsageError

# Options of verbs that write. An option whose path must exist is read in any case.
_WRITTEN = (
    "output", "lock", "folder", "certificate", "routes", "save_jobs", "evidence", "headline", "work_order", "svg",
    "series", "cache",
)  # fmt: skip
_CHANGED = ("lock", "cache")  # may be among the inputs
_MADE = ("evidence",)  # the folder of these files is made
_FIRST = ("inventories",)  # read before all other work; `check --watch` waits for them
_PRODUCTS = (".html", ".md", ".sarif", ".svg", ".xml", ".drawio", ".dot")  # no verb reads these in a folder


@dataclass(frozen=True)
class _Written:
    """A path that a parameter writes: the name of the parameter in Python and for people, and what it may be."""

    name: str
    option: str
    path: Path
    file_okay: bool
    dir_okay: bool


def check_paths(command: click.Command, given: Mapping[str, Any]) -> None:
    """Check the paths of the parameters of a verb. Raises UsageError and UnreadableInputError."""
    read: list[Path] = []
    written: list[_Written] = []
    for each in command.params:
        value, kind, name = given.get(each.name or ""), each.type, each.name or ""
        if not isinstance(kind, click.Path):
            continue
        paths = [path for path in (value if isinstance(value, tuple) else (value,)) if isinstance(path, Path)]
        if name in _WRITTEN and not kind.exists:
            written += [_Written(name, _shown(each), path, kind.file_okay, kind.dir_okay) for path in paths]
            continue
        read += paths
        for path in paths if name not in _FIRST else ():
            _require(path)
    for one in written:
        if str(one.path) == "-":
            raise UsageError(f"{one.option} -: write /dev/stdout for standard output; no file has the name -")
        refuse_ending(one.option, one.name, one.path)
        if one.name == "cache" or given.get("check"):  # may be one that is only read; `render --check` writes nothing
            continue
        if one.dir_okay:
            _require_folder(one.option, one.path)
        else:
            require_place(one.option, one.path, made=one.name in _MADE)
    _require_different(written)
    for one in written:
        if one.name not in _CHANGED and (taken := _replaced(one, read)):
            raise UsageError(
                f"{one.option} {one.path} would replace {taken}, which this run reads: choose another name"
            )


def require_place(option: str, file: Path, *, made: bool = False) -> None:
    """Raises UsageError if no file can be written there; a folder that is missing can be `made`."""
    if _is_stream(file):
        return
    parent = file.resolve().parent
    if made:
        _require_folder(option, parent)
        if parent.exists() and not parent.is_dir():
            raise UsageError(f"{option} {file}: {file.parent} is not a folder")
    elif not parent.is_dir():
        missing = not os.path.lexists(parent)
        remedy = "does not exist; create it first" if missing else "is not a folder"
        raise UsageError(f"{option} {file}: {'the folder ' * missing}{file.parent} {remedy}")
    elif not os.access(parent, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {file}: no file can be written into the folder {file.parent}")


def _require(path: Path) -> None:
    try:
        is_missing = not path.exists()
    except OSError:  # a folder above it that this user cannot enter: the reader has the reason
        return
    if is_missing:
        from fabricgen.errors import UnreadableInputError
        from fabricgen.findings import Location

        raise UnreadableInputError("no such file or folder", Location(str(path)))


def _require_folder(option: str, folder: Path) -> None:
    """Raises UsageError if a folder cannot be made or written. A file at this path is left to the verb, which says what
    it would have written there."""
    nearest = folder.resolve()
    while not os.path.lexists(nearest):
        nearest = nearest.parent
    if not nearest.is_dir():
        if nearest != folder.resolve():
            raise UsageError(f"{option} {folder}: {nearest} is not a folder")
    elif not os.access(nearest, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {folder}: no file can be written into the folder {nearest}")


def _require_different(written: Sequence[_Written]) -> None:
    """Raises UsageError if two options write the same file: one would replace the other."""
    seen: dict[Path, str] = {}
    for one in written:
        if one.file_okay and not _is_stream(one.path):
            if other := seen.get(one.path.resolve()):
                raise UsageError(f"{other} and {one.option} write the same file, {one.path}: choose different names")
            seen[one.path.resolve()] = one.option


def _replaced(one: _Written, read: Sequence[Path]) -> Path | None:
    """The input that an output would replace."""
    target = one.path.resolve()
    for each in read:
        source = each.resolve()
        if source == target:
            return each
        if one.file_okay and target.is_file() and target.is_relative_to(source):
            inside = target.relative_to(source)
            if _reads(source, inside):
                return each / inside
    return None


def _reads(folder: Path, file: Path) -> bool:
    """Whether a verb reads this file of a folder: of a bundle what render wrote, of an inventory its YAML files and
    tables, and of another folder every file that is not a product of a verb."""
    from fabricgen.bundle.manifest import NAME, read_manifest

    if manifest := read_manifest(folder):
        return str(file) == NAME or file.as_posix() in manifest.files
    if any(folder.glob("*.y*ml")):
        from fabricgen.inventory.tables import TABLES

        return file.suffix in (".yaml", ".yml") or file.name in TABLES
    return file.suffix not in _PRODUCTS


def _is_stream(path: Path) -> bool:
    """A pipe or a device, which is not replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _shown(parameter: click.Parameter) -> str:
    """The parameter as people give it."""
    is_option = isinstance(parameter, click.Option)
    return max(parameter.opts, key=len) if is_option else parameter.human_readable_name.strip("[]")
