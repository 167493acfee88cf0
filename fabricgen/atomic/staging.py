"""Temporary files and folders: their names, their locks, and the removal of those that killed runs left."""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fabricgen.interrupts import at_end, held

_TOKEN = re.compile(r"[0-9a-f]{8}")
_LONGEST = 48  # characters of the target's name; a file name has at most 255 bytes
_AT_A_TIME = 16  # removals; some file systems wait for their disk in each
_MEMORY, _LEFT, _LIMIT = Path("/dev/shm"), Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
_LEAST_BYTES = 8 << 30  # a rendering of 6,016 switches has 0.8 GB
_OPENED = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_live: dict[Path, int] = {}  # temporary path -> process that made it


@dataclass(frozen=True)
class Staged:
    """A temporary file or folder of this process, locked by an open handle."""

    path: Path
    handle: int

    def discard(self) -> None:
        """Remove what is left at the path, and release the lock. Does not raise OSError."""
        with held():
            remove_tree(self.path)
            _live.pop(self.path, None)
            with suppress(OSError):
                os.close(self.handle)


def prefix_for(target: Path) -> str:
    """The beginning of the names of temporary files for a target."""
    return f".{target.name[:_LONGEST]}.fabricgen-"


def stage_folder(parent: Path, prefix: str, mode: int = 0o777) -> Staged:
    """A new empty folder. First, folders of killed runs with this prefix are removed.

    The umask applies to `mode`. Raises OSError with the name of `parent`.
    """
    return _stage(parent, prefix, lambda path: path.mkdir(mode))


def stage_file(parent: Path, prefix: str, mode: int = 0o666) -> Staged:
    """A new empty file, as `stage_folder`."""
    return _stage(parent, prefix, lambda path: os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)))


@contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """A private folder `fabricgen-NAME-…` in the folder for temporary files, without symbolic links in its path."""
    staged = stage_folder(_for_temporary_files().resolve(), f"fabricgen-{name}-", 0o700)
    try:
        yield staged.path
    finally:
        staged.discard()


def _for_temporary_files() -> Path:
    """The folder that TMPDIR, or the program, has set; else memory if much of it is free, because a file system on a
    disk takes up to ten times as long to make and remove a file; else what Python chooses."""
    import tempfile

    is_chosen = tempfile.tempdir or any(map(os.environ.get, ("TMPDIR", "TEMP", "TMP")))
    return _MEMORY if not is_chosen and _is_memory_free() else Path(tempfile.gettempdir())


def _is_memory_free() -> bool:
    """Whether a large rendering fits several times into that folder, into the memory that the machine has left, and
    into what its container may use.

    Source: memory.max in Documentation/admin-guide/cgroup-v2.rst of Linux, MemAvailable in filesystems/proc.rst.
    """
    try:
        room, limit = os.statvfs(_MEMORY), _LIMIT.read_text("ascii").strip() if _LIMIT.exists() else "max"
        left_kib = re.search(r"^MemAvailable: +(\d+) kB$", _LEFT.read_text("ascii"), re.MULTILINE)
        found = [room.f_bavail * room.f_frsize, int(left_kib[1]) << 10 if left_kib else 0]
        found += [int(limit)] if limit != "max" else []
    except (OSError, ValueError):  # another system than Linux
        return False
    return os.access(_MEMORY, os.W_OK) and min(found) >= _LEAST_BYTES


def remove_tree(path: Path) -> None:
    """Remove a file, or a folder with everything below it. Does not raise OSError."""
    with suppress(OSError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
        _remove_together(path)
        import shutil

        shutil.rmtree(path, onerror=partial(_writable_then_again, path))


def _remove_together(folder: Path) -> None:
    """Remove the files and the innermost folders in a folder, several at a time. What cannot be removed stays."""
    from concurrent.futures import ThreadPoolExecutor

    files, innermost = list[str](), list[str]()
    for at, folders, names in os.walk(folder):
        files += [f"{at}/{name}" for name in names]
        if not folders and Path(at) != folder:
            innermost.append(at)
    with suppress(RuntimeError), ThreadPoolExecutor(_AT_A_TIME) as pool:  # RuntimeError: no thread can be started
        for remove, paths in ((os.unlink, files), (_remove_empty, innermost)):
            parts = [paths[place::_AT_A_TIME] for place in range(_AT_A_TIME)]
            list(pool.map(partial(_remove_each, remove), parts))


def _remove_each(remove: Callable[[str], None], paths: Sequence[str]) -> None:
    for path in paths:
        with suppress(OSError):
            remove(path)


def _remove_empty(folder: str) -> None:
    """Remove a folder. It is open meanwhile, so what waits for the disk is the close: its parent is not locked then."""
    handle = os.open(folder, _OPENED)
    try:
        Path(folder).rmdir()
    finally:
        os.close(handle)


def remove_leftovers(parent: Path, prefix: str) -> None:
    """Remove what killed runs of this user left in `parent`. A locked file or folder belongs to a running program."""
    with suppress(OSError):
        for entry in list(os.scandir(parent)):
            if entry.name.startswith(prefix) and _TOKEN.fullmatch(entry.name, len(prefix)):
                with suppress(OSError):
                    _remove_dead(Path(entry.path))


def _stage(parent: Path, prefix: str, make: Callable[[Path], None]) -> Staged:
    remove_leftovers(parent, prefix)
    while True:
        path = parent / f"{prefix}{os.urandom(4).hex()}"
        _live[path] = os.getpid()
        try:
            make(path)
        except FileExistsError:
            del _live[path]
            continue
        except OSError as error:
            del _live[path]
            raise OSError(error.errno, error.strerror, str(parent)) from error
        with suppress(FileNotFoundError):  # another run removed it before it was locked
            handle = os.open(path, _OPENED)
            _lock(handle)
            if path.lstat().st_ino == os.fstat(handle).st_ino:
                return Staged(path, handle)


def _lock(handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise  # some network file systems have no locks; there, leftovers are not removed either


def _remove_dead(path: Path) -> None:
    handle = os.open(path, _OPENED)
    try:
        about = os.fstat(handle)
        if about.st_uid == os.geteuid() and (stat.S_ISDIR(about.st_mode) or stat.S_ISREG(about.st_mode)):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(path)
    finally:
        os.close(handle)


def _writable_then_again(tree: Path, remove: Callable[[str], Any], path: str, _: object) -> None:
    """A folder of the tree without write permission keeps its entries: change its mode, and try again. The folder that
    contains the tree is not ours: it may be /tmp."""
    with suppress(OSError):
        if Path(path) != tree:
            Path(path).parent.chmod(0o700)
        if Path(path).is_dir() and not Path(path).is_symlink():
            Path(path).chmod(0o700)
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        else:
            remove(path)


def _discard_all() -> None:
    for path, process in list(_live.items()):
        if process == os.getpid():
            remove_tree(path)
            del _live[path]


at_end(_discard_all)
