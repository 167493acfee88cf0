"""FG280: which static routes are aggregates that must not have a next hop."""

import pytest

from tests.rules.clean import Config, broken


@pytest.mark.parametrize(
    ("prefix", "keeps_discard", "severity"),
    [
        ("10.64.0.0/24", False, "error"),  # the aggregate itself
        ("10.64.0.0/16", False, "error"),  # a shorter one that nothing longer covers
        ("10.64.0.0/16", True, ""),  # the discard route is longer
        ("0.0.0.0/0", False, ""),
    ],
)
def test_a_next_hop_of_an_aggregate(prefix: str, keeps_discard: bool, severity: str) -> None:
    def change(configs: dict[str, Config]) -> None:
        routes = configs["leaf1"]["STATIC_ROUTE"]
        if not keeps_discard:
            del routes["default|10.64.0.0/24"]
        routes[f"default|{prefix}"] = {"ifname": "Ethernet256"}

    found = [str(one.severity) for one in broken("traditional", change).judge("FG280") if one.code == "FG280"]
    assert found == ([severity] if severity else [])


def test_a_next_hop_that_is_a_host_is_a_warning() -> None:
    def change(configs: dict[str, Config]) -> None:
        configs["leaf1"]["STATIC_ROUTE"]["default|10.64.0.0/24"] = {"ifname": "Ethernet0"}

    found = [(str(one.severity), one.message) for one in broken("traditional", change).judge("FG280")]
    assert ("warning", "packets to absent hosts of the prefix go to gpu1") in found
