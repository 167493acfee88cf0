"""YAML text to plain values, for files that are not inventories. No text exhausts the stack or the memory."""

import re
from collections.abc import Iterable
from typing import Any

import yaml

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML without libyaml gives the same result, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

Loader = _Loader
MAX_DEPTH = 200  # of nested lists and mappings
MAX_GROWTH = 100  # nodes per character, through aliases
_BRACKET = re.compile(r"[\[\]{}]")
_INDICATOR = re.compile(r"[-?:](?=\s|$)")
_IN_TEXT = re.compile(r"[\"'#!]")


def load_yaml(text: str, file: str) -> Any:
    """The values of one YAML document. Raises UnreadableInputError with line and column for a text that is not YAML."""
    return load_yaml_node(text, file)[1]


def compose(text: str, file: str) -> yaml.Node | None:
    """The root node, which has the places of all values. Raises UnreadableInputError as `load_yaml`."""
    try:
        _refuse_depth(text, file)
        return yaml.compose(text, Loader=Loader)
    except yaml.YAMLError as error:
        raise not_yaml(error, file) from error


def compose_all(text: str, file: str) -> list[yaml.Node]:
    """The root nodes of all documents that are not empty. Raises UnreadableInputError as `load_yaml`."""
    try:
        _refuse_depth(text, file)
        roots = [root for root in yaml.compose_all(text, Loader=Loader) if root is not None]
    except yaml.YAMLError as error:
        raise not_yaml(error, file) from error
    if "*" in text:
        for root in roots:
            _refuse_growth(root, len(text) * MAX_GROWTH, file)
    return [root for root in roots if root.tag != "tag:yaml.org,2002:null"]


def load_yaml_node(text: str, file: str) -> tuple[yaml.Node, Any]:
    """The root node, for lines, and the values. Raises UnreadableInputError as `load_yaml`."""
    try:
        _refuse_depth(text, file)
        loader = Loader(text)
        root = loader.get_single_node()
        if root is None:
            return yaml.ScalarNode("tag:yaml.org,2002:null", ""), None
        if "*" in text:
            _refuse_growth(root, len(text) * MAX_GROWTH, file)
        return root, loader.construct_document(root)
    except yaml.YAMLError as error:
        raise not_yaml(error, file) from error
    except (ValueError, TypeError) as error:  # a value such as 2001-99-99, or a number of thousands of digits
        raise UnreadableInputError(f"not YAML: {error}", Location(file)) from error


def not_yaml(error: yaml.YAMLError, file: str) -> UnreadableInputError:
    """The error of a text that PyYAML refuses, with its place if PyYAML provides it."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "context", None) or error
    return UnreadableInputError(f"not YAML: {problem}", place_of(file, mark))


def place_of(file: str, mark: Any) -> Location:
    """The location of a mark, which PyYAML may not provide."""
    return Location(file, mark.line + 1, mark.column + 1) if mark else Location(file)


def _refuse_depth(text: str, file: str) -> None:
    """Composing deeper nodes would exhaust the stack of the program, while parsing events does not.

    Raises UnreadableInputError, and yaml.YAMLError for a text that is not YAML.
    """
    if not _may_be_deep(text):
        return
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise UnreadableInputError(f"more than {MAX_DEPTH} levels", place_of(file, event.start_mark))


def _may_be_deep(text: str) -> bool:
    """Whether an upper bound of the depth is above the limit. It is much faster than parsing the events.

    A block collection begins behind an indicator of its line, or in a smaller column of a line above: two of them, a
    mapping and the list in it, may begin in one column. A bracket counts as closed only in its own line, and only if
    the line has nothing in which a bracket is text.
    """
    flow = 0
    for line in text.split("\n"):
        block = 2 * (len(line) - len(line.lstrip(" "))) + len(_INDICATOR.findall(line))
        inner = most = 0
        for bracket in _BRACKET.findall(line):
            inner += 1 if bracket in "[{" else -(inner > 0 and not _IN_TEXT.search(line))
            most = max(most, inner)
        if flow + most + block > MAX_DEPTH:
            return True
        flow += inner
    return False


def _refuse_growth(root: yaml.Node, most: int, file: str) -> None:
    """Raises UnreadableInputError for more nodes than `most` with all aliases expanded, and for an alias in itself."""
    sizes: dict[yaml.Node, int] = {}
    around: set[yaml.Node] = set()

    def size(node: yaml.Node) -> int:
        if isinstance(node, yaml.ScalarNode):
            return 1
        if node in around:
            raise UnreadableInputError("an alias that contains itself", place_of(file, node.start_mark))
        if node not in sizes:
            around.add(node)
            sizes[node] = 1 + sum(map(size, _children(node)))
            around.discard(node)
        if sizes[node] > most:
            problem = f"aliases expand the file to more than {MAX_GROWTH} times its length"
            raise UnreadableInputError(problem, place_of(file, node.start_mark))
        return sizes[node]

    size(root)


def _children(node: yaml.Node) -> Iterable[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else ()
