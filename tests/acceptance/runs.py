"""Runs of the acceptance tests as files: what a good fabric measures, with the faults of a test in it.

Values follow from the parts that a test uses, so a fault shows in every test that it would show in.
"""

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fabricgen.acceptance.made import made_tests
from fabricgen.acceptance.planned import PlannedTest, Stage, dump_tests
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint

# Lines that programs print: (regular expression, the statement that prints it).
FORMS = {
    "nccl-tests": [
        (r"# nccl-tests version \S+.*", "NVIDIA/nccl-tests src/common.cu, run"),
        (r"# nThread \d+ nGpus \d+ minBytes \d+ maxBytes \d+ step: \d+\((factor|bytes)\) warmup iters: .*", "the same"),
        (r"# Using devices|#|# +(out-of-place|size) .*", "the same, and src/all_reduce.cu"),
        (
            r"#  Rank ( \d|\d{2,}) Group ( \d|\d{2,}) Pid [ \d]{5}\d+ on +\S+ device ( \d|\d{2,}) \[[\da-f:]+\] .*",
            "the same",
        ),
        (r" *\d+ +\d+ +float +(sum|none) +-1( +[\d.]+ +[\d.]+ +[\d.]+ +(\d+|N/A)){2}", "the same, BenchTime"),
        (r"# Out of bounds values : \d+ (OK|FAILED)", "the same, run"),
        (r"# Avg bus bandwidth    : [\d.]+.*", "the same"),
    ],
    "pfcwd": [
        (
            r" *QUEUE +STATUS +STORM DETECTED/RESTORED( +[RT]X (LAST )?OK/DROP)*",
            "sonic-utilities pfcwd, show_stats",
        ),
        (r" *-+(  -+)*", "tabulate, simple"),
        (r" *\w+:\d  +(operational|stormed|N/A)( +\d+/\d+)+", "sonic-utilities pfcwd/main.py, collect_stats"),
    ],
}


def refuse_other_forms(program: str, text: str) -> None:
    """Fail on a line that a program cannot print."""
    for line in text.splitlines():
        assert any(re.fullmatch(form, line) for form, _ in FORMS[program]), f"{program} cannot print {line!r}"


COLUMNS = "              out-of-place                       in-place"


@dataclass
class Run:
    """A run. `speed` maps a NIC to its share of a good one, `alone` those that are also slow in loopback."""

    bundle: Bundle
    seed: int = 0
    speed: dict[Endpoint, float] = field(default_factory=dict)
    alone: set[Endpoint] = field(default_factory=set)
    together: dict[str, float] = field(default_factory=dict)  # leaf -> share of its pairs in the bisection
    absent: set[str] = field(default_factory=set)  # tests without a result
    ranks: dict[str, int] = field(default_factory=dict)  # host -> ranks that started in collectives
    neighbors: dict[Endpoint, Endpoint] = field(default_factory=dict)  # switch port -> far end that LLDP sees
    dropped: dict[tuple[str, str, int], int] = field(default_factory=dict)
    lossy: dict[Endpoint, int] = field(default_factory=dict)  # writer -> packets in queue 0 at its receivers
    storms: dict[tuple[str, str, int], int] = field(default_factory=dict)
    collectives: dict[str, float] = field(default_factory=dict)  # collective -> share of its ceiling in the first unit
    unread: set[str] = field(default_factory=set)  # switches without counters
    headroom: dict[tuple[str, str, int], int] = field(default_factory=dict)  # watermarks of (switch, port, group)
    shared: dict[tuple[str, str, int], int] = field(default_factory=dict)
    headroom_bytes: int = 20_000  # of all other groups 3
    queue_bytes: int = 300_000  # of all queues 3
    storm_found: bool = True
    paused: bool = True
    wrong: int = 0
    form: str = "text"  # of collectives: text, json, rccl
    unit: str = "Gb/s"

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.tests = list(made_tests(self.bundle))
        self.leaf_of = {link.a: link.b for link in self.bundle.host_links}

    def write(self, folder: Path) -> Path:
        """The folder of the scripts after a run."""
        results = folder / "results"
        put(folder / "tests.jsonl", dump_tests(self.tests).decode())
        for test in self.tests:
            if test.id in self.absent:
                continue
            if test.stage is Stage.LLDP:
                assert test.at
                put(results / f"{test.id}.json", json.dumps(self._lldp(test.at[0])))
            elif test.stage is Stage.INCAST:
                for number in range(len(test.writers)):
                    put(
                        results / f"{test.id}.{number}.json",
                        self._perftest(test, self._value(test) / len(test.writers)),
                    )
            elif test.hosts:
                put(results / f"{test.id}{'.txt' if self.form == 'text' else '.json'}", self._collective(test))
            elif test.stage is not Stage.WATCHDOG:
                put(results / f"{test.id}.json", self._perftest(test, self._value(test)))
        for moment in ("before", "after"):
            for name in self.bundle.devices.keys() - self.unread:
                self._counters(results / "counters" / moment / name, name, moment == "after")
            self._storms(results / "watchdog" / moment, int(moment == "after" and self.storm_found))
        return folder

    def _storms(self, folder: Path, storm: int) -> None:
        """What the watchdogs print at the switches of their tests."""
        watched = [test.at for test in self.tests if test.stage is Stage.WATCHDOG and test.at]
        for name in {name for name, _ in watched}:
            put(folder / name / "watchdog.txt", watchdog({(port, 3): storm for at, port in watched if at == name}))

    def _value(self, test: PlannedTest) -> float:
        """A value in the unit of the test: the slowest NIC decides."""
        noise = self.random.gauss(0.985, 0.003)
        shares = [1.0]
        ends = [end for end in (test.a, test.b) if end and (test.stage is not Stage.LOOPBACK or end in self.alone)]
        shares += [self.speed.get(end, 1.0) for end in ends]
        if test.hosts:
            rail = test.id.split("/")[2] if test.stage is Stage.RAILS else ""
            hosts = set(test.hosts)
            shares += [share for (host, nic), share in self.speed.items() if host in hosts and rail in ("", nic)]
            noise = self.random.gauss(0.85 if test.collective == "alltoall" else 0.95, 0.005)
        if test.stage is Stage.COLLECTIVES and "/su0/" in test.id and test.collective in self.collectives:
            noise = self.collectives[test.collective]
        if test.stage is Stage.BISECTION and test.a:
            shares.append(self.together.get(self.leaf_of[test.a][0], self.random.uniform(0.6, 1.0)))
        if test.stage is Stage.FAILOVER:
            shares.append(0.93)
        return (test.expected or 0) * noise * min(shares)

    def _perftest(self, test: PlannedTest, value: float) -> str:
        value = value if self.unit == "Gb/s" else value * 1e9 / 8 / 2**20
        info = {"test": "RDMA_Write_BW_Test", "Device": "mlx5_0", "Number_of_qps": 8, "Mtu": 4096}
        results = {"MsgSize": 1 << 20, "n_iterations": 9, "BW_peak": value, "BW_average": value, "MsgRate": 0.04}
        return json.dumps({"test_info": info, "results": results})

    def _collective(self, test: PlannedTest) -> str:
        ranks = [host for host in test.hosts for _ in range(self.ranks.get(host, test.ranks_of_host))]
        ranks = ranks if test.stage is Stage.COLLECTIVES else list(test.hosts)
        return {"text": nccl_text, "json": nccl_json, "rccl": rccl_json}[self.form](
            ranks, self._value(test), self.wrong
        )

    def _lldp(self, switch: str) -> object:
        entries = []
        for link in self.bundle.links:
            for near, far in ((link.a, link.b), (link.b, link.a)):
                if near[0] == switch:
                    seen = self.neighbors.get(near, far)
                    device = self.bundle.devices.get(seen[0])
                    port = device.text_of("PORT", seen[1], "alias") if device else seen[1]
                    chassis = [{"name": [{"value": seen[0]}]}]
                    entries.append({"name": near[1], "chassis": chassis, "port": [{"id": [{"value": port}]}]})
        return {"lldp": [{"interface": entries}]}

    def _counters(self, folder: Path, name: str, after: bool) -> None:
        ports = sorted({end[1] for end in self.bundle.link_at if end[0] == name})
        read_by = {test.b: test.a for test in self.tests if test.b and test.stage in (Stage.NEAR, Stage.BACK)}
        across = {test.b: test.a for test in self.tests if test.b and test.stage in (Stage.FAR, Stage.BISECTION)}
        of_port = {at: end for end, at in self.leaf_of.items()}
        queues, drops = {}, {}
        for port in ports:
            reader = of_port.get((name, port))
            lossy = sum(self.lossy.get(one[reader], 0) for one in (read_by, across) if one.get(reader))
            packets = {3: 5_000_000, 0: 300 + lossy}
            queues[port] = {
                f"UC{number}": {"totalpacket": f"{packets.get(number, 0) * after:,}", "dropbytes": "0"}
                for number in range(8)
            }
            drops[port] = [self.dropped.get((name, port, number), 0) * after for number in range(8)]
        put(folder / "queue-counters.json", json.dumps(queues))
        unmarked = {port: {f"UC{number}": {"ecnmarkedpacket": "0"} for number in range(8)} for port in ports}
        put(folder / "ecn.json", json.dumps(unmarked))
        put(folder / "pg-drops.txt", table("Ingress PG dropped packets:\n     Port", "PG", drops))
        for file, title, values, usual in (
            ("pg-headroom", "PG", self.headroom, self.headroom_bytes),
            ("pg-shared", "PG", self.shared, 5 * self.headroom_bytes),
            ("queue", "UC", {}, self.queue_bytes),
        ):
            rows = [
                {"Port": port} | {f"{title}{n}": str(values.get((name, port, n), usual * (n == 3))) for n in range(8)}
                for port in ports
            ]
            put(folder / f"{file}.json", json.dumps(rows))
        storms = {
            (port, queue): count * after for (device, port, queue), count in self.storms.items() if device == name
        }
        put(folder / "watchdog.txt", watchdog(storms))
        sent = {port: [7 * after * self.paused * (number == 3) for number in range(8)] for port in ports}
        quiet = {port: [0] * 8 for port in ports}
        put(folder / "pfc.txt", table("  Port Rx", "PFC", quiet) + "\n" + table("  Port Tx", "PFC", sent))


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def table(head: str, title: str, rows: Mapping[str, list[int]]) -> str:
    lines = [f"{head}    " + "  ".join(f"{title}{number}" for number in range(8)), "---------  " + "------  " * 8]
    lines += [f"{port}  " + "  ".join(f"{value:,}" for value in values) for port, values in rows.items()]
    return "\n".join(lines) + "\n"


def watchdog(storms: Mapping[tuple[str, int], int]) -> str:
    lines = [
        "      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP",
        "-----------  -----------  ---------  ----",
    ]
    lines += [f"{port}:{queue}  operational  {count}/{count}  100/0" for (port, queue), count in storms.items()]
    refuse_other_forms("pfcwd", "\n".join(lines))
    return "\n".join(lines) + "\n"


def nccl_text(ranks: list[str], value: float, wrong: int) -> str:
    devices = [
        f"#  Rank {number:2} Group  0 Pid {9000 + number:6} on {host:>10} device  0 [0000:18:00] NVIDIA H100 80GB HBM3"
        for number, host in enumerate(ranks)
    ]
    rows = [
        f"{size:>12}  {size // 4:>12}     float     sum      -1  {time:>7}  {bus / 1.9:6.2f}  {bus:6.2f}  {wrong:>6}"
        f"  {time:>7}  {bus / 1.9:6.2f}  {bus * 0.99:6.2f}  {wrong:>6}"
        for size, time, bus in ((1 << 30, 5000, value * 0.9), (1 << 33, 41000, value))
    ]
    head = "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 8589934592 step: 2(factor) warmup iters: 1 iters: 20"
    lines = ["# nccl-tests version 2.19.6", head, "# Using devices", *devices, "#", f"#{COLUMNS}", *rows]
    text = "\n".join([*lines, "# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {value * 0.95}", "#"]) + "\n"
    refuse_other_forms("nccl-tests", text)
    return text


def nccl_json(ranks: list[str], value: float, wrong: int) -> str:
    half = {"time": 41000.0, "alg_bw": value / 1.9, "bus_bw": value, "nwrong": float(wrong)}
    devices = [{"rank": number, "hostname": host, "device": 0} for number, host in enumerate(ranks)]
    row = {
        "size": 1 << 33,
        "count": 1 << 31,
        "type": "float",
        "out_of_place": half,
        "in_place": {**half, "nwrong": 0.0},
    }
    content = {
        "version": 1,
        "args": [],
        "env": ["SECRET=1"],
        "nccl_version": 23007,
        "devices": devices,
        "results": [row],
    }
    return json.dumps(content)


def rccl_json(ranks: list[str], value: float, wrong: int) -> str:
    row = {"name": "x", "nodes": len(set(ranks)), "ranks": len(ranks), "size": 1 << 33, "inPlace": 0, "busBw": value}
    return "\n".join(json.dumps({**row, "wrong": str(wrong), "inPlace": place}) for place in (0, 1))
