"""Replacing a folder in one step: the new one is completed beside it, then the two are exchanged.

Files of other people are hard links in the new folder: same content, mode, owner and attributes.
"""

import ctypes
import errno
import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from fabricgen.atomic.file import keep_mode
from fabricgen.atomic.staging import remove_tree

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
# A folder that cannot be cloned or exchanged: a mount point, files of other owners, no hard links, no exchange.
_IMPOSSIBLE = {
    errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.EBUSY, errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EMLINK,
    errno.EROFS,
}  # fmt: skip


class NotExchangeableError(Exception):
    """The folder must be changed in place. Nothing was changed yet; the text says why."""


def exchange(staged: Path, folder: Path, rendered: Collection[str], dropped: Collection[str]) -> None:
    """Replace `folder` by `staged`, which has the `rendered` files, and remove the old folder.

    All other entries but the `dropped` files are kept: files, empty folders, symbolic links, modes and owners. Raises
    NotExchangeableError.
    """
    try:
        _keep_others(folder, staged, "", frozenset(rendered), frozenset(dropped))
        _exchange_names(staged, folder)
    except OSError as error:
        if error.errno in _IMPOSSIBLE:
            raise NotExchangeableError(error.strerror) from error
        raise
    _keep_late_changes(staged, folder, frozenset([*rendered, *dropped]))
    remove_tree(staged)


def copy_attributes(old: Path, new: Path) -> None:
    """Give a new folder the owner, mode, times and attributes of the old one."""
    about = old.stat()
    os.chown(new, about.st_uid, about.st_gid)
    shutil.copystat(old, new)


def _keep_others(old: Path, new: Path, below: str, rendered: frozenset[str], dropped: frozenset[str]) -> bool:
    """Complete one folder; returns whether it is empty because its files were dropped."""
    was_dropped = False
    for entry in sorted(os.scandir(old), key=lambda entry: entry.name):
        path, target = f"{below}{entry.name}", new / entry.name
        if entry.is_dir(follow_symlinks=False):
            target.mkdir(exist_ok=True)
            if _keep_others(Path(entry.path), target, f"{path}/", rendered, dropped):
                target.rmdir()
                was_dropped = True
        elif path in rendered:
            if not same_inode(Path(entry.path), target):
                keep_mode(Path(entry.path), target)
        elif path in dropped:
            was_dropped = True
        else:
            os.link(entry.path, target, follow_symlinks=False)
    copy_attributes(old, new)
    return was_dropped and not any(new.iterdir())


def _exchange_names(one: Path, other: Path) -> None:
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError as error:
        raise OSError(errno.ENOSYS, "the system cannot exchange two folders") from error
    if renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(other))


def _keep_late_changes(old: Path, new: Path, own: frozenset[str]) -> None:
    """Move what others wrote into the old folder while the new one was completed."""
    for path in _files(old, ""):
        if path not in own and not same_inode(old / path, new / path):
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (old / path).replace(new / path)


def _files(folder: Path, below: str) -> Iterator[str]:
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), f"{below}{entry.name}/")
        else:
            yield below + entry.name


def same_inode(one: Path, other: Path) -> bool:
    """Whether two paths in one file system are the same file; a symbolic link is not followed."""
    try:
        return one.lstat().st_ino == other.lstat().st_ino
    except OSError:
        return False
