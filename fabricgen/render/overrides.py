"""Rows of the inventory's overrides, merged into the tables of matching switches and checked later like all rows."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from fabricgen.design.model import Fabric, Switch
from fabricgen.findings import Finding, Severity
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.model import Override
from fabricgen.inventory.nodes import SecretReference
from fabricgen.render.forms import Tables
from fabricgen.render.secrets import literal_secrets, placeholder
from fabricgen.sonic.release_models import absence
from fabricgen.sonic.releases import release_name
from fabricgen.sonic.secrets import SECRET_TABLES

_PATTERN = set("*?[")


def check_overrides(fabric: Fabric, names: Mapping[str, str]) -> Iterator[Finding]:
    """Overrides that match no switch, that hold secrets, or that the target release does not know."""
    release = fabric.inventory.sonic.release
    for override in fabric.inventory.overrides:
        if not any(matches(override, switch, names[switch.key]) for switch in fabric.switches):
            place, path = override.at("match"), override.path_of("match")
            hint = "use the names, roles and numbers of `fabricgen capacity` and the lock file"
            message = "this override matches no switch"
            yield Finding("FG111", Severity.WARNING, message, path=path, location=place, hint=hint)
        for table, key, row in _rows(override):
            if any(literal_secrets(table, key, row)):
                hint = "write `!secret path/of/the/secret` in its place, and change the secret itself"
                yield error("FG108", f"{table} holds a literal secret", override, "config_db", table, hint=hint)
            if when := next(filter(None, (absence(release, table, key, field) for field in ("", *row))), ""):
                message = f"{table}|{key} exists {when}, this fabric is for {release_name(release)}"
                hint = "remove it, or set `sonic.release` to the release of the switches"
                yield error("FG112", message, override, "config_db", table, key, hint=hint)


def matches(override: Override, switch: Switch, name: str) -> bool:
    """Whether every condition of the override holds for a switch."""
    facts: dict[str, object] = {"platform": switch.platform.name, "name": name}
    for key, wanted in override.match.items():
        if key == "name":
            if not fnmatchcase(name, str(wanted)):
                return False
        elif facts.get(key, getattr(switch.identity, key, None)) != wanted:
            return False
    return True


def apply_overrides(fabric: Fabric, switch: Switch, name: str, tables: Tables) -> dict[str, str]:
    """Merge what matches into `tables`; returns 'TABLE|key|field' -> the inventory path it came from."""
    applied: dict[str, str] = {}
    for override in fabric.inventory.overrides:
        if matches(override, switch, name):
            for table, content in override.config_db.items():
                _merge_table(table, content, tables, applied, override.source("config_db", table))
    return applied


def _merge_table(table: str, content: object, tables: Tables, applied: dict[str, str], source: str) -> None:
    if not isinstance(content, Mapping):  # null: the table goes
        if tables.pop(table, None) is not None:
            applied[table] = source
        return
    rows = tables.setdefault(table, {})
    for pattern, fields in content.items():
        keys = [key for key in rows if fnmatchcase(key, pattern)] if _PATTERN & set(pattern) else [_text(pattern)]
        row = source if table in SECRET_TABLES else f"{source}.{pattern}"
        for key in keys:
            if isinstance(fields, Mapping):
                rows[key] = _merged(rows.get(key, {}), fields)
                applied.update({f"{table}|{key}|{name}": f"{row}.{name}" for name in fields} or {f"{table}|{key}": row})
            elif rows.pop(key, None) is not None:
                applied[f"{table}|{key}"] = row
    if not rows:
        del tables[table]


def _merged(row: Mapping[str, str | list[str]], fields: Mapping[str, object]) -> dict[str, str | list[str]]:
    """A new row: forms share their rows between switches."""
    merged = dict(row)
    for name, content in fields.items():
        if content is None:
            merged.pop(name, None)
        elif isinstance(content, list):
            merged[name] = [_text(item) for item in content]
        else:
            merged[name] = _text(content)
    return merged


def _text(content: object) -> str:
    return placeholder(content) if isinstance(content, SecretReference) else str(content)


def _rows(override: Override) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    for table, rows in override.config_db.items():
        for key, row in rows.items() if isinstance(rows, Mapping) else ():
            if isinstance(row, Mapping):
                yield table, key, row
