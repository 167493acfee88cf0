"""The target configuration, and the way to it."""

import pytest

from fabricgen.deploy.target import Preference, Way, aim, without_switch_made
from fabricgen.diff.patch import Route
from tests.deploy.switch import Tables, tables

RUNNING: Tables = {
    "FEATURE": {"bgp": {"state": "enabled", "auto_restart": "enabled"}},
    "NTP_SERVER": {"10.9.9.9": {}},
    "PORT": {"Ethernet0": {"mtu": "1500", "alias": "etp1"}},
    "VERSIONS": {"DATABASE": {"VERSION": "1"}},
}


def test_owned_tables_are_replaced_and_others_stay() -> None:
    target = aim(RUNNING, {"PORT": {"Ethernet8": {"mtu": "9100"}}}, ["FEATURE"], [])
    assert target == RUNNING | {"PORT": {"Ethernet8": {"mtu": "9100"}}}


def test_shared_tables_get_the_rendered_fields_only() -> None:
    rendered = {"FEATURE": {"bgp": {"state": "disabled"}, "lldp": {"state": "enabled"}}}
    target = aim(RUNNING, rendered, ["FEATURE"], [])
    assert target["FEATURE"] == {
        "bgp": {"state": "disabled", "auto_restart": "enabled"},
        "lldp": {"state": "enabled"},
    }
    assert RUNNING["FEATURE"]["bgp"]["state"] == "enabled"


def test_tables_that_were_owned_are_removed_unless_they_are_shared() -> None:
    target = aim(RUNNING, {}, ["FEATURE"], ["FEATURE", "NTP_SERVER", "PORT"])
    assert target.keys() == {"FEATURE", "VERSIONS"}


def test_an_empty_table_is_left_out() -> None:
    assert "PORT" not in aim(RUNNING, {"PORT": {}}, [], [])


def test_rows_that_the_switch_made_count_only_in_the_target() -> None:
    found = {
        "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}},
        "CRM": {"Config": {"polling_interval": "300"}},
    }
    assert without_switch_made(found, {}) == {"INTERFACE": {"Ethernet0|10.0.0.0/31": {}}, "CRM": {}}
    assert without_switch_made(found, found) == found


@pytest.mark.parametrize(
    ("new", "preference", "route", "text"),
    [
        (tables(), Preference.AUTO, Route.NONE, "no change"),
        (tables(), Preference.RELOAD, Route.NONE, "no change"),
        (tables("1500"), Preference.AUTO, Route.APPLY_PATCH, "config apply-patch, at most 11 s"),
        (tables("1500"), Preference.RELOAD, Route.RELOAD, "config reload: traffic stops; as requested"),
        (
            tables(pool_size="1"),
            Preference.PATCH,
            Route.RELOAD,
            "config reload: traffic stops; BUFFER_POOL: the pools of a switch add up only together",
        ),
    ],
)
def test_way(new: Tables, preference: Preference, route: Route, text: str) -> None:
    way = Way(tables(), new, preference)
    assert way.route is route
    assert str(way) == text


def test_a_way_names_its_ports_and_contains_secrets() -> None:
    old = tables() | {"QUEUE": {"Ethernet0|3": {"scheduler": "a"}}, "TACPLUS": {"global": {"passkey": "one"}}}
    old["PORT"]["Ethernet0"]["admin_status"] = "up"
    new = old | {"QUEUE": {"Ethernet0|3": {"scheduler": "b"}}, "TACPLUS": {"global": {"passkey": "two"}}}
    way = Way(old, new)
    assert str(way) == "config apply-patch, at most 14 s, 1 ports down and up: Ethernet0"
    assert way.ports == ["Ethernet0"]
    assert {"op": "replace", "path": "/TACPLUS/global/passkey", "value": "two"} in way.patch
