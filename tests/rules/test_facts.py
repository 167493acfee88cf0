"""Numbers of standards and of programs that rules compare with, from their sources."""

from fabricgen.opensm.options import LAST_SL
from fabricgen.rules.addresses import plan
from fabricgen.rules.bgp import packet_filters, timers
from fabricgen.rules.buffers import dynamic, headroom, profiles
from fabricgen.rules.bundle import completeness
from fabricgen.rules.hosts import qos, routes
from fabricgen.rules.hosts.transports import _HARMFUL
from fabricgen.rules.links import capacity, rails
from fabricgen.rules.opensm import deployable, guid_lists, managers, partitions, routing, tenants
from fabricgen.rules.ports import ports
from fabricgen.rules.qos import ecn, scheduling, shares, watchdog
from fabricgen.rules.rule import Basis
from fabricgen.rules.schema import daemons
from fabricgen.rules.view import addresses, host_groups


def test_bgp() -> None:
    """RFC 4271 section 4.2; the defaults of FRR; TCP is 6, UDP is 17, and RoCEv2 has UDP port 4791."""
    assert (timers._HOLDTIME_S, timers._KEEPALIVE_S, timers._LEAST_HOLDTIME_S, timers._LONGEST_S) == (180, 60, 3, 600)
    assert (packet_filters._UDP, packet_filters._ROCE_PORT, packet_filters._MOST_PREFIXES) == (17, 4791, 64)


def test_ethernet() -> None:
    """IEEE 802.3: 10BASE to 1.6TBASE, PAM4 from 50 Gb/s per lane, 200 Gb/s per lane with 802.3dj."""
    gbps = {0.01, 0.1, 1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800, 1600}
    assert {mbps / 1000 for mbps in ports._ETHERNET_MBPS} == gbps
    assert (ports._PAM4_LANE_MBPS, ports._MOST_LANE_MBPS) == (50_000, 200_000)
    assert (capacity._LONGEST_COPPER_M, headroom._SHORT_CABLE_M) == (10, 10)
    assert (headroom._LONGEST_HOST_CABLE_M, headroom._LONGEST_CABLE_M) == (500, 10_000)


def test_sonic() -> None:
    """sonic-utilities pfcwd, buffers_config.j2, qos_config.j2 and orchagent."""
    assert (watchdog._BASE_MS, watchdog._PORTS_PER_STEP, watchdog._POLL_LIMIT_MS) == (200, 32, 1000)
    assert (watchdog._LONGEST_FACTOR, watchdog._LONG_MS) == (3, 10_000)
    assert profiles._SMALL_PACKETS_PERCENT == 50
    assert scheduling.LAST_QUEUE == 10 + 10 - 1
    assert daemons._MOST == 2_147_483_647
    assert (dynamic._LEAST_SHARE, dynamic._LARGEST_RATIO) == (0.5, 2)
    assert (shares._BITS, shares._LEAST_SHARE_OF_CNPS) == (8, 0.001)
    assert (ecn._LEAST_ROCE_MTU_BYTES, ecn._FAST_MBPS) == (1024, 100_000)
    assert ecn._LATEST_US == {"green_min_threshold": 100, "green_max_threshold": 200}


def test_hosts() -> None:
    """linux mlx5 en_ethtool.c (stall times) and include/uapi/linux/fib_rules.h (the rule of the main table)."""
    assert (qos.SLOWEST_STALL_MS, qos.FASTEST_STALL_MS, routes.MAIN_RULE) == (8000, 80, 32766)
    assert host_groups.MORE_THAN_HALF == 0.5


def test_ranges_of_nccl() -> None:
    """The first and the last value of each range, and one beyond; a text without a number."""
    for setting, least, most in (
        ("NCCL_IB_TIMEOUT", 1, 31), ("NCCL_IB_RETRY_CNT", 1, 7), ("NCCL_IB_QPS_PER_CONNECTION", 1, 128),
    ):  # fmt: skip
        is_harmful = _HARMFUL[setting][0]
        values = (least - 1, least, most, most + 1, "many")
        assert [is_harmful(str(value)) for value in values] == [True, False, False, True, True], setting
    for setting in ("NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL"):
        assert [_HARMFUL[setting][0](text) for text in ("LOC", "0", "SYS", "1")] == [True, True, False, False]


def test_infiniband() -> None:
    """InfiniBand Architecture: 48K unicast LIDs, SLs 0 to 15, the default P_Key and prefix; opensm(8)."""
    assert routing._UNICAST_LIDS == 0xC000 - 1
    assert (tenants._DEFAULT_KEY, LAST_SL) == (0x7FFF, 15)
    assert tenants._LEVEL_BITS == {"torus-2QoS": 0b1000, "dfsssp": 0, "lash": 0, "nue": 0}
    assert managers._DEFAULT_PREFIX == 0xFE80 << 48
    assert (managers._LONGEST_FAILOVER_MS, managers._SHORTEST_FAILOVER_MS) == (10_000, 1_000)
    assert (partitions._ADAPTER_KEYS, partitions._SWITCH_KEYS) == (128, 8)
    assert routing._LAYERED == {"dfsssp": 8, "lash": 3, "torus-2QoS": 2}
    assert (routing._MOST_2D_NEIGHBORS, guid_lists._SHORT_RING) == (4, 4)


def test_shares_and_lists() -> None:
    assert rails._MUCH_WORSE == 1.25
    assert plan._OUTLIER_BITS == 4
    assert (completeness._SHOWN, deployable._SHOWN) == (5, 4)
    assert addresses.parse_interface.cache_parameters()["maxsize"] == 2**14


def test_findings_on_one_place_are_ordered_by_what_is_known() -> None:
    """A value that is not legal comes first, a consequence last."""
    order = [Basis.SCHEMA, Basis.MEANING, Basis.PEERS, Basis.AGREEMENT, Basis.FORM, Basis.CONSEQUENCE]
    assert sorted(Basis) == order
    assert [one.value for one in order] == list(range(6))
