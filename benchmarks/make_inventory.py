"""Write an inventory of a rail-optimized RoCE fabric with exactly N switches of 64 ports, or of a fabric for N GPUs on
RoCE or InfiniBand.

    python benchmarks/make_inventory.py --switches 512 OUT
    python benchmarks/make_inventory.py --gpus 102400 OUT
    python benchmarks/make_inventory.py --gpus 16384 --infiniband OUT

For GPUs there are three tiers at 1:1: leaves of 64 ports, spines and cores of 128. On InfiniBand all have 64 ports, and
two tenants have half of the hosts each. For switches, leaves have 32 hosts and 32 uplinks. Small fabrics have two
tiers, larger ones three. Tier counts are forced so that the total is exact. Of all possible layouts the one with the
most links is used.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

RAILS = 8
UPLINKS = 32
RADIX = 64

_INVENTORY = """\
fabricgen: 1
fabric: bench-{switches}
hosts:
  gpu: {{model: dgx-h100, count: {hosts}}}
planes:
  compute:
    technology: roce
    design: rail-optimized
    hosts: [gpu]
    scalable_unit: {{hosts: {uplinks}}}
    leaf: {{platform: dell-z9664f}}
    spine: {{platform: dell-z9664f, count: {spines}}}
{core}    speed: 400G
    cables: {{host-leaf: 5m, leaf-spine: 40m, spine-core: 40m}}
    addressing: {{loopbacks: 10.0.0.0/16, links: 10.128.0.0/10, hosts: 10.64.0.0/10}}
management: {{addresses: 10.255.0.0/16, gateway: 10.255.0.1, ntp: [10.255.255.1], syslog: [10.255.255.2]}}
"""

_LARGE = """\
fabricgen: 1
fabric: bench-{gpus}-gpus
hosts:
  gpu: {{model: dgx-h100, count: {hosts}}}
planes:
  compute:
    technology: roce
    design: rail-optimized
    hosts: [gpu]
    scalable_unit: {{hosts: {uplinks}}}
    tiers: 3
    leaf: {{platform: dell-z9664f}}
    spine: {{platform: arista-7060x6-64pe}}
    core: {{platform: arista-7060x6-64pe}}
    speed: 400G
    cables: {{host-leaf: 5m, leaf-spine: 40m, spine-core: 150m}}
    lossless: roce-lossless
    addressing: {{loopbacks: 10.0.0.0/16, links: 10.128.0.0/9, hosts: 11.0.0.0/8}}
management: {{addresses: 172.16.0.0/16, gateway: 172.16.0.1}}
"""

_SUBNET = """\
fabricgen: 1
fabric: bench-{gpus}-gpus-infiniband
hosts:
  gpu: {{model: dgx-h100, count: {hosts}}}
planes:
  compute:
    technology: infiniband
    design: rail-optimized
    hosts: [gpu]
    scalable_unit: {{hosts: {uplinks}}}
    tiers: 3
    leaf: {{platform: nvidia-qm9700}}
    spine: {{platform: nvidia-qm9700}}
    core: {{platform: nvidia-qm9700}}
    speed: 400G
    partitions:
      - {{name: blue, pkey: 0x8001, members: [gpu/0-{middle}]}}
      - {{name: green, pkey: 0x8002, members: [gpu/{rest}-{last}]}}
"""


def layouts(switches: int) -> Iterator[tuple[int, int, int, int]]:
    """(links, units, spines of a pod, cores) of every layout with exactly this number of switches."""
    divisors = [count for count in range(1, UPLINKS + 1) if UPLINKS % count == 0]
    for units in range(1, RADIX // RAILS + 1):
        for spines in divisors:
            if RAILS * units + spines == switches and RAILS * units * UPLINKS <= spines * RADIX:
                yield RAILS * units * UPLINKS, units, spines, 0
    for units in range(2, RADIX // 2 + 1):
        yield from _three_tiers(switches, units)


def _three_tiers(switches: int, units: int) -> Iterator[tuple[int, int, int, int]]:
    for spines in (count for count in range(1, UPLINKS + 1) if UPLINKS % count == 0):
        spine_uplinks = units * (UPLINKS // spines)
        cores = switches - RAILS * units - RAILS * spines
        group = cores // spines
        fits = (
            cores > 0 and cores % spines == 0 and spine_uplinks % group == 0 and RAILS * spine_uplinks <= group * RADIX
        )
        if fits and spine_uplinks <= RADIX // 2:
            yield RAILS * units * UPLINKS + RAILS * spines * spine_uplinks, units, spines, cores


def main(arguments: Sequence[str] | None = None) -> int:
    """Write OUT/fabric.yaml."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--switches", type=int)
    size.add_argument("--gpus", type=int)
    parser.add_argument("--infiniband", action="store_true", help="with --gpus")
    parser.add_argument("out", type=Path)
    options = parser.parse_args(arguments)
    if options.gpus:
        hosts = -(-options.gpus // RAILS)
        half = {"middle": hosts // 2 - 1, "rest": hosts // 2, "last": hosts - 1}
        text = _SUBNET if options.infiniband else _LARGE
        _write(options.out, text.format(gpus=options.gpus, hosts=hosts, uplinks=UPLINKS, **half))
        return 0
    found = max(layouts(options.switches), default=None)
    if found is None:
        possible = [count for count in range(options.switches, options.switches + 64) if any(layouts(count))]
        print(
            f"no layout has exactly {options.switches} switches; the next possible numbers are {possible[:3]}",
            file=sys.stderr,
        )
        return 2
    _, units, spines, cores = found
    core = f"    core: {{platform: dell-z9664f, count: {cores}}}\n    tiers: 3\n" if cores else ""
    text = _INVENTORY.format(
        switches=options.switches, hosts=units * UPLINKS, uplinks=UPLINKS, spines=spines, core=core
    )
    _write(options.out, text)
    return 0


def _write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fabric.yaml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
