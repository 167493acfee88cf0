"""config_db.json files to an inventory that is rendered and compared with the files. Remaining differences are listed.

First only the explicit design is rendered. Its differences become overrides, and tables that fabricgen does not render
become base files. Then the whole inventory is rendered and compared with the files, row by row.
"""

import enum
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import yaml

from fabricgen.adopt.overrides import overrides
from fabricgen.adopt.source import (
    NO_KEY,
    NO_WAY,
    RowId,
    Source,
    SourceSwitch,
    device_roles,
    normalised,
    rows_of,
)
from fabricgen.adopt.tree import inventory_tree
from fabricgen.adopt.wiring import usable_links
from fabricgen.allocation.lock import Lock
from fabricgen.atomic import temporary_folder
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Place, Severity, has_errors
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.inventory.profiles import NONE
from fabricgen.inventory.references import NAME
from fabricgen.platforms.model import Layout, SwitchPlatform
from fabricgen.platforms.ports_in_use import PortsInUse
from fabricgen.render.content import BundleContent
from fabricgen.render.plans import make_plans
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.dump import dump
from fabricgen.yaml_words import WordDumper

FILE_NAME = "fabric.yaml"
BASE = "base/{name}.json"
_HEADER = "# Imported from config_db.json files by `fabricgen import config-db`.\n"

Lookup = Callable[[str], tuple[SwitchPlatform, Layout] | None]


@dataclass
class Adopted:
    """The files of the inventory by path, empty after errors. `differences` is row -> reason."""

    files: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    differences: dict[RowId, str] = field(default_factory=dict)
    links: int = 0  # of the inventory


def adopt(
    bundle: Bundle,
    fabric: str,
    lookup: Lookup,
    platforms: Mapping[str, str] | None = None,
    *,
    single_file: bool = False,
) -> Adopted:
    """The inventory of an existing fabric. `platforms` are additional platform entries: path in the inventory -> text.

    `single_file` writes everything into fabric.yaml, without lock file and base files, so numbers become overrides.
    """
    adopted = Adopted()
    adopted.findings += _unusable_names(bundle)
    source = _source(bundle, lookup, adopted.findings)
    if source is None or has_errors(adopted.findings):
        return adopted
    usable, refused = usable_links(source)
    tree, lock, outside = inventory_tree(fabric, source, usable)
    refused = [(link, reason) for link, reason in refused if link.b not in outside.ports]
    for link, reason in refused:
        message = f"link {':'.join(link.a)} to {':'.join(link.b)} is not in the inventory: {reason}"
        adopted.findings.append(Finding("FG142", Severity.NOTE, message))
    adopted.links = len(bundle.links) - len(refused)
    if platforms:
        tree["platforms"] = sorted(platforms)
    files = {} if single_file else {LOCK_NAME: lock.dump()}
    files |= platforms or {}
    rendered, lock, findings = render_files({FILE_NAME: inventory_yaml(tree), **files})
    shared = [one for one in findings if one.code in _REFUSED_NUMBERS]
    if shared:
        files[LOCK_NAME] = lock.dump()
        adopted.findings += [_replaced("overrides replace numbers of the lock file", one) for one in shared]
        rendered, lock, findings = render_files({FILE_NAME: inventory_yaml(tree), **files})
    for simplify, note in _SIMPLIFICATIONS:
        if rendered is None and simplify(tree, findings):
            problems = findings
            rendered, lock, findings = render_files({FILE_NAME: inventory_yaml(tree), **files})
            adopted.findings += [_replaced(note, one) for one in problems] if rendered is not None else []
    if rendered is None:
        adopted.findings += findings
        return adopted
    if not single_file:
        files[LOCK_NAME] = lock.dump()  # with numbers for identities without numbers in the files
    changes, foreign = overrides(source, rendered, with_foreign=single_file)
    if changes:
        tree["overrides"] = changes
    if any(foreign.values()) and not single_file:
        tree["sonic"] = {"base": BASE}
        files |= {BASE.replace("{name}", name): dump(tables).decode() for name, tables in foreign.items()}
    files[FILE_NAME] = _HEADER + inventory_yaml(tree)
    rendered, _, findings = render_files(files)
    if rendered is None:
        adopted.findings += findings
        return adopted
    adopted.differences = dict(_differences(bundle, rendered, source))
    adopted.files = files
    adopted.findings += _difference_notes(adopted.differences)
    return adopted


def fabric_name(text: str) -> str:
    """A valid fabric name from a text."""
    return re.sub("[^A-Za-z0-9_.-]", "-", text).lstrip("-_.")[:63] or "fabric"


def _unusable_names(bundle: Bundle) -> Iterator[Finding]:
    for name, device in bundle.devices.items():
        if not NAME.fullmatch(name):
            hint = "use letters, digits, - _ . with a letter or digit first, at most 63"
            message = f"{name!r} is not allowed as the name of a switch in an inventory"
            place = device.locate("DEVICE_METADATA", "localhost", "hostname")
            yield Finding("FG140", Severity.ERROR, message, device=name, location=place, hint=hint)


def _source(bundle: Bundle, lookup: Lookup, findings: list[Finding]) -> Source | None:
    changed: dict[RowId, str] = {}
    roles = device_roles(bundle)
    switches: dict[str, SourceSwitch] = {}
    in_use = PortsInUse()
    for name, device in bundle.devices.items():
        hwsku = device.text_of("DEVICE_METADATA", "localhost", "hwsku")
        found = lookup(hwsku) if hwsku else None
        if found is None:
            hint = "run `fabricgen import sonic-device DIR --output ENTRY.yaml` with the folder of the SKU, "
            hint += "then repeat this import with `--platform ENTRY.yaml`"
            place = device.locate("DEVICE_METADATA", "localhost", "hwsku")
            message = f"the hwsku {hwsku or '(none)'} is unknown, so its ports cannot be rendered"
            findings.append(Finding("FG141", Severity.ERROR, message, device=name, location=place, hint=hint))
            continue
        platform, base = found
        tables = normalised(name, device.config, changed)
        layout = in_use.layout(platform, base, tables.get("PORT", {}), tables.get("BREAKOUT_CFG", {}))
        switches[name] = SourceSwitch(name, roles[name], tables, platform, layout, base)
    return Source(switches, bundle.links, changed) if switches else None


def _leave_outside(tree: dict[str, Any], problems: Sequence[Finding]) -> bool:
    """Without the external routers and static routes that have a problem; returns whether anything is changed."""
    faulty = {found.groups() for one in problems if (found := _OUTSIDE.match(one.path))}
    for name, plane in tree["planes"].items():
        for key in ("external", "static"):
            kept = [entry for index, entry in enumerate(plane.pop(key, ())) if (name, key, str(index)) not in faulty]
            plane |= {key: kept} if kept else {}
    return bool(faulty)


def _leave_lossless(tree: dict[str, Any], _: Sequence[Finding]) -> bool:
    for plane in tree["planes"].values():
        plane["lossless"] = NONE
    return True


def _leave_management(tree: dict[str, Any], _: Sequence[Finding]) -> bool:
    tree.pop("management", None)
    return True


# The lock file cannot contain numbers that several switches share, or that no pool gives.
_REFUSED_NUMBERS = ("FG398", "FG399")

# Tried in this order if no plan can be made. Overrides then contain the rows of the files.
_OUTSIDE = re.compile(r"planes\.([^.]+)\.(external|static)\[(\d+)\]")
_SIMPLIFICATIONS = (
    (_leave_outside, "overrides replace a router or a static route"),
    (_leave_lossless, "overrides replace the lossless plan"),
    (_leave_management, "base files replace the management network"),
)


def _replaced(note: str, problem: Finding) -> Finding:
    return Finding("FG143", Severity.NOTE, f"{note}: {problem.message}", count=problem.count)


def render_files(files: Mapping[str, str]) -> tuple[dict[str, Any] | None, Lock, list[Finding]]:
    """(device -> rendered tables, lock, errors) of the files of an inventory. The tables are None with errors."""
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


def _differences(bundle: Bundle, rendered: Mapping[str, Any], source: Source) -> Iterator[tuple[RowId, str]]:
    """All rows that differ between the files and the render, with the reason."""
    for name, device in bundle.devices.items():
        mine = {(table, key): row for table, key, row in rows_of(rendered[name])}
        theirs = {(table, key): row for table, key, row in rows_of(device.config)}
        for row in sorted(mine.keys() | theirs.keys(), key=lambda row: tuple(map(natural_key, row))):
            if mine.get(row) != theirs.get(row):
                reason = NO_KEY if set("*?[") & set(row[1]) else NO_WAY
                yield (name, *row), source.changed.get((name, *row), reason)


def _difference_notes(differences: Mapping[RowId, str]) -> Iterator[Finding]:
    """One note for each table and reason, with the number of rows."""
    counts: dict[tuple[str, str], list[RowId]] = {}
    for row, reason in differences.items():
        counts.setdefault((row[1], reason), []).append(row)
    for (table, reason), rows in sorted(counts.items()):
        name, _, key = rows[0]
        place = Place(table, key)
        yield Finding("FG144", Severity.NOTE, f"the render differs: {reason}", name, place=place, count=len(rows))


class _Dumper(WordDumper):
    """YAML without anchors, with short collections on one line."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


_Dumper.add_multi_representer(enum.StrEnum, lambda dumper, word: dumper.represent_str(word.value))


def inventory_yaml(tree: Mapping[str, Any]) -> str:
    """A tree as YAML, with short collections on one line."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)
