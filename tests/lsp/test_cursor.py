"""The place of a word in texts that are complete, and in texts that a person is typing."""

import pytest

from fabricgen.lsp.cursor import Steps, spot_at, typed_at

TEXT = """\
planes:
  compute: {hosts: [gpu, "cpu"], speed: 400G}
  storage:
  - name: x
"""


@pytest.mark.parametrize(
    ("line", "column", "path", "is_key", "text"),
    [
        (0, 0, ("planes",), True, "planes"),
        (0, 6, ("planes",), True, "planes"),
        (1, 20, ("planes", "compute", "hosts", 0), False, "gpu"),
        (1, 26, ("planes", "compute", "hosts", 1), False, "cpu"),
        (1, 42, ("planes", "compute", "speed"), False, "400G"),
        (3, 10, ("planes", "storage", 0, "name"), False, "x"),
    ],
)
def test_spot(line: int, column: int, path: Steps, is_key: bool, text: str) -> None:
    spot = spot_at(TEXT, line, column)
    assert spot and (spot.path, spot.is_key, spot.text) == (path, is_key, text)


@pytest.mark.parametrize(("line", "column"), [(0, 7), (1, 11), (2, 10), (9, 0)])
def test_between_words_is_no_spot(line: int, column: int) -> None:
    assert spot_at(TEXT, line, column) is None


@pytest.mark.parametrize(
    ("typed", "path", "is_key"),
    [
        ("|", (), True),
        ("fab|", (), True),
        ("fabricgen: 1\n|\nhosts: {}", (), True),
        ("planes:\n  compute:\n    |", ("planes", "compute"), True),
        ("planes:\n  compute:\n    le|\n    speed: 400G", ("planes", "compute"), True),
        ("planes:\n  compute:\n    design: |\n    speed: 400G", ("planes", "compute", "design"), False),
        ("planes:\n  compute:\n    design: fat|-tree\n", ("planes", "compute", "design"), False),
        ("planes:\n  compute:\n    leaf: {platform: |", ("planes", "compute", "leaf", "platform"), False),
        ("planes:\n  compute:\n    leaf: {platform: a, |\n    broken: [", ("planes", "compute", "leaf"), True),
        ("planes:\n  compute:\n    hosts: [a, |]", ("planes", "compute", "hosts", 1), False),
        ("planes:\n  compute:\n    hosts:\n    - |", ("planes", "compute", "hosts", 0), False),
        ("devices:\n- name: a\n  st|", ("devices", 0), True),
        ("a: '[{'\nb: {|", ("b",), True),
        ('names:\n  leaf: "{plane}-|"', ("names", "leaf"), False),
    ],
)
def test_typed(typed: str, path: Steps, is_key: bool) -> None:
    before = typed.partition("|")[0]
    spot = typed_at(typed.replace("|", ""), before.count("\n"), len(before.rpartition("\n")[2]))
    assert spot and (spot.path, spot.is_key) == (path, is_key)
