"""Findings from the counters of switches: lost packets, traffic in a wrong class, storms, and what must rise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from fabricgen.acceptance.counters import Counters
from fabricgen.acceptance.culprits import FabricPart, PartKind, culprits
from fabricgen.acceptance.host_counters import rise
from fabricgen.acceptance.measured import MeasuredTest, Verdict
from fabricgen.acceptance.planned import Stage
from fabricgen.acceptance.reported import observed
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.sonic.port_qos import SwitchQos
from fabricgen.units import counted, listed

_LOSSY_SHARE = 0.05  # of the packets of a port: CNPs and the control plane need less
_LOSSY_PACKETS = 10_000
_LOADED = (Stage.NEAR, Stage.BACK, Stage.FAR, Stage.BISECTION)

Readings = Mapping[str, tuple[Counters, Counters]]  # switch -> before, after


def traffic(
    found: Sequence[MeasuredTest], bundle: Bundle, both: Readings, *, needs_all: bool = True
) -> Iterator[Finding]:
    """The findings. `both` are the readings of a switch before and after. With `needs_all`, a switch without readings
    is an error, otherwise a note."""
    ran = [one for one in found if one.verdict is not Verdict.MISSING and one.test.stage is not Stage.LLDP]
    absent = [name for name in bundle.devices if name not in both]
    if absent and ran:
        text = (
            f"no counters of {counted(len(absent), 'switch', 'switches')} before and after the tests: {listed(absent)}"
        )
        hint = "run.sh collects them; or copy collected/ of collect.yml to before and after"
        yield observed("FG974", "", text, hint, severity=Severity.ERROR if needs_all else Severity.NOTE)
    for name, (first, last) in both.items():
        for moment, files in (("before", first.others), ("after", last.others)):
            if files:
                text = f"no output of a command in {listed(files)} {moment} the tests"
                hint = "run the command on the switch: a message instead of a table is not read"
                yield observed("FG974", name, text, hint, severity=Severity.WARNING if needs_all else Severity.NOTE)
    stormy = {one.test.at for one in ran if one.test.stage is Stage.WATCHDOG}
    lossy: dict[Endpoint, float] = {}
    for name, (first, last) in both.items():
        qos = SwitchQos(bundle.devices[name].config)
        yield from _drops(bundle, name, qos, first, last)
        yield from _storms(name, first, last, stormy)
        lossy |= {(name, port): share for port, share in _lossy_ports(qos, first, last)}
    yield from _wrong_class(found, bundle, lossy)
    incasts = [one for one in ran if one.test.must_rise and one.value is not None]
    if incasts and both and _is_known(both.values()) and not _rose(both.values()):
        text = f"{counted(len(incasts), 'incast')} without a PFC frame or an ECN mark on any switch"
        hint = "the packets are not in the lossless class: check the DSCP of the hosts and DSCP_TO_TC_MAP of the leaves"
        yield observed("FG973", "", text, hint, [one.test.id for one in incasts])


def _drops(bundle: Bundle, name: str, qos: SwitchQos, first: Counters, last: Counters) -> Iterator[Finding]:
    """Lost packets of lossless priority groups: the headroom did not hold what was on its way."""
    for (port, group), packets in rise(first.dropped, last.dropped).items():
        resolved = qos.port(port)
        groups = {resolved.pfc_to_pg.get(priority, priority) for priority in resolved.pfc}
        if group not in groups:
            continue
        link = bundle.link_at.get((name, port))
        far = (link.a if link.b == (name, port) else link.b) if link else None
        length_m = bundle.cable_length_m.get(link.id) if link else None
        peer = f" from {far[0]} {far[1]}" if far else ""
        length = f", with a planned cable of {length_m:g} m" if length_m else ""
        sender = bundle.devices.get(far[0]) if far else None
        related = (Related("the sender", Location(str(sender.file)), sender.name),) if sender else ()
        text = f"{port} lost {counted(packets, 'packet')} of priority group {group}{peer}{length}"
        hint = "measure the cable and compare CABLE_LENGTH; check that the far end has PFC on, then the headroom (xoff)"
        yield observed("FG966", name, text, hint, path=f"BUFFER_PG|{port}|{group}", related=related)


def _storms(name: str, first: Counters, last: Counters, expected: Iterable[Endpoint | None]) -> Iterator[Finding]:
    """Storms outside the test of the watchdog."""
    for (port, queue), storms in rise(first.detected, last.detected).items():
        if (name, port) not in expected:
            text = f"the watchdog detected {counted(storms, 'storm')} on {port} queue {queue}"
            hint = "find the port that does not drain: compare pause frames along the path"
            yield observed("FG968", name, text, hint, path=f"PFC_WD|{port}")


def _lossy_ports(qos: SwitchQos, first: Counters, last: Counters) -> Iterator[tuple[str, float]]:
    """(port, share of packets in lossy queues) of the ports with lossless queues that sent much in others."""
    packets: dict[str, dict[int, int]] = {}
    for (port, queue), gained in rise(first.queued, last.queued).items():
        packets.setdefault(port, {})[queue] = gained
    for port, of_queue in packets.items():
        resolved = qos.port(port)
        lossless = {resolved.pfc_to_queue.get(priority, priority) for priority in resolved.pfc}
        lossy = sum(gained for queue, gained in of_queue.items() if queue not in lossless)
        total = sum(of_queue.values())
        if lossless and lossy > _LOSSY_PACKETS and lossy > _LOSSY_SHARE * total:
            yield port, lossy / total


def _wrong_class(found: Sequence[MeasuredTest], bundle: Bundle, lossy: Mapping[Endpoint, float]) -> Iterator[Finding]:
    """The writers whose packets leave the fabric in lossy queues: those that are common to the ports at receivers."""
    parts_of: dict[str, tuple[FabricPart, ...]] = {}
    bad: set[str] = set()
    for one in found:
        writer, reader = one.test.a, one.test.b
        if one.test.stage not in _LOADED or writer is None or reader is None or one.value is None:
            continue
        parts_of[one.test.id] = (
            FabricPart(PartKind.NIC, *writer),
            FabricPart(PartKind.HOST, writer[0]),
            FabricPart(PartKind.RAIL, one.test.plane, writer[1]),
        )
        link = bundle.link_at.get(reader)
        if link and link.b in lossy:
            bad.add(one.test.id)
    blamed, _ = culprits(parts_of, bad)
    for culprit in blamed:
        part = culprit.part
        name = f"rail {part.port}" if part.kind is PartKind.RAIL else f"{part.name} {part.port}".rstrip()
        tests = counted(len(culprit.tests), "test")
        text = f"{name} sends in a lossy class: in {tests}, the port of the receiver counts it in lossy queues"
        hint = "check NCCL_IB_TC, the traffic_class of the RDMA device, and trust dscp of the NIC"
        yield observed("FG965", "" if part.kind is PartKind.RAIL else part.name, text, hint, path=part.port)
    if bad and not blamed:
        ports = sorted({f"{name} {port}" for name, port in lossy})
        text = f"packets in lossy queues at {listed(ports)}, from no single writer"
        yield observed("FG965", "", text, "check the maps of the switches, then the hosts", severity=Severity.ERROR)


def _is_known(both: Iterable[tuple[Counters, Counters]]) -> bool:
    """Whether both reactions were read: collect.yml and older releases have no counters of ECN marks."""
    return all({"pfc.txt", "ecn.json"} <= {*last.files} for _, last in both)


def _rose(both: Iterable[tuple[Counters, Counters]]) -> bool:
    return any(rise(first.pfc_sent, last.pfc_sent) or rise(first.marked, last.marked) for first, last in both)
