"""Every rule, by code: those of the folders beside this file and those of installed packages."""

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

import fabricgen.rules
from fabricgen.codes import chosen
from fabricgen.extensions import RULES, extensions
from fabricgen.rules.rule import RULES_BY_CODE, Rule


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code. Raises UsageError if the rules of an installed package cannot be loaded."""
    _import_own()
    extensions(RULES)  # importing a module registers its rules
    return tuple(RULES_BY_CODE[code] for code in sorted(RULES_BY_CODE))


@cache
def _import_own() -> None:
    for module in pkgutil.walk_packages(fabricgen.rules.__path__, "fabricgen.rules."):
        importlib.import_module(module.name)


def chosen_rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules whose code starts with a prefix in `select` (empty: all) and with none in `ignore`."""
    is_chosen = chosen(select, ignore)
    return tuple(rule for rule in all_rules() if is_chosen(rule.code))
