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
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fabricgen.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
    for entry in _entries(group):
        try:
            found[entry.name] = entry.load()
        except Exception as problem:  # a foreign module can raise anything when it is imported
            raise UsageError(
                f"extension {entry.name} ({entry.value}) of {group} cannot be loaded: {problem}"
            ) from problem
    return found


def _entries(group: str) -> list["EntryPoint"]:
    return sorted(_all_entries().select(group=group), key=lambda entry: entry.name)


@cache
def _all_entries() -> Any:  # EntryPoints; before Python 3.12 SelectableGroups, which selects as well
    from importlib.metadata import entry_points

    return entry_points()


def member_names(package: str, attribute: str, group: str) -> list[str]:
    """The names that `registered` returns, from the text of the modules: no member is imported.

    An entry point has the name of its member.
    """
    found = find_spec(package)
    folders = found.submodule_search_locations or () if found else ()
    texts = (file.read_text(encoding="utf-8") for folder in folders for file in sorted(Path(folder).glob("*.py")))
    named = re.compile(rf'^{attribute} = \w+\(\s*(?:name=)?"([^"]+)"', re.MULTILINE)
    own = [name for text in texts for name in named.findall(text)]
    return [*own, *installed_names(group)]


def installed_names(group: str) -> list[str]:
    """The names of the entry points of a group, for a completion: importlib.metadata takes a fifth of its time.

    They are read from the folders of packages on sys.path; those of a zip file are left out.
    """
    found = []
    for file in [file for folder in sys.path for file in Path(folder).glob("*-info/entry_points.txt")]:
        section = file.read_text("utf-8", "replace").partition(f"[{group}]\n")[2].partition("\n[")[0]
        found += re.findall(r"^([^\s=]+)\s*=", section, re.MULTILINE)
    return sorted(set(found))


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
