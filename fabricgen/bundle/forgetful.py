"""Content of files whose tables can be forgotten: a table is read again if it is needed again.

The tables of thousands of switches fill the memory. Most are needed by some rules only.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from fabricgen.bundle.device import FileContent, GivenContent, ObservedDevice, Signs
from fabricgen.bundle.read import Bundle
from fabricgen.sonic.admin import port_speeds, shut_interfaces
from fabricgen.sonic.tables import ConfigDb


class ForgetfulContent:
    """The content of a file. Every member raises UnreadableInputError."""

    def __init__(self, of: FileContent) -> None:
        self._of = of
        self._signs: Signs | None = None

    @property
    def text(self) -> bytes:
        """The bytes of the file, which are read again for each use."""
        return self._of.text

    @property
    def config(self) -> ConfigDb:
        """TABLE -> key -> field -> value."""
        return self._tables

    @cached_property
    def _tables(self) -> "_Tables":
        given = self._of.once(are_kept=True)
        self._signs = given.signs
        return _Tables(self._of, dict(given.config))

    @property
    def signs(self) -> Signs:
        """What the bytes showed when they were parsed."""
        _ = self._tables
        assert self._signs is not None
        return self._signs

    @cached_property
    def shut(self) -> Mapping[str, tuple[str, ...]]:
        """See `shut_of`; known even if the table of ports is forgotten."""
        return shut_interfaces(self.config)

    @cached_property
    def speeds(self) -> Mapping[str, int]:
        """See `speeds_of`. Switches with equal speeds share them."""
        return _shared(tuple(port_speeds(self.config).items()))

    def peek(self) -> ConfigDb:
        """The tables; those of a file that is not kept yet are not kept."""
        return self.config if "_tables" in self.__dict__ else self._of.peek()

    def once(self) -> GivenContent:
        """The bytes and the tables."""
        return self._of.once()

    def forget(self, tables: Collection[str]) -> None:
        """Free the memory of some tables until they are needed."""
        _ = self.shut, self.speeds
        self._tables.forget(tables)


@lru_cache(maxsize=256)
def _shared(speeds: tuple[tuple[str, int], ...]) -> Mapping[str, int]:
    return dict(speeds)


class _Tables(Mapping[str, Any]):
    """The tables of a file by name."""

    def __init__(self, of: FileContent, kept: dict[str, Any]) -> None:
        self._of, self._kept = of, kept
        self._forgotten: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        found = self._kept[name]
        return self._again(name) if found is None else found

    def get(self, name: str, default: Any = None) -> Any:
        found = self._kept.get(name, default)
        return self._again(name) if found is None else found

    def _again(self, name: str) -> Any:
        """A table that was forgotten; None for one that the file does not have, or that is null."""
        if name in self._forgotten:
            self._kept[name] = self._of.table_again(name)
            self._forgotten.remove(name)
        return self._kept.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def forget(self, tables: Collection[str]) -> None:
        for name in tables:
            if name in self._kept:
                self._kept[name] = None
                self._forgotten.add(name)


def forgetful(bundle: Bundle) -> Bundle:
    """The bundle, with tables of its switches that can be forgotten."""
    devices = {
        name: replace(device, content=ForgetfulContent(device.content))
        if isinstance(device.content, FileContent) and not device.content.is_kept
        else device
        for name, device in bundle.devices.items()
    }
    return replace(bundle, devices=devices)


def forget_tables(device: ObservedDevice, tables: Collection[str]) -> None:
    """Free the memory of some tables of a switch, if that is possible."""
    if isinstance(device.content, ForgetfulContent):
        device.content.forget(tables)


def shut_of(device: ObservedDevice) -> Mapping[str, tuple[str, ...]]:
    """Interface -> the (table, key, field) that shuts it down. Forgotten tables are not read again for it."""
    content = device.content
    return content.shut if isinstance(content, ForgetfulContent) else shut_interfaces(content.peek())


def speeds_of(device: ObservedDevice) -> Mapping[str, int]:
    """Port -> its configured speed in Mb/s, see `port_speeds`. Forgotten tables are not read again for it."""
    content = device.content
    return content.speeds if isinstance(content, ForgetfulContent) else port_speeds(content.config)
