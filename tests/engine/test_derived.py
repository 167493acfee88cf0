"""Values of an engine are those of a run from nothing, whatever changes, and are derived again only if they must."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.engine.derived import Engine, derived, end_recording, forget, kept

NAMES = ("a", "b", "c")


@dataclass(eq=False)
class Cell:
    """A value of a switch: the sum of what it reads. `others` are cells that it reads, too."""

    of_switch: str
    sheet: "Sheet"
    others: tuple[str, ...] = ()

    @derived
    def own(self) -> int:
        self.sheet.derivations.append(f"own {self.of_switch}")
        return self.sheet.read("row", self.of_switch)

    @derived
    def total(self) -> int:
        self.sheet.derivations.append(f"total {self.of_switch}")
        return self.own + sum(self.sheet.cells[name].own for name in self.others)


@dataclass(eq=False)
class Sheet:
    """Cells by switch; `engine` is None for values that no engine keeps."""

    rows: dict[str, int]
    engine: Engine | None = None
    cells: dict[str, Cell] = field(default_factory=dict)
    derivations: list[str] = field(default_factory=list)

    def read(self, name: str, of: str) -> int:
        if self.engine:
            self.engine.read(name, of)
        return self.rows[of]


@derived
def largest(sheet: Sheet) -> int:
    """A value that many cells have a part in, and that few of them change."""
    sheet.derivations.append("largest")
    return max(cell.total for cell in sheet.cells.values())


@derived
def verdict(sheet: Sheet) -> str:
    sheet.derivations.append("verdict")
    return f"the largest is {largest(sheet)}"


def sheet_of(rows: dict[str, int], links: dict[str, tuple[str, ...]], engine: Engine | None = None) -> Sheet:
    sheet = Sheet(dict(rows), engine)
    sheet.cells |= {name: Cell(name, sheet, links.get(name, ())) for name in rows}
    return sheet


@given(
    st.fixed_dictionaries({name: st.integers(0, 3) for name in NAMES}),
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), unique=True).map(tuple)),
    st.lists(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3)), max_size=6),
)
def test_each_revision_has_the_values_of_a_run_from_nothing(
    rows: dict[str, int], links: dict[str, tuple[str, ...]], edits: list[dict[str, int]]
) -> None:
    engine = Engine()
    sheet = sheet_of(rows, links, engine)
    for edit in ({}, *edits):
        changed = [("row", name) for name, value in edit.items() if sheet.rows[name] != value]
        sheet.rows |= edit
        engine.change(changed)
        fresh = sheet_of(sheet.rows, links)
        assert engine.value(lambda: verdict(sheet), "verdict") == verdict(fresh)
        for name in NAMES:
            cell = sheet.cells[name]
            assert engine.value(lambda cell=cell: cell.total, "cell", name) == fresh.cells[name].total  # type: ignore[misc]


def test_a_value_that_stays_equal_ends_the_derivation() -> None:
    engine = Engine()
    sheet = sheet_of({"a": 1, "b": 5}, {}, engine)
    assert engine.value(lambda: verdict(sheet), "verdict") == "the largest is 5"
    sheet.rows["a"], sheet.derivations = 2, []
    engine.change([("row", "a")])
    assert engine.value(lambda: verdict(sheet), "verdict") == "the largest is 5"
    assert sheet.derivations == ["own a", "total a", "largest"]
    sheet.derivations = []
    engine.change(["nothing"])
    assert engine.value(lambda: verdict(sheet), "verdict") == "the largest is 5"
    assert sheet.derivations == []


def test_a_value_that_failed_is_derived_again() -> None:
    engine, state = Engine(), {"fails": True}

    def inner() -> int:
        engine.read("state")
        if state["fails"]:
            raise ValueError
        return 7

    def outer() -> str:
        try:
            return str(kept(inner, "inner"))
        except ValueError:
            return "failed"

    assert engine.value(outer, "outer") == "failed"
    state["fails"] = False
    engine.change(["state"])
    assert engine.value(outer, "outer") == "7"
    state["fails"] = True
    engine.change(["state"])
    assert engine.value(outer, "outer") == "failed"


def test_what_has_no_name_is_read_in_each_revision() -> None:
    engine, values = Engine(), [1, 2, 3]

    def read() -> int:
        engine.read_unnamed()
        return values.pop(0)

    assert [engine.value(read, "read") for _ in range(2)] == [1, 1]
    engine.change([])
    assert engine.value(read, "read") == 2


def test_without_an_engine_values_are_kept_in_their_object() -> None:
    sheet = sheet_of({"a": 1, "b": 5}, {"a": ("b",)})
    assert [verdict(sheet), verdict(sheet)] == ["the largest is 6"] * 2
    assert sheet.derivations.count("verdict") == 1 and sheet.derivations.count("own b") == 1
    forget(sheet.cells["b"], ["own", "no such value"])
    assert sheet.cells["b"].own == 5 and sheet.derivations.count("own b") == 2
    memo: dict[object, int] = {}
    assert [kept(lambda: 1, "key", memo=memo), kept(lambda: 2, "key", memo=memo), kept(lambda: 2, "key")] == [1, 1, 2]


def test_a_child_process_cannot_read_what_its_parent_would_not_record() -> None:
    engine = Engine()
    sheet = sheet_of({"a": 1}, {}, engine)

    def in_child() -> int:
        end_recording()
        return sheet.cells["a"].own

    with pytest.raises(RuntimeError, match="the engine derives no value"):
        engine.value(in_child, "child")
