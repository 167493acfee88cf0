"""The target configuration, and the way to it."""

from pathlib import Path

import pytest

from fabricgen.deploy.headroom import profiles
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
    assert str(way) == "4 times config apply-patch, at most 45 s, 1 ports down and up: Ethernet0"
    assert way.ports == ["Ethernet0"]
    assert {"op": "replace", "path": "/TACPLUS/global/passkey", "value": "two"} in way.patches[2]["patch"]
    assert [patch["settle"] for patch in way.patches] == [False, False, False, False]


def test_batches_and_sessions_wait_for_each_other() -> None:
    ports = {f"Ethernet{number}": {"admin_status": "up"} for number in (0, 4)}
    old = tables() | {"PORT": ports, "QUEUE": {f"{port}|3": {"scheduler": "a"} for port in ports}}
    new = old | {"QUEUE": {f"{port}|3": {"scheduler": "b"} for port in ports}}
    new["BGP_NEIGHBOR"] = {peer: row | {"asn": "9"} for peer, row in old["BGP_NEIGHBOR"].items()}
    assert [patch["settle"] for patch in Way(old, new).patches] == 2 * [False, False, False, True] + [False]


def test_the_headroom_of_the_image(tmp_path: Path) -> None:
    """The rows that buffermgrd writes, from a file in the layout of SONiC's images."""
    config = tables() | {"DEVICE_METADATA": {"localhost": {"platform": "x86_64-p", "hwsku": "X"}}}
    assert profiles(config, tmp_path) == {}
    file = tmp_path / "x86_64-p" / "X" / "pg_profile_lookup.ini"
    file.parent.mkdir(parents=True)
    file.write_text(
        "# PG lossless profiles.\n# speed cable size xon xoff threshold xon_offset\n400000 5m 18796 0 612140 0 3556\n"
    )
    row = {"size": "18796", "xon": "0", "xoff": "612140", "dynamic_th": "0", "xon_offset": "3556"}
    assert profiles(config, tmp_path) == {"pg_lossless_400000_5m_profile": row | {"pool": "ingress_lossless_pool"}}
    file.write_text("400000 5m 18796 0 612140 0\n")
    assert "xon_offset" not in profiles(config, tmp_path)["pg_lossless_400000_5m_profile"]
