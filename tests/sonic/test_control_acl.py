"""Control-plane ACLs are translated as caclmgrd of each release does (control_acls.json: its own answers)."""

import json
from pathlib import Path
from typing import Any

import pytest

from fabricgen.sonic.control_acl import translate

ORACLE = json.loads(Path(__file__).with_name("control_acls.json").read_text())
ANSWERS = [
    pytest.param(case["config"], release, answer, id=f"{case['name']}-{release}")
    for case in ORACLE["cases"]
    for answer in case["answers"]
    for release in answer["releases"]
]


@pytest.mark.parametrize(("config", "release", "answer"), ANSWERS)
def test_the_lines_are_those_of_caclmgrd(config: Any, release: str, answer: dict[str, Any]) -> None:
    acl = translate(config, None if release == "master" else int(release))
    assert [one.command for one in acl.filters] == answer["lines"]
    assert bool(acl.filters) == answer["drops_the_rest"]


def _sources(name: str, family: int, protocol: str, port: str) -> list[str]:
    config = next(case["config"] for case in ORACLE["cases"] if case["name"] == name)
    return translate(config).sources(family, protocol, port)


def test_who_can_reach_a_service() -> None:
    assert _sources("no ACL", 4, "tcp", "22") == ["0.0.0.0/0"]
    assert _sources("one family", 4, "tcp", "22") == ["10.0.0.0/8", "192.0.2.0/24"]
    assert _sources("one family", 6, "tcp", "22") == []
    assert _sources("one family", 4, "udp", "161") == []
    assert _sources("both families in one table, IPv4 first", 6, "tcp", "22") == []
    assert _sources("priorities are texts", 4, "tcp", "22") == ["10.0.0.0/8"]
    assert _sources("all services", 4, "tcp", "8080") == ["10.0.0.0/8"]
    assert _sources("two ports in one external table", 4, "tcp", "8080") == []


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("one family", []),
        ("both families in one table, IPv4 first", ["ACL_RULE|SSH_ONLY|RULE_2|SRC_IPV6"]),
        ("equal priorities", ["ACL_RULE|SSH_ONLY|RULE_1|PRIORITY"]),
        ("two ports in one external table", ["ACL_RULE|GNMI_V4|RULE_1|L4_DST_PORT"]),
        ("an external client without a port", ["ACL_TABLE|GNMI_V4|"]),
        ("no priority", ["ACL_RULE|SSH_ONLY|RULE_1|PRIORITY"]),
        ("no address", ["ACL_TABLE|SSH_ONLY|"]),
        ("an unknown service", ["ACL_TABLE|WEB|services"]),
    ],
)
def test_what_caclmgrd_ignores_is_named(name: str, places: list[str]) -> None:
    config = next(case["config"] for case in ORACLE["cases"] if case["name"] == name)
    assert [f"{one.table}|{one.key}|{one.field}" for one in translate(config).ignored] == places
