"""A short run of the fuzzer: `make fuzz` is the long one."""

import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.fuzz import sweep
from benchmarks.fuzz.__main__ import fuzz
from benchmarks.fuzz.mutate import mutated
from benchmarks.fuzz.run import run_command
from tests.examples import examples


def test_mutated_inputs_cause_no_internal_error_and_no_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the inputs that fail are kept below
    number = examples(150)
    report = fuzz(number, seed=7)
    assert not report.kinds and sum(report.codes.values()) == number
    assert {0, 1, 2} <= set(report.codes)


def test_mutations_depend_only_on_the_seed() -> None:
    content = json.dumps({"a": [1, {"b": "c"}], "d": {"e": None}}).encode()
    runs = [[mutated("x.json", content, Random(f"s/{number}")) for number in range(200)] for _ in range(2)]
    assert runs[0] == runs[1] and len(set(runs[0])) > 100


def test_a_change_of_each_field_causes_no_internal_error(tmp_path: Path) -> None:
    """A sample of the sweep of `make fuzz`, and the change that once ended in a traceback."""
    traditional, dynamic = sweep.configs(tmp_path)
    assert len(list(sweep.changes(traditional))) > 1500 and len(list(sweep.changes(dynamic))) > 1500
    assert list(sweep.sweep(traditional, tmp_path, every=97)) == []
    defaults = {"DEFAULT_LOSSLESS_BUFFER_PARAMETER": dynamic["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]}
    found = [words for words, _ in sweep.changes(defaults)]
    assert any(words.endswith("default_dynamic_th: '1024'") for words in found)
    file = tmp_path / "config_db.json"
    table = dict(defaults["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"], default_dynamic_th="1024")
    file.write_text(json.dumps(dynamic | {"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": table}}))
    assert run_command(("validate", str(file))).code == 1
