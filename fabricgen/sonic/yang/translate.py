"""Translates config_db.json to YANG data row by row, as SONiC does.

Source: sonic-buildimage src/sonic-yang-mgmt/sonic_yang_ext.py. A row belongs to the first list with the same key length
and with all of its fields, otherwise to the container of its name. One difference: a plain text in place of a list is
refused; SONiC reads it letter by letter.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from fabricgen.sonic.schema import Violation, ViolationKind
from fabricgen.sonic.schema.violations import did_you_mean, shown
from fabricgen.sonic.tables import split_key
from fabricgen.sonic.yang.models import Leaf, Models, RowModel, TableModel

# Lists that CONFIG_DB stores as one text (LEAF_LIST_WITH_STRING_VALUE_DICT of sonic_yang_ext.py).
_SEPARATORS = {
    ("BGP_ALLOWED_PREFIXES", "prefixes_v4"): ",",
    ("BGP_ALLOWED_PREFIXES", "prefixes_v6"): ",",
    ("BUFFER_PORT_EGRESS_PROFILE_LIST", "profile_list"): ",",
    ("BUFFER_PORT_INGRESS_PROFILE_LIST", "profile_list"): ",",
    ("MIRROR_SESSION", "src_ip"): ",",
    ("NTP", "src_intf"): ";",
    ("PORT", "adv_interface_types"): ",",
    ("PORT", "adv_speeds"): ",",
}
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class _UntranslatableError(Exception):
    """Why a row or a field cannot be written as YANG data."""

    def __init__(self, kind: ViolationKind, field: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self._kind, self._field, self._message, self._hint = kind, field, message, hint

    def violation(self, table: str, key: str) -> Violation:
        """The error as a violation at its row."""
        return Violation(self._kind, table, key, self._field, self._message, self._hint)


@dataclass(frozen=True, eq=False)
class YangRow:
    """A row as YANG data: field -> its texts, separate from the leaves of the key."""

    table: TableModel
    key: str
    model: RowModel
    key_leaves: Mapping[str, str]
    fields: dict[str, list[str]]

    def texts(self, name: str) -> list[str]:
        """The texts of a field or of a leaf of the key; empty when it is missing."""
        return [self.key_leaves[name]] if name in self.key_leaves else self.fields.get(name, [])

    def lines(self) -> Iterator[tuple[str, str]]:
        """(field, XML) for each line. The field is "" for lines of the row itself, and the leaf's name for the key."""
        yield "", f"<{self.model.element}>"
        for name, text in self.key_leaves.items():
            yield name, _element(name, text)
        for field, texts in self.fields.items():
            if self.model.entry:
                inner, key, value = self.model.entry
                yield field, f"<{inner}>{_element(key, field)}{_element(value, texts[0])}</{inner}>"
            else:
                yield from ((field, _element(field, text)) for text in texts)
        yield "", f"</{self.model.element}>"


def _element(name: str, text: str) -> str:
    one_line = escape(text, quote=False).replace("\n", "&#10;").replace("\r", "&#13;")
    return f"<{name}>{one_line}</{name}>"


def translate(models: Models, config: Mapping[str, Any]) -> tuple[list[YangRow], list[Violation]]:
    """The rows of all tables with a model, table by table, and the violations of those that cannot be translated."""
    rows: list[YangRow] = []
    found: list[Violation] = []
    for name, content in config.items():
        table = models.tables.get(name)
        if table is None:
            continue
        if not isinstance(content, dict):
            found.append(Violation(ViolationKind.WRONG_TYPE, name, "", "", f"{shown(content)} is not a table of rows"))
            continue
        for key, fields in content.items():
            try:
                model, key_leaves = _model_of(table, key, fields)
            except _UntranslatableError as error:
                found.append(error.violation(name, key))
                continue
            texts: dict[str, list[str]] = {}
            for field, value in fields.items():
                try:
                    texts[field] = _texts(name, model, field, value)
                except _UntranslatableError as error:
                    found.append(error.violation(name, key))
            for leaf in () if model.entry else model.keys:  # a field overrides the leaf of the key
                key_leaves[leaf] = "".join(texts.pop(leaf, [key_leaves[leaf]]))
            rows.append(YangRow(table, key, model, key_leaves, texts))
    return rows, found


def _model_of(table: TableModel, key: str, fields: Any) -> tuple[RowModel, dict[str, str]]:
    """The kind of row, and the leaves of its key."""
    if not isinstance(fields, dict):
        raise _UntranslatableError(ViolationKind.WRONG_TYPE, "", f"{shown(fields)} is not a row of fields")
    if _NO_XML.search(key):
        raise _UntranslatableError(ViolationKind.WRONG_KEY, "", f"{shown(key)} has a control character")
    parts = [part.strip() for part in split_key(key)]
    candidates = [model for model in table.lists if len(model.keys) == len(parts)]
    candidates += [table.named[key]] if key in table.named else []
    if not candidates:
        forms = ["|".join(f"<{name}>" for name in model.keys) for model in table.lists] + sorted(table.named)[:5]
        hint = did_you_mean(key, table.named)
        raise _UntranslatableError(
            ViolationKind.WRONG_KEY, "", f"the key is not valid in this table; expected {' or '.join(forms)}", hint
        )
    model = next((each for each in candidates if each.entry or set(fields) <= set(each.leaves)), candidates[-1])
    return model, dict(zip(model.keys, parts, strict=False))


def _texts(table: str, model: RowModel, field: str, value: Any) -> list[str]:
    if model.entry:
        return [_text(Leaf(False, False), field, value)]
    leaf = model.leaves.get(field)
    if leaf is None:
        hint = did_you_mean(field, model.leaves)
        raise _UntranslatableError(
            ViolationKind.UNKNOWN_FIELD, field, "the YANG model does not have this field here", hint
        )
    if not leaf.is_list:
        return [_text(leaf, field, value)]
    if isinstance(value, str) and (table, field) in _SEPARATORS:
        value = [item.strip() for item in value.split(_SEPARATORS[table, field])]
    if not isinstance(value, list) and value != "":
        raise _UntranslatableError(ViolationKind.WRONG_TYPE, field, f"{shown(value)} is not a list of texts")
    return [_text(leaf, field, item) for item in value if item != ""]  # Redis stores an empty list as one empty text


def _text(leaf: Leaf, field: str, value: Any) -> str:
    if isinstance(value, dict | list) or value is None:
        raise _UntranslatableError(ViolationKind.WRONG_TYPE, field, f"{shown(value)} is not a text")
    text = str(value)
    if _NO_XML.search(text) or _NO_XML.search(field):
        raise _UntranslatableError(ViolationKind.BAD_PATTERN, field, f"{shown(text)} has a control character")
    if leaf.unsigned:
        try:
            return str(int(text, 10))
        except ValueError as error:
            raise _UntranslatableError(
                ViolationKind.WRONG_TYPE, field, f"{shown(text)} is not a whole number"
            ) from error
    return text
