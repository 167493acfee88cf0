"""Atomic writes: a reader sees the old or the new file, even if the run is interrupted."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from fabricgen.atomic.staging import prefix_for, stage_file


class Private(bytes):
    """The content of a file that contains secrets: only its owner may read the file, even where others could before."""


def write_atomically(file: Path, content: bytes) -> None:
    """Replace a file atomically. A new file has the mode 0666 minus the umask; an old one keeps its mode and owner.

    A file that is not regular (/dev/stdout, a pipe) is written. Raises OSError with the name of the target file.
    """
    if file.exists() and not file.is_file():
        file.write_bytes(content)
        return
    file = file.resolve()  # the target of a symbolic link, which stays a link
    try:
        staged = stage_file(
            file.parent, prefix_for(file), 0o600 if file.exists() or isinstance(content, Private) else 0o666
        )
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    try:
        staged.path.write_bytes(content)
        keep_mode(file, staged.path)
        if isinstance(content, Private):
            close_to_others(staged.path)
        staged.path.replace(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    finally:
        staged.discard()


def close_to_others(file: Path) -> None:
    """Let only the owner of a file read it."""
    file.chmod(stat.S_IMODE(file.stat().st_mode) & 0o700)


def keep_mode(old: Path, new: Path) -> None:
    """Give a new file the mode of the old one, and its owner if this process may do that."""
    try:
        about = old.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(about.st_mode):
        return
    with suppress(PermissionError):
        os.chown(new, about.st_uid, about.st_gid, follow_symlinks=False)
    new.chmod(about.st_mode & 0o7777)
