"""Changing a folder in place: a mount point, or where other owners or the file system prevent an exchange.

All new files are completed in a temporary folder inside. A journal then lists the moves and removals, and they are
carried out to the end. A run that is killed in between leaves the journal: readers refuse the folder, and the next run
that writes it carries out the rest first.
"""

import errno
import json
import os
import shutil
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from fabricgen.atomic.file import keep_mode
from fabricgen.atomic.relative import relative
from fabricgen.atomic.staging import Staged, remove_tree, stage_folder
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location

JOURNAL = ".fabricgen-journal.json"
INSIDE = ".fabricgen-new-"  # the beginning of the name of the temporary folder
_VERSION = "1"


def change_in_place(folder: Path, completed: Path, moved: Collection[str], removed: Collection[str]) -> None:
    """Move the files of `completed` into `folder`, and remove others. Raises OSError before the first change."""
    for path in (*moved, *removed):
        _check_writable(folder, path)
    inside = stage_folder(folder, INSIDE)
    try:
        for path in moved:
            _hand_over(completed / path, inside.path / path)
            keep_mode(folder / path, inside.path / path)
        _commit(folder, inside, moved, removed)
    finally:
        inside.discard()


def finish_change(folder: Path) -> None:
    """Carry out the rest of a change that a killed run left. Raises UnreadableInputError for an invalid journal."""
    file = folder / JOURNAL
    if not file.is_file():
        return
    try:
        if file.stat().st_uid not in (os.geteuid(), 0):
            raise ValueError("it belongs to another user")
        raw = json.loads(file.read_bytes())
        if raw["format_version"] != _VERSION:
            raise ValueError(f"format_version {raw['format_version']!r}")
        inside = relative(raw["folder"])
        moved, removed = ([*map(relative, raw[name])] for name in ("moved", "removed"))
    except (ValueError, KeyError, TypeError) as error:
        problem = f"not a journal of this version: {error}; restore the folder from version control, or remove the file"
        raise UnreadableInputError(problem, Location(str(file))) from error
    _carry_out(folder, folder / inside, moved, removed)
    file.unlink(missing_ok=True)
    remove_tree(folder / inside)


def refuse_incomplete(folder: Path) -> None:
    """Raises UnreadableInputError for a folder that a killed run left with old and new files."""
    if (folder / JOURNAL).is_file():
        problem = "a run was killed while it replaced files here; repeat its command, which writes the rest"
        raise UnreadableInputError(problem, Location(str(folder / JOURNAL)))


def _commit(folder: Path, inside: Staged, moved: Collection[str], removed: Collection[str]) -> None:
    if len(moved) + len(removed) > 1:  # one rename needs no journal
        journal = {
            "format_version": _VERSION, "folder": inside.path.name, "moved": sorted(moved), "removed": sorted(removed),
        }  # fmt: skip
        draft = inside.path / JOURNAL
        draft.write_text(json.dumps(journal, indent=2) + "\n", encoding="utf-8")
        draft.replace(folder / JOURNAL)
    _carry_out(folder, inside.path, moved, removed)
    (folder / JOURNAL).unlink(missing_ok=True)


def _carry_out(folder: Path, inside: Path, moved: Collection[str], removed: Collection[str]) -> None:
    for path in moved:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # moved before the run was killed
            (inside / path).replace(folder / path)
    for path in removed:
        (folder / path).unlink(missing_ok=True)
        for parent in (folder / path).parents:
            if parent == folder or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()


def _hand_over(old: Path, new: Path) -> None:
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        old.replace(new)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        shutil.copyfile(old, new)


def _check_writable(folder: Path, path: str) -> None:
    """Whether the nearest existing folder of a file can be written."""
    parent = next(each for each in (folder / path).parents if each.is_dir())
    target = folder / path
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(parent))
    if target.is_mount():
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(target))
    is_sticky = parent.stat().st_mode & stat.S_ISVTX
    if is_sticky and os.geteuid() != 0 and target.exists() and target.lstat().st_uid != os.geteuid():
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(target))
