"""Checks whose inputs an earlier run has checked: their whole result is found again.

An entry has the files that one run read, and the names in the folders of its inventories. The key of the result is the
digest of all of these now, with the options and the installation, so an edit that is taken back finds the result, too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from fabricgen.cache import Store
from fabricgen.cache.values import dump_value, load_value
from fabricgen.findings import Finding
from fabricgen.inputs import Notes, digest_now
from fabricgen.inventory.read_files import InventorySource, inventory_layers, inventory_root
from fabricgen.report.summary import Counts
from fabricgen.results import CongestionResult, DeadlockResult, without_evidence
from fabricgen.sonic.secrets import is_secret_path, masked

if TYPE_CHECKING:
    from fabricgen.api.checking import Check

_KIND = "check"
_LONGEST_LINE = 1024
_MOST_SETS = 8  # of files that runs with these options have read
_FOLDER = b"\\u0000folder"  # in place of the folder of the rendering; no text of a finding has this character


@dataclass(frozen=True)
class _Kept:
    """The fields of a check that are kept."""

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...]
    counts: Counts
    codes: tuple[str, ...]
    is_complete: bool
    added: Mapping[str, Mapping[str, Any]]
    deadlock: tuple[DeadlockResult, ...]
    congestion: tuple[CongestionResult, ...]
    seals: Mapping[str, str]


@dataclass(frozen=True)
class _Entry:
    """A check, and the lines of rendered files that its findings show: path in the rendering -> line number -> text."""

    check: _Kept
    lines: Mapping[str, Mapping[int, str]]


class SameInputs:
    """The whole results of checks with some options. `about` are the options; `folder` is where this run renders."""

    def __init__(self, store: Store, inventory: InventorySource, about: object, folder: Path) -> None:
        self._store, self._root = store, folder
        self._about = f"{Path.cwd()}\0{inventory!r}\0{about!r}".encode()
        sources = inventory_layers(inventory).inventories
        self._names = b"".join(_names(inventory_root(source)) for source in sources)  # before anything is read
        self._folder = orjson.dumps(str(folder))[1:-1]

    def found(self) -> "Check | None":
        """The result of an earlier run whose inputs were the same. The folder then has the lines that findings show."""
        from fabricgen.api.checking import Check

        for files in self._sets():
            content = self._store.get(_KIND, self._key({file: digest_now(Path(file)) for file in files}))
            if content is not None:
                entry: _Entry = load_value(content.replace(_FOLDER, self._folder), _Entry)
                for path, lines in entry.lines.items():
                    self._write(path, lines)
                kept = {name: getattr(entry.check, name) for name in _Kept.__dataclass_fields__}
                return Check(**{**kept, "codes": frozenset(entry.check.codes)})
        return None

    def keep(self, found: "Check", notes: Notes) -> None:
        """Store the result of a run that has read these files, unless it has parts that cannot be read back.

        Results on InfiniBand planes depend on the OpenSM that is installed, and are not stored.
        """
        files = {str(file): digest for file, digest in notes.files.items() if digest is not None}
        lines = self._lines(found.findings)
        if found.subnets or len(files) < len(notes.files) or lines is None:
            return
        fields = {name: getattr(found, name) for name in _Kept.__dataclass_fields__}
        plain = tuple(map(without_evidence, found.deadlock))
        kept = _Kept(**{**fields, "codes": tuple(sorted(found.codes)), "deadlock": plain})
        content = dump_value(_Entry(kept, lines), _Entry)
        if content is None or _FOLDER in content:
            return
        if (names := sorted(files)) not in (sets := self._sets()):
            content_of_sets = orjson.dumps([names, *sets][:_MOST_SETS])
            self._store.put(f"{_KIND}-files", self._about, content_of_sets)
        self._store.put(_KIND, self._key(files), content.replace(self._folder, _FOLDER))

    def _lines(self, findings: Iterable[Finding]) -> dict[str, dict[int, str]] | None:
        """The lines of rendered files at which findings are; None if one may have a secret, or cannot be shown."""
        found: dict[str, dict[int, str]] = {}
        texts = cache(lambda file: file.read_text("utf-8", "replace").splitlines())
        for one in findings:
            place = one.location
            if place is None or not Path(place.file).is_relative_to(self._root) or is_secret_path(one.path):
                continue
            try:
                line = texts(Path(place.file))[place.line - 1]
            except (OSError, IndexError):
                return None
            if len(line) > _LONGEST_LINE or masked(line) != line:
                return None
            found.setdefault(str(Path(place.file).relative_to(self._root)), {})[place.line] = line
        return found

    def _write(self, path: str, lines: Mapping[int, str]) -> None:
        """A file of the rendering with these lines only."""
        file = self._root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines.get(number, "") for number in range(1, max(lines) + 1)), "utf-8")

    def _sets(self) -> list[list[str]]:
        content = self._store.get(f"{_KIND}-files", self._about)
        return orjson.loads(content) if content else []

    def _key(self, files: Mapping[str, bytes]) -> bytes:
        listed = b"".join(f"{file}\0{files[file].hex()}\n".encode() for file in sorted(files))
        return sha256(self._about + b"\0" + self._names + b"\0" + listed).digest()


def _names(folder: Path) -> bytes:
    """The names in a folder: a new file there may be a part of the inventory."""
    try:
        return "\n".join([str(folder), *sorted(one.name for one in folder.iterdir())]).encode()
    except OSError:
        return b""
