"""Configuration shown without secrets."""

import json
import re

PLACEHOLDER = re.compile(r"\$\{secret:([^}]+)\}")
HIDDEN = "(not shown)"


class Disguise:
    """Shows configuration without secrets: a given one by its placeholder, one of the switch's own not at all.

    `seen` are the secrets that the switch holds, as far as it was looked at: no message may quote them.
    """

    def __init__(self, rendered, secret_tables, secret_fields):
        self.secret_fields = set(secret_fields)
        self.secret_tables = set(secret_tables) | {
            table for table, rows in rendered.items() if any(PLACEHOLDER.search(key) for key in rows)
        }
        self.secret_places = {
            (table, field)
            for table, rows in rendered.items()
            for row in rows.values()
            for field, value in row.items()
            if PLACEHOLDER.search(json.dumps(value))
        }
        self.placeholders = {}
        self.seen = set()

    def fill(self, value, secrets):
        """A part of the rendered file with the secrets in their places. Raises KeyError with the name of one that is
        not given."""
        if isinstance(value, dict):
            return {self._filled(key, secrets): self.fill(item, secrets) for key, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item, secrets) for item in value]
        return self._filled(value, secrets) if isinstance(value, str) else value

    def _filled(self, text, secrets):
        whole = PLACEHOLDER.sub(lambda match: str(secrets[match[1]]), text)
        if whole != text:
            self.placeholders[whole] = text
        return whole

    def shown(self, table, rows):
        """A table as it may be shown."""
        found = {}
        for key, row in sorted(rows.items()):
            name = self._shown(key) if table in self.secret_tables else key
            found[f"{name} {len(found) + 1}" if name == HIDDEN else name] = {
                field: self._shown(value) if self._is_secret(table, field) else value for field, value in row.items()
            }
        return found

    def look_at(self, config):
        """Note the secrets of a configuration. Texts of up to 3 letters are words such as RO, never secrets."""
        texts = {key for table in self.secret_tables for key in config.get(table, {})}
        for table, rows in config.items():
            for row in rows.values():
                texts.update(str(value) for field, value in row.items() if self._is_secret(table, field))
        self.seen |= {text for text in texts if len(text) > 3}
        return config

    def _is_secret(self, table, field):
        return (
            table in self.secret_tables or field.lower() in self.secret_fields or (table, field) in self.secret_places
        )

    def _shown(self, value):
        if isinstance(value, list):
            return [self._shown(item) for item in value]
        return self.placeholders.get(value, HIDDEN)
