"""Items made a column at a time are those made row by row, with the same problems."""

from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fabricgen.bundle.columns import Columns
from fabricgen.bundle.fabric_file import _cable, _device, _host, _link
from fabricgen.bundle.typed import each
from fabricgen.bundle.wiring import WiredCable, WiredDevice, WiredHost, WiredLink

NIC = {"name": "rail0", "plane": "a", "rail": 0, "speed_mbps": 400, "addresses": ["10.0.0.1/31"], "node_guid": "",
       "port_guid": ""}  # fmt: skip
DEVICE = {"name": "s", "identity": "s", "plane": "a", "role": "leaf", "platform": "p", "layout": "l", "hwsku": "h",
          "technology": "roce", "subplane": None, "loopbacks": ["10.0.0.1"], "management": [],
          "state": "active"}  # fmt: skip
ROWS: tuple[tuple[Any, Any, dict[str, Any]], ...] = (
    (WiredDevice, _device, DEVICE),
    (WiredHost, _host, {"name": "h", "group": "g", "model": "m", "nics": [NIC, NIC], "rack": "r"}),
    (WiredLink, _link, {"id": "l", "plane": "a", "kind": "host-leaf", "a": ["h", "rail0"], "b": ["s", "Ethernet0"],
                        "speed_mbps": 400, "cable": "l", "rail": None}),
    (WiredCable, _cable, {"id": "l", "length_m": 5.5, "medium": "dac", "links": ["l", "m"], "legs": [["l"], ["m"]]}),
)  # fmt: skip
VALUES = st.sampled_from(
    [None, True, 1, 2.5, float("inf"), "", "core", [], ["x"], ["x", "y"], ["x", 1], ["x", "y", "z"], {}, [{}], [NIC],
     [NIC | {"rail": "0"}], [NIC | {"addresses": ["a", "b"]}], [NIC, NIC | {"more": 1}]]
)  # fmt: skip


@st.composite
def edits(draw: st.DrawFn) -> tuple[Any, Any, list[Any]]:
    """Rows of a kind, some with another value or another key, without a key, or no rows at all."""
    kind, make, row = draw(st.sampled_from(ROWS))
    rows: list[Any] = []
    for _ in range(draw(st.integers(0, 4))):
        change = draw(st.sampled_from(["none", "none", "value", "gone", "more", "other order", "other"]))
        name = draw(st.sampled_from(sorted(row)))
        rows.append({
            "none": row,
            "value": {**row, name: draw(VALUES)},
            "gone": {key: value for key, value in row.items() if key != name},
            "more": {**row, draw(st.sampled_from(["unit", "coordinates", "unknown"])): draw(VALUES)},
            "other order": dict(reversed(row.items())),
            "other": draw(VALUES),
        }[change])  # fmt: skip
    return kind, make, rows


def outcome(rows: list[Any], *makers: Any) -> Any:
    try:
        return each({"items": rows}, "items", *makers)
    except (ValueError, KeyError, TypeError) as error:
        return type(error), str(error)


@given(edits())
def test_columns_are_rows(edit: tuple[Any, Any, list[Any]]) -> None:
    kind, make, rows = edit
    assert outcome(rows, make, partial(Columns().items, kind)) == outcome(rows, make)


def test_equal_texts_are_one_object() -> None:
    _, _, row = ROWS[3]
    columns = Columns()
    first, second = (columns.items(WiredCable, [{**row, "id": "".join("cable")}])[0] for _ in range(2))
    assert first == second and first.id is second.id
