"""Two bundles, or a bundle and what runs, compared table by table over all their switches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

from fabricgen.bundle.read import read_bytes
from fabricgen.diff.changes import Change, changes
from fabricgen.diff.drift import Drift, sort_out
from fabricgen.diff.patch import Operation, holds_secret, operations, patch_seconds, route, worst
from fabricgen.diff.sides import Side
from fabricgen.errors import UnreadableInputError, UsageError
from fabricgen.findings import Location
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.load import TableLoader
from fabricgen.sonic.tables import ConfigDb
from fabricgen.sonic.updater import Cost


@dataclass(frozen=True)
class DeviceDifference:
    """One switch that both sides have and whose files differ."""

    name: str
    drift: Drift
    old: ConfigDb
    new: ConfigDb

    @property
    def changes(self) -> Sequence[Change]:
        """What differs, without what the switch made."""
        return self.drift.changes

    @cached_property
    def patch(self) -> list[Operation]:
        """What turns the old configuration into the new one."""
        return operations(self.changes, self.old, self.new)

    @cached_property
    def cost(self) -> Cost:
        """What the changes cost together."""
        return worst({change.verdict.cost for change in self.changes})

    @property
    def route(self) -> str:
        """How the changes come to the switch: apply-patch | reload | reboot."""
        return route(self.cost)

    @cached_property
    def patch_seconds(self) -> int:
        """About how long `apply-patch` takes: a step for each row that changes."""
        return patch_seconds(self.changes)

    @cached_property
    def withheld(self) -> int:
        """Changes that no patch shows, since they hold a secret."""
        return sum(map(holds_secret, self.changes))


@dataclass(frozen=True)
class Difference:
    """All that differs. `names` are all devices in natural order; `unseen` those of a bundle of which no running
    configuration was given; `added` and `removed` have the number of rows of their devices."""

    old: Side
    new: Side
    names: Sequence[str]
    devices: Sequence[DeviceDifference]
    added: Mapping[str, int]
    removed: Mapping[str, int]
    unseen: Sequence[str]
    files: Mapping[str, str]  # path of another file of the bundles -> added | removed | changed

    @property
    def is_drift(self) -> bool:
        """Whether a file is compared with what runs."""
        return self.old.form != self.new.form

    @property
    def is_plan(self) -> bool:
        """Whether people may want to go from OLD to NEW; from a bundle to what drifted from it they do not."""
        return not (self.is_drift and self.new.form == "running")

    @cached_property
    def changed(self) -> Sequence[DeviceDifference]:
        """The devices with changes that count."""
        return tuple(device for device in self.devices if device.changes)

    @property
    def differs(self) -> bool:
        """Whether there is any difference."""
        return bool(self.changed or self.added or self.removed or self.files)

    @property
    def alike(self) -> int:
        """How many devices both sides have without a difference."""
        apart = len(self.changed) + len(self.added) + len(self.removed) + len(self.unseen)
        return len(self.names) - apart


def compare(old: Side, new: Side) -> Difference:
    """Compare two sides.

    Raises UsageError for two fabrics without a device in common, UnreadableInputError for a file that is no JSON or
    holds no tables of rows.
    """
    common = old.files.keys() & new.files.keys()
    if not common and old.files and new.files and (old.form != new.form or old.fabric != new.fabric):
        raise UsageError(
            f"{old.path} and {new.path} have no device in common: they are of two fabrics{_names(old, new)}"
        )
    loader = TableLoader()
    drift = old.form != new.form
    names = sorted(old.files.keys() | new.files.keys(), key=natural_key)
    devices = [device for name in names if name in common and (device := _device(name, old, new, loader))]
    gone = [name for name in names if name not in new.files]
    come = [name for name in names if name not in old.files]
    unseen = (gone if old.form == "bundle" else come) if drift else []
    return Difference(
        old,
        new,
        names,
        tuple(devices),
        {name: _rows(_load(new.files[name], loader)) for name in come if name not in unseen},
        {name: _rows(_load(old.files[name], loader)) for name in gone if name not in unseen},
        tuple(unseen),
        {} if drift else dict(_files(old.digests, new.digests)),
    )


def _names(old: Side, new: Side) -> str:
    return f" ({old.fabric}, {new.fabric})" if old.fabric and new.fabric else ""


def _device(name: str, old: Side, new: Side, loader: TableLoader) -> DeviceDifference | None:
    text, other = read_bytes(old.files[name]), read_bytes(new.files[name])
    if text == other:
        return None
    before, after = _parse(text, old.files[name], loader), _parse(other, new.files[name], loader)
    try:
        found = changes(before, after)
    except TypeError as error:
        raise UnreadableInputError(
            f"cannot be compared: {error}", Location(f"{old.files[name]}, {new.files[name]}")
        ) from error
    drift = Drift(found) if old.form == new.form else sort_out(found, running_is_new=new.form == "running")
    return DeviceDifference(name, drift, before, after)


def _load(file: Path, loader: TableLoader) -> ConfigDb:
    return _parse(read_bytes(file), file, loader)


def _parse(text: bytes, file: Path, loader: TableLoader) -> ConfigDb:
    try:
        config = loader.load(text)
    except orjson.JSONDecodeError as error:
        raise UnreadableInputError(f"not JSON: {error.msg}", Location(str(file), error.lineno, error.colno)) from error
    except TypeError as error:
        raise UnreadableInputError(str(error), Location(str(file), 1, 1)) from error
    if not config and text.strip() != b"{}":
        raise UnreadableInputError("holds no table of CONFIG_DB", Location(str(file), 1, 1))
    return config


def _rows(config: ConfigDb) -> int:
    return sum(map(len, config.values()))


def _files(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for path in sorted(old.keys() | new.keys()):
        if path not in old:
            yield path, "added"
        elif path not in new:
            yield path, "removed"
        elif old[path] != new[path]:
            yield path, "changed"
