"""The `must` and `when` conditions of SONiC's YANG models that have no check in `musts`, evaluated as XPath.

Most files have none of their tables: only tables of a file are built as XML, with those that a condition names. Fields
that the models give a default have it. Source: conditions.json, written by scripts/make_conditions.py.
"""

import functools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from xml.etree.ElementTree import Element, SubElement

from fabricgen.resources import package_text
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.schema.rows import Config
from fabricgen.sonic.schema.tables import RowSchema, TableSchema, table_schema
from fabricgen.sonic.schema.violations import Violation, ViolationKind
from fabricgen.sonic.secrets import PLACEHOLDER
from fabricgen.sonic.tables import split_key

if TYPE_CHECKING:
    from elementpath.xpath_nodes import ElementNode

_TABLE = re.compile(r"(?:/sonic-[\w-]+|\.\.)/([A-Z][A-Z0-9_]*)/")
_XPATH_LENGTH_SHOWN = 160
_BESIDE = {"VLAN_INTERFACE": "static_anycast_gateway"}  # table with other checks -> field without one
Conditions = Mapping[str, Mapping[str, Mapping[str, Any]]]  # kind of row -> field -> must, when, default


@functools.cache
def _known() -> Mapping[str, Conditions]:
    """Table -> its conditions and defaults."""
    return dict(json.loads(package_text("sonic/schema/conditions.json"))["tables"])


def broken_conditions(config: Config, covered: Collection[str], release: int | None = None) -> Iterator[Violation]:
    """Every condition that a row breaks, table by table. `covered` are tables with checks that are not XPath.

    Conditions are those of the models of the release, such as 202505; None means the newest.
    """
    judged = [
        table
        for table in config
        if table in _known() and (table not in covered or table in _BESIDE) and _has_conditions(table)
    ]
    if not judged:
        return
    data = _Data(config, judged, release or MASTER)
    for table in judged:
        yield from data.broken(table)


@functools.cache
def _has_conditions(table: str) -> bool:
    return any("must" in node or "when" in node for kind in _known()[table].values() for node in kind.values())


class _Data:
    """Tables of a file as the XML of the YANG data."""

    def __init__(self, config: Config, judged: Collection[str], release: int) -> None:
        from elementpath import XPathContext

        self._release = release
        root = Element("data")
        self._rows: dict[str, list[tuple[str, str, Element]]] = {}  # table -> (key, kind of row, element)
        named = {name for table in judged for text in _texts(table) for name in _TABLE.findall(text)}
        self._tables: dict[str, Element] = {}
        for table in dict.fromkeys([*judged, *sorted(named)]):
            if schema := table_schema(table):
                self._tables[table] = _child(_child(root, schema.module), table)
                self._rows[table] = list(_rows(self._tables[table], table, schema, config.get(table)))
        self._root: Any = XPathContext(root).root

    def broken(self, table: str) -> Iterator[Violation]:
        """The conditions that rows of a table break."""
        for text in self._applying(_known()[table].get("", {}).get("", {}), "when") if self._rows[table] else ():
            if not self._holds(text, self._node(self._tables[table])):
                yield Violation(ViolationKind.MUST, table, "", "", _message("when", text))
        for key, name, element in self._rows[table]:
            row = self._node(element)
            present = {child.tag for child in element}
            for field, node in _known()[table].get(name, {}).items():
                if field != _BESIDE.get(table, field):
                    continue
                at = [row] if not field else [self._node(child) for child in element if child.tag == field]
                if field not in present and node.get("mandatory") and self._holds(_of_row(node["when"][0]), row):
                    yield Violation(ViolationKind.MISSING_FIELD, table, key, "", f"{field} is missing")
                for what in ("when", "must") if not field or field in present else ():
                    place = Violation(ViolationKind.MUST, table, key, field, "")
                    yield from self._judged(place, what, self._applying(node, what), at)

    def _applying(self, node: Mapping[str, Any], what: str) -> list[str]:
        """The conditions of a node in the models of the release."""
        limited: Mapping[str, list[int]] = node.get("releases", {})
        return [text for text in node.get(what, ()) if self._release in limited.get(text, (self._release,))]

    def _judged(self, place: Violation, what: str, texts: Collection[str], at: list[Any]) -> Iterator[Violation]:
        for text in texts:
            if not all(self._holds(text, node) for node in at if not _has_secret(node.elem)):
                yield replace(place, message=_message(what, text))

    def _holds(self, text: str, node: "ElementNode") -> bool:
        from elementpath import ElementPathError, XPathContext

        context = XPathContext(self._root, item=node, variables={"current": node, "data": self._root})
        try:
            return bool(_parsed(text).evaluate(context))
        except ElementPathError:  # a text in place of a number, which other checks report
            return True

    def _node(self, element: Element) -> "ElementNode":
        return cast("ElementNode", self._root.get_element_node(element))


def _texts(table: str) -> Iterator[str]:
    """All conditions of a table."""
    for kind in _known()[table].values():
        for node in kind.values():
            yield from (*node.get("must", ()), *node.get("when", ()))


def _has_secret(element: Element) -> bool:
    """Whether a field, or a field of a row, is a placeholder: its content is not known."""
    return any(PLACEHOLDER in one.text for one in (element, *element) if one.text)


def _message(what: str, text: str) -> str:
    shown = text if len(text) <= _XPATH_LENGTH_SHOWN else f"{text[:_XPATH_LENGTH_SHOWN]} …"
    return f"breaks the `{what}` of SONiC's YANG model: {shown}"


def _of_row(text: str) -> str:
    """A condition of a field, for the row that lacks the field."""
    return text.replace("current()/../", "").replace("../", "")


@functools.cache
def _parsed(text: str) -> Any:
    """A condition as XPath with variables: YANG's current() and the root of the data."""
    from elementpath import XPath2Parser

    text = re.sub(r"(?<![\w\])'\"*.])/(?=sonic-)", "$data/", text.replace("current()", "$current"))
    return XPath2Parser(variable_types=None, compatibility_mode=True).parse(f"boolean({text})")


def _rows(place: Element, table: str, schema: TableSchema, rows: object) -> Iterator[tuple[str, str, Element]]:
    """Builds a table; (key, kind of row, element) of each row that the schema knows."""
    for key, row in rows.items() if isinstance(rows, dict) else ():
        kind = schema.row_schema(key)
        if kind is None or kind.entries or not isinstance(row, dict):
            continue
        element = SubElement(place, kind.name)
        _fill(element, table, kind, key, row)
        yield key, kind.name, element


def _fill(element: Element, table: str, kind: RowSchema, key: str, row: Mapping[str, Any]) -> None:
    keys = dict(zip((name for name, _ in kind.keys), split_key(key), strict=True)) if kind.keys else {}
    values: dict[str, Any] = {**keys, **row}
    for field, node in _known().get(table, {}).get(kind.name, {}).items():
        if "default" in node and "when" not in node:
            values.setdefault(field, node["default"])
    for field, value in values.items():
        spec = kind.fields.get(field)
        if isinstance(value, str) and spec and spec.is_list and spec.separator:
            value = [item.strip() for item in value.split(spec.separator)]
        for item in value if isinstance(value, list) else [value]:
            SubElement(element, field).text = item if isinstance(item, str) else str(item)


def _child(parent: Element, name: str) -> Element:
    found = parent.find(name)
    return SubElement(parent, name) if found is None else found
