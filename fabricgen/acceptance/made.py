"""The acceptance tests of a bundle, with the values that its files promise."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.acceptance.pairs import Attached, Pair, far_pairs, near_pairs, rails_of, together
from fabricgen.acceptance.planned import GBPS, GBYTES, STORMS, PlannedTest, Stage
from fabricgen.bundle.locality import Locality, localities
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint, WiredHost, WiredPlane, Wiring
from fabricgen.physics import DEFAULT_ROCE_MTU_BYTES, rdma_goodput_gbps
from fabricgen.sonic.tables import parse_priorities
from fabricgen.units import whole_number
from fabricgen.vocabulary import LinkKind, Purpose, Technology

# Queue pairs of a point-to-point test: the number of UDP source ports by which switches spread its packets.
QUEUE_PAIRS = 8
INCAST_WRITERS = 8
PACK_COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv")
FAILOVER_S = 30.0
_NCCL_TIMEOUT_S = 4.3  # NCCL_IB_TIMEOUT 20: 4.096 us * 2^20, after which a job ends
_BELOW = 1e-2  # the probability of a worse share in a bisection test that is not a defect

Uplinks = dict[str, list[Endpoint]]  # leaf -> its ports to higher switches

DROPS = "drops of lossless priority groups"
PAUSES_OR_MARKS = "PFC frames sent by the leaf, or packets that it marks"
STORM = "storms that the watchdog detects"
LOSSY = "packets in other queues than the lossless one"
_QUIET = (DROPS, STORM, LOSSY)


def made_tests(bundle: Bundle) -> Iterator[PlannedTest]:
    """The tests in the order of their stages; none for a bundle without hosts with GPUs on a compute plane."""
    wiring = bundle.wiring
    if wiring is None:
        return
    rails = rails_of(wiring)
    planes = {plane.name: plane for plane in wiring.planes}
    uplinks: Uplinks = {}
    for link in wiring.links:
        if link.kind == LinkKind.LEAF_SPINE:
            uplinks.setdefault(link.a[0], []).append(link.a)
    yield from _lldp(wiring)
    for stage in Stage:
        for (plane, nic, group), leaves in rails.items():
            several = sum((plane, nic) == key[:2] for key in rails) > 1
            prefix = f"{stage}/{plane}/{nic}" + (f"-{group}" if several else "")
            yield from _of_rail(stage, prefix, planes[plane], leaves, bundle, uplinks)
        if stage is Stage.COLLECTIVES:
            for root in localities(wiring):
                yield from _collectives(wiring, root)


def goodput_gbps(speed_mbps: int, plane: WiredPlane) -> float:
    """The payload that a NIC of the plane carries at most."""
    infiniband = plane.technology == Technology.INFINIBAND
    ipv6 = bool(plane.host_prefixes) and all(":" in prefix for prefix in plane.host_prefixes)
    return rdma_goodput_gbps(speed_mbps, plane.roce_mtu or DEFAULT_ROCE_MTU_BYTES, infiniband=infiniband, ipv6=ipv6)


def _lldp(wiring: Wiring) -> Iterator[PlannedTest]:
    """Every switch with a configuration reports its neighbours."""
    for device in wiring.devices:
        if device.plane not in wiring.infiniband_planes and device.state == "active":
            yield PlannedTest(f"{Stage.LLDP}/{device.name}", Stage.LLDP, plane=device.plane, at=(device.name, ""))


def _of_rail(
    stage: Stage,
    prefix: str,
    plane: WiredPlane,
    leaves: Mapping[str, Sequence[Attached]],
    bundle: Bundle,
    uplinks: Uplinks,
) -> Iterator[PlannedTest]:
    nics = [nic for at_leaf in leaves.values() for nic in at_leaf]
    far = list(far_pairs(leaves)) if stage in (Stage.FAR, Stage.BISECTION, Stage.FAILOVER) else []
    if stage is Stage.LOOPBACK:
        yield from (_pair(prefix, stage, plane, (nic, nic, 0)) for nic in nics)
    elif stage is Stage.NEAR:
        yield from (_pair(prefix, stage, plane, pair) for pair in near_pairs(leaves))
    elif stage is Stage.BACK:
        yield from (_pair(prefix, stage, plane, (b, a, number)) for a, b, number in near_pairs(leaves))
    elif stage is Stage.FAR:
        yield from (_pair(prefix, stage, plane, pair) for pair in far)
    elif stage is Stage.BISECTION:
        yield from _bisection(prefix, plane, far, uplinks)
    elif stage is Stage.RAILS and len(nics) > 1:
        hosts = tuple(nic.end[0] for nic in nics)
        yield collective_test(
            prefix, stage, plane, "all_reduce", hosts, nics[0].link.speed_mbps, 1, 1, nics[0].link.rail
        )
    elif stage is Stage.INCAST and len(nics) > 2:
        yield _incast(prefix, plane, nics)
    elif stage is Stage.WATCHDOG and _is_watched(bundle, nics[0].link.b):
        rail, at = nics[0].link.rail, nics[0].link.b
        yield PlannedTest(prefix, stage, STORMS, 1.0, 1.0, 1.0, plane.name, rail, nics[0].end, at=at)
    elif stage is Stage.FAILOVER and far:
        yield from _failover(prefix, plane, far[0], uplinks)


def _is_watched(bundle: Bundle, port: Endpoint) -> bool:
    """Whether a port has lossless priorities that the watchdog guards."""
    device = bundle.devices.get(port[0])
    return bool(
        device
        and parse_priorities(device.text_of("PORT_QOS_MAP", port[1], "pfc_enable"))
        and whole_number(device.text_of("PFC_WD", port[1], "detection_time"))
    )


def _pair(prefix: str, stage: Stage, plane: WiredPlane, pair: Pair, share: float = 1.0) -> PlannedTest:
    one, other, number = pair
    speed_mbps = min(one.link.speed_mbps, other.link.speed_mbps)
    expected = goodput_gbps(speed_mbps, plane)
    name = f"{prefix}/{one.end[0]}" + ("" if one is other else f"_{other.end[0]}")
    return pair_test(name, stage, plane, expected, (one.end, other.end), one.link.rail, share, number)


def pair_test(
    name: str, stage: Stage, plane: WiredPlane, expected_gbps: float, ends: tuple[Endpoint, Endpoint],
    rail: int | None, share: float = 1.0, number: int = 0,
) -> PlannedTest:  # fmt: skip
    """A test of two NICs, the writer first. `share` of the expected value is left where pairs collide; `number` is the
    round."""
    limit, floor = expected_gbps * POINT_TO_POINT.passes * share, expected_gbps * POINT_TO_POINT.fails * share
    return PlannedTest(
        name, stage, GBPS, round(expected_gbps, 2), round(limit, 2), round(floor, 2), plane.name, rail,
        *ends, round=number, must_not_rise=_QUIET,
    )  # fmt: skip


def _bisection(prefix: str, plane: WiredPlane, far: Sequence[Pair], uplinks: Uplinks) -> Iterator[PlannedTest]:
    """All pairs at once: hashes put several queue pairs on one link, so a pair may have less than its NIC carries."""
    from fabricgen.simulate.congestion.collisions import fullest_link  # loads numpy

    pairs = list(together(far))
    pairs_of = Counter(one.leaf for one, _, _ in pairs)
    share_of: dict[tuple[int, int], float] = {}
    for pair in pairs:
        key = pairs_of[pair[0].leaf], len(uplinks.get(pair[0].leaf, ()))
        if key not in share_of:
            likely = fullest_link(key[0] * QUEUE_PAIRS, key[1]).cumsum()
            most = next((count for count, at_most in enumerate(likely) if at_most > 1 - _BELOW), 0)
            share_of[key] = min(1.0, QUEUE_PAIRS / max(1, most))
        yield _pair(prefix, Stage.BISECTION, plane, pair, share_of[key])


def _incast(prefix: str, plane: WiredPlane, nics: Sequence[Attached]) -> PlannedTest:
    """Several NICs write to one: the writers are the farthest ones, so that pauses spread over switches."""
    writers = tuple(nic.end for nic in reversed(nics[1:]))[:INCAST_WRITERS]
    expected = goodput_gbps(nics[0].link.speed_mbps, plane)
    limit, floor = expected * POINT_TO_POINT.passes, expected * POINT_TO_POINT.fails
    return PlannedTest(
        prefix, Stage.INCAST, GBPS, round(expected, 2), round(limit, 2), round(floor, 2), plane.name,
        nics[0].link.rail, b=nics[0].end, writers=writers, must_rise=(PAUSES_OR_MARKS,), must_not_rise=_QUIET,
    )  # fmt: skip


def _failover(prefix: str, plane: WiredPlane, pair: Pair, uplinks: Uplinks) -> Iterator[PlannedTest]:
    """A pair across spines while a link of its leaf goes down. Another link must take over before NCCL gives up."""
    ports = uplinks.get(pair[0].leaf, [])
    if len(ports) > 1:
        test = _pair(prefix, Stage.FAILOVER, plane, pair)
        share = 1 - _NCCL_TIMEOUT_S / FAILOVER_S
        limit, floor = (test.expected or 0) * POINT_TO_POINT.passes * share, (test.expected or 0) / 2
        yield PlannedTest(
            test.id, test.stage, GBPS, test.expected, round(limit, 2), round(floor, 2), plane.name, test.rail,
            test.a, test.b, at=ports[0],
        )  # fmt: skip


def _collectives(wiring: Wiring, root: Locality) -> Iterator[PlannedTest]:
    """Every collective in each group of hosts: the units first, then what joins them."""
    hosts = {host.name: host for host in wiring.hosts}
    planes = {plane.name: plane for plane in wiring.planes if plane.purpose == Purpose.COMPUTE}
    gpus = {model.name: model.gpus for model in wiring.host_models}
    for group in root.within():
        first = hosts[group.hosts[0]]
        nics = [nic for nic in first.nics if nic.plane in planes]
        if len(group.hosts) < 2 or not _alike(group, hosts):
            continue
        ranks_of_host = gpus.get(first.model, len(nics))
        for collective in PACK_COLLECTIVES:
            yield collective_test(
                f"{Stage.COLLECTIVES}/{group.name}/{collective}", Stage.COLLECTIVES, planes[nics[0].plane], collective,
                group.hosts, nics[0].speed_mbps, len(nics), ranks_of_host,
            )  # fmt: skip


def _alike(group: Locality, hosts: Mapping[str, WiredHost]) -> bool:
    """Whether all hosts of a group have one model: a ceiling holds for equal hosts."""
    return len({hosts[name].model for name in group.hosts}) == 1


def collective_test(
    name: str, stage: Stage, plane: WiredPlane, collective: str, hosts: Sequence[str], speed_mbps: int, nics: int,
    ranks_of_host: int, rail: int | None = None,
) -> PlannedTest:  # fmt: skip
    """A test of a collective of COLLECTIVES among `hosts`, each with `nics` of `speed_mbps`."""
    ranks = len(hosts) * ranks_of_host
    expected = ceiling_gbytes(collective, goodput_gbps(speed_mbps, plane), nics, ranks, ranks_of_host)
    shares = shares_of(collective)
    return PlannedTest(
        name, stage, GBYTES, round(expected, 2), round(expected * shares.passes, 2), round(expected * shares.fails, 2),
        plane.name, rail, hosts=tuple(hosts), collective=collective, ranks_of_host=ranks_of_host, must_not_rise=_QUIET,
    )  # fmt: skip


# What a collective can reach at most across hosts: its bus bandwidth as nccl-tests prints it.
#
# Bus bandwidth is the algorithm's bandwidth times a factor that makes it comparable with the speed of one link (nccl-
# tests a0b82b2, doc/PERFORMANCE.md). These are bounds of the NICs: NVLink in the hosts does not limit them.

BITS = 8
_RINGS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
_ALL_TO_ALL = ("alltoall", "alltoallv")
_PAIRS = ("sendrecv",)
COLLECTIVES = (*_RINGS, *_ALL_TO_ALL, *_PAIRS)

# Shares of the ceiling: a measurement from `passes` is good, below `fails` it is a defect, and between them it is
# repeated. Good systems reach 0.93 to 0.98 with rings and 0.79 to 0.95 with all-to-all (results that the operators of
# GB200, GB300 and H100 systems publish); tools' own gates are at 0.89 and 0.54 (ROCm/cvs, rccl_config.json).
_SHARES = {"ring": (0.9, 0.8), "alltoall": (0.75, 0.5), "sendrecv": (0.9, 0.8)}


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of the ceiling from which a measurement passes, and below which it fails."""

    passes: float
    fails: float


POINT_TO_POINT = Shares(0.95, 0.9)


def shares_of(collective: str) -> Shares:
    """The shares of a collective of COLLECTIVES."""
    kind = "ring" if collective in _RINGS else "alltoall" if collective in _ALL_TO_ALL else "sendrecv"
    return Shares(*_SHARES[kind])


def ceiling_gbytes(collective: str, nic_gbps: float, nics: int, ranks: int, ranks_of_host: int) -> float:
    """The ceiling in GB/s of `ranks` GPUs with `ranks_of_host` in each host, whose `nics` carry `nic_gbps` each.

    A ring enters a host by one NIC and leaves by another, so all its NICs add up. In an all-to-all each GPU has its
    share of the NICs for what leaves the host.
    """
    host = nic_gbps / BITS * nics
    if collective in _RINGS:
        return host
    rank = host / ranks_of_host
    return rank * (ranks - 1) / (ranks - ranks_of_host) if collective in _ALL_TO_ALL else rank
