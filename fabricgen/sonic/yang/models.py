"""A folder of SONiC YANG models in libyang, and the shape of the tables that they describe.

In these models a module's top container holds one container per table, and in it lists (rows with a key) and
containers (rows with a fixed name). A list inside such a list is a map such as DSCP_TO_TC_MAP: each field of the row
is one of its entries. Source: sonic-buildimage src/sonic-yang-models and src/sonic-yang-mgmt/sonic_yang_ext.py.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricgen.errors import UsageError

_INSTALL = (
    "--yang needs libyang: apt-get install libyang2-dev gcc python3-dev pkg-config, "
    "then pip install 'fabricgen[yang]' (docs/yang.md)"
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field: one text, or a list of them; `unsigned` where SONiC reads the text as a number first."""

    is_list: bool
    unsigned: bool


@dataclass(frozen=True, eq=False, slots=True)
class RowModel:
    """One kind of row: a list with the leaves of its key, or, without keys, a container."""

    element: str
    keys: tuple[str, ...]
    leaves: Mapping[str, Leaf]
    entry: tuple[str, str, str] | None = None  # of a map: the inner list, its key, its value


@dataclass(frozen=True, eq=False)
class TableModel:
    """A table: where its data belong, and which rows it can hold."""

    name: str
    module: str
    namespace: str
    node: Any

    @cached_property
    def lists(self) -> tuple[RowModel, ...]:
        """Rows that are found by the length of their key, in the order of the model."""
        return tuple(_row_model(node) for node in self.node.children() if node.keyword() == "list")

    @cached_property
    def named(self) -> Mapping[str, RowModel]:
        """Rows that are found by their name."""
        return {node.name(): _row_model(node) for node in self.node.children() if node.keyword() == "container"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What libyang said first about some data: its words, its path, and the line (from 1) when it stopped reading."""

    message: str
    path: str = ""


@dataclass(frozen=True, eq=False)
class Models:
    """The loaded models."""

    folder: Path
    tables: Mapping[str, TableModel]
    context: Any

    def refusal(self, xml: str) -> Refusal | None:
        """libyang's first complaint about YANG data in XML, None when they are valid."""
        import libyang

        with _heard() as complaints:
            try:
                data = self.context.parse_data_mem(xml, "xml", no_state=True, strict=True)
            except libyang.LibyangError as error:
                return complaints.first or Refusal(str(error))
            if data is not None:
                data.free()
            return None


def load_models(folder: Path) -> Models:
    """Every *.yang of a folder. Raises UsageError when libyang is missing, or a model cannot be loaded."""
    try:
        import libyang
    except ImportError as error:
        raise UsageError(_INSTALL) from error
    names = sorted(file.name.partition("@")[0].removesuffix(".yang") for file in folder.glob("*.yang"))
    if not names:
        raise UsageError(f"{folder}: no *.yang files; on a switch they lie in /usr/local/yang-models")
    libyang.configure_logging(True)  # the only way to learn the path of a complaint
    context = libyang.Context(str(folder))
    for name in names:
        with _heard() as complaints:
            try:
                context.load_module(name)
            except libyang.LibyangError as error:
                raise UsageError(_unloadable(folder, name, complaints.messages or [str(error)])) from error
    # The shapes are read last: loading a module compiles those that it refers to anew.
    modules = [context.get_module(name) for name in names]
    return Models(folder, {table.name: table for module in modules for table in _tables(module)}, context)


def _unloadable(folder: Path, name: str, messages: list[str]) -> str:
    missing = [text.split('"')[1] for text in messages if '" module failed' in text and "Loading" in text]
    if missing and not (folder / f"{missing[0]}.yang").exists():
        return f"{folder}: {name}.yang needs {missing[0]}.yang, which is not there; take all models of one image"
    return f"{folder}: libyang cannot load {name}.yang: {messages[0]}"


def _tables(module: Any) -> Iterator[TableModel]:
    from libyang.util import c2str

    top = next((node for node in module.children() if node.keyword() == "container"), None)
    if top is None or top.name() != module.name():
        return
    for node in top.children():
        # sonic-events-*.yang describe messages: their containers hold leaves, which no table does.
        if node.keyword() == "container" and not any(child.keyword() == "leaf" for child in node.children()):
            yield TableModel(node.name(), module.name(), c2str(module.cdata.ns), node)


def _row_model(node: Any) -> RowModel:
    children = {child.name(): child for child in node.children()}
    leaves = {
        name: Leaf(child.keyword() == "leaf-list", "uint" in child.type().basename())
        for name, child in children.items()
        if child.keyword() in ("leaf", "leaf-list")
    }
    keys = _keys(node) if node.keyword() == "list" else ()
    for child in children.values():
        if child.keyword() == "list":
            (key,) = _keys(child)
            value = [leaf.name() for leaf in child.children() if leaf.name() != key][-1]
            return RowModel(node.name(), keys, leaves, (child.name(), key, value))
    return RowModel(node.name(), keys, leaves)


def _keys(node: Any) -> tuple[str, ...]:
    keys = node.keys
    return tuple(leaf.name() for leaf in keys())


class _heard(logging.Handler):  # noqa: N801 - reads as a context manager
    """Listens to libyang's log and keeps it from everybody else."""

    def __init__(self) -> None:
        super().__init__()
        self._refusals: list[Refusal] = []

    @property
    def first(self) -> Refusal | None:
        """What was said first."""
        return self._refusals[0] if self._refusals else None

    @property
    def messages(self) -> list[str]:
        """All that was said."""
        return [refusal.message for refusal in self._refusals]

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one complaint."""
        texts = [str(argument) for argument in record.args or ()]
        self._refusals.append(Refusal(*texts[:2]))

    def __enter__(self) -> "_heard":
        logger = logging.getLogger("libyang")
        logger.propagate = False
        logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("libyang").removeHandler(self)
