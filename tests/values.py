"""Dataclasses of a package that can change although they are compared by value."""

import importlib
import pkgutil
from dataclasses import is_dataclass
from types import ModuleType


def changeable_values(package: ModuleType) -> list[str]:
    """The names of dataclasses that are neither frozen nor compared by identity (eq=False)."""
    modules = [
        importlib.import_module(one.name) for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    found = {
        f"{module.__name__}.{name}": each
        for module in modules
        for name, each in vars(module).items()
        if isinstance(each, type) and is_dataclass(each) and each.__module__ == module.__name__
    }
    assert found, "no dataclasses: the package has moved"
    return [
        name for name, each in found.items() if each.__dataclass_params__.eq and not each.__dataclass_params__.frozen
    ]  # type: ignore[attr-defined]
