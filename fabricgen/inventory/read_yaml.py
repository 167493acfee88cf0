"""YAML text to nodes. PyYAML's C composer provides the locations at no extra cost."""

from collections.abc import Iterator

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.inventory.nodes import Node, SecretReference
from fabricgen.plain_yaml import MAX_GROWTH, compose

SECRET_TAG = "!secret"
_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(text: str, file: str) -> tuple[Node, list[Finding]]:
    """One YAML document as nodes, and a finding for each key that a mapping contains twice.

    Raises UnreadableInputError with line and column for a text that is not YAML.
    """
    root = compose(text, file)
    if root is None:
        return Node({}, Location(file, 1, 1)), []
    reader = _Reader(file, max_nodes=len(text) * MAX_GROWTH)
    return reader.node(root), reader.findings


class _Reader:
    def __init__(self, file: str, max_nodes: int) -> None:
        self.file, self._left = file, max_nodes
        self.findings: list[Finding] = []
        self._scalars = yaml.constructor.SafeConstructor()
        self._open: set[yaml.Node] = set()  # the collections around the current node

    def node(self, source: yaml.Node) -> Node:
        place = self._place(source)
        self._left -= 1
        if self._left < 0:
            raise UnreadableInputError(f"aliases expand the file to more than {MAX_GROWTH} times its length", place)
        if isinstance(source, yaml.ScalarNode):
            return Node(self._scalar(source), place)
        if source in self._open:
            raise UnreadableInputError("an alias that contains itself", place)
        self._open.add(source)
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
            self._open.discard(source)

    def _name(self, key: yaml.Node) -> str:
        if not isinstance(key, yaml.ScalarNode):
            raise UnreadableInputError("a list or mapping cannot be a key", self._place(key))
        return SecretReference(key.value) if key.tag == SECRET_TAG else key.value

    def _scalar(self, source: yaml.ScalarNode) -> object:
        if source.tag == SECRET_TAG:
            return SecretReference(source.value)
        try:
            return self._scalars.construct_object(source)
        except (
            yaml.constructor.ConstructorError,
            ValueError,
        ) as error:  # a secret is not shown
            problem = f"cannot read this value as {source.tag}; the only tag of an inventory is {SECRET_TAG}"
            raise UnreadableInputError(problem, self._place(source)) from error

    def _pairs(self, source: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """The mapping's own members, then those that only `<<` adds."""
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
                "FG102", Severity.ERROR, f"{name!r} is given twice in one mapping", location=second, path=name,
                related=(Related("the first one", first),), hint="keep one of the two",
            )
        )  # fmt: skip
