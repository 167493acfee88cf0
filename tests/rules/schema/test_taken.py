"""What a daemon takes and the YANG models refuse is not an error; since 202505 `config reload FILE` validates files."""

import pytest

from fabricgen.findings import Severity
from tests.rules.clean import Config, broken

CHANGES = {
    "FG403": ("COPP_GROUP", "queue4_group1", {"cir": "8000", "cbs": "8000"}),
    "FG404": ("WRED_PROFILE", "LOSSLESS.400G", {"ecn": "ecn_none"}),
    "FG409": ("SCHEDULER", "scheduler.7", {"type": "DWRR", "weight": "5", "pir": "50000000000"}),
}


@pytest.mark.parametrize("code", CHANGES)
@pytest.mark.parametrize(
    ("release", "severity"), [("202411", Severity.NOTE), ("202505", Severity.WARNING), ("", Severity.WARNING)]
)
def test_severity_by_release(code: str, release: str, severity: Severity) -> None:
    table, key, row = CHANGES[code]

    def change(configs: dict[str, Config]) -> None:
        for config in configs.values():
            config.setdefault(table, {})[key] = dict(row)
            if release:
                config["VERSIONS"] = {"DATABASE": {"VERSION": f"version_{release}_01"}}

    found = [one for one in broken("traditional", change).judge(code) if one.path.startswith(f"{table}|{key}")]
    assert found and {one.severity for one in found} == {severity}
    assert all("takes the row" in one.message for one in found)


def test_a_new_group_needs_all_fields() -> None:
    def change(configs: dict[str, Config]) -> None:
        configs["leaf1"]["COPP_GROUP"] = {"own": {"cir": "8000"}}

    assert {one.severity for one in broken("traditional", change).judge("FG403")} == {Severity.ERROR}


def test_the_hint_does_not_name_a_field_that_the_row_has() -> None:
    def change(configs: dict[str, Config]) -> None:
        configs["leaf1"]["PORT"]["Ethernet0"]["mtus"] = "9100"

    assert [one.hint for one in broken("traditional", change).judge("FG402")] == [""]


# Rows of tables that not all releases have: release -> codes above a note.
OF_RELEASES = {
    "STP": ("GLOBAL", {"mode": "pvst"}, {"202505": {"FG443"}, "202511": set(), "202605": set()}),
    "SUBNET_DECAP": (
        "AZURE",
        {"status": "enable", "src_ip": "10.0.0.0/8", "src_ip_v6": "fc00::/8"},
        {"202405": set(), "202505": set(), "202605": set()},
    ),
}


@pytest.mark.parametrize("table", OF_RELEASES)
def test_rows_that_the_release_has_are_no_alarm(table: str) -> None:
    key, row, expected = OF_RELEASES[table]
    for release, codes in expected.items():

        def change(configs: dict[str, Config], release: str = release) -> None:
            for config in configs.values():
                config[table] = {key: dict(row)}
                config["VERSIONS"] = {"DATABASE": {"VERSION": f"version_{release}_01"}}

        found = broken("traditional", change).judge("FG4")
        assert {one.code for one in found if one.severity != Severity.NOTE} == codes, release
