"""The settings of a class of traffic on one switch: every value of the files, once, for all simulators."""

from pathlib import Path
from typing import Any

import pytest

from fabricgen.bundle.read import Bundle
from fabricgen.simulate.packets.configured import port_buffers, switch_buffers
from fabricgen.simulate.plane.interfaces import InterfaceQos
from fabricgen.simulate.plane.queues import marks, pfc_priorities
from fabricgen.simulate.plane.switch import PriorityGroup, RoceClass, SwitchClass
from fabricgen.simulate.scenario import Ecn, WatchdogTimers
from fabricgen.vocabulary import WatchdogAction
from tests.bgp_fabric import PORT_QOS, QOS_MAPS, open_configs

PACKET_BYTES = 4178
PROFILE = {"pool": "ingress_lossless_pool", "size": "1000", "xoff": "50000", "xon": "900", "xon_offset": "300"}


def switch(folder: Path, *, priority: int = 3, dscp: int | None = None, **tables: Any) -> SwitchClass:
    """The class on a switch with one port and some tables over the usual ones."""
    config: dict[str, Any] = {
        "DEVICE_METADATA": {"localhost": {"hostname": "s"}},
        "PORT": {"Ethernet0": {"speed": "400000"}},
        "CABLE_LENGTH": {"AZURE": {"Ethernet0": "40m"}},
        **QOS_MAPS,
        "PORT_QOS_MAP": {"Ethernet0": dict(PORT_QOS)},
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"size": "1000000", "xoff": "200000"},
            "egress_lossy_pool": {"size": "500000"},
        },
        "BUFFER_PROFILE": {"lossless": {**PROFILE, "dynamic_th": "-2"}, "lossy": {"pool": "egress_lossy_pool"}},
        "BUFFER_PG": {"Ethernet0|3-4": {"profile": "lossless"}, "Ethernet0|0": {"profile": "lossy"}},
    }
    bundle: Bundle = open_configs({"s": {**config, **tables}}, folder)
    return SwitchClass(bundle, "s", RoceClass(priority, PACKET_BYTES, dscp), InterfaceQos(bundle.devices["s"].config))


def test_a_profile_of_the_file(tmp_path: Path) -> None:
    roce = switch(tmp_path)
    assert roce.group("Ethernet0") == PriorityGroup(
        lossless=True, alpha=0.25, reserve_bytes=1000, headroom_bytes=50_000, xon_bytes=900, xon_offset_bytes=300,
        profile="lossless", pool="ingress_lossless_pool",
    )  # fmt: skip
    assert roce.buffers.headroom_pool_bytes == 200_000
    assert roce.pool_bytes("ingress_lossless_pool") == 1_000_000 - 2 * 1000  # two groups; headroom has its own pool


def test_a_pool_without_shared_headroom_reserves_headroom_as_well(tmp_path: Path) -> None:
    """A size that is large enough contains xoff, as in the profiles of SONiC's NVIDIA SKUs."""
    pools = {"ingress_lossless_pool": {"size": "1000000"}, "egress_lossy_pool": {"size": "500000"}}
    beside = switch(tmp_path, BUFFER_POOL=pools)
    assert beside.pool_bytes("ingress_lossless_pool") == 1_000_000 - 2 * (1000 + 50_000)
    within = {"lossless": {**PROFILE, "size": "51000", "dynamic_th": "0"}}
    contained = switch(tmp_path, BUFFER_POOL=pools, BUFFER_PROFILE=within)
    assert contained.pool_bytes("ingress_lossless_pool") == 1_000_000 - 2 * 51_000
    assert (contained.group("Ethernet0").reserve_bytes, contained.group("Ethernet0").headroom_bytes) == (1000, 50_000)


def test_pools_of_queues_and_of_lossy_groups(tmp_path: Path) -> None:
    profiles = {
        "lossless": {**PROFILE, "dynamic_th": "0"},
        "lossy": {"pool": "ingress_lossy_pool", "size": "700", "dynamic_th": "3"},
        "queue": {"pool": "egress_lossy_pool", "size": "1500", "dynamic_th": "3"},
    }
    pools = {
        "ingress_lossless_pool": {"size": "1000000", "xoff": "200000"},
        "ingress_lossy_pool": {"size": "300000"},
        "egress_lossy_pool": {"size": "500000"},
    }
    queues = {"Ethernet0|0-2": {"profile": "queue"}}
    lossy = switch(
        tmp_path, priority=0, BUFFER_POOL=pools, BUFFER_PROFILE=profiles, BUFFER_QUEUE=queues,
        BUFFER_PG={"Ethernet0|3-4": {"profile": "lossless"}, "Ethernet0|0": {"profile": "lossy"}},
    )  # fmt: skip
    assert (lossy.group("Ethernet0").pool, lossy.pool_bytes("ingress_lossy_pool")) == ("ingress_lossy_pool", 299_300)
    own = port_buffers(lossy, "Ethernet0")
    assert (own.ingress_pool, own.ingress_pool_bytes, own.alpha) == ("ingress_lossy_pool", 299_300, 8)
    assert (own.egress_pool, own.egress_pool_bytes) == ("egress_lossy_pool", 500_000 - 3 * 1500)


DYNAMIC = {
    "DEVICE_METADATA": {"localhost": {"platform": "x86_64-nvidia_sn5600-r0", "buffer_model": "dynamic"}},
    "PORT": {"Ethernet0": {"speed": "800000", "lanes": "0,1,2,3,4,5,6,7", "admin_status": "up"}},
    "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "4192", "small_packet_percentage": "50"}},
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
    "BUFFER_POOL": {
        "ingress_lossless_pool": {"type": "ingress"},
        "egress_lossless_pool": {"type": "egress", "size": "158229504"},
    },
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "NULL"}},
}


def test_a_dynamic_switch_has_the_sizes_that_its_daemon_computes(tmp_path: Path) -> None:
    """800G over 40 m on 8 lanes: xon 38912, xoff 134144, and a size that contains both and a packet."""
    roce = switch(tmp_path, **DYNAMIC)
    group = roce.group("Ethernet0")
    assert (group.xon_bytes, group.headroom_bytes, group.pool) == (38_912, 134_144, "ingress_lossless_pool")
    size = 182_272  # 134144 + 38912 + 9100, to KiB
    assert group.reserve_bytes == size - group.headroom_bytes
    reserved = 2 * size + 37 * 1024 + 10 * 1024 + 256 * 1024  # groups, those of management, mirrors, the pool of both
    assert roce.pool_bytes("ingress_lossless_pool") == 158_229_504 - reserved
    assert roce.buffers.headroom_pool_bytes == 0


def test_a_ratio_gives_one_headroom_pool(tmp_path: Path) -> None:
    ratio = {"AZURE": {"default_dynamic_th": "0", "over_subscribe_ratio": "2"}}
    roce = switch(tmp_path, **{**DYNAMIC, "DEFAULT_LOSSLESS_BUFFER_PARAMETER": ratio})
    assert roce.group("Ethernet0").reserve_bytes == 38_912
    assert roce.buffers.headroom_pool_bytes == (2 * roce.group("Ethernet0").headroom_bytes - 10_240) // 2
    assert switch_buffers(roce).headroom_pool_bytes == roce.buffers.headroom_pool_bytes


def test_a_static_threshold_replaces_alpha_and_reserve(tmp_path: Path) -> None:
    roce = switch(tmp_path, BUFFER_PROFILE={"lossless": {**PROFILE, "static_th": "7000"}})
    group = roce.group("Ethernet0")
    assert (group.static_bytes, group.reserve_bytes) == (7000, 0)


@pytest.mark.parametrize("dynamic_th", ["9", "12345"])
def test_alpha_has_the_limits_of_sai(dynamic_th: str, tmp_path: Path) -> None:
    roce = switch(tmp_path, BUFFER_PROFILE={"lossless": {**PROFILE, "dynamic_th": dynamic_th}})
    assert roce.group("Ethernet0").alpha == 2.0**7


def test_the_switch_computes_a_profile_that_is_missing(tmp_path: Path) -> None:
    """Headroom for 40 m of 400G: the floor of 802.1Qbb, the response of the peer, and one packet for the pipeline."""
    roce = switch(
        tmp_path,
        BUFFER_PG={"Ethernet0|3-4": {"profile": "NULL"}},
        DEFAULT_LOSSLESS_BUFFER_PARAMETER={"AZURE": {"default_dynamic_th": "1"}},
    )
    group = roce.group("Ethernet0")
    assert (group.alpha, group.profile) == (2.0, "")
    assert group.headroom_bytes == 2 * 40 * 5 * 50 + 2 * PACKET_BYTES + 84 + 905 * 64 + PACKET_BYTES


def test_without_any_group_in_the_file_pfc_decides(tmp_path: Path) -> None:
    assert switch(tmp_path, BUFFER_PG={}).group("Ethernet0").lossless
    other = {"Ethernet0|4": {"profile": "lossless"}}
    assert not switch(tmp_path, BUFFER_PG=other).group("Ethernet0").lossless


@pytest.mark.parametrize(("dscp", "group"), [(None, 3), (26, 3), (34, 4), (8, 0)])
def test_the_dscp_selects_group_and_queue(dscp: int | None, group: int, tmp_path: Path) -> None:
    roce = switch(tmp_path, dscp=dscp)
    assert (roce.group_number("Ethernet0"), roce.queue_number("Ethernet0")) == (group, group)
    assert roce.group("Ethernet0").lossless == (group in (3, 4))


def test_a_port_channel_has_the_settings_of_its_members(tmp_path: Path) -> None:
    ports = {"Ethernet0": {"speed": "400000"}, "Ethernet4": {"speed": "400000"}}
    members = {f"PortChannel1|{port}": {} for port in ports}
    roce = switch(tmp_path, PORT=ports, PORTCHANNEL_MEMBER=members)
    assert roce.group("PortChannel1") == roce.group("Ethernet0")
    assert roce.cables.speed_mbps("PortChannel1") == 800_000


QUEUES = {
    "QUEUE": {"Ethernet0|3": {"wred_profile": "AZURE", "scheduler": "first"}},
    "SCHEDULER": {"first": {"type": "DWRR", "weight": "40"}},
    "WRED_PROFILE": {
        "AZURE": {
            "ecn": "ecn_all", "green_min_threshold": "100000", "green_max_threshold": "400000",
            "green_drop_probability": "5",
        }
    },
    "BUFFER_QUEUE": {"Ethernet0|3": {"profile": "lossy"}},
    "PFC_WD": {
        "GLOBAL": {"POLL_INTERVAL": "50"},
        "Ethernet0": {"detection_time": "200", "restoration_time": "400", "action": "forward"},
    },
}  # fmt: skip


def test_marking_scheduling_limit_and_watchdog_of_a_queue(tmp_path: Path) -> None:
    roce = switch(tmp_path, **QUEUES)
    assert roce.marking("Ethernet0") == Ecn(100_000, 400_000, 0.05)
    assert roce.scheduling("Ethernet0") == (False, 40)
    limit = roce.queue_profile("Ethernet0")
    assert limit is not None and limit.pool == "egress_lossy_pool"
    assert roce.watchdog("Ethernet0") == WatchdogTimers(200_000_000, 400_000_000, 50_000_000, WatchdogAction.FORWARD)
    assert marks(roce.device) and pfc_priorities(roce.device) == {3, 4}


def test_another_queue_has_none_of_these(tmp_path: Path) -> None:
    roce = switch(tmp_path, dscp=8, **QUEUES)
    assert roce.marking("Ethernet0") is roce.queue_profile("Ethernet0") is roce.watchdog("Ethernet0") is None
    assert roce.scheduling("Ethernet0") == (False, 1)


@pytest.mark.parametrize(("mode", "expected"), [("ecn_none", False), ("ecn_red", False), ("ecn_green_red", True)])
def test_roce_packets_are_green(mode: str, expected: bool, tmp_path: Path) -> None:
    wred = {"AZURE": {**QUEUES["WRED_PROFILE"]["AZURE"], "ecn": mode}}
    roce = switch(tmp_path, **{**QUEUES, "WRED_PROFILE": wred})
    assert marks(roce.device) is (roce.marking("Ethernet0") is not None) is expected


@pytest.mark.parametrize(("guarded", "watched"), [("4", False), ("3", True)])
def test_the_watchdog_watches_the_queues_of_pfcwd_sw_enable(guarded: str, watched: bool, tmp_path: Path) -> None:
    port_map = {"Ethernet0": {**PORT_QOS, "pfcwd_sw_enable": guarded}}
    assert (switch(tmp_path, PORT_QOS_MAP=port_map, **QUEUES).watchdog("Ethernet0") is not None) == watched


def test_files_without_ports_have_the_default_speed(tmp_path: Path) -> None:
    roce = switch(tmp_path, PORT={}, CABLE_LENGTH={})
    assert (roce.cables.speed_mbps("Ethernet0"), roce.cables.length_m("Ethernet0")) == (100_000, 0.0)


def test_numbers_out_of_range_do_no_harm(tmp_path: Path) -> None:
    """A DSCP that does not exist leaves packets on their priority; PFC has eight priorities."""
    port_map = {"Ethernet0": {**PORT_QOS, "pfc_enable": "3,12"}}
    roce = switch(tmp_path, dscp=99, PORT_QOS_MAP=port_map)
    assert roce.group_number("Ethernet0") == 3
    assert pfc_priorities(roce.device) == {3}


def test_the_pool_of_a_file_without_one_is_memory_without_headroom(tmp_path: Path) -> None:
    """32 MiB of the smallest ASIC, without the headroom of 40 m of 400G."""
    roce = switch(tmp_path, BUFFER_POOL={})
    assert roce.pool_bytes("ingress_lossless_pool") == (32 << 20) - (2 * 40 * 5 * 50 + 2 * 9100 + 84)
