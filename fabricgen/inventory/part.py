"""Parts of an inventory. A part declares each of its keys once: as a field with a `Key`.

JSON Schema, reader, hovers of editors and the tables of the pages follow from these declarations:

    class TrimmingSpec(Part):
        size_bytes: Annotated[int, key("Bytes of a trimmed packet.", "size", minimum=64, maximum=9216)] = 256

msgspec and cattrs read such declarations, too. But msgspec stops at the first mistake, and neither knows where a value
is in a file. Here jsonschema judges the whole tree, so all mistakes are reported at once, with file, line and column.
"""

import enum
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, Union, get_args, get_origin, get_type_hints

from fabricgen.findings import Location
from fabricgen.inventory.nodes import Node

Schema = dict[str, Any]
Read = Callable[[Node, str], Any]

_JSON_TYPES: Mapping[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


@dataclass(frozen=True, eq=False)
class Key:
    """How a field is written. `limits` are keywords of JSON Schema. `meaning` is one or two whole sentences.

    For the table of docs/inventory.md, `usual` is the default in words if it is not a constant, and `page` replaces the
    meaning where the page says more, or has a link.
    """

    meaning: str
    name: str  # "": that of the field
    usual: str
    page: str
    required: bool
    notation: "Notation | None"  # None: as the type of the field says
    limits: Mapping[str, Any]


def key(
    meaning: str = "",
    name: str = "",
    *,
    usual: str = "",
    page: str = "",
    required: bool = False,
    notation: "Notation | None" = None,
    **limits: object,
) -> Key:
    """The declaration of a key. A `default` among the limits is documented only: the field has the one that is used."""
    return Key(meaning, name, usual, page, required, notation, limits)


def _value(node: Node, _: str) -> Any:
    return node.value


def _nothing(_node: Node, _path: str) -> None:
    return None


@dataclass(frozen=True, eq=False)
class Notation:
    """How a value is written, and the reader of a node that conforms.

    `definitions` are the schemas behind references; `missing` reads a key that is absent and has no default.
    """

    schema: Schema
    read: Read = _value
    definitions: Schema = field(default_factory=dict)
    missing: Read = _nothing

    def named(self, name: str) -> "Notation":
        """The same notation as a definition of the schema, to which all its uses refer."""
        definitions = {**self.definitions, name: self.schema}
        return Notation({"$ref": f"#/$defs/{name}"}, self.read, definitions, self.missing)

    def reading(self, read: Read, missing: Read | None = None) -> "Notation":
        """The same notation with another reader, also of a missing key."""
        return Notation(self.schema, read, self.definitions, missing or read)

    def but(self, **keywords: object) -> "Notation":
        """The same notation with further keywords of JSON Schema."""
        return Notation({**self.schema, **keywords}, self.read, self.definitions, self.missing)

    def then(self, convert: Callable[[Any], Any]) -> "Notation":
        """The same notation, with what is read converted."""
        return Notation(
            self.schema,
            lambda node, path: convert(self.read(node, path)),
            self.definitions,
            lambda node, path: convert(self.missing(node, path)),
        )


def by_name(part: "type[Part]", name: Notation | None = None) -> Notation:
    """A mapping of names to parts, as a dict in alphabetical order."""
    named = {one.name for one in fields(part)} - {one.field for one in declared(part)}

    def read(node: Node, path: str) -> dict[str, Part]:
        members = sorted(node.mapping.items())
        return {
            each: part.read(child, f"{path}.{each}", **({"name": each} if "name" in named else {}))
            for each, child in members
        }

    return map_of(part_notation(part), name).reading(read)


def any_of(*notations: Notation, read: Read = _value, missing: Read = _nothing, **keywords: object) -> Notation:
    """One of several notations, which `read` distinguishes."""
    options = [option for notation in notations for option in (notation.schema.get("anyOf") or [notation.schema])]
    return Notation({"anyOf": options, **keywords}, read, _definitions(*notations), missing)


def list_of(item: Notation, **keywords: object) -> Notation:
    """A list, as a tuple."""

    def read(node: Node, path: str) -> tuple[Any, ...]:
        return tuple(item.read(child, f"{path}[{index}]") for index, child in enumerate(node.items))

    return Notation({"type": "array", "items": item.schema, **keywords}, read, _definitions(item), lambda *_: ())


def map_of(
    item: Notation, name: Notation | None = None, word: Callable[[str], Any] = str, **keywords: object
) -> Notation:
    """A mapping with any keys of the notation `name`, as a dict in the order of the file; `word` reads a key."""

    def read(node: Node, path: str) -> dict[Any, Any]:
        return {word(each): item.read(child, f"{path}.{each}") for each, child in node.mapping.items()}

    names = {"propertyNames": name.schema} if name else {}
    schema = {"type": "object", **names, "additionalProperties": item.schema, **keywords}
    return Notation(schema, read, _definitions(item, *filter(None, [name])), lambda *_: {})


def record_of(items: Mapping[Any, Notation], **keywords: object) -> Notation:
    """A mapping with these keys only, as a dict of those that are given, in the order of `items`."""

    def read(node: Node, path: str) -> dict[Any, Any]:
        given = [each for each in items if each in node.mapping]
        return {each: items[each].read(node.mapping[each], f"{path}.{each}") for each in given}

    properties = {str(each): notation.schema for each, notation in items.items()}
    schema = {"type": "object", "additionalProperties": False, "properties": properties, **keywords}
    return Notation(schema, read, _definitions(*items.values()), lambda *_: {})


def wrapped(name: str, notation: Notation, **keywords: object) -> Notation:
    """A mapping with the one key `name`, as its value."""
    record = record_of({name: notation}, **keywords)
    return Notation(record.schema, lambda node, path: record.read(node, path).get(name), notation.definitions)


def _definitions(*notations: Notation) -> Schema:
    return {name: schema for notation in notations for name, schema in notation.definitions.items()}


class Declared(NamedTuple):
    """A key of a part: its name, its field, its notation, and whether the field has a default."""

    name: str
    field: str
    key: Key
    notation: Notation
    has_default: bool
    default: Any


@dataclass(frozen=True, kw_only=True)
class Part:
    """The base of all parts. `path` is the dotted path from the top of the inventory.

    A class may be a `definition` of the schema. A value that is not a mapping may stand for its key `short`.
    """

    node: Node = field(repr=False, compare=False)
    path: str = field(compare=False)

    definition: ClassVar[str] = ""
    short: ClassVar[str] = ""
    keywords: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls, definition: str = "", short: str = "", meaning: str = "", **keywords: object) -> None:
        cls.definition, cls.short = definition, short
        cls.keywords = {**({"description": meaning} if meaning else {}), **keywords}

    @classmethod
    def read(cls, node: Node, path: str, **given: Any) -> Self:
        """The part of a node that conforms to the schema. Classes whose values depend on each other extend it."""
        return cls(node=node, path=path, **{**cls.values(node, path), **given})

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        """The fields that a node gives, and those that are empty without it. Others have the default of the class."""
        if cls.short and not node.mapping and node.value != {}:
            node = Node({cls.short: node}, node.location)
        found = {}
        for one in declared(cls):
            at = f"{path}.{one.name}" if path else one.name
            if one.name in node.mapping:
                inner = path if one.name == cls.short and one.name not in node.keys else at
                found[one.field] = one.notation.read(node.mapping[one.name], inner)
            elif not one.has_default:
                found[one.field] = one.notation.missing(Node({}, node.location), at)
        return found

    def at(self, *steps: str | int) -> Location:
        """The location of a value; for a default value, that of the nearest enclosing value."""
        node = self.node
        for step in steps:
            if str(step) in node.keys:
                place = node.keys[str(step)]
                child = node.find((step,))
                node = Node(child.value, place, child.keys)
            else:
                node = node.find((step,))
        return node.location

    def source(self, *steps: str | int) -> str:
        """File and dotted path of a value, as in source maps. They do not change with line numbers."""
        return f"{self.at(*steps).file}#{self.path_of(*steps)}"

    def path_of(self, *steps: str | int) -> str:
        """The dotted path of a value in this part, with items of lists as [index]."""
        path, node = self.path, self.node
        for step in steps:
            path += f"[{step}]" if node.items else f".{step}" if path else str(step)
            node = node.find((step,))
        return path


def declared(part: Any) -> tuple[Declared, ...]:
    """The keys of a class of parts, in the order of its fields."""
    return _declared(part)


@cache
def _declared(part: Any) -> tuple[Declared, ...]:
    found = []
    hints = get_type_hints(part, include_extras=True)
    for one in fields(part):
        how = next((each for each in getattr(hints[one.name], "__metadata__", ()) if isinstance(each, Key)), None)
        if how:
            default = one.default_factory() if one.default_factory is not MISSING else one.default
            notation = how.notation or notation_of(hints[one.name])
            found.append(Declared(how.name or one.name, one.name, how, notation, default is not MISSING, default))
    return tuple(found)


def part_notation(part: type[Part]) -> Notation:
    """The notation of a part: a mapping with its keys, or the value of one of them."""
    keys = declared(part)
    required = [one.name for one in keys if one.key.required]
    schema = {
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": {one.name: _property(one) for one in keys},
    }
    notation = Notation(schema, part.read, _definitions(*(one.notation for one in keys)), part.read)
    if part.short:
        short = next(one.notation for one in keys if one.name == part.short)
        notation = any_of(short, notation, read=part.read, missing=part.read)
    notation = notation.but(**part.keywords)
    return notation.named(part.definition) if part.definition else notation


def _property(one: Declared) -> Schema:
    """The schema of a key. Defaults that a reader of the schema can use are plain values."""
    schema = {**one.notation.schema, **one.key.limits}
    usual = one.default.value if isinstance(one.default, enum.Enum) else one.default
    if "default" not in schema and "$ref" not in schema and isinstance(usual, str | int | float) and usual != "":
        schema["default"] = usual
    if schema.get("default", 0) is None:
        del schema["default"]
    if one.key.meaning:
        schema["description"] = one.key.meaning
    return schema


def notation_of(kind: Any) -> Notation:
    """The notation of a type: that of its annotation, or the usual one of JSON Schema."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        given = next((each for each in kind.__metadata__ if isinstance(each, Notation)), None)
        return given or notation_of(arguments[0])
    if origin in (Union, types.UnionType):
        (one,) = (each for each in arguments if each is not type(None))
        notation = notation_of(one)
        return Notation(notation.schema, notation.read, notation.definitions)
    if origin is tuple:
        return list_of(notation_of(arguments[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        item = arguments[1]
        return by_name(item) if isinstance(item, type) and issubclass(item, Part) else map_of(notation_of(item))
    if issubclass(kind, Part):
        return part_notation(kind)
    if issubclass(kind, enum.Enum):
        return Notation({"enum": [one.value for one in kind]}, lambda node, _: kind(node.value))
    return Notation({"type": _JSON_TYPES[kind]})
