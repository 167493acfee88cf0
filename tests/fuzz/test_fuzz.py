"""A short run of the fuzzer: `make fuzz` is the long one."""

import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.fuzz.__main__ import fuzz
from benchmarks.fuzz.mutate import mutated


def test_mutated_inputs_cause_no_internal_error_and_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the inputs that fail are kept below
    report = fuzz(150, seed=7)
    assert not report.kinds and sum(report.codes.values()) == 150
    assert {0, 1, 2} <= set(report.codes)


def test_mutations_depend_only_on_the_seed() -> None:
    content = json.dumps({"a": [1, {"b": "c"}], "d": {"e": None}}).encode()
    runs = [[mutated("x.json", content, Random(f"s/{number}")) for number in range(200)] for _ in range(2)]
    assert runs[0] == runs[1] and len(set(runs[0])) > 100
