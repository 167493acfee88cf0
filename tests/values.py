"""The dataclasses of a package: which of them can change, have no slots, or are compared by identity."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from fabricgen.engine.derived import derived


def _dataclasses(package: ModuleType) -> list[Any]:
    modules = [
        importlib.import_module(one.name) for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    found = [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and is_dataclass(each) and each.__module__ == module.__name__
    ]
    assert found, "no dataclasses: the package has moved"
    return found


def _names(found: Iterator[Any]) -> set[str]:
    return {each.__qualname__ for each in found}


def changeable_values(package: ModuleType) -> set[str]:
    """Dataclasses that are neither frozen nor compared by identity."""
    every = (each for each in _dataclasses(package) if not each.__dataclass_params__.frozen)
    return _names(each for each in every if each.__dataclass_params__.eq)


def values_without_slots(package: ModuleType) -> set[str]:
    """Frozen dataclasses without slots. Those with cached properties need a dictionary."""
    every = (each for each in _dataclasses(package) if each.__dataclass_params__.frozen)
    return _names(each for each in every if "__slots__" not in vars(each) and not _has_cached(each))


def _has_cached(each: type) -> bool:
    return any(isinstance(one, cached_property | derived) for base in each.__mro__ for one in vars(base).values())


def compared_by_identity(package: ModuleType) -> set[str]:
    """Dataclasses that are equal only to themselves (eq=False)."""
    return _names(each for each in _dataclasses(package) if not each.__dataclass_params__.eq)
