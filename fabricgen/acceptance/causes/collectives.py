"""Slow collectives: too small buffers, links that were not measured, hash collisions, or NCCL and the hosts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fabricgen.acceptance.causes.cause import Cause, CauseKind, Evidence, of_expected, share, value
from fabricgen.acceptance.causes.links import MOST_LINES, damaged_cable
from fabricgen.acceptance.link_errors import lines_of
from fabricgen.acceptance.measured import MeasuredTest, Verdict
from fabricgen.acceptance.nccl_log import NcclLog
from fabricgen.acceptance.planned import Stage
from fabricgen.acceptance.slow import is_collision
from fabricgen.bundle.wiring import Endpoint
from fabricgen.platforms.nccl import rccl_release_of, release_of
from fabricgen.units import counted, format_bytes, listed

_MORE_PATHS = "raise NCCL_IB_QPS_PER_CONNECTION and set NCCL_IB_SPLIT_DATA_ON_QPS=1, or use adaptive routing"
_LOOK = (
    "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET {}_perf …: compare the NICs in use, channels, PXN and GDRDMA "
    "with a good host"
)


@dataclass(frozen=True, slots=True)
class _LogFault:
    """What a log shows, and the next command, with {} for the collective."""

    sentence: str
    next_command: str = _LOOK


def collectives(evidence: Evidence) -> Iterator[Cause]:
    """The causes of slow collectives; none if no collective is slow."""
    if not evidence.slow.collectives:
        return
    slowest = min((one for one, _ in evidence.slow.collectives), key=share)
    names = sorted({one.test.collective for one, _ in evidence.slow.collectives})
    shown: tuple[str, ...] = (f"{slowest.test.collective}: {of_expected(slowest)}, {share(slowest):.0%}",)
    small = [one for one, _ in evidence.slow.collectives if one.is_too_small]
    if len(small) == len(evidence.slow.collectives):
        largest = max(size for one in small for result in one.results for size, _ in result.curve)
        text = (
            f"cannot tell whether {listed(names)} is slow: the largest buffer has {format_bytes(largest)}, and "
            "larger ones can reach what the files promise"
        )
        yield Cause(CauseKind.UNKNOWN, "", text, shown, "run it again with buffers up to 8 GB: -b 1G -e 8G -f 2")
        return
    unmeasured = _unmeasured(evidence)
    if unmeasured:
        text = f"cannot tell why {listed(names)} is slow: {unmeasured}"
        command = "measure pairs of NICs at one leaf and across spines (stages near and far), then run it again"
        lines = (*lines_of(evidence.damaged, MOST_LINES), *(one.sentence for one in _log_faults(evidence)))
        yield Cause(CauseKind.UNKNOWN, "", text, (*shown, *lines), command)
        return
    pairs = evidence.pairs()
    shown = (f"slowest pair {min(map(value, pairs)):.1f} Gb/s, {min(map(share, pairs)):.0%}", *shown)
    left = []
    for one, left_share in evidence.slow.collectives:
        if is_collision(one, left_share):
            expected = left_share * (one.test.expected or 0)
            text = f"hash collisions explain {one.test.collective}: they leave {expected:.1f} GB/s"
            yield Cause(CauseKind.COLLISIONS, "", text, (of_expected(one), *shown[:1]), _MORE_PATHS)
        else:
            left.append((one, left_share))
    if left and evidence.damaged:
        yield _good_pairs_and_damaged_links(evidence, names, shown)
    elif left:
        yield _nccl(evidence, left, pairs, shown)


def _good_pairs_and_damaged_links(evidence: Evidence, names: Sequence[str], shown: tuple[str, ...]) -> Cause:
    damaged = evidence.damaged
    text = (
        f"cannot tell why {listed(names)} is slow: every pair is good, but {counted(len(damaged), 'link')} had errors"
    )
    command = damaged_cable(damaged[0]).next_command
    return Cause(CauseKind.UNKNOWN, "", text, (*shown, *lines_of(damaged, MOST_LINES)), command)


def _nccl(
    evidence: Evidence, left: list[tuple[MeasuredTest, float]], pairs: list[MeasuredTest], shown: tuple[str, ...]
) -> Cause:
    rails = {end[1] for one in pairs for end in (one.test.a, one.test.b) if end}
    alike = f", all {counted(len(rails), 'rail')} alike" if len(rails) > 1 else ""
    links = f"links are not the cause: every pair reaches {min(map(value, pairs)):.0f} Gb/s{alike}"
    shares = sorted({left_share for _, left_share in left if left_share < 1})
    if shares:
        shown = (*shown, f"hash collisions alone would leave {shares[0]:.0%}")
    slowest = min((one for one, _ in left), key=share).test.collective
    first, *others = _log_faults(evidence) or (
        _LogFault(f"look at {_library(evidence)}: channels, PXN, GPUDirect RDMA"),
    )
    evidenced = (*shown, *(one.sentence for one in others))
    return Cause(CauseKind.COLLECTIVES, "", f"{links}; {first.sentence}", evidenced, first.next_command.format(slowest))


def _unmeasured(evidence: Evidence) -> str:
    """What is not known of the links below the slow collectives; "" if all their NICs and the spines are good."""
    good = [one for one in evidence.pairs() if one.verdict is Verdict.PASS]
    ends = {end for one in good for end in (one.test.a, one.test.b) if end}
    hosts = {host for one, _ in evidence.slow.collectives for host in one.test.hosts}
    used = {end: leaf for end, leaf in evidence.slow.leaf_of.items() if end[0] in hosts and _is_compute(evidence, end)}
    if not good:
        return "no pair of NICs was measured"
    if missing := sorted(f"{host} {nic}" for host, nic in used.keys() - ends):
        return f"{counted(len(missing), 'NIC')} of its hosts have no good pair test: {listed(missing, 3)}"
    leaves_of: dict[str, set[str]] = {}
    for (_, nic), leaf in used.items():
        leaves_of.setdefault(nic, set()).add(leaf)
    crossing = any(len(leaves) > 1 for leaves in leaves_of.values())
    if crossing and not any(one.test.stage is Stage.FAR for one in good):
        return "no pair across spines was measured"
    return ""


def _is_compute(evidence: Evidence, end: Endpoint) -> bool:
    link = evidence.bundle.link_at.get(end)
    return bool(link and link.plane in evidence.planes)


def _log_faults(evidence: Evidence) -> tuple[_LogFault, ...]:
    """What the logs of NCCL in the results show, the worst first."""
    found: dict[_LogFault, None] = {}
    nics = max((len({end[1] for end in evidence.slow.leaf_of if end[0] == host}) for one, _ in evidence.slow.collectives
                for host in one.test.hosts), default=0)  # fmt: skip
    for one, _ in evidence.slow.collectives:
        compute = sum(_is_compute(evidence, end) for end in evidence.slow.leaf_of if end[0] == one.test.hosts[0])
        for log in (result.log for result in one.results if result.log):
            name = log.library or _library(evidence)
            if log.transport == "Socket":
                found[_LogFault(f"{name} uses TCP sockets, not RDMA")] = None
            elif log.devices and len(log.devices) < compute and one.test.stage is Stage.COLLECTIVES:
                text = f"{name} uses {len(log.devices)} of {compute} NICs of a host: {listed(log.devices, 8)}"
                found[_LogFault(text)] = None
            if log.gdr < log.sends:
                text = f"{log.sends - log.gdr} of {log.sends} connections of {name} are without GPUDirect RDMA"
                found[_LogFault(text)] = None
            if log.channels is not None and log.channels < min(nics, len(log.devices)):
                found[_LogFault(f"{name} has {log.channels} channels for {len(log.devices)} NICs")] = None
            if fault := _without_pxn(log, one.test.collective):
                found[fault] = None
    return tuple(found)


def _library(evidence: Evidence) -> str:
    """RCCL on hosts with GPUs of AMD, otherwise NCCL."""
    wiring = evidence.bundle.wiring
    vendors = {model.name: model.vendor for model in wiring.host_models} if wiring else {}
    hosts = {host for one, _ in evidence.slow.collectives for host in one.test.hosts}
    models = {host.model for host in wiring.hosts if host.name in hosts} if wiring else set()
    return "RCCL" if models and all(vendors.get(model) == "amd" for model in models) else "NCCL"


def _without_pxn(log: NcclLog, collective: str) -> _LogFault | None:
    """Why an all-to-all does not use the NICs of other GPUs of a host, so that it crosses rails in the network; None if
    it does, or if the log does not say."""
    if log.version is None or not log.sends or log.pxn or not collective.startswith("alltoall"):
        return None
    shown = f"{log.library} {'.'.join(map(str, log.version))}"
    if log.library == "RCCL":
        ranks = rccl_release_of(log.version).pxn_ranks
        default = f"0 by default only from {ranks[0]} ranks on ({ranks[1]} on MI350X)" if ranks else "1 by default"
        text = f"{shown} does not use PXN: NCCL_PXN_DISABLE is {default}"
        return _LogFault(text, "set NCCL_PXN_DISABLE=0 for the job, and run {}_perf again")
    if log.gdr < log.sends and release_of(log.version).pxn_needs_gdr:
        return _LogFault(f"{shown} uses PXN only with GPUDirect RDMA")
    return _LogFault(f"{shown} does not use PXN: look for NCCL_PXN_DISABLE")
