"""A value exactly at a limit is accepted; one unit beyond it is found."""

import pytest

from fabricgen.rules.qos.watchdog import scaled_ms
from tests.rules.clean import Config, clean_fabric

Path = tuple[str, str, str]
PAUSE_BYTES = 83057746  # the pause threshold of the lossless profile, in the message of FG543
POLL: Path = ("PFC_WD", "GLOBAL", "POLL_INTERVAL")
DETECTION: Path = ("PFC_WD", "Ethernet0", "detection_time")


def with_ports(leaf: Config, count: int) -> None:
    """More ports, none of them wired."""
    for number in range(count - len(leaf["PORT"])):
        leaf["PORT"][f"Ethernet{2000 + number}"] = dict(leaf["PORT"]["Ethernet0"])


@pytest.mark.parametrize(
    ("code", "path", "accepted", "found", "ports"),
    [
        ("FG543", ("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold"), PAUSE_BYTES, PAUSE_BYTES + 1, 0),
        ("FG562", POLL, 1000, 999, 0),
        ("FG562", POLL, 1000, 999, 200),
        ("FG562", DETECTION, 1400, 1399, 200),
    ],
)
def test_a_limit_itself_is_accepted(code: str, path: Path, accepted: int, found: int, ports: int) -> None:
    for value, expected in ((accepted, False), (found, True)):
        fabric = clean_fabric()
        leaf = fabric.configs["leaf1"]
        table, key, field = path
        leaf[table][key][field] = str(value)
        with_ports(leaf, ports)
        places = [str(one.path) for one in fabric.judge(code) if one.device == "leaf1"]
        assert ("|".join(path) in places) is expected, places


@pytest.mark.parametrize(
    ("ports", "ms"), [(1, 200), (32, 200), (33, 400), (64, 400), (65, 600), (128, 800), (129, 1000), (130, 1000)]
)
def test_detection_times_that_sonic_chooses(ports: int, ms: int) -> None:
    assert scaled_ms(ports) == ms
