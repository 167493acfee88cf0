"""YAML of handoffs: the bytes of PyYAML, which writes each distinct scalar once."""

import enum

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from fabricgen.yaml_blocks import dumped
from fabricgen.yaml_words import Unsafe, WordDumper


class Word(enum.StrEnum):
    """A word of the vocabulary."""

    LEAF = "leaf"


WORDS = st.text("ab '\"#:-{}[]!&*?|>%@`\\\\é\n\t~0123456789.", max_size=12)
LONG = st.sampled_from(
    ["word " * 30, "x" * 130, "a: b", "true", "null", "1e3", "0x10", "2026-01-01", "10:20", "=", "<<"]
)
SCALARS = st.one_of(
    WORDS, LONG, WORDS.map(Unsafe), LONG.map(Unsafe), st.integers(-9, 99), st.booleans(), st.none(), st.floats(),
    st.just(Word.LEAF),
)  # fmt: skip
PLAIN = st.text("yesnotrufalYNOE_.-1", max_size=5)  # names, and the words of YAML 1.1
KEYS = st.one_of(WORDS, PLAIN, LONG, st.integers(0, 9), st.booleans())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)
SHARED = ["one list twice"]


def by_pyyaml(value: object, start: bool) -> bytes:
    text: bytes = yaml.dump(
        value, Dumper=WordDumper, encoding="utf-8", sort_keys=False, explicit_start=start, allow_unicode=True, width=120
    )
    return text


@given(VALUES, st.booleans())
@example({"a": SHARED, "b": SHARED}, False)
@example({"a": [[], {}, [[1, [2]], {"b": {"c": []}}]]}, True)
@example([{"a": {"b": "word " * 40}}], True)
def test_the_bytes_are_those_of_pyyaml(value: object, start: bool) -> None:
    assert dumped(value, explicit_start=start) == by_pyyaml(value, start)
    assert dumped(value, explicit_start=start, unsafe=True) == by_pyyaml(Unsafe.of(value), start)
