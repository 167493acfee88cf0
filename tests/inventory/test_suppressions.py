"""Comments and entries that accept findings: where they belong, and what is refused."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding
from fabricgen.inventory.load import load_inventory
from fabricgen.inventory.nodes import place_of
from fabricgen.inventory.read_yaml import read_yaml
from fabricgen.inventory.suppressions import read_suppressions
from fabricgen.suppressions import Suppression
from tests.inventories import explicit, write

REASON = "agreed with the vendor"


def read(text: str) -> tuple[tuple[Suppression, ...], list[Finding]]:
    findings: list[Finding] = []
    return read_suppressions(read_yaml(text, "f.yaml")[0], {"f.yaml": text}, findings), findings


def paths(text: str) -> list[str]:
    found, refused = read(text)
    assert refused == [] and all(one.inline and one.reason == REASON for one in found)
    return [one.place.removeprefix("f.yaml#") for one in found]


IGNORE = f"# fabricgen: ignore[FG512] {REASON}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a:\n  b: 1  {IGNORE}\n  c: 2\n", ["a.b"]),
        (f"a:\n  {IGNORE}\n  b: 1\n", ["a.b"]),
        (f"a:\n  {IGNORE}\n\n  # prose\n  b: 1\n", ["a.b"]),
        (f"a:  {IGNORE}\n  b: 1\n", ["a"]),
        (f"a: {{b: 1, c: 2}}  {IGNORE}\n", ["a"]),
        (f"a: {{b: 1,\n  c: 2, d: 3}}  {IGNORE}\n", ["a.c", "a.d"]),
        (f"a:\n  - x: 1\n    y: 2  {IGNORE}\n  - x: 3  {IGNORE}\n", ["a[0].y", "a[1]"]),
        (f"a: [1,\n  2]  {IGNORE}\n", ["a[1]"]),
        (f'a: "# no {IGNORE}"\n', []),
        (f"a: |\n  text {IGNORE}\nb: 1\n", []),
        (f"a: |  {IGNORE}\n  text\n", ["a"]),
        (f"a: x#fabricgen:ignore[FG512] {REASON}\n", []),
        (f"a: 'it''s # one\n\n  {IGNORE}\n  '\n", []),
        (f"a: 1  # see the ticket {IGNORE}\n", ["a"]),
        (f"a: &x\n  b: 1  {IGNORE}\nc: *x\n", ["a.b", "c.b"]),
        ("a: 1  # fabricgen: the tool that reads this\n", []),
        (f"{IGNORE}\na: 1\n", ["a"]),
        (f"a:\n  SNMP_COMMUNITY:\n    hunter2:  {IGNORE}\n      TYPE: RO\n", ["a.SNMP_COMMUNITY"]),
    ],
)
def test_where_a_comment_belongs(text: str, expected: list[str]) -> None:
    assert paths(text) == expected


def test_several_codes_and_a_last_day() -> None:
    found, refused = read(f"a: 1 #fabricgen:ignore[ FG512, fg513 until 2027-01-31 ] {REASON}\n")
    assert refused == []
    assert [(one.code, one.expires) for one in found] == [("FG512", "2027-01-31"), ("FG513", "2027-01-31")]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore[FG512]", "a suppression needs a reason"),
        ("ignore[FG512]   ", "a suppression needs a reason"),
        ("ignore[] because", "cannot be read"),
        ("ignore FG512 because", "cannot be read"),
        ("ignroe[FG512] because", "cannot be read"),
        ("ignore[FG5] because", "'FG5' is not the code"),
        ("ignore[FG512 until 2027-02-30] because", "2027-02-30 is not a day"),
    ],
)
def test_what_is_refused(comment: str, message: str) -> None:
    found, (refused,) = read(f"a: 1\nb: 2  # fabricgen: {comment}\n")
    assert found == () and message in refused.message
    assert refused.code == "FG128" and refused.location and (refused.location.line, refused.location.column) == (2, 7)


def test_a_comment_at_no_value_is_refused() -> None:
    assert "no value begins" in read(f"a: [1,\n  2\n]  {IGNORE}\n")[1][0].message
    assert "no value begins" in read(f"a: 1\n{IGNORE}\n")[1][0].message


@given(st.lists(st.sampled_from(["'", '"', "#", " ", "a", ":", "\n", "|", ">", "-", "[", "]", IGNORE]), max_size=12))
def test_any_text_that_is_yaml_can_be_scanned(parts: list[str]) -> None:
    with contextlib.suppress(UnreadableInputError):
        read("k: 1\n" + "".join(parts))


def test_the_list(tmp_path: Path) -> None:
    tree = explicit()
    tree["suppressions"] = [
        {"code": "FG512", "device": "leaf*", "path": "PORT|Ethernet0|*", "reason": REASON, "expires": "2027-01-31"},
        {"code": "FG513"},
        {"code": "FG514", "reason": REASON, "expires": "soon"},
        {"code": "512", "reason": " "},
    ]
    inventory, findings = load_inventory(write(tmp_path / "i", tree))
    assert inventory.suppressions == (
        Suppression("FG512", REASON, "fabric.yaml#suppressions[0]", False, "leaf*", "PORT|Ethernet0|*", "2027-01-31"),
    )
    assert [(one.code, one.path) for one in findings] == [
        ("FG128", "suppressions[2].expires"),
        ("FG106", "suppressions[1]"),
        ("FG105", "suppressions[3].code"),
        ("FG105", "suppressions[3].reason"),
    ]


def test_a_day_may_be_written_plainly(tmp_path: Path) -> None:
    folder = write(tmp_path / "i", explicit())
    with (folder / "fabric.yaml").open("a") as file:
        file.write("suppressions:\n  - {code: FG512, reason: r, expires: 2027-01-31}\n")
    inventory, findings = load_inventory(folder)
    assert findings == [] and inventory.suppressions[0].expires == "2027-01-31"


def test_places_of_paths() -> None:
    root, _ = read_yaml('a:\n  b.c:\n    - {d: 1}\n    - "e[0]": 2\n  "x|y":\n    z: 3\n', "f.yaml")
    lines = {
        "a": 1,
        "a.b.c": 2,
        "a.b.c[0].d": 3,
        "a.b.c[1]": 4,
        "a.x|y.z": 6,
        "a.gone.deeper": 1,
        "gone": 1,
        "a.b.c[7]": 2,
    }
    assert {path: place_of(root, path).line for path in lines} == lines


@pytest.mark.parametrize(
    ("cause", "covered"),
    [("f#a.b", True), ("f#a.b.c", True), ("f#a.b[2]", True), ("f#a", False), ("f#a.bc", False), ("g#a.b", False)],
)
def test_an_inline_one_covers_what_is_at_or_below(cause: str, covered: bool) -> None:
    one = Suppression("FG512", REASON, "f#a.b", inline=True)
    assert one.covers("FG512", "leaf1", "PORT|x", lambda: (cause,)) is covered
    assert not one.covers("FG513", "leaf1", "PORT|x", lambda: (cause,))
