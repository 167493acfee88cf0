"""Secrets stay where they are kept: a bundle holds placeholders, which the deployment fills in."""

from collections.abc import Iterator, Mapping

from fabricgen.inventory.nodes import SecretReference
from fabricgen.sonic.secrets import PLACEHOLDER, is_secret_field, is_secret_key


def placeholder(reference: SecretReference) -> str:
    """The placeholder of a secret in a rendered file."""
    return f"{PLACEHOLDER}{reference}}}"


def literal_secrets(table: str, key: str, row: Mapping[str, object]) -> Iterator[str]:
    """The secret fields of a row that contain a literal text instead of a reference; "*" for the key."""
    if is_secret_key(table) and not _is_reference(key):
        yield "*"
    for name, text in row.items():
        if is_secret_field(table, name) and isinstance(text, str) and not _is_reference(text):
            yield name


def _is_reference(text: str) -> bool:
    return isinstance(text, SecretReference) or text.startswith(PLACEHOLDER)
