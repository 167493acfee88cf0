"""A bundle whose switch files consist of rows. A handoff writes what tools apply, so it refuses any other file."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from fabricgen.inputs import read_bytes
from fabricgen.sonic.tables import first_non_row

if TYPE_CHECKING:
    from pathlib import Path

    from fabricgen.bundle.device import ObservedDevice, Signs
    from fabricgen.bundle.read import Bundle
    from fabricgen.sonic.tables import ConfigDb

_KEPT = 8  # switches: handoffs read one after the other, and the tables of thousands do not fit into memory


@dataclass(frozen=True, eq=False)
class _WholeContent:
    """The content of a switch, read again unless it is among those read last. The tables are checked."""

    device: "ObservedDevice"
    texts: "Callable[[Path], bytes]"
    tables: "Callable[[ObservedDevice], ConfigDb]"

    @property
    def text(self) -> bytes:
        """The bytes of the file."""
        return self.texts(self.device.file)

    @property
    def config(self) -> "ConfigDb":
        """TABLE -> key -> field -> value. Raises UnreadableInputError at the first value that is not a row."""
        return self.tables(self.device)

    @property
    def signs(self) -> "Signs":
        """What the bytes of the file show; its tables are not kept."""
        from fabricgen.bundle.device import Signs

        return Signs.of(self.text)

    def peek(self) -> "ConfigDb":
        """`config`."""
        return self.config


def with_whole_rows(bundle: "Bundle") -> "Bundle":
    """The bundle; reading the tables of a switch raises UnreadableInputError where a value is not a row."""
    texts, tables = lru_cache(_KEPT)(read_bytes), lru_cache(_KEPT)(_whole_tables)
    devices = {
        name: replace(device, content=_WholeContent(device, texts, tables)) for name, device in bundle.devices.items()
    }
    return replace(bundle, devices=devices)


def _whole_tables(device: "ObservedDevice") -> "ConfigDb":
    config = device.content.peek()
    return config if first_non_row(config) is None else device.whole_config()  # it has the place of the value
