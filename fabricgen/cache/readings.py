"""What a judge reads of a bundle, by names, and values that stay for as long as nothing that they read has changed.

The names of what is read are those of tables (of all switches), and some with small letters or a prefix for the rest.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

TEXT, SIGN, WIRING, OVERRIDDEN = "text:", "sign:", "wiring:", "overridden:"
FILE = "file:"  # of a folder, beside those of switches
NAMES = "tables"  # the names of the tables of all switches
LINKS, CABLES, LENGTHS, CORDONED = "links", "cables", "lengths", "cordoned"
HOSTS = "hosts"
# Every judge depends on what a switch and the end of a link are: `ObservedDevice`, and `Switch`, `End` and `Fabric` of
# `rules.view.fabric`, read it once and keep it.
ALWAYS = (
    LINKS,
    f"{WIRING}devices",
    f"{WIRING}planes",
    f"{WIRING}hosts",
    "DEVICE_METADATA",
    "DEVICE_NEIGHBOR_METADATA",
    "PORT",
    "BREAKOUT_CFG",
)
T = TypeVar("T")


@dataclass(slots=True)
class _Kept:
    """A value that several judges use, and what it was derived from; `of` is the only switch of which it read tables,
    if it was derived for one. It was found to be current in `generation`."""

    value: object
    names: frozenset[str]
    is_complete: bool
    of: str
    made: int
    generation: int


@dataclass
class Readings:
    """The names of what one judge has read. `is_complete` is False once it has read something that has no name.

    A process that judges again has generations: a value is kept for as long as nothing that it read has changed.
    """

    names: set[str] = field(default_factory=set)
    is_complete: bool = True
    generation: int = 0
    _changed: dict[str, int] = field(default_factory=dict)  # name -> the generation in which it changed last
    _changed_of: dict[tuple[str, str], int] = field(default_factory=dict)  # the same for a table of one switch
    _of: str = ""  # the switch whose tables are read
    _is_of_one: bool = True

    def give_up(self) -> None:
        """Something without a name is read."""
        self.is_complete = False

    def restart(self) -> None:
        """Leave out what was read so far: it is what every judge depends on, or another judge has read it."""
        self.names.clear()
        self.is_complete = True

    def read_table(self, switch: str, name: str) -> None:
        """A table of a switch is read."""
        self.names.add(name)
        if switch != self._of:
            self._is_of_one = False

    def kept(self, memo: dict[Any, Any], key: Hashable, make: Callable[[], T], of: str = "") -> T:
        """The value of `key` in `memo`, made at the first use. Each use reads what it was made from.

        `of` is a switch for which the value is made: it then stays if the tables of others change, unless it has read
        them.
        """
        known: _Kept | None = memo.get(key)
        if known is None or (known.generation != self.generation and not self._is_current(known)):
            known = memo[key] = self._made(make, of)
        if known.of != self._of:
            self._is_of_one = False
        self.names |= known.names
        self.is_complete &= known.is_complete
        return cast(T, known.value)

    def changed(self, names: Iterable[str], tables: Iterable[tuple[str, str]]) -> None:
        """Begin a generation, in which what has these names differs, and these tables: (switch, table)."""
        self.generation += 1
        for name in names:
            self._changed[name] = self.generation
        for switch, table in tables:
            self._changed[table] = self._changed_of[switch, table] = self.generation

    def _made(self, make: Callable[[], object], of: str) -> _Kept:
        outer = self.names, self.is_complete, self._of, self._is_of_one
        self.names, self.is_complete, self._of, self._is_of_one = set(), True, of, True
        try:
            value, now = make(), self.generation
            one = of if self._is_of_one else ""
            return _Kept(value, frozenset(self.names), self.is_complete, one, now, now)
        finally:
            self.names, self.is_complete, self._of, self._is_of_one = outer

    def _is_current(self, known: _Kept) -> bool:
        if not known.is_complete or any(self._last_change(known.of, name) > known.made for name in known.names):
            return False
        known.generation = self.generation
        return True

    def _last_change(self, of: str, name: str) -> int:
        if name.startswith(OVERRIDDEN):  # in several tables
            return max(self._changed.get(f"{OVERRIDDEN}{table}", 0) for table in name[len(OVERRIDDEN) :].split())
        if of and (name.isupper() or name == NAMES):
            return self._changed_of.get((of, name), 0)
        return self._changed.get(name, 0)

    @property
    def all_names(self) -> list[str]:
        """The names, and those that every judge depends on."""
        return sorted(self.names.union(ALWAYS))
