"""Registries: what fabricgen itself provides of a kind, and what installed packages add to it by entry points.

Groups of entry points, each with what the entry point must refer to:

fabricgen.designs      a `Design`    (fabricgen/design)
fabricgen.filters      a function that templates may call
fabricgen.formats      a `Format`    (fabricgen/report)
fabricgen.handoffs     a `Handoff`   (fabricgen/handoff)
fabricgen.platforms    the path of a folder with the layout of fabricgen/platforms/catalog
fabricgen.rules        a module with rules (fabricgen/rules)
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import TypeVar

from fabricgen.errors import UsageError

DESIGNS = "fabricgen.designs"
FILTERS = "fabricgen.filters"
FORMATS = "fabricgen.formats"
HANDOFFS = "fabricgen.handoffs"
PLATFORMS = "fabricgen.platforms"
RULES = "fabricgen.rules"

T = TypeVar("T")


@cache
def extensions(group: str) -> Mapping[str, object]:
    """name -> the object of each entry point of a group. Raises UsageError if one cannot be loaded."""
    found: dict[str, object] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        try:
            found[entry.name] = entry.load()
        except Exception as problem:  # a foreign module can raise anything when it is imported
            raise UsageError(
                f"extension {entry.name} ({entry.value}) of {group} cannot be loaded: {problem}"
            ) from problem
    return found


def registered(package: str, attribute: str, group: str, kind: type[T]) -> Mapping[str, T]:
    """name -> member: the `attribute` of each module of `package` that defines it, then the entry points of `group`.

    A member has a `name`. Raises UsageError if an entry point refers to another type, or repeats a name.
    """
    found: dict[str, T] = {}
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        member = getattr(importlib.import_module(f"{package}.{module.name}"), attribute, None)
        if isinstance(member, kind):
            found[_name(member)] = member
    for name, member in extensions(group).items():
        if not isinstance(member, kind):
            raise UsageError(f"extension {name} of {group} is not a {kind.__name__}")
        if _name(member) in found:
            raise UsageError(f"extension {name} of {group} repeats the name {_name(member)!r}")
        found[_name(member)] = member
    return found


def _name(member: object) -> str:
    return str(getattr(member, "name"))  # noqa: B009 (members are of any type with a name)
