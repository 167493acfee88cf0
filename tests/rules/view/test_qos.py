"""The view that rules share resolves a port's QoS as SONiC does."""

import pytest

from tests.rules.clean import clean_fabric


@pytest.mark.parametrize("model", ["traditional", "dynamic"])
def test_the_dscp_map_of_the_switch_serves_its_ports_for_other_rules(model: str) -> None:
    """Whether the chip uses it is not known, so FG511 asks for the map of the port."""
    fabric = clean_fabric(model)
    for config in fabric.configs.values():
        for row in config["PORT_QOS_MAP"].values():
            row.pop("dscp_to_tc_map", None)
        config["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": "AZURE"}
    assert {finding.code for finding in fabric.judge()} == {"FG511"}
    for config in fabric.configs.values():
        del config["PORT_QOS_MAP"]["global"]
    assert {finding.code for finding in fabric.judge()} >= {"FG511"}
