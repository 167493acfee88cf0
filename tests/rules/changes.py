"""Changes of clean tables and files. Each says in plain words what it does, for the page of its rule."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Configs = dict[str, dict[str, dict[str, dict[str, Any]]]]
ConfigChange = Callable[[Configs], object]


def described(change: Callable[[Any], object]) -> str:
    """What a change does, in words; "" if it does not say."""
    return str(change) if type(change).__str__ is not object.__str__ else (change.__doc__ or "").strip()


@dataclass(frozen=True)
class Put:
    """Sets a field, or a whole row."""

    value: Any
    device: str
    table: str
    key: str
    field: str = ""

    def __call__(self, configs: Configs) -> None:
        rows = configs[self.device].setdefault(self.table, {})
        if self.field:
            rows.setdefault(self.key, {})[self.field] = self.value
        else:
            rows[self.key] = self.value

    def __str__(self) -> str:
        return f"{_place(self.device, self.table, self.key, self.field)} is {_shown(self.value)}"


@dataclass(frozen=True)
class Drop:
    """Removes a field, or a whole row."""

    device: str
    table: str
    key: str
    field: str = ""

    def __call__(self, configs: Configs) -> None:
        rows = configs[self.device][self.table]
        if self.field:
            del rows[self.key][self.field]
        else:
            del rows[self.key]

    def __str__(self) -> str:
        return f"{_place(self.device, self.table, self.key, self.field)} is missing"


@dataclass(frozen=True)
class Rekey:
    """Gives a row another key."""

    device: str
    table: str
    old: str
    new: str

    def __call__(self, configs: Configs) -> None:
        rows = configs[self.device][self.table]
        rows[self.new] = rows.pop(self.old)

    def __str__(self) -> str:
        return f"{_place(self.device, self.table, self.old)} has the key {self.new}"


@dataclass(frozen=True)
class Several:
    """Several changes, one after the other."""

    changes: tuple[Callable[[Any], object], ...]

    def __call__(self, subject: Any) -> None:
        for change in self.changes:
            change(subject)

    def __str__(self) -> str:
        return "\n".join(filter(None, map(described, self.changes)))


@dataclass(frozen=True)
class Edit:
    """Replaces the first occurrence of a text in files of a folder."""

    files: tuple[str, ...]
    old: str
    new: str

    def __call__(self, folder: Path) -> None:
        for name in self.files:
            text = (folder / name).read_text()
            assert self.old in text, f"{name} does not contain {self.old!r}"
            (folder / name).unlink()  # it may be a link to another test's
            (folder / name).write_text(text.replace(self.old, self.new, 1))

    def __str__(self) -> str:
        old, new = self.old.strip("\n"), self.new.strip("\n")
        if len(self.new) > 200:
            return f"{self.files[0]}: {old!r} becomes a text of {len(self.new)} characters"
        change = f"{old!r} becomes {new!r}" if new else f"{old!r} is missing"
        return f"{', '.join(self.files)}: {change}"


@dataclass(frozen=True)
class Write:
    """Writes a file."""

    file: str
    text: str

    def __call__(self, folder: Path) -> None:
        (folder / self.file).parent.mkdir(exist_ok=True)
        (folder / self.file).write_text(self.text)

    def __str__(self) -> str:
        return f"{self.file} is {self.text!r}" if self.text else f"{self.file} is empty"


@dataclass(frozen=True)
class Remove:
    """Removes a file."""

    file: str

    def __call__(self, folder: Path) -> None:
        (folder / self.file).unlink()

    def __str__(self) -> str:
        return f"{self.file} is missing"


def put(value: Any, device: str, table: str, key: str, field: str = "") -> Put:
    """Set a field, or a whole row."""
    return Put(value, device, table, key, field)


def drop(device: str, table: str, key: str, field: str = "") -> Drop:
    """Remove a field, or a whole row."""
    return Drop(device, table, key, field)


def rekey(device: str, table: str, old: str, new: str) -> Rekey:
    """Give a row another key."""
    return Rekey(device, table, old, new)


def both(*changes: Callable[[Any], object]) -> Several:
    """Make several changes."""
    return Several(changes)


def edit(files: str | tuple[str, ...], old: str, new: str) -> Edit:
    """Replace the first occurrence of a text in one or more files."""
    return Edit((files,) if isinstance(files, str) else files, old, new)


def _place(*steps: str) -> str:
    device, *path = steps
    return f"{device}: {'|'.join(filter(None, path))}"


def _shown(value: Any) -> str:
    return str(value).replace("'", '"') if not isinstance(value, str) else f'"{value}"'
