"""Folders whose content only this user can change, so that a run can believe what an earlier run left there."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def user_cache() -> Path:
    """The folder of fabricgen in the user's cache folder, which may be missing."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "fabricgen"


def private_folder(path: Path) -> Path | None:
    """The folder, made with mode 0700 if it is missing; None if another user can change what is in it.

    It must belong to the effective user, so that root does not load what a user's home contains. Each folder above must
    belong to that user or to root, and others can write it only if it is sticky, as /tmp is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        if not _only_ours(path.lstat()):
            return None
        path.chmod(0o700)
        path = path.resolve()
        above = all(_holds_still(folder.stat()) for folder in path.parents)
        with tempfile.TemporaryFile(dir=path):
            return path if above else None
    except OSError:
        return None


def _only_ours(found: os.stat_result) -> bool:
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _holds_still(found: os.stat_result) -> bool:
    """Whether no other user can rename what a folder contains."""
    by_others = found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX
    return found.st_uid in (0, os.geteuid()) and not by_others
