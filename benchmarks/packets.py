"""Packet hops per second of CPU, memory, and the start of `simulate packets`.

python -m benchmarks.packets [--peer FOLDER] [--cold] [--draws BUNDLE] [--counters]

A random permutation of flows over two tiers at 1:1 with 100 Gb/s and PFC, at 128, 1,024 and 4,096 hosts; flows start
together, or spread over 20 us. FOLDER contains another simulator as pktsim.py with runcase.py, which is measured on the
same scenarios in the same run; it and `hpcc` have the rules of ns-3. --cold also measures the first compilation,
--draws the speed-up of eight draws on two cores for all-to-all on a bundle. --counters prints the instructions and
cache misses of a hop instead, which do not depend on what else the machine runs: valgrind counts them in a part of
each run, with caches of CACHES. It needs valgrind with its headers, and gcc.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import fabricgen

SHAPES = {128: (8, 16, 16, 1000), 1024: (32, 32, 32, 500), 4096: (64, 64, 64, 150)}  # leaves, hosts, spines, packets
SPREAD_NS = 20_000
COUNTED_NS = {128: 6000, 1024: 1000, 4096: 200}  # of a run, from 8 us on
CACHES = {"L1": "32768,8,64", "L2": "524288,16,64", "L3": "33554432,16,64"}  # bytes, ways and line of those of a core
_MODES = ("", "hpcc")

_OURS = """
import json, resource, sys, time
from dataclasses import replace
from pathlib import Path
from fabricgen.results import Compat
from fabricgen.simulate.packets import prepare
prepare(lambda text: None)
from fabricgen.simulate.packets.network import build
from fabricgen.simulate.packets.simulation import advance_to
from fabricgen.simulate.scenario import read_scenario
scenario = replace(read_scenario(Path(sys.argv[1])), compat=Compat(sys.argv[3]))
advance_to(build(scenario), 1)
best = 0.0
for _ in range(int(sys.argv[2])):
    begun = time.process_time()
    network = build(scenario)
    set_up = time.process_time() - begun
    begun = time.process_time()
    advance_to(network, scenario.stop_ns * network.ticks_per_ns)
    best = max(best, network.run.clock["transmissions"][0] / (time.process_time() - begun))
print(json.dumps([best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, set_up]))
"""

_PEER = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[3])
import runcase
case = runcase.load(sys.argv[1])
runcase.run(case, tend=10)
best = 0.0
for _ in range(int(sys.argv[2])):
    begun = time.process_time()
    hops = runcase.run(case)[0][5]
    best = max(best, hops / (time.process_time() - begun))
print(json.dumps([best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


_SWITCH = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void end(void) { CALLGRIND_STOP_INSTRUMENTATION; }
"""

_COUNTED = """
import ctypes, json, sys
from dataclasses import replace
from pathlib import Path
from fabricgen.results import Compat
from fabricgen.simulate.packets import prepare
prepare(lambda text: None)
from fabricgen.simulate.packets.network import build
from fabricgen.simulate.packets.simulation import advance_to
from fabricgen.simulate.scenario import read_scenario
network = build(replace(read_scenario(Path(sys.argv[1])), compat=Compat.NONE))
advance_to(network, 8_000 * network.ticks_per_ns)
before = int(network.run.clock["transmissions"][0])
switch = ctypes.CDLL(sys.argv[3])
switch.begin()
advance_to(network, (8_000 + int(sys.argv[2])) * network.ticks_per_ns)
switch.end()
print(json.dumps([float(int(network.run.clock["transmissions"][0]) - before)]))
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--draws", type=Path)
    parser.add_argument("--counters", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fabricgen-bench-") as folder:
        if given.counters:
            print_counters(Path(folder))
            return
        print_packets(Path(folder), given.peer, cold=given.cold)
    if given.draws:
        print_draws(given.draws)


def print_packets(folder: Path, peer: Path | None = None, *, cold: bool = False) -> None:
    """Print the table of hop rates, and the time of a start. A ratio is that to the rate at 128 hosts."""
    small = folder / "small.json"
    small.write_text(json.dumps(permutation(2, 2, 2, 10, 0)))
    if cold:
        print(f"first start, compiling: {_start_cpu_s(small, folder / 'cache'):.1f} s CPU")
    _start_cpu_s(small)
    print(f"start: {_start_cpu_s(small):.2f} s CPU")
    print("packets | hosts | starts   | simulator | M hops/s of CPU | of 128 hosts | MiB  | set-up")
    first: dict[tuple[int, str], float] = {}
    for hosts, shape in SHAPES.items():
        for spread_ns in (SPREAD_NS, 0):
            file = folder / f"permutation-{hosts}-{spread_ns}.json"
            file.write_text(json.dumps(permutation(*shape, spread_ns)))
            starts = "spread" if spread_ns else "together"
            runs = [(mode or "exact", _OURS, mode) for mode in _MODES]
            runs += [("peer", _PEER, str(peer.resolve()))] if peer else []
            for name, code, argument in runs:
                rate, memory, *set_up = _measured(code, str(file), "5" if hosts < 1000 else "3", argument)
                share = rate / first.setdefault((spread_ns, name), rate)
                line = (
                    f"        | {hosts:5} | {starts:8} | {name:9} | {rate / 1e6:15.2f} | {share:12.2f} | {memory:4.0f}"
                )
                print(line + "".join(f" | {time:.2f} s" for time in set_up), flush=True)


def print_counters(folder: Path) -> None:
    """Print the instructions and cache misses of a hop at each size. valgrind does not count prefetches."""
    source, library = folder / "switch.c", folder / "switch.so"
    source.write_text(_SWITCH)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    print("counters | hosts | instructions of a hop | misses of L1 | of L2 | of L3")
    for hosts, shape in SHAPES.items():
        file = folder / f"permutation-{hosts}.json"
        file.write_text(json.dumps(permutation(*shape, 0)))
        l2 = _counted(file, hosts, library, "L2")
        l3 = _counted(file, hosts, library, "L3")
        print(f"         | {hosts:5} | {l2[0]:21.0f} | {l2[1]:12.1f} | {l2[2]:5.2f} | {l3[2]:5.2f}", flush=True)


def _counted(file: Path, hosts: int, library: Path, last: str) -> list[float]:
    """Instructions, misses of L1, and misses of the last of two caches, of a hop."""
    counts = file.with_suffix(".counts")
    # the machine code of a named processor, which valgrind does not make numba compile again
    environment = {**os.environ, "NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
    arguments = [sys.executable, "-c", _COUNTED, str(file), str(COUNTED_NS[hosts]), str(library)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    [hops] = json.loads(done.stdout.splitlines()[-1])
    options = ["--instr-atstart=no", "--cache-sim=yes", f"--D1={CACHES['L1']}", f"--LL={CACHES[last]}"]
    command = ["valgrind", "-q", "--tool=callgrind", *options, f"--callgrind-out-file={counts}", *arguments]
    subprocess.run(command, env=environment, capture_output=True, check=True)
    lines = dict(line.partition(": ")[::2] for line in counts.read_text().splitlines() if ": " in line)
    found = dict(zip(lines["events"].split(), map(int, lines["totals"].split()), strict=True))
    misses = (found["D1mr"] + found["D1mw"], found["DLmr"] + found["DLmw"])
    return [count / hops for count in (found["Ir"], *misses)]


def print_draws(bundle: Path) -> None:
    """Print the wall time of eight draws in one and in two processes."""
    times = []
    for jobs in ("1", "2"):
        command = ["simulate", "packets", str(bundle), "--pattern", "all-to-all", "--draws", "8"]
        begun = time.perf_counter()
        subprocess.run(fabricgen("-q", "--jobs", jobs, *command), stdout=subprocess.DEVNULL, check=False)
        times.append(time.perf_counter() - begun)
    one, two = times
    print(f"eight draws: {one:.1f} s in one process, {two:.1f} s in two, {one / two:.2f} times as fast")


def _measured(code: str, *arguments: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _start_cpu_s(file: Path, cache: Path | None = None) -> float:
    """CPU of a whole run of a small scenario, with another cache of machine code if one is given."""
    environment = {**os.environ, **({"XDG_CACHE_HOME": str(cache)} if cache else {})}
    before = os.times()
    command = fabricgen("-q", "simulate", "packets", "--scenario", str(file))
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def permutation(leaves: int, hosts: int, spines: int, packets: int, spread_ns: int) -> dict[str, Any]:
    """A scenario: each of `hosts` hosts on each leaf sends to one other host, over the spine of that host."""
    host = [f"h{number}" for number in range(leaves * hosts)]
    leaf, spine = [f"l{number}" for number in range(leaves)], [f"s{number}" for number in range(spines)]
    draw = random.Random(7)
    order = draw.sample(range(len(host)), len(host))
    links = [(name, leaf[number // hosts]) for number, name in enumerate(host)]
    links += [(low, high) for low in leaf for high in spine]
    routes = [
        (low, name, name if number // hosts == place else spine[number % spines])
        for place, low in enumerate(leaf)
        for number, name in enumerate(host)
    ]
    routes += [(high, name, leaf[number // hosts]) for high in spine for number, name in enumerate(host)]
    return {
        "format": "fabricgen-scenario/1",
        "name": f"permutation-{leaves * hosts}",
        "compat": "hpcc",
        "nodes": [
            *({"name": name, "kind": "host"} for name in host),
            *({"name": name, "kind": "switch"} for name in (*leaf, *spine)),
        ],
        "switch_defaults": {
            "buffer_bytes": 8 << 20, "pg_reserve_bytes": 4096, "pg_headroom_bytes": 37_500, "alpha": 0.125,
            "xon_offset_bytes": 3072,
        },
        "transport": {
            "payload_bytes": 1000, "header_bytes": 48, "ack_bytes": 60, "pfc_frame_bytes": 43, "ack_lossless": False,
            "congestion_control": "none",
        },
        "links": [{"a": a, "b": b, "speed_gbps": 100, "delay_ns": 1000} for a, b in links],
        "flows": [
            {"src": f"h{source}", "dst": f"h{target}", "bytes": packets * 1000, "start_ns": draw.randint(0, spread_ns)}
            for source, target in enumerate(order)
            if source != target
        ],
        "routes": [{"at": at, "to": to, "via": via} for at, to, via in routes],
        "stop_ns": 20_000_000,
    }  # fmt: skip


if __name__ == "__main__":
    main()
