"""Each statement about a daemon was read in every release that fabricgen knows."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fabricgen
from fabricgen.diff.price import LEAKS, READS_AGAIN, SLEEPS
from fabricgen.diff.sorting import Generation, generation_of
from fabricgen.sonic import statements
from fabricgen.sonic.releases import DEFAULT
from fabricgen.sonic.statements import ProgramStatement
from fabricgen.sonic.updater.live import ANNOUNCED_AT_START, FIELDS, FRRCFGD_FIELDS, TABLES, price_of
from fabricgen.sonic.updater.tables import COMMITS
from fabricgen.sonic.updater.verdicts import Cost, Updater, is_create_only

ROOT = Path(fabricgen.__file__).parent


def modules() -> Iterator[str]:
    """The modules that make statements."""
    for file in sorted(ROOT.rglob("*.py")):
        text = file.read_text()
        if "ProgramStatement(" not in text:
            continue
        calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        if any(isinstance(f, ast.Name) and f.id == "ProgramStatement" for f in calls):
            yield ".".join(("fabricgen", *file.relative_to(ROOT).with_suffix("").parts))


def made() -> Iterator[ProgramStatement]:
    for name in modules():
        found = vars(importlib.import_module(name)).values()
        yield from (value for value in found if isinstance(value, ProgramStatement))
    prices = (*FIELDS.values(), *FRRCFGD_FIELDS.values(), *TABLES.values(), ANNOUNCED_AT_START)
    yield from (price.statement for price in prices)


def test_each_list_of_the_updater_has_statements() -> None:
    names = set(modules())
    for name in ("diff.buffermgrd", "diff.price", "diff.sorting", "diff.stand_in", "sonic.updater.verdicts"):
        assert f"fabricgen.{name}" in names


def test_a_release_that_is_added_is_read_for_each_statement() -> None:
    found = list(made())
    assert len(found) > 40
    for statement in found:
        assert set(statement.read) == COMMITS.keys(), f"read {statement.source} in the new release: {statement.text}"
        assert {statement.since, statement.before} - {0} <= COMMITS.keys()
        assert statement.source.startswith(("sonic-", "no match in sonic-", "the readers of"))


@pytest.mark.parametrize("commits", [
    statements.SWSS_COMMITS, statements.HOST_SERVICES_COMMITS, statements.BUILDIMAGE_COMMITS
])  # fmt: skip
def test_each_repository_was_read_in_each_release(commits: dict[int, str]) -> None:
    assert commits.keys() == COMMITS.keys()


def test_a_statement_holds_for_its_releases() -> None:
    statement = ProgramStatement("", "", (), since=202411, before=202511)
    assert [release for release in COMMITS if statement.holds(release)] == [202411, DEFAULT]


def test_a_field_that_an_older_release_does_not_follow_has_the_price_of_its_table() -> None:
    for release, is_live in ((202411, False), (202505, True)):
        price = price_of("DEVICE_METADATA", "localhost", "syslog_with_osversion", release)
        assert price is not None and price.is_live is is_live


def test_the_generations_of_the_sorter_are_those_of_the_price() -> None:
    for release in COMMITS:
        grouped = generation_of(release) is Generation.GROUPED
        assert grouped is SLEEPS.holds(release) is LEAKS.holds(release) is not READS_AGAIN.holds(release)


def test_rows_that_are_added_again_are_those_of_the_release() -> None:
    assert [release for release in COMMITS if not is_create_only("BGP_SENTINELS", "ip_range", release)] == [202305]
    assert all(is_create_only("BGP_NEIGHBOR", "asn", release) for release in COMMITS)
    assert not any(is_create_only("BGP_NEIGHBOR", field, DEFAULT) for field in (None, "admin_status"))


def test_an_acl_with_another_type_and_other_rules_is_refused_from_202411_on() -> None:
    old: dict[str, Any] = {"ACL_TABLE": {"A": {"type": "L3"}}, "ACL_RULE": {"A|1": {"PRIORITY": "1"}}}
    new: dict[str, Any] = {"ACL_TABLE": {"A": {"type": "L3V6"}}, "ACL_RULE": {"A|1": {"PRIORITY": "2"}}}
    refused = [
        release
        for release in COMMITS
        if Updater(old, new, release).verdict("replace", "ACL_TABLE", "A", "type", "L3V6").cost is Cost.RELOAD
    ]
    assert refused == [release for release in COMMITS if release >= 202411]


BGPCFGD, FRRCFGD = {}, {"frr_mgmt_framework_config": "true"}


@pytest.mark.parametrize(("place", "metadata", "cost"), [
    (("BGP_GLOBALS", "default", "local_asn"), FRRCFGD, Cost.RELOAD),
    (("BGP_GLOBALS", "default", "keepalive"), FRRCFGD, Cost.CHEAP),
    (("PREFIX_SET", "A", "mode"), FRRCFGD, Cost.RELOAD),
    (("PORTCHANNEL", "PortChannel1", "min_links"), BGPCFGD, Cost.RELOAD),
    (("PORTCHANNEL", "PortChannel1", "mtu"), BGPCFGD, Cost.CHEAP),
    (("POLICER", "P", "meter_type"), BGPCFGD, Cost.RELOAD),
    (("POLICER", "P", "cir"), BGPCFGD, Cost.CHEAP),
    (("MACSEC_PROFILE", "M", "primary_cak"), BGPCFGD, Cost.RELOAD),
    (("VXLAN_TUNNEL", "V", "src_ip"), BGPCFGD, Cost.RELOAD),
    (("SYSTEM_DEFAULTS", "software_bfd", "status"), BGPCFGD, Cost.RELOAD),
    (("RESTAPI", "config", "log_level"), BGPCFGD, Cost.CHEAP),
    (("MGMT_PORT", "eth0", "alias"), BGPCFGD, Cost.CHEAP),
    (("PORT", "Ethernet0", "fec"), BGPCFGD, Cost.PORT_FLAP),
    (("PORT", "Ethernet0", "autoneg"), BGPCFGD, Cost.PORT_FLAP),
    (("PORT", "Ethernet0", "alias"), BGPCFGD, Cost.CHEAP),
    (("PORT", "Ethernet0", "index"), BGPCFGD, Cost.RELOAD),
    (("FEATURE", "bgp", "state"), BGPCFGD, Cost.RELOAD),
    (("FEATURE", "snmp", "state"), BGPCFGD, Cost.CHEAP),
])  # fmt: skip
def test_a_change_has_the_price_of_what_the_daemon_does(
    place: tuple[str, str, str | None], metadata: dict[str, str], cost: Cost
) -> None:
    table, key, field = place
    value = {"fec": "rs", "autoneg": "on"}.get(str(field), "disabled") if field else {}
    old: dict[str, Any] = {"DEVICE_METADATA": {"localhost": metadata}, table: {"other": {}}}
    updater = Updater(old, {**old, table: {"other": {}, key: {}}})
    found = updater.verdict("replace" if field else "add", table, key, field, value)
    assert found.cost is cost, found


def test_bgpcfgd_announces_new_addresses_only_after_a_restart() -> None:
    for key, restarted in (("Loopback0|10.0.0.1/32", True), ("Loopback0", False), ("Loopback1|10.0.0.1/32", False)):
        for framework in (False, True):
            price = price_of("LOOPBACK_INTERFACE", key, None, DEFAULT, framework=framework)
            assert (price is not None and "systemctl restart bgp" in price.statement.text) is (
                restarted and not framework
            )
    assert price_of("VLAN_INTERFACE", "Vlan10|10.0.0.1/24", None, DEFAULT) is not None
