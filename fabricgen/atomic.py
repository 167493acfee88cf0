"""Atomic writes: a reader sees the old or the new file, even if the run is interrupted."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


class Private(bytes):
    """The content of a file that contains secrets, so that only its owner may read the file."""


def mode_of(content: bytes) -> int:
    """The mode of a file: 0600 if its content is private, else 0644."""
    return 0o600 if isinstance(content, Private) else 0o644


def write_atomically(file: Path, content: bytes) -> None:
    """Replace a file atomically, readable for all users if its content is not private. A file that is not regular
    (/dev/stdout, a pipe) is written.

    Raises OSError with the name of the target file.
    """
    if file.exists() and not file.is_file():
        file.write_bytes(content)
        return
    file = file.resolve()  # the target of a symbolic link, which stays a link
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    staged = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        staged.chmod(mode_of(content))
        staged.replace(file)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise


@contextmanager
def new_files(folder: Path, files: Mapping[str, str]) -> Iterator[None]:
    """Write new files, as path -> text, before the body. If the body fails or is interrupted, the files are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        yield
    except BaseException:
        for path in files:
            (folder / path).unlink(missing_ok=True)
        raise
