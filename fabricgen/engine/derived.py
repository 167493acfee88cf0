"""Derived values: named pure functions of named inputs and of each other.

`@derived` marks a property of an object, or a function of one object. It is worked out at the first use and kept in the
object, as by `functools.cached_property`. Where an `Engine` derives it, the engine also records what it reads, inputs
and other values, and each use of it. After a change of inputs only what has read one of them is derived again, and its
readers only if the value is another one (`Salsa`, `Adapton`; Mokhov et al., Build Systems à la Carte, ICFP 2018).

What an engine records cannot be missed: its inputs can be read only while it derives a value, and a value of an engine
is never in the place where values without an engine are.
"""

from collections.abc import Callable, Collection, Hashable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from typing import Any, Generic, TypeVar, cast, overload

Owner = TypeVar("Owner", contravariant=True)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# An input, of all switches or, as (name, switch), of one.
Name = str | tuple[str, str]
_ABSENT = object()
_QUERIES = " queries"  # no attribute has this name
_UNNAMED = " unnamed"


class derived(Generic[Owner, T_co]):  # noqa: N801 (used as a decorator, as property is)
    """A value that is derived from one object: a property of its class, or a function of it.

    A class of objects that belong to one switch has `of_switch`, its name: values of it stay if tables of other
    switches change, unless they have read them.
    """

    def __init__(self, function: Callable[[Owner], T_co]) -> None:
        self.function = function
        self.name = f"{function.__module__}.{function.__qualname__}"
        update_wrapper(cast(Any, self), function)

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, one: None, of: type) -> "derived[Owner, T_co]": ...
    @overload
    def __get__(self, one: object, of: type) -> T_co: ...
    def __get__(self, one: Any, of: Any) -> Any:
        if one is None:
            return self
        engine = _deriving.get()
        if engine is not None:
            return engine.derived_from(one, self)
        value = one.__dict__[self.name] = self.function(one)  # found there before this descriptor
        return value

    def __call__(self, one: Owner) -> T_co:
        found = one.__dict__.get(self.name, _ABSENT)
        return cast(T_co, self.__get__(one, type(one)) if found is _ABSENT else found)


def forget(one: object, names: Iterable[str]) -> None:
    """Free values of an object that no engine keeps. They are derived again if they are needed."""
    for name in names:
        one.__dict__.pop(name, None)


def functions_of(one: object) -> Collection[str]:
    """The names of the values of an object by functions outside of its class."""
    return [name for name in one.__dict__ if "." in name]


def kept(make: Callable[[], T], *key: Hashable, of: str = "", memo: dict[Any, Any] | None = None) -> T:
    """The value of `make`, a function of `key` and of inputs, only of those of the switch `of` if one is given.

    Without an engine it is kept in `memo`, if one is given, and else made each time.
    """
    engine = _deriving.get()
    if engine is not None:
        return engine.value(make, *key, of=of)
    if memo is None:
        return make()
    if key not in memo:
        memo[key] = make()
    return cast(T, memo[key])


def end_recording() -> None:
    """In a process that is forked while an engine derives a value: what is read here would not be recorded, so reading
    an input raises RuntimeError."""
    if (engine := _deriving.get()) is not None:
        engine.stop()
        _deriving.set(None)


@dataclass(slots=True, eq=False)
class _Query:
    """A value and what it was derived from, in the order in which that was read first. It was found current in the
    revision `current`, 0 before that and after an error, and became another value in the revision `changed`."""

    make: Callable[[], Any]
    of: str
    value: Any = None
    read: dict[Any, None] = field(default_factory=dict)  # names, queries and groups
    current: int = 0
    changed: int = 0
    group: "_Group | None" = None


@dataclass(slots=True, eq=False)
class _Group:
    """The values by one name of all switches, for readers of several of them."""

    queries: list[_Query] = field(default_factory=list)
    current: int = 0
    changed: int = 0


class Engine:
    """Derives values in memory, revision by revision. A revision begins where inputs have changed."""

    def __init__(self) -> None:
        self._revision = 1
        self._changed: dict[Name, int] = {}  # the revision in which an input changed last
        self._queries: dict[Hashable, _Query] = {}
        self._groups: dict[object, _Group] = {}
        self._derived: _Query | None = None  # now

    def value(self, make: Callable[[], T], *key: Hashable, of: str = "") -> T:
        """The value of `make`, which this engine knows by `key`."""
        query = self._queries.get(key)
        if query is None:
            query = self._queries[key] = _Query(make, of)
        query.make = make
        if self._derived is not None:
            self._derived.read[query] = None
        self._refresh(query)
        return cast(T, query.value)

    def derived_from(self, one: Any, what: "derived[Any, T]") -> T:
        """A value of an object, for a value that is derived now."""
        try:
            query: _Query = one.__dict__[_QUERIES][what.name]
        except KeyError:
            query = self._new_query(one, what)
        reader = self._derived
        assert reader is not None
        # Also if it then fails, because a reader can go on without it.
        reader.read[query if query.group is None or query.of == reader.of else query.group] = None
        if query.current != self._revision:
            self._refresh(query)
        return cast(T, query.value)

    def _new_query(self, one: Any, what: "derived[Any, Any]") -> _Query:
        query = _Query(partial(what.function, one), getattr(one, "of_switch", ""))
        if query.of:
            query.group = self._groups.setdefault(what, _Group())
            query.group.queries.append(query)
        one.__dict__.setdefault(_QUERIES, {})[what.name] = query
        return query

    def read(self, name: str, of: str = "") -> None:
        """An input is read, that of a switch if `of` is one. Raises RuntimeError unless this engine derives a value:
        nothing would know what has read it."""
        if self._derived is None:
            raise RuntimeError(f"{name} {of}: an input of an engine is read, and the engine derives no value")
        self._derived.read[(name, of) if of and of == self._derived.of else name] = None

    def read_unnamed(self) -> None:
        """Something without a name is read: the value is derived again in each revision."""
        self.read(_UNNAMED)

    def inputs_of(self, *key: Hashable) -> frozenset[str]:
        """The names of all inputs, of one or all switches, that the value with this key depends on."""
        found: set[str] = set()
        open_, seen = [self._queries[key]], set[object]()
        while open_:
            for one in open_.pop().read:
                if isinstance(one, str | tuple):
                    found.add(one if isinstance(one, str) else one[0])
                elif one not in seen:
                    seen.add(one)
                    open_ += one.queries if isinstance(one, _Group) else [one]
        return frozenset(found)

    def stop(self) -> None:
        """No value is derived any more."""
        self._derived = None

    def change(self, inputs: Iterable[Name]) -> None:
        """Begin a revision in which these inputs have changed."""
        self._revision += 1
        self._changed[_UNNAMED] = self._revision
        for one in inputs:
            self._changed[one] = self._revision
            if isinstance(one, tuple):
                self._changed[one[0]] = self._revision

    def _refresh(self, query: _Query) -> None:
        """Make a value current."""
        if query.current == self._revision:
            return
        if query.current and all(self._last_change(one) <= query.current for one in query.read):
            query.current = self._revision
        else:
            self._derive(query)

    def _last_change(self, read: Any) -> int:
        """The revision of the last change of what was read, which is made current."""
        if isinstance(read, _Query):
            try:
                self._refresh(read)
            except Exception:  # noqa: BLE001 (a reader that still needs the value meets the error itself)
                return self._revision
            return read.changed
        if isinstance(read, _Group):
            if read.current != self._revision:
                read.changed = max(map(self._last_change, read.queries))
                read.current = self._revision
            return read.changed
        return self._changed.get(read, 0)

    def _derive(self, query: _Query) -> None:
        outer, self._derived, query.read, query.current = self._derived, query, {}, 0
        token = _deriving.set(self)
        try:
            value = query.make()
        finally:
            self._derived = outer
            _deriving.reset(token)
        if not query.changed or not _are_equal(value, query.value):
            query.value, query.changed = value, self._revision
        query.current = self._revision


_deriving: ContextVar[Engine | None] = ContextVar("deriving", default=None)


def _are_equal(new: object, old: object) -> bool:
    try:
        return new is old or (type(new) is type(old) and bool(new == old))
    except ValueError:  # arrays
        return False
