"""A bundle is written completely or not at all.

The new folder is completed beside the old one, with hard links to unchanged and foreign files. Then the two folders are
exchanged in one step. If the program is killed, the bundle is the old one or the new one, and the next run removes the
other folder.
"""

import ctypes
import errno
import fcntl
import glob
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from fabricgen.atomic import Private, mode_of
from fabricgen.bundle.manifest import NAME, Manifest, digest, read_manifest
from fabricgen.errors import UsageError

_log = logging.getLogger(__name__)

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# Files that fabricgen renders, for a bundle without a manifest.
_OWN = re.compile(r"(fabric|sources|manifest)\.json|cabling\.csv|sonic/[^/]+/config_db\.json|hosts/.*|infiniband/.*")


class BundleWriter:
    """Collects files beside `folder`. Use it as a context: without `commit`, its files are removed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{folder} is a file; --output names a folder")
        if Path.cwd().is_relative_to(self.folder):
            raise UsageError(f"{folder} contains the working directory; --output must be another folder")
        self.digests: dict[str, str] = {}
        self.changed: set[str] = set()
        self._prefix = f".{self.folder.name}.fabricgen-"

    def __enter__(self) -> "BundleWriter":
        parent = self.folder.parent
        parent.mkdir(parents=True, exist_ok=True)
        self._remove_leftovers(parent)
        self._staging = Path(tempfile.mkdtemp(prefix=self._prefix, dir=parent))
        self._staging.chmod(0o755)
        self._lock = os.open(self._staging, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lock)
        shutil.rmtree(self._staging, ignore_errors=True)

    def add(self, path: str, content: bytes) -> None:
        """Add a file. If the old bundle has it with the same bytes, it is a link to that file."""
        target, old = self._staging / path, self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        self.digests[path] = digest(content)
        if _same(old, content):
            os.link(old, target)
        else:
            target.write_bytes(content)
            self.changed.add(path)
        if isinstance(content, Private):
            target.chmod(mode_of(content))

    def keep(self, path: str) -> bool:
        """Keep a file of the old bundle; False if the bundle does not have it."""
        old = self.folder / path
        if not old.is_file():
            return False
        target = self._staging / path
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(old, target)
        self.digests[path] = digest(target.read_bytes())
        return True

    def commit(self, fabric: str, output_version: int, inventory_digest: str) -> list[str]:
        """Write the manifest and replace the old folder; returns the files that are removed."""
        known = read_manifest(self.folder)
        own = set(known.files) if known else None
        gone = []
        for path in sorted(_files(self.folder)):
            ours = path in own or path == NAME if own is not None else bool(_OWN.fullmatch(path))
            if path in self.digests or path == NAME:
                continue
            if ours:
                gone.append(path)
                continue
            target = self._staging / path
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(self.folder / path, target, follow_symlinks=False)
        manifest = Manifest(fabric, output_version, inventory_digest, self.digests)
        (self._staging / NAME).write_bytes(manifest.dump())
        _put_in_place(self._staging, self.folder)
        return gone

    def _remove_leftovers(self, parent: Path) -> None:
        """Remove the staging folders of runs that were killed. A locked folder belongs to a running program."""
        for leftover in parent.glob(f"{glob.escape(self._prefix)}*"):
            with suppress(OSError), _opened(leftover) as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(leftover, ignore_errors=True)


def compare(folder: Path, path: str, content: bytes) -> bool:
    """Whether a bundle has a file with these bytes."""
    return _same(folder / path, content)


def _same(file: Path, content: bytes) -> bool:
    try:
        return file.stat().st_size == len(content) and file.read_bytes() == content
    except OSError:
        return False


def _files(folder: Path) -> Iterator[str]:
    """The paths of all files below a folder. A symbolic link is a file, also if it refers to a folder."""
    for base, folders, names in os.walk(folder):
        links = [name for name in folders if (Path(base) / name).is_symlink()]
        for name in (*names, *links):
            yield str((Path(base) / name).relative_to(folder))


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield handle
    finally:
        os.close(handle)


def _put_in_place(staging: Path, folder: Path) -> None:
    if not folder.exists():
        staging.rename(folder)
        return
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        _swap_in_two_steps(staging, folder)
        return
    if renameat2(_AT_FDCWD, os.fsencode(staging), _AT_FDCWD, os.fsencode(folder), _RENAME_EXCHANGE) == 0:
        return
    code = ctypes.get_errno()
    if code not in (errno.ENOSYS, errno.EINVAL):
        raise OSError(code, os.strerror(code), str(folder))
    _swap_in_two_steps(staging, folder)


def _swap_in_two_steps(staging: Path, folder: Path) -> None:
    """For file systems that cannot exchange two folders. For an instant there is no bundle, but never half of one."""
    _log.warning("%s: this file system cannot exchange folders; replacing it in two steps", folder)
    aside = staging.with_name(f"{staging.name}-old")
    folder.rename(aside)
    staging.rename(folder)
    shutil.rmtree(aside, ignore_errors=True)
