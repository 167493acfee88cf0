"""Runs whose inputs an earlier run had: their whole result is found again.

An entry has the files that one run read, and what is in the folders that it was given. The key of the result is the
digest of all of these now, with the options and the installation, so an edit that is taken back finds the result, too.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import orjson

from fabricgen.engine.store import Store
from fabricgen.extensions import RULES, installed_names
from fabricgen.inputs import Notes, digest_now
from fabricgen.suppressions import this_day

_MOST_SETS = 8  # of files that runs with these options have read
_MOST_FILES, _MOST_BYTES = 20_000, 1 << 30  # in folders that are read as a whole


class SameInputs:
    """The whole results of one verb with some options. `about` are the verb and the options, `seen` what the run sees
    beside the files that it notes: see `names_in` and `contents_of`."""

    def __init__(self, store: Store, about: object, seen: bytes) -> None:
        self._store, self._seen = store, seen
        self._about = f"{Path.cwd()}\0{this_day()}\0{about!r}".encode()  # suppressions expire

    def found(self) -> bytes | None:
        """The result of an earlier run whose inputs were the same."""
        for files in self._sets():
            content = self._store.get("results", self._key({file: digest_now(Path(file)) for file in files}))
            if content is not None:
                return content
        return None

    def keep(self, content: bytes, notes: Notes) -> None:
        """Store the result of a run that has read these files, unless one of them has changed meanwhile.

        Rules of other packages can read other files, so where such rules are installed nothing is stored.
        """
        files = {str(file): digest for file, digest in notes.files.items() if digest is not None}
        if len(files) < len(notes.files) or installed_names(RULES):
            return
        if (names := sorted(files)) not in (sets := self._sets()):
            self._store.put("inputs", self._about, orjson.dumps([names, *sets][:_MOST_SETS]))
        self._store.put("results", self._key(files), content)
        self._store.shrink()

    def _sets(self) -> list[list[str]]:
        content = self._store.get("inputs", self._about)
        return orjson.loads(content) if content else []

    def _key(self, files: Mapping[str, bytes]) -> bytes:
        listed = b"".join(f"{file}\0{files[file].hex()}\n".encode() for file in sorted(files))
        return sha256(self._about + b"\0" + self._seen + b"\0" + listed).digest()


def names_in(folders: Iterable[Path]) -> bytes:
    """The names in some folders: a new file there may be a part of the inventory."""
    return b"".join(map(_names, folders))


def _names(folder: Path) -> bytes:
    try:
        return "\n".join([str(folder), *sorted(one.name for one in folder.iterdir())]).encode()
    except OSError:
        return b""


def contents_of(paths: Sequence[Path]) -> bytes | None:
    """The digest of all files at and below some paths, with their names; None if they are many, or cannot be read."""
    digest, count, size = sha256(), 0, 0
    try:
        for path in paths:
            for file in _below(path):
                about = file.lstat()
                count, size = count + 1, size + about.st_size
                if count > _MOST_FILES or size > _MOST_BYTES:
                    return None
                content = sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
                digest.update(f"{file}\0{about.st_mode}\0{content}\n".encode("utf-8", "surrogateescape"))
    except OSError:
        return None
    return digest.digest()


def _below(path: Path) -> Iterator[Path]:
    yield path
    for folder, folders, files in os.walk(path):
        folders.sort()
        yield from (Path(folder, name) for name in sorted([*folders, *files]))
