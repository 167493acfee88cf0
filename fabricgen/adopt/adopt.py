"""config_db.json files to an inventory that is rendered and compared with the files. Remaining differences are listed.

First only the explicit design is rendered. Its differences become overrides, and tables that fabricgen does not render
become base files. Then the whole inventory is rendered and compared with the files, row by row.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fabricgen.adopt.access import Accesses, find_access
from fabricgen.adopt.outside import Outside
from fabricgen.adopt.overrides import overrides
from fabricgen.adopt.own_platform import NAMED_PORTS, NUMBERED_LANES, own_layout, own_platform, with_buffers
from fabricgen.adopt.source import (
    NO_KEY,
    NO_WAY,
    ImportSource,
    RowId,
    SourceSwitch,
    Tables,
    device_roles,
    normalised,
    rows_of,
)
from fabricgen.adopt.tree import inventory_tree
from fabricgen.adopt.wiring import usable_links
from fabricgen.adopt.written import FILE_NAME, REFUSED_NUMBERS, Adopted, inventory_yaml, not_allowed, rendered_tables
from fabricgen.allocation.lock import Lock
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.findings import Finding, Location, Place, Severity, has_errors
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.inventory.profiles import NONE
from fabricgen.inventory.values import NAME
from fabricgen.platforms.catalog import switch_names
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import IMPORTED, UNKNOWN_HWSKU, Layout, SwitchPlatform
from fabricgen.platforms.ports_in_use import PortsInUse
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.dump import dump
from fabricgen.sonic.release_models import unknown_paths
from fabricgen.sonic.releases import BRANCHES, DEFAULT, MASTER, MASTER_WORD, branch_of
from fabricgen.sonic.tables import stored
from fabricgen.vocabulary import BufferModel, Role

BASE = "base/{name}.json"
_HEADER = "# Imported from config_db.json files by `fabricgen import config-db`.\n"

Lookup = Callable[[str], tuple[SwitchPlatform, Layout] | None]


def adopt(
    bundle: Bundle,
    fabric: str,
    lookup: Lookup,
    platforms: Mapping[str, str] | None = None,
    *,
    hwsku: str = "",
    single_file: bool = False,
) -> Adopted:
    """The inventory of an existing fabric. `platforms` are additional platform entries: path in the inventory -> text.
    `hwsku` is that of switches whose own is missing or unknown; without it their files make a platform entry.

    `single_file` writes everything into fabric.yaml, without lock file and base files, so numbers become overrides.
    """
    adopted = Adopted()
    adopted.findings += _unusable_names(bundle)
    source, made = _source(bundle, lookup, hwsku)
    adopted.findings += _imported(made, single_file=single_file)
    if source is None or has_errors(adopted.findings):
        return adopted
    platforms = {**(platforms or {}), **{f"platforms/{one.name}.yaml": switch_entry_text(one) for one in made}}
    usable, refused = usable_links(source)
    accesses = find_access(source, usable)
    common: dict[str, Any] = {"platforms": sorted(platforms)} if platforms else {}
    common |= _sonic(bundle, source)
    draft = _draft(fabric, source, usable, accesses, common, platforms, single_file=single_file)
    if draft.rendered is None and accesses:
        refusals = [_replaced("overrides replace `access`", one) for one in draft.problems]
        draft = _draft(fabric, source, usable, Accesses(), common, platforms, single_file=single_file)
        draft.notes += refusals
    else:
        adopted.findings += accesses.findings
    adopted.findings += draft.notes
    refused = [(link, reason) for link, reason in refused if link.b not in draft.outside.ports]
    for link, reason in refused:
        message = f"link {':'.join(link.a)} to {':'.join(link.b)} is not in the inventory: {reason}"
        adopted.findings.append(Finding("FG142", Severity.NOTE, message, location=_row_of(bundle, link)))
    adopted.links = len(bundle.links) - len(refused)
    tree, files, lock = draft.tree, draft.files, draft.lock
    if draft.rendered is None:
        adopted.findings += draft.problems
        return adopted
    if not single_file:
        files[LOCK_NAME] = lock.dump()  # with numbers for identities without numbers in the files
    changes, foreign = overrides(source, draft.rendered, with_foreign=single_file)
    if changes:
        tree["overrides"] = changes
    if any(foreign.values()) and not single_file:
        tree["sonic"] = {**tree.get("sonic", {}), "base": BASE}
        files |= {BASE.replace("{name}", name): dump(tables).decode() for name, tables in foreign.items()}
    files[FILE_NAME] = _HEADER + inventory_yaml(tree)
    rendered, _, findings = rendered_tables(files)
    if rendered is None:
        adopted.findings += findings
        return adopted
    adopted.differences = dict(_differences(bundle, rendered, source))
    adopted.files = files
    adopted.findings += _difference_notes(adopted.differences)
    return adopted


@dataclass
class _Draft:
    """An inventory without overrides. `rendered` is None if `problems` prevent its render."""

    tree: dict[str, Any]
    files: dict[str, str]
    lock: Lock
    outside: Outside
    rendered: dict[str, Any] | None = None
    problems: list[Finding] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)


def _row_of(bundle: Bundle, link: WiredLink) -> Location | None:
    """The row of DEVICE_NEIGHBOR of a link, or that of its port, in the file of one of its switches."""
    for name, port in (link.b, link.a):
        if (device := bundle.devices.get(name)) is not None:
            return device.locate("DEVICE_NEIGHBOR" if device.row("DEVICE_NEIGHBOR", port) else "PORT", port)
    return None


def _draft(
    fabric: str,
    source: ImportSource,
    links: Sequence[WiredLink],
    accesses: Accesses,
    common: dict[str, Any],
    platforms: Mapping[str, str],
    *,
    single_file: bool,
) -> _Draft:
    """The inventory of these links, rendered: what no plan can be made of is left out of it, step by step."""
    tree, lock, outside = inventory_tree(fabric, source, links, accesses)
    draft = _Draft(tree | common, {**({} if single_file else {LOCK_NAME: lock.dump()}), **platforms}, lock, outside)
    _render_with_own_numbers(draft)
    for simplify, note in _SIMPLIFICATIONS:
        if draft.rendered is None and simplify(draft.tree, draft.problems):
            problems = draft.problems
            _render(draft)
            draft.notes += [_replaced(note, one) for one in problems] if draft.rendered is not None else []
    return draft


def _render(draft: _Draft) -> None:
    draft.rendered, draft.lock, draft.problems = rendered_tables({FILE_NAME: inventory_yaml(draft.tree), **draft.files})


def _render_with_own_numbers(draft: _Draft) -> None:
    """Render a draft with a lock file whose numbers are each that of one switch or link."""
    while True:
        _render(draft)
        shared = [one for one in draft.problems if one.code in REFUSED_NUMBERS]
        if not shared or draft.files.get(LOCK_NAME) == draft.lock.dump():
            return
        draft.files[LOCK_NAME] = draft.lock.dump()
        draft.notes += [_replaced("overrides replace numbers of the lock file", one) for one in shared]


def _unusable_names(bundle: Bundle) -> Iterator[Finding]:
    for name, device in bundle.devices.items():
        if not NAME.fullmatch(name):
            yield not_allowed(name, device.locate("DEVICE_METADATA", "localhost", "hostname"))


def _source(bundle: Bundle, lookup: Lookup, hwsku: str) -> tuple[ImportSource | None, list[SwitchPlatform]]:
    """The switches with their hardware, and the platforms that their own files make."""
    changed: dict[RowId, str] = {}
    roles = device_roles(bundle)
    tables = {name: normalised(name, device.config, changed) for name, device in bundle.devices.items()}
    known: dict[str, tuple[SwitchPlatform, Layout]] = {}
    unknown: dict[str, list[str]] = {}
    for name in bundle.devices:
        own = str(_metadata(tables[name]).get("hwsku", ""))
        if found := (lookup(own) if own else None) or (lookup(hwsku) if hwsku else None):
            known[name] = found
        else:
            unknown.setdefault(own, []).append(name)
    made: list[SwitchPlatform] = []
    taken = set(switch_names())
    for own, names in unknown.items():
        platform = own_platform(own or UNKNOWN_HWSKU, [(roles[name], tables[name]) for name in names], taken)
        made.append(platform)
        taken.add(platform.name)
        known |= {name: (platform, own_layout(platform, tables[name])) for name in names}
    made += _completed(known, roles, tables)
    in_use = PortsInUse()
    switches: dict[str, SourceSwitch] = {}
    for name, (platform, base) in known.items():
        layout = base
        if platform.vendor != IMPORTED:  # a layout of the files has their ports
            layout = in_use.layout(platform, base, tables[name].get("PORT", {}), tables[name].get("BREAKOUT_CFG", {}))
        switches[name] = SourceSwitch(name, roles[name], tables[name], platform, layout, base)
    ordered = {name: switches[name] for name in bundle.devices if name in switches}
    return ImportSource(ordered, bundle.links, changed) if ordered else None, made


def _sonic(bundle: Bundle, source: ImportSource) -> dict[str, Any]:
    """`sonic` with the release of most switches. Otherwise the default one, or the next one, newest first, whose models
    have more of what the files have: an inventory cannot contain what its release does not have.
    """
    tables = [switch.tables for switch in source.switches.values()]
    known = source.most(device.known_release for device in bundle.devices.values())
    candidates = [branch_of(known)] if known else dict.fromkeys((DEFAULT, *reversed(BRANCHES), MASTER))
    release = min(candidates, key=lambda one: sum(1 for config in tables for _ in unknown_paths(config, one)))
    return {} if release == DEFAULT else {"sonic": {"release": MASTER_WORD if release == MASTER else release}}


def _completed(
    known: dict[str, tuple[SwitchPlatform, Layout]], roles: Mapping[str, Role], tables: Mapping[str, Tables]
) -> list[SwitchPlatform]:
    """The platforms of the catalog that have no headroom for their SKU, with the headroom of the files. `known` gets
    them."""
    without: dict[str, list[str]] = {}
    for name, (platform, layout) in known.items():
        if not layout.headroom and platform.buffer_model != BufferModel.DYNAMIC:
            without.setdefault(layout.hwsku, []).append(name)
    made: dict[str, SwitchPlatform] = {}
    for names in without.values():
        platform, layout = known[names[0]]
        full = with_buffers(layout, [(roles[name], tables[name]) for name in names])
        if full.headroom and full.buffers:
            others = tuple(full if each is layout else each for each in made.get(platform.name, platform).layouts)
            made[platform.name] = platform = replace(platform, layouts=others)
            known |= dict.fromkeys(names, (platform, full))
    return list(made.values())


_GIVE_ENTRY = (
    "run `fabricgen import sonic-device DIR --output ENTRY.yaml` with the folder of the SKU, "
    "then repeat this import with `--platform ENTRY.yaml`"
)


def _imported(made: Sequence[SwitchPlatform], *, single_file: bool) -> Iterator[Finding]:
    """One finding for each platform that is made of the files. It needs a separate file."""
    for platform in made:
        ports = " and ".join(str(len(layout.ports)) for layout in platform.layouts)
        headroom = ", and their headroom" if platform.layouts[0].headroom else ""
        message = f"the catalog does not have the hwsku {platform.layouts[0].hwsku}: platform {platform.name} has the "
        message += f"{ports} ports of its files{headroom}{_without(platform)}"
        if platform.vendor != IMPORTED:
            message = f"the catalog has no headroom for {platform.name}: its entry has that of the files"
        hint = "give --output: the entry is a file beside the inventory" if single_file else _GIVE_ENTRY
        yield Finding("FG141", Severity.ERROR if single_file else Severity.NOTE, message, hint=hint)


def _without(platform: SwitchPlatform) -> str:
    """What the files do not have, so that the entry numbers it."""
    sources = {layout.sources["ports"] for layout in platform.layouts}
    return ", which have no PORT" * (NAMED_PORTS in sources) or ", without lanes" * (NUMBERED_LANES in sources)


def _metadata(tables: Tables) -> Mapping[str, object]:
    return tables.get("DEVICE_METADATA", {}).get("localhost", {})


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


# Tried in this order if no plan can be made. Overrides then contain the rows of the files.
_OUTSIDE = re.compile(r"planes\.([^.]+)\.(external|static)\[(\d+)\]")
_SIMPLIFICATIONS = (
    (_leave_outside, "overrides replace a router or a static route"),
    (_leave_lossless, "overrides replace the lossless plan"),
    (_leave_management, "base files replace the management network"),
)


def _replaced(note: str, problem: Finding) -> Finding:
    return Finding("FG143", Severity.NOTE, f"{note}: {problem.message}", count=problem.count)


def _differences(bundle: Bundle, rendered: Mapping[str, Any], source: ImportSource) -> Iterator[tuple[RowId, str]]:
    """All rows that differ between the files and the render, with the reason."""
    for name, device in bundle.devices.items():
        mine = {(table, key): row for table, key, row in rows_of(rendered[name])}
        theirs = {(table, key): row for table, key, row in rows_of(device.config)}
        for row in sorted(mine.keys() | theirs.keys(), key=lambda row: tuple(map(natural_key, row))):
            if _stored_row(mine.get(row)) != _stored_row(theirs.get(row)):
                reason = NO_KEY if set("*?[") & set(row[1]) else NO_WAY
                yield (name, *row), source.changed.get((name, *row), reason)


def _stored_row(row: Any) -> object:
    """A row as CONFIG_DB stores it; None for a missing one."""
    return {field: stored(value) for field, value in row.items()} if isinstance(row, dict) else row


def _difference_notes(differences: Mapping[RowId, str]) -> Iterator[Finding]:
    """One note for each table and reason, with the number of rows."""
    counts: dict[tuple[str, str], list[RowId]] = {}
    for row, reason in differences.items():
        counts.setdefault((row[1], reason), []).append(row)
    for (table, reason), rows in sorted(counts.items()):
        name, _, key = rows[0]
        place = Place(table, key)
        yield Finding("FG144", Severity.NOTE, f"the render differs: {reason}", name, place=place, count=len(rows))
