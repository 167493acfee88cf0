"""What the rows of a file change in the sizes that the switch computes."""

from typing import Any

import pytest

from fabricgen.sonic.dynamic_buffers.asics import asic_of
from fabricgen.sonic.dynamic_buffers.headroom import TrafficPattern, WiredPort, computed_headroom, profile_name
from fabricgen.sonic.dynamic_buffers.prediction import DynamicBuffers, predict

MEMORY = 100_000_000
MIB = 1 << 20


def tables(**changes: Any) -> dict[str, Any]:
    """A switch with two lossless ports; `changes` replace tables."""
    ports = ("Ethernet0", "Ethernet8")
    return {
        "DEVICE_METADATA": {"localhost": {"platform": "x86_64-nvidia_sn5600-r0", "buffer_model": "dynamic"}},
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
        "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "4192", "small_packet_percentage": "50"}},
        "PORT": {port: {"speed": "400000", "lanes": "1,2,3,4", "admin_status": "up"} for port in ports},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(ports, "40m")},
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"type": "ingress"},
            "egress_lossless_pool": {"type": "egress", "size": str(MEMORY)},
        },
        "BUFFER_PROFILE": {"ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0"}},
        "BUFFER_PG": {f"{port}|3-4": {"profile": "NULL"} for port in ports},
        **changes,
    }


def prediction(**changes: Any) -> DynamicBuffers:
    found = predict(tables(**changes))
    assert found is not None
    return found


def pool(**changes: Any) -> int:
    return prediction(**changes).sizes.bytes["ingress_lossless_pool"]


@pytest.mark.parametrize(
    "changes",
    [
        {"DEVICE_METADATA": {"localhost": {"platform": "x86_64-nvidia_sn5600-r0"}}},
        {"DEVICE_METADATA": {"localhost": {"platform": "other", "buffer_model": "dynamic"}}},
        {"LOSSLESS_TRAFFIC_PATTERN": {}},
        {"BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress"}}},
    ],
)
def test_without_a_parameter_nothing_is_predicted(changes: dict[str, Any]) -> None:
    assert predict(tables(**changes)) is None


def test_the_memory_is_that_of_the_platform_where_it_is_known() -> None:
    assumed, known = predict(tables()), predict(tables(), mmu_bytes=MEMORY - MIB)
    assert assumed is not None and known is not None
    name = "ingress_lossless_pool"
    assert assumed.sizes.bytes[name] - known.sizes.bytes[name] == MIB
    assert assumed.memory_source == "assumed: the size of egress_lossless_pool"
    assert known.memory_source == "the platform's mmu_bytes"


def test_a_port_without_a_cable_length_has_no_headroom() -> None:
    half = prediction(CABLE_LENGTH={"AZURE": {"Ethernet0": "40m", "Ethernet8": "0m"}})
    assert half.headroom("Ethernet8") is None
    headroom = half.headroom("Ethernet0")
    assert headroom is not None
    assert half.sizes.bytes["ingress_lossless_pool"] - pool() == 2 * headroom.size_bytes
    assert half.profiles["pg_lossless_400000_40m_profile"] == (headroom, ["Ethernet0"])


def test_an_own_profile_smaller_than_xon_and_xoff_forces_shared_headroom() -> None:
    own = {"pool": "ingress_lossless_pool", "xon": "19456", "xoff": "100000", "size": "19456", "dynamic_th": "0"}
    groups = {"Ethernet0|3-4": {"profile": "own"}, "Ethernet8|3-4": {"profile": "NULL"}}
    forced = prediction(BUFFER_PROFILE={"own": own}, BUFFER_PG=groups)
    assert forced.sizes.headroom_bytes == 655_360
    assert prediction().sizes.headroom_bytes == 0


def test_the_ratio_divides_the_headroom_and_a_size_of_the_file_replaces_it() -> None:
    ratio = {"AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}}
    shared = prediction(DEFAULT_LOSSLESS_BUFFER_PARAMETER=ratio)
    headroom = shared.headroom("Ethernet0")
    assert headroom is not None and headroom.size_bytes == headroom.xon_bytes
    assert shared.sizes.headroom_bytes == (4 * headroom.xoff_bytes - 2 * 10_240) // 2
    pools = {"ingress_lossless_pool": {"type": "ingress", "xoff": "3000000"}, **MEMORY_POOL}
    assert prediction(BUFFER_POOL=pools).sizes.headroom_bytes == 3_000_000


MEMORY_POOL = {"egress_lossless_pool": {"type": "egress", "size": str(MEMORY)}}


def test_pools_of_a_percentage_and_two_ingress_pools() -> None:
    free = pool()
    pools = {"ingress_lossless_pool": {"type": "ingress", "percentage": "60"}, **MEMORY_POOL}
    assert pool(BUFFER_POOL=pools) == -(-free * 60 // 100)
    pools = {"ingress_lossless_pool": {"type": "ingress"}, "ingress_lossy_pool": {"type": "ingress"}, **MEMORY_POOL}
    assert pool(BUFFER_POOL=pools) == -(-free // 2)
    pools["ingress_lossy_pool"]["size"] = "1000000"
    assert pool(BUFFER_POOL=pools) == free


def test_the_reserves_of_queues_and_lists() -> None:
    profiles = {"queue": {"pool": "egress_lossless_pool", "size": "5000"}}
    rows = {"Ethernet0|0-2": {"profile": "queue"}}
    assert pool() - pool(BUFFER_PROFILE=profiles, BUFFER_QUEUE=rows) == 3 * 5000
    lists = {"Ethernet0": {"profile_list": "queue,ingress_lossy_profile"}}
    named = profiles | tables()["BUFFER_PROFILE"]
    assert pool() - pool(BUFFER_PROFILE=named, BUFFER_PORT_EGRESS_PROFILE_LIST=lists) == 5000


def test_spectrum_6_reserves_descriptors_and_no_mirrors() -> None:
    asic = asic_of("x86_64-nvidia_sn6600_simx-r0")
    assert asic is not None
    headroom = computed_headroom(asic, WiredPort(400_000, 40, 4), TrafficPattern(4192, 100), shared=True)
    # 9100 MTU + 20202.0 on the cable + 819.2 MAC/PHY + 57920 response, times 4 cells, + 4192, to KiB, + 18 KiB
    assert (headroom.xon_bytes, headroom.xoff_bytes) == (42 * 1024, 375_808)
    metadata = {"localhost": {"platform": "x86_64-nvidia_sn6600_simx-r0", "buffer_model": "dynamic"}}
    sizes = prediction(DEVICE_METADATA=metadata, BUFFER_PG={}).sizes
    assert sizes.reserved_bytes == 32 * MIB + 256 * 1024 + 2 * 42 * 1024


@pytest.mark.parametrize(
    ("platform", "speed", "lanes", "mtu", "name"),
    [
        ("x86_64-mlnx_msn4700-r0", 400_000, 8, 9100, "pg_lossless_400000_40m_profile"),
        ("x86_64-mlnx_msn4700-r0", 100_000, 8, 9100, "pg_lossless_100000_40m_8lane_profile"),
        ("x86_64-nvidia_sn5600-r0", 400_000, 8, 9100, "pg_lossless_400000_40m_8lane_profile"),
        ("x86_64-nvidia_sn5600-r0", 800_000, 8, 9216, "pg_lossless_800000_40m_mtu9216_profile"),
    ],
)
def test_names_of_profiles(platform: str, speed: int, lanes: int, mtu: int, name: str) -> None:
    assert profile_name(platform, WiredPort(speed, 40.0, lanes, mtu)) == name


SN4700, SN5600 = "x86_64-mlnx_msn4700-r0", "x86_64-nvidia_sn5600-r0"


@pytest.mark.parametrize(
    ("platform", "port", "values"),
    [
        (SN4700, WiredPort(400_000, 300, 8), (38_912, 272_384, 320_512)),
        (SN4700, WiredPort(100_000, 40, 1), (19_456, 51_200, 70_656)),
        (SN5600, WiredPort(800_000, 300, 8), (38_912, 474_112, 522_240)),
        (SN5600, WiredPort(200_000, 40, 2), (19_456, 65_536, 84_992)),
    ],
)
def test_the_published_rows_of_the_algorithm(platform: str, port: WiredPort, values: tuple[int, ...]) -> None:
    """sonic-swss pull request 3235, in 202405 to 202511. Pull request 4757 added 2 KiB, from 202605 on."""
    asic = asic_of(platform)
    assert asic is not None
    for release in (202405, 202505, 202511):
        found = computed_headroom(asic, port, TrafficPattern(1024, 50), shared=False, release=release)
        assert (found.xon_bytes, found.xoff_bytes, found.size_bytes) == values
    later = computed_headroom(asic, port, TrafficPattern(1024, 50), shared=False, release=202605)
    assert (later.xon_bytes, later.xoff_bytes - 2048, later.size_bytes - 2048) == values


def test_the_script_of_the_release_counts() -> None:
    assert predict(tables(), release=202311) is None  # another algorithm
    old, new = (predict(tables(), release=release) for release in (202405, 202605))
    assert old and new and old.headroom("Ethernet0") != new.headroom("Ethernet0")
    asic = asic_of("x86_64-nvidia_sn6600_ld-r0")
    assert asic is not None and asic == asic_of("x86_64-nvidia_sn6810_ld-r0")
    port, pattern = WiredPort(400_000, 40, 4), TrafficPattern(4192, 100)
    before, after = (computed_headroom(asic, port, pattern, shared=True, release=one) for one in (202511, 202605))
    assert after.xoff_bytes - before.xoff_bytes == 18 * 1024


def test_a_gearbox_delays() -> None:
    asic, plain = asic_of("x86_64-mlnx_msn3800-r0"), asic_of("x86_64-mlnx_msn3700-r0")
    assert asic is not None and plain is not None
    port, pattern = WiredPort(100_000, 40, 4), TrafficPattern(1024, 100)
    slow, fast = (computed_headroom(one, port, pattern, shared=True).xoff_bytes for one in (asic, plain))
    # 2 x 100000 x 400 / 8192 bytes, which small packets take three times of, to KiB
    assert slow - fast == 29 * 1024
    assert profile_name("x86_64-mlnx_msn3800-r0", port) == "pg_lossless_100000_40m_MELLANOX-GEARBOX-3800_profile"
