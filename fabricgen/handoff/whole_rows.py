"""A bundle whose switch files consist of rows. A handoff writes what tools apply, so it refuses any other file."""

from dataclasses import dataclass, replace
from functools import cached_property

from fabricgen.bundle.device import Content, ObservedDevice
from fabricgen.bundle.read import Bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.sonic.tables import ConfigDb


@dataclass(frozen=True, eq=False)
class _WholeContent:
    """The content of a switch. The tables are checked when they are first read."""

    device: ObservedDevice

    @property
    def text(self) -> bytes:
        """The bytes of the file."""
        return self.device.text

    @cached_property
    def config(self) -> ConfigDb:
        """TABLE -> key -> field -> value. Raises UnreadableInputError at the first value that is not a row."""
        found = self.device.config
        for table, rows in found.items():
            if not isinstance(rows, dict):
                raise self._refusal(table)
            for key, row in rows.items():
                if not isinstance(row, dict):
                    raise self._refusal(table, key)
        return found

    def peek(self) -> ConfigDb:
        """`config`."""
        return self.config

    def _refusal(self, *path: str) -> UnreadableInputError:
        problem = f"{'|'.join(path)} is not an object with fields; run `fabricgen validate` for all problems"
        return UnreadableInputError(problem, self.device.locate(*path))


def with_whole_rows(bundle: Bundle) -> Bundle:
    """The bundle; reading the tables of a switch raises UnreadableInputError where a value is not a row."""
    devices = {name: replace(device, content=_content(device)) for name, device in bundle.devices.items()}
    return replace(bundle, devices=devices)


def _content(device: ObservedDevice) -> Content:
    return _WholeContent(device)
