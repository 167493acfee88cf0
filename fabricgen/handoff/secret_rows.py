"""Whether the files of switches contain secrets: such a file is private, or its secrets are left out."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricgen.sonic.tables import ConfigDb


class SecretRows:
    """Searches switches one after the other. A table that a switch shares with the one before is searched once."""

    def __init__(self) -> None:
        self._last: dict[str, object] = {}  # tables without secrets

    def are_in(self, config: "ConfigDb", *, has_forms: bool) -> bool:
        """Whether a file contains a secret. Without `has_forms`, it contains none by its form."""
        from fabricgen.sonic.secrets import literals  # its expressions take 3 ms

        if has_forms:
            return any(literals(config, has_forms=True))
        others = {name: rows for name, rows in config.items() if self._last.get(name) is not rows}
        if any(literals(others, has_forms=False)):
            return True
        self._last.update(others)
        return False
