"""Configuration shown without secrets."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from ..sonic.secrets import is_secret_field, is_secret_text
from ..sonic.tables import ConfigDb

PLACEHOLDER = re.compile(r"\$\{secret:([^}]+)\}")
HIDDEN = "(not shown)"
LONGEST_WORD = 3  # a text of at most three letters is a word such as RO, not a secret


class Disguise:
    """Shows configuration without secrets.

    A secret that the role was given appears as its placeholder, a secret of the switch itself as HIDDEN. `seen`
    contains the secrets that were read from the switch: no message may quote them.
    """

    def __init__(self, rendered: ConfigDb, secret_tables: Collection[str], secret_fields: Collection[str]) -> None:
        self.seen: set[str] = set()
        self._placeholders: dict[str, str] = {}  # secret -> the text that stands for it in the rendered file
        self._fields = frozenset(secret_fields)
        self._tables = frozenset(secret_tables) | {
            table for table, rows in rendered.items() if any(PLACEHOLDER.search(key) for key in rows)
        }
        self._places = frozenset(
            (table, field)
            for table, rows in rendered.items()
            for row in rows.values()
            for field, value in row.items()
            if PLACEHOLDER.search(json.dumps(value))
        )

    def fill(self, tables: ConfigDb, secrets: Mapping[str, object]) -> dict[str, Any]:
        """The rendered tables with each secret in its place. Raises KeyError with the name of a missing secret."""
        return {self._filled(name, secrets): self._fill(rows, secrets) for name, rows in tables.items()}

    def _fill(self, value: Any, secrets: Mapping[str, object]) -> Any:
        if isinstance(value, Mapping):
            return {self._filled(key, secrets): self._fill(item, secrets) for key, item in value.items()}
        if isinstance(value, list):
            return [self._fill(item, secrets) for item in value]
        return self._filled(value, secrets) if isinstance(value, str) else value

    def _filled(self, text: str, secrets: Mapping[str, object]) -> str:
        filled = PLACEHOLDER.sub(lambda match: str(secrets[match[1]]), text)
        if filled != text:
            self._placeholders[filled] = text
        return filled

    def shown(self, table: str, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """The rows of a table without secrets. Hidden keys are numbered."""
        found: dict[str, dict[str, Any]] = {}
        for key, row in sorted(rows.items()):
            name = self._shown(key) if table in self._tables else key
            found[f"{name} {len(found) + 1}" if name == HIDDEN else name] = {
                field: self._shown(value) if self._is_secret(table, field, value) else value
                for field, value in row.items()
            }
        return found

    def note(self, config: ConfigDb) -> None:
        """Add the secrets of a configuration to `seen`."""
        texts = {key for table in self._tables for key in config.get(table, {})}
        for table, rows in config.items():
            for row in rows.values():
                texts.update(str(value) for field, value in row.items() if self._is_secret(table, field, value))
        self.seen |= {text for text in texts if len(text) > LONGEST_WORD}

    def _is_secret(self, table: str, field: str, value: Any) -> bool:
        by_name = table in self._tables or field.lower() in self._fields or (table, field) in self._places
        return by_name or is_secret_field(table, field) or is_secret_text(str(value))

    def _shown(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._shown(item) for item in value]
        return self._placeholders.get(value, HIDDEN)
