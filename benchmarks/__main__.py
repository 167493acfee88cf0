"""All benchmarks, with peers for comparison. CPU seconds of whole processes, because wall time depends on other load.

python -m benchmarks [--quick]        --quick omits the largest fabric of the peer and the fabric with 100,000 GPUs
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.differing import differing_copy
from benchmarks.make_dumps import ADAPTERS, add_levels
from benchmarks.make_dumps import main as make_dumps
from benchmarks.make_inventory import main as make_inventory
from benchmarks.measure import Cost, fabricgen, run, typical
from benchmarks.packets import print_packets

SIZES = (32, 128, 512)
LARGE_GPUS = 102_400
SUBNET_GPUS = 16_384
PEER_SPINES = {32: 8, 128: 32, 512: 32}


def main() -> None:
    """Measure and print one table for each question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(f"fabricgen --help: {typical(fabricgen('--help'), 5).cpu_s * 1000:.0f} ms CPU")
    with tempfile.TemporaryDirectory(prefix="fabricgen-bench-") as folder:
        ours = {size: _render(Path(folder), size) for size in SIZES}
        peer = {size: _peer(size) for size in SIZES if not (quick and size > 128)}
        _print_render(ours, peer)
        _print_stages(Path(folder))
        _print_judges(Path(folder))
        _print_report(Path(folder))
        _print_growth(Path(folder))
        _print_diff(Path(folder))
        print(f"\ndeadlock of {SIZES[-1]} switches beside networkx and rustworkx")
        bundle = str(Path(folder) / f"bundle-{SIZES[-1]}")
        subprocess.run([sys.executable, "-m", "benchmarks.deadlock", bundle, "--peers"], check=True)
        _print_credit_loops(Path(folder) / "dumps", quick)
        print()
        print_packets(Path(folder))
        _print_subnet(Path(folder))
        if not quick:
            _print_large(Path(folder))
            print("\ntime with one process and with two, if two cores are idle", flush=True)
            subprocess.run([sys.executable, "-m", "benchmarks.processes"], check=True)
    print("\ncongestion", flush=True)
    subprocess.run([sys.executable, "-m", "benchmarks.congestion", "--seeds", "0" if quick else "3"], check=True)
    print("\npublished measurements of how traffic meets on links", flush=True)
    milliseconds = "2" if quick else "100"
    subprocess.run([sys.executable, "-m", "benchmarks.published", "--milliseconds", milliseconds], check=True)


def _print_large(folder: Path) -> None:
    inventory = folder / "large"
    make_inventory(["--gpus", str(LARGE_GPUS), str(inventory)])
    cost = run(fabricgen("--jobs", "1", "render", str(inventory), "--output", str(folder / "large-bundle")))
    devices = len(list((folder / "large-bundle" / "sonic").iterdir()))
    print(f"\nrender of {LARGE_GPUS} GPUs, {devices} switches: {cost.cpu_s:.1f} s CPU, {cost.rss_mib:.0f} MiB")
    print("\ndeadlock on the same, stage by stage")
    subprocess.run([sys.executable, "-m", "benchmarks.deadlock", str(folder / "large-bundle")], check=True)


def _print_subnet(folder: Path) -> None:
    """Render one large subnet and check the number of its LIDs. Expected: less than 20 s of CPU."""
    inventory, bundle = folder / "subnet", folder / "subnet-bundle"
    make_inventory(["--gpus", str(SUBNET_GPUS), "--infiniband", str(inventory)])
    cost = run(fabricgen("render", str(inventory), "--output", str(bundle)))
    wired = json.loads((bundle / "fabric.json").read_bytes())
    switches, endpoints = len(wired["devices"]), sum(len(host["nics"]) for host in wired["hosts"])
    counted = subprocess.run(
        fabricgen("capacity", str(inventory), "--format", "json"), capture_output=True, text=True, check=True
    )
    lids = json.loads(counted.stdout)["capacity"]["planes"][0]["lids"]
    assert (endpoints, lids) == (SUBNET_GPUS, endpoints + switches), f"{lids} LIDs of {endpoints} + {switches}"
    size = f"{SUBNET_GPUS} GPUs on InfiniBand, {switches} switches, {lids} LIDs of 49151"
    print(f"\nrender of {size}: {cost.cpu_s:.1f} s CPU, {cost.rss_mib:.0f} MiB")


def _print_credit_loops(folder: Path, quick: bool) -> None:
    """ibdmchk takes up to two minutes and crashes after its verdict, so its exit code is ignored."""
    make_dumps(folder)
    files = f"-s {folder}/opensm-subnet.lst -f {folder}/tables.fdbs -m {folder}/none.mcfdbs"
    ibdmchk = None if quick else shutil.which("ibdmchk")
    print(f"\ncredit loops on the dumps of {ADAPTERS} adapters | CPU s | MiB | ibdmchk CPU s | ratio")
    for what, more in (("one SL", ""), ("an SL for each pair", f"-c {folder}/path.psl")):
        if more:
            add_levels(folder)
        cost = run(fabricgen("simulate", "deadlock", "--lfts", str(folder)))
        line = f"{what:42} | {cost.cpu_s:5.1f} | {cost.rss_mib:3.0f}"
        if ibdmchk:
            peer = run(["sh", "-c", f"{ibdmchk} {files} {more}; true"])
            line += f" | {peer.cpu_s:13.1f} | {peer.cpu_s / cost.cpu_s:4.0f}x"
        print(line)


def _render(folder: Path, switches: int) -> Cost:
    inventory, bundle = folder / f"inventory-{switches}", folder / f"bundle-{switches}"
    if make_inventory(["--switches", str(switches), str(inventory)]) != 0:
        raise SystemExit(f"no inventory for {switches} switches")
    run(fabricgen("render", str(inventory), "--output", str(bundle)))
    shutil.rmtree(bundle)
    return run(fabricgen("render", str(inventory), "--output", str(bundle)))


def _peer(switches: int) -> Cost:
    spines = PEER_SPINES[switches]
    return run([sys.executable, "-m", "benchmarks.peer_avd", str(spines), str(switches - spines)])


def _print_render(ours: dict[int, Cost], peer: dict[int, Cost]) -> None:
    print("\nrender, 64-port switches | CPU s | ms CPU per device | MiB | pyavd CPU s | pyavd ms per device | ratio")
    for size, cost in ours.items():
        line = f"{size:24} | {cost.cpu_s:5.2f} | {cost.cpu_s / size * 1000:17.1f} | {cost.rss_mib:3.0f}"
        if size in peer:
            other = peer[size].cpu_s
            line += f" | {other:11.1f} | {other / size * 1000:19.0f} | {other / cost.cpu_s:5.0f}x"
        print(line)
    print(f"time(4n)/time(n): {', '.join(f'{ours[4 * n].cpu_s / ours[n].cpu_s:.2f}' for n in SIZES[:-1])}")


def _print_stages(folder: Path) -> None:
    print(f"\nstages of {SIZES[-1]} switches in one process")
    inventory = str(folder / f"inventory-{SIZES[-1]}")
    subprocess.run([sys.executable, "-m", "benchmarks.stages", inventory], check=True)


def _print_judges(folder: Path) -> None:
    print("\njudging the rendered files | switches | CPU s | MiB")
    for size in SIZES:
        bundle = str(folder / f"bundle-{size}")
        for name, arguments in (("validate", ("validate", bundle)), ("deadlock", ("simulate", "deadlock", bundle))):
            cost = run(fabricgen(*arguments, "--fail-on", "never"))
            print(f"{name:26} | {size:8} | {cost.cpu_s:5.2f} | {cost.rss_mib:3.0f}")


def _print_report(folder: Path) -> None:
    """Expected: the page of 512 switches costs less than 3 s of CPU beyond the verdicts."""
    print(f"\nreport of {SIZES[-1]} switches in one process", flush=True)
    bundle = str(folder / f"bundle-{SIZES[-1]}")
    subprocess.run([sys.executable, "-m", "benchmarks.report_stages", bundle], check=True)


def _print_growth(folder: Path) -> None:
    """Growth by counted calls, which docs/speed.md keeps, and the costliest rules."""
    print("\ngrowth, by counted calls", flush=True)
    subprocess.run([sys.executable, "-m", "benchmarks.growth", "--page", "docs/speed.md"], check=True)
    print(f"\ncostliest rules on {SIZES[-1]} switches", flush=True)
    subprocess.run([sys.executable, "-m", "benchmarks.costly_rules", str(folder / f"bundle-{SIZES[-1]}")], check=True)


def _print_diff(folder: Path) -> None:
    size = SIZES[-1]
    bundle = folder / f"bundle-{size}"
    print(f"\ndiff of two bundles of {size} switches | CPU s | MiB | jsonpatch CPU s | ratio")
    for what, every_port in (("a field of each switch", False), ("a field of each port", True)):
        copy = differing_copy(bundle, folder / f"differing-{every_port}", every_port=every_port)
        peer = run([sys.executable, "-m", "benchmarks.peer_jsonpatch", str(bundle), str(copy)])
        for form in ("text", "jsonpatch"):
            cost = typical(fabricgen("diff", str(bundle), str(copy), "--format", form), 3)
            name = f"{what}, {form}"
            ratio = peer.cpu_s / cost.cpu_s
            print(f"{name:40} | {cost.cpu_s:5.2f} | {cost.rss_mib:3.0f} | {peer.cpu_s:15.1f} | {ratio:4.1f}x")


if __name__ == "__main__":
    main()
