"""Templates of handoffs: templates/handoff/<kind>/<file>.j2. HTML is escaped."""

from collections.abc import Mapping
from typing import Any

import yaml

from fabricgen.resources import resource
from fabricgen.visible import visible
from fabricgen.yaml_words import WordDumper


class Unsafe(str):
    """A text that Ansible never reads as a template: it is written with the tag !unsafe."""

    @classmethod
    def of(cls, value: object) -> object:
        """The value with every text that could be a template marked. Keys of mappings are not templates."""
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping):
            return {key: cls.of(item) for key, item in value.items()}
        return [cls.of(item) for item in value] if isinstance(value, list | tuple) else value


def _unsafe(dumper: WordDumper, text: Unsafe) -> yaml.Node:
    return dumper.represent_scalar("!unsafe", str(text), style="'")


WordDumper.add_representer(Unsafe, _unsafe)


def yaml_bytes(value: object, *, explicit_start: bool = False) -> bytes:
    """YAML with the keys in the given order, and long lines."""
    dumped: bytes = yaml.dump(
        value,
        Dumper=WordDumper,
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
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    return environment.get_template(f"{name}.j2").render(context).encode()
