"""Files that are the old or the new one whenever somebody looks, and whenever the run is ended."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def write_atomically(file: Path, content: bytes) -> None:
    """Put a file in place in one step, readable for all; what is no regular file (/dev/stdout, a pipe) is written to.

    Raises OSError, with the name of the file that was meant.
    """
    if file.exists() and not file.is_file():
        file.write_bytes(content)
        return
    file = file.resolve()  # through a symbolic link, which stays
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    staged = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        staged.chmod(0o644)
        staged.replace(file)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise


@contextmanager
def new_files(folder: Path, files: Mapping[str, str]) -> Iterator[None]:
    """Texts by path, as files that the folder has not, for the body; where that fails or is interrupted, none stays."""
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
