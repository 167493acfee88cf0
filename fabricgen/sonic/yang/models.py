"""A folder of SONiC YANG models in libyang, and the structure of the tables that they describe.

In these models the top container of a module has one container per table, which contains lists (rows with a key) and
containers (rows with a fixed name). A list inside such a list is a map, for example DSCP_TO_TC_MAP: each field of the
row is one of its entries. Source: sonic-buildimage src/sonic-yang-models and src/sonic-yang-mgmt/sonic_yang_ext.py.
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
    """A field: one text, or a list of them; `unsigned` when SONiC first converts the text to a number."""

    is_list: bool
    unsigned: bool


@dataclass(frozen=True, eq=False, slots=True)
class RowModel:
    """One kind of row: a list with the leaves of its key, or a container, without keys."""

    element: str
    keys: tuple[str, ...]
    leaves: Mapping[str, Leaf]
    entry: tuple[str, str, str] | None = None  # of a map: the inner list, its key, its value


@dataclass(frozen=True, eq=False)
class TableModel:
    """A table: its place in the YANG data, and its kinds of rows."""

    name: str
    module: str
    namespace: str
    node: Any

    @cached_property
    def lists(self) -> tuple[RowModel, ...]:
        """The lists: kinds of rows by the length of their key, in the order of the model."""
        return tuple(_row_model(node) for node in self.node.children() if node.keyword() == "list")

    @cached_property
    def named(self) -> Mapping[str, RowModel]:
        """The containers: rows with a fixed name."""
        return {node.name(): _row_model(node) for node in self.node.children() if node.keyword() == "container"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first error of libyang for some data: its message, and its path or line (from 1)."""

    message: str
    path: str = ""


@dataclass(frozen=True, eq=False)
class Models:
    """The loaded models."""

    folder: Path
    tables: Mapping[str, TableModel]
    context: Any

    def refusal(self, xml: str) -> Refusal | None:
        """The first error of libyang for YANG data in XML; None when they are valid."""
        import libyang

        with _LoggedErrors() as errors:
            try:
                data = self.context.parse_data_mem(xml, "xml", no_state=True, strict=True)
            except libyang.LibyangError as error:
                return errors.first or Refusal(str(error))
            if data is not None:
                data.free()
            return None


def load_models(folder: Path) -> Models:
    """Loads every *.yang of a folder. Raises UsageError when libyang is missing or a model cannot be loaded."""
    try:
        import libyang
    except ImportError as error:
        raise UsageError(_INSTALL) from error
    names = sorted(file.name.partition("@")[0].removesuffix(".yang") for file in folder.glob("*.yang"))
    if not names:
        raise UsageError(f"{folder}: no *.yang files; on a switch they are in /usr/local/yang-models")
    libyang.configure_logging(True)  # only the log contains the path of an error
    context = libyang.Context(str(folder))
    for name in names:
        with _LoggedErrors() as errors:
            try:
                context.load_module(name)
            except libyang.LibyangError as error:
                raise UsageError(_unloadable(folder, name, errors.messages or [str(error)])) from error
    # The tables are read last: a module that is loaded recompiles the modules that it refers to.
    modules = [context.get_module(name) for name in names]
    return Models(folder, {table.name: table for module in modules for table in _tables(module)}, context)


def _unloadable(folder: Path, name: str, messages: list[str]) -> str:
    missing = [text.split('"')[1] for text in messages if '" module failed' in text and "Loading" in text]
    if missing and not (folder / f"{missing[0]}.yang").exists():
        return f"{folder}: {name}.yang needs {missing[0]}.yang, which is missing; use all models of one image"
    return f"{folder}: libyang cannot load {name}.yang: {messages[0]}"


def _tables(module: Any) -> Iterator[TableModel]:
    from libyang.util import c2str

    top = next((node for node in module.children() if node.keyword() == "container"), None)
    if top is None or top.name() != module.name():
        return
    for node in top.children():
        # sonic-events-*.yang describe messages: their containers have leaves, which tables do not have.
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


class _LoggedErrors(logging.Handler):
    """Collects the log of libyang and hides it from other handlers."""

    def __init__(self) -> None:
        super().__init__()
        self._refusals: list[Refusal] = []

    @property
    def first(self) -> Refusal | None:
        """The first error."""
        return self._refusals[0] if self._refusals else None

    @property
    def messages(self) -> list[str]:
        """The messages of all errors."""
        return [refusal.message for refusal in self._refusals]

    def emit(self, record: logging.LogRecord) -> None:
        """Add one error."""
        texts = [str(argument) for argument in record.args or ()]
        self._refusals.append(Refusal(*texts[:2]))

    def __enter__(self) -> "_LoggedErrors":
        logger = logging.getLogger("libyang")
        logger.propagate = False
        logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("libyang").removeHandler(self)
