"""The conditions of YANG models against libyang: random rows of each table with a `must` or a `when`.

scripts/make_condition_cases.py asked libyang 2 and the models of sonic-buildimage@086b03bd70f9 for the answers.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fabricgen.sonic.schema import Kind, check
from scripts.make_condition_cases import BASE, CONDITIONS

CASES: list[tuple[Mapping[str, Any], list[str] | None]] = [
    json.loads(line) for line in Path(__file__).with_name("conditions.jsonl").read_text().splitlines()
]
ACCEPTED = (Kind.UNKNOWN_TABLE, Kind.NOT_TEXT)


def test_there_are_answers_of_both_kinds() -> None:
    verdicts = Counter(place is None for _, place in CASES)
    assert min(verdicts.values()) > 100
    assert len({table for config, _ in CASES for table in config if table in CONDITIONS}) > 40


@pytest.mark.parametrize("part", range(4))
def test_verdicts_are_those_of_libyang(part: int) -> None:
    differ = []
    for config, place in CASES[part::4]:
        found = [one for one in check({**BASE, **config}) if one.kind not in ACCEPTED]
        places = [[one.table, key] for one in found for key in (one.key, *([] if one.key else config[one.table]))]
        if bool(found) != bool(place) or (place and place[:2] not in places):
            differ.append((config, place, found))
    assert differ == []
