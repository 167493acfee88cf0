"""A bundle whose switch files consist of rows. A handoff writes what tools apply, so it refuses any other file."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricgen.bundle.device import ObservedDevice, Signs
    from fabricgen.bundle.read import Bundle
    from fabricgen.sonic.tables import ConfigDb


@dataclass(frozen=True, eq=False)
class _WholeContent:
    """The content of a switch. The tables are checked when they are first read."""

    device: "ObservedDevice"

    @property
    def text(self) -> bytes:
        """The bytes of the file."""
        return self.device.text

    @cached_property
    def config(self) -> "ConfigDb":
        """TABLE -> key -> field -> value. Raises UnreadableInputError at the first value that is not a row."""
        return self.device.whole_config()

    @property
    def signs(self) -> "Signs":
        """What the bytes of the file show."""
        return self.device.signs

    def peek(self) -> "ConfigDb":
        """`config`."""
        return self.config


def with_whole_rows(bundle: "Bundle") -> "Bundle":
    """The bundle; reading the tables of a switch raises UnreadableInputError where a value is not a row."""
    devices = {name: replace(device, content=_WholeContent(device)) for name, device in bundle.devices.items()}
    return replace(bundle, devices=devices)
