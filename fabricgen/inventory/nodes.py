"""YAML text as a tree of nodes that know where they stand. PyYAML's C composer gives the places at no extra cost."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Related, Severity

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: the same result, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

SECRET_TAG = "!secret"
_MERGE = "tag:yaml.org,2002:merge"
_LEVELS = 200  # of lists and mappings within each other
_GROWTH = 100  # by aliases, compared with the text
_BRACKET = re.compile(r"[\[\]{}]")
_INDENT = re.compile(r"^[ ?-]*", re.MULTILINE)


class SecretReference(str):
    """The name given with `!secret name`. Its own text is no secret; what it stands for never enters fabricgen."""

    __slots__ = ()


@dataclass(slots=True)
class Node:
    """A scalar, list or mapping of an inventory.

    `keys` has the place of each key of a mapping; `cut` the keys that were wrong and taken out, so that nobody
    complains that they are missing.
    """

    value: object  # scalar | list[Node] | dict[str, Node]
    location: Location
    keys: dict[str, Location] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)

    @property
    def mapping(self) -> dict[str, "Node"]:
        """The members; empty for anything that is no mapping."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list["Node"]:
        """The items; empty for anything that is no list."""
        return self.value if isinstance(self.value, list) else []

    def scalar(self, key: str, default: Any = None) -> Any:
        """The value of a scalar member, or the default where there is no such member."""
        return self.mapping[key].value if key in self.mapping else default

    def members(self, key: str) -> list[tuple[str, "Node"]]:
        """The members of a member that is a mapping, in alphabetical order."""
        return sorted(self.part(key).mapping.items())

    def list_of(self, key: str) -> list["Node"]:
        """The items of a member that is a list."""
        return self.part(key).items

    def texts(self, key: str) -> tuple[str, ...]:
        """The items of a member that is a list of scalars, as text."""
        return tuple(str(item.value) for item in self.list_of(key))

    def part(self, key: str) -> "Node":
        """A member, or an empty mapping in this one's place."""
        return self.mapping.get(key) or Node({}, self.location)

    def find(self, path: tuple[str | int, ...]) -> "Node":
        """The deepest node that exists along `path`."""
        node = self
        for step in path:
            if isinstance(step, int) and step < len(node.items):
                node = node.items[step]
            elif str(step) in node.mapping:
                node = node.mapping[str(step)]
            else:
                break
        return node

    def plain(self) -> object:
        """The same without places, keys as text: what a JSON Schema validator takes."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value


def read_yaml(text: str, file: str) -> tuple[Node, list[Finding]]:
    """One YAML document as nodes, and a finding for each key that stands twice in one mapping.

    Raises UnreadableInputError, with line and column, for what is no YAML.
    """
    try:
        if _may_be_deep(text):
            _refuse_depth(text, file)
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        place = _at(file, error.problem_mark or error.context_mark)
        raise UnreadableInputError(f"not YAML: {error.problem or error.context}", place) from error
    except yaml.YAMLError as error:
        raise UnreadableInputError(f"not YAML: {error}", Location(file)) from error
    if root is None:
        return Node({}, Location(file, 1, 1)), []
    reader = _Reader(file, most=len(text) * _GROWTH)
    return reader.node(root), reader.findings


def _at(file: str, mark: Any) -> Location:
    """The place of PyYAML's mark, which it may not have."""
    return Location(file, mark.line + 1, mark.column + 1) if mark else Location(file)


def _may_be_deep(text: str) -> bool:
    """A quick look that counts too much rather than too little: brackets, and columns before the text of a line."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest + max(map(len, _INDENT.findall(text)), default=0) > _LEVELS


def _refuse_depth(text: str, file: str) -> None:
    """Parsing knows no limit of depth, but composing nodes does: it would end the whole program."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _LEVELS:
            raise UnreadableInputError(f"more than {_LEVELS} levels", _at(file, event.start_mark))


class _Reader:
    def __init__(self, file: str, most: int) -> None:
        self.file, self._left = file, most
        self.findings: list[Finding] = []
        self._scalars = yaml.constructor.SafeConstructor()
        self._open: set[int] = set()

    def node(self, source: yaml.Node) -> Node:
        place = self._place(source)
        self._left -= 1
        if self._left < 0:
            raise UnreadableInputError(f"aliases make it more than {_GROWTH} times as long as it is", place)
        if isinstance(source, yaml.ScalarNode):
            return Node(self._scalar(source), place)
        if id(source) in self._open:
            raise UnreadableInputError("an alias that contains itself", place)
        self._open.add(id(source))
        try:
            if isinstance(source, yaml.SequenceNode):
                return Node([self.node(item) for item in source.value], place)
            assert isinstance(source, yaml.MappingNode)
            members: dict[str, Node] = {}
            keys: dict[str, Location] = {}
            for key, value in self._pairs(source):
                name = self._name(key)
                if name in members:
                    self._report_twice(name, self._place(key), keys[name])
                    continue
                members[name], keys[name] = self.node(value), self._place(key)
            return Node(members, place, keys)
        finally:
            self._open.discard(id(source))

    def _name(self, key: yaml.Node) -> str:
        if not isinstance(key, yaml.ScalarNode):
            raise UnreadableInputError("a list or mapping cannot be a key", self._place(key))
        return SecretReference(key.value) if key.tag == SECRET_TAG else key.value

    def _scalar(self, source: yaml.ScalarNode) -> object:
        if source.tag == SECRET_TAG:
            return SecretReference(source.value)
        try:
            return self._scalars.construct_object(source)
        except (yaml.constructor.ConstructorError, ValueError) as error:  # the value may be a secret: not shown
            problem = f"cannot read this value as {source.tag}; the only tag of an inventory is {SECRET_TAG}"
            raise UnreadableInputError(problem, self._place(source)) from error

    def _pairs(self, source: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """The mapping's own members, then those that `<<` brings in and it does not have."""
        own = [(key, value) for key, value in source.value if key.tag != _MERGE]
        yield from own
        names = {key.value for key, _ in own}
        for key, value in source.value:
            if key.tag == _MERGE:
                for base in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    for pair in self._pairs(base) if isinstance(base, yaml.MappingNode) else ():
                        if pair[0].value not in names:
                            names.add(pair[0].value)
                            yield pair

    def _place(self, source: yaml.Node) -> Location:
        return Location(self.file, source.start_mark.line + 1, source.start_mark.column + 1)

    def _report_twice(self, name: str, second: Location, first: Location) -> None:
        self.findings.append(
            Finding(
                "FG102", Severity.ERROR, f"{name!r} stands twice in one mapping", location=second, path=name,
                related=(Related("the first one", first),), hint="keep one of the two",
            )
        )  # fmt: skip


def merge(base: Node, other: Node, path: str = "") -> list[Finding]:
    """Merge `other` (a later file) into `base`; the findings tell of values that the two files disagree about.

    Mappings merge; lists of things with a name merge by name, other lists are joined; one scalar in two files is a
    mistake, whatever it says.
    """
    if isinstance(base.value, dict) and isinstance(other.value, dict):
        findings: list[Finding] = []
        for key, child in other.value.items():
            if key in base.value:
                findings += merge(base.value[key], child, f"{path}.{key}" if path else key)
            else:
                base.value[key], base.keys[key] = child, other.keys[key]
        return findings
    if isinstance(base.value, list) and isinstance(other.value, list):
        return _merge_lists(base.value, other.value, path)
    if path == "fabricgen" and base.value == other.value:
        return []  # each file of a folder may state the format version
    return [
        Finding(
            "FG103", Severity.ERROR, f"{path} is set in two files", location=other.location, path=path,
            related=(Related("the other one", base.location),), hint="keep it in one of them",
        )
    ]  # fmt: skip


def _merge_lists(base: list[Node], other: list[Node], path: str) -> list[Finding]:
    findings: list[Finding] = []
    named = {name: item for item in base if (name := _name_of(item)) is not None}
    for item in other:
        name = _name_of(item)
        twin = named.get(name) if name is not None else None
        if twin is None:
            base.append(item)
            continue
        for key, child in item.mapping.items():
            if key == "name":
                continue
            if key in twin.mapping:
                findings += merge(twin.mapping[key], child, f"{path}[{name}].{key}")
            else:
                twin.mapping[key], twin.keys[key] = child, item.keys[key]
    return findings


def _name_of(item: Node) -> str | None:
    name = item.mapping["name"].value if "name" in item.mapping else None
    return name if isinstance(name, str) else None
