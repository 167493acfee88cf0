"""A folder is written completely or not at all, and only our own files are replaced or removed in it."""

import errno
import fcntl
import filecmp
import logging
import os
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from fabricgen.atomic.exchange import NotExchangeableError, copy_attributes, exchange, same_inode
from fabricgen.atomic.file import Private, close_to_others
from fabricgen.atomic.journal import INSIDE, change_in_place, finish_change
from fabricgen.atomic.relative import relative
from fabricgen.atomic.staging import Staged, prefix_for, remove_leftovers, stage_folder
from fabricgen.errors import UsageError
from fabricgen.interrupts import held

_log = logging.getLogger(__name__)
_SHOWN = 5  # paths in a message


class FolderWriter:
    """Collects new files of `folder` beside it. Use it as a context: without `put_in_place`, nothing is changed.

    `wanted` are the paths of all files that were added, `changed` those with other bytes than before. A folder that is
    `shared` with other programs is changed in place if it exists. Raises UsageError if `folder` is a file.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        self.folder = folder.resolve()
        self.given = folder
        self.wanted: set[str] = set()
        self.changed: set[str] = set()
        self._in_place = _why_in_place(self.folder, shared)
        self._shared = shared
        self._private: list[str] = []
        self._parents: set[str] = set()  # of added files
        self._new_parents: list[Path] = []
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{folder} is a file; --output names a folder")

    def __enter__(self) -> "FolderWriter":
        self.recover()
        self._staged = self._stage()
        if self.folder.is_dir():  # new files and folders get its group
            with suppress(PermissionError):
                copy_attributes(self.folder, self._staged.path)
            self._staged.path.chmod(self._staged.path.stat().st_mode | stat.S_IRWXU)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, OSError) and error.filename is None:  # of a write, for example to a full disk
            error.filename = str(self.given)
        with held():
            self._staged.discard()
            for parent in reversed(self._new_parents):
                with suppress(OSError):
                    parent.rmdir()  # unless it is in use

    def recover(self) -> None:
        """Complete what a killed run began in this folder."""
        if self.folder.is_dir():
            with _locked(self.folder):
                finish_change(self.folder)
            remove_leftovers(self.folder, INSIDE)

    def add(self, path: str, content: bytes) -> None:
        """Add a file. If the folder has it with the same bytes, it is a hard link to that file."""
        self.note(path, is_new=self.stage(path, content))

    def stage(self, path: str, content: bytes) -> bool:
        """Write a file beside the folder; whether it has other bytes than before. A process that was forked from this
        one can do so for files that are not private; this one notes what it answers."""
        target = self._target(path)
        is_same = has_content(self.folder / path, content)
        if isinstance(content, Private):
            self._private.append(path)
            target.touch(0o600)
        if not (is_same and _linked(self.folder / path, target)):
            target.write_bytes(content)
        return not is_same

    def note(self, path: str, *, is_new: bool) -> None:
        """Add a file that is staged."""
        self.wanted.add(relative(path))
        if is_new:
            self.changed.add(path)

    def add_pieces(self, path: str, pieces: Iterator[bytes]) -> None:
        """Add a file that is too large for memory, as `add`."""
        target, old = self._target(path), self.folder / path
        with target.open("wb") as stream:
            stream.writelines(pieces)
        if not (stat.S_ISREG(_mode(old)) and filecmp.cmp(old, target, shallow=False)):
            self.changed.add(path)
            return
        target.unlink()
        if not _linked(old, target):
            shutil.copyfile(old, target)

    def _target(self, path: str) -> Path:
        self.wanted.add(relative(path))
        target = self._staged.path / path
        if (parent := path.rpartition("/")[0]) not in self._parents:
            self._parents.add(parent)
            target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def keep(self, path: str) -> None:
        """Keep a file of the folder."""
        target = self._target(path)
        if not _linked(self.folder / path, target):
            target.write_bytes((self.folder / path).read_bytes())

    def refuse_to_replace(self, owned: Collection[str], remedy: str) -> None:
        """Raises UsageError if a changed file would replace one that is not in `owned`."""
        foreign = sorted(path for path in self.changed if path not in owned and os.path.lexists(self.folder / path))
        if foreign:
            shown = ", ".join(foreign[:_SHOWN]) + (f" and {len(foreign) - _SHOWN} more" if foreign[_SHOWN:] else "")
            raise UsageError(f"{self.given} contains files that fabricgen did not write: {shown}; {remedy}")

    def refuse_misfits(self) -> None:
        """Raises UsageError if a folder is in the place of a file, or something else in the place of a folder."""
        seen: set[str] = set()
        for path in sorted(self.wanted) if self.folder.exists() else ():
            if self._is_folder(path):
                raise UsageError(f"{self.folder / path} is a folder, and a file of this name is written; rename it")
            while (path := path.rpartition("/")[0]) and path not in seen:
                seen.add(path)
                if self._is_folder(path) is False:
                    raise UsageError(f"{self.folder / path} is not a folder, and files below it are written; rename it")

    def _is_folder(self, path: str) -> bool | None:
        """None if the folder has nothing at the path. Strings, because a bundle has thousands of files."""
        with suppress(FileNotFoundError, NotADirectoryError):
            return stat.S_ISDIR(os.lstat(f"{self.folder}/{path}").st_mode)
        return None

    def put_in_place(self, dropped: Collection[str] = ()) -> None:
        """Replace the folder, without the `dropped` files. All files that were not added are kept.

        Raises UsageError as `refuse_misfits`.
        """
        self.refuse_misfits()
        dropped = {path for path in dropped if path not in self.wanted and os.path.lexists(self.folder / path)}
        with held():
            if not self.folder.exists():
                self._staged.path.rename(self.folder)
                self._new_parents = []
                return
            for path in self._private:  # before secrets come in: the new files get the modes of the old ones
                if stat.S_ISREG(_mode(self.folder / path)):
                    close_to_others(self.folder / path)
            if self.changed or dropped:
                with _locked(self.folder):
                    self._replace(dropped)

    def _replace(self, dropped: Collection[str]) -> None:
        reason = self._in_place
        if not reason:
            try:
                exchange(self._staged.path, self.folder, self.wanted, dropped)
                return
            except NotExchangeableError as error:
                reason = str(error)
        changed = sorted(path for path in self.wanted if not self._is_in_place(path))
        if len(changed) + len(dropped) > 1 and not self._shared:
            _log.warning(
                "%s: the folder cannot be replaced in one step (%s), so its files are replaced one by one. If the run "
                "is killed meanwhile, fabricgen refuses to read the folder until the command is repeated",
                self.given, reason,
            )  # fmt: skip
        change_in_place(self.folder, self._staged.path, changed, sorted(dropped))

    def _is_in_place(self, path: str) -> bool:
        staged = self._staged.path / path
        return same_inode(self.folder / path, staged) or has_content(self.folder / path, staged.read_bytes())

    def _stage(self) -> Staged:
        parent = self.folder.parent
        self._make_parents(parent)
        if self._in_place and self.folder.is_dir():
            return stage_folder(self.folder, INSIDE)
        try:
            return stage_folder(parent, prefix_for(self.folder))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS) or not self.folder.is_dir():
                raise
            self._in_place = f"{parent}: {error.strerror}"
            return stage_folder(self.folder, INSIDE)

    def _make_parents(self, parent: Path) -> None:
        missing = [each for each in (parent, *parent.parents) if not each.exists()]
        for each in reversed(missing):
            self._new_parents.append(each)
            each.mkdir(exist_ok=True)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder of other people, all or nothing. Files with these names are replaced."""
    with FolderWriter(folder, shared=True) as writer:
        for path, content in files.items():
            writer.add(path, content)
        writer.put_in_place()


def create_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write new files into a folder, all or nothing. Raises UsageError if one of them exists with other bytes."""
    with FolderWriter(folder) as writer:
        for path, content in files.items():
            writer.add(path, content)
        writer.refuse_to_replace((), "choose a new folder")
        writer.put_in_place()


def has_content(file: Path, content: bytes) -> bool:
    """Whether a path is a regular file with these bytes."""
    try:
        about = file.lstat()
        return stat.S_ISREG(about.st_mode) and about.st_size == len(content) and file.read_bytes() == content
    except OSError:
        return False


def _why_in_place(folder: Path, shared: bool) -> str:
    """Why an existing folder must stay the same folder; "" if it can be exchanged with a new one."""
    if not folder.is_dir() or not any(folder.iterdir()):
        shared = False
    with suppress(FileNotFoundError):
        if Path.cwd().is_relative_to(folder):
            return "it contains the working directory"
    with suppress(RuntimeError):
        if Path.home().resolve() == folder:
            return "it is the home folder"
    if folder.is_mount():
        return "it is a mount point"
    if folder.is_dir() and folder.stat().st_mode & stat.S_ISVTX:
        return "other users write into it"
    return "it is shared with other files" if shared else ""


def _linked(old: Path, new: Path) -> bool:
    with suppress(OSError):
        os.link(old, new, follow_symlinks=False)
        return True
    return False


def _mode(path: Path) -> int:
    """The type and mode of a path, without following a link; 0 if it does not exist."""
    with suppress(OSError):
        return path.lstat().st_mode
    return 0


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One run at a time replaces a folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
