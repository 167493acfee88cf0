"""The order in which `config save` writes a configuration on a switch: tables, row keys and fields.

Source: sonic-utilities config/main.py `save`. Tables and row keys are in natsort's natural order, fields in the
bytewise order of their names in Redis. The Ansible role contains this module: only the standard library and relative
imports.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

_DIGITS = re.compile(r"(\d+)")
_ADDRESS = r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
_ADDRESSES = re.compile(rf"{_ADDRESS}(?:\n{_ADDRESS})*")


@lru_cache(maxsize=1 << 16)
def natural_key(text: str) -> tuple[tuple[str | int, ...], str]:
    """Sort key of natsort's default: runs of digits as numbers, the rest as text. The text itself breaks ties."""
    parts: list[Any] = _DIGITS.split(text)
    # Digits have the same order in base 16, for which Python does not limit their number.
    parts[1::2] = [int(part, 16) for part in parts[1::2]]
    return tuple(parts), text


def in_natural_order(texts: Iterable[str]) -> list[str]:
    """Texts in natural order. IPv4 addresses, of which a switch has as many as neighbors, are compared by their numbers
    without a key for each."""
    given = [*texts]
    if len(given) > 1 and _ADDRESSES.fullmatch("\n".join(given)):
        numbers = iter(map(int, ".".join(given).split(".")))
        return [text for *_, text in sorted(zip(numbers, numbers, numbers, numbers, given, strict=True))]
    return sorted(given, key=natural_key)


def redis_field(name: str, value: object) -> bytes:
    """The name of a field in Redis: the name of a list ends in '@'."""
    return (f"{name}@" if isinstance(value, list) else name).encode()
