"""Verdicts of the real validators, as they were measured for four releases, and the properties of their tables."""

from typing import Any

import pytest

from fabricgen.diff.changes import changes
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.updater.validators import RELEASES, UNKNOWN, asic_of, known_release, refused_by
from fabricgen.sonic.updater.verdicts import Cost
from tests.shared_material import shared

ARISTA, NVIDIA = "Arista-7060X6-64PE-O128S2", "Mellanox-SN5600-O128"
MEASURED = (202505, 202511, 202605, MASTER)
RDMA, WRED, PROFILE = (f"{name}_config_update_validator" for name in ("rdma", "wred_profile", "buffer_profile"))
COLOURS = [f"{colour}_{limit}_threshold" for colour in ("green", "red", "yellow") for limit in ("max", "min")]
WATCHDOG = {"action": "drop", "detection_time": "400", "restoration_time": "400"}
LOSSLESS = "pg_lossless_400000_5m_profile"
BASE: dict[str, Any] = {
    "BUFFER_POOL": {"ingress_lossless_pool": {"mode": "dynamic", "size": "1", "type": "ingress"}},
    "BUFFER_PROFILE": {
        "egress_lossy_profile": {"dynamic_th": "3", "pool": "egress_lossless_pool", "size": "1518"},
        LOSSLESS: {"dynamic_th": "0", "pool": "ingress_lossless_pool", "size": "18796", "xoff": "612140"},
        "pg_lossless_400000_40m_profile": {"dynamic_th": "0", "size": "18796", "xoff": "700000"},
    },
    "DEVICE_METADATA": {"localhost": {"buffer_model": "traditional"}},
    "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": WATCHDOG},
    "PORT": {"Ethernet0": {"admin_status": "up"}},
    "WRED_PROFILE": {"AZURE_LOSSLESS": dict.fromkeys(COLOURS, "1") | {"green_drop_probability": "5"}},
}

# Section 1: (the change as {(table, key, field or None): value, None to remove}, the validator that refuses it on
# 202505, and the one on 202511, 202605 and master). "" is accepted.
SECTION_1: list[tuple[str, dict[tuple[str, str, str | None], Any], str, str]] = [
    ("ECN, three colours", {("WRED_PROFILE", "AZURE_LOSSLESS", field): "2" for field in COLOURS}, WRED, ""),
    ("ECN, green replaced", {("WRED_PROFILE", "AZURE_LOSSLESS", field): "2" for field in COLOURS[:2]}, "", ""),
    ("ECN, probability", {("WRED_PROFILE", "AZURE_LOSSLESS", "green_drop_probability"): "9"}, "", ""),
    ("ECN, green removed", {("WRED_PROFILE", "AZURE_LOSSLESS", COLOURS[0]): None}, WRED, ""),
    ("profile added", {("BUFFER_PROFILE", "pg_lossless_400000_20m_profile", None): {"xoff": "1"}}, RDMA, ""),
    ("profile removed", {("BUFFER_PROFILE", "pg_lossless_400000_40m_profile", None): None}, RDMA, ""),
    ("alpha of a name without digit", {("BUFFER_PROFILE", "egress_lossy_profile", "dynamic_th"): "4"}, RDMA, ""),
    ("alpha of pg_lossless", {("BUFFER_PROFILE", LOSSLESS, "dynamic_th"): "1"}, "", ""),
    ("xoff of pg_lossless", {("BUFFER_PROFILE", LOSSLESS, "xoff"): "1"}, "", ""),
    ("pfc_stat_history", {("PFC_WD", "Ethernet0", "pfc_stat_history"): "enable"}, RDMA, ""),
    ("pool size", {("BUFFER_POOL", "ingress_lossless_pool", "size"): "2"}, "", RDMA),
    ("profile size", {("BUFFER_PROFILE", LOSSLESS, "size"): "2"}, RDMA, PROFILE),
]


def with_hwsku(hwsku: str) -> dict[str, Any]:
    return BASE | {"DEVICE_METADATA": {"localhost": BASE["DEVICE_METADATA"]["localhost"] | {"hwsku": hwsku}}}


def edited(base: dict[str, Any], edits: dict[tuple[str, str, str | None], Any]) -> dict[str, Any]:
    new: dict[str, Any] = {table: {key: dict(row) for key, row in rows.items()} for table, rows in base.items()}
    for (table, key, field), value in edits.items():
        where, name = (new[table], key) if field is None else (new[table][key], field)
        if value is None:
            del where[name]
        else:
            where[name] = value
    return new


@pytest.mark.parametrize("hwsku", [ARISTA, NVIDIA])
@pytest.mark.parametrize("release", MEASURED)
@pytest.mark.parametrize(
    ("edits", "by_202505", "by_others"), [row[1:] for row in SECTION_1], ids=[r[0] for r in SECTION_1]
)
def test_section_1(
    edits: dict[tuple[str, str, str | None], Any], by_202505: str, by_others: str, release: int, hwsku: str
) -> None:
    base = with_hwsku(hwsku)
    verdicts = [change.verdict for change in changes(base, edited(base, edits), release)]
    assert {verdict.refused_by for verdict in verdicts} - {""} == {by_202505 if release == 202505 else by_others} - {""}
    accepted = all(verdict.cost in (Cost.CHEAP, Cost.GUARDED) for verdict in verdicts)
    assert accepted == (not any(verdict.refused_by for verdict in verdicts) and "BUFFER_POOL" not in next(iter(edits)))


@pytest.mark.parametrize("release", MEASURED)
def test_the_watchdog_table_cannot_be_added(release: int) -> None:
    base = with_hwsku(ARISTA)
    without = {table: rows for table, rows in base.items() if table != "PFC_WD"}
    assert {change.verdict.refused_by for change in changes(without, base, release)} == {RDMA}


# (HwSKU, path, value, the measured releases that accept the operation)
BY_ASIC: list[tuple[str, tuple[str, ...], str, set[int]]] = [
    ("Arista-7808R3A-FM", ("PFC_WD", "Ethernet0", "detection_time"), "200", set()),  # jr2
    ("Arista-7050-QX32", ("BUFFER_PROFILE", LOSSLESS, "xoff"), "1", set()),  # td2
    ("ACS-MSN4700", ("BUFFER_PROFILE", LOSSLESS, "packet_discard_action"), "trim", set()),
    ("Nokia-IXR7220-H4-64D", ("BUFFER_PROFILE", LOSSLESS, "packet_discard_action"), "trim", set()),
    ("Nokia-IXR7220-H6-64", ("PFC_WD", "Ethernet0", "detection_time"), "200", {202605, MASTER}),  # th6
    ("Arista-7280R4-32QF-32DF-64O", ("PFC_WD", "Ethernet0", "detection_time"), "200", {202511, 202605, MASTER}),  # q3d
    ("ACS-SN6600_LD", ("PFC_WD", "Ethernet0", "detection_time"), "200", {MASTER}),  # spc6
    ("DellEMC-Z9664f-O64", ("PFC_WD", "Ethernet0", "detection_time"), "200", set()),
    (ARISTA, ("PFC_WD", "Ethernet0", "detection_time"), "200", set(MEASURED)),
    (NVIDIA, ("BUFFER_PROFILE", LOSSLESS, "packet_discard_action"), "trim", {202511, 202605, MASTER}),
]


@pytest.mark.parametrize(("hwsku", "path", "value", "releases"), BY_ASIC)
def test_an_asic_needs_to_be_listed_for_the_field(
    hwsku: str, path: tuple[str, ...], value: str, releases: set[int]
) -> None:
    accepted = {
        release for release in MEASURED if not refused_by("replace", path, value, release, asic_of(hwsku, release))
    }
    assert accepted == releases


def test_section_1_is_complete() -> None:
    """Each kind of change of section 1 of the measurement has a row above."""
    text = shared("facts", "updater_costs.md").read_text(encoding="utf-8")
    section = text.partition("## 1. ")[2].partition("## 2. ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("|")][2:]
    assert rows == [
        "WRED_PROFILE: fabricgen's ECN patch (3 colours)",
        "BUFFER_PROFILE row added, removed",
        "dynamic_th of egress_lossy_profile (name without digit)",
        "dynamic_th, xoff of pg_lossless_*",
        "PFC_WD pfc_stat_history",
        "BUFFER_POOL ingress_lossless_pool size",
        "profile size; PFC_WD table added",
    ]


def test_releases_in_between_have_the_tables_of_the_one_before() -> None:
    assert [known_release(release) for release in (202305, 202307, 202505, 202510, 202611)] == [
        202305, 202305, 202505, 202505, MASTER,
    ]  # fmt: skip
    assert all(known_release(release) == release for release in RELEASES)


def test_nvidia_hwskus_match_as_a_whole_and_others_as_a_part() -> None:
    assert asic_of("Mellanox-SN5600-O128-more", MASTER) == UNKNOWN
    assert asic_of("Arista-7060X6-64PE-B-more", MASTER) == "th5"
    assert asic_of("ARISTA-7060x6-64pe", MASTER) == "th5"
    assert asic_of("Arista-7060X6-64PE", 202405) == UNKNOWN
