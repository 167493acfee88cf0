"""Packet hops per second of CPU, memory, and the start of `simulate packets`.

python -m benchmarks.packets [--peer FOLDER] [--cold]

A random permutation of 1 MB flows over a fat tree of 100 Gb/s with PFC, at 128 and at 1,024 hosts. FOLDER contains
another simulator as pktsim.py with runcase.py, which is measured on the same scenario in the same run. --cold also
measures the first compilation.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import fabricgen

RADIX = {128: 8, 1024: 16}
PACKETS = 1000  # of each flow

_OURS = """
import json, resource, sys, time
from pathlib import Path
from fabricgen.simulate.packets import prepare
prepare(lambda text: None)
from fabricgen.simulate.packets.network import build
from fabricgen.simulate.packets.advance import advance_to
from fabricgen.simulate.scenario import read_scenario
scenario = read_scenario(Path(sys.argv[1]))
advance_to(build(scenario), 1)
best = 0.0
for _ in range(int(sys.argv[2])):
    network = build(scenario)
    begun = time.process_time()
    advance_to(network, scenario.stop_ns)
    best = max(best, network.run.clock["transmissions"][0] / (time.process_time() - begun))
print(json.dumps([best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--cold", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fabricgen-bench-") as folder:
        print_packets(Path(folder), given.peer, cold=given.cold)


def print_packets(folder: Path, peer: Path | None = None, *, cold: bool = False) -> None:
    """Print the table of hop rates, and the time of a start."""
    small = folder / "small.json"
    small.write_text(json.dumps(permutation(4, 10)))
    if cold:
        print(f"first start, compiling: {_start_cpu_s(small, folder / 'cache'):.1f} s CPU")
    _start_cpu_s(small)
    print(f"start: {_start_cpu_s(small):.2f} s CPU")
    print("packets | hosts | M hops per s of CPU | MiB" + (" | peer M hops/s | MiB | ratio" if peer else ""))
    for hosts, radix in RADIX.items():
        file = folder / f"permutation-{hosts}.json"
        file.write_text(json.dumps(permutation(radix, PACKETS)))
        runs = "5" if hosts < 1000 else "2"
        rate, memory = _measured(_OURS, str(file), runs)
        line = f"        | {hosts:5} | {rate / 1e6:19.2f} | {memory:3.0f}"
        if peer:
            other, its = _measured(_PEER, str(file), runs, str(peer.resolve()))
            line += f" | {other / 1e6:13.2f} | {its:3.0f} | {rate / other:5.2f}"
        print(line)


def _measured(code: str, *arguments: str) -> tuple[float, float]:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    rate, memory = json.loads(done.stdout.splitlines()[-1])
    return rate, memory


def _start_cpu_s(file: Path, cache: Path | None = None) -> float:
    """CPU of a whole run of a small scenario, with another cache of machine code if one is given."""
    environment = {**os.environ, **({"XDG_CACHE_HOME": str(cache)} if cache else {})}
    before = os.times()
    command = fabricgen("-q", "simulate", "packets", "--scenario", str(file))
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def permutation(radix: int, packets: int) -> dict[str, Any]:
    """A scenario: each host of a fat tree of switches with `radix` ports sends to one other host."""
    half = radix // 2
    hosts = radix * half * half
    order = list(range(hosts))
    random.Random(1).shuffle(order)
    return {
        "format": "fabricgen-scenario/1",
        "name": f"permutation-{hosts}",
        "compat": "hpcc",
        "nodes": [
            *({"name": f"h{number}", "kind": "host"} for number in range(hosts)),
            *({"name": name, "kind": "switch"} for name in dict.fromkeys(_switches(radix))),
        ],
        "switch_defaults": {
            "buffer_bytes": 4 << 20, "pg_reserve_bytes": 4096, "pg_headroom_bytes": 37_500, "alpha": 0.125,
            "xon_offset_bytes": 3072,
        },
        "transport": {
            "payload_bytes": 1000, "header_bytes": 48, "ack_bytes": 60, "pfc_frame_bytes": 43, "ack_lossless": False,
            "congestion_control": "none",
        },
        "links": [{"a": a, "b": b, "speed_gbps": 100, "delay_ns": 1000} for a, b in _links(radix)],
        "flows": [
            {"src": f"h{source}", "dst": f"h{target}", "bytes": packets * 1000, "start_ns": 0}
            for source, target in enumerate(order)
            if source != target
        ],
        "routes": [{"at": at, "to": f"h{to}", "via": via} for at, to, via in _routes(radix)],
        "stop_ns": 20_000_000,
    }  # fmt: skip


def _switches(radix: int) -> Iterator[str]:
    half = radix // 2
    for pod in range(radix):
        yield from (f"e{pod}-{place}" for place in range(half))
        yield from (f"a{pod}-{place}" for place in range(half))
    yield from (f"c{group}-{place}" for group in range(half) for place in range(half))


def _links(radix: int) -> Iterator[tuple[str, str]]:
    half = radix // 2
    for host in range(radix * half * half):
        yield f"h{host}", f"e{host // (half * half)}-{host // half % half}"
    for pod in range(radix):
        for low in range(half):
            for high in range(half):
                yield f"e{pod}-{low}", f"a{pod}-{high}"
                yield f"a{pod}-{low}", f"c{low}-{high}"


def _routes(radix: int) -> Iterator[tuple[str, int, str]]:
    half = radix // 2
    for host in range(radix * half * half):
        home, leaf, group, place = host // (half * half), host // half % half, host % half, host // half % half
        yield f"c{group}-{place}", host, f"a{home}-{group}"
        for pod in range(radix):
            yield f"a{pod}-{group}", host, f"e{home}-{leaf}" if pod == home else f"c{group}-{place}"
            for low in range(half):
                here = (pod, low) == (home, leaf)
                yield f"e{pod}-{low}", host, f"h{host}" if here else f"a{pod}-{group}"


if __name__ == "__main__":
    main()
