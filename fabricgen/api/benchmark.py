"""The tables of the IETF's draft on AI fabrics that one run does not have: sweeps over queue pairs, sizes and senders.

Source: draft-calabria-bmwg-ai-fabric-training-bench-02 (4 June 2026), sections 3.2, 7.2, 7.3, 8.1, 8.3 and 10.1. The
reference values of the draft are not criteria, so they are not here.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen.api.judgement import Progress
from fabricgen.errors import UsageError
from fabricgen.units import format_speed
from fabricgen.vocabulary import BalanceMode, LinkKind

if TYPE_CHECKING:
    from fabricgen.acceptance.pairs import Attached
    from fabricgen.api.congestion import CongestionRequest
    from fabricgen.api.deadlock import DeadlockRequest
    from fabricgen.api.packets import PacketsRequest
    from fabricgen.bundle.read import Bundle
    from fabricgen.results import Series, SizeTable
    from fabricgen.simulate.packets.network import PacketNetwork
    from fabricgen.simulate.packets.simulation import Observer

QUEUE_PAIRS = (1, 4, 8, 16, 32)  # section 8.1
INCAST = (2, 4, 8, 16, 32, 64)  # section 7.2
FLOWS = (4, 16, 64, 256)  # section 7.3
COMPUTE_MS = (10, 50, 100, 500)  # section 10.1
JCT_BYTES = (256_000_000, 1_000_000_000, 4_000_000_000)
_CONVERGED = 0.1  # of the fair share
_ADDED_NS, _HORIZON_NS = 1_000_000, 6_000_000
_WINDOW_PACKETS = 20  # a rate over fewer packets is not known to a tenth
_INCAST_BYTES = 4 << 20


def device_under_test(bundle: "Bundle") -> dict[str, Any]:
    """What identifies the fabric: sections 3.2 and 3.1 of the draft, where its files have it."""
    wiring = bundle.wiring
    wired = [device.wired for device in bundle.devices.values() if device.wired]
    models = Counter((one.platform, one.hwsku, one.role) for one in wired)
    links = wiring.links if wiring else ()
    return {
        "switches": [
            {"platform": platform, "hwsku": hwsku, "role": role, "count": count}
            for (platform, hwsku, role), count in sorted(models.items())
        ],
        "sonic_releases": sorted(
            {str(one.known_release) for one in bundle.devices.values() if one.wired and one.known_release}
        ),
        "mmu_bytes": sorted({one.mmu_bytes for one in wired if one.mmu_bytes}),
        "port_speeds": sorted({format_speed(link.speed_mbps) for link in links}),
        "links": {str(kind): count for kind in LinkKind if (count := sum(link.kind == kind for link in links))},
        "cables": sorted({f"{cable.medium} {cable.length_m:g} m" for cable in (wiring.cables if wiring else ())}),
        "nics": sorted({nic.model for model in (wiring.host_models if wiring else ()) for nic in model.nics}),
        "designs": sorted({f"{plane.name}: {plane.design}" for plane in (wiring.planes if wiring else ())}),
        "roce": [
            {"plane": plane.name, "priorities": list(plane.lossless), "dscp": sorted({
                value for values in (plane.roce_dscp or {}).values() for value in values}), "mtu": plane.roce_mtu}
            for plane in (wiring.planes if wiring else ()) if plane.roce_dscp
        ],
    }  # fmt: skip


def congestion_benchmark(request: "CongestionRequest") -> dict[str, Any]:
    """The tables of `simulate congestion`: the fabric, its hashing, and completion times."""
    from fabricgen.bundle.read import open_bundle

    bundle = open_bundle(request.paths)
    return {
        "dut": device_under_test(bundle),
        "hashing": hashing_table(request),
        "completion": completion_table(request),
    }


def deadlock_benchmark(request: "DeadlockRequest") -> dict[str, Any]:
    """The fabric of `simulate deadlock`; the proof itself is the table."""
    from fabricgen.bundle.read import open_bundle

    return {"dut": device_under_test(open_bundle(request.paths))}


def packets_benchmark(request: "PacketsRequest") -> dict[str, Any]:
    """The tables of `simulate packets`: the fabric, incast, and convergence."""
    from fabricgen.atomic import temporary_folder
    from fabricgen.bundle.read import open_bundle

    bundle = open_bundle(request.paths)
    with temporary_folder("benchmark") as folder:
        return {
            "dut": device_under_test(bundle),
            "incast": incast_table(request, bundle, folder),
            "convergence": convergence_table(request, bundle, folder),
        }


def hashing_table(request: "CongestionRequest") -> list[dict[str, Any]]:
    """Section 8.1: JFI and MMR of parallel links by queue pairs, and 8.3 with packets spread over all links.

    Each row has `uniform`: both for a hash that spreads as many flows uniformly.
    """
    from fabricgen.api.congestion import simulate_congestion
    from fabricgen.report.congestion import fairness_object
    from fabricgen.results import CongestionModel
    from fabricgen.simulate.congestion.collisions import uniform_fairness

    rows = []
    for pairs, balance in [*((pairs, BalanceMode.ECMP) for pairs in QUEUE_PAIRS), (None, BalanceMode.SPRAY)]:
        found = simulate_congestion(
            replace(
                request, queue_pairs=pairs, balance=balance, failures=0, switch_failures=False, sizes=(), svg=None,
                follow=False,
            )
        )  # fmt: skip
        for result in found.planes:
            row: dict[str, Any] = {
                "plane": result.name,
                "pattern": result.pattern,
                "queue_pairs": pairs,
                "balance": balance,
            }
            if result.model is CongestionModel.DENSE and not result.fairness:
                rows.append({**row, "reason": "so many flows are computed without a hash"})
            for one in result.fairness:
                uniform = {"uniform": uniform_fairness(one.flows, one.links)} if one.flows else {}
                rows.append({**row, **fairness_object(one), **uniform})
    return rows


def completion_table(request: "CongestionRequest") -> list[dict[str, Any]]:
    """Section 10.1: the JCT ratio of an all-reduce by computation time and size.

    The roofline of an iteration is C + S f / B: f is 2 (N - 1) / N, S the bytes of each accelerator, and B the line
    rate of the NICs of a host, or of the hosts that share NVLink, all of which rings use. The simulated time is that of
    a ring all-reduce.
    """
    from fabricgen.api.congestion import simulate_congestion

    of_ring = replace(
        request, pattern="ring-all-reduce", failures=0, switch_failures=False, sizes=JCT_BYTES, jobs_file=None,
        placement=request.placement if request.placement != "search" else "aligned", save_jobs=None, svg=None,
    )  # fmt: skip
    found = simulate_congestion(of_ring)
    return [
        row
        for result in found.planes
        for table in result.sizes
        if table.rail is None and table.ranks > 1
        for row in _completion_rows(table)
    ]


def _completion_rows(table: "SizeTable") -> Iterator[dict[str, Any]]:
    factor = 2 * (table.ranks - 1) / table.ranks
    for size in table.rows:
        wire_ns = size.size_bytes * factor / table.node_bytes_per_ns
        for compute_ms in COMPUTE_MS:
            compute_ns = compute_ms * 1e6
            ratios = [
                (compute_ns + time) / (compute_ns + wire_ns) for time in (size.time_ns.mean, size.time_ns.highest)
            ]
            yield {
                "plane": table.name,
                "accelerators": table.ranks,
                "bytes": size.size_bytes,
                "compute_ms": compute_ms,
                "iteration_ms": (compute_ns + size.time_ns.mean) / 1e6,
                "roofline_ms": (compute_ns + wire_ns) / 1e6,
                "ratio": ratios[0],
                "ratio_highest": ratios[1],
                "bus_gbps": size.bus_gbytes.mean * 8 if size.bus_gbytes else None,
            }


class _Sampling(Progress):
    """A progress that samples the rates and pauses of a run."""

    def __init__(self, flows: int) -> None:
        self._flows = flows
        self._sampler: Any = None

    def watch(self, network: "PacketNetwork") -> "Sequence[Observer]":
        from fabricgen.simulate.packets.series import Sampler

        self._sampler = Sampler(network, most_flows=self._flows)
        return (self._sampler,)

    @property
    def series(self) -> "Series":
        found: Series = self._sampler.series()
        return found


def incast_table(request: "PacketsRequest", bundle: "Bundle", folder: Path) -> list[dict[str, Any]]:
    """Section 7.2: N NICs write 4 MiB each to one, for each N that a rail of the fabric has. `folder` takes the
    traces."""
    from fabricgen.api.packets import simulate_packets

    target, writers = _bottleneck(bundle, request.plane)
    rows = []
    for count in INCAST:
        row: dict[str, Any] = {"senders": count, "plane": target.link.plane}
        if count > len(writers):
            rows.append({**row, "reason": f"the rail has {len(writers) + 1} NICs"})
            continue
        trace = _trace(folder / f"incast-{count}.json", [(one, 0, _INCAST_BYTES) for one in writers[:count]], target)
        sampling = _Sampling(1)
        found = simulate_packets(_of_trace(request, trace, target), progress=sampling)
        run = found.runs[0]
        pauses = sampling.series.pauses
        seconds = run.simulated_ns / 1e9
        row |= {
            "pause_frames": sum(kind for _, _, kind in run.pfc_frames),
            "pauses_per_s": sum(kind for _, _, kind in run.pfc_frames) / seconds if seconds else 0,
            "paused_ports": len(pauses),
            "longest_pause_us": max((_length(one) for each in pauses.values() for one in each), default=0) / 1e3,
            "most_paused_us": max((sum(end - start for start, end in each) for each in pauses.values()), default=0)
            / 1e3,
            "storms": len(run.storms),
            "drops": run.drops,
            "ecn_marked": run.marked,
            "gbps": count * _INCAST_BYTES * 8 / run.collective_ns if run.collective_ns else None,
        }
        rows.append(row)
    return rows


def _of_trace(request: "PacketsRequest", trace: Path, target: "Attached") -> "PacketsRequest":
    """One run of a trace on the plane of its target."""
    return replace(
        request, pattern=f"trace:{trace}", plane=target.link.plane, queue_pairs=1, draws=1, failed=None, jobs_file=None,
        series=None, svg=None, priorities=(),
    )  # fmt: skip


def _length(interval: tuple[int, int]) -> int:
    return interval[1] - interval[0]


def convergence_table(request: "PacketsRequest", bundle: "Bundle", folder: Path) -> list[dict[str, Any]]:
    """Section 7.3: M flows to one NIC, and M more after 1 ms: the time until the rate of each of the 2 M is within 10 %
    of the fair share, as a mean of 20 packets; None if that is not reached in 5 ms."""
    from fabricgen.api.packets import simulate_packets

    target, writers = _bottleneck(bundle, request.plane)
    rate = target.link.speed_mbps / 8e3
    rows = []
    for count in FLOWS:
        first = round(rate / count * _ADDED_NS + rate / 2 / count * (_HORIZON_NS - _ADDED_NS))
        added = round(rate / 2 / count * (_HORIZON_NS - _ADDED_NS))
        sends = [(writers[number % len(writers)], 0, first) for number in range(count)]
        sends += [(writers[(count + number) % len(writers)], _ADDED_NS, added) for number in range(count)]
        trace = _trace(folder / f"flows-{count}.json", sends, target)
        sampling = _Sampling(2 * count)
        found = simulate_packets(_of_trace(request, trace, target), progress=sampling)
        run, series = found.runs[0], sampling.series
        after, jain = _converged(series, 2 * count, rate * 8)
        rows.append(
            {
                "flows": 2 * count,
                "plane": target.link.plane,
                "after_us": after,
                "jfi_of_rates": jain,
                "ecn_marked": run.marked,
                "pause_frames": sum(kind for _, _, kind in run.pfc_frames),
                "congestion_control": "DCQCN" if run.ecn else "none",
            }
        )
    return rows


def _converged(series: "Series", flows: int, gbps: float) -> tuple[float | None, float]:
    """(us after the flows were added, Jain's index of the mean rates afterwards until the first flow ends)."""
    import numpy as np

    times = np.array(series.times_ns, float)
    rates = np.array(list(series.rates.values()))
    steps = np.diff(times, prepend=0.0)
    payload = np.cumsum(rates * steps, axis=1)
    window_ns = max(100_000.0, _WINDOW_PACKETS * 4096 * 8 * flows / gbps)
    fair = None
    for index in np.flatnonzero(times >= _ADDED_NS + window_ns).tolist():
        if times[index] > _HORIZON_NS - _ADDED_NS:
            break
        start = int(np.searchsorted(times, times[index] - window_ns))
        mean = (payload[:, index] - payload[:, start]) / (times[index] - times[start])
        fair = float(mean.mean())
        if fair and np.all(np.abs(mean - fair) <= _CONVERGED * fair):
            return round((times[index] - _ADDED_NS) / 1e3, 1), _jain(mean)
    first, last = (int(np.searchsorted(times, time)) for time in (_ADDED_NS, _HORIZON_NS - _ADDED_NS))
    last = min(last, len(times) - 1)
    return None, _jain(payload[:, last] - payload[:, first])


def _jain(rates: Any) -> float:
    """Jain's index; 0 if no flow has sent anything."""
    from fabricgen.simulate.jobs.sharing import jain

    return round(jain(rates), 4) if rates.any() else 0.0


def _bottleneck(bundle: "Bundle", plane: str | None) -> "tuple[Attached, list[Attached]]":
    """A NIC, and those that can write to it, the farthest first: of the rail with the most NICs. Raises UsageError."""
    from fabricgen.acceptance.pairs import rails_of

    rails = rails_of(bundle.wiring) if bundle.wiring else {}
    chosen = [
        [nic for at_leaf in leaves.values() for nic in at_leaf]
        for (name, _, _), leaves in rails.items()
        if plane in (None, name)
    ]
    nics = max(chosen, key=len, default=[])
    if len(nics) < 3:
        raise UsageError("--format bmwg: no rail of a compute plane has three NICs")
    return nics[0], nics[:0:-1]


def _trace(file: Path, sends: Sequence[tuple["Attached", int, int]], target: "Attached") -> Path:
    flows: list[Mapping[str, object]] = [
        {"src": "|".join(one.end), "dst": "|".join(target.end), "bytes": size, "start_ns": start}
        for one, start, size in sends
    ]
    file.write_text(json.dumps({"flows": flows}))
    return file
