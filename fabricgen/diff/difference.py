"""The comparison of all switches of two bundles, or of a bundle and a running fabric, table by table."""

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import orjson

from fabricgen.bundle.locate import locate
from fabricgen.diff.changes import Change
from fabricgen.diff.drift import Drift
from fabricgen.diff.renumbering import Renumbering, new_asns
from fabricgen.diff.sides import Side, with_old_names
from fabricgen.diff.work import Work, Works
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.load import TableLoader
from fabricgen.sonic.releases import DEFAULT, release_of
from fabricgen.sonic.tables import ConfigDb, first_non_row
from fabricgen.vocabulary import InputForm


class FileChange(enum.StrEnum):
    """How a file differs between two bundles."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class DeviceDifference:
    """A switch of both sides whose files differ. Switches with the same changes share `work`."""

    name: str
    old: ConfigDb
    new: ConfigDb
    work: Work

    @property
    def drift(self) -> Drift:
        """The changes, and what the switch adds by itself."""
        return self.work.drift

    @property
    def changes(self) -> Sequence[Change]:
        """The changes, without the rows that the switch adds."""
        return self.work.drift.changes


@dataclass(frozen=True)
class Difference:
    """The result of a comparison. `names` are all devices in natural order.

    `unseen` are devices of a bundle without a running configuration. `added` and `removed` map devices to their numbers
    of rows, `files` the other files of the bundles to their changes. `renumberings` are the switches that get another
    ASN step by step.
    """

    old: Side
    new: Side
    names: Sequence[str]
    devices: Sequence[DeviceDifference]
    added: Mapping[str, int]
    removed: Mapping[str, int]
    unseen: Sequence[str]
    files: Mapping[str, FileChange]
    renumberings: Sequence[Renumbering] = ()

    @property
    def is_drift(self) -> bool:
        """Whether a bundle is compared with a running configuration."""
        return self.old.form != self.new.form

    @property
    def is_plan(self) -> bool:
        """Whether OLD is to become NEW. A bundle does not become the running configuration that drifted from it."""
        return not (self.is_drift and self.new.form is InputForm.RUNNING)

    @cached_property
    def changed(self) -> Sequence[DeviceDifference]:
        """The devices with changes."""
        return tuple(device for device in self.devices if device.changes)

    @property
    def differs(self) -> bool:
        """Whether anything differs."""
        return bool(self.changed or self.added or self.removed or self.files)

    @property
    def alike(self) -> int:
        """The number of equal devices of both sides."""
        different = len(self.changed) + len(self.added) + len(self.removed) + len(self.unseen)
        return len(self.names) - different


def compare(old: Side, new: Side) -> Difference:
    """Compare two sides. A switch that gets another name has its present one in the result.

    Raises UsageError for two fabrics without a common device, UnreadableInputError for a file that is not JSON or does
    not contain tables of rows.
    """
    new = with_old_names(old, new)
    common = old.files.keys() & new.files.keys()
    if not common and old.files and new.files and (old.form != new.form or old.fabric != new.fabric):
        raise UsageError(
            f"{old.path} and {new.path} have no common device: they belong to different fabrics{_names(old, new)}"
        )
    loader = TableLoader()
    drift = old.form != new.form
    works = Works(drift, running_is_new=new.form is InputForm.RUNNING)
    names = sorted(old.files.keys() | new.files.keys(), key=natural_key)
    found = [device for name in names if name in common and (device := _device(name, old, new, loader, works))]
    is_plan = not (drift and new.form is InputForm.RUNNING)
    asn_works, renumberings = new_asns(found) if is_plan else ({}, ())
    devices = [replace(device, work=asn_works.get(device.name, device.work)) for device in found]
    gone = [name for name in names if name not in new.files]
    come = [name for name in names if name not in old.files]
    unseen = (gone if old.form is InputForm.BUNDLE else come) if drift else []
    return Difference(
        old,
        new,
        names,
        tuple(devices),
        {name: _rows(load_tables(new.files[name], loader)) for name in come if name not in unseen},
        {name: _rows(load_tables(old.files[name], loader)) for name in gone if name not in unseen},
        tuple(unseen),
        {} if drift else dict(_files(old.digests, new.digests)),
        renumberings,
    )


def _names(old: Side, new: Side) -> str:
    return f" ({old.fabric}, {new.fabric})" if old.fabric and new.fabric else ""


def _device(name: str, old: Side, new: Side, loader: TableLoader, works: Works) -> DeviceDifference | None:
    text, other = read_bytes(old.files[name]), read_bytes(new.files[name])
    if text == other:
        return None
    before, after = _parse(text, old.files[name], loader), _parse(other, new.files[name], loader)
    release = release_of(before) or old.release or new.release or DEFAULT
    return DeviceDifference(name, before, after, works.of(before, after, release))


def load_tables(file: Path, loader: TableLoader) -> ConfigDb:
    """The tables of a file. Raises UnreadableInputError for one that is not JSON, or has no tables of rows."""
    return _parse(read_bytes(file), file, loader)


def _parse(text: bytes, file: Path, loader: TableLoader) -> ConfigDb:
    try:
        config = loader.load(text)
    except orjson.JSONDecodeError as error:
        raise UnreadableInputError(f"not JSON: {error.msg}", Location(str(file), error.lineno, error.colno)) from error
    except TypeError as error:
        raise UnreadableInputError(str(error), Location(str(file), 1, 1)) from error
    if path := first_non_row(config):
        raise UnreadableInputError(
            f"{'|'.join(path)} is not an object with fields", Location(str(file), *locate(text, list(path)))
        )
    if not config and text.strip() != b"{}":
        raise UnreadableInputError("contains no table of CONFIG_DB", Location(str(file), 1, 1))
    return config


def _rows(config: ConfigDb) -> int:
    return sum(map(len, config.values()))


def _files(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, FileChange]]:
    for path in sorted(old.keys() | new.keys()):
        if path not in old:
            yield path, FileChange.ADDED
        elif path not in new:
            yield path, FileChange.REMOVED
        elif old[path] != new[path]:
            yield path, FileChange.CHANGED
