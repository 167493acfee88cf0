"""XML files as elements with their places. A document type, and with it every entity, is refused."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import YAML_BYTES, read_bytes

_MAX_DEPTH = 100
_SEPARATOR = " "  # between namespace and name; not allowed in either


@dataclass
class Element:
    """An element. `name` and the names of attributes are without namespaces."""

    name: str
    place: Location
    attributes: dict[str, str]
    text: str = ""
    children: "list[Element]" = field(default_factory=list)

    def all(self, *names: str) -> "Iterator[Element]":
        """The elements at a path of names."""
        if not names:
            yield self
        for child in self.children:
            if names and child.name == names[0]:
                yield from child.all(*names[1:])

    def value(self, *names: str) -> str:
        """The text of the first element at a path of names that has one; else ""."""
        return next((text for element in self.all(*names) if (text := element.text.strip())), "")


def read_xml(file: Path) -> Element:
    """The root of an XML file. Raises UnreadableInputError with line and column."""
    reader = _Reader(str(file))
    return reader.read(read_bytes(file, YAML_BYTES))


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._open = [Element("", Location(file), {})]
        self._parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype

    def read(self, content: bytes) -> Element:
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            problem = f"not XML: {expat.errors.messages[error.code]}"
            raise UnreadableInputError(problem, Location(self._file, error.lineno, error.offset + 1)) from error
        return self._open[0].children[0]

    def _place(self) -> Location:
        return Location(self._file, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > _MAX_DEPTH:
            raise UnreadableInputError(f"more than {_MAX_DEPTH} levels", self._place())
        bare = {_bare(key): value for key, value in attributes.items()}
        element = Element(_bare(name), self._place(), bare)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        self._open[-1].text += text

    def _refuse_doctype(self, *_: object) -> None:
        raise UnreadableInputError("a document type (DTD) is refused, because it can define entities", self._place())


def _bare(name: str) -> str:
    return name.rpartition(_SEPARATOR)[2]
