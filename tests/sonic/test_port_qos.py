"""The QoS of a port as SONiC resolves it: the switch's row, lists of ports, ranges, brackets, defaults."""

from typing import Any

import pytest

from fabricgen.sonic.port_qos import SwitchQos

Config = dict[str, dict[str, dict[str, Any]]]


def config(**port_maps: dict[str, Any]) -> Config:
    return {
        "PORT_QOS_MAP": port_maps,
        "DSCP_TO_TC_MAP": {"SWITCH": {"26": "3", "48": "6"}, "PORT": {"26": "4"}},
        "TC_TO_QUEUE_MAP": {"QUEUES": {"3": "5"}},
        "QUEUE": {"Ethernet0,Ethernet4|3-4": {"scheduler": "[SCHEDULER|LOSSLESS]", "wred_profile": "ECN"}},
        "BUFFER_PG": {"Ethernet0|3-4": {"profile": "[BUFFER_PROFILE|x]"}, "Ethernet0|0": {"profile": "lossy"}},
    }


def test_the_row_of_the_switch_gives_its_dscp_map_alone() -> None:
    qos = SwitchQos(
        config(**{"global": {"dscp_to_tc_map": "SWITCH", "pfc_enable": "3"}, "Ethernet0": {"pfc_enable": "4"}})
    )
    assert qos.port("Ethernet0").dscp_to_tc == {26: 3, 48: 6}
    assert qos.port("Ethernet0").pfc == {4}
    assert qos.port("Ethernet8").dscp_to_tc == {26: 3, 48: 6}
    assert qos.port("Ethernet8").pfc == frozenset()


def test_the_own_row_of_a_port_wins() -> None:
    qos = SwitchQos(
        config(**{"global": {"dscp_to_tc_map": "SWITCH"}, "Ethernet0": {"dscp_to_tc_map": "[DSCP_TO_TC_MAP|PORT]"}})
    )
    assert qos.port("Ethernet0").map_name("dscp_to_tc_map") == "PORT"
    assert qos.port("Ethernet0").dscp_to_tc == {26: 4}


@pytest.mark.parametrize("port", ["Ethernet0", "Ethernet4"])
def test_one_key_may_list_ports_and_a_range(port: str) -> None:
    qos = SwitchQos(config(**{"Ethernet0,Ethernet4": {"pfc_enable": "3,4", "pfcwd_sw_enable": "3"}})).port(port)
    assert (qos.pfc, qos.watchdog) == ({3, 4}, {3})
    assert qos.queue_text(4, "scheduler") == ("3-4", "LOSSLESS")
    assert qos.queue_text(4, "wred_profile") == ("3-4", "ECN")
    assert qos.queue_text(5, "scheduler") == ("5", None)


def test_references_in_brackets_are_names() -> None:
    profiles = SwitchQos(config()).port("Ethernet0").profiles("BUFFER_PG")
    assert profiles == {3: ("3-4", "x"), 4: ("3-4", "x"), 0: ("0", "lossy")}


def test_a_map_that_no_field_names_is_the_identity() -> None:
    port = SwitchQos(config(Ethernet0={"tc_to_queue_map": "QUEUES"})).port("Ethernet0")
    assert port.map_array("tc_to_queue_map", 8) == (0, 0, 0, 5, 0, 0, 0, 0)
    assert port.map_array("pfc_to_queue_map", 8) == tuple(range(8))
    assert port.map_array("dscp_to_tc_map", 10) == (0, 1, 2, 3, 4, 5, 6, 7, 0, 0)
    assert port.entries("pfc_to_queue_map") == {}


def test_numbers_without_quotes_and_tables_of_another_shape_do_no_harm() -> None:
    found = SwitchQos({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": 3}}, "QUEUE": [], "BUFFER_PG": {"Ethernet0|3": 7}})  # type: ignore[dict-item]
    assert found.port("Ethernet0").pfc == {3}
    assert found.port("Ethernet0").profiles("BUFFER_PG") == {}
