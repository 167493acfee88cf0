"""Templates of handoffs: templates/handoff/<kind>/<file>.j2. HTML is escaped."""

from collections.abc import Iterator
from typing import Any

from fabricgen.resources import resource
from fabricgen.visible import visible

_PIECES = 4096  # of a page that are joined at a time: millions of them take ten times the memory of their text


def yaml_bytes(value: object) -> bytes:
    """YAML with the keys in the given order, and long lines."""
    from fabricgen.yaml_blocks import dumped  # a tenth of the time of a completion

    return dumped(value)


def filled(kind: str, name: str, **context: Any) -> bytes:
    """The file `name` of a handoff. An undefined variable in the template is an error."""
    return b"".join(pieces(kind, name, **context))


def pieces(kind: str, name: str, **context: Any) -> Iterator[bytes]:
    """`filled` in pieces, for large files."""
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
    stream = environment.get_template(f"{name}.j2").stream(context)
    stream.enable_buffering(_PIECES)
    yield from (piece.encode() for piece in stream)
