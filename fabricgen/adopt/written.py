"""The files of an imported inventory, and their render, with which an import compares what it read."""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import yaml

from fabricgen.adopt.source import RowId
from fabricgen.allocation.lock import Lock
from fabricgen.atomic import temporary_folder
from fabricgen.findings import Finding, Location, Severity, has_errors
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.yaml_words import WordDumper

FILE_NAME = "fabric.yaml"

# The lock file cannot contain numbers that several switches share, or that no pool gives.
REFUSED_NUMBERS = ("FG398", "FG399")


@dataclass
class Adopted:
    """The files of the inventory by path, empty after errors. `differences` is row -> reason."""

    files: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    differences: dict[RowId, str] = field(default_factory=dict)
    links: int = 0  # of the inventory


def fabric_name(text: str) -> str:
    """A valid fabric name from a text."""
    return re.sub("[^A-Za-z0-9_.-]", "-", text).lstrip("-_.")[:63] or "fabric"


def not_allowed(name: str, place: Location) -> Finding:
    """The finding on a name that a switch of an inventory cannot have."""
    hint = "use letters, digits, - _ . with a letter or digit first, at most 63"
    message = f"{name!r} is not allowed as the name of a switch in an inventory"
    return Finding("FG140", Severity.ERROR, message, device=name, location=place, hint=hint)


def rendered_tables(files: Mapping[str, str]) -> tuple[dict[str, Any] | None, Lock, list[Finding]]:
    """(device -> rendered tables, lock, errors) of an inventory. The tables are None if there are errors."""
    with temporary_folder("import") as root:
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        plans = make_plans(root)
        if has_errors(plans.findings):
            return None, plans.lock, [one for one in plans.findings if one.severity is Severity.ERROR]
        made = BundleContent(plans).files()
        tables = {path.split("/")[1]: orjson.loads(data) for path, data in made if path.startswith("sonic/")}
        return tables, plans.lock, []


class _Dumper(WordDumper):
    """YAML without anchors, with short collections on one line."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


_Dumper.add_multi_representer(enum.StrEnum, lambda dumper, word: dumper.represent_str(word.value))


def inventory_yaml(tree: Mapping[str, Any]) -> str:
    """The text of an inventory."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)
