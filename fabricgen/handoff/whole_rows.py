"""A bundle whose switch files consist of rows. A handoff writes what tools apply, so it refuses any other file."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from fabricgen.sonic.tables import first_non_row

if TYPE_CHECKING:
    from fabricgen.bundle.device import GivenContent, ObservedDevice, Signs
    from fabricgen.bundle.read import Bundle
    from fabricgen.sonic.tables import ConfigDb

_KEPT = 8  # switches: handoffs read one after the other, and the tables of thousands do not fit into memory


@dataclass(frozen=True, eq=False)
class _WholeContent:
    """The content of a switch, read again unless it is among those read last. The tables are checked."""

    device: "ObservedDevice"
    read: "Callable[[ObservedDevice], GivenContent]"

    @property
    def text(self) -> bytes:
        """The bytes of the file."""
        return self.read(self.device).text

    @property
    def config(self) -> "ConfigDb":
        """TABLE -> key -> field -> value. Raises UnreadableInputError at the first value that is not a row."""
        return self.read(self.device).config

    @property
    def signs(self) -> "Signs":
        """What the bytes of the file show."""
        return self.read(self.device).signs

    def peek(self) -> "ConfigDb":
        """`config`."""
        return self.config

    def once(self) -> "GivenContent":
        """Both."""
        return self.read(self.device)


def with_whole_rows(bundle: "Bundle") -> "Bundle":
    """The bundle; reading a switch raises UnreadableInputError where a value is not a row."""
    last: dict[str, object] = {}  # tables of the switch that was read last: the next one shares most of them

    def read(device: "ObservedDevice") -> "GivenContent":
        content = device.content.once()
        others = {name: rows for name, rows in content.config.items() if last.get(name) is not rows}
        if first_non_row(others) is not None:
            device.whole_config()  # it has the place of the value
        last.update(others)
        return content

    kept = lru_cache(_KEPT)(read)
    devices = {name: replace(device, content=_WholeContent(device, kept)) for name, device in bundle.devices.items()}
    return replace(bundle, devices=devices)
