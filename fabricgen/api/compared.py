"""One fabric of a comparison: counts, bandwidth, failures, deadlock and growth of one plane, as one object."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricgen.api.deadlock import FailureOptions, prove
from fabricgen.api.growing import Growth, grow
from fabricgen.api.judgement import Judging, Progress
from fabricgen.api.reporting import is_judged_as_it_is
from fabricgen.api.subnets import DEFAULT_SUBNETS, forwarding_of
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.shape import bisection_gbps, networks, oversubscription
from fabricgen.errors import UsageError
from fabricgen.report.deadlock import deadlock_statement
from fabricgen.results import DeadlockResult

if TYPE_CHECKING:
    from fabricgen.simulate.bandwidth.analysis import BandwidthOptions
    from fabricgen.simulate.bandwidth.lost_time import FailureRates


@dataclass(frozen=True)
class CompareOptions:
    """The options of a comparison.

    `patterns` are names of traffic patterns, () for the default ones. `size_bytes` is the buffer of one rank, None for
    256 MiB. `placement` is aligned or fragmented. `draws` hashes are drawn from `seed` on. `failure_sets` is the most
    sets of failures to judge of each kind. `failures` is how many links fail at a time in the deadlock proof. `grow_to`
    is a number of GPUs, None: twice those of each fabric. `plane` is the plane to compare, None: the first with jobs.
    `templates` replace those of fabricgen in what is rendered. With `rates`, the GPU-seconds that failures cost in a
    month are computed.
    """

    patterns: tuple[str, ...] = ()
    size_bytes: int | None = None
    placement: str = "aligned"
    seed: int = 0
    draws: int = 8
    failure_sets: int = 64
    failures: int = 1
    grow_to: int | None = None
    plane: str | None = None
    jobs: int = 1
    templates: Path | None = None
    rates: "FailureRates | None" = None

    @property
    def bandwidth(self) -> "BandwidthOptions":
        """The options of the traffic. Raises UsageError for a pattern that is unknown or a trace."""
        from fabricgen.simulate.bandwidth.analysis import DEFAULT_PATTERNS, BandwidthOptions
        from fabricgen.simulate.patterns import DEFAULT_BYTES, TRACE, Placement, check_pattern

        for pattern in self.patterns:
            check_pattern(pattern)
            if pattern.startswith(TRACE):
                raise UsageError(f"{pattern}: a trace names the hosts of one fabric; choose patterns")
        if self.placement not in list(Placement):
            raise UsageError(f"unknown placement {self.placement!r}; the placements are {', '.join(Placement)}")
        return BandwidthOptions(
            tuple(dict.fromkeys(self.patterns)) or DEFAULT_PATTERNS, self.size_bytes or DEFAULT_BYTES,
            Placement(self.placement), self.seed, self.draws, self.failure_sets,
        )  # fmt: skip


DEFAULT_OPTIONS = CompareOptions()


def fabric_object(
    name: str, path: Path, judging: Judging, options: CompareOptions, progress: Progress
) -> dict[str, Any]:
    """All results on a fabric. Raises UsageError without a plane that carries traffic of jobs."""
    from fabricgen.simulate.bandwidth.analysis import analyse_bandwidth
    from fabricgen.simulate.bandwidth.lost_time import lost_time
    from fabricgen.simulate.plane.names import infiniband_planes, planes_for

    bundle = judging.bundle
    assert bundle.wiring is not None
    carrying = [name for name, _ in planes_for(bundle, options.plane, to_storage=False)]
    carrying += infiniband_planes(bundle, options.plane)
    if not carrying:
        raise UsageError(f"{name} has no plane that carries traffic of jobs")
    plane = carrying[0]
    deadlock = prove(judging, plane, None, FailureOptions(options.failures, jobs=options.jobs), progress)
    with progress.stage(f"traffic of {name}"):
        forwarding = forwarding_of(judging, DEFAULT_SUBNETS, plane, to_storage=False)
        bandwidth = analyse_bandwidth(bundle, options.bandwidth, plane, forwarding)
    counts = _counts(bundle, plane)
    return {
        "name": name,
        "plane": plane,
        "other_planes": [one.name for one in bundle.wiring.planes if one.name != plane],
        **counts,
        "patterns": [asdict(one) for one in bandwidth.patterns],
        "failure_pattern": bandwidth.failure_pattern,
        "failures": [asdict(one) for one in bandwidth.failures],
        "lost_time": [
            {**asdict(one), "gpu_seconds": one.gpu_seconds}
            for one in lost_time(bandwidth.failures, options.rates, counts["gpus"])
        ]
        if options.rates and bandwidth.failures
        else None,
        "not_judged": bandwidth.reason,
        "deadlock": _deadlock(deadlock),
        "tenants": _tenants(bundle, plane),
        "growth": asdict(_growth(path, plane, options.grow_to or 2 * counts["gpus"])),
    }


def _counts(bundle: Bundle, plane: str) -> dict[str, Any]:
    """The bill of the plane, with its shape."""
    from fabricgen.page.bill import bill_object

    wiring, bill = bundle.wiring, bill_object(bundle)
    assert wiring is not None and bill is not None
    (one,) = [each for each in bill["planes"] if each["name"] == plane]
    optics = [row for row in bill["optics"] if row["plane"] == plane]
    here = {link.a[0] for link in wiring.links if link.plane == plane}
    hosts = [host for host in wiring.hosts if host.name in here]
    gpus = {model.name: model.gpus for model in wiring.host_models}
    design = next(each.design for each in wiring.planes if each.name == plane)
    return {
        "design": design,
        "hosts": len(hosts),
        "host_models": sorted({host.model for host in hosts}),
        "gpus": sum(gpus.get(host.model, 0) for host in hosts),
        "models": sorted({device.platform for device in wiring.devices if device.plane == plane}),
        "switches": sum(one["switches"].values()),
        "switches_by_role": one["switches"],
        "cables": sum(row["cables"] for row in optics),
        "cables_by_kind": [{key: row[key] for key in ("kind", "length_m", "medium", "cables")} for row in optics],
        "transceivers": sum(row["transceivers"] for row in optics),
        "ports": one["ports"],
        "oversubscription": oversubscription(wiring, plane),
        "bisection_gbps": bisection_gbps(wiring, plane),
        "networks": networks(wiring, plane),
    }


def _deadlock(results: Sequence[DeadlockResult]) -> dict[str, Any] | None:
    """The worst verdict, and the failure sets that it covers."""
    if not results:
        return None
    worst, counted = results[0], ("depth", "sets", "judged", "cyclic_sets", "unreachable_sets", "sampled")
    statement = deadlock_statement(worst)
    return {
        "verdict": worst.verdict,
        "claim": statement.claim or None,
        "statement": statement.claimed,
        "failures": {name: getattr(worst.failures, name) for name in counted},
    }


def _tenants(bundle: Bundle, plane: str) -> dict[str, Any] | None:
    """What the isolation of tenants costs; None on a plane without it. `host_mtu` is the largest MTU of a host whose
    packets pass all links between switches, `overhead` the share of their bandwidth that VXLAN headers take from
    packets of the RoCE MTU."""
    from fabricgen.isolation.verdict import isolation, platforms_of
    from fabricgen.physics import DEFAULT_MTU_BYTES, DEFAULT_ROCE_MTU_BYTES, ROCE_V2_WIRE_BYTES
    from fabricgen.report.isolation import isolation_statement
    from fabricgen.sonic.acl import acl_use
    from fabricgen.sonic.evpn import WIRE_BYTES
    from fabricgen.units import whole_number
    from fabricgen.vocabulary import Isolation

    wired = next((one for one in bundle.wiring.planes if one.name == plane), None) if bundle.wiring else None
    result = next((one for one in isolation(bundle) if one.plane == plane), None)
    if wired is None or wired.isolation is None or result is None:
        return None
    switches = {link.b[0] for link in bundle.host_links if link.plane == plane}
    uses = [acl_use(bundle.devices[name].config) for name in switches]
    platforms = list(platforms_of(bundle, switches).values())
    tables = [one.acl_tables if one else None for one in platforms]
    rules = [one.acl_rules if one else None for one in platforms]
    ends = [end for link in bundle.switch_links if link.plane == plane for end in (link.a, link.b)]
    mtus = [whole_number(bundle.devices[name].text_of("PORT", port, "mtu")) for name, port in ends]
    header = WIRE_BYTES if wired.isolation == Isolation.EVPN else 0
    packet = (wired.roce_mtu or DEFAULT_ROCE_MTU_BYTES) + ROCE_V2_WIRE_BYTES
    return {
        "number": result.tenants,
        "isolation": wired.isolation,
        "statement": isolation_statement(result).claimed,
        "acl_tables": max((use.tables for use in uses), default=0),
        "acl_rules": max((use.rules for use in uses), default=0),
        "acl_tables_of_platform": _least(tables),
        "acl_rules_of_platform": _least(rules),
        "host_mtu": min((mtu or DEFAULT_MTU_BYTES for mtu in mtus), default=DEFAULT_MTU_BYTES) - header,
        "overhead": header / (packet + header),
    }


def _least(sizes: Sequence[int | None]) -> int | None:
    """The least of sizes; None if one is not known."""
    known = [size for size in sizes if size is not None]
    return min(known, default=None) if len(known) == len(sizes) else None


def _growth(source: Path, plane: str, gpus: int) -> Growth:
    if is_judged_as_it_is(source):
        return Growth(gpus, None, "a bundle does not say how it grows: compare its inventory")
    return grow(source, plane, gpus)
