"""Compare `init` with an exhaustive search: for every number of hosts and each Clos design, the least switches.

python -m benchmarks.first_layouts [--hosts 2048] [--check N,N…]

`--check` also runs `fabricgen init` and `fabricgen check` for these numbers of hosts, and requires no error and no
warning, and as many switches as were counted. The exit code is 1 if a layout has more than 10 % above the least
switches, or if a check is not clean.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from fabricgen.design.first_layout import Demand
from fabricgen.design.registry import designs
from tests.design.exhaustive import DESIGNS, least_switches

_RADIX, _SPEED_MBPS, _WORST = 128, 400_000, 1.1


def counted(design: str, hosts: int, radix: int = _RADIX) -> int:
    """The switches of the first layout of a design for hosts with 8 NICs, and switches of `radix` ports."""
    first_layout = designs()[design].first_layout
    assert first_layout
    demand = Demand(
        hosts=hosts, planned_hosts=hosts, nics=8 * designs()[design].nic_ports, host_mbps=_SPEED_MBPS,
        uplink_mbps=_SPEED_MBPS, leaf_host_ports=radix, leaf_uplink_ports=radix, spine_ports=radix, core_ports=radix,
    )  # fmt: skip
    return first_layout(demand).switches


def main() -> int:
    """Print a line for each design, and one for each check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=2048, help="compare 1 to this many hosts")
    parser.add_argument("--check", default="", help="numbers of hosts to initialise and check, separated by commas")
    given = parser.parse_args()
    bad = 0
    for design in DESIGNS:
        began, sizes = time.monotonic(), range(1, given.hosts + 1)
        ratios = [(counted(design, hosts) / least_switches(design, hosts, _RADIX), hosts) for hosts in sizes]
        worst, at = max(ratios)
        equal = sum(ratio == 1 for ratio, _ in ratios)
        seconds = time.monotonic() - began
        print(
            f"{design:<15} {equal} of {len(ratios)} equal the least; worst {worst:.3f} at {at} hosts; {seconds:.0f} s"
        )
        bad += worst > _WORST
    for hosts in filter(None, given.check.split(",")):
        bad += sum(not _is_clean(design, int(hosts)) for design in DESIGNS)
    return int(bad > 0)


def _is_clean(design: str, hosts: int) -> bool:
    from click.testing import CliRunner

    from fabricgen.cli.main import main as fabricgen

    with tempfile.TemporaryDirectory() as aside:
        folder, report = Path(aside) / "fabric", Path(aside) / "report.json"
        verbs = (
            ["init", str(folder), "--design", design, "--hosts", str(hosts)],
            ["check", str(folder), "--format", "json", "--output", str(report)],
        )
        for verb in verbs:
            outcome = CliRunner().invoke(fabricgen, ["-q", *verb], standalone_mode=False)
            if outcome.exception and not isinstance(outcome.exception, SystemExit):
                raise outcome.exception
        summary = json.loads(report.read_text())["summary"]
    clean = not summary["errors"] and not summary["warnings"] and summary["devices"] == counted(design, hosts)
    print(f"{design:<15} {hosts} hosts: {summary['devices']} switches, {'clean' if clean else summary}", flush=True)
    return clean


if __name__ == "__main__":
    sys.exit(main())
