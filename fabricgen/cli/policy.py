"""The tables of a settings file about findings: `[severity]` by code, and `[[suppressions]]`."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from fabricgen.cli.settings import SettingsFile
from fabricgen.errors import UsageError
from fabricgen.findings import Severity
from fabricgen.report.outcome import OFF
from fabricgen.report.pages import pages
from fabricgen.suppressions import Suppression, is_day

_LEVELS = (*Severity, OFF)
_KEYS = ("code", "device", "path", "reason", "expires")


def severities(file: SettingsFile) -> dict[str, str]:
    """code -> error | warning | note | off. Raises UsageError."""
    table = file.content.get("severity", {})
    if not isinstance(table, Mapping):
        raise UsageError(f'{file.name}: severity must be a table, for example FG593 = "note"')
    for code, level in table.items():
        _check_code(file, "severity", code)
        if level not in _LEVELS:
            raise UsageError(f"{file.name}: severity.{code} is {level!r}; it must be one of {', '.join(_LEVELS)}")
    return {code: str(level) for code, level in table.items()}


def suppressions(file: SettingsFile) -> list[Suppression]:
    """The suppressions of [[suppressions]]. Raises UsageError."""
    items = file.content.get("suppressions", [])
    if not isinstance(items, list):
        raise UsageError(f"{file.name}: suppressions must be a list of tables, [[suppressions]]")
    return [_suppression(file, f"suppressions[{index}]", item) for index, item in enumerate(items)]


def _suppression(file: SettingsFile, name: str, item: Any) -> Suppression:
    given = {key: _text(value) for key, value in item.items()} if isinstance(item, Mapping) else {}
    for key, value in given.items():
        if key not in _KEYS or not isinstance(value, str):
            raise UsageError(f"{file.name}: {name} has {key} = {value!r}; it takes text for {', '.join(_KEYS)}")
    _check_code(file, f"{name}.code", given.get("code", ""))
    if not given.get("reason", "").strip():
        raise UsageError(f"{file.name}: {name} has no reason; every suppression needs a reason")
    if "expires" in given and not is_day(given["expires"]):
        raise UsageError(f"{file.name}: {name}.expires is {given['expires']!r}; write a date such as 2027-01-31")
    path, _, prefix = file.name.partition("#")
    return Suppression(place=f"{path}#{'.'.join(filter(None, (prefix, name)))}", **given)


def _text(value: object) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _check_code(file: SettingsFile, name: str, code: str) -> None:
    if code not in pages():
        raise UsageError(
            f"{file.name}: {name}: no finding has the code {code!r}; `fabricgen explain --list` shows all codes"
        )
