"""Result files as people have them: the first line names the true cause, or says that it cannot tell; never another."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fabricgen.acceptance.planned import GBPS
from fabricgen.acceptance.results import read_result
from fabricgen.api import render
from fabricgen.bundle.read import Bundle, open_bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.vocabulary import LinkKind
from tests.acceptance.printed import (
    ERRORS,
    FEC,
    ethtool,
    nccl_json,
    nccl_log,
    nccl_text,
    osu_bw,
    osu_collective,
    perftest_json,
    perftest_text,
    portstat,
    rccl_json,
)  # fmt: skip
from tests.acceptance.runs import put, table
from tests.acceptance.test_faults import judged
from tests.conftest import Cli
from tests.inventories import ARISTA, rail_optimized, write

GOOD, UNITS = 388.0, 2
HOSTS = [f"gpu-{number:03d}" for number in range(8)]
RAILS = [f"rail{number}" for number in range(8)]
L0, L1 = "compute-su00-r0-leaf", "compute-su01-r0-leaf"
RANKS = [host for host in HOSTS for _ in range(8)]


@dataclass
class Lab:
    """Files of a fabric of two units of four hosts with eight rails."""

    bundle: Bundle
    folder: Path
    shares: dict[tuple[Endpoint, Endpoint], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.bundle.wiring
        self.address = {
            (host.name, nic.name): nic.addresses[0].partition("/")[0]
            for host in self.bundle.wiring.hosts
            for nic in host.nics
            if nic.addresses
        }
        self.leaf = {link.a: link.b for link in self.bundle.host_links}

    def near(self) -> list[tuple[Endpoint, Endpoint]]:
        """Pairs at one leaf, in each direction, each NIC with two partners."""
        return [
            ((HOSTS[4 * unit + a], rail), (HOSTS[4 * unit + b], rail))
            for unit in range(UNITS)
            for rail in RAILS
            for a, b in ((0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (2, 0), (1, 3), (3, 1))
        ]

    def far(self) -> list[tuple[Endpoint, Endpoint]]:
        """Pairs across spines, in each direction."""
        pairs = [((HOSTS[number], rail), (HOSTS[4 + number], rail)) for rail in RAILS for number in range(4)]
        return [*pairs, *((b, a) for a, b in pairs)]

    def pairs(
        self, slow: Callable[[Endpoint, Endpoint], float] = lambda _a, _b: 1.0, *, folder: str = "pairs",
        near: bool = True, far: bool = True, form: str = "text",
    ) -> None:  # fmt: skip
        """A file of ib_write_bw or osu_bw for each pair; `slow` is the share that a pair reaches."""
        for a, b in [*(self.near() if near else ()), *(self.far() if far else ())]:
            value = GOOD * slow(a, b)
            name = f"{folder}/{a[0]}_{a[1]}_{b[0]}_{b[1]}"
            if form == "json":
                put(self.folder / f"{name}.json", perftest_json(value, f"mlx5_{RAILS.index(a[1])}"))
            elif form == "osu":
                put(self.folder / f"{a[1]}/{a[0]}_{b[0]}.txt", osu_bw(value))
            else:
                server = form == "server"
                ends = (self.address[b], self.address[a]) if server else (self.address[a], self.address[b])
                unit = "MiB/sec" if form == "mib" else "Gb/sec"
                number = len(list((self.folder / folder).glob("*"))) if (self.folder / folder).is_dir() else 0
                text = perftest_text(*ends, value, device=f"mlx5_{RAILS.index(a[1])}", server=server, unit=unit)
                put(self.folder / folder / f"run{number:04d}.txt", text)

    def counters(self, nic: Endpoint, **risen: int) -> None:
        """ethtool -S of a NIC before and after."""
        usual = {"rx_packets": 5, "rx_prio3_pause": 0, "tx_prio3_pause": 0, "rx_symbol_err_phy": 0}
        put(self.folder / "before" / nic[0] / f"ethtool-{nic[1]}.txt", ethtool(usual))
        after = {
            **usual,
            "rx_packets": 9_000_000,
            **{name: usual.get(name, 0) + value for name, value in risen.items()},
        }
        put(self.folder / "after" / nic[0] / f"ethtool-{nic[1]}.txt", ethtool(after))

    def errors(self, switch: str, rises: dict[str, dict[str, int]], *, as_json: bool = False) -> None:
        """`show interfaces counters errors` and `fec-stats` of a switch before and after."""
        ports = [end[1] for end in self.bundle.link_at if end[0] == switch]
        for moment, factor in (("before", 0), ("after", 1)):  # FEC corrects much on each port with PAM4
            usual = {"RX_ERR": 2, "FEC_CORR": 130_402 * (1 + factor), "FEC_UNCORR": 1, "FEC_SYMBOL_ERR": 77 * factor}
            values = {
                port: {name: value + factor * rises.get(port, {}).get(name, 0) for name, value in usual.items()}
                for port in ports
            }
            put(self.folder / moment / switch / "errors.txt", portstat(ERRORS, values, as_json=as_json))
            put(self.folder / moment / switch / "fec.txt", portstat(FEC, values, as_json=as_json))

    def to_spine(self, leaf: str, number: int) -> tuple[Endpoint, Endpoint]:
        """The leaf's end and the spine's end of an uplink."""
        links = [link for link in self.bundle.links if link.a[0] == leaf]
        return links[number].a, links[number].b

    def uplinks(self, leaf: str, packets: list[int]) -> None:
        """`show queue counters --json` of a leaf before and after: packets of queue 3 of its uplinks."""
        ports = sorted(link.a[1] for link in self.bundle.links if link.a[0] == leaf)
        for moment, factor in (("before", 0), ("after", 1)):
            queues = {
                port: {"UC3": {"totalpacket": f"{packets[number % len(packets)] * factor:,}"}}
                for number, port in enumerate(ports)
            }
            put(self.folder / moment / leaf / "queue-counters.json", json.dumps(queues))


def touches(*ends: Endpoint) -> Callable[[Endpoint, Endpoint], bool]:
    return lambda a, b: a in ends or b in ends


def slow_if(test: Callable[[Endpoint, Endpoint], bool], share: float) -> Callable[[Endpoint, Endpoint], float]:
    return lambda a, b: share if test(a, b) else 1.0


Build = Callable[[Lab], None]


def pairs_and(build: Build) -> Build:
    def both(lab: Lab) -> None:
        lab.pairs()
        build(lab)

    return both


def collective(program: str, value: float, **options: Any) -> Build:
    return lambda lab: put(lab.folder / f"{program}.txt", nccl_text(program, RANKS, value, **options))


def without_gdr(lab: Lab) -> None:
    log = nccl_log(HOSTS[0], [f"mlx5_{number}" for number in range(8)], gdr=False)
    collective("all_reduce", 96.0, log=log)(lab)


def four_nics(lab: Lab) -> None:
    log = nccl_log(HOSTS[0], [f"mlx5_{number}" for number in range(4)])
    put(lab.folder / "ar.log", nccl_text("all_gather", RANKS, 190.0, log=log, per_iteration=True))


def all_to_all(version: str, gdr: bool = True) -> Build:
    """An all-to-all over all NICs, without PXN, of a version of NCCL or RCCL."""

    def build(lab: Lab) -> None:
        log = nccl_log(HOSTS[0], [f"mlx5_{number}" for number in range(8)], gdr=gdr, version=version)
        put(lab.folder / "alltoall.txt", nccl_text("alltoall", RANKS, 14.0, log=log))

    return build


def sockets(lab: Lab) -> None:
    log = nccl_log(HOSTS[0], [], gdr=False, transport="Socket")
    put(lab.folder / "all_reduce.log", nccl_text("all_reduce", RANKS, 11.0, log=log, is_rccl=True))


def bad_cable(lab: Lab) -> None:
    lab.pairs(slow_if(touches(("gpu-005", "rail2")), 0.6), form="server")
    lab.counters(("gpu-005", "rail2"), rx_symbol_err_phy=812_334)


def held_by_pcie(lab: Lab) -> None:
    lab.pairs(slow_if(lambda _a, b: b == ("gpu-006", "rail4"), 0.48), near=True, far=True)
    lab.counters(("gpu-006", "rail4"), tx_prio3_pause=44_121)


def collided(lab: Lab) -> None:
    lab.pairs()
    order = [0.98, 0.5, 0.97, 0.33]
    lab_far = [pair for pair in lab.far() if lab.leaf[pair[0]][0] == L0]
    for number, (a, b) in enumerate(lab_far):
        text = perftest_text(lab.address[a], lab.address[b], GOOD * order[number])
        put(lab.folder / "bisection" / f"run{number}.txt", text)
    lab.uplinks(L0, [9_000_000, 1_000_000, 1_200_000, 800_000])


def lost_uplinks(lab: Lab) -> None:
    lab.pairs()
    for number, (a, b) in enumerate(pair for pair in lab.far() if lab.leaf[pair[0]][0] == L0):
        put(lab.folder / "together" / f"run{number}.txt", perftest_text(lab.address[a], lab.address[b], GOOD * 0.42))
    lab.uplinks(L0, [3_000_000])


def one_slow_pair(lab: Lab) -> None:
    a, b = ("gpu-000", "rail0"), ("gpu-001", "rail0")
    put(lab.folder / "pair.txt", perftest_text(lab.address[a], lab.address[b], 180.0))


def one_slow_pair_with_errors(lab: Lab) -> None:
    one_slow_pair(lab)
    lab.counters(("gpu-001", "rail0"), rx_pcs_symbol_err_phy=9_911)


def osu_slow_all_reduce(lab: Lab) -> None:
    """200 GB/s of 16 ranks."""
    times = {1 << 28: 2 * (1 << 28) * 15 / 16 / 180e3, 1 << 30: 2 * (1 << 30) * 15 / 16 / 200e3}
    put(lab.folder / "osu_allreduce" / "gpu-000_gpu-001.txt", osu_collective("Allreduce", times))


def osu_with_pairs(lab: Lab) -> None:
    lab.pairs(slow_if(touches(("gpu-003", "rail6")), 0.7), form="osu")


def host_that_does_not_take(lab: Lab) -> None:
    """With errors of a good NIC elsewhere, which are not the cause."""
    lab.pairs(slow_if(lambda _a, b: b[0] == "gpu-002", 0.5))
    lab.counters(("gpu-005", "rail1"), rx_symbol_err_phy=17)
    for rail in RAILS:
        lab.counters(("gpu-002", rail), tx_prio3_pause=5500)


def cleared_counters(lab: Lab) -> None:
    lab.pairs(slow_if(touches(("gpu-005", "rail2")), 0.6))
    lab.counters(("gpu-005", "rail2"), rx_symbol_err_phy=40_122)
    put(lab.folder / "before" / "gpu-005" / "ethtool-rail2.txt", ethtool({"rx_symbol_err_phy": 9_123_456}))


def of_launcher(prefix: str, value: float) -> Build:
    """Lines as a launcher prints them, with others around."""

    def build(lab: Lab) -> None:
        lines = nccl_text("all_gather", RANKS, value).splitlines()
        text = "\n".join(["+ mpirun ...", *(prefix + line for line in lines), "slurmstepd: done"])
        put(lab.folder / "job.out", text)

    return build


def stopped_early(lab: Lab) -> None:
    """32 and 64 MiB, and then an error."""
    text = nccl_text("all_reduce", RANKS, 110.0).replace(f"{1 << 30:12d}  ", f"{1 << 25:12d}  ")
    lines = [line.replace(f"{1 << 33:12d}  ", f"{1 << 26:12d}  ") for line in text.splitlines() if "Avg" not in line]
    lines = [line.replace("102.30", " 86.00") for line in lines]
    put(lab.folder / "all_reduce.txt", "\n".join([*lines, "gpu-003: Test NCCL failure common.cu:401"]))


def one_small_size(lab: Lab) -> None:
    text = nccl_text("all_reduce", RANKS, 86.0).splitlines()
    rows = [line.replace(f"{1 << 33:12d}  ", f"{1 << 25:12d}  ") for line in text if f"{1 << 30:12d}  " not in line]
    put(lab.folder / "all_reduce.txt", "\n".join(rows))


def failed_pair(lab: Lab) -> None:
    """perftest -a stops at 512 bytes."""
    lab.pairs()
    file = lab.folder / "pairs" / "run0005.txt"
    error = (
        " Completion with error at client\n Failed status transport retry counter exceeded (12): wr_id 0 syndrom 0x81"
    )
    put(file, f"{file.read_text().replace('388.00', '24.20')}{error}\n")


def with_service_level(lab: Lab) -> None:
    """RESULT_FMT_G_QOS: a column more."""
    lab.pairs(slow_if(touches(("gpu-007", "rail1")), 0.8))
    for file in (lab.folder / "pairs").iterdir():
        text = file.read_text().replace(" #bytes     #iterations", " #bytes    #sl      #iterations")
        put(file, re.sub(r"^( 1048576 +)(\d+ +)([\d.]+)", r"\g<1>3           \2 500.00", text, flags=re.MULTILINE))


def osu_of_rccl(lab: Lab) -> None:
    lab.pairs(form="osu")
    text = osu_collective("Allreduce", {size: 2 * size * 63 / 64 / 200e3 for size in (1 << 28, 1 << 30)})
    put(lab.folder / "all" / f"{'_'.join(HOSTS)}.txt", text.replace("# OSU MPI-CUDA", "# OSU RCCL-ROCM"))


def counters_only(lab: Lab) -> None:
    lab.uplinks(L0, [9_000_000, 1_000_000, 1_200_000, 800_000])


def counters_with_loss(lab: Lab) -> None:
    port = lab.leaf["gpu-000", "rail0"][1]
    for moment, lost in (("before", 0), ("after", 1234)):
        rows = {port: [0, 0, 0, lost, 0, 0, 0, 0]}
        put(lab.folder / moment / L0 / "pg-drops.txt", table("Ingress PG dropped packets:\n     Port", "PG", rows))


def one_slow_far_pair(lab: Lab) -> None:
    """Its flows hash to a link with errors; all other pairs are good."""
    slow = (("gpu-002", "rail0"), ("gpu-006", "rail0"))
    lab.pairs(slow_if(lambda a, b: (a, b) == slow, 0.6))


def uplink_with_errors(lab: Lab) -> None:
    one_slow_far_pair(lab)
    end, spine = lab.to_spine(L0, 2)
    lab.errors(L0, {})
    lab.errors(spine[0], {spine[1]: {"FEC_UNCORR": 4711, "RX_ERR": 4711}})
    assert end[0] == L0


def errors_that_are_passed_on(lab: Lab) -> None:
    """A switch that forwards cut-through sends damaged frames on: RX_ERR rises at the next leaf, too."""
    one_slow_far_pair(lab)
    near, far = lab.to_spine(L0, 1)
    onward, _ = lab.to_spine(L1, 0)
    lab.errors(far[0], {far[1]: {"FEC_UNCORR": 900, "RX_ERR": 900}})
    lab.errors(L1, {onward[1]: {"RX_ERR": 450}}, as_json=True)
    assert near[0] == L0


def errors_elsewhere(lab: Lab) -> None:
    """Slow pairs at a NIC of one unit, errors on an uplink that these pairs do not use."""
    lab.pairs(slow_if(touches(("gpu-002", "rail1")), 0.7), far=False)
    lab.errors(L1, {lab.to_spine(L1, 0)[0][1]: {"FEC_UNCORR": 3}})


def uplinks_with_errors(lab: Lab) -> None:
    lab.pairs()
    for number in range(4):
        a, b = ((HOSTS[4 * unit + number], "rail0") for unit in range(UNITS))
        text = perftest_text(lab.address[a], lab.address[b], GOOD * (0.5 + 0.05 * number), device="mlx5_0")
        put(lab.folder / "bisection" / f"run{number}.txt", text)
    ports = [lab.to_spine(L0, number)[0][1] for number in (0, 1, 3)]
    lab.errors(L0, {port: {"FEC_UNCORR": 12_000, "RX_ERR": 12_000} for port in ports})


def slow_collective_and_errors(lab: Lab) -> None:
    lab.pairs()
    collective("all_reduce", 216.5)(lab)
    lab.errors(L0, {lab.to_spine(L0, 0)[0][1]: {"FEC_UNCORR": 12}})


def errors_and_nothing_slow(lab: Lab) -> None:
    lab.pairs()
    lab.errors(L0, {lab.leaf["gpu-003", "rail0"][1]: {"FEC_UNCORR": 12}}, as_json=True)


def errors_only(lab: Lab) -> None:
    lab.errors(L0, {lab.to_spine(L0, 0)[0][1]: {"RX_ERR": 12}})


@dataclass(frozen=True)
class Case:
    name: str
    build: Build
    cause: str  # as in the JSON report
    words: str  # in the sentence or its evidence


CASES = [
    Case(
        "nccl-text", pairs_and(collective("all_reduce", 216.5)),
        "collectives", "every pair reaches 388 Gb/s, all 8 rails alike",
    ),
    Case(
        "nccl-json", pairs_and(lambda lab: put(lab.folder / "x.json", nccl_json("all_gather", RANKS, 101.0))),
        "collectives", "links are not the cause",
    ),
    Case(
        "nccl-without-gdr", pairs_and(without_gdr),
        "collectives", "16 of 16 connections of NCCL are without GPUDirect RDMA",
    ),
    Case(
        "nccl-four-nics", pairs_and(four_nics),
        "collectives", "NCCL uses 4 of 8 NICs of a host",
    ),
    Case(
        "rccl-without-pxn", pairs_and(all_to_all("RCCL version : 2.21.5-HEAD:0cbce2a")),
        "collectives", "RCCL 2.21.5 does not use PXN: NCCL_PXN_DISABLE is 1 by default",
    ),
    Case(
        "nccl-pxn-needs-gdr", pairs_and(all_to_all("NCCL version 2.30.7+cuda13.0", gdr=False)),
        "collectives", "NCCL 2.30.7 uses PXN only with GPUDirect RDMA",
    ),
    Case(
        "nccl-pxn-off", pairs_and(all_to_all("gpu-000:9000:9100 [0] NCCL INFO NCCL version 2.27.5+cuda12.9")),
        "collectives", "NCCL 2.27.5 does not use PXN: look for NCCL_PXN_DISABLE",
    ),
    Case(
        "rccl-sockets", pairs_and(sockets),
        "collectives", "NCCL uses TCP sockets, not RDMA",
    ),
    Case(
        "rccl-json", pairs_and(lambda lab: put(lab.folder / "r.json", rccl_json("AllReduce", 8, 64, 150.0))),
        "collectives", "links are not the cause",
    ),
    Case(
        "slow-nic", lambda lab: lab.pairs(slow_if(touches(("gpu-002", "rail3")), 0.5)),
        "nic", "gpu-002 rail3 is slow with every partner",
    ),
    Case(
        "slow-nic-json", lambda lab: lab.pairs(slow_if(touches(("gpu-007", "rail0")), 0.8), form="json"),
        "nic", "gpu-007 rail0",
    ),
    Case(
        "slow-nic-osu", osu_with_pairs,
        "nic", "gpu-003 rail6",
    ),
    Case(
        "bad-cable", bad_cable,
        "cable", "the cable of gpu-005 rail2 has errors",
    ),
    Case(
        "slow-host", lambda lab: lab.pairs(slow_if(lambda a, b: "gpu-004" in (a[0], b[0]), 0.7), form="mib"),
        "host", "all NICs of gpu-004",
    ),
    Case(
        "held-by-pcie", held_by_pcie,
        "host", "gpu-006 does not take what arrives at rail4",
    ),
    Case(
        "slow-rail", lambda lab: lab.pairs(slow_if(lambda a, _b: a[1] == "rail5", 0.5)),
        "rail", "one rail is slow: rail5",
    ),
    Case(
        "slow-leaf", lambda lab: lab.pairs(slow_if(lambda a, b: L1 in (lab.leaf[a][0], lab.leaf[b][0]), 0.6)),
        "leaf", f"all NICs at {L1}",
    ),
    Case(
        "one-direction", lambda lab: lab.pairs(slow_if(lambda a, _b: a == ("gpu-001", "rail7"), 0.4)),
        "direction", "gpu-001 rail7 sends slowly and receives well",
    ),
    Case(
        "one-direction-of-uplinks",
        lambda lab: lab.pairs(slow_if(lambda a, b: lab.leaf[b][0] == L0 != lab.leaf[a][0], 0.5)),
        "direction", "over the spines",
    ),
    Case(
        "hash-collision", collided,
        "hash collisions", f"hash collisions on the uplinks of {L0}",
    ),
    Case(
        "lost-uplinks", lost_uplinks,
        "uplinks", f"the uplinks of {L0} carry less together than alone",
    ),
    Case(
        "one-slow-pair", one_slow_pair,
        "unknown", "cannot tell whether gpu-000 rail0 or gpu-001 rail0 is slow",
    ),
    Case(
        "only-osu-all-reduce", osu_slow_all_reduce,
        "unknown", "cannot tell why all_reduce is slow: no pair of NICs was measured",
    ),
    Case(
        "all-slow-alike", lambda lab: lab.pairs(lambda _a, _b: 0.5),
        "unknown", "cannot tell which part is slow: all 192 tests are slow alike",
    ),
    Case(
        "stopped-early", pairs_and(stopped_early),
        "unknown", "cannot tell whether all_reduce is slow: the largest buffer has 64MiB",
    ),
    Case(
        "one-small-size", pairs_and(one_small_size),
        "unknown", "cannot tell whether all_reduce is slow: the largest buffer has 32MiB",
    ),
    Case(
        "host-that-does-not-take", host_that_does_not_take,
        "host", "gpu-002 does not take what arrives at rail0, rail1, rail2",
    ),
    Case(
        "host-that-sends-slowly", lambda lab: lab.pairs(slow_if(lambda a, _b: a[0] == "gpu-002", 0.5)),
        "direction", "gpu-002 sends slowly and receives well, over all its NICs",
    ),
    Case(
        "cleared-counters", cleared_counters,
        "cable", "rx_symbol_err_phy rose by 40122",
    ),
    Case(
        "mpirun-tag-output", pairs_and(of_launcher("[1,0]<stdout>:", 190.0)),
        "collectives", "links are not the cause",
    ),
    Case(
        "prterun", pairs_and(of_launcher("[prterun-head-11@1,0]<stdout>: ", 190.0)),
        "collectives", "links are not the cause",
    ),
    Case(
        "srun-label", pairs_and(of_launcher(" 0: ", 190.0)),
        "collectives", "links are not the cause",
    ),
    Case(
        "failed-pair", failed_pair,
        "unknown", "1 of 192 tests have no result; the others are not slow",
    ),
    Case(
        "perftest-with-service-level", with_service_level,
        "nic", "gpu-007 rail1 is slow with every partner",
    ),
    Case(
        "osu-of-rccl", osu_of_rccl,
        "collectives", "all_reduce: 200.0 of 392.15 GB/s",
    ),
    Case(
        "counters-only", counters_only,
        "unknown", "counters of 1 of 17 switches were read (lost packets: of 0, pause storms: of 0, damaged frames: "
        "of 0), without a fault",
    ),
    Case(
        "counters-only-with-loss", counters_with_loss,
        "lost packets", "lost 1234 packets of priority group 3",
    ),
    Case(
        "one-slow-pair-with-errors", one_slow_pair_with_errors,
        "cable", "the cable of gpu-001 rail0 has errors",
    ),
    Case(
        "uplink-with-errors", uplink_with_errors,
        "cable", "FEC_UNCORR rose by 4711",
    ),
    Case(
        "one-slow-far-pair-without-errors", one_slow_far_pair,
        "unknown", "1 slow test without a NIC, host, leaf or rail in common",
    ),
    Case(
        "errors-that-are-passed-on", errors_that_are_passed_on,
        "cable", "the cable from compute-su00-r0-leaf",
    ),
    Case(
        "errors-elsewhere", errors_elsewhere,
        "nic", "gpu-002 rail1 is slow with every partner",
    ),
    Case(
        "uplinks-with-errors", uplinks_with_errors,
        "uplinks", "3 of 4 uplinks of compute-su00-r0-leaf have errors",
    ),
    Case(
        "slow-collective-and-errors", slow_collective_and_errors,
        "unknown", "every pair is good, but 1 link had errors",
    ),
    Case(
        "errors-and-nothing-slow", errors_and_nothing_slow,
        "cable", "nothing that was measured is slow, but the cable of gpu-003 rail0 has errors",
    ),
    Case(
        "errors-only", errors_only,
        "cable", "no pair and no collective was measured, but the cable from compute-su00-r0-leaf",
    ),
]  # fmt: skip


def causes(cli: Cli, fabric: Path, folder: Path) -> list[dict[str, Any]]:
    _, report = judged(cli, fabric, folder)
    found: list[dict[str, Any]] = report["acceptance"]["causes"]
    return found


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_sentence_names_the_cause(case: Case, fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    case.build(Lab(opened, tmp_path / "results"))
    found = causes(cli, fabric, tmp_path / "results")
    said = [(one["cause"], one["sentence"], one["evidence"]) for one in found]
    assert [one["cause"] for one in found] == [case.cause], said
    assert case.words in " ".join([found[0]["sentence"], *found[0]["evidence"]]), said
    assert found[0]["next"]


def test_errors_that_fec_corrects_are_no_fault(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    lab = Lab(opened, tmp_path / "results")
    lab.pairs()
    lab.errors(L0, {})
    _, report = judged(cli, fabric, tmp_path / "results")
    assert [one["sentence"] for one in report["acceptance"]["causes"]] == [
        "nothing is slow: 192 pairs reach what the files promise"
    ]
    assert "FG975" not in {one["code"] for one in report["findings"]}


STORAGE = {
    "design": "fat-tree",
    "purpose": "storage",
    "hosts": ["gpu"],
    "scalable_unit": {"hosts": 8, "planned": 1},
    "leaf": {"platform": ARISTA},
    "spine": {"platform": ARISTA, "count": 2},
    "speed": "400G",
    "addressing": {"loopbacks": "10.1.0.0/16", "links": "10.192.0.0/11", "hosts": "10.224.0.0/12"},
}


def two_planes(folder: Path) -> Lab:
    """The fabric with a second plane."""
    tree = rail_optimized()
    tree["planes"]["storage"] = STORAGE
    render(write(folder / "in", tree), folder / "bundle")
    return Lab(open_bundle([folder / "bundle"]), folder / "results")


@pytest.mark.parametrize("plane", ["compute", "storage"])
def test_only_links_that_a_collective_can_use_are_why_it_may_be_slow(plane: str, tmp_path: Path, cli: Cli) -> None:
    """Errors on a link of the storage plane do not hide what the log of NCCL shows; the finding is there."""
    lab = two_planes(tmp_path)
    lab.pairs()
    without_gdr(lab)
    link = next(one for one in lab.bundle.links if one.plane == plane and one.kind is LinkKind.LEAF_SPINE)
    lab.errors(link.a[0], {link.a[1]: {"FEC_UNCORR": 12}})
    _, report = judged(cli, tmp_path / "bundle", lab.folder)
    (cause,) = report["acceptance"]["causes"]
    wanted = "every pair is good, but 1 link had errors" if plane == "compute" else "are without GPUDirect RDMA"
    assert wanted in cause["sentence"]
    assert [one["device"] for one in report["findings"] if one["code"] == "FG975"] == [link.a[0]]


def test_pairs_of_one_compute_plane_do_not_clear_the_other(tmp_path: Path, cli: Cli) -> None:
    """A collective uses the NICs of all compute planes, so those of the second one were not measured."""
    two_planes(tmp_path)
    file = tmp_path / "bundle" / "fabric.json"
    put(file, file.read_text().replace('"purpose":"storage"', '"purpose":"compute"'))
    lab = Lab(open_bundle([tmp_path / "bundle"]), tmp_path / "results")
    lab.pairs()
    without_gdr(lab)
    (cause,) = causes(cli, tmp_path / "bundle", lab.folder)
    assert cause["cause"] == "unknown" and "16 NICs of its hosts have no good pair test" in cause["sentence"]


def test_links_with_errors_are_findings(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    lab = Lab(opened, tmp_path / "results")
    errors_that_are_passed_on(lab)
    _, report = judged(cli, fabric, tmp_path / "results")
    of_links = [(one["device"], one["path"]) for one in report["findings"] if one["code"] == "FG975"]
    assert of_links == [(lab.to_spine(L0, 1)[1][0], f"PORT|{lab.to_spine(L0, 1)[1][1]}")]


def test_errors_that_are_not_whole_json_are_refused(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    lab = Lab(opened, tmp_path / "results")
    lab.errors(L0, {}, as_json=True)
    file = tmp_path / "results" / "after" / L0 / "fec.txt"
    put(file, file.read_text()[:-20])
    outcome = cli("accept", fabric, tmp_path / "results")
    assert outcome.code == 2
    assert f"{file}:" in outcome.err and "not JSON" in outcome.err


@pytest.mark.parametrize("name", ["queue-counters.json", "ecn.json", "pg-headroom.json", "errors.txt"])
@pytest.mark.parametrize("content", ['{"Ethernet0": 5}', '["x"]', '[{"PG0": "5"}]', "5", '"x"'])
def test_counters_of_another_shape_are_refused_or_left_out(
    name: str, content: str, fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli
) -> None:
    lab = Lab(opened, tmp_path / "results")
    lab.pairs(near=False)
    for moment in ("before", "after"):
        put(tmp_path / "results" / moment / L0 / name, content)
    outcome = cli("accept", fabric, tmp_path / "results")
    assert outcome.code != 3, outcome.err
    if content == "5" and name != "errors.txt":  # which can be a table
        assert outcome.code == 2 and f"{L0}/{name}: not the output of the switch: expected" in outcome.err


def test_errors_of_links_are_among_the_codes_that_were_checked(
    fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli
) -> None:
    Lab(opened, tmp_path / "results").pairs()
    outcome = cli("-q", "accept", fabric, tmp_path / "results", "--format", "junit")
    assert "FG975" in outcome.out


def test_hosts_with_gpus_of_amd_have_the_words_of_rccl(tmp_path: Path, cli: Cli) -> None:
    render(write(tmp_path / "in", rail_optimized(hosts=8, unit=4, planned=2, model="mi300x")), tmp_path / "bundle")
    lab = Lab(open_bundle([tmp_path / "bundle"]), tmp_path / "results")
    lab.pairs()
    version = "RCCL version : 2.21.5-HEAD:0cbce2a"
    log = nccl_log(HOSTS[0], [f"bnxt_re{number}" for number in range(8)], gdr=False, channels=4, version=version)
    put(lab.folder / "all_reduce.txt", nccl_text("all_reduce", RANKS, 150.0, log=log, is_rccl=True))
    (cause,) = causes(cli, tmp_path / "bundle", lab.folder)
    words = " ".join([cause["sentence"], *cause["evidence"]])
    assert "16 of 16 connections of RCCL are without GPUDirect RDMA" in words
    assert "RCCL has 4 channels for 8 NICs" in words and "NCCL" not in words.replace("RCCL", "")
    log = nccl_log(HOSTS[0], [f"bnxt_re{number}" for number in range(8)], version=version)
    put(lab.folder / "all_reduce.txt", nccl_text("alltoall", RANKS, 12.0, log=log, is_rccl=True))
    (lab.folder / "all_reduce.txt").rename(lab.folder / "alltoall.txt")
    (cause,) = causes(cli, tmp_path / "bundle", lab.folder)
    assert cause["next"] == "set NCCL_PXN_DISABLE=0 for the job, and run alltoall_perf again"


def test_good_files_have_no_cause(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    lab = Lab(opened, tmp_path / "results")
    pairs_and(collective("all_reduce", 371.0))(lab)
    put(lab.folder / "notes.txt", "run on Tuesday\n")
    outcome = cli("accept", fabric, lab.folder)
    sentence = "cause: nothing is slow: 192 pairs and 1 collective reach what the files promise; 1 file not judged\n"
    assert (outcome.code, sentence in outcome.out) == (0, True)
    assert "notes.txt: not a result of a known program" in outcome.out


# Published runs (facts: the repositories and numbers are beside each).


def test_gb300_of_nvidia_aicr_passes(tmp_path: Path, cli: Cli) -> None:
    """NVIDIA/aicr 1413 and 1428: 2 hosts of 4 GPUs and 8 devices of 400G, NCCL 2.29, all_reduce of 8 GB: 387 GB/s,
    98.7 % of the ceiling."""
    from fabricgen.api import render

    tree = rail_optimized(hosts=2, unit=2, planned=1, model="gb300", subplanes=2)
    nic = {"model": "ConnectX-8", "speed": "400G", "plane": "compute", "rails": 4}
    nics = [{"name": f"rail{{rail}}{'ab'[port]}", "port": port, **nic} for port in (0, 1)]
    tree["host_models"] = {"gb300": {"gpus": 4, "nvlink_domain": 4, "nics": nics}}
    render(write(tmp_path / "in", tree), tmp_path / "bundle")
    hosts = [host for host in ("gpu-000", "gpu-001") for _ in range(4)]
    put(tmp_path / "all_reduce.txt", nccl_text("all_reduce", hosts, 387.0, version="2.17.6"))
    code, report = judged(cli, tmp_path / "bundle", tmp_path / "all_reduce.txt")
    row = report["acceptance"]["measurements"][0]
    assert (code, row["verdict"], row["expected"], row["limit"]) == (0, "pass", 392.15, 352.93)
    assert row["value"] / row["expected"] == pytest.approx(0.987, abs=0.001)
    assert report["acceptance"]["causes"][0]["cause"] == "none"


PUBLISHED = [
    ("all_reduce", 216.5),
    ("all_reduce", 231.0),
    ("all_gather", 101.0),
    ("alltoall", 25.0),
    ("sendrecv", 13.1),
]


@pytest.mark.parametrize(("program", "value"), PUBLISHED)
def test_the_pairs_of_nccl_2409_are_good_and_its_collectives_are_not(
    program: str, value: float, fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli
) -> None:
    """NVIDIA/nccl 2409: 2 hosts of 8 H100 and 8 NICs of 400G, NCCL 2.31.2: pairs at 392 Gb/s, collectives at half."""
    lab = Lab(opened, tmp_path / "results")
    for rail in RAILS:
        for a, b in ((HOSTS[0], HOSTS[1]), (HOSTS[1], HOSTS[0])):
            text = perftest_text(lab.address[a, rail], lab.address[b, rail], 392.0)
            put(lab.folder / f"{a}-{rail}.txt", text)
    ranks = [host for host in HOSTS[:2] for _ in range(8)]
    put(lab.folder / "nccl.txt", nccl_text(program, ranks, value))
    code, report = judged(cli, fabric, lab.folder)
    verdicts = {one["test"]: one["verdict"] for one in report["acceptance"]["measurements"]}
    assert (code, verdicts.pop("nccl"), set(verdicts.values())) == (1, "fail", {"pass"})
    (cause,) = report["acceptance"]["causes"]
    assert cause["sentence"] == (
        "links are not the cause: every pair reaches 392 Gb/s, all 8 rails alike; "
        "look at NCCL: channels, PXN, GPUDirect RDMA"
    )
    assert "NCCL_DEBUG=INFO" in cause["next"]


@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("server", [False, True])
def test_the_direction_of_perftest(reads: bool, server: bool, tmp_path: Path) -> None:
    """The client writes to the server, and reads from it."""
    title = "RDMA_Read BW" if reads else "RDMA_Write BW"
    put(tmp_path / "a.txt", perftest_text("10.64.0.1", "fd00::9", 200.0, server=server, title=title))
    found = read_result(tmp_path / "a.txt", GBPS)
    expected = ("10.64.0.1", "fd00::9")
    assert (found.value, found.ends) == (200.0, expected if reads == server else expected[::-1])
    put(tmp_path / "a.txt", perftest_text("10.64.0.1", "fd00::9", 700.0, title="Send Bidirectional BW"))
    assert read_result(tmp_path / "a.txt", GBPS).value == 350.0


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", perftest_text("192.0.2.1", "192.0.2.2", 200.0), "no host of the fabric has the address 192.0.2.1"),
        ("gpu-000_gpu-001.txt", osu_bw(200.0), "does not say which of the 8 NICs of gpu-000 it measured"),
        ("x.txt", osu_bw(200.0), "its path does not have the names of two hosts"),
        ("x.txt", osu_collective("Allreduce", {1: 1.0}), "it does not say which hosts ran"),
        ("x.txt", osu_collective("Alltoallv", {1: 1.0}), "OSU Alltoallv"),
        ("all_reduce.txt", nccl_text("all_reduce", ["other"] * 8 + ["gpu-000"] * 8, 1.0), "other is not a host"),
    ],
)
def test_a_file_that_says_nothing_of_this_fabric(
    name: str, content: str, reason: str, fabric: Path, tmp_path: Path, cli: Cli
) -> None:
    put(tmp_path / "r" / name, content)
    outcome = cli("accept", fabric, tmp_path / "r" / name)
    assert (outcome.code, reason in outcome.err) == (2, True), outcome.err


def test_the_form_of_the_ietf(fabric: Path, opened: Bundle, tmp_path: Path, cli: Cli) -> None:
    """Uplinks that sent 9.0, 1.0, 1.2 and 0.8 million packets: JFI = 12^2 / (4 * 84.08), MMR = 9 / 3."""
    lab = Lab(opened, tmp_path / "results")
    collided(lab)
    collective("all_reduce", 371.0)(lab)
    report = cli("accept", fabric, lab.folder, "--format", "bmwg").out
    assert f"| {L0} | 4 | 0.428 | 3.00 |" in report
    assert "| all_reduce | 2968.0 | 94.6% |" in report  # GB/s of nccl-tests in Gb/s, over the goodput of the NICs
    assert "### Baseline Throughput" in report and "CV of value over goodput" in report
    assert not [word for word in ("pass", "fail", "acceptable") if f" {word} " in report]
    code, found = judged(cli, fabric, lab.folder)
    (fairness,) = found["acceptance"]["link_fairness"]
    assert (code, fairness["device"], fairness["jfi"], fairness["mmr"]) == (1, L0, 0.4282, 3.0)
