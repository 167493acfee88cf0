"""A value exactly at a limit is accepted; one unit beyond it is found."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from fabricgen.bundle.wiring import Wiring
from fabricgen.rules.qos.watchdog import scaled_ms
from tests.rules.changes import Configs
from tests.rules.clean import CleanFabric, Config, clean_fabric
from tests.rules.fabrics import of_wiring, without_wiring

Path = tuple[str, str, str]
PAUSE_BYTES = 83057746  # the pause threshold of the lossless profile, in the message of FG543
POLL: Path = ("PFC_WD", "GLOBAL", "POLL_INTERVAL")
DETECTION: Path = ("PFC_WD", "Ethernet0", "detection_time")
RESTORATION: Path = ("PFC_WD", "Ethernet0", "restoration_time")
KMIN: Path = ("WRED_PROFILE", "AZURE_LOSSLESS", "green_min_threshold")
KMAX: Path = ("WRED_PROFILE", "AZURE_LOSSLESS", "green_max_threshold")
HOLDTIME: Path = ("BGP_NEIGHBOR", "10.128.0.13", "holdtime")
KEEPALIVE: Path = ("BGP_NEIGHBOR", "10.128.0.13", "keepalive")
HOST_CABLE: Path = ("CABLE_LENGTH", "AZURE", "Ethernet0")
CABLE: Path = ("CABLE_LENGTH", "AZURE", "Ethernet256")  # to spine1 Ethernet0
MTU: Path = ("PORT", "Ethernet256", "mtu")
ALPHA: Path = ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "default_dynamic_th")
RATIO: Path = ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", "AZURE", "over_subscribe_ratio")
PIR, CNP_PIR, WEIGHT = (
    ("SCHEDULER", "scheduler.1", "pir"), ("SCHEDULER", "scheduler.2", "pir"), ("SCHEDULER", "scheduler.0", "weight"),
)  # fmt: skip

Setting = tuple[str, Path, str]  # device, path, value


def with_ports(leaf: Config, count: int) -> None:
    """More ports, none of them wired."""
    for number in range(count - len(leaf["PORT"])):
        leaf["PORT"][f"Ethernet{2000 + number}"] = dict(leaf["PORT"]["Ethernet0"])


@dataclass(frozen=True)
class Limit:
    """`path` of leaf1 may have the value `accepted`, and not the value `found`: then there is a finding at `at`.

    `far` is the same setting at the other end of the link. `given` are other settings that the rule needs, `plug`
    other wiring, and `ports` the number of ports of leaf1.
    """

    code: str
    path: Path
    accepted: object
    found: object
    at: Path | None = None
    far: tuple[str, Path] | None = None
    given: tuple[Setting, ...] = ()
    model: str = "traditional"
    ports: int = 0
    plug: Callable[[CleanFabric], None] | None = None

    def __str__(self) -> str:
        return f"{self.code}-{self.path[-1]}-{self.accepted}"

    def is_found(self, value: object) -> bool:
        """Whether the rule finds the value."""
        fabric = clean_fabric(self.model)
        if self.plug:
            self.plug(fabric)
        settings = [*self.given, ("leaf1", self.path, value), *([(*self.far, value)] if self.far else [])]
        for device, (table, key, field), text in settings:
            fabric.configs[device].setdefault(table, {}).setdefault(key, {})[field] = str(text)
        with_ports(fabric.configs["leaf1"], self.ports)
        places = [str(one.path) for one in fabric.judge(self.code) if one.device == "leaf1"]
        return "|".join(self.at or self.path) in places


def cable_of(metres: int) -> Callable[[CleanFabric], None]:
    """All cables have this length."""

    def change(wiring: Wiring) -> Wiring:
        return dataclasses.replace(
            wiring, cables=tuple(dataclasses.replace(cable, length_m=metres) for cable in wiring.cables)
        )

    return of_wiring(change)


SPINE_CABLE: tuple[str, Path] = ("spine1", ("CABLE_LENGTH", "AZURE", "Ethernet0"))
SPINE_MTU: tuple[str, Path] = ("spine1", ("PORT", "Ethernet0", "mtu"))

LIMITS = [
    Limit("FG543", KMAX, PAUSE_BYTES, PAUSE_BYTES + 1),
    Limit("FG562", POLL, 1000, 999),
    Limit("FG562", POLL, 1000, 999, ports=200),
    Limit("FG562", DETECTION, 1400, 1399, ports=200),
    Limit("FG562", DETECTION, 3000, 3001),
    Limit("FG562", DETECTION, 4200, 4201, ports=200),
    Limit("FG562", RESTORATION, 10000, 10001),
    Limit("FG562", RESTORATION, 20000, 20001, given=(("leaf1", DETECTION, "2000"),)),
    Limit("FG355", HOLDTIME, 9, 8),
    Limit("FG355", HOLDTIME, 600, 601),
    Limit("FG355", HOLDTIME, 3, 2, given=(("leaf1", KEEPALIVE, "1"),)),
    Limit("FG355", HOLDTIME, 3, 1, given=(("leaf1", KEEPALIVE, "1"),)),
    Limit("FG355", HOLDTIME, 3, 0, given=(("leaf1", KEEPALIVE, "1"),)),
    Limit("FG355", KEEPALIVE, 3, 4, at=HOLDTIME),
    Limit("FG547", KMAX, 8384, 8383),
    Limit("FG547", KMAX, 10_000_000, 10_000_001),
    Limit("FG547", KMIN, 5_000_000, 5_000_001),
    Limit("FG557", WEIGHT, 15, 16, at=("SCHEDULER", "scheduler.1", "weight")),
    Limit("FG558", PIR, 50_000_000_000, 49_999_999_999),
    Limit("FG558", CNP_PIR, 50_000_000, 49_999_999),
    Limit("FG532", HOST_CABLE, "10m", "11m"),
    Limit("FG532", CABLE, "80m", "81m", far=SPINE_CABLE),
    Limit("FG532", CABLE, "40m", "39m", far=SPINE_CABLE),
    Limit("FG532", HOST_CABLE, "500m", "501m", plug=without_wiring),
    Limit("FG532", CABLE, "10000m", "10001m", far=SPINE_CABLE, plug=without_wiring),
    Limit("FG568", ALPHA, -3, -4, model="dynamic"),
    Limit("FG569", RATIO, 2, 3, model="dynamic"),
    Limit("FG570", MTU, 9100, 9099, far=SPINE_MTU),
    Limit("FG570", MTU, 4191, 4192, far=SPINE_MTU),
    Limit("FG412", KMAX, 2**31 - 1, 2**31),
]  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_a_limit_itself_is_accepted(limit: Limit) -> None:
    assert not limit.is_found(limit.accepted)
    assert limit.is_found(limit.found)


def timers(**fields: str) -> list[tuple[str, str, str]]:
    """The place, the message and the advice on a session with only these timers."""
    fabric = clean_fabric()
    row = fabric.configs["leaf1"]["BGP_NEIGHBOR"]["10.128.0.13"]
    del row["holdtime"], row["keepalive"]
    row.update(fields)
    return [(str(one.path).rpartition("|")[2], one.message, one.hint) for one in fabric.judge("FG355")]


def test_missing_timers_have_the_defaults_of_sonic() -> None:
    """60 s and 180 s."""
    assert timers() == timers(holdtime="180") == timers(keepalive="60") == []
    message = "holdtime is 179 s, less than three times the keepalive interval of 60 s"
    assert timers(holdtime="179") == [("holdtime", message, "set keepalive to 59, or holdtime to 180")]
    message = "holdtime is 180 s, less than three times the keepalive interval of 61 s"
    assert timers(keepalive="61") == [("keepalive", message, "set keepalive to 60, or holdtime to 183")]


def without_group(configs: Configs) -> None:
    """One port of leaf1 less: its five ports have ten lossless groups, and eight are left."""
    del configs["leaf1"]["BUFFER_PG"]["Ethernet0|3-4"]


def test_groups_that_fill_exactly_half_of_the_pool() -> None:
    """Alpha 1/8 and eight groups: 1/8 x 8 / (1 + 1/8 x 8) is a half."""
    fabric = clean_fabric("dynamic")
    without_group(fabric.configs)
    parameter = fabric.configs["leaf1"]["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"]
    parameter["default_dynamic_th"] = "-3"
    assert fabric.judge("FG568") == []
    parameter["default_dynamic_th"] = "-4"
    [finding] = fabric.judge("FG568")
    assert finding.message == "with default_dynamic_th -4, 8 lossless groups pause at 33% of the pool"


@pytest.mark.parametrize(("metres", "found"), [(9, False), (10, False), (11, True)])
def test_copper_is_at_most_ten_metres_long(metres: int, found: bool) -> None:
    fabric = clean_fabric()
    cable_of(metres)(fabric)
    for device, port in (("leaf1", "Ethernet256"), ("spine1", "Ethernet0")):
        fabric.configs[device]["PORT"][port]["autoneg"] = "on"
    assert bool(fabric.judge("FG571")) is found


@pytest.mark.parametrize(("speed", "found"), [("50000", False), ("100000", True)])
def test_queues_are_timed_from_100g(speed: str, found: bool) -> None:
    """3,000,000 bytes are 240 us at 100G; below, no limit is known."""
    fabric = clean_fabric()
    leaf = fabric.configs["leaf1"]
    for row in leaf["PORT"].values():
        row["speed"] = speed
    leaf[KMAX[0]][KMAX[1]][KMAX[2]] = "3000000"
    assert ("leaf1" in {one.device for one in fabric.judge("FG547")}) is found


@pytest.mark.parametrize(("queue", "found"), [(19, False), (20, True)])
def test_queues_that_exist(queue: int, found: bool) -> None:
    fabric = clean_fabric()
    fabric.configs["leaf1"]["QUEUE"][f"Ethernet0|{queue}"] = {"scheduler": "scheduler.0"}
    assert bool(fabric.judge("FG555")) is found


@pytest.mark.parametrize(
    ("ports", "ms"), [(1, 200), (32, 200), (33, 400), (64, 400), (65, 600), (128, 800), (129, 1000), (130, 1000)]
)
def test_detection_times_that_sonic_chooses(ports: int, ms: int) -> None:
    assert scaled_ms(ports) == ms


@pytest.mark.parametrize(("prefix", "found"), [("10.0.0.0/31", True), ("10.0.0.8/29", False), ("10.0.0.0/32", False)])
def test_prefixes_of_two_planes_that_share_one_address(prefix: str, found: bool) -> None:
    """The loopbacks of plane compute are 10.0.0.1 to 10.0.0.6, that of inband1 is 10.0.0.7."""
    fabric = clean_fabric("planes")
    fabric.configs["inband1"].setdefault("STATIC_ROUTE", {})[f"default|{prefix}"] = {"blackhole": "true"}
    assert bool(fabric.judge("FG328")) is found
