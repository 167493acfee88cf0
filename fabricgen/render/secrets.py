"""Secrets stay where they are kept: a bundle holds placeholders, which the deployment fills in."""

from collections.abc import Iterator, Mapping

from fabricgen.inventory.nodes import SecretReference
from fabricgen.sonic import secrets
from fabricgen.sonic.secrets import PLACEHOLDER


def placeholder(reference: SecretReference) -> str:
    """The placeholder of a secret in a rendered file."""
    return f"{PLACEHOLDER}{reference}}}"


def literal_secrets(table: str, key: str, row: Mapping[str, object]) -> Iterator[str]:
    """The secret fields of a row of an inventory with a literal text instead of a reference; "*" for the key."""
    return secrets.literal_secrets(table, str(_rendered(key)), {name: _rendered(value) for name, value in row.items()})


def _rendered(value: object) -> object:
    return placeholder(value) if isinstance(value, SecretReference) else value
