"""An equal definition under another name is not a difference; a definition that differs still is one."""

import copy

import pytest

from fabricgen.findings import Severity
from tests.rules.clean import Config, broken


def second_map(config: Config) -> None:
    """Half of the ports have an equal DSCP map under another name."""
    config["DSCP_TO_TC_MAP"]["COPY"] = dict(config["DSCP_TO_TC_MAP"]["AZURE"])
    for port in ("Ethernet0", "Ethernet256"):
        config["PORT_QOS_MAP"].setdefault(port, {})["dscp_to_tc_map"] = "COPY"


def another_name(config: Config) -> None:
    """All definitions have other names."""
    for table in ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP", "SCHEDULER", "WRED_PROFILE"):
        config[table] = {f"own_{name.replace('.', '-')}": row for name, row in config[table].items()}
    fields = ("dscp_to_tc_map", "tc_to_queue_map", "scheduler", "wred_profile")
    for row in (*config["PORT_QOS_MAP"].values(), *config["QUEUE"].values()):
        row |= {name: f"own_{row[name].replace('.', '-')}" for name in fields if name in row}


def other_rate(config: Config) -> None:
    """A limit of DHCP packets for one port, which is the default of the models."""
    config["PORT"]["Ethernet0"]["dhcp_rate_limit"] = "300"


@pytest.mark.parametrize("change", [second_map, another_name, other_rate])
@pytest.mark.parametrize("devices", [("leaf1",), ("leaf1", "leaf2", "leaf3", "spine1", "spine2", "spine3")])
def test_equal_content_is_no_deviation(change: object, devices: tuple[str, ...]) -> None:
    assert callable(change)
    fabric = broken("traditional", lambda configs: [change(configs[name]) for name in devices])
    assert fabric.judge() == []


def test_a_renamed_definition_that_differs_is_reported() -> None:
    def change(configs: dict[str, Config]) -> None:
        config = configs["leaf1"]
        another_name(config)
        config["SCHEDULER"]["own_scheduler-1"]["weight"] = "60"

    found = broken("traditional", change).judge()
    assert {(one.code, one.path) for one in found if one.severity is not Severity.NOTE} >= {
        ("FG592", "SCHEDULER|own_scheduler-1"),
        ("FG592", "SCHEDULER|scheduler.1"),
    }


def test_two_usual_names_of_one_content_stay_two_rows() -> None:
    """A scheduler that most switches have is missing on one, although another one is equal."""

    def change(configs: dict[str, Config]) -> None:
        for config in configs.values():
            config["SCHEDULER"]["scheduler.3"] = copy.deepcopy(config["SCHEDULER"]["scheduler.1"])
        del configs["leaf1"]["SCHEDULER"]["scheduler.3"]

    assert [(one.code, one.path) for one in broken("traditional", change).judge()] == [
        ("FG592", "SCHEDULER|scheduler.3")
    ]
