"""Templates of handoffs: templates/handoff/<kind>/<file>.j2. HTML is escaped."""

import enum
from typing import Any

import yaml

from fabricgen.resources import resource


class _Dumper(yaml.SafeDumper):
    """Writes closed words (StrEnum) as plain text."""


_Dumper.add_multi_representer(enum.StrEnum, lambda dumper, word: dumper.represent_str(word.value))


def yaml_bytes(value: object, *, explicit_start: bool = False) -> bytes:
    """YAML with the keys in the given order, and long lines."""
    dumped: bytes = yaml.dump(
        value,
        Dumper=_Dumper,
        encoding="utf-8",
        sort_keys=False,
        explicit_start=explicit_start,
        allow_unicode=True,
        width=120,
    )
    return dumped


def filled(kind: str, name: str, **context: Any) -> bytes:
    """The file `name` of a handoff. An undefined variable in the template is an error."""
    import jinja2  # `--help` does not need it

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource("templates", "handoff", kind)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=name.endswith(".html"),
    )
    return environment.get_template(f"{name}.j2").render(context).encode()
