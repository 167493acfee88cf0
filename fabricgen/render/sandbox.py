"""Jinja's sandbox with limits, for templates of users: each expansion has a number of steps and a size of text.

The limits do not depend on time, so a template that is accepted on one machine is accepted on all. A step is a pass of
a loop, or a call of a macro or method.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from math import prod
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

MOST_STEPS = 5_000_000
MOST_CHARACTERS = 64 << 20
MOST_TEMPLATE_BYTES = 1 << 20
_MOST_DIGITS = 4000
_GROWING = frozenset({"center", "expandtabs", "join", "ljust", "replace", "rjust", "translate", "zfill"})
_FORMATS = frozenset({"format", "format_map"})
_GROWING_FILTERS = ("center", "indent", "join", "replace", "wordwrap", "batch", "slice", "truncate")
_WIDTH = re.compile(r"\d{6}")


class LimitError(ValueError):
    """A template exceeds a limit."""


class LimitedEnvironment(ImmutableSandboxedEnvironment):
    """Counts the steps of the expansion in progress; `begin` starts the next one."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._steps = 0
        self.filters["fabricgen_counted"] = self._counted
        self.filters["fabricgen_joined"] = lambda items: _text_of(map(str, items))
        for name in _GROWING_FILTERS:
            self.filters[name] = _limited(self.filters[name])
        self.filters["format"] = _limited_format(self.filters["format"])

    def begin(self) -> None:
        """Start an expansion."""
        self._steps = 0

    def step(self) -> None:
        """Count a step. Raises LimitError."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise LimitError(f"the template takes more than {MOST_STEPS} steps")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        if len(source) > MOST_TEMPLATE_BYTES:
            raise jinja2.TemplateSyntaxError(
                f"the template has more than {MOST_TEMPLATE_BYTES} bytes", 1, name, filename
            )
        tree: nodes.Template = _Counting().visit(super()._parse(source, name, filename))
        return tree

    def _counted(self, items: Iterable[object]) -> Iterator[object]:
        for item in items:
            self.step()
            yield item

    def concat(self, parts: Iterable[str]) -> str:
        """The text of an expansion, a macro or a block."""
        return _text_of(parts)

    def call(self, context: Context, function: Any, /, *args: Any, **given: Any) -> Any:
        """Call a macro or method."""
        self.step()
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        if isinstance(owner, str) and name in _GROWING:
            _refuse_growth(owner, *args, *given.values())
        return super().call(context, function, *args, **given)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """The sandboxed form of a method str.format."""
        owner = getattr(value, "__self__", None)
        if isinstance(owner, str) and getattr(value, "__name__", "") in _FORMATS:
            _refuse_width(owner)
        return super().wrap_str_format(value)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute left operator right."""
        if operator == "%" and isinstance(left, str):
            _refuse_width(left)
        elif operator == "**" and _number(left).bit_length() * abs(_number(right)) > 4 * _MOST_DIGITS:
            raise LimitError(f"a power has more than {_MOST_DIGITS} digits")
        elif operator == "*" and (isinstance(left, Sized) or isinstance(right, Sized)):
            _refuse_growth(left, right)
        elif operator == "*" and _number(left).bit_length() + _number(right).bit_length() > 4 * _MOST_DIGITS:
            raise LimitError(f"a product has more than {_MOST_DIGITS} digits")
        elif operator == "+" and isinstance(left, Sized) and isinstance(right, Sized):
            _refuse_size(len(left) + len(right))
        return super().call_binop(context, operator, left, right)


class _Counting(NodeTransformer):
    """Counts the passes of loops, and limits the texts that `~` joins."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 (a name of Jinja)
        self.generic_visit(node)
        node.iter = _filtered(node.iter, "fabricgen_counted")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 (a name of Jinja)
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "fabricgen_joined")


def _filtered(node: Any, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _text_of(parts: Iterable[str]) -> str:
    found, size = [], 0
    for part in parts:
        size += len(part)
        _refuse_size(size)
        found.append(part)
    return "".join(found)


def _limited(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that refuses arguments whose result may be too large."""

    def limited(*args: Any, **given: Any) -> Any:
        skipped = 1 if isinstance(args[0], jinja2.Environment | jinja2.nodes.EvalContext) else 0
        _refuse_growth(*args[skipped:], *given.values())
        return function(*args, **given)

    if hasattr(function, "jinja_pass_arg"):
        limited.jinja_pass_arg = function.jinja_pass_arg  # type: ignore[attr-defined]
    return limited


def _limited_format(function: Callable[..., Any]) -> Callable[..., Any]:
    def limited(text: object, *args: Any, **given: Any) -> Any:
        _refuse_width(str(text))
        return function(text, *args, **given)

    return limited


def _refuse_growth(*operands: object) -> None:
    """Raises LimitError if a result as large as the product of all sizes and numbers exceeds the limit."""
    _refuse_size(prod(_extent(operand) for operand in operands))


def _extent(operand: object) -> int:
    if isinstance(operand, int):
        return max(operand, 1)
    if isinstance(operand, str):
        return max(str.__len__(operand), 1)  # a blank refuses len()
    return max(len(operand), 1) if isinstance(operand, Sized) and not isinstance(operand, Mapping) else 1


def _refuse_size(size: int) -> None:
    if size > MOST_CHARACTERS:
        raise LimitError(f"a text or list of the template has more than {MOST_CHARACTERS} characters or items")


def _refuse_width(text: str) -> None:
    if _WIDTH.search(text):
        raise LimitError("a format has a width of more than 99999")


def _number(value: object) -> int:
    return int(value) if isinstance(value, int) else 0
