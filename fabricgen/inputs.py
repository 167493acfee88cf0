"""Reading of input files: only regular files, and only up to a size, so that no input exhausts memory or blocks.

A device, a pipe or a folder is refused before it is read. The limits are documented in docs/limits.md.
"""

import io
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location

_MIB = 1 << 20
SETTINGS_BYTES = 1 * _MIB  # fabricgen.toml
YAML_BYTES = 16 * _MIB  # inventories and platforms: YAML needs 90 times its size of memory
LOCK_BYTES = 64 * _MIB
TABLE_BYTES = 64 * _MIB  # CSV and other text that people write
JSON_BYTES = 512 * _MIB
DUMP_BYTES = 8192 * _MIB  # forwarding tables and readings of subnets, which are read as arrays

_BLOCK_BYTES = 1 * _MIB
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_unsaved: ContextVar[Mapping[Path, str]] = ContextVar("unsaved")
_noted: ContextVar["Notes"] = ContextVar("noted")


@dataclass
class Notes:
    """The files that were read, or could not be read, with the digests of their bytes: b"" without bytes, None where
    two reads differ. Files below `outside` are left out."""

    outside: Path | None = None
    files: dict[Path, bytes | None] = field(default_factory=dict)

    def note(self, file: Path, content: bytes | None = None) -> None:
        """Note a read, or a read that is tried."""
        if self.outside and file.is_relative_to(self.outside):
            return
        digest = b"" if content is None else sha256(content).digest()
        known = self.files.get(file, digest)
        self.files[file] = digest if known in (b"", digest) else known if digest == b"" else None


@contextmanager
def unsaved(texts: Mapping[Path, str]) -> Iterator[None]:
    """Within it, `read_text` returns these texts: an editor has changed the files and not saved them yet.

    `texts` is resolved path -> text. Only the thread that enters it is concerned.
    """
    token = _unsaved.set(texts)
    try:
        yield
    finally:
        _unsaved.reset(token)


@contextmanager
def noted(outside: Path | None = None) -> Iterator[Notes]:
    """The files that are read within it, except for those below `outside`; only those of the thread that enters it."""
    found, around = Notes(outside), _noted.get(None)
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)
        if around is not None:
            for file in found.files:
                around.note(file)


def read_bytes(file: Path, most_bytes: int = JSON_BYTES) -> bytes:
    """The bytes of a regular file of at most `most_bytes`. Raises UnreadableInputError."""
    notes = _noted.get(None)
    if notes is not None:
        notes.note(file)
    try:
        with open(file, "rb", buffering=0, opener=_open_at_once) as stream:
            found = os.fstat(stream.fileno())
            _refuse(found, most_bytes, file)
            content = stream.readall() if found.st_size else _blocks(stream, most_bytes)
    except (OSError, ValueError) as error:  # a path with NUL is a ValueError
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnreadableInputError(f"cannot read: {reason}", Location(str(file))) from error
    if len(content) > most_bytes:  # the file has grown, or does not report its size, as in /proc
        raise _too_large(len(content), most_bytes, file)
    if notes is not None:
        notes.note(file, content)
    return content


def digest_now(file: Path) -> bytes:
    """The digest of the bytes of a file as it is now, as `Notes` has it: b"" for a file that cannot be read."""
    try:
        return sha256(read_bytes(file, DUMP_BYTES)).digest()
    except UnreadableInputError:
        return b""


def _blocks(stream: io.RawIOBase, most_bytes: int) -> bytes:
    """The bytes of a file of unknown size, at most one block more than the limit."""
    blocks = iter(lambda: stream.read(_BLOCK_BYTES) or b"", b"")
    return b"".join(islice(blocks, most_bytes // _BLOCK_BYTES + 1))


def read_text(file: Path, most_bytes: int = TABLE_BYTES, *, with_returns: bool = False) -> str:
    """The text of a regular UTF-8 file, with \\n at the ends of its lines, or `with_returns` as it is. Raises
    UnreadableInputError."""
    newlines = str if with_returns else _with_newlines
    texts = _unsaved.get({})
    if texts and (text := texts.get(file.resolve())) is not None:
        if len(text) > most_bytes:
            raise _too_large(len(text), most_bytes, file)
        return newlines(text)
    try:
        return newlines(read_bytes(file, most_bytes).decode("utf-8"))
    except UnicodeDecodeError as error:
        place = Location(str(file), error.object.count(b"\n", 0, error.start) + 1)
        raise UnreadableInputError("cannot read: not UTF-8 text", place) from error


def _with_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def require_regular(file: Path, most_bytes: int) -> None:
    """Raises UnreadableInputError if `read_bytes` would refuse the file: for readers of blocks."""
    try:
        _refuse(file.stat(), most_bytes, file)
    except OSError as error:
        raise UnreadableInputError(f"cannot read: {error.strerror}", Location(str(file))) from error


def _open_at_once(file: str, flags: int) -> int:
    """Opening a pipe does not wait for its writer."""
    return os.open(file, flags | os.O_NONBLOCK)


def _refuse(found: os.stat_result, most_bytes: int, file: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in _KINDS if test(found.st_mode)), "a special file")
        raise UnreadableInputError(f"cannot read: it is {kind}, not a regular file", Location(str(file)))
    if found.st_size > most_bytes:
        raise _too_large(found.st_size, most_bytes, file)


def _too_large(size: int, most_bytes: int, file: Path) -> UnreadableInputError:
    limit = f"the limit for files of this kind is {most_bytes // _MIB} MiB"
    return UnreadableInputError(f"the file has at least {size / _MIB:.1f} MiB; {limit}", Location(str(file)))
