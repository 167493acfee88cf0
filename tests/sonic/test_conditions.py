"""The conditions of YANG models against libyang: random rows of each table with a `must` or a `when`.

scripts/make_condition_cases.py asked libyang 2 and the models of sonic-buildimage@086b03bd70f9 for the answers. They
are data, because the repository does not contain SONiC's models, and a test does not download them. libyang itself runs
in tests/sonic/yang, with models that are written for the tests.
"""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fabricgen.sonic.schema import ViolationKind, check
from scripts.make_condition_cases import BASE, CONDITIONS

CASES: list[tuple[Mapping[str, Any], list[str] | None]] = [
    json.loads(line) for line in Path(__file__).with_name("conditions.jsonl").read_text().splitlines()
]
ACCEPTED = (ViolationKind.UNKNOWN_TABLE, ViolationKind.NOT_TEXT)


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


ACL = {
    "ACL_TABLE": {"T": {"type": "L3", "stage": "ingress", "ports": ["Ethernet0"]}},
    "ACL_RULE": {"T|R": {"PRIORITY": "10", "PACKET_ACTION": "DROP", "IP_PROTOCOL": "6", "TCP_FLAGS": "0x2/0x2"}},
}
INTERNAL = {
    "BGP_INTERNAL_NEIGHBOR": {"10.0.0.1": {"asn": "65001", "local_addr": "10.0.0.0", "name": "b", "rrclient": "0"}}
}
# (file, release) -> fields that libyang 2 refuses with the models of that release, and with no other.
BY_RELEASE: list[tuple[Mapping[str, Any], int, list[str]]] = [
    (ACL, 202505, []),
    (ACL, 202605, [""]),
    (INTERNAL, 202505, ["asn"]),  # a refinement of a grouping
]


@pytest.mark.parametrize(("config", "release", "fields"), BY_RELEASE)
def test_conditions_are_those_of_the_release(config: Mapping[str, Any], release: int, fields: list[str]) -> None:
    found = check({**BASE, **config}, release=release)
    assert [one.field for one in found if one.kind == ViolationKind.MUST] == fields
