"""Places in a JSON file: a path of steps as text, and as line and column."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from fabricgen.errors import UnreadableInputError

if TYPE_CHECKING:
    from yaml import Mark

Step = str | int
Mistake = tuple[tuple[Step, ...], str]  # (path, problem)


class TextPlaces:
    """Lines and columns of a JSON text. JSON is YAML, and the reader of YAML keeps the positions."""

    def __init__(self, text: bytes) -> None:
        from fabricgen.plain_yaml import compose

        self._root = None
        with suppress(UnreadableInputError, UnicodeDecodeError):  # tabs between tokens
            self._root = compose(text.decode(), "")

    def of(self, path: Sequence[Step]) -> tuple[int, int]:
        """(line, column) of the deepest part of a path that exists; (0, 0) in a text that cannot be read. The place of
        a key of a mapping is the key."""
        return self._find(path)[0]

    def of_value(self, path: Sequence[Step]) -> tuple[int, int]:
        """As `of`, but the place of a key is that of its value."""
        return self._find(path)[1]

    def _find(self, path: Sequence[Step]) -> tuple[tuple[int, int], tuple[int, int]]:
        node, mark = self._root, getattr(self._root, "start_mark", None)
        inner = mark
        for step in path:
            if node is None:
                break
            if isinstance(step, int):
                node = node.value[step]
                mark = node.start_mark
            else:
                found = [(key, value) for key, value in node.value if key.value == step]
                node = found[0][1] if found else None
                mark = found[0][0].start_mark if found else mark
            inner = node.start_mark if node is not None else mark
        return _numbers(mark), _numbers(inner)


def _numbers(mark: "Mark | None") -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)


def dotted(path: Sequence[Step]) -> str:
    """A path as text, for example flows[2].src."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.lstrip(".") or "the scenario"
